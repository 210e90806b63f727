// A structural schema, as a CustomResourceDefinition carries one: types, ranges, patterns, choices,
// required fields, map lists and defaults. ApplySchema checks a Value against it and writes the
// defaults in, as the API server does. Used by the intake of Volcano's kinds, whose schemas stand
// in compact text (volcano_schema.cc); a golden test compares that text with the real definitions.
//
// Text: one type a line, `Name: member; member`, a line that starts with a space goes on with the
// one before. A member is `name TYPE CONSTRAINT...`, `name!` where it is required.
//   TYPE        Name  [TYPE]  {TYPE}  string  bool  int  int32  int64  quantity  int-or-string
//               duration  any
//   CONSTRAINT  min=N  len>=N  len<=N  items>=N  re=label|subdomain|no-colon  enum=a|b  keys=a,b
//               set  default=TEXT  rewritten  rewritten-always  omitted  nulled
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "federation/document.h"
#include "federation/fields.h"

namespace caldera {

struct SchemaNode {
  enum class Kind : uint8_t {
    kAny,
    kStruct,
    kMap,
    kList,
    kString,
    kBool,
    kInteger,
    kQuantity,
    kIntOrString,
    kDuration,
  };
  enum class Pattern : uint8_t { kNone, kLabel, kSubdomain, kNoColon };

  Kind kind = Kind::kAny;
  size_t target = 0;  ///< kStruct: index of the struct. kList, kMap: index of the item's node.
  int64_t min = std::numeric_limits<int64_t>::min();
  int64_t max = std::numeric_limits<int64_t>::max();
  size_t min_length = 0;  ///< Characters of a string, items of a list.
  size_t max_length = std::numeric_limits<size_t>::max();
  Pattern pattern = Pattern::kNone;
  std::vector<std::string> choices;
  std::vector<std::string> keys;  ///< kList: the members that tell its items apart.
  bool set = false;               ///< kList: no item twice.
  std::optional<Value> fallback;  ///< The default.
};

struct SchemaMember {
  std::string name;
  bool required = false;
  /// Volcano's mutating webhook may write what is below this member again from its Go types.
  bool rewritten = false;
  /// It does so in every case, whatever Passage says.
  bool always = false;
  /// Required, but left out by Go where it is empty: rewriting makes no zero value of it.
  bool omitted = false;
  /// A list that is not required, but that Go writes as null where it is absent: refused then.
  bool nulled = false;
  size_t node = 0;
};

struct SchemaStruct {
  std::string name;
  std::vector<SchemaMember> members;  ///< By name.
  std::vector<size_t> implied;        ///< Members that may come into being by themselves.

  [[nodiscard]] const SchemaMember* Find(std::string_view member) const;
};

class Schema {
 public:
  /// `text` is ours: a fault in it aborts.
  explicit Schema(std::string_view text);

  /// The struct of that name, which must be there.
  [[nodiscard]] const SchemaStruct& Struct(std::string_view name) const;
  [[nodiscard]] const SchemaStruct& StructAt(size_t index) const { return structs_[index]; }
  [[nodiscard]] const SchemaNode& Node(size_t index) const { return nodes_[index]; }

 private:
  size_t StructIndex(std::string_view name);
  size_t ParseNode(std::string_view text);
  void ParseStruct(std::string_view line);

  std::vector<SchemaStruct> structs_;
  std::vector<SchemaNode> nodes_;
};

/// How the object reaches the schema. kRewritten: below a member marked `rewritten`, a webhook has
/// read it into Go types and written it again: null items become zero values, missing required
/// scalars too, empty optional strings and lists vanish, numbers become canonical quantities.
enum class Passage : uint8_t { kAsSent, kRewritten };

/// Checks `value` against a struct of `schema`, writes defaults in, drops nulls (as the API server
/// does). Unknown members stay, with a warning that names the nearest known one. Everything that is
/// wrong is an error in the sink of `place`, whose path is that of `value`.
void ApplySchema(const Schema& schema, std::string_view structure, Value& value, const Field& place,
                 Passage passage);

}  // namespace caldera
