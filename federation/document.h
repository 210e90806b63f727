// A manifest as it was written: an ordered tree of values with the line and column of each, which
// the YAML and JSON readers (controller/kube) build, intake checks and defaults, and render writes
// out again with every field it did not know. A tree owns its children; copying copies the tree.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace caldera {

/// Where in the input, 1-based. {0, 0}: not from the input (a default).
struct Mark {
  uint32_t line = 0;
  uint32_t column = 0;
};

class Value;

/// One key of a map. Keys are unique: the readers refuse duplicates.
struct Member;

class Value {
 public:
  enum class Kind : uint8_t { kNull, kBool, kInteger, kDecimal, kString, kList, kMap };
  using List = std::vector<Value>;
  using Map = std::vector<Member>;
  /// A number that is no int64, kept as its text: nothing is lost to a double.
  struct Decimal {
    std::string text;
  };

  Value() = default;
  // NOLINTBEGIN(google-explicit-constructor): a literal in a list or map literal is a Value.
  Value(bool value, Mark mark = {});
  Value(int64_t value, Mark mark = {});
  Value(int value, Mark mark = {});
  Value(Decimal value, Mark mark = {});
  Value(std::string value, Mark mark = {});
  Value(const char* value, Mark mark = {});
  Value(List value, Mark mark = {});
  Value(Map value, Mark mark = {});
  // NOLINTEND(google-explicit-constructor)

  [[nodiscard]] Kind kind() const { return static_cast<Kind>(data_.index()); }
  [[nodiscard]] bool IsNull() const { return kind() == Kind::kNull; }
  [[nodiscard]] bool IsString() const { return kind() == Kind::kString; }
  [[nodiscard]] bool IsInteger() const { return kind() == Kind::kInteger; }
  [[nodiscard]] bool IsBool() const { return kind() == Kind::kBool; }
  [[nodiscard]] bool IsList() const { return kind() == Kind::kList; }
  [[nodiscard]] bool IsMap() const { return kind() == Kind::kMap; }
  [[nodiscard]] Mark mark() const { return mark_; }
  void set_mark(Mark mark) { mark_ = mark; }

  // Each needs its kind: look at kind() first (another kind is a fault of ours: it aborts).
  [[nodiscard]] bool AsBool() const;
  [[nodiscard]] int64_t AsInteger() const;
  [[nodiscard]] const std::string& AsString() const;
  [[nodiscard]] const std::string& AsDecimal() const;
  [[nodiscard]] const List& AsList() const;
  [[nodiscard]] List& AsList();
  [[nodiscard]] const Map& AsMap() const;
  [[nodiscard]] Map& AsMap();

  /// The member `key`, or nullptr if this is no map or has none.
  [[nodiscard]] const Value* Find(std::string_view key) const;
  [[nodiscard]] Value* Find(std::string_view key);
  /// Find along a path of map keys; nullptr where one is missing.
  [[nodiscard]] const Value* At(std::initializer_list<std::string_view> path) const;
  /// Sets `key` in place, or appends it. This must be a map (or null, which becomes an empty map).
  Value& Set(std::string_view key, Value value);
  /// Removes `key` where it is there.
  void Erase(std::string_view key);

  /// What messages print as "value": scalars as written, `{...}` and `[...]` for the rest, cut to
  /// 64 characters.
  [[nodiscard]] std::string Brief() const;
  /// The kind as a user knows it: null, boolean, integer, number, string, list, map.
  [[nodiscard]] static std::string_view KindName(Kind kind);

  /// Deep equality of kinds and values, in any order of map keys; marks do not count.
  friend bool operator==(const Value& a, const Value& b);

 private:
  std::variant<std::monostate, bool, int64_t, Decimal, std::string, List, Map> data_;
  Mark mark_;
};

struct Member {
  std::string key;
  Value value;
  Mark mark;  ///< Of the key.
};

/// One document of an input file.
struct Document {
  std::string file;    ///< As the user named it; `-` for standard input.
  uint32_t index = 0;  ///< 0-based position in the file.
  Value root;          ///< A map; the readers refuse anything else.
};

/// What is wrong (or worth a warning) with one field of one object. The fields of the public
/// contracts `caldera.plan/v1` and `caldera.validate/v1`.
struct Issue {
  std::string object;  ///< `Job/team-a/train`, `Queue/gold`; empty where no object could be read.
  std::string file;
  Mark mark;
  std::string field;    ///< `spec.tasks[0].replicas`; empty for the whole document.
  std::string value;    ///< As it was written, cut to 64 characters.
  std::string message;  ///< What is wrong and what would be right.
};

}  // namespace caldera
