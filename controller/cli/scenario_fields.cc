#include "controller/cli/scenario_fields.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

namespace caldera {
namespace {

constexpr Millis kLongest = std::chrono::hours(24 * 365 * 10);
constexpr int64_t kNanosPerMilli = 1'000'000;
constexpr int64_t kNanosPerSecond = 1'000'000'000;

int64_t Nanos(Millis span) { return span.count() * kNanosPerMilli; }

std::optional<SpanLaw> TakeUniform(const Field& field, Millis least) {
  const std::vector<Field> ends = field.Items();
  if (ends.size() != 2) {
    field.Refuse("must be a list of two durations, the shortest and the longest");
    return std::nullopt;
  }
  const auto from = TakeSpan(ends[0], least);
  const auto to = TakeSpan(ends[1], least);
  if (!from || !to) {
    return std::nullopt;
  }
  if (*to < *from) {
    field.Refuse("must name the shorter one first");
    return std::nullopt;
  }
  return SpanLaw::Uniform(Nanos(*from), Nanos(*to));
}

}  // namespace

void RefuseUnknown(const Field& map, Names known) {
  if (!map.IsMapOrAbsent() || !map.Present()) {
    return;
  }
  std::string names;
  for (const std::string_view key : known) {
    names += (names.empty() ? "" : ", ") + std::string(key);
  }
  for (const Member& member : map.value()->AsMap()) {
    if (std::find(known.begin(), known.end(), member.key) == known.end()) {
      map[member.key].Refuse("is no field here: there are " + names);
    }
  }
}

std::optional<Millis> TakeSpan(const Field& field, Millis least) {
  const auto text = field.String();
  if (!text) {
    return std::nullopt;
  }
  const auto span = ParseDuration(*text);
  if (!span || *span < least || *span > kLongest) {
    field.Refuse("must be a duration from " + FormatDuration(least) + " to " +
                 FormatDuration(kLongest) + ", such as 90s, 15m or 1h30m");
    return std::nullopt;
  }
  return *span;
}

void TakeSpanInto(const Field& field, Millis least, Millis& into) {
  into = TakeSpan(field, least).value_or(into);
}

std::optional<int64_t> TakeFactor(const Field& field, int64_t most) {
  const auto number = field.AsQuantity();
  if (!number) {
    return std::nullopt;
  }
  if (number->Negative() || number->MilliValue() < 1 || number->MilliValue() > most * 1000) {
    field.Refuse("must be a number above 0 and at most " + std::to_string(most));
    return std::nullopt;
  }
  return number->MilliValue();
}

std::optional<SpanLaw> TakeLaw(const Field& field, Millis least) {
  if (!field.Present()) {
    return std::nullopt;
  }
  if (!field.value()->IsMap()) {
    const auto span = TakeSpan(field, least);
    return span ? std::optional(SpanLaw::Fixed(Nanos(*span))) : std::nullopt;
  }
  RefuseUnknown(field, {"uniform", "exponential", "lognormal"});
  if (field.value()->AsMap().size() != 1) {
    field.Refuse("must be a duration, or one of uniform, exponential and lognormal");
    return std::nullopt;
  }
  if (const Field uniform = field["uniform"]; uniform.Present()) {
    return TakeUniform(uniform, least);
  }
  if (const auto mean = TakeSpan(field["exponential"], Millis(1))) {
    return SpanLaw::Exponential(Nanos(*mean));
  }
  const Field lognormal = field["lognormal"];
  if (!lognormal.Present()) {
    return std::nullopt;
  }
  RefuseUnknown(lognormal, {"median", "sigma"});
  for (const char* needed : {"median", "sigma"}) {
    if (!lognormal[needed].Present()) {
      lognormal[needed].Refuse("is required");
    }
  }
  const auto median = TakeSpan(lognormal["median"], Millis(1));
  const auto sigma = TakeFactor(lognormal["sigma"], 5);
  return median && sigma ? std::optional(SpanLaw::Lognormal(Nanos(*median), *sigma)) : std::nullopt;
}

std::optional<SpanLaw> TakeRate(const Field& field) {
  const auto text = field.String();
  if (!text) {
    return std::nullopt;
  }
  constexpr std::array<std::pair<std::string_view, int64_t>, 4> kUnits{
      {{"/s", 1}, {"/m", 60}, {"/h", 3600}, {"/d", 86400}}};
  for (const auto& [unit, seconds] : kUnits) {
    if (!text->ends_with(unit)) {
      continue;
    }
    const auto number = Quantity::Parse(text->substr(0, text->size() - unit.size()));
    if (number && number->Nano() > 0 && number->MilliValue() <= 1'000'000'000) {
      const Int128 gap = Int128{seconds} * kNanosPerSecond * kNanosPerSecond / number->Nano();
      return SpanLaw::Exponential(
          static_cast<int64_t>(std::clamp<Int128>(gap, 1, Nanos(kLongest))));
    }
  }
  field.Refuse("must be a number above 0 and /s, /m, /h or /d, such as 360/h");
  return std::nullopt;
}

}  // namespace caldera
