#include "federation/intake_read.h"

#include <algorithm>

#include "federation/excerpt.h"

namespace caldera {

std::string_view TextOf(const Field& field) {
  return field.value() != nullptr && field.value()->IsString()
             ? std::string_view(field.value()->AsString())
             : std::string_view();
}

std::optional<int64_t> NumberOf(const Field& field) {
  if (field.value() == nullptr || !field.value()->IsInteger()) {
    return std::nullopt;
  }
  return field.value()->AsInteger();
}

bool FlagOf(const Field& field) {
  return field.value() != nullptr && field.value()->IsBool() && field.value()->AsBool();
}

std::optional<Quantity> AmountOf(const Field& field) {
  if (const auto number = NumberOf(field); number.has_value()) {
    return Quantity(Int128{*number} * 1'000'000'000, Quantity::Format::kDecimalSI);
  }
  if (field.value() == nullptr || !field.value()->IsString()) {
    return std::nullopt;
  }
  const auto amount = Quantity::Parse(field.value()->AsString());
  return amount.has_value() ? std::optional(*amount) : std::nullopt;
}

std::vector<Field> ItemsOf(const Field& field) {
  std::vector<Field> items;
  if (field.value() == nullptr || !field.value()->IsList()) {
    return items;
  }
  const Value::List& list = field.value()->AsList();
  items.reserve(list.size());
  for (size_t i = 0; i < list.size(); ++i) {
    items.emplace_back(&list[i], field.path() + "[" + std::to_string(i) + "]",
                       field.value()->mark(), field.sink());
  }
  return items;
}

std::vector<std::pair<std::string, Field>> MembersOf(const Field& field) {
  std::vector<std::pair<std::string, Field>> members;
  if (!IsMap(field)) {
    return members;
  }
  for (const Member& member : field.value()->AsMap()) {
    members.emplace_back(member.key,
                         Field(&member.value, field.path() + "[" + Excerpt(member.key) + "]",
                               member.mark, field.sink()));
  }
  return members;
}

bool IsMap(const Field& field) { return field.value() != nullptr && field.value()->IsMap(); }

std::string OneOf(std::initializer_list<std::string_view> choices) {
  std::string text;
  size_t left = choices.size();
  for (const std::string_view choice : choices) {
    text += choice;
    --left;
    text += left > 1 ? ", " : left == 1 ? " or " : "";
  }
  return text;
}

void CheckChoice(const Field& field, std::initializer_list<std::string_view> choices,
                 bool required) {
  const std::string_view text = TextOf(field);
  if (text.empty() && !required) {
    return;
  }
  if (std::find(choices.begin(), choices.end(), text) == choices.end()) {
    field.Refuse("must be " + OneOf(choices));
  }
}

bool CheckGiven(const Field& field, std::string_view what) {
  if (!TextOf(field).empty()) {
    return true;
  }
  // Another kind than a string was reported by the schema.
  if (!field.Present() || field.value()->IsString()) {
    field.Refuse("is required: " + std::string(what));
  }
  return false;
}

void CheckRange(const Field& field, int64_t min, int64_t max) {
  const auto number = NumberOf(field);
  if (number.has_value() && (*number < min || *number > max)) {
    field.Refuse("must be a whole number from " + std::to_string(min) + " to " +
                 std::to_string(max));
  }
}

}  // namespace caldera
