#include "federation/time.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace caldera {
namespace {

TEST_CASE("times: text and back") {
  struct Row {
    std::string text;
    int64_t millis;
    std::string canonical;
  };
  const std::vector<Row> rows{
      {"1970-01-01T00:00:00Z", 0, "1970-01-01T00:00:00Z"},
      {"2026-12-01T08:00:00Z", 1'796'112'000'000, "2026-12-01T08:00:00Z"},
      {"2026-12-01T08:00:00.5Z", 1'796'112'000'500, "2026-12-01T08:00:00.5Z"},
      {"2026-12-01T08:00:00.123456789Z", 1'796'112'000'123, "2026-12-01T08:00:00.123Z"},
      {"2026-12-01T10:00:00+02:00", 1'796'112'000'000, "2026-12-01T08:00:00Z"},
      {"2026-12-01T02:30:00-05:30", 1'796'112'000'000, "2026-12-01T08:00:00Z"},
      {"2024-02-29t23:59:59z", 1'709'251'199'000, "2024-02-29T23:59:59Z"},
      {"1969-12-31T23:59:59.750Z", -250, "1969-12-31T23:59:59.75Z"},
      {"0001-01-01T00:00:00Z", -62'135'596'800'000, "0001-01-01T00:00:00Z"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.text);
    const auto time = ParseTime(row.text);
    REQUIRE(time.has_value());
    CHECK(time->time_since_epoch().count() == row.millis);
    CHECK(FormatTime(*time) == row.canonical);
  }
}

TEST_CASE("times: what is no time") {
  for (const std::string text :
       {"", "2026-12-01", "2026-12-01 08:00:00Z", "2026-12-01T08:00:00", "2026-13-01T08:00:00Z",
        "2026-02-29T08:00:00Z", "2026-12-01T24:00:00Z", "2026-12-01T08:60:00Z",
        "2026-12-01T08:00:60Z", "2026-12-01T08:00:00.Z", "2026-12-01T08:00:00.1234567890Z",
        "2026-12-01T08:00:00+0200", "2026-12-01T08:00:00Zx", "-026-12-01T08:00:00Z"}) {
    CAPTURE(text);
    const auto time = ParseTime(text);
    REQUIRE(!time.has_value());
    CHECK(time.error().code == ErrorCode::kInvalid);
    CHECK(time.error().message.find("\"" + text + "\"") != std::string::npos);
    CHECK(time.error().message.find("RFC 3339") != std::string::npos);
  }
}

TEST_CASE("durations: text and back") {
  struct Row {
    std::string text;
    int64_t millis;
    std::string canonical;
  };
  const std::vector<Row> rows{
      {"0", 0, "0s"},
      {"0s", 0, "0s"},
      {"300ms", 300, "300ms"},
      {"10m", 600'000, "10m0s"},
      {"10m0s", 600'000, "10m0s"},
      {"1h30m", 5'400'000, "1h30m0s"},
      {"-1.5h", -5'400'000, "-1h30m0s"},
      {"1.5s", 1'500, "1.5s"},
      {".5s", 500, "500ms"},
      {"1.s", 1'000, "1s"},
      {"+90s", 90'000, "1m30s"},
      {"1999us", 1, "1ms"},
      {"1999\xC2\xB5s", 1, "1ms"},
      {"1999\xCE\xBCs", 1, "1ms"},
      {"999999ns", 0, "0s"},
      {"1m1m", 120'000, "2m0s"},
      {"24h", 86'400'000, "24h0m0s"},
      {"2562047h47m16.854775807s", 9'223'372'036'854, "2562047h47m16.854s"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.text);
    const auto span = ParseDuration(row.text);
    REQUIRE(span.has_value());
    CHECK(span->count() == row.millis);
    CHECK(FormatDuration(*span) == row.canonical);
  }
}

TEST_CASE("durations: what is no duration") {
  for (const std::string text : {"", "1", "90", "-", "s", ".s", "1x", "1h 30m", "1d", "1e3s", "h1",
                                 "2562047h47m16.9s", "99999999999999999999h", "--1s", "0x1s"}) {
    CAPTURE(text);
    const auto span = ParseDuration(text);
    REQUIRE(!span.has_value());
    CHECK(span.error().message.find("1h30m") != std::string::npos);
  }
}

TEST_CASE("durations: the ends of the range print") {
  CHECK(FormatDuration(Millis::min()).front() == '-');
  CHECK(FormatDuration(Millis::max()).back() == 's');
}

}  // namespace
}  // namespace caldera
