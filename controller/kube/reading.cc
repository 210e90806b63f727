#include "controller/kube/reading.h"

#include <algorithm>
#include <charconv>
#include <system_error>
#include <utility>

#include "federation/excerpt.h"

namespace caldera {
namespace {

void Keep(std::vector<Issue>& issues, Issue issue, const char* sort) {
  if (issues.size() < kMaxIssues) {
    issues.push_back(std::move(issue));
  } else if (issues.size() == kMaxIssues) {
    Issue last;
    last.file = issue.file;
    last.message = std::string("there are more ") + sort + " than are shown";
    issues.push_back(std::move(last));
  }
}

bool EndsWithList(const Value& root) {
  const Value* kind = root.Find("kind");
  return kind != nullptr && kind->IsString() && kind->AsString().ends_with("List");
}

bool IsPlainList(const Value& root) { return root.Find("kind")->AsString() == "List"; }

// Items of a typed list come without their own type where an API server wrote them.
void AddTypeOfItem(const Value& list, Value& item) {
  if (IsPlainList(list) || !item.IsMap()) {
    return;
  }
  const std::string& kind = list.Find("kind")->AsString();
  if (item.Find("kind") == nullptr) {
    item.Set("kind", Value(kind.substr(0, kind.size() - 4), list.mark()));
  }
  const Value* version = list.Find("apiVersion");
  if (item.Find("apiVersion") == nullptr && version != nullptr) {
    item.Set("apiVersion", *version);
  }
}

}  // namespace

Issue InputIssue(const std::string& file, Mark mark, std::string field, std::string value,
                 std::string message) {
  return Issue{.object = "",
               .file = file,
               .mark = mark,
               .field = std::move(field),
               .value = std::move(value),
               .message = std::move(message)};
}

bool IsInRange(std::string_view number) {
  // RapidJSON and Go bound the exponent alike, even of 0.
  constexpr size_t kExponentDigits = 3;
  const size_t exponent = number.find_first_of("eE");
  if (exponent != std::string_view::npos) {
    std::string_view digits = number.substr(exponent + 1);
    digits.remove_prefix(std::min(digits.find_first_not_of("+-0"), digits.size()));
    if (digits.size() > kExponentDigits || (digits.size() == kExponentDigits && digits > "308")) {
      return false;
    }
  }
  double value = 0;
  return std::from_chars(number.data(), number.data() + number.size(), value).ec == std::errc();
}

void ReadReport::Refuse(Issue issue) { Keep(errors, std::move(issue), "errors"); }

void ReadReport::Warn(Issue issue) { Keep(warnings, std::move(issue), "warnings"); }

void DocumentEmitter::Emit(Value root, const std::string& path) {
  if (root.IsNull() && path.empty()) {
    return;
  }
  if (!root.IsMap()) {
    std::string message = "an object must be a map with apiVersion, kind and metadata, this is " +
                          WithArticle(Value::KindName(root.kind()));
    if (root.IsList()) {
      message += "; separate objects by lines of --- or put them into the items of a List";
    }
    report_.Refuse(InputIssue(file_, root.mark(), path, root.Brief(), std::move(message)));
    return;
  }
  if (EndsWithList(root)) {
    const Value* items = root.Find("items");
    if (IsPlainList(root) || (items != nullptr && items->IsList())) {
      EmitItems(root, path);
      return;
    }
  }
  ++report_.documents;
  visit_(Document{.file = file_, .index = next_index_++, .root = std::move(root)});
}

void DocumentEmitter::EmitItems(Value& root, const std::string& path) {
  Value* items = root.Find("items");
  const std::string field = path.empty() ? "items" : path + ".items";
  if (items == nullptr || !(items->IsList() || items->IsNull())) {
    const Mark mark = items == nullptr ? root.mark() : items->mark();
    report_.Refuse(InputIssue(file_, mark, field, items == nullptr ? "" : items->Brief(),
                              "a List must have items, a list of objects"));
    return;
  }
  if (items->IsNull()) {
    return;
  }
  Value::List list = std::move(items->AsList());
  for (size_t i = 0; i < list.size(); ++i) {
    AddTypeOfItem(root, list[i]);
    Emit(std::move(list[i]), field + "[" + std::to_string(i) + "]");
  }
}

}  // namespace caldera
