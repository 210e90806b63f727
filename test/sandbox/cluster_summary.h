// What a Cluster's status says of a member, from its nodes and pods. Source: Karmada
// pkg/controllers/status/cluster_status_controller.go. Pure.
#pragma once

#include "federation/resources.h"
#include "test/sandbox/mirror.h"

namespace caldera::sandbox {

/// `status.nodeSummary`: how many nodes, how many of them Ready.
Value NodeSummary(const Mirror::Objects& nodes);
/// `status.resourceSummary`: allocatable of all nodes; allocated by bound pods that have not
/// ended; allocating by pods without a node.
Value ResourceSummary(const Mirror::Objects& nodes, const Mirror::Objects& pods);

bool IsNodeReady(const Value& node);
/// Succeeded or Failed.
bool HasEnded(const Value& pod);
/// Of a pod, with `pods: 1`.
ResourceList RequestOf(const Value& pod);
/// status.allocatable of a node, rounded down.
ResourceList AllocatableOf(const Value& node);
/// Quantities as the API prints them.
Value QuantitiesOf(const ResourceList& list);

}  // namespace caldera::sandbox
