// From yaml-cpp's events to one Value tree: keys, plain scalars, tags, anchors, aliases and merge
// keys. Private to the YAML reader. It also refuses what yaml-cpp 0.7 lets pass: a key without its
// colon, an empty item between commas, a list or map as a key.
#pragma once

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/mark.h>

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "controller/kube/tree_builder.h"
#include "controller/kube/yaml_chunks.h"

namespace caldera {

class YamlEvents final : public YAML::EventHandler {
 public:
  /// All must outlive this.
  YamlEvents(const YamlChunk& chunk, TreeBuilder& builder) : chunk_(chunk), builder_(builder) {}

  void OnDocumentStart(const YAML::Mark& mark) override;
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override;
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override;
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override;
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value style) override;
  void OnSequenceEnd() override { Close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value style) override;
  void OnMapEnd() override { Close(); }

  /// A mark of yaml-cpp (0-based, in the chunk) as one of the stream.
  [[nodiscard]] Mark Convert(const YAML::Mark& mark) const;
  /// Where the last document began.
  [[nodiscard]] Mark document_start() const { return document_start_; }
  /// Offset in the chunk of the last scalar that may be quoted; nullopt where the last is plain.
  [[nodiscard]] std::optional<size_t> last_quoted() const { return last_quoted_; }
  /// The innermost `[` or `{` that is still open.
  [[nodiscard]] std::optional<Mark> OpenFlow() const;

 private:
  struct Anchored {
    Value value;
    size_t nodes = 0;
    size_t bytes = 0;
    size_t depth = 0;
  };
  struct Container {
    YAML::anchor_t anchor = 0;
    Mark mark;
    bool flow = false;
  };

  void AddScalar(Value value, YAML::anchor_t anchor);
  void AddKey(const Value& value, YAML::anchor_t anchor);
  void Open(Value empty, const std::string& tag, const Container& container);
  void Close();
  void Remember(YAML::anchor_t anchor, const Value& value);
  /// False, with the document failed, where the copies cost more than the bounds allow.
  bool Charge(size_t nodes, size_t bytes, Mark mark);

  const YamlChunk& chunk_;
  TreeBuilder& builder_;
  std::vector<Container> containers_;
  std::map<YAML::anchor_t, Anchored> anchors_;
  size_t alias_nodes_ = 0;
  size_t alias_bytes_ = 0;
  Mark document_start_;
  int last_key_ = -1;  ///< yaml-cpp's position of the last key.
  std::optional<size_t> last_quoted_;
};

}  // namespace caldera
