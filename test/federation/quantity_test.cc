#include "federation/quantity.h"

#include <doctest/doctest.h>

#include <limits>
#include <string>
#include <vector>

namespace caldera {
namespace {

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
constexpr int64_t kMin = std::numeric_limits<int64_t>::min();

Quantity Parsed(const std::string& text) {
  const auto quantity = Quantity::Parse(text);
  REQUIRE_MESSAGE(quantity.has_value(), text);
  return *quantity;
}

struct Row {
  std::string text;
  std::string canonical;
  int64_t value;
  int64_t milli;
};

// Answers computed with an exact model of the API server's rules; saturated where they pass int64.
const std::vector<Row>& Vectors() {
  static const std::vector<Row> kRows{
      {"0", "0", 0, 0},
      {"1", "1", 1, 1000},
      {"100m", "100m", 1, 100},
      {"1000m", "1", 1, 1000},
      {"1500m", "1500m", 2, 1500},
      {"0.5", "500m", 1, 500},
      {".5", "500m", 1, 500},
      {"1.5", "1500m", 2, 1500},
      {"1.0005", "1000500u", 2, 1001},
      {"0.1m", "100u", 1, 1},
      {"1u", "1u", 1, 1},
      {"100n", "100n", 1, 1},
      {"0.0000000001", "1n", 1, 1},
      {"1k", "1k", 1000, 1'000'000},
      {"1000", "1k", 1000, 1'000'000},
      {"1500", "1500", 1500, 1'500'000},
      {"1M", "1M", 1'000'000, 1'000'000'000},
      {"1.5G", "1500M", 1'500'000'000, 1'500'000'000'000},
      {"128974848", "128974848", 128'974'848, 128'974'848'000},
      {"129e6", "129e6", 129'000'000, 129'000'000'000},
      {"129M", "129M", 129'000'000, 129'000'000'000},
      {"123Mi", "123Mi", 128'974'848, 128'974'848'000},
      {"1Ki", "1Ki", 1024, 1'024'000},
      {"1024", "1024", 1024, 1'024'000},
      {"1024Ki", "1Mi", 1'048'576, 1'048'576'000},
      {"1.5Gi", "1536Mi", 1'610'612'736, 1'610'612'736'000},
      {"0.5Gi", "512Mi", 536'870'912, 536'870'912'000},
      {"0.1Ki", "102400m", 103, 102'400},
      {"1.1Ki", "1126400m", 1127, 1'126'400},
      {"1000Ki", "1000Ki", 1'024'000, 1'024'000'000},
      {"2048Mi", "2Gi", 2'147'483'648, 2'147'483'648'000},
      {"7Ei", "7Ei", 8'070'450'532'247'928'832, kMax},
      {"8Ei", "9223372036854775807", kMax, kMax},
      {"100E", "100E", kMax, kMax},
      {"1e3", "1e3", 1000, 1'000'000},
      {"1E3", "1e3", 1000, 1'000'000},
      {"1E", "1E", 1'000'000'000'000'000'000, kMax},
      {"1e-3", "1e-3", 1, 1},
      {"0.3e1", "3", 3, 3000},
      {"-1.5Gi", "-1536Mi", -1'610'612'736, -1'610'612'736'000},
      {"-1", "-1", -1, -1000},
      {"+5", "5", 5, 5000},
      {"00100m", "100m", 1, 100},
      {"1e-10", "1e-9", 1, 1},
      {"10e-3", "10e-3", 1, 10},
      {"12345678901234567890", "12345678901234567890", kMax, kMax},
      {"2000M", "2G", 2'000'000'000, 2'000'000'000'000},
      {"0.0005", "500u", 1, 1},
      // More of the same rules.
      {"1.", "1", 1, 1000},
      {"-0.5", "-500m", -1, -500},
      {"-8Ei", "-9223372036854775807", -kMax, kMin},
      {"-100E", "-100E", kMin, kMin},
      {"0.0000000001Ki", "103n", 1, 1},
      {"0.5Ki", "512", 512, 512'000},
      {"0e99", "0", 0, 0},
      {"0.0Gi", "0", 0, 0},
      {"1e27", "1e27", kMax, kMax},
      {"1000000000E", "1000000000E", kMax, kMax},
      {"100000000000000000000000000e1", "1e27", kMax, kMax},
      {"0.00000000000000000000001e27", "10e3", 10'000, 10'000'000},
      {"1e-999999999", "1e-9", 1, 1},
      {"0e999999999999999999999", "0", 0, 0},
      {"1e+3", "1e3", 1000, 1'000'000},
      {"1023", "1023", 1023, 1'023'000},
      {"1536Ki", "1536Ki", 1'572'864, 1'572'864'000},
  };
  return kRows;
}

TEST_CASE("quantities: canonical text and rounded values") {
  for (const Row& row : Vectors()) {
    CAPTURE(row.text);
    const Quantity quantity = Parsed(row.text);
    CHECK(quantity.Canonical() == row.canonical);
    CHECK(quantity.Value() == row.value);
    CHECK(quantity.MilliValue() == row.milli);
    // The canonical text means the same amount.
    CHECK(Parsed(quantity.Canonical()) == quantity);
  }
}

TEST_CASE("quantities: capacities round towards zero") {
  CHECK(Parsed("1.9").ValueFloor() == 1);
  CHECK(Parsed("-1.9").ValueFloor() == -1);
  CHECK(Parsed("1.0009").MilliFloor() == 1000);
  CHECK(Parsed("100E").ValueFloor() == kMax);
  CHECK(Parsed("-100E").MilliFloor() == kMin);
  CHECK(Parsed("1.5").Whole() == false);
  CHECK(Parsed("1500m").Whole() == false);
  CHECK(Parsed("2000m").Whole());
}

TEST_CASE("quantities: what is no quantity") {
  for (const std::string text :
       {"",    "K",     "KI",    "ki",   "mi",    "1i",  ".5i",         "1Mb", "1 Gi",
        "1e",  "1e1.5", "1.1.1", "0x10", "1,5",   "NaN", "--1",         "Gi",  ".",
        "+",   "-",     "+.",    "e3",   "1K",    "1ki", "1Gi ",        " 1",  "1_000",
        "inf", "1e+",   "1e--1", "1EE3", "1e3Gi", "1mm", "\xEF\xBC\x91"}) {
    CAPTURE(text);
    const auto quantity = Quantity::Parse(text);
    REQUIRE(!quantity.has_value());
    CHECK(quantity.error().code == ErrorCode::kInvalid);
    CHECK(quantity.error().message.find("is no quantity") != std::string::npos);
    CHECK(quantity.error().message.find("1.5Gi") != std::string::npos);
  }
}

TEST_CASE("quantities: hostile sizes are refused at once") {
  for (const std::string& text :
       {std::string("1e999999999"), std::string("1e99999999999999999999999"), std::string("1e28"),
        std::string("10000000000E"), "1" + std::string(299, '0'), std::string(300, '9'),
        std::string(300, '9') + "e-200", std::string(size_t{1} << 20U, '1'),
        "1e" + std::string(size_t{1} << 20U, '9'), std::string(size_t{1} << 20U, '0')}) {
    const auto quantity = Quantity::Parse(text);
    REQUIRE(!quantity.has_value());
    CHECK(quantity.error().message.size() < 300);
  }
}

TEST_CASE("quantities: many digits within the bounds stay exact") {
  CHECK(Parsed("0." + std::string(300, '0') + "1").Canonical() == "1n");
  CHECK(Parsed("1" + std::string(299, '0') + "e-290") == Parsed("1e9"));
  CHECK(Parsed(std::string(200, '0') + "7") == Parsed("7"));
  CHECK(Parsed("1." + std::string(300, '0') + "Gi") == Parsed("1Gi"));
  CHECK(Parsed("0." + std::string(100, '9')) == Parsed("1"));
}

TEST_CASE("quantities: sums") {
  struct SumRow {
    std::string left;
    std::string right;
    std::string sum;
  };
  for (const SumRow& row : std::vector<SumRow>{{"1Gi", "512Mi", "1536Mi"},
                                               {"100m", "0.9", "1"},
                                               {"0", "1Ki", "1Ki"},
                                               {"1k", "24", "1024"},
                                               {"1Ki", "1000", "2024"},
                                               {"1e3", "1k", "2e3"},
                                               {"-1", "1", "0"},
                                               {"1e27", "1e27", "1e27"},
                                               {"-1e27", "-1e27", "-1e27"}}) {
    CAPTURE(row.left);
    CAPTURE(row.right);
    CHECK((Parsed(row.left) + Parsed(row.right)).Canonical() == row.sum);
  }
}

TEST_CASE("quantities: compared by value") {
  CHECK(Parsed("1000m") == Parsed("1"));
  CHECK(Parsed("1Ki") == Parsed("1024"));
  CHECK(Parsed("999m") < Parsed("1"));
  CHECK(Parsed("-1") < Parsed("0"));
}

}  // namespace
}  // namespace caldera
