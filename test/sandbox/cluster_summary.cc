#include "test/sandbox/cluster_summary.h"

#include "federation/fields.h"
#include "federation/pod_request.h"

namespace caldera::sandbox {

bool IsNodeReady(const Value& node) {
  const Value* const conditions = node.At({"status", "conditions"});
  const Value* const ready = conditions == nullptr ? nullptr : FindCondition(*conditions, "Ready");
  return ready != nullptr && TextAt(*ready, {"status"}) == "True";
}

bool HasEnded(const Value& pod) {
  const std::string phase = TextAt(pod, {"status", "phase"});
  return phase == "Succeeded" || phase == "Failed";
}

ResourceList RequestOf(const Value& pod) {
  IssueSink sink;
  return PodRequest(Field(pod.Find("spec"), "spec", {}, sink));
}

ResourceList AllocatableOf(const Value& node) {
  IssueSink sink;
  return Field(node.At({"status", "allocatable"}), "status.allocatable", {}, sink).Resources(false);
}

Value QuantitiesOf(const ResourceList& list) {
  Value quantities{Value::Map{}};
  for (const auto& [name, amount] : list) {
    quantities.Set(name, FormatAmount(name, amount));
  }
  return quantities;
}

Value NodeSummary(const Mirror::Objects& nodes) {
  int64_t ready = 0;
  for (const auto& [key, node] : nodes) {
    ready += IsNodeReady(node) ? 1 : 0;
  }
  return MakeMap({{"totalNum", static_cast<int64_t>(nodes.size())}, {"readyNum", ready}});
}

Value ResourceSummary(const Mirror::Objects& nodes, const Mirror::Objects& pods) {
  ResourceList allocatable;
  ResourceList allocated;
  ResourceList allocating;
  for (const auto& [key, node] : nodes) {
    AddTo(allocatable, AllocatableOf(node));
  }
  for (const auto& [key, pod] : pods) {
    if (!HasEnded(pod)) {
      const bool bound = !TextAt(pod, {"spec", "nodeName"}).empty();
      AddTo(bound ? allocated : allocating, RequestOf(pod));
    }
  }
  Value summary = MakeMap({{"allocatable", QuantitiesOf(allocatable)}});
  if (!allocated.empty()) {
    summary.Set("allocated", QuantitiesOf(allocated));
  }
  if (!allocating.empty()) {
    summary.Set("allocating", QuantitiesOf(allocating));
  }
  return summary;
}

}  // namespace caldera::sandbox
