// The parts that the public contracts `caldera.plan/v1` and `caldera.validate/v1` share, as Values:
// keys in the contract's order, quantities as canonical strings, lists as they come (sorted by
// their makers).
#pragma once

#include <string>
#include <vector>

#include "federation/document.h"
#include "federation/explain.h"
#include "federation/model.h"
#include "federation/resources.h"
#include "federation/turn.h"

namespace caldera {

/// {"cpu": "1500m", ...}.
Value AmountsValue(const ResourceList& amounts);
/// {"object", "file", "line", "column", "field", "value", "message"}.
Value IssueValue(const Issue& issue);
Value IssuesValue(const std::vector<Issue>& issues);
/// {"cluster", "epoch", "tasks": {NAME: {"replicas", "minAvailable"}}, "minAvailable", "requests"},
/// and "child" where it is not empty.
Value ShardsValue(const std::vector<Shard>& shards);
Value FiguresValue(const std::vector<Figure>& figures);
Value EditsValue(const std::vector<Edit>& edits);
/// {"queue", "before", "why", "share", "beforeShare", "until"}; shares as of queues, until "" where
/// it is not known.
Value AheadValue(const std::vector<QueueAhead>& ahead);
/// When the turn comes; "" where nobody is ahead or that is not known.
Value TurnValue(const std::vector<QueueAhead>& ahead);
Value ClusterVerdictsValue(const std::vector<ClusterVerdict>& clusters);
/// {"mode", "highestTierAllowed", "highestTierName"}: only what is set; empty where there is none.
Value TopologyValue(const NetworkTopology& topology);

/// `Job` or `HyperJob`.
std::string_view JobKindName(JobKind kind);

}  // namespace caldera
