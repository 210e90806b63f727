#include "test/sandbox/patch.h"

#include <algorithm>
#include <charconv>
#include <optional>

namespace caldera::sandbox {
namespace {

Refusal Unprocessable(std::string message) { return OfCode(422, std::move(message)); }

// RFC 6901: parts after each `/`, with ~1 and ~0 decoded; nullopt where it is no pointer.
std::optional<std::vector<std::string>> ParsePointer(std::string_view text) {
  std::vector<std::string> parts;
  if (text.empty()) {
    return parts;
  }
  if (text.front() != '/') {
    return std::nullopt;
  }
  for (const char c : text) {
    if (c == '/') {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  for (std::string& part : parts) {
    std::string plain;
    for (size_t i = 0; i < part.size(); ++i) {
      const bool escape = part[i] == '~' && i + 1 < part.size();
      plain += escape ? (part[++i] == '1' ? '/' : '~') : part[i];
    }
    part = std::move(plain);
  }
  return parts;
}

std::optional<size_t> ParseIndex(const std::string& text) {
  size_t index = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), index);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(index)
                                                                  : std::nullopt;
}

Value* Child(Value& parent, const std::string& part) {
  if (!parent.IsList()) {
    return parent.Find(part);
  }
  const auto index = ParseIndex(part);
  return index && *index < parent.AsList().size() ? &parent.AsList()[*index] : nullptr;
}

using Pointer = std::vector<std::string>;

Value* Follow(Value& root, const Pointer& pointer, size_t parts) {
  Value* value = &root;
  for (size_t i = 0; i < parts && value != nullptr; ++i) {
    value = Child(*value, pointer[i]);
  }
  return value;
}

bool AddAt(Value& root, const Pointer& pointer, Value value) {
  if (pointer.empty()) {
    root = std::move(value);
    return true;
  }
  Value* parent = Follow(root, pointer, pointer.size() - 1);
  if (parent == nullptr) {
    return false;
  }
  if (parent->IsMap()) {
    parent->Set(pointer.back(), std::move(value));
    return true;
  }
  if (!parent->IsList()) {
    return false;
  }
  Value::List& list = parent->AsList();
  const auto index =
      pointer.back() == "-" ? std::optional(list.size()) : ParseIndex(pointer.back());
  if (!index || *index > list.size()) {
    return false;
  }
  list.insert(list.begin() + static_cast<ptrdiff_t>(*index), std::move(value));
  return true;
}

bool RemoveAt(Value& root, const Pointer& pointer) {
  if (pointer.empty() || Follow(root, pointer, pointer.size()) == nullptr) {
    return false;
  }
  Value& parent = *Follow(root, pointer, pointer.size() - 1);
  if (parent.IsMap()) {
    parent.Erase(pointer.back());
  } else {
    Value::List& list = parent.AsList();
    list.erase(list.begin() + static_cast<ptrdiff_t>(*ParseIndex(pointer.back())));
  }
  return true;
}

bool ApplyOperation(Value& root, const std::string& op, const Pointer& path,
                    const Value& operation) {
  const Value* value = operation.Find("value");
  Value* there = Follow(root, path, path.size());
  if (op == "add") {
    return value != nullptr && AddAt(root, path, *value);
  }
  if (op == "remove") {
    return RemoveAt(root, path);
  }
  if (op == "replace") {
    if (there == nullptr || value == nullptr) {
      return false;
    }
    *there = *value;
    return true;
  }
  if (op == "test") {
    const Value absent;
    return (there == nullptr ? absent : *there) == (value == nullptr ? absent : *value);
  }
  const Value* from_text = operation.Find("from");
  const auto from = from_text != nullptr && from_text->IsString()
                        ? ParsePointer(from_text->AsString())
                        : std::nullopt;
  const Value* source = from ? Follow(root, *from, from->size()) : nullptr;
  if (source == nullptr) {
    return false;
  }
  Value moved = *source;
  if (op == "move" && !RemoveAt(root, *from)) {
    return false;
  }
  return AddAt(root, path, std::move(moved));
}

bool IsKnownOperation(const std::string& op) {
  return op == "add" || op == "remove" || op == "replace" || op == "test" || op == "move" ||
         op == "copy";
}

}  // namespace

void ApplyMergePatch(Value& target, const Value& patch) {
  if (!patch.IsMap()) {
    target = patch;
    return;
  }
  if (!target.IsMap()) {
    target = Value::Map{};
  }
  for (const Member& member : patch.AsMap()) {
    if (member.value.IsNull()) {
      target.Erase(member.key);
    } else if (Value* there = target.Find(member.key)) {
      ApplyMergePatch(*there, member.value);
    } else {
      ApplyMergePatch(target.Set(member.key, Value()), member.value);
    }
  }
}

Answer<void> ApplyJsonPatch(Value& target, const Value& patch) {
  if (!patch.IsList()) {
    return tl::unexpected(BadRequest("error decoding patch: a JSON patch is a list of operations"));
  }
  for (const Value& operation : patch.AsList()) {
    const Value* op = operation.Find("op");
    const Value* path = operation.Find("path");
    if (op == nullptr || !op->IsString() || !IsKnownOperation(op->AsString()) || path == nullptr ||
        !path->IsString()) {
      return tl::unexpected(
          BadRequest("error decoding patch: an operation needs a known op and a path"));
    }
    const auto pointer = ParsePointer(path->AsString());
    if (!pointer) {
      return tl::unexpected(BadRequest("error decoding patch: " + path->Brief() + " is no path"));
    }
    if (!ApplyOperation(target, op->AsString(), *pointer, operation)) {
      return tl::unexpected(Unprocessable(
          "the server rejected our request due to an error in our request: " + op->AsString() +
          " operation does not apply: " + path->AsString()));
    }
  }
  return {};
}

}  // namespace caldera::sandbox
