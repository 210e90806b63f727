#include "federation/time.h"

#include <array>
#include <cstdint>
#include <cstdio>
#include <optional>

#include "federation/excerpt.h"
#include "federation/quantity.h"

namespace caldera {
namespace {

constexpr int64_t kNanosPerMilli = 1'000'000;

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

/// Reads from the front of a text, piece by piece.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : rest_(text) {}

  [[nodiscard]] bool Done() const { return rest_.empty(); }
  [[nodiscard]] bool AtDigit() const { return !rest_.empty() && IsDigit(rest_.front()); }

  bool Take(char c) {
    if (rest_.empty() || rest_.front() != c) {
      return false;
    }
    rest_.remove_prefix(1);
    return true;
  }

  bool Take(std::string_view text) {
    if (rest_.substr(0, text.size()) != text) {
      return false;
    }
    rest_.remove_prefix(text.size());
    return true;
  }

  /// Exactly `count` digits.
  std::optional<int> Digits(int count) {
    int value = 0;
    for (int i = 0; i < count; ++i) {
      if (!AtDigit()) {
        return std::nullopt;
      }
      value = value * 10 + (Pop() - '0');
    }
    return value;
  }

  char Pop() {
    const char c = rest_.front();
    rest_.remove_prefix(1);
    return c;
  }

 private:
  std::string_view rest_;
};

// The fraction after a '.', in milliseconds; the rest is cut.
std::optional<int> FractionMillis(Scanner& in) {
  int millis = 0;
  int digits = 0;
  for (; in.AtDigit(); ++digits) {
    const int digit = in.Pop() - '0';
    if (digits < 3) {
      millis = millis * 10 + digit;
    }
  }
  if (digits < 1 || digits > 9) {
    return std::nullopt;
  }
  for (; digits < 3; ++digits) {
    millis *= 10;
  }
  return millis;
}

std::optional<std::chrono::minutes> Offset(Scanner& in) {
  if (in.Take('Z') || in.Take('z')) {
    return std::chrono::minutes(0);
  }
  const bool minus = in.Take('-');
  if (!minus && !in.Take('+')) {
    return std::nullopt;
  }
  const auto hour = in.Digits(2);
  const bool colon = in.Take(':');
  const auto minute = in.Digits(2);
  if (!hour || !colon || !minute || *hour > 23 || *minute > 59) {
    return std::nullopt;
  }
  const std::chrono::minutes offset{*hour * 60 + *minute};
  return minus ? -offset : offset;
}

std::optional<std::chrono::sys_days> Date(Scanner& in) {
  const auto year = in.Digits(4);
  const bool dash_a = in.Take('-');
  const auto month = in.Digits(2);
  const bool dash_b = in.Take('-');
  const auto day = in.Digits(2);
  if (!year || !dash_a || !month || !dash_b || !day) {
    return std::nullopt;
  }
  const std::chrono::year_month_day date{std::chrono::year(*year),
                                         std::chrono::month(static_cast<unsigned>(*month)),
                                         std::chrono::day(static_cast<unsigned>(*day))};
  if (!date.ok()) {
    return std::nullopt;
  }
  return std::chrono::sys_days(date);
}

std::optional<Time> Instant(Scanner& in) {
  const auto date = Date(in);
  if (!date || !(in.Take('T') || in.Take('t'))) {
    return std::nullopt;
  }
  const auto hour = in.Digits(2);
  const bool colon_a = in.Take(':');
  const auto minute = in.Digits(2);
  const bool colon_b = in.Take(':');
  const auto second = in.Digits(2);
  if (!hour || !colon_a || !minute || !colon_b || !second) {
    return std::nullopt;
  }
  if (*hour > 23 || *minute > 59 || *second > 59) {
    return std::nullopt;
  }
  int millis = 0;
  if (in.Take('.')) {
    const auto fraction = FractionMillis(in);
    if (!fraction) {
      return std::nullopt;
    }
    millis = *fraction;
  }
  const auto offset = Offset(in);
  if (!offset || !in.Done()) {
    return std::nullopt;
  }
  return Time(*date) + std::chrono::hours(*hour) + std::chrono::minutes(*minute) +
         std::chrono::seconds(*second) + Millis(millis) - *offset;
}

struct DurationUnit {
  std::string_view name;
  int64_t nanos;
};
// Longer names first where one starts with another.
constexpr std::array<DurationUnit, 8> kDurationUnits{{{"ns", 1},
                                                      {"us", 1'000},
                                                      {"\xC2\xB5s", 1'000},
                                                      {"\xCE\xBCs", 1'000},
                                                      {"ms", 1'000'000},
                                                      {"s", 1'000'000'000},
                                                      {"m", 60'000'000'000},
                                                      {"h", 3'600'000'000'000}}};

std::optional<int64_t> TakeUnit(Scanner& in) {
  for (const DurationUnit& unit : kDurationUnits) {
    if (in.Take(unit.name)) {
      return unit.nanos;
    }
  }
  return std::nullopt;
}

// One `1.5h`, in nanoseconds. Go's durations are int64 nanoseconds; so is the bound here.
std::optional<Int128> TakeTerm(Scanner& in) {
  constexpr Int128 kWholeMax = INT64_MAX;
  Int128 whole = 0;
  Int128 fraction = 0;
  Int128 scale = 1;
  bool any = false;
  while (in.AtDigit()) {
    any = true;
    whole = whole * 10 + (in.Pop() - '0');
    if (whole > kWholeMax) {
      return std::nullopt;
    }
  }
  if (in.Take('.')) {
    while (in.AtDigit()) {
      any = true;
      const int digit = in.Pop() - '0';
      if (scale < 1'000'000'000'000'000) {
        fraction = fraction * 10 + digit;
        scale *= 10;
      }
    }
  }
  const auto unit = any ? TakeUnit(in) : std::nullopt;
  if (!unit) {
    return std::nullopt;
  }
  return whole * *unit + fraction * *unit / scale;
}

std::optional<Millis> Duration(std::string_view text) {
  Scanner in(text);
  const bool minus = in.Take('-');
  if (!minus) {
    in.Take('+');
  }
  if (text == "0" || text == "-0" || text == "+0") {
    return Millis(0);
  }
  Int128 nanos = 0;
  do {
    const auto term = TakeTerm(in);
    if (!term) {
      return std::nullopt;
    }
    nanos += *term;
    if (nanos > INT64_MAX) {
      return std::nullopt;
    }
  } while (!in.Done());
  const auto millis = static_cast<int64_t>(nanos / kNanosPerMilli);
  return Millis(minus ? -millis : millis);
}

}  // namespace

std::string FormatTime(Time time) {
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(time - day);
  std::array<char, 64> buffer{};
  const auto millis = static_cast<int>(clock.subseconds().count());
  const int length = std::snprintf(
      buffer.data(), buffer.size(), "%04d-%02u-%02uT%02d:%02d:%02d", static_cast<int>(date.year()),
      static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
      static_cast<int>(clock.hours().count()), static_cast<int>(clock.minutes().count()),
      static_cast<int>(clock.seconds().count()));
  std::string text(buffer.data(), static_cast<size_t>(length));
  if (millis != 0) {
    std::snprintf(buffer.data(), buffer.size(), ".%03d", millis);
    text += buffer.data();
    while (text.back() == '0') {
      text.pop_back();
    }
  }
  return text + "Z";
}

Result<Time> ParseTime(std::string_view text) {
  Scanner in(text);
  const auto time = Instant(in);
  if (!time) {
    return Fail(ErrorCode::kInvalid, "\"" + Excerpt(text) +
                                         "\" is no time: RFC 3339 is needed, such as "
                                         "2026-12-01T08:00:00Z");
  }
  return *time;
}

Result<Millis> ParseDuration(std::string_view text) {
  const auto span = Duration(text);
  if (!span) {
    return Fail(ErrorCode::kInvalid, "\"" + Excerpt(text) +
                                         "\" is no duration: numbers with units h, m, s, ms are "
                                         "needed, such as 1h30m or 300ms");
  }
  return *span;
}

std::string FormatDuration(Millis span) {
  const int64_t count = span.count();
  if (count == 0) {
    return "0s";
  }
  // Unsigned, so that the smallest int64 has a magnitude.
  const uint64_t total =
      count < 0 ? uint64_t{0} - static_cast<uint64_t>(count) : static_cast<uint64_t>(count);
  std::string text = count < 0 ? "-" : "";
  if (total < 1'000) {
    return text + std::to_string(total) + "ms";
  }
  const uint64_t seconds = total / 1'000;
  if (seconds >= 3'600) {
    text += std::to_string(seconds / 3'600) + "h";
  }
  if (seconds >= 60) {
    text += std::to_string(seconds / 60 % 60) + "m";
  }
  text += std::to_string(seconds % 60);
  if (const uint64_t millis = total % 1'000; millis != 0) {
    std::string fraction = std::to_string(1'000 + millis).substr(1);
    fraction.erase(fraction.find_last_not_of('0') + 1);
    text += "." + fraction;
  }
  return text + "s";
}

}  // namespace caldera
