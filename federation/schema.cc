#include "federation/schema.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "federation/assert.h"

namespace caldera {
namespace {

constexpr std::string_view kBlank = " ";

std::string_view Trim(std::string_view text) {
  while (text.starts_with(kBlank)) {
    text.remove_prefix(1);
  }
  while (text.ends_with(kBlank)) {
    text.remove_suffix(1);
  }
  return text;
}

std::vector<std::string> Split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (true) {
    const size_t end = text.find(separator);
    parts.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) {
      return parts;
    }
    text.remove_prefix(end + 1);
  }
}

// The logical lines: a line that starts with a space belongs to the one before it.
std::vector<std::string> LogicalLines(std::string_view text) {
  std::vector<std::string> lines;
  for (const std::string& line : Split(text, '\n')) {
    if (Trim(line).empty()) {
      continue;
    }
    if (!line.starts_with(' ')) {
      lines.push_back(line);
      continue;
    }
    CALDERA_ASSERT(!lines.empty());
    lines.back() += (lines.back().ends_with('|') ? "" : " ") + std::string(Trim(line));
  }
  return lines;
}

// Where the type at the start of `text` ends: at the bracket that closes it, or at a space.
size_t TypeEnd(std::string_view text) {
  if (!text.starts_with('[') && !text.starts_with('{')) {
    return std::min(text.find(' '), text.size());
  }
  int depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    depth += text[i] == '[' || text[i] == '{' ? 1 : 0;
    depth -= text[i] == ']' || text[i] == '}' ? 1 : 0;
    if (depth == 0) {
      return i + 1;
    }
  }
  CALDERA_ASSERT(false);
  return text.size();
}

int64_t Number(std::string_view text) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  CALDERA_ASSERT(error == std::errc() && end == text.data() + text.size());
  return number;
}

Value Fallback(SchemaNode::Kind kind, const std::string& text) {
  switch (kind) {
    case SchemaNode::Kind::kInteger:
      return {Number(text)};
    case SchemaNode::Kind::kBool:
      return {text == "true"};
    default:
      return {text};
  }
}

SchemaNode::Pattern PatternOf(std::string_view name) {
  if (name == "label") {
    return SchemaNode::Pattern::kLabel;
  }
  if (name == "subdomain") {
    return SchemaNode::Pattern::kSubdomain;
  }
  CALDERA_ASSERT(name == "no-colon");
  return SchemaNode::Pattern::kNoColon;
}

// Takes `prefix` off `text` where it starts with it.
bool Take(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) {
    return false;
  }
  text.remove_prefix(prefix.size());
  return true;
}

void Constrain(SchemaNode& node, std::string_view text) {
  if (Take(text, "min=")) {
    node.min = Number(text);
  } else if (Take(text, "len>=") || Take(text, "items>=")) {
    node.min_length = static_cast<size_t>(Number(text));
  } else if (Take(text, "len<=")) {
    node.max_length = static_cast<size_t>(Number(text));
  } else if (Take(text, "re=")) {
    node.pattern = PatternOf(text);
  } else if (Take(text, "enum=")) {
    node.choices = Split(text, '|');
  } else if (Take(text, "keys=")) {
    node.keys = Split(text, ',');
  } else if (Take(text, "default=")) {
    node.fallback = Fallback(node.kind, std::string(text));
  } else {
    CALDERA_ASSERT(text == "set");
    node.set = true;
  }
}

// The kind of a type that is one word; kStruct for the name of a struct.
SchemaNode::Kind KindOf(std::string_view word) {
  using Kind = SchemaNode::Kind;
  constexpr std::array<std::pair<std::string_view, Kind>, 9> kWords = {{
      {"string", Kind::kString},
      {"bool", Kind::kBool},
      {"int", Kind::kInteger},
      {"int32", Kind::kInteger},
      {"int64", Kind::kInteger},
      {"quantity", Kind::kQuantity},
      {"any", Kind::kAny},
      {"int-or-string", Kind::kIntOrString},
      {"duration", Kind::kDuration},
  }};
  for (const auto& [name, kind] : kWords) {
    if (name == word) {
      return kind;
    }
  }
  return Kind::kStruct;
}

}  // namespace

const SchemaMember* SchemaStruct::Find(std::string_view member) const {
  const auto at = std::lower_bound(
      members.begin(), members.end(), member,
      [](const SchemaMember& a, std::string_view wanted) { return a.name < wanted; });
  return at == members.end() || at->name != member ? nullptr : &*at;
}

Schema::Schema(std::string_view text) {
  for (const std::string& line : LogicalLines(text)) {
    ParseStruct(line);
  }
  for (const SchemaStruct& structure : structs_) {
    CALDERA_ASSERT(!structure.members.empty());  // A name that is used but nowhere defined.
  }
}

const SchemaStruct& Schema::Struct(std::string_view name) const {
  const auto at = std::find_if(structs_.begin(), structs_.end(),
                               [&](const SchemaStruct& s) { return s.name == name; });
  CALDERA_ASSERT(at != structs_.end());
  return *at;
}

size_t Schema::StructIndex(std::string_view name) {
  const auto at = std::find_if(structs_.begin(), structs_.end(),
                               [&](const SchemaStruct& s) { return s.name == name; });
  if (at != structs_.end()) {
    return static_cast<size_t>(at - structs_.begin());
  }
  structs_.emplace_back().name = name;
  return structs_.size() - 1;
}

void Schema::ParseStruct(std::string_view line) {
  const size_t colon = line.find(": ");
  CALDERA_ASSERT(colon != std::string_view::npos);
  const size_t index = StructIndex(line.substr(0, colon));
  std::vector<SchemaMember> members;
  for (const std::string& part : Split(line.substr(colon + 2), ';')) {
    std::string_view text = Trim(part);
    const size_t space = text.find(' ');
    CALDERA_ASSERT(space != std::string_view::npos);
    std::string_view name = text.substr(0, space);
    text = text.substr(space + 1);
    SchemaMember member;
    member.required = name.ends_with('!');
    if (member.required) {
      name.remove_suffix(1);
    }
    member.name = name;
    for (const auto& [word, flag] : {std::pair{" rewritten", &SchemaMember::rewritten},
                                     std::pair{" rewritten-always", &SchemaMember::always},
                                     std::pair{" omitted", &SchemaMember::omitted},
                                     std::pair{" nulled", &SchemaMember::nulled}}) {
      if (text.ends_with(word)) {
        text.remove_suffix(std::string_view(word).size());
        member.*flag = true;
      }
    }
    member.node = ParseNode(text);
    members.push_back(std::move(member));
  }
  std::ranges::sort(members, {}, &SchemaMember::name);
  SchemaStruct& structure = structs_[index];
  structure.members = std::move(members);
  for (size_t i = 0; i < structure.members.size(); ++i) {
    const SchemaMember& member = structure.members[i];
    if (member.required || member.nulled || nodes_[member.node].fallback) {
      structure.implied.push_back(i);
    }
  }
}

size_t Schema::ParseNode(std::string_view text) {
  const size_t end = TypeEnd(text);
  const std::string_view type = text.substr(0, end);
  SchemaNode node;
  if (type.starts_with('[') || type.starts_with('{')) {
    node.kind = type.starts_with('[') ? SchemaNode::Kind::kList : SchemaNode::Kind::kMap;
    node.target = ParseNode(type.substr(1, type.size() - 2));
  } else {
    node.kind = KindOf(type);
    if (node.kind == SchemaNode::Kind::kStruct) {
      node.target = StructIndex(type);
    }
    if (type == "int32") {
      node.min = std::numeric_limits<int32_t>::min();
      node.max = std::numeric_limits<int32_t>::max();
    }
  }
  for (const std::string& constraint : Split(text.substr(end), ' ')) {
    if (!constraint.empty()) {
      Constrain(node, constraint);
    }
  }
  nodes_.push_back(std::move(node));
  return nodes_.size() - 1;
}

}  // namespace caldera
