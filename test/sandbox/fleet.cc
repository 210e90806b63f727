#include "test/sandbox/fleet.h"

#include <algorithm>
#include <sstream>
#include <utility>

#include "controller/kube/input.h"
#include "federation/fields.h"
#include "test/sandbox/cluster_summary.h"

namespace caldera::sandbox {
namespace {

constexpr int64_t kPodsPerNode = 110;

struct Complaints {
  std::string text;
  void Add(const Document& document, const std::string& message) {
    text += (text.empty() ? "" : "\n") + document.file + ": " + message;
  }
};

std::string ClusterOf(const Value& object) {
  const std::string by_annotation = AnnotationOf(object, "federation.caldera.sh/cluster");
  return by_annotation.empty() ? LabelOf(object, "federation.caldera.sh/cluster") : by_annotation;
}

ResourceList SummaryOf(const Value& cluster, std::string_view part) {
  IssueSink sink;
  return Field(cluster.At({"status", "resourceSummary", part}), std::string(part), {}, sink)
      .Resources(false);
}

// `cpu=16,memory=64Gi`.
Result<ResourceList> ParseAmounts(const std::string& text) {
  ResourceList amounts;
  std::istringstream parts(text);
  std::string part;
  while (std::getline(parts, part, ',')) {
    const size_t mark = part.find('=');
    if (mark == std::string::npos) {
      return Fail(ErrorCode::kInvalid, "'" + part + "' must be RESOURCE=QUANTITY");
    }
    CALDERA_TRY(const Quantity quantity, Quantity::Parse(part.substr(mark + 1)));
    const std::string name = part.substr(0, mark);
    amounts[name] = RequestAmount(name, quantity);
  }
  return amounts;
}

ResourceList Share(const ResourceList& list, int64_t parts) {
  ResourceList share;
  for (const auto& [name, amount] : list) {
    share[name] = amount / parts;
  }
  return share;
}

// As many as there are 110 pods, fewer where a device would be cut.
int64_t NodeCount(const ResourceList& allocatable) {
  const auto pods = allocatable.find("pods");
  int64_t count = std::max<int64_t>(
      1, pods == allocatable.end() ? 1 : (pods->second + kPodsPerNode - 1) / kPodsPerNode);
  const auto divides = [&](int64_t parts) {
    return std::all_of(allocatable.begin(), allocatable.end(), [&](const auto& entry) {
      return !IsDevice(entry.first) || entry.second % parts == 0;
    });
  };
  while (!divides(count)) {
    --count;
  }
  return count;
}

Value MakeNode(const std::string& name, const ResourceList& allocatable) {
  Value ready = MakeMap({{"type", "Ready"}, {"status", "True"}, {"reason", "KubeletReady"}});
  Value status = MakeMap({{"capacity", QuantitiesOf(allocatable)},
                          {"allocatable", QuantitiesOf(allocatable)},
                          {"conditions", Value::List{std::move(ready)}}});
  return MakeMap({{"apiVersion", "v1"},
                  {"kind", "Node"},
                  {"metadata", MakeMap({{"name", name},
                                        {"labels", MakeMap({{"kubernetes.io/hostname", name}})}})},
                  {"status", std::move(status)}});
}

Value MakeForeignPod(const std::string& node, ResourceList requests) {
  requests.erase("pods");
  Value container = MakeMap({{"name", "services"},
                             {"image", "registry.example/services:1"},
                             {"resources", MakeMap({{"requests", QuantitiesOf(requests)}})}});
  return MakeMap(
      {{"apiVersion", "v1"},
       {"kind", "Pod"},
       {"metadata",
        MakeMap({{"name", "services-" + node},
                 {"namespace", "kube-system"},
                 {"annotations", MakeMap({{"sandbox.caldera.sh/duration", "87600h"}})}})},
       {"spec", MakeMap({{"nodeName", node}, {"containers", Value::List{std::move(container)}}})}});
}

Status MakeNodes(const std::string& name, FleetMember& member) {
  const ResourceList allocatable = SummaryOf(member.cluster, "allocatable");
  if (allocatable.empty()) {
    return Fail(ErrorCode::kInvalid, "Cluster/" + name +
                                         " has neither a Node nor "
                                         "status.resourceSummary.allocatable to make them of");
  }
  ResourceList foreign = SummaryOf(member.cluster, "allocated");
  if (const std::string text = AnnotationOf(member.cluster, "sandbox.caldera.sh/foreign");
      !text.empty()) {
    Result<ResourceList> amounts = ParseAmounts(text);
    if (!amounts) {
      return tl::unexpected<Error>(
          amounts.error().Within("Cluster/" + name + ": annotation sandbox.caldera.sh/foreign"));
    }
    foreign = *std::move(amounts);
  }
  const int64_t count = NodeCount(allocatable);
  for (int64_t i = 1; i <= count; ++i) {
    const std::string node = name + "-" + std::to_string(i);
    member.nodes.push_back(MakeNode(node, Share(allocatable, count)));
    if (!foreign.empty()) {
      member.pods.push_back(MakeForeignPod(node, Share(foreign, count)));
    }
  }
  return {};
}

// What a Cluster is created with: its conditions, so that it counts as Ready as long as it says;
// what it has is measured, unless nobody can.
void Prepare(FleetMember& member) {
  Value* const status = member.cluster.Find("status");
  if (status == nullptr) {
    return;
  }
  const Value* const conditions = status->Find("conditions");
  const Value* const ready = conditions == nullptr ? nullptr : FindCondition(*conditions, "Ready");
  member.reachable = ready == nullptr || TextAt(*ready, {"status"}) != "False";
  if (member.reachable) {
    status->Erase("resourceSummary");
  }
}

void Take(Document document, Fleet& fleet, Complaints& complaints) {
  Value& object = document.root;
  const std::string kind = TextAt(object, {"kind"});
  const ObjectKey key = KeyOf(object);
  if (key.name.empty()) {
    return complaints.Add(document, kind + " has no metadata.name");
  }
  if (kind == "Cluster") {
    fleet[key.name].cluster = std::move(object);
    return;
  }
  if (kind != "Node" && kind != "HyperNode" && kind != "Pod") {
    return complaints.Add(
        document, "a fleet has Cluster, Node, HyperNode and Pod, not " + kind + "/" + key.name);
  }
  const std::string cluster = ClusterOf(object);
  if (cluster.empty()) {
    return complaints.Add(document, kind + "/" + key.name +
                                        " must say in annotation federation.caldera.sh/cluster "
                                        "which cluster it is in");
  }
  FleetMember& member = fleet[cluster];
  (kind == "Node"  ? member.nodes
   : kind == "Pod" ? member.pods
                   : member.hyper_nodes)
      .push_back(std::move(object));
}

}  // namespace

Result<Fleet> ReadFleet(const std::vector<std::string>& paths) {
  Fleet fleet;
  Complaints complaints;
  std::istringstream none;
  const ReadReport report = ReadInput(
      paths, none, [&](Document document) { Take(std::move(document), fleet, complaints); });
  for (const Issue& issue : report.errors) {
    complaints.Add({issue.file, 0, {}}, issue.field + " " + issue.message);
  }
  for (auto& [name, member] : fleet) {
    if (member.cluster.IsNull()) {
      complaints.Add({paths.front(), 0, {}}, "there is no Cluster/" + name);
    } else if (member.nodes.empty()) {
      if (const Status made = MakeNodes(name, member); !made) {
        complaints.Add({paths.front(), 0, {}}, made.error().message);
      }
    }
    Prepare(member);
  }
  if (fleet.empty() && complaints.text.empty()) {
    complaints.Add({paths.empty() ? "-" : paths.front(), 0, {}}, "there is no Cluster");
  }
  if (!complaints.text.empty()) {
    return Fail(ErrorCode::kInvalid, complaints.text);
  }
  return fleet;
}

Fleet MakeFleet(const std::vector<std::string>& names) {
  constexpr int kNodes = 4;
  const ResourceList of_a_node = {{"cpu", 16'000},
                                  {"memory", int64_t{64} << 30U},
                                  {"nvidia.com/gpu", 4},
                                  {"pods", kPodsPerNode}};
  Fleet fleet;
  for (const std::string& name : names) {
    FleetMember& member = fleet[name];
    member.cluster = MakeMap({{"apiVersion", "cluster.karmada.io/v1alpha1"},
                              {"kind", "Cluster"},
                              {"metadata", MakeMap({{"name", name}})},
                              {"spec", MakeMap({{"syncMode", "Push"}})}});
    for (int i = 1; i <= kNodes; ++i) {
      member.nodes.push_back(MakeNode(name + "-" + std::to_string(i), of_a_node));
    }
  }
  return fleet;
}

}  // namespace caldera::sandbox
