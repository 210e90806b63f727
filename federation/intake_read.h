// Reading values whose kinds a schema has checked already: what has the wrong kind was reported
// there and counts as absent here, so that nothing is complained about twice. Used by the intake of
// Job and HyperJob.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "federation/fields.h"

namespace caldera {

/// The string; empty where it is absent. Borrows from the document.
std::string_view TextOf(const Field& field);
std::optional<int64_t> NumberOf(const Field& field);
bool FlagOf(const Field& field);
/// The quantity, from an integer or a string.
std::optional<Quantity> AmountOf(const Field& field);
/// The items of a list.
std::vector<Field> ItemsOf(const Field& field);
/// The members of a map, by `path[key]`.
std::vector<std::pair<std::string, Field>> MembersOf(const Field& field);
bool IsMap(const Field& field);

/// `a, b or c`.
std::string OneOf(std::initializer_list<std::string_view> choices);
/// An error where `field` has text that is none of `choices`; also where it is empty, if
/// `required`.
void CheckChoice(const Field& field, std::initializer_list<std::string_view> choices,
                 bool required = false);
/// An error where the text is absent or empty.
bool CheckGiven(const Field& field, std::string_view what);
/// An error where there is a number outside [min, max].
void CheckRange(const Field& field, int64_t min, int64_t max);

}  // namespace caldera
