#include "federation/names.h"

#include <doctest/doctest.h>

#include <string>

#include "federation/excerpt.h"

namespace caldera {
namespace {

TEST_CASE("names: DNS labels and subdomains") {
  CHECK(IsDnsLabel("a"));
  CHECK(IsDnsLabel("0-a"));
  CHECK(IsDnsLabel(std::string(63, 'a')));
  for (const std::string& text :
       {std::string(), std::string("A"), std::string("a."), std::string("-a"), std::string("a-"),
        std::string("a_b"), std::string(64, 'a'), std::string("\xC3\xA9")}) {
    CAPTURE(text);
    CHECK(!IsDnsLabel(text));
  }
  CHECK(IsDns1035Label("a0"));
  CHECK(!IsDns1035Label("0a"));
  CHECK(!IsDns1035Label(""));
  CHECK(IsDnsSubdomain("a.b-c.0"));
  CHECK(IsDnsSubdomain(std::string(253, 'a')));
  for (const std::string& text :
       {std::string(), std::string("a..b"), std::string(".a"), std::string("a."),
        std::string("a.-b"), std::string(254, 'a'), std::string(size_t{1} << 20U, 'a')}) {
    CHECK(!IsDnsSubdomain(text));
  }
}

TEST_CASE("names: label keys and values") {
  CHECK(IsQualifiedName("nvidia.com/gpu.product"));
  CHECK(IsQualifiedName("Team_A"));
  CHECK(!IsQualifiedName("a/b/c"));
  CHECK(!IsQualifiedName("/b"));
  CHECK(!IsQualifiedName("a/"));
  CHECK(!IsQualifiedName("A/b"));
  CHECK(!IsQualifiedName(std::string(64, 'a')));
  CHECK(IsLabelValue(""));
  CHECK(IsLabelValue("NVIDIA-A100_80GB.1"));
  CHECK(!IsLabelValue("-a"));
  CHECK(!IsLabelValue("a b"));
}

TEST_CASE("excerpts: short, printable, valid") {
  CHECK(Excerpt("plain") == "plain");
  CHECK(Excerpt("") == "");
  CHECK(Excerpt(std::string(64, 'a')) == std::string(64, 'a'));
  CHECK(Excerpt(std::string(65, 'a')) == std::string(61, 'a') + "...");
  CHECK(Excerpt(std::string(size_t{1} << 20U, 'a')).size() == 64);
  CHECK(Excerpt("a\nb\x1b[31m\x7f") == "a\\x0ab\\x1b[31m\\x7f");
  CHECK(Excerpt("\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80") == "\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80");
  // Cut between characters, not inside one.
  CHECK(Excerpt("\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9", 4) == "\xC3\xA9...");
}

TEST_CASE("excerpts: bytes that are no UTF-8 are shown as such") {
  CHECK(Excerpt("\xFF") == "\\xff");
  CHECK(Excerpt("\xC0\x80") == "\\xc0\\x80");                    // overlong
  CHECK(Excerpt("\xED\xA0\x80") == "\\xed\\xa0\\x80");           // surrogate
  CHECK(Excerpt("\xF4\x90\x80\x80") == "\\xf4\\x90\\x80\\x80");  // beyond Unicode
  CHECK(Excerpt("\xE2\x82") == "\\xe2\\x82");                    // cut short
}

}  // namespace
}  // namespace caldera
