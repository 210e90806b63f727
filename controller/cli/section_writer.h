// Writes one object of a public contract to a stream as JSON or YAML, member by member, so that a
// plan of 20,000 jobs is never held as one tree. In JSON each member, and each item of a list, has
// a line of its own: a diff of two plans reads well. One thread.
#pragma once

#include <ostream>
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
  /// Ends the object; call it last.
  void End();

 private:
  void Separate(std::string_view key);

  std::ostream& out_;
  bool json_;
  bool first_member_ = true;
  bool first_item_ = true;
};

}  // namespace caldera
