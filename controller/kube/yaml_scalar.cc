#include "controller/kube/yaml_scalar.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <optional>
#include <utility>

#include "controller/kube/reading.h"

namespace caldera {
namespace {

constexpr std::string_view kTagPrefix = "tag:yaml.org,2002:";

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

template <size_t N>
bool IsOneOf(std::string_view text, const std::array<std::string_view, N>& words) {
  return std::find(words.begin(), words.end(), text) != words.end();
}

constexpr std::array<std::string_view, 5> kNull = {"", "~", "null", "Null", "NULL"};
constexpr std::array<std::string_view, 3> kTrue = {"true", "True", "TRUE"};
constexpr std::array<std::string_view, 3> kFalse = {"false", "False", "FALSE"};
// Booleans of YAML 1.1 only.
constexpr std::array<std::string_view, 8> kOldTrue = {"y",   "Y",  "yes", "Yes",
                                                      "YES", "on", "On",  "ON"};
constexpr std::array<std::string_view, 8> kOldFalse = {"n",  "N",   "no",  "No",
                                                       "NO", "off", "Off", "OFF"};
constexpr std::array<std::string_view, 12> kNotFinite = {".inf",  ".Inf",  ".INF",  "+.inf",
                                                         "+.Inf", "+.INF", "-.inf", "-.Inf",
                                                         "-.INF", ".nan",  ".NaN",  ".NAN"};

// The number's parts, where the whole text is one: sign, whole digits, fraction, exponent.
struct Decimal {
  bool negative = false;
  std::string_view whole;
  std::string_view fraction;
  std::string_view exponent;  ///< With its e and sign.
  bool has_point = false;
};

std::string_view TakeDigits(std::string_view& text) {
  size_t n = 0;
  while (n < text.size() && IsDigit(text[n])) {
    ++n;
  }
  const std::string_view digits = text.substr(0, n);
  text.remove_prefix(n);
  return digits;
}

// [-+]? ( \. [0-9]+ | [0-9]+ ( \. [0-9]* )? ) ( [eE] [-+]? [0-9]+ )?
std::optional<Decimal> SplitDecimal(std::string_view text) {
  Decimal parts;
  if (!text.empty() && (text.front() == '-' || text.front() == '+')) {
    parts.negative = text.front() == '-';
    text.remove_prefix(1);
  }
  parts.whole = TakeDigits(text);
  if (!text.empty() && text.front() == '.') {
    parts.has_point = true;
    text.remove_prefix(1);
    parts.fraction = TakeDigits(text);
  }
  if (parts.whole.empty() && parts.fraction.empty()) {
    return std::nullopt;
  }
  if (!text.empty() && (text.front() == 'e' || text.front() == 'E')) {
    std::string_view rest = text.substr(1);
    if (!rest.empty() && (rest.front() == '-' || rest.front() == '+')) {
      rest.remove_prefix(1);
    }
    if (TakeDigits(rest).empty()) {
      return std::nullopt;
    }
    parts.exponent = text.substr(0, text.size() - rest.size());
    text = rest;
  }
  return text.empty() ? std::optional(parts) : std::nullopt;
}

std::string_view WithoutLeadingZeros(std::string_view digits) {
  const size_t first = digits.find_first_not_of('0');
  return first == std::string_view::npos ? digits.substr(digits.empty() ? 0 : digits.size() - 1)
                                         : digits.substr(first);
}

// As JSON writes numbers: a digit on both sides of the point, no plus in front, no leading zeros.
std::string JsonNumber(const Decimal& parts) {
  std::string text = parts.negative ? "-" : "";
  text += parts.whole.empty() ? "0" : WithoutLeadingZeros(parts.whole);
  if (parts.has_point) {
    text += '.';
    text += parts.fraction.empty() ? "0" : parts.fraction;
  }
  text += parts.exponent;
  return text;
}

Scalar NumberScalar(const Decimal& parts) {
  std::string text = JsonNumber(parts);
  if (!parts.has_point && parts.exponent.empty()) {
    int64_t integer = 0;
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, integer);
    if (error == std::errc() && stop == end) {
      return Scalar{Value(integer), "", ""};
    }
  }
  Scalar scalar;
  if (!IsInRange(text)) {
    scalar.error = "the number is too large or too small for an object";
  }
  scalar.value = Value(Value::Decimal{std::move(text)});
  return scalar;
}

// Digits of another base; nullopt where they are none.
std::optional<Scalar> BasedInteger(std::string_view digits, int base, bool negative) {
  uint64_t amount = 0;
  const char* end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, amount, base);
  if (digits.empty() || stop != end || error == std::errc::invalid_argument) {
    return std::nullopt;
  }
  Scalar scalar;
  if (error == std::errc::result_out_of_range) {
    scalar.error = "the number is larger than 64 bits";
    return scalar;
  }
  std::string text = (negative ? "-" : "") + std::to_string(amount);
  return NumberScalar(*SplitDecimal(text));
}

std::string Quoted(std::string_view text) { return "\"" + std::string(text) + "\""; }

// 0x1F, 0o17 and, as kubectl reads it, 017.
std::optional<Scalar> PrefixedInteger(std::string_view text) {
  std::string_view digits = text;
  const bool negative = text.front() == '-';
  if (negative || text.front() == '+') {
    digits.remove_prefix(1);
  }
  if (digits.size() < 2 || digits.front() != '0') {
    return std::nullopt;
  }
  const bool hex = digits[1] == 'x';
  if (hex || digits[1] == 'o') {
    return BasedInteger(digits.substr(2), hex ? 16 : 8, negative);
  }
  auto octal = BasedInteger(digits.substr(1), 8, negative);
  if (octal && octal->error.empty() && digits.find_first_not_of('0') != std::string_view::npos) {
    octal->warning = "read as octal, " + octal->value.Brief() + ", as kubectl does; write " +
                     octal->value.Brief() + ", or " + Quoted(text) + " for a string";
  }
  return octal;
}

// Texts that only YAML 1.1 reads as numbers: 1_000, 0b11.
bool IsOldNumber(std::string_view text) {
  std::string plain(text);
  std::erase(plain, '_');
  if (plain.empty() || plain.size() == text.size()) {
    const std::string_view digits = text.starts_with('-') ? text.substr(1) : text;
    return digits.starts_with("0b") && BasedInteger(digits.substr(2), 2, false).has_value();
  }
  return SplitDecimal(plain).has_value() || PrefixedInteger(plain).has_value();
}

Scalar StringScalar(std::string_view text) { return Scalar{Value(std::string(text)), "", ""}; }

Scalar ResolveNumber(std::string_view text) {
  if (IsOneOf(text, kNotFinite)) {
    Scalar scalar;
    scalar.error = "not a number that an object can hold; write " + Quoted(text) + " for a string";
    return scalar;
  }
  if (auto based = PrefixedInteger(text)) {
    return *std::move(based);
  }
  if (const auto parts = SplitDecimal(text)) {
    return NumberScalar(*parts);
  }
  Scalar scalar = StringScalar(text);
  if (IsOldNumber(text)) {
    scalar.warning = "read as a string, kubectl reads a number; write " + Quoted(text) +
                     " for the string, or the number in digits alone";
  }
  return scalar;
}

Scalar ResolveWord(std::string_view text) {
  if (IsOneOf(text, kNull)) {
    return {};
  }
  if (IsOneOf(text, kTrue) || IsOneOf(text, kFalse)) {
    return Scalar{Value(IsOneOf(text, kTrue)), "", ""};
  }
  Scalar scalar = StringScalar(text);
  const bool old_true = IsOneOf(text, kOldTrue);
  if (old_true || IsOneOf(text, kOldFalse)) {
    scalar.warning = std::string("read as a string, kubectl reads the boolean ") +
                     (old_true ? "true" : "false") + "; write " + Quoted(text) +
                     " for the string, or " + (old_true ? "true" : "false");
  }
  return scalar;
}

}  // namespace

Scalar ResolvePlain(std::string_view text) {
  if (text.empty()) {
    return {};
  }
  const char first = text.front();
  if (IsDigit(first) || first == '-' || first == '+' || first == '.') {
    return ResolveNumber(text);
  }
  constexpr size_t kLongestWord = 5;
  constexpr std::string_view kFirstOfWord = "~nNtTfFyYoO";
  if (text.size() <= kLongestWord && kFirstOfWord.find(first) != std::string_view::npos) {
    return ResolveWord(text);
  }
  return StringScalar(text);
}

Scalar ResolveTagged(std::string_view tag, std::string_view text) {
  if (tag == "!" || tag == "tag:yaml.org,2002:str") {
    return StringScalar(text);
  }
  Scalar scalar;
  if (!tag.starts_with(kTagPrefix)) {
    scalar.error = "the tag " + std::string(tag) + " is not supported; write the value plainly";
    return scalar;
  }
  const std::string_view name = tag.substr(kTagPrefix.size());
  scalar = ResolvePlain(text);
  const Value::Kind kind = scalar.value.kind();
  const bool number = kind == Value::Kind::kInteger || kind == Value::Kind::kDecimal;
  const bool fits = (name == "int" && kind == Value::Kind::kInteger) ||
                    (name == "float" && number) || (name == "bool" && kind == Value::Kind::kBool) ||
                    (name == "null" && kind == Value::Kind::kNull);
  if (fits) {
    return scalar;
  }
  const bool known = name == "int" || name == "float" || name == "bool" || name == "null";
  scalar = Scalar();
  scalar.error = known ? "not a value of its tag !!" + std::string(name)
                       : "the tag !!" + std::string(name) +
                             " is not supported; use !!str, !!int, !!float, !!bool or !!null";
  return scalar;
}

bool NeedsQuotes(std::string_view text) {
  if (text.empty() || text == "<<" || text == "=") {
    return true;
  }
  constexpr std::string_view kPunctuation = "-_./+=@:,;()$%^<~ ";
  const auto safe = [kPunctuation](char c) {
    return IsDigit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           kPunctuation.find(c) != std::string_view::npos;
  };
  if (!std::all_of(text.begin(), text.end(), safe)) {
    return true;
  }
  constexpr std::string_view kSafeFirst = "_/$(<^";
  const char first = text.front();
  const bool word = (first >= 'a' && first <= 'z') || (first >= 'A' && first <= 'Z');
  const bool number_like = IsDigit(first);
  if (!word && !number_like && kSafeFirst.find(first) == std::string_view::npos) {
    return true;
  }
  // A blank after a colon starts a value; blanks at the end are lost.
  if (text.back() == ' ' || text.back() == ':' || text.find(": ") != std::string_view::npos) {
    return true;
  }
  if (number_like) {
    // Numbers, dates, times and base-60 numbers of either version consist of these.
    return text.find_first_not_of("0123456789abcdefABCDEFxXoO_.:+-tTzZ ") == std::string_view::npos;
  }
  const Scalar scalar = ResolvePlain(text);
  return !scalar.value.IsString() || !scalar.warning.empty();
}

}  // namespace caldera
