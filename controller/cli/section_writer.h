// Writes one object of a public contract to a stream as JSON or YAML, member by member, so that a
// plan of 20,000 jobs is never held as one tree. In JSON each member, and each item of a list, has
// a line of its own: a diff of two plans reads well. One thread.
#pragma once

#include <map>
#include <ostream>
#include <string>
#include <string_view>

#include "federation/document.h"

namespace caldera {

enum class Format { kTable, kWide, kJson, kYaml };

class SectionWriter {
 public:
  /// `format` is kJson or kYaml; `out` must outlive this.
  SectionWriter(std::ostream& out, Format format) : out_(out), json_(format == Format::kJson) {}

  void Member(std::string_view key, const Value& value);
  void BeginList(std::string_view key);
  void Item(const Value& value);
  void EndList();
  /// An item that is a map, member by member: BeginItem, Field and SharedField in their order,
  /// EndItem.
  void BeginItem();
  void Field(std::string_view key, Value value);
  /// The value that `make` returns, which is the same for every item that passes this `identity`:
  /// JSON makes and keeps its text once. `identity` must outlive this.
  template <typename Make>
  void SharedField(std::string_view key, const void* identity, const Make& make) {
    if (!json_) {
      Field(key, make());
      return;
    }
    const auto [entry, added] = shared_.try_emplace(identity);
    if (added) {
      entry->second = JsonOf(make());
    }
    FieldText(key, entry->second);
  }
  void EndItem();
  /// Ends the object; call it last.
  void End();

 private:
  static std::string JsonOf(const Value& value);
  void Separate(std::string_view key);
  void FieldText(std::string_view key, std::string_view json);

  std::ostream& out_;
  bool json_;
  bool first_member_ = true;
  bool first_item_ = true;
  bool first_field_ = true;
  Value::Map fields_;  ///< Of the item begun; YAML writes an item as a whole.
  std::map<const void*, std::string> shared_;
};

}  // namespace caldera
