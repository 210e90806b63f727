// Queue, as the CRD schema and Volcano's queue admission take it (validate_queue.go,
// mutate_queue.go). What needs the other queues is in intake_tree.cc.
#include <algorithm>
#include <array>
#include <limits>

#include "federation/excerpt.h"
#include "federation/intake_kinds.h"
#include "federation/names.h"

namespace caldera {
namespace {

constexpr int64_t kWeightMax = 65535;
constexpr size_t kTypeMax = 253;

void SetDefault(Taking& taking, std::string_view key, Value value) {
  Value* spec = taking.out.defaulted.Find("spec");
  if (spec == nullptr) {
    spec = &taking.out.defaulted.Set("spec", Value(Value::Map{}));
  }
  const Value* const there = spec->Find(key);
  if ((spec->IsMap() || spec->IsNull()) && (there == nullptr || there->IsNull())) {
    spec->Set(key, std::move(value));
  }
}

int32_t TakeWeight(const Field& field, Taking& taking) {
  if (field.Present() && field.value()->IsInteger() && field.value()->AsInteger() == 0) {
    field.Warn("counts as 1, which Volcano's admission makes of 0");
    taking.out.defaulted.Find("spec")->Set("weight", 1);
    return 1;
  }
  SetDefault(taking, "weight", 1);
  return static_cast<int32_t>(field.Integer(1, kWeightMax).value_or(1));
}

std::string TakeParent(const Field& field, Taking& taking) {
  const std::string& name = taking.meta.name;
  const auto parent = field.String();
  if (name == "root") {
    if (parent && !parent->empty() && *parent != "root") {
      field.Refuse("must be absent: root is the top of the tree");
    }
    return {};
  }
  if (parent && parent->empty() && taking.strictness == Strictness::kNew) {
    field.Refuse("must not be empty: leave it out, or write root");
  }
  if (!parent || parent->empty()) {
    SetDefault(taking, "parent", "root");
    return "root";
  }
  if (!IsDnsSubdomain(*parent)) {
    field.Refuse("is no queue name: it takes " + std::string(kDnsSubdomainRule));
  } else if (*parent == name) {
    field.Refuse("must be another queue: a queue cannot be its own parent");
  }
  return *parent;
}

DequeueStrategy TakeDequeueStrategy(const Field& field, Taking& taking) {
  SetDefault(taking, "dequeueStrategy", "traverse");
  const auto text = field.String();
  if (text && *text != "fifo" && *text != "traverse") {
    field.Refuse("must be fifo or traverse");
  }
  return text == "fifo" ? DequeueStrategy::kFifo : DequeueStrategy::kTraverse;
}

QueueState TakeState(const Field& field, Strictness strictness) {
  const std::string text = field.String().value_or("");
  if (text.empty() || text == "Open") {
    return QueueState::kOpen;
  }
  if (text == "Closed") {
    return QueueState::kClosed;
  }
  if (text != "Closing" && text != "Unknown") {
    field.Refuse("must be Open, Closed, Closing or Unknown");
    return QueueState::kUnknown;
  }
  if (strictness == Strictness::kNew) {
    field.Warn("is set by Volcano only: its admission takes Open or Closed from a user");
  }
  return text == "Closing" ? QueueState::kClosing : QueueState::kUnknown;
}

// A resource written one level too high is the common slip: it would be lost without a word.
Field TakeGuaranteeMap(const Field& guarantee) {
  guarantee.IsMapOrAbsent();
  if (guarantee.value() != nullptr && guarantee.value()->IsMap()) {
    for (const Member& member : guarantee.value()->AsMap()) {
      if (member.key != "resource") {
        guarantee[member.key].Warn(
            "guarantee." + Excerpt(member.key) +
            " is not a field and is dropped by the API server; did you mean guarantee.resource." +
            Excerpt(member.key) + "?");
      }
    }
  }
  return guarantee["resource"];
}

// Admission decodes a bare decimal, then the schema (integer or string) refuses it.
void RefuseDecimals(const Field& map, Strictness strictness) {
  if (strictness != Strictness::kNew || map.value() == nullptr || !map.value()->IsMap()) {
    return;
  }
  for (const auto& [name, field] : map.Members()) {
    if (field.value()->kind() == Value::Kind::kDecimal) {
      field.Refuse("must be an integer or a string: write it in quotes, \"" +
                   field.value()->Brief() + "\"");
    }
  }
}

struct QueueAmounts {
  Field capability;
  Field deserved;
  Field guarantee;
};

std::string EntryText(const std::string& name, int64_t amount) {
  return "[" + Excerpt(name) + "] = " + FormatAmount(name, amount);
}

// guarantee <= deserved <= capability, as admission demands it of a new object.
void CheckAmounts(const QueueAmounts& fields, const Queue& queue) {
  for (const auto& [name, guarantee] : queue.guarantee) {
    const auto deserved = queue.deserved.find(name);
    if (deserved == queue.deserved.end()) {
      fields.guarantee.Entry(name).Refuse("needs deserved" + EntryText(name, guarantee) +
                                          " or more beside it: a guarantee is a part of deserved");
    } else if (deserved->second < guarantee) {
      fields.deserved.Entry(name).Refuse("must be at least guarantee" + EntryText(name, guarantee));
    }
  }
  for (const auto& [name, deserved] : queue.deserved) {
    const auto capability = queue.capability.find(name);
    if (capability != queue.capability.end() && deserved > capability->second) {
      fields.deserved.Entry(name).Refuse("must be at most capability" +
                                         EntryText(name, capability->second));
    }
  }
}

// `amounts` down to `limits` where both have the resource.
void Clamp(ResourceList& amounts, const Field& field, const ResourceList& limits,
           std::string_view limit_name) {
  for (auto& [name, amount] : amounts) {
    const auto limit = limits.find(name);
    if (limit != limits.end() && amount > limit->second) {
      field.Entry(name).Warn("is above " + std::string(limit_name) +
                             EntryText(name, limit->second) + ", which is used instead");
      amount = limit->second;
    }
  }
}

// Objects from before a rule existed still schedule.
void ClampAmounts(const QueueAmounts& fields, Queue& queue) {
  Clamp(queue.deserved, fields.deserved, queue.capability, "capability");
  Clamp(queue.guarantee, fields.guarantee, queue.deserved, "deserved");
  Clamp(queue.guarantee, fields.guarantee, queue.capability, "capability");
}

std::vector<std::string> Split(std::string_view text) {
  std::vector<std::string> parts;
  while (true) {
    const size_t slash = text.find('/');
    parts.emplace_back(text.substr(0, slash));
    if (slash == std::string_view::npos) {
      return parts;
    }
    text.remove_prefix(slash + 1);
  }
}

// hdrf's hierarchy by annotation: checked as admission does, not used.
void CheckHierarchyAnnotations(const Field& annotations, const Labels& values) {
  const auto text = [&](const char* key) {
    const auto found = values.find(key);
    return found == values.end() ? std::string() : found->second;
  };
  const std::string hierarchy = text("volcano.sh/hierarchy");
  const std::string weights = text("volcano.sh/hierarchy-weights");
  if (hierarchy.empty() && weights.empty()) {
    return;
  }
  const Field field = annotations["volcano.sh/hierarchy-weights"];
  const auto parts = Split(weights);
  if (parts.size() != Split(hierarchy).size()) {
    field.Refuse("must have as many parts as volcano.sh/hierarchy");
  } else {
    for (const std::string& part : parts) {
      const auto weight = Quantity::Parse(part);
      if (!weight || weight->Nano() <= 0) {
        field.Refuse("must be numbers above 0 joined by '/'");
        break;
      }
    }
  }
  annotations["volcano.sh/hierarchy"].Warn("is not used by Caldera: the tree is spec.parent");
}

// Fields that Caldera does not use, so that what passes here passes the schema.
void CheckUnused(const Field& spec) {
  const auto type = spec["type"].String();
  if (type && type->size() > kTypeMax) {
    spec["type"].Refuse("must have at most 253 characters");
  }
  const Field affinity = spec["affinity"];
  affinity.IsMapOrAbsent();
  WarnUnknown(affinity, {"nodeGroupAffinity", "nodeGroupAntiAffinity"});
  for (const std::string_view side : {"nodeGroupAffinity", "nodeGroupAntiAffinity"}) {
    affinity[side].IsMapOrAbsent();
    for (const std::string_view list : {"requiredDuringSchedulingIgnoredDuringExecution",
                                        "preferredDuringSchedulingIgnoredDuringExecution"}) {
      static_cast<void>(affinity[side][list].StringList());
    }
  }
  for (const Field& cluster : spec["extendClusters"].Items()) {
    cluster.IsMapOrAbsent();
    static_cast<void>(cluster["name"].String());
    static_cast<void>(cluster["weight"].Integer(std::numeric_limits<int32_t>::min(),
                                                std::numeric_limits<int32_t>::max()));
    static_cast<void>(cluster["capacity"].Quantities());
  }
}

}  // namespace

void TakeQueue(Taking& taking) {
  const Field& root = taking.root;
  const Field spec = root["spec"];
  const Field status = root["status"];
  WarnUnknown(root, {"apiVersion", "kind", "metadata", "spec", "status"});
  spec.IsMapOrAbsent();
  status.IsMapOrAbsent();
  WarnUnknown(spec, {"affinity", "capability", "dequeueStrategy", "deserved", "extendClusters",
                     "guarantee", "parent", "priority", "reclaimable", "type", "weight"});

  Queue queue;
  queue.name = taking.meta.name;
  queue.uid = taking.meta.uid;
  queue.creation = taking.meta.creation;
  queue.weight = TakeWeight(spec["weight"], taking);
  queue.reclaimable = spec["reclaimable"].Bool().value_or(true);
  SetDefault(taking, "reclaimable", true);
  queue.priority = static_cast<int32_t>(
      spec["priority"].Integer(0, std::numeric_limits<int32_t>::max()).value_or(0));
  queue.parent = TakeParent(spec["parent"], taking);
  queue.dequeue_strategy = TakeDequeueStrategy(spec["dequeueStrategy"], taking);
  queue.state = TakeState(status["state"], taking.strictness);

  const QueueAmounts fields{spec["capability"], spec["deserved"],
                            TakeGuaranteeMap(spec["guarantee"])};
  queue.capability = fields.capability.Resources(false);
  queue.deserved = fields.deserved.Resources(false);
  queue.guarantee = fields.guarantee.Resources(false);
  for (const Field& map : {fields.capability, fields.deserved, fields.guarantee}) {
    RefuseDecimals(map, taking.strictness);
  }
  if (taking.strictness == Strictness::kNew) {
    CheckAmounts(fields, queue);
  } else {
    ClampAmounts(fields, queue);
  }
  CheckHierarchyAnnotations(root["metadata"]["annotations"], taking.meta.annotations);
  CheckUnused(spec);
  taking.out.change = QueueUpsert{std::move(queue)};
}

}  // namespace caldera
