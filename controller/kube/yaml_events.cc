#include "controller/kube/yaml_events.h"

#include <algorithm>
#include <utility>

#include "controller/kube/yaml_scalar.h"
#include "federation/excerpt.h"

namespace caldera {
namespace {

constexpr std::string_view kMergeTag = "tag:yaml.org,2002:merge";

struct Size {
  size_t nodes = 1;
  size_t bytes = 0;
  size_t depth = 0;  ///< Of containers in it, itself included.
};

void AddSize(Size& into, const Size& child) {
  into.nodes += child.nodes;
  into.bytes += child.bytes;
  into.depth = std::max(into.depth, child.depth + 1);
}

// Trees are at most kMaxDepth deep: the builder has seen to it.
Size Measure(const Value& value) {
  Size size;
  switch (value.kind()) {
    case Value::Kind::kString:
      size.bytes = value.AsString().size();
      break;
    case Value::Kind::kDecimal:
      size.bytes = value.AsDecimal().size();
      break;
    case Value::Kind::kList:
      size.depth = 1;
      for (const Value& item : value.AsList()) {
        AddSize(size, Measure(item));
      }
      break;
    case Value::Kind::kMap:
      size.depth = 1;
      for (const Member& member : value.AsMap()) {
        size.bytes += member.key.size();
        AddSize(size, Measure(member.value));
      }
      break;
    default:
      break;
  }
  return size;
}

/// A null that is written out begins there, or its anchor does. (An empty value gets the mark of
/// what comes next, which is another field.)
bool IsNull(std::string_view text) {
  const std::string_view word = text.substr(0, text.find_first_of(" \t\r\n,]}"));
  const Scalar scalar = ResolvePlain(word);
  return word.starts_with('&') || (!word.empty() && scalar.value.IsNull() && scalar.error.empty());
}

}  // namespace

Mark YamlEvents::Convert(const YAML::Mark& mark) const {
  if (mark.is_null()) {
    return {};
  }
  return Mark{static_cast<uint32_t>(mark.line) + chunk_.first_line + 1,
              static_cast<uint32_t>(mark.column) + 1};
}

std::optional<Mark> YamlEvents::OpenFlow() const {
  if (containers_.empty() || !containers_.back().flow) {
    return std::nullopt;
  }
  return containers_.back().mark;
}

void YamlEvents::OnDocumentStart(const YAML::Mark& mark) {
  builder_.Start();
  containers_.clear();
  anchors_.clear();
  alias_nodes_ = 0;
  alias_bytes_ = 0;
  document_start_ = Convert(mark);
}

bool YamlEvents::Charge(size_t nodes, size_t bytes, Mark mark) {
  alias_nodes_ += nodes;
  alias_bytes_ += bytes;
  if (alias_nodes_ <= kMaxAliasNodes && alias_bytes_ <= kMaxAliasBytes) {
    return true;
  }
  builder_.Fail(mark, "",
                "anchors and aliases add more than " + std::to_string(kMaxAliasNodes) +
                    " values or " + std::to_string(kMaxAliasBytes >> 20U) +
                    " MiB to this document; write it out");
  return false;
}

void YamlEvents::Remember(YAML::anchor_t anchor, const Value& value) {
  if (anchor == 0 || builder_.failed()) {
    return;
  }
  const Size size = Measure(value);
  if (Charge(size.nodes, size.bytes, value.mark())) {
    anchors_[anchor] = Anchored{value, size.nodes, size.bytes, size.depth};
  }
}

void YamlEvents::AddKey(const Value& value, YAML::anchor_t anchor) {
  Remember(anchor, value);
  switch (value.kind()) {
    case Value::Kind::kString:
      builder_.Key(value.AsString(), value.mark());
      return;
    case Value::Kind::kInteger:
      builder_.Key(std::to_string(value.AsInteger()), value.mark());
      return;
    case Value::Kind::kBool:
      builder_.Key(value.AsBool() ? "true" : "false", value.mark());
      return;
    default:
      builder_.Fail(value.mark(), value.Brief(),
                    "a key must be a string, this is " +
                        WithArticle(Value::KindName(value.kind())) + "; put it in quotes");
  }
}

void YamlEvents::AddScalar(Value value, YAML::anchor_t anchor) {
  if (builder_.WantsKey()) {
    AddKey(value, anchor);
    return;
  }
  Remember(anchor, value);
  builder_.Add(std::move(value));
}

void YamlEvents::OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) {
  if (builder_.failed()) {
    return;
  }
  last_quoted_.reset();
  const Mark here = Convert(mark);
  const size_t offset = mark.pos < 0 ? chunk_.text.size() : static_cast<size_t>(mark.pos);
  const char at = offset < chunk_.text.size() ? chunk_.text[offset] : ' ';
  if (builder_.InList() && OpenFlow() && at == ',') {
    builder_.Refuse(here, ",", "an item is missing between two commas; write it, or null");
  }
  // yaml-cpp gives a key that has no colon the key's own mark for its value. (Its column is not to
  // be trusted at the end of the text.)
  const Mark key = builder_.key_mark();
  const bool key_waits = !builder_.InList() && builder_.depth() > 0 && !builder_.WantsKey();
  if (key_waits && mark.pos == last_key_) {
    builder_.Refuse(here, "", "a `:` and a value must come after a key");
  }
  Value null;
  null.set_mark(key_waits && !IsNull(chunk_.text.substr(offset)) ? key : here);
  AddScalar(std::move(null), anchor);
}

void YamlEvents::OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) {
  if (builder_.failed()) {
    return;
  }
  last_quoted_.reset();
  const Mark here = Convert(mark);
  const auto found = anchors_.find(anchor);
  if (found == anchors_.end()) {
    builder_.Fail(here, "", "an alias stands inside the value of its own anchor: that has no end");
    return;
  }
  const Anchored& target = found->second;
  if (builder_.depth() + target.depth > kMaxDepth) {
    builder_.Fail(here, "",
                  "with this alias, maps and lists are nested more than " +
                      std::to_string(kMaxDepth) + " deep");
    return;
  }
  if (!Charge(target.nodes, target.bytes, here)) {
    return;
  }
  Value copy = target.value;
  copy.set_mark(here);
  AddScalar(std::move(copy), 0);
}

void YamlEvents::OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                          const std::string& value) {
  if (builder_.failed()) {
    return;
  }
  const Mark here = Convert(mark);
  const bool plain = tag == "?";
  if (builder_.WantsKey()) {
    last_key_ = mark.pos;
  }
  last_quoted_.reset();
  if (!plain && mark.pos >= 0) {
    last_quoted_ = static_cast<size_t>(mark.pos);
  }
  if (builder_.WantsKey() && (plain || tag == kMergeTag) && value == "<<") {
    builder_.MergeKey(here);
    return;
  }
  Scalar scalar = plain ? ResolvePlain(value) : ResolveTagged(tag, value);
  if (!scalar.error.empty()) {
    builder_.Refuse(here, value, std::move(scalar.error));
    scalar.value = Value(value);
  } else if (!scalar.warning.empty()) {
    builder_.Warn(here, value, std::move(scalar.warning));
  }
  scalar.value.set_mark(here);
  AddScalar(std::move(scalar.value), anchor);
}

void YamlEvents::Open(Value empty, const std::string& tag, const Container& container) {
  if (builder_.failed()) {
    return;
  }
  last_quoted_.reset();
  const std::string_view own = empty.IsMap() ? "tag:yaml.org,2002:map" : "tag:yaml.org,2002:seq";
  if (!tag.empty() && tag != "?" && tag != "!" && tag != own) {
    builder_.Refuse(container.mark, tag, "the tag is not supported here; write the value plainly");
  }
  if (builder_.WantsKey()) {
    builder_.Fail(container.mark, "",
                  "a key must be a string, this is " + WithArticle(Value::KindName(empty.kind())) +
                      "; put it in quotes");
    return;
  }
  builder_.Open(std::move(empty));
  containers_.push_back(container);
}

void YamlEvents::OnSequenceStart(const YAML::Mark& mark, const std::string& tag,
                                 YAML::anchor_t anchor, YAML::EmitterStyle::value style) {
  const Mark here = Convert(mark);
  Open(Value(Value::List{}, here), tag, {anchor, here, style == YAML::EmitterStyle::Flow});
}

void YamlEvents::OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                            YAML::EmitterStyle::value style) {
  const Mark here = Convert(mark);
  Open(Value(Value::Map{}, here), tag, {anchor, here, style == YAML::EmitterStyle::Flow});
}

void YamlEvents::Close() {
  const Value* done = builder_.Close();
  if (done == nullptr) {
    return;
  }
  const YAML::anchor_t anchor = containers_.back().anchor;
  containers_.pop_back();
  Remember(anchor, *done);
}

}  // namespace caldera
