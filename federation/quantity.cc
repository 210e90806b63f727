#include "federation/quantity.h"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <vector>

#include "federation/excerpt.h"

namespace caldera {
namespace {

// Longer texts are refused unread: no amount needs them.
constexpr size_t kTextMax = 512;
constexpr int kNanoDigits = 9;
constexpr Int128 kNano = 1'000'000'000;
constexpr Int128 kMilliInNano = 1'000'000;
constexpr int kBoundDigits = 27;
// 10^27 units in nano.
constexpr Int128 kBound = kNano * kNano * kNano * kNano;
constexpr int kExponentMax = 1'000'000;

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

struct Suffix {
  Quantity::Format format = Quantity::Format::kDecimalSI;
  int ten = 0;   // Power of 10.
  int kibi = 0;  // Power of 1024.
};

struct NamedSuffix {
  std::string_view text;
  int power;
};
constexpr std::array<NamedSuffix, 10> kDecimalSuffixes{{{"n", -9},
                                                        {"u", -6},
                                                        {"m", -3},
                                                        {"", 0},
                                                        {"k", 3},
                                                        {"M", 6},
                                                        {"G", 9},
                                                        {"T", 12},
                                                        {"P", 15},
                                                        {"E", 18}}};
constexpr std::array<NamedSuffix, 7> kBinarySuffixes{
    {{"", 0}, {"Ki", 1}, {"Mi", 2}, {"Gi", 3}, {"Ti", 4}, {"Pi", 5}, {"Ei", 6}}};

// `text` after the `e` or `E`. Beyond kExponentMax it saturates: the bound or the rounding decides.
std::optional<int> ParseExponent(std::string_view text) {
  const bool minus = !text.empty() && text.front() == '-';
  if (minus || (!text.empty() && text.front() == '+')) {
    text.remove_prefix(1);
  }
  if (text.empty() || !std::all_of(text.begin(), text.end(), IsDigit)) {
    return std::nullopt;
  }
  int exponent = 0;
  for (const char c : text) {
    exponent = std::min(exponent * 10 + (c - '0'), kExponentMax);
  }
  return minus ? -exponent : exponent;
}

std::optional<Suffix> ParseSuffix(std::string_view text) {
  for (const NamedSuffix& suffix : kDecimalSuffixes) {
    if (text == suffix.text) {
      return Suffix{Quantity::Format::kDecimalSI, suffix.power, 0};
    }
  }
  for (const NamedSuffix& suffix : kBinarySuffixes) {
    if (text == suffix.text) {
      return Suffix{Quantity::Format::kBinarySI, 0, suffix.power};
    }
  }
  if (text.front() == 'e' || text.front() == 'E') {
    if (const auto exponent = ParseExponent(text.substr(1))) {
      return Suffix{Quantity::Format::kDecimalExponent, *exponent, 0};
    }
  }
  return std::nullopt;
}

// An unsigned decimal: its digits, most significant first, without leading zeros, and the power of
// ten that the last one counts.
struct Digits {
  std::vector<uint8_t> digits;
  int exponent = 0;
};

void MultiplyBy1024(Digits& number) {
  unsigned carry = 0;
  for (size_t i = number.digits.size(); i-- > 0;) {
    const unsigned product = number.digits[i] * 1024U + carry;
    number.digits[i] = static_cast<uint8_t>(product % 10);
    carry = product / 10;
  }
  for (; carry != 0; carry /= 10) {
    number.digits.insert(number.digits.begin(), static_cast<uint8_t>(carry % 10));
  }
}

// The value in nano, rounded up; nullopt above the bound.
std::optional<Int128> ToNano(const Digits& number) {
  const int count = static_cast<int>(number.digits.size());
  if (count == 0) {
    return 0;
  }
  if (count + number.exponent > kBoundDigits + 1) {
    return std::nullopt;
  }
  // Digits from `kept` on are finer than a nano-unit.
  const int kept = std::clamp(count + number.exponent + kNanoDigits, 0, count);
  Int128 nano = 0;
  for (int i = 0; i < kept; ++i) {
    nano = nano * 10 + number.digits[static_cast<size_t>(i)];
  }
  for (int i = 0; i < number.exponent + kNanoDigits; ++i) {
    nano *= 10;
  }
  const auto rest = number.digits.begin() + kept;
  if (std::any_of(rest, number.digits.end(), [](uint8_t digit) { return digit != 0; })) {
    nano += 1;
  }
  return nano > kBound ? std::nullopt : std::optional<Int128>(nano);
}

struct Unsigned {
  Digits number;
  std::string_view suffix;
};

// `12.5Gi` into 125 * 10^-1 and `Gi`; nullopt without a digit.
std::optional<Unsigned> SplitNumber(std::string_view text) {
  Unsigned out;
  bool any = false;
  bool point = false;
  size_t i = 0;
  for (; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '.' && !point) {
      point = true;
      continue;
    }
    if (!IsDigit(c)) {
      break;
    }
    any = true;
    if (c != '0' || !out.number.digits.empty()) {
      out.number.digits.push_back(static_cast<uint8_t>(c - '0'));
    }
    out.number.exponent -= point ? 1 : 0;
  }
  if (!any) {
    return std::nullopt;
  }
  out.suffix = text.substr(i);
  return out;
}

tl::unexpected<Error> Refusal(std::string_view text, std::string_view why) {
  return Fail(ErrorCode::kInvalid, "\"" + Excerpt(text) + "\" is no quantity: " + std::string(why));
}

// |nano| / unit, up or down, with the sign back on, saturating.
int64_t Scaled(Int128 nano, Int128 unit, bool up) {
  const Int128 magnitude = nano < 0 ? -nano : nano;
  const Int128 whole = magnitude / unit + (up && magnitude % unit != 0 ? 1 : 0);
  constexpr Int128 kMax = std::numeric_limits<int64_t>::max();
  if (nano < 0) {
    return whole > kMax ? std::numeric_limits<int64_t>::min() : static_cast<int64_t>(-whole);
  }
  return whole > kMax ? std::numeric_limits<int64_t>::max() : static_cast<int64_t>(whole);
}

std::string ToText(Int128 magnitude) {
  if (magnitude == 0) {
    return "0";
  }
  std::string text;
  for (; magnitude != 0; magnitude /= 10) {
    text.push_back(static_cast<char>('0' + static_cast<int>(magnitude % 10)));
  }
  return {text.rbegin(), text.rend()};
}

std::string DecimalText(Int128 magnitude, bool exponent_form) {
  // Beyond E there is no suffix; an exponent can go on.
  const int power_max = exponent_form ? kBoundDigits : 18;
  int power = -kNanoDigits;
  while (magnitude % 1'000 == 0 && power < power_max) {
    magnitude /= 1'000;
    power += 3;
  }
  if (exponent_form) {
    return ToText(magnitude) + (power == 0 ? "" : "e" + std::to_string(power));
  }
  const auto* const suffix =
      std::find_if(kDecimalSuffixes.begin(), kDecimalSuffixes.end(),
                   [&](const NamedSuffix& candidate) { return candidate.power == power; });
  return ToText(magnitude) + std::string(suffix->text);
}

std::string BinaryText(Int128 units) {
  size_t power = 0;
  while (units % 1024 == 0 && power + 1 < kBinarySuffixes.size()) {
    units /= 1024;
    ++power;
  }
  return ToText(units) + std::string(kBinarySuffixes.at(power).text);
}

}  // namespace

Result<Quantity> Quantity::Parse(std::string_view text) {
  constexpr std::string_view kRight =
      "a number with an optional suffix is needed, such as 500m, 2, 1.5Gi or 1e3 (suffixes n u m k "
      "M G T P E, Ki Mi Gi Ti Pi Ei)";
  if (text.empty()) {
    return Refusal(text, kRight);
  }
  if (text.size() > kTextMax) {
    return Refusal(text, "it is longer than 512 characters");
  }
  std::string_view rest = text;
  const bool minus = rest.front() == '-';
  if (minus || rest.front() == '+') {
    rest.remove_prefix(1);
  }
  auto split = SplitNumber(rest);
  const auto suffix = split ? ParseSuffix(split->suffix) : std::nullopt;
  if (!suffix) {
    return Refusal(text, kRight);
  }
  split->number.exponent += suffix->ten;
  for (int i = 0; i < suffix->kibi; ++i) {
    MultiplyBy1024(split->number);
  }
  auto nano = ToNano(split->number);
  Format format = suffix->format;
  if (format == Format::kBinarySI) {
    // As in the API server: only this family ends at int64, and only it changes below one unit.
    constexpr Int128 kCap = Int128{std::numeric_limits<int64_t>::max()} * kNano;
    nano = std::min(nano.value_or(kCap), kCap);
    if (*nano<kNano&& * nano> 0) {
      format = Format::kDecimalSI;
    }
  }
  if (!nano) {
    return Refusal(text, "it is larger than 10^27");
  }
  return Quantity(minus ? -*nano : *nano, format);
}

bool Quantity::Whole() const { return nano_ % kNano == 0; }

int64_t Quantity::Value() const { return Scaled(nano_, kNano, true); }
int64_t Quantity::MilliValue() const { return Scaled(nano_, kMilliInNano, true); }
int64_t Quantity::ValueFloor() const { return Scaled(nano_, kNano, false); }
int64_t Quantity::MilliFloor() const { return Scaled(nano_, kMilliInNano, false); }

std::string Quantity::Canonical() const {
  if (nano_ == 0) {
    return "0";
  }
  const Int128 magnitude = nano_ < 0 ? -nano_ : nano_;
  const std::string sign = nano_ < 0 ? "-" : "";
  if (format_ == Format::kBinarySI && Whole() && magnitude >= 1024 * kNano) {
    return sign + BinaryText(magnitude / kNano);
  }
  return sign + DecimalText(magnitude, format_ == Format::kDecimalExponent);
}

Quantity operator+(const Quantity& a, const Quantity& b) {
  const Int128 sum = std::clamp(a.nano_ + b.nano_, -kBound, kBound);
  return {sum, a.nano_ == 0 ? b.format_ : a.format_};
}

}  // namespace caldera
