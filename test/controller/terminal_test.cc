#include "controller/cli/terminal.h"

#include <doctest/doctest.h>

#include <vector>

namespace caldera {
namespace {

TEST_CASE("what could steer a terminal is written out") {
  struct Case {
    const char* text;
    const char* shown;
  };
  const std::vector<Case> cases = {
      {"plain, \xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80",
       "plain, \xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80"},
      {"a\nb\tc", "a b c"},
      {"\x1b[31mred", R"(\u001b[31mred)"},
      {"bell\x07\x7F", R"(bell\u0007\u007f)"},
      {"\xC2\x9B"
       "2J",
       R"(\u009b2J)"},
      // NOLINTNEXTLINE(misc-misleading-bidirectional): that is what it is about
      {"a\xE2\x80\xAE"
       "b\xE2\x81\xA6"
       "c",
       R"(a\u202eb\u2066c)"},
      {"zero\xE2\x80\x8Bwidth\xEF\xBB\xBF", R"(zero\u200bwidth\ufeff)"},
      {"\xE2\x80\xA8line\xF3\xA0\x81\x81", R"(\u2028line\ue0041)"},
      {"no \xFF utf-8 \xC3", R"(no \xff utf-8 \xc3)"},
      {"\xED\xA0\x80", R"(\xed\xa0\x80)"},
      {"", ""},
  };
  for (const Case& test : cases) {
    CHECK(Harmless(test.text) == test.shown);
  }
}

}  // namespace
}  // namespace caldera
