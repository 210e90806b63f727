// What the YAML and JSON readers share: where documents go, where complaints go, and the bounds
// that keep a hostile input from costing more than its size. Used by the readers and the input
// loader.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "federation/document.h"

namespace caldera {

inline constexpr size_t kMaxInputBytes = size_t{64} << 20U;  ///< Of one file.
inline constexpr size_t kMaxDepth = 100;                     ///< Maps and lists inside each other.
inline constexpr size_t kMaxAliasNodes = 200'000;            ///< That aliases add to one document.
inline constexpr size_t kMaxAliasBytes = size_t{16} << 20U;  ///< Of text in those.
inline constexpr size_t kMaxIssues = 100;                    ///< Kept of each sort.

/// True where the number (as JSON writes it) is 0 or in the range of a float64: beyond, kubectl and
/// API servers cannot read it.
bool IsInRange(std::string_view number);

/// What reading found. With an error the input is unusable: documents that were handed on before it
/// must not be acted on.
struct ReadReport {
  std::vector<Issue> errors;
  std::vector<Issue> warnings;
  uint32_t documents = 0;  ///< Handed on.

  /// Beyond kMaxIssues only the first says more.
  void Refuse(Issue issue);
  void Warn(Issue issue);
};

/// An Issue of an input, outside any object.
Issue InputIssue(const std::string& file, Mark mark, std::string field, std::string value,
                 std::string message);

/// Takes each document as soon as it is complete, in input order.
using DocumentVisitor = std::function<void(Document)>;

/// Hands the documents of one file on. A `List` (or `JobList` and its like with `items`) is handed
/// on item by item; an empty document is skipped; anything that is no map is refused.
class DocumentEmitter {
 public:
  /// All three must outlive this.
  DocumentEmitter(const std::string& file, const DocumentVisitor& visit, ReadReport& report)
      : file_(file), visit_(visit), report_(report) {}
  void Emit(Value root) { Emit(std::move(root), ""); }

 private:
  void Emit(Value root, const std::string& path);
  void EmitItems(Value& root, const std::string& path);

  const std::string& file_;
  const DocumentVisitor& visit_;
  ReadReport& report_;
  uint32_t next_index_ = 0;
};

}  // namespace caldera
