// Builds one Value tree from the events of a parser and keeps the rules that YAML and JSON share:
// unique keys, bounded depth, complaints with the full field path. Used by the readers; one thread.
// After Fail() (or a refused depth) the rest of the document's events are ignored, so a parser that
// cannot be stopped may go on.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "controller/kube/reading.h"
#include "federation/document.h"

namespace caldera {

class TreeBuilder {
 public:
  /// Both must outlive this.
  TreeBuilder(const std::string& file, ReadReport& report) : file_(file), report_(report) {}

  /// Forgets what was built: a new document begins.
  void Start();
  /// True where the next node is a key of a map.
  [[nodiscard]] bool WantsKey() const;
  /// True where the innermost container is a list.
  [[nodiscard]] bool InList() const;
  /// How many containers are open.
  [[nodiscard]] size_t depth() const { return frames_.size(); }
  [[nodiscard]] Mark key_mark() const;
  /// The key that the innermost container is the value of; empty in a list and at the top.
  [[nodiscard]] std::string_view InnermostKey() const;
  /// The key whose value comes next; WantsKey() must hold.
  void Key(std::string key, Mark mark);
  /// The next value is merged into the map (YAML's `<<`) instead of being a member.
  void MergeKey(Mark mark);
  /// A finished value: a scalar, or a copied tree.
  void Add(Value value);
  /// A list or a map begins; `empty` is an empty one with its mark.
  void Open(Value empty);
  /// The innermost container ends. Returns it at its place in the tree, valid until the next call;
  /// nullptr where the document has failed.
  const Value* Close();

  /// The tree, complete when every container is closed. Empties the builder.
  [[nodiscard]] Value TakeRoot();
  /// True where the document had an error: it must not be handed on.
  [[nodiscard]] bool refused() const { return refused_; }
  /// True where the rest of the document is ignored.
  [[nodiscard]] bool failed() const { return failed_; }

  /// The field that comes next (or the key that was just given): `spec.tasks[0].name`.
  [[nodiscard]] std::string Path() const;
  /// Adds an error; the document goes on, so that one pass shows all errors.
  void Refuse(Mark mark, std::string_view value, std::string message);
  /// Adds an error and ignores the rest of the document.
  void Fail(Mark mark, std::string_view value, std::string message);
  void Warn(Mark mark, std::string_view value, std::string message);

 private:
  struct Frame {
    Value value;
    std::string key;
    Mark key_mark;
    bool has_key = false;
    bool merging = false;    ///< The coming value is a merge source.
    bool has_merge = false;  ///< `merge` is set.
    Value merge;             ///< A map or a list of maps.
  };

  Value* Place(Value value);
  void CheckDuplicates(const Value::Map& map);
  void RefuseDuplicate(const Member& first, const Member& again);
  void ApplyMerge(Frame& frame);
  void MergeMap(const Value& source, Value& into);
  [[nodiscard]] Issue MakeIssue(Mark mark, std::string_view value, std::string message) const;

  const std::string& file_;
  ReadReport& report_;
  std::vector<Frame> frames_;
  Value root_;
  bool refused_ = false;
  bool failed_ = false;
};

/// `parent.key`, or `parent[key]` in quotes where the key has characters that would mislead.
std::string JoinPath(const std::string& parent, std::string_view key);

}  // namespace caldera
