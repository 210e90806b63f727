#include "controller/kube/tree_builder.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "federation/assert.h"
#include "federation/excerpt.h"

namespace caldera {
namespace {

// Up to here comparing all pairs is cheaper than sorting.
constexpr size_t kFewMembers = 16;

}  // namespace

std::string JoinPath(const std::string& parent, std::string_view key) {
  const bool plain = !key.empty() && key.find_first_of(".[]\"' /") == std::string_view::npos;
  if (!plain) {
    return parent + "[\"" + Excerpt(key) + "\"]";
  }
  return parent.empty() ? Excerpt(key) : parent + "." + Excerpt(key);
}

void TreeBuilder::Start() {
  frames_.clear();
  root_ = Value();
  refused_ = false;
  failed_ = false;
}

bool TreeBuilder::WantsKey() const {
  return !frames_.empty() && frames_.back().value.IsMap() && !frames_.back().has_key;
}

bool TreeBuilder::InList() const { return !frames_.empty() && frames_.back().value.IsList(); }

Mark TreeBuilder::key_mark() const { return frames_.empty() ? Mark{} : frames_.back().key_mark; }

std::string_view TreeBuilder::InnermostKey() const {
  return frames_.size() < 2 ? std::string_view() : frames_[frames_.size() - 2].key;
}

void TreeBuilder::Key(std::string key, Mark mark) {
  if (failed_) {
    return;
  }
  CALDERA_ASSERT(WantsKey());
  Frame& frame = frames_.back();
  frame.key = std::move(key);
  frame.key_mark = mark;
  frame.has_key = true;
  frame.merging = false;
}

void TreeBuilder::MergeKey(Mark mark) {
  Key("<<", mark);
  if (!failed_) {
    frames_.back().merging = true;
  }
}

Value* TreeBuilder::Place(Value value) {
  if (frames_.empty()) {
    root_ = std::move(value);
    return &root_;
  }
  Frame& frame = frames_.back();
  if (frame.value.IsList()) {
    return &frame.value.AsList().emplace_back(std::move(value));
  }
  CALDERA_ASSERT(frame.has_key);
  if (frame.merging) {
    if (frame.has_merge) {
      Refuse(frame.key_mark, "<<", "a map may have one merge key <<; give it a list of maps");
    }
    frame.merge = std::move(value);
    frame.has_merge = true;
    frame.has_key = false;
    return &frame.merge;
  }
  frame.has_key = false;
  Value::Map& map = frame.value.AsMap();
  return &map.emplace_back(Member{std::move(frame.key), std::move(value), frame.key_mark}).value;
}

void TreeBuilder::Add(Value value) {
  if (!failed_) {
    Place(std::move(value));
  }
}

void TreeBuilder::Open(Value empty) {
  if (failed_) {
    return;
  }
  if (frames_.size() >= kMaxDepth) {
    Fail(empty.mark(), "",
         "maps and lists are nested more than " + std::to_string(kMaxDepth) + " deep");
    return;
  }
  frames_.emplace_back().value = std::move(empty);
}

const Value* TreeBuilder::Close() {
  if (failed_) {
    return nullptr;
  }
  CALDERA_ASSERT(!frames_.empty());
  if (frames_.back().value.IsMap()) {
    CheckDuplicates(frames_.back().value.AsMap());
    if (frames_.back().has_merge) {
      ApplyMerge(frames_.back());
    }
  }
  Value done = std::move(frames_.back().value);
  frames_.pop_back();
  return Place(std::move(done));
}

Value TreeBuilder::TakeRoot() { return std::exchange(root_, Value()); }

std::string TreeBuilder::Path() const {
  std::string path;
  for (const Frame& frame : frames_) {
    if (frame.value.IsList()) {
      path += "[" + std::to_string(frame.value.AsList().size()) + "]";
    } else if (frame.has_key) {
      path = JoinPath(path, frame.key);
    }
  }
  return path;
}

Issue TreeBuilder::MakeIssue(Mark mark, std::string_view value, std::string message) const {
  return InputIssue(file_, mark, Path(), Excerpt(value), std::move(message));
}

void TreeBuilder::Refuse(Mark mark, std::string_view value, std::string message) {
  refused_ = true;
  report_.Refuse(MakeIssue(mark, value, std::move(message)));
}

void TreeBuilder::Fail(Mark mark, std::string_view value, std::string message) {
  Refuse(mark, value, std::move(message));
  failed_ = true;
}

void TreeBuilder::Warn(Mark mark, std::string_view value, std::string message) {
  report_.Warn(MakeIssue(mark, value, std::move(message)));
}

void TreeBuilder::RefuseDuplicate(const Member& first, const Member& again) {
  Issue issue = MakeIssue(again.mark, again.key, "");
  issue.field = JoinPath(issue.field, again.key);
  issue.message = "the key is given twice in this map, first in line " +
                  std::to_string(first.mark.line) + " and again in line " +
                  std::to_string(again.mark.line) + "; keep one";
  refused_ = true;
  report_.Refuse(std::move(issue));
}

void TreeBuilder::CheckDuplicates(const Value::Map& map) {
  if (map.size() <= kFewMembers) {
    for (size_t i = 1; i < map.size(); ++i) {
      for (size_t j = 0; j < i; ++j) {
        if (map[i].key == map[j].key) {
          RefuseDuplicate(map[j], map[i]);
          break;
        }
      }
    }
    return;
  }
  std::vector<size_t> order(map.size());
  for (size_t i = 0; i < order.size(); ++i) {
    order[i] = i;
  }
  std::sort(order.begin(), order.end(), [&map](size_t a, size_t b) {
    const int compared = map[a].key.compare(map[b].key);
    return compared != 0 ? compared < 0 : a < b;
  });
  for (size_t i = 1; i < order.size(); ++i) {
    if (map[order[i]].key == map[order[i - 1]].key) {
      RefuseDuplicate(map[order[i - 1]], map[order[i]]);
    }
  }
}

void TreeBuilder::MergeMap(const Value& source, Value& into) {
  Value::Map& map = into.AsMap();
  std::vector<std::string_view> taken;
  taken.reserve(map.size());
  for (const Member& member : map) {
    taken.push_back(member.key);
  }
  std::sort(taken.begin(), taken.end());
  std::vector<Member> added;
  for (const Member& member : source.AsMap()) {
    if (!std::binary_search(taken.begin(), taken.end(), std::string_view(member.key))) {
      added.push_back(member);
    }
  }
  for (Member& member : added) {
    map.push_back(std::move(member));
  }
}

void TreeBuilder::ApplyMerge(Frame& frame) {
  const Value merge = std::move(frame.merge);
  constexpr const char* kMessage = "a merge key << takes a map or a list of maps";
  if (merge.IsMap()) {
    MergeMap(merge, frame.value);
    return;
  }
  if (!merge.IsList()) {
    Refuse(merge.mark(), merge.Brief(), kMessage);
    return;
  }
  for (const Value& source : merge.AsList()) {
    if (!source.IsMap()) {
      Refuse(source.mark(), source.Brief(), kMessage);
      return;
    }
    MergeMap(source, frame.value);
  }
}

}  // namespace caldera
