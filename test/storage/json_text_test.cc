#include "storage/json_text.h"

#include <doctest/doctest.h>

#include <limits>

#include "storage/balances.h"

namespace caldera {
namespace {

TEST_CASE("amounts and tasks are read back as they were written") {
  const ResourceList amounts = {{"cpu", 1500},
                                {"a \"quoted\\ name\n\x01", -1},
                                {"memory", std::numeric_limits<int64_t>::max()}};
  const auto back = ParseAmounts(AmountsText(amounts));
  REQUIRE(back.has_value());
  CHECK(*back == amounts);
  CHECK(ParseAmounts("{}")->empty());
  const std::vector<TaskGrant> tasks = {{"ps", 1, 1}, {"wor\"ker", 4, 2}};
  const auto grants = ParseTasks(TasksText(tasks));
  REQUIRE(grants.has_value());
  CHECK(*grants == tasks);
  CHECK(ParseTasks("{}")->empty());
}

TEST_CASE("damaged columns are an error") {
  for (const char* wrong : {"", "{", "}", "[]", R"({"cpu"})", R"({"cpu":})", R"({"cpu":1,})",
                            R"({"cpu":1}x)", "{cpu:1}", R"({"cpu":1"memory":2})", R"({"cpu)",
                            R"({"cp\u00zz":1})", R"({"cpu\)", R"({"cpu":99999999999999999999})"}) {
    CHECK_MESSAGE(ParseAmounts(wrong).error().code == ErrorCode::kCorrupt, wrong);
  }
  for (const char* wrong :
       {"", R"({"w":1})", R"({"w":{"replicas":1}})", R"({"w":{"replicas":1,"minAvailable":1})"}) {
    CHECK_MESSAGE(ParseTasks(wrong).error().code == ErrorCode::kCorrupt, wrong);
  }
}

TEST_CASE("128-bit amounts are printed and saturated") {
  const Int128 most = std::numeric_limits<int64_t>::max();
  CHECK(ToText(0) == "0");
  CHECK(ToText(-7) == "-7");
  CHECK(ToText(most * 1000) == "9223372036854775807000");
  CHECK(ToText(-most * 1000) == "-9223372036854775807000");
  CHECK(Saturate(most + 1) == std::numeric_limits<int64_t>::max());
  CHECK(Saturate(-most - 2) == std::numeric_limits<int64_t>::min());
  CHECK(Saturate(-5) == -5);
}

}  // namespace
}  // namespace caldera
