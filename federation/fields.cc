#include "federation/fields.h"

#include <algorithm>
#include <limits>

#include "federation/excerpt.h"
#include "federation/names.h"

namespace caldera {
namespace {

bool IsPlainKey(std::string_view key) {
  return !key.empty() && std::all_of(key.begin(), key.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_';
  });
}

std::string Bracketed(std::string_view path, std::string_view key) {
  return std::string(path) + "[" + Excerpt(key, 2 * kExcerptLimit) + "]";
}

std::string Joined(std::string_view path, std::string_view key) {
  if (!IsPlainKey(key) || key.size() > kExcerptLimit) {
    return Bracketed(path, key);
  }
  return path.empty() ? std::string(key) : std::string(path) + "." + std::string(key);
}

std::string NotA(std::string_view right, const Value& value) {
  return "must be " + std::string(right) + ", not " + WithArticle(Value::KindName(value.kind()));
}

// The whole number that a value without a fraction stands for (`2.0`, `1e3`); nullopt otherwise.
std::optional<int64_t> WholeNumber(const Value& value) {
  if (value.IsInteger()) {
    return value.AsInteger();
  }
  if (value.kind() != Value::Kind::kDecimal) {
    return std::nullopt;
  }
  const auto number = Quantity::Parse(value.AsDecimal());
  if (!number || !number->Whole()) {
    return std::nullopt;
  }
  return number->Value();
}

bool IsCounted(std::string_view resource) { return resource == "pods" || IsDevice(resource); }

}  // namespace

Field Field::operator[](std::string_view key) const { return Below(key, Joined(path_, key)); }

Field Field::Entry(std::string_view key) const { return Below(key, Bracketed(path_, key)); }

Field Field::Below(std::string_view key, std::string path) const {
  const Value* const member = value_ == nullptr ? nullptr : value_->Find(key);
  const Mark near = value_ == nullptr ? near_ : value_->mark();
  return {member, std::move(path), near, *sink_};
}

std::optional<std::string> Field::String() const {
  if (!Present()) {
    return std::nullopt;
  }
  if (!value_->IsString()) {
    const bool scalar =
        value_->IsBool() || value_->IsInteger() || value_->kind() == Value::Kind::kDecimal;
    Refuse(NotA("a string", *value_) +
           (scalar ? ": write it in quotes, \"" + value_->Brief() + "\"" : ""));
    return std::nullopt;
  }
  return value_->AsString();
}

std::optional<bool> Field::Bool() const {
  if (!Present()) {
    return std::nullopt;
  }
  if (!value_->IsBool()) {
    Refuse(NotA("true or false", *value_));
    return std::nullopt;
  }
  return value_->AsBool();
}

std::optional<int64_t> Field::Integer(int64_t min, int64_t max) const {
  if (!Present()) {
    return std::nullopt;
  }
  const std::string right = "an integer from " + std::to_string(min) + " to " + std::to_string(max);
  if (value_->IsString()) {
    Refuse(NotA(right, *value_) + ": write it without quotes");
    return std::nullopt;
  }
  if (!value_->IsInteger() && value_->kind() != Value::Kind::kDecimal) {
    Refuse(NotA(right, *value_));
    return std::nullopt;
  }
  const auto number = WholeNumber(*value_);
  if (!number || *number < min || *number > max) {
    Refuse("must be " + right);
    return std::nullopt;
  }
  return number;
}

std::vector<Field> Field::Items() const {
  std::vector<Field> items;
  if (!Present()) {
    return items;
  }
  if (!value_->IsList()) {
    Refuse(NotA("a list", *value_));
    return items;
  }
  const Value::List& list = value_->AsList();
  if (list.size() > kListMax) {
    Refuse("has " + std::to_string(list.size()) + " entries: at most " + std::to_string(kListMax) +
           " are taken");
    return items;
  }
  items.reserve(list.size());
  for (size_t i = 0; i < list.size(); ++i) {
    items.emplace_back(&list[i], path_ + "[" + std::to_string(i) + "]", value_->mark(), *sink_);
  }
  return items;
}

std::vector<std::pair<std::string, Field>> Field::Members() const {
  std::vector<std::pair<std::string, Field>> members;
  if (!Present() || !IsMapOrAbsent()) {
    return members;
  }
  const Value::Map& map = value_->AsMap();
  if (map.size() > kListMax) {
    Refuse("has " + std::to_string(map.size()) + " keys: at most " + std::to_string(kListMax) +
           " are taken");
    return members;
  }
  members.reserve(map.size());
  for (const Member& member : map) {
    members.emplace_back(member.key,
                         Field(&member.value, Bracketed(path_, member.key), member.mark, *sink_));
  }
  return members;
}

std::vector<std::pair<std::string, std::string>> Field::Strings() const {
  std::vector<std::pair<std::string, std::string>> strings;
  for (const auto& [key, field] : Members()) {
    if (!field.Present()) {
      strings.emplace_back(key, "");
    } else if (auto text = field.String()) {
      strings.emplace_back(key, *std::move(text));
    }
  }
  return strings;
}

std::vector<std::string> Field::StringList() const {
  std::vector<std::string> strings;
  for (const Field& item : Items()) {
    if (!item.Present()) {
      item.Refuse("must be a string, not null");
    } else if (auto text = item.String()) {
      strings.push_back(*std::move(text));
    }
  }
  return strings;
}

std::optional<Quantity> Field::AsQuantity() const {
  if (!Present()) {
    return std::nullopt;
  }
  if (value_->IsInteger()) {
    return Quantity(Int128{value_->AsInteger()} * 1'000'000'000, Quantity::Format::kDecimalSI);
  }
  if (!value_->IsString() && value_->kind() != Value::Kind::kDecimal) {
    Refuse(NotA(R"(a quantity (an integer, or a string such as "500m" or "1Gi"))", *value_));
    return std::nullopt;
  }
  const auto quantity =
      Quantity::Parse(value_->IsString() ? value_->AsString() : value_->AsDecimal());
  if (!quantity) {
    Refuse(quantity.error().message);
    return std::nullopt;
  }
  return *quantity;
}

std::map<std::string, Quantity, std::less<>> Field::Quantities() const {
  std::map<std::string, Quantity, std::less<>> quantities;
  for (const auto& [name, field] : Members()) {
    if (!IsQualifiedName(name)) {
      field.Refuse("is no resource name: such a name has " + std::string(kQualifiedNameRule));
      continue;
    }
    if (!field.Present()) {
      field.Refuse("must be a quantity, not null");
      continue;
    }
    const auto quantity = field.AsQuantity();
    if (!quantity) {
      continue;
    }
    if (quantity->Negative()) {
      field.Refuse("must not be negative");
    } else if (IsCounted(name) && !quantity->Whole()) {
      field.Refuse("must be a whole number: " + Excerpt(name) + " is handed out whole");
    } else {
      quantities.emplace(name, *quantity);
    }
  }
  return quantities;
}

ResourceList Field::Resources(bool up) const {
  ResourceList list;
  for (const auto& [name, quantity] : Quantities()) {
    list.emplace(name, up ? RequestAmount(name, quantity) : CapacityAmount(name, quantity));
  }
  return list;
}

bool Field::IsMapOrAbsent() const {
  if (!Present() || value_->IsMap()) {
    return true;
  }
  Refuse(NotA("a map", *value_));
  return false;
}

void Field::Refuse(std::string message) const { AddOnce(sink_->errors, std::move(message)); }

void Field::Warn(std::string message) const { AddOnce(sink_->warnings, std::move(message)); }

void Field::AddOnce(std::vector<Issue>& issues, std::string message) const {
  const bool known = std::any_of(issues.begin(), issues.end(), [&](const Issue& issue) {
    return issue.field == path_ && issue.message == message;
  });
  if (!known && issues.size() < kIssuesMax) {
    issues.push_back(MakeIssue(std::move(message)));
  }
}

Issue Field::MakeIssue(std::string message) const {
  Issue issue;
  issue.object = sink_->object;
  issue.file = sink_->file;
  issue.mark = near_;
  issue.field = path_;
  if (value_ != nullptr) {
    issue.mark = value_->mark().line != 0 ? value_->mark() : near_;
    issue.value = value_->IsNull() ? "" : value_->Brief();
  }
  issue.message = std::move(message);
  return issue;
}

}  // namespace caldera
