#include "federation/verdict.h"

#include <doctest/doctest.h>

#include <set>
#include <string>

namespace caldera {
namespace {

TEST_CASE("verdicts: every one has a name of its own") {
  std::set<std::string_view> names;
  for (uint8_t i = 0; i <= static_cast<uint8_t>(Verdict::kBehindPriority); ++i) {
    const std::string_view name = VerdictName(static_cast<Verdict>(i));
    CHECK(!name.empty());
    CHECK_MESSAGE(names.insert(name).second, std::string(name));
  }
  CHECK(VerdictName(Verdict::kNone) == "None");
  CHECK(VerdictName(Verdict::kInsufficientResources) == "InsufficientResources");
  CHECK(VerdictName(Verdict::kNamespaceNotPropagated) == "NamespaceNotPropagated");
}

}  // namespace
}  // namespace caldera
