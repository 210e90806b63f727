// Internal to Observer: intake of one object as an API server has it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "federation/change.h"
#include "federation/document.h"
#include "federation/object_key.h"

namespace caldera {

/// nullopt: no kind of the Karmada API that ObjectBook keeps.
std::optional<ObjectKey> KeyOfObject(const std::string& kind, const std::string& ns,
                                     const std::string& name);
/// nullopt: no kind that is read in a member.
std::optional<ObjectKey> MemberKeyOf(const std::string& cluster, const std::string& kind,
                                     const std::string& ns, const std::string& name);
/// Says in a member's object, for intake, where it is.
void SetCluster(Value& object, const std::string& cluster);
/// Foreign pods that have no node, or have ended, use nothing anywhere.
bool IsNeeded(const Pod& pod);

struct Taken {
  std::optional<Change> change;  ///< The upsert; absent: refused.
  std::string message;           ///< Why: the first complaints, on one line.
};

/// The first of what intake says against an object, on one line: what goes into an Event.
std::string Complaints(const std::vector<Issue>& errors);

/// TakeObject as of a stored object; a kind that intake does not know is refused too.
Taken TakeStored(Value&& object, Time now);

}  // namespace caldera
