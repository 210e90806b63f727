#include "controller/run/commands.h"

#include <array>
#include <charconv>
#include <initializer_list>
#include <string_view>
#include <tuple>
#include <utility>

#include "federation/excerpt.h"
#include "federation/value_at.h"

namespace caldera {
namespace {

constexpr std::array<std::pair<std::string_view, CommandAction>, 4> kActions{{
    {"AbortJob", CommandAction::kAbortJob},
    {"ResumeJob", CommandAction::kResumeJob},
    {"OpenQueue", CommandAction::kOpenQueue},
    {"CloseQueue", CommandAction::kCloseQueue},
}};

const Value* FindTarget(const Value& command) {
  if (const Value* const target = command.Find("target"); target != nullptr && target->IsMap()) {
    return target;
  }
  const Value* const owners = command.At({"metadata", "ownerReferences"});
  if (owners == nullptr || !owners->IsList() || owners->AsList().empty()) {
    return nullptr;
  }
  for (const Value& owner : owners->AsList()) {
    const Value* const controls = owner.Find("controller");
    if (controls != nullptr && controls->IsBool() && controls->AsBool()) {
      return &owner;
    }
  }
  return &owners->AsList().front();
}

}  // namespace

Result<CommandView> ReadCommand(const Value& command) {
  CommandView view;
  view.ns = TextAt(command, {"metadata", "namespace"});
  view.name = TextAt(command, {"metadata", "name"});
  view.uid = TextAt(command, {"metadata", "uid"});
  const std::string where = "Command " + Excerpt(view.ns) + "/" + Excerpt(view.name);
  if (view.name.empty() || view.uid.empty()) {
    return Fail(ErrorCode::kInvalid, where + ": metadata.name or metadata.uid is missing");
  }
  view.creation = ParseTime(TextAt(command, {"metadata", "creationTimestamp"})).value_or(Time());
  const std::string version = TextAt(command, {"metadata", "resourceVersion"});
  std::from_chars(version.data(), version.data() + version.size(), view.version);
  view.action_text = TextAt(command, {"action"});
  for (const auto& [text, action] : kActions) {
    if (view.action_text == text) {
      view.action = action;
    }
  }
  const Value* const target = FindTarget(command);
  if (target == nullptr) {
    return Fail(ErrorCode::kInvalid, where + ": it has no target");
  }
  view.target_kind = TextAt(*target, {"kind"});
  view.target_name = TextAt(*target, {"name"});
  view.target_uid = TextAt(*target, {"uid"});
  if (view.target_kind.empty() || view.target_name.empty() || view.target_uid.empty()) {
    return Fail(ErrorCode::kInvalid, where + ": its target needs kind, name and uid");
  }
  return view;
}

bool Earlier(const CommandView& a, const CommandView& b) {
  return std::tie(a.creation, a.version, a.ns, a.name) <
         std::tie(b.creation, b.version, b.ns, b.name);
}

}  // namespace caldera
