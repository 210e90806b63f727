// bus.volcano.sh/v1alpha1 Command: how `vcctl` tells a controller to abort or resume a Job, to open
// or close a Queue. Values; no I/O. Source: volcano.sh/apis bus/v1alpha1.
#pragma once

#include <cstdint>
#include <string>

#include "federation/document.h"
#include "federation/result.h"
#include "federation/time.h"

namespace caldera {

enum class CommandAction : uint8_t { kAbortJob, kResumeJob, kOpenQueue, kCloseQueue, kOther };

struct CommandView {
  std::string ns;
  std::string name;
  std::string uid;
  Time creation;
  uint64_t version = 0;  ///< resourceVersion where it is a number: the order within a second.
  CommandAction action = CommandAction::kOther;
  std::string action_text;  ///< As it was written.
  // What it is for: `target`, else the owner that controls it, else the first owner.
  std::string target_kind;
  std::string target_name;
  std::string target_uid;
};

/// Error: kInvalid for one without a name, a uid or a target.
Result<CommandView> ReadCommand(const Value& command);

/// The order in which Commands are obeyed.
bool Earlier(const CommandView& a, const CommandView& b);

}  // namespace caldera
