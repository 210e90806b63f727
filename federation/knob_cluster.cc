// Knobs on clusters and their nodes.
#include <utility>

#include "federation/capacity.h"
#include "federation/knob_parts.h"

namespace caldera {

namespace {

/// What is not free in the cluster.
int64_t TakenIn(const State& state, ClusterIndex cluster, ResourceIndex r) {
  for (const ClusterView& view : ViewClusters(state)) {
    if (view.index == cluster) {
      return SaturatingSub(view.allocatable[r], view.free[r]);
    }
  }
  return 0;
}

void UpsertNode(State& state, ClusterIndex cluster, const std::string& name,
                const std::function<void(Node&)>& change) {
  Node node = state.cluster(cluster).nodes.at(name);
  change(node);
  state.Apply(NodeUpsert{node});
}

std::string NodeName(const State& state, ClusterIndex cluster, const std::string& node) {
  return "Node/" + state.cluster(cluster).name + "/" + node;
}

}  // namespace

Knob AddCapacity(const State& state, ClusterIndex cluster, ResourceIndex r) {
  const std::string& resource = state.resources().Name(r);
  Knob knob = MoveAmount({"Cluster/" + state.cluster(cluster).name,
                          Keyed("status.resourceSummary.allocatable", resource), resource,
                          &state.cluster(cluster).object->allocatable},
                         [cluster, resource](State& s, int64_t to) {
                           Cluster object = *s.cluster(cluster).object;
                           object.allocatable[resource] = to;
                           object.has_summary = true;
                           s.Apply(ClusterUpsert{object});
                         });
  knob.step = StepOf(state, r);
  knob.used = [cluster, r](const State& s) { return TakenIn(s, cluster, r); };
  return knob;
}

Knob AddNodeCapacity(const State& state, ClusterIndex cluster, const std::string& node,
                     ResourceIndex r) {
  const std::string& resource = state.resources().Name(r);
  Knob knob =
      MoveAmount({NodeName(state, cluster, node), Keyed("status.allocatable", resource), resource,
                  &state.cluster(cluster).nodes.at(node).allocatable},
                 [=](State& s, int64_t to) {
                   UpsertNode(s, cluster, node, [&](Node& n) { n.allocatable[resource] = to; });
                 });
  knob.step = StepOf(state, r);
  return knob;
}

Knob MakeReady(const State& state, ClusterIndex cluster) {
  return Switch({"Cluster/" + state.cluster(cluster).name, "status.conditions[Ready].status",
                 "False", "True"},
                [cluster](State& s) {
                  Cluster object = *s.cluster(cluster).object;
                  object.ready = true;
                  s.Apply(ClusterUpsert{object});
                });
}

Knob MakeNodeReady(const State& state, ClusterIndex cluster, const std::string& node) {
  return Switch(
      {NodeName(state, cluster, node), "status.conditions[Ready].status", "False", "True"},
      [=](State& s) { UpsertNode(s, cluster, node, [](Node& n) { n.ready = true; }); });
}

Knob Uncordon(const State& state, ClusterIndex cluster, const std::string& node) {
  return Switch(
      {NodeName(state, cluster, node), "spec.unschedulable", "true", "false"},
      [=](State& s) { UpsertNode(s, cluster, node, [](Node& n) { n.unschedulable = false; }); });
}

}  // namespace caldera
