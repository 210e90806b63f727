#include <algorithm>

#include "federation/excerpt.h"
#include "federation/names.h"
#include "federation/quantity.h"
#include "federation/schema.h"
#include "federation/time.h"

namespace caldera {
namespace {

using Kind = SchemaNode::Kind;

// A step of the path from the root of the check to a value. Paths become text only where there is
// something to say.
struct Step {
  const Step* parent = nullptr;
  std::string_view key;
  size_t index = 0;
  enum class In : uint8_t { kRoot, kStruct, kMap, kList } in = In::kRoot;
  Mark near;
};

size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) {
    row[j] = j;
  }
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t above = row[j];
      row[j] = std::min({above + 1, row[j - 1] + 1, diagonal + (a[i - 1] == b[j - 1] ? 0U : 1U)});
      diagonal = above;
    }
  }
  return row[b.size()];
}

// The member of `structure` that `name` is most likely a slip for; empty where none is near.
std::string_view Nearest(const SchemaStruct& structure, std::string_view name) {
  constexpr size_t kLongestName = 64;
  std::string_view nearest;
  size_t best = 3;
  if (name.size() > kLongestName) {
    return nearest;
  }
  for (const SchemaMember& member : structure.members) {
    const size_t distance = EditDistance(member.name, name);
    if (distance < best && distance < member.name.size()) {
      best = distance;
      nearest = member.name;
    }
  }
  return nearest;
}

std::string Choices(const std::vector<std::string>& choices) {
  std::string text;
  for (size_t i = 0; i < choices.size(); ++i) {
    text += (i == 0 ? "" : i + 1 == choices.size() ? " or " : ", ") + choices[i];
  }
  return text;
}

// What a value of this node must be, as messages say it.
std::string Wanted(const SchemaNode& node) {
  switch (node.kind) {
    case Kind::kStruct:
    case Kind::kMap:
      return "a map";
    case Kind::kList:
      return "a list";
    case Kind::kString:
      return "a string";
    case Kind::kBool:
      return "true or false";
    case Kind::kInteger:
      return "a whole number from " + std::to_string(node.min) + " to " + std::to_string(node.max);
    case Kind::kQuantity:
      return "a quantity such as 500m, 2 or 1Gi";
    case Kind::kIntOrString:
      return "a whole number or a string";
    case Kind::kDuration:
      return "a duration such as 90s or 10m";
    case Kind::kAny:
      break;
  }
  return "a value";
}

bool Matches(SchemaNode::Pattern pattern, std::string_view text) {
  switch (pattern) {
    case SchemaNode::Pattern::kNone:
      return true;
    case SchemaNode::Pattern::kLabel:
      return IsDnsLabel(text);
    case SchemaNode::Pattern::kSubdomain:
      return IsDnsSubdomain(text);
    case SchemaNode::Pattern::kNoColon:
      return !text.empty() && text.find(':') == std::string_view::npos;
  }
  return false;
}

std::string Rule(SchemaNode::Pattern pattern) {
  switch (pattern) {
    case SchemaNode::Pattern::kLabel:
      return std::string(kDnsLabelRule);
    case SchemaNode::Pattern::kSubdomain:
      return std::string(kDnsSubdomainRule);
    default:
      return "at least one character, and no ':'";
  }
}

// Characters, as JSON Schema counts them: code points, not bytes.
size_t Length(std::string_view text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
  }));
}

std::optional<int64_t> WholeNumber(const Value& value) {
  if (value.IsInteger()) {
    return value.AsInteger();
  }
  if (value.kind() != Value::Kind::kDecimal) {
    return std::nullopt;
  }
  const auto number = Quantity::Parse(value.AsDecimal());
  if (!number.has_value() || !number->Whole() ||
      number->Nano() / 1'000'000'000 != Int128{number->Value()}) {
    return std::nullopt;
  }
  return number->Value();
}

// The zero value that Go writes for a scalar or an object that was not there; nullopt for the kinds
// that it writes as null.
std::optional<Value> Zero(const SchemaNode& node) {
  switch (node.kind) {
    case Kind::kString:
      return Value("");
    case Kind::kBool:
      return Value(false);
    case Kind::kInteger:
    case Kind::kIntOrString:
      return Value(0);
    case Kind::kQuantity:
      return Value("0");
    case Kind::kStruct:
      return Value(Value::Map{});
    default:
      return std::nullopt;
  }
}

// Go leaves empty strings and lists out when it writes, so rules on them do not see them. (An empty
// string that no rule is about may stay.)
bool IsOmitted(const SchemaMember& member, const SchemaNode& node, const Value& value) {
  if (node.kind == Kind::kList) {
    return !member.required && !member.nulled && value.IsList() && value.AsList().empty();
  }
  const bool ruled = !node.choices.empty() || node.pattern != SchemaNode::Pattern::kNone ||
                     node.fallback.has_value();
  return node.kind == Kind::kString && value.IsString() && value.AsString().empty() &&
         (member.required ? member.omitted : ruled);
}

std::string_view Trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\n\r";
  const size_t first = text.find_first_not_of(kBlanks);
  return first == std::string_view::npos
             ? std::string_view()
             : text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

class SchemaCheck {
 public:
  SchemaCheck(const Schema& schema, const Field& place, bool may_rewrite)
      : schema_(schema), place_(place), may_rewrite_(may_rewrite) {}

  void Struct(const SchemaStruct& structure, Value& value, const Step& step);

 private:
  void Check(const SchemaNode& node, Value& value, const Step& step);
  void Members(const SchemaStruct& structure, Value& value, const Step& step);
  void Implied(const SchemaStruct& structure, Value& value, const Step& step);
  void Map(const SchemaNode& node, Value& value, const Step& step);
  void List(const SchemaNode& node, Value& value, const Step& step);
  void Unique(const SchemaNode& node, const Value& value, const Step& step);
  void String(const SchemaNode& node, const Value& value, const Step& step);
  void Number(const SchemaNode& node, Value& value, const Step& step);
  void Amount(const SchemaNode& node, Value& value, const Step& step);

  [[nodiscard]] std::string Path(const Step& step) const;
  void Refuse(const Value* value, const Step& step, const std::string& message) const {
    Field(value, Path(step), step.near, place_.sink()).Refuse(message);
  }
  void WrongKind(const SchemaNode& node, const Value& value, const Step& step) const;

  const Schema& schema_;
  const Field& place_;
  bool may_rewrite_;
  bool rewritten_ = false;
};

std::string SchemaCheck::Path(const Step& step) const {
  if (step.in == Step::In::kRoot) {
    return place_.path();
  }
  const std::string parent = Path(*step.parent);
  switch (step.in) {
    case Step::In::kList:
      return parent + "[" + std::to_string(step.index) + "]";
    case Step::In::kMap:
      return parent + "[" + Excerpt(step.key) + "]";
    default:
      return parent.empty() ? std::string(step.key) : parent + "." + std::string(step.key);
  }
}

void SchemaCheck::WrongKind(const SchemaNode& node, const Value& value, const Step& step) const {
  const bool scalar = value.IsInteger() || value.IsBool() || value.kind() == Value::Kind::kDecimal;
  std::string message =
      "must be " + Wanted(node) + ", not " + WithArticle(Value::KindName(value.kind()));
  if (scalar && (node.kind == Kind::kString || node.kind == Kind::kDuration)) {
    message += ": write it in quotes";
  }
  if (value.IsString() && (node.kind == Kind::kInteger || node.kind == Kind::kBool)) {
    message += ": write it without quotes";
  }
  Refuse(&value, step, message);
}

void SchemaCheck::Check(const SchemaNode& node, Value& value, const Step& step) {
  switch (node.kind) {
    case Kind::kAny:
      return;
    case Kind::kStruct:
      return value.IsMap() ? Struct(schema_.StructAt(node.target), value, step)
                           : WrongKind(node, value, step);
    case Kind::kMap:
      return value.IsMap() ? Map(node, value, step) : WrongKind(node, value, step);
    case Kind::kList:
      return value.IsList() ? List(node, value, step) : WrongKind(node, value, step);
    case Kind::kString:
      return value.IsString() ? String(node, value, step) : WrongKind(node, value, step);
    case Kind::kBool:
      return value.IsBool() ? void() : WrongKind(node, value, step);
    case Kind::kInteger:
      return Number(node, value, step);
    case Kind::kQuantity:
      return Amount(node, value, step);
    case Kind::kIntOrString:
      return value.IsString() ? void() : Number(node, value, step);
    case Kind::kDuration:
      if (!value.IsString()) {
        return WrongKind(node, value, step);
      }
      if (!ParseDuration(value.AsString()).has_value()) {
        Refuse(&value, step,
               "must be a duration: numbers with units h, m, s, ms, as in 90s or 1h30m");
      }
      return;
  }
}

void SchemaCheck::Struct(const SchemaStruct& structure, Value& value, const Step& step) {
  Members(structure, value, step);
  Implied(structure, value, step);
}

void SchemaCheck::Members(const SchemaStruct& structure, Value& value, const Step& step) {
  Value::Map& map = value.AsMap();
  for (size_t i = 0; i < map.size();) {
    caldera::Member& entry = map[i];
    const SchemaMember* const member = structure.Find(entry.key);
    const Step here{&step, entry.key, 0, Step::In::kStruct, entry.mark};
    if (member == nullptr) {
      const std::string_view nearest = Nearest(structure, entry.key);
      Field(&entry.value, Path(step) + (Path(step).empty() ? "" : ".") + Excerpt(entry.key),
            entry.mark, place_.sink())
          .Warn("unknown field, sent on as it is, but a member's API server drops it" +
                (nearest.empty() ? "" : "; did you mean " + std::string(nearest) + "?"));
      ++i;
      continue;
    }
    const SchemaNode& node = schema_.Node(member->node);
    if (entry.value.IsNull() || (rewritten_ && IsOmitted(*member, node, entry.value))) {
      map.erase(map.begin() + static_cast<std::ptrdiff_t>(i));
      continue;
    }
    const bool outer = rewritten_;
    rewritten_ = outer || member->always || (member->rewritten && may_rewrite_);
    Check(node, entry.value, here);
    rewritten_ = outer;
    ++i;
  }
}

void SchemaCheck::Implied(const SchemaStruct& structure, Value& value, const Step& step) {
  for (const size_t index : structure.implied) {
    const SchemaMember& member = structure.members[index];
    const SchemaNode& node = schema_.Node(member.node);
    if (value.Find(member.name) != nullptr || (member.nulled && !rewritten_)) {
      continue;
    }
    if (node.fallback.has_value()) {
      value.Set(member.name, *node.fallback);
      continue;
    }
    const Step here{&step, member.name, 0, Step::In::kStruct, value.mark()};
    auto zero = rewritten_ && !member.omitted ? Zero(node) : std::nullopt;
    if (!zero.has_value()) {
      Refuse(nullptr, here, "is required: " + Wanted(node));
      continue;
    }
    zero->set_mark(value.mark());
    Check(node, value.Set(member.name, *std::move(zero)), here);
  }
}

void SchemaCheck::Map(const SchemaNode& node, Value& value, const Step& step) {
  Value::Map& map = value.AsMap();
  std::erase_if(map, [&](const caldera::Member& entry) { return entry.value.IsNull(); });
  for (caldera::Member& entry : map) {
    const Step here{&step, entry.key, 0, Step::In::kMap, entry.mark};
    Check(schema_.Node(node.target), entry.value, here);
  }
}

void SchemaCheck::List(const SchemaNode& node, Value& value, const Step& step) {
  const SchemaNode& item_node = schema_.Node(node.target);
  Value::List& list = value.AsList();
  if (list.size() < node.min_length) {
    Refuse(&value, step, "must have at least " + std::to_string(node.min_length) + " item");
  }
  for (size_t i = 0; i < list.size(); ++i) {
    const Step here{&step, {}, i, Step::In::kList, value.mark()};
    if (list[i].IsNull() && rewritten_) {
      if (auto zero = Zero(item_node); zero.has_value()) {
        zero->set_mark(list[i].mark());
        list[i] = *std::move(zero);
      }
    }
    Check(item_node, list[i], here);
  }
  Unique(node, value, step);
}

void SchemaCheck::Unique(const SchemaNode& node, const Value& value, const Step& step) {
  if (node.keys.empty() && !node.set) {
    return;
  }
  const Value::List& list = value.AsList();
  // The text of an item's identity: the values of its key members, each with its length before it.
  std::vector<std::pair<std::string, size_t>> identities;
  for (size_t i = 0; i < list.size(); ++i) {
    std::string identity;
    bool whole = node.set || list[i].IsMap();
    for (const std::string& key : node.keys) {
      const Value* const part = list[i].Find(key);
      whole = whole && (part == nullptr || part->IsString() || part->IsInteger());
      const std::string text = part == nullptr || !whole ? ""
                               : part->IsString()        ? part->AsString()
                                                         : part->Brief();
      identity += std::to_string(text.size()) + ":" + text;
    }
    if (node.set) {
      identity = list[i].Brief();
    }
    if (whole) {
      identities.emplace_back(std::move(identity), i);
    }
  }
  std::ranges::sort(identities);
  for (size_t i = 1; i < identities.size(); ++i) {
    if (identities[i].first == identities[i - 1].first) {
      const size_t at = identities[i].second;
      const Step here{&step, {}, at, Step::In::kList, value.mark()};
      Refuse(&list[at], here,
             node.set
                 ? "is in the list twice"
                 : "has the same " + Choices(node.keys) + " as another item: it must be unique");
    }
  }
}

void SchemaCheck::String(const SchemaNode& node, const Value& value, const Step& step) {
  const std::string& text = value.AsString();
  const size_t length = Length(text);
  if (length < node.min_length) {
    Refuse(&value, step, "must not be empty");
  } else if (length > node.max_length) {
    Refuse(&value, step,
           "has " + std::to_string(length) + " characters: at most " +
               std::to_string(node.max_length) + " are allowed");
  } else if (!Matches(node.pattern, text)) {
    Refuse(&value, step, "must be " + Rule(node.pattern));
  }
  if (!node.choices.empty() &&
      std::find(node.choices.begin(), node.choices.end(), text) == node.choices.end()) {
    Refuse(&value, step, "must be " + Choices(node.choices));
  }
}

void SchemaCheck::Number(const SchemaNode& node, Value& value, const Step& step) {
  if (!value.IsInteger() && value.kind() != Value::Kind::kDecimal) {
    return WrongKind(node, value, step);
  }
  const auto number = WholeNumber(value);
  const int64_t max =
      node.kind == Kind::kIntOrString ? std::numeric_limits<int32_t>::max() : node.max;
  if (!number.has_value() || *number < node.min || *number > max) {
    Refuse(&value, step, "must be " + Wanted(node));
    return;
  }
  if (!value.IsInteger()) {
    value = Value(*number, value.mark());
  }
}

void SchemaCheck::Amount(const SchemaNode& node, Value& value, const Step& step) {
  if (value.IsInteger()) {
    return;
  }
  const bool decimal = value.kind() == Value::Kind::kDecimal;
  if (!value.IsString() && !decimal) {
    return WrongKind(node, value, step);
  }
  const std::string_view text = decimal ? value.AsDecimal() : value.AsString();
  // Go reads a quantity with blanks around it.
  const auto amount = Quantity::Parse(rewritten_ ? Trimmed(text) : text);
  if (!amount.has_value()) {
    Refuse(&value, step, amount.error().message);
  } else if (rewritten_ && (decimal || Trimmed(text) != text)) {
    value = Value(amount->Canonical(), value.mark());
  } else if (const auto whole = WholeNumber(value); decimal && whole.has_value()) {
    value = Value(*whole, value.mark());
  } else if (decimal) {
    Refuse(&value, step,
           "must not be a number with a fraction: write it in quotes, \"" + amount->Canonical() +
               "\"");
  }
}

}  // namespace

void ApplySchema(const Schema& schema, std::string_view structure, Value& value, const Field& place,
                 Passage passage) {
  SchemaCheck check(schema, place, passage == Passage::kRewritten);
  const Step root{nullptr, {}, 0, Step::In::kRoot, value.mark()};
  if (!value.IsMap()) {
    place.Refuse("must be a map, not " + WithArticle(Value::KindName(value.kind())));
    return;
  }
  check.Struct(schema.Struct(structure), value, root);
}

}  // namespace caldera
