// What lives in a member cluster: Node, Pod, HyperNode. Each must say in which one.
#include <re2/re2.h>

#include <algorithm>
#include <limits>

#include "federation/excerpt.h"
#include "federation/intake_kinds.h"
#include "federation/names.h"
#include "federation/pod_request.h"

namespace caldera {
namespace {

constexpr size_t kTierNameMax = 253;
constexpr size_t kPatternMax = 4096;

std::string MemberOf(const Taking& taking) {
  const Field metadata = taking.root["metadata"];
  std::string cluster = ClusterOfMember(taking.document.root);
  if (cluster.empty()) {
    metadata.Refuse("must say in which member cluster this " + taking.out.kind +
                    " is: annotation or label federation.caldera.sh/cluster");
  } else if (!IsDnsLabel(cluster)) {
    metadata.Refuse("names no cluster in federation.caldera.sh/cluster: a cluster's name takes " +
                    std::string(kDnsLabelRule));
  }
  return cluster;
}

bool TakeNodeReady(const Field& conditions) {
  bool ready = true;
  for (const Field& condition : conditions.Items()) {
    condition.IsMapOrAbsent();
    if (condition["type"].String() == "Ready") {
      ready = condition["status"].String() == "True";
    }
  }
  return ready;
}

std::string Marked(const ObjectMeta& meta, const char* key) {
  for (const Labels* const map : {&meta.labels, &meta.annotations}) {
    const auto found = map->find(key);
    if (found != map->end()) {
      return found->second;
    }
  }
  return {};
}

void TakePattern(const Field& field, HyperNodeMember& member) {
  member.regex = field.String().value_or("");
  if (member.regex.empty()) {
    field.Refuse("is missing: a regular expression of node names is needed");
    return;
  }
  if (member.regex.size() > kPatternMax) {
    field.Refuse("must have at most " + std::to_string(kPatternMax) + " characters");
    return;
  }
  RE2::Options options;
  options.set_log_errors(false);
  const RE2 pattern(member.regex, options);
  if (!pattern.ok()) {
    field.Refuse("is no regular expression of RE2 (Go's): " + Excerpt(pattern.error(), 128));
  }
}

void TakeSelector(const Field& selector, HyperNodeMember& member) {
  selector.IsMapOrAbsent();
  WarnUnknown(selector, {"exactMatch", "regexMatch", "labelMatch"});
  const Field exact = selector["exactMatch"];
  const Field regex = selector["regexMatch"];
  const Field label = selector["labelMatch"];
  const int given = static_cast<int>(exact.Present()) + static_cast<int>(regex.Present()) +
                    static_cast<int>(label.Present());
  if (given != 1) {
    selector.Refuse("must have exactly one of exactMatch, regexMatch and labelMatch, not " +
                    std::to_string(given));
    return;
  }
  for (const Field& match : {exact, regex, label}) {
    match.IsMapOrAbsent();
  }
  if (exact.Present()) {
    member.exact = exact["name"].String().value_or("");
    if (!IsDnsSubdomain(member.exact)) {
      exact["name"].Refuse("must be the name of a node or HyperNode: " +
                           std::string(kDnsSubdomainRule));
    }
  } else if (regex.Present()) {
    TakePattern(regex["pattern"], member);
  } else {
    member.match_labels = TakeLabels(label["matchLabels"]);
    member.match_expressions = TakeRequirements(label["matchExpressions"], false);
    if (member.match_labels.empty() && member.match_expressions.empty()) {
      label.Warn("is empty and selects no node");
    }
  }
  if (member.type == "HyperNode" && !exact.Present()) {
    selector.Warn("selects nothing: Volcano takes only exactMatch for members of type HyperNode");
  }
}

}  // namespace

void TakeNode(Taking& taking) {
  const Field spec = taking.root["spec"];
  const Field status = taking.root["status"];
  spec.IsMapOrAbsent();
  status.IsMapOrAbsent();
  Node node;
  node.cluster = MemberOf(taking);
  node.name = taking.meta.name;
  node.labels = taking.meta.labels;
  node.taints = TakeTaints(spec["taints"]);
  node.unschedulable = spec["unschedulable"].Bool().value_or(false);
  node.ready = TakeNodeReady(status["conditions"]);
  const Field allocatable = status["allocatable"];
  // A node without allocatable offers its capacity, as the API server would default it.
  node.allocatable = (allocatable.Present() ? allocatable : status["capacity"]).Resources(false);
  taking.out.change = NodeUpsert{std::move(node)};
}

void TakePod(Taking& taking) {
  const Field spec = taking.root["spec"];
  const Field status = taking.root["status"];
  spec.IsMapOrAbsent();
  status.IsMapOrAbsent();
  Pod pod;
  pod.cluster = MemberOf(taking);
  pod.ns = taking.meta.ns;
  pod.name = taking.meta.name;
  pod.node = spec["nodeName"].String().value_or("");
  pod.requests = PodRequest(spec);
  const auto phase = status["phase"].String();
  pod.terminal = phase == "Succeeded" || phase == "Failed";
  if (phase && !pod.terminal && *phase != "Pending" && *phase != "Running" && *phase != "Unknown" &&
      !phase->empty()) {
    status["phase"].Refuse("must be Pending, Running, Succeeded, Failed or Unknown");
  }
  pod.job = Marked(taking.meta, "volcano.sh/job-name");
  pod.task = Marked(taking.meta, "volcano.sh/task-spec");
  taking.out.change = PodUpsert{std::move(pod)};
}

void TakeHyperNode(Taking& taking) {
  const Field spec = taking.root["spec"];
  spec.IsMapOrAbsent();
  WarnUnknown(taking.root, {"apiVersion", "kind", "metadata", "spec", "status"});
  WarnUnknown(spec, {"members", "tier", "tierName"});
  HyperNode node;
  node.cluster = MemberOf(taking);
  node.name = taking.meta.name;
  const Field tier = spec["tier"];
  if (!tier.Present()) {
    tier.Refuse("is missing: an integer from 0 is needed, lower is closer");
  }
  node.tier =
      static_cast<int32_t>(tier.Integer(0, std::numeric_limits<int32_t>::max()).value_or(0));
  node.tier_name = spec["tierName"].String().value_or("");
  if (node.tier_name.size() > kTierNameMax) {
    spec["tierName"].Refuse("must have at most 253 characters");
  }
  const Field members = spec["members"];
  for (const Field& item : members.Items()) {
    item.IsMapOrAbsent();
    WarnUnknown(item, {"type", "selector"});
    HyperNodeMember member;
    member.type = item["type"].String().value_or("");
    if (member.type != "Node" && member.type != "HyperNode") {
      item["type"].Refuse("must be Node or HyperNode");
    }
    TakeSelector(item["selector"], member);
    node.members.push_back(std::move(member));
  }
  if (!members.Present() || (members.value()->IsList() && members.value()->AsList().empty())) {
    members.Refuse("must have at least one member");
  }
  taking.out.change = HyperNodeUpsert{std::move(node)};
}

}  // namespace caldera
