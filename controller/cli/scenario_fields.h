// Values of a scenario: spans of time, laws that draw them, numbers. What is wrong goes to the
// field's sink, naming what would be right. Used by scenario_reader.cc.
#pragma once

#include <initializer_list>
#include <optional>
#include <string_view>

#include "controller/cli/random.h"
#include "federation/fields.h"
#include "federation/time.h"

namespace caldera {

using Names = std::initializer_list<std::string_view>;

/// An error for each member that is not `known`: a misspelt wish that is silently dropped is worse.
void RefuseUnknown(const Field& map, Names known);

/// A duration from `least` to ten years; absent: nullopt.
std::optional<Millis> TakeSpan(const Field& field, Millis least);
/// Leaves `into` as it is where the field is absent.
void TakeSpanInto(const Field& field, Millis least, Millis& into);

/// A number above 0, in thousandths.
std::optional<int64_t> TakeFactor(const Field& field, int64_t most);

/// `30m`, `{uniform: [10m, 30m]}`, `{exponential: 30m}`, `{lognormal: {median: 30m, sigma: 0.8}}`.
std::optional<SpanLaw> TakeLaw(const Field& field, Millis least);
/// `360/h`: arrivals that have nothing to do with each other, so many an hour; the law of the gaps.
std::optional<SpanLaw> TakeRate(const Field& field);

}  // namespace caldera
