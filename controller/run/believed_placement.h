// Internal to Observer: where a job runs that the ledger does not know as placed. Its Works say so,
// which only Caldera writes. The parent's annotation anybody who may write a Job can write: alone
// it is believed only where the ledger knows of no job at all. Pure.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "controller/run/work_view.h"
#include "federation/model.h"

namespace caldera {

/// The Works of a job, by namespace and name.
using WorksOfJob = std::map<std::pair<std::string, std::string>, WorkView>;

/// The Work that carries the shard: its name and its epoch; nullptr: there is none.
const WorkView* FindWorkOf(const WorksOfJob& works, const std::string& uid, const Shard& shard);

/// What the Works of the latest epoch say; nothing where one of them is missing, is being deleted,
/// has no pods or counts that do not go together.
std::vector<Shard> PlacementOf(const WorksOfJob& works);

/// Why a placement that the annotation names is not believed: a shard of it has no Work, and, where
/// `clusters` (those that there are) is given, its cluster is not there either. Empty: it is.
std::string WhyNotBelieved(const std::vector<Shard>& annotation, const std::string& uid,
                           const WorksOfJob& works, const std::set<std::string>* clusters);

}  // namespace caldera
