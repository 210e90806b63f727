#include "test/bench/gate.h"

#include <doctest/doctest.h>

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace caldera::bench {
namespace {

constexpr const char* kLimits =
    "hop 100  # of this machine\n"
    "\n"
    "round ms <= 40 15\n"
    "rate 1/s >= 1000 2000\n"
    "bytes B <= 300 200\n";

std::string Item(const std::string& name, double value, const std::string& unit, double hop) {
  return R"({"name": ")" + name + R"(", "value": )" + std::to_string(value) + R"(, "unit": ")" +
         unit + R"(", "machine": "m", "hop": )" + std::to_string(hop) + "}";
}

std::vector<Judged> JudgeText(const std::string& items) {
  const auto limits = ReadLimits(kLimits);
  const auto measured = ReadMeasured("[" + items + "]");
  REQUIRE(limits.has_value());
  REQUIRE(measured.has_value());
  const auto judged = Judge(*limits, *measured);
  REQUIRE(judged.has_value());
  REQUIRE(judged->size() == 3);
  return *judged;
}

TEST_CASE("a value at its limit is within it, one beyond is over") {
  const auto at = JudgeText(Item("round", 40, "ms", 100) + "," + Item("rate", 1000, "1/s", 100) +
                            "," + Item("bytes", 300, "B", 100));
  const auto beyond = JudgeText(Item("round", 40.1, "ms", 100) + "," +
                                Item("rate", 999, "1/s", 100) + "," + Item("bytes", 301, "B", 100));
  for (size_t i = 0; i < at.size(); ++i) {
    CAPTURE(at[i].limit.name);
    CHECK(at[i].judgement == Judgement::kOk);
    CHECK(beyond[i].judgement == Judgement::kOver);
  }
}

TEST_CASE("limits of times and rates follow the probe of the run, bytes do not") {
  const auto slow = JudgeText(Item("round", 80, "ms", 200) + "," + Item("rate", 500, "1/s", 200) +
                              "," + Item("bytes", 301, "B", 200));
  CHECK(slow[0].limit.limit == doctest::Approx(80));
  CHECK(slow[0].judgement == Judgement::kOk);
  CHECK(slow[1].limit.limit == doctest::Approx(500));
  CHECK(slow[1].judgement == Judgement::kOk);
  CHECK(slow[2].judgement == Judgement::kOver);
  const auto fast = JudgeText(Item("round", 21, "ms", 50) + "," + Item("rate", 1999, "1/s", 50));
  CHECK(fast[0].judgement == Judgement::kOver);
  CHECK(fast[1].judgement == Judgement::kOver);
}

TEST_CASE("a goal is not scaled") {
  const auto judged =
      JudgeText(Item("round", 16, "ms", 200) + "," + Item("rate", 2000, "1/s", 200));
  CHECK_FALSE(judged[0].goal_met);
  CHECK(judged[1].goal_met);
}

TEST_CASE("what was not measured is missing; of several of one name the last counts") {
  const auto judged = JudgeText(Item("round", 90, "ms", 100) + "," + Item("round", 10, "ms", 100));
  CHECK(judged[0].judgement == Judgement::kOk);
  CHECK(judged[0].value == doctest::Approx(10));
  CHECK(judged[1].judgement == Judgement::kMissing);
}

TEST_CASE("another unit, or no probe, is an error") {
  const auto limits = ReadLimits(kLimits);
  for (const std::string& item : {Item("round", 1, "s", 100), Item("round", 1, "ms", 0)}) {
    const auto measured = ReadMeasured("[" + item + "]");
    REQUIRE(measured.has_value());
    const auto judged = Judge(*limits, *measured);
    REQUIRE_FALSE(judged.has_value());
    CHECK(judged.error().message.starts_with("round: measured in"));
  }
  for (const char* json : {"", "{}", "[1]", R"([{"name": "round", "value": "1"}])"}) {
    CHECK_FALSE(ReadMeasured(json).has_value());
  }
}

TEST_CASE("limits that cannot be meant are refused with their line") {
  for (const char* line :
       {"round ms <= 40", "round ms < 40 15", "round ms <= 40 15 more", "round ms <= 0 15",
        "round ms <= many 15", "hop", "hop -1", "rate 1/s >= 1 1\nrate 1/s >= 1 1"}) {
    CAPTURE(line);
    const auto limits = ReadLimits(std::string("hop 100\n") + line + "\n");
    REQUIRE_FALSE(limits.has_value());
    CHECK(limits.error().message.starts_with("line "));
  }
  CHECK_FALSE(ReadLimits("round ms <= 40 15\n").has_value());
  CHECK_FALSE(ReadLimits("hop 100\n").has_value());
}

TEST_CASE("the limits of the tree can be read and name each row that has a goal") {
  const std::string path = std::string(CALDERA_TEST_DATA) + "/limits.txt";
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  const auto limits = ReadLimits(text.str());
  REQUIRE_MESSAGE(limits.has_value(), path);
  std::string names;
  for (const Limit& limit : limits->limits) {
    names += limit.name + " ";
  }
  CHECK(names ==
        "round_1m_s64 round_1m_s1024 nothing_fits_1m event_p50 event_p99 nothing_fits_1m_ripe "
        "event_p50_ripe event_p99_ripe entitlement_1000 entitlement_10000 bytes_per_pending "
        "growth_round growth_nothing_fits ledger_share "
        "simulate_100k ");
}

}  // namespace
}  // namespace caldera::bench
