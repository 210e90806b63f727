#include "test/sandbox/member_life_turn.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "federation/fields.h"
#include "federation/intake.h"
#include "test/sandbox/cluster_summary.h"
#include "test/sandbox/object_rules.h"
#include "test/sandbox/served_kinds.h"

namespace caldera::sandbox {
namespace {

constexpr int64_t kOvercommitTenths = 12;  // Volcano's factor of 1.2.

std::string PhaseOf(const Value& pod) { return TextAt(pod, {"status", "phase"}); }

int64_t AmountOf(const ResourceList& list, const std::string& name) {
  const auto found = list.find(name);
  return found == list.end() ? 0 : found->second;
}

// minResources counts as a quota does: `requests.cpu` beside `cpu`, `limits.*`, `count/*`.
bool IsOfQuota(const std::string& name) {
  return name.starts_with("requests.") || name.starts_with("limits.") || name.starts_with("count/");
}

template <typename Upsert, typename Object>
std::optional<Object> ReadMemberObject(const Value& object, Object Upsert::*field, Time now) {
  Value marked = object;
  Value& metadata = *marked.Find("metadata");
  if (metadata.Find("annotations") == nullptr) {
    metadata.Set("annotations", Value::Map{});
  }
  metadata.Find("annotations")->Set(std::string(kAnnotationPrefix) + "cluster", "here");
  const Intake intake = TakeObject({"", 0, std::move(marked)}, Strictness::kStored, now);
  const Upsert* const upsert = intake.change ? std::get_if<Upsert>(&*intake.change) : nullptr;
  return upsert == nullptr ? std::nullopt : std::optional<Object>(upsert->*field);
}

ResourceList CapabilityOf(const Value& queue) {
  IssueSink sink;
  return Field(queue.At({"spec", "capability"}), "spec.capability", {}, sink).Resources(false);
}

}  // namespace

MemberTurn::MemberTurn(const MemberViews& views, const JobLife& jobs, const Assumed& assumed,
                       Time now)
    : views_(views), jobs_(jobs), assumed_(assumed), now_(now) {}

std::vector<Binding> MemberTurn::Decide() {
  ReadNodes();
  ReadQueues();
  ReadPods();
  ReadJobs();
  std::vector<NodeRoom> rooms;
  std::vector<std::string> names;
  for (const auto& [name, room] : rooms_) {
    rooms.push_back(room);
    names.push_back(name);
  }
  std::vector<HyperNode> hyper_nodes;
  for (const auto& [key, object] : views_.hyper_nodes->objects()) {
    if (auto read = ReadMemberObject(object, &HyperNodeUpsert::hyper_node, now_)) {
      hyper_nodes.push_back(*std::move(read));
    }
  }
  MemberScheduler scheduler(std::move(rooms), DomainsOf(hyper_nodes, names));
  std::vector<Binding> bindings;
  for (Entry& entry : entries_) {
    if (entry.phase == "Pending" && Admit(entry)) {
      entry.phase = "Inqueue";
    }
    const bool waits = std::any_of(entry.gang.tasks.begin(), entry.gang.tasks.end(),
                                   [](const GangTask& task) { return !task.waiting.empty(); });
    const auto queue = queues_.find(entry.job->job.queue);
    if (waits && entry.phase != "Pending" && queue != queues_.end()) {
      std::vector<Binding> placed = scheduler.Place(entry.gang, queue->second);
      entry.short_of_room = placed.empty();
      bindings.insert(bindings.end(), placed.begin(), placed.end());
    }
    Report(entry);
  }
  for (const auto& [name, room] : queues_) {
    queue_loads_[name].allocated = QuantitiesOf(room.allocated);
  }
  return bindings;
}

void MemberTurn::ReadNodes() {
  for (const auto& [key, object] : views_.nodes->objects()) {
    if (auto node = ReadMemberObject(object, &NodeUpsert::node, now_)) {
      const ResourceList free = node->allocatable;
      AddTo(total_, free);
      rooms_.emplace(key.name, NodeRoom{*std::move(node), free});
    }
  }
}

void MemberTurn::ReadQueues() {
  for (const auto& [key, queue] : views_.queues->objects()) {
    const std::string state = TextAt(queue, {"status", "state"});
    if (state == "Open" || state == "Closing" || state.empty()) {
      queues_[key.name].capability = CapabilityOf(queue);
    }
    queue_loads_[key.name];
  }
}

std::string MemberTurn::NodeOf(const ObjectKey& key, const Value& pod) const {
  std::string node = TextAt(pod, {"spec", "nodeName"});
  const auto found = assumed_.find(key);
  return node.empty() && found != assumed_.end() ? found->second : node;
}

void MemberTurn::ReadPods() {
  for (const auto& [key, pod] : views_.pods->objects()) {
    const std::string node = NodeOf(key, pod);
    if (node.empty() || HasEnded(pod)) {
      continue;
    }
    const ResourceList request = RequestOf(pod);
    AddTo(used_, request);
    if (const auto room = rooms_.find(node); room != rooms_.end()) {
      for (const auto& [name, amount] : request) {
        room->second.free[name] -= amount;
      }
    }
    const auto queue = queues_.find(AnnotationOf(pod, "volcano.sh/queue-name"));
    if (queue != queues_.end()) {
      AddTo(queue->second.allocated, request);
    }
  }
}

void MemberTurn::ReadJobs() {
  for (const auto& [key, object] : views_.jobs->objects()) {
    const MemberJob* const job = jobs_.Find(key);
    if (job == nullptr || UidOf(job->object) != UidOf(object)) {
      continue;
    }
    Entry entry;
    entry.group = {key.ns, PodGroupName(object)};
    entry.job = job;
    const Value* const group = views_.pod_groups->Find(entry.group);
    if (group == nullptr || IsDeleting(*group)) {
      continue;
    }
    entry.phase = TextAt(*group, {"status", "phase"});
    entry.phase = entry.phase.empty() ? "Pending" : entry.phase;
    entry.priority = PriorityOf(*job);
    ReadGang(entry);
    entries_.push_back(std::move(entry));
  }
  std::sort(entries_.begin(), entries_.end(), [](const Entry& a, const Entry& b) {
    return std::tuple(-a.priority, a.job->job.creation, a.group) <
           std::tuple(-b.priority, b.job->job.creation, b.group);
  });
  for (const Entry& entry : entries_) {
    if (entry.phase == "Inqueue" && entry.running == 0) {
      AddTo(inqueue_, entry.job->facts.min_resources);
      AddTo(queue_inqueue_[entry.job->job.queue], entry.job->facts.min_resources);
    }
  }
}

int64_t MemberTurn::PriorityOf(const MemberJob& job) const {
  for (const auto& [key, object] : views_.priorities->objects()) {
    const bool named = key.name == job.job.priority_class;
    if (named || (job.job.priority_class.empty() && FlagAt(object, {"globalDefault"}))) {
      return NumberAt(object, {"value"});
    }
  }
  return 0;
}

void MemberTurn::ReadGang(Entry& entry) const {
  const MemberJob& job = *entry.job;
  entry.gang.min_member = job.shape.min_available;
  entry.gang.topology = job.job.topology;
  std::map<std::string, GangTask> tasks;
  std::map<std::string, std::map<int64_t, WaitingPod>> waiting;
  for (const Task& task : job.job.tasks) {
    tasks[task.name].task = &task;
  }
  for (const ObjectKey& key : jobs_.PodsOf(job.job.uid)) {
    const Value* const pod = views_.pods->Find(key);
    if (pod == nullptr || IsDeleting(*pod)) {
      continue;
    }
    const PodFacts facts = ReadPodFacts(*pod);
    const auto task = tasks.find(facts.task);
    if (task == tasks.end()) {
      continue;
    }
    const std::string node = NodeOf(key, *pod);
    entry.running += PhaseOf(*pod) == "Running" ? 1 : 0;
    entry.succeeded += PhaseOf(*pod) == "Succeeded" ? 1 : 0;
    entry.failed += PhaseOf(*pod) == "Failed" ? 1 : 0;
    if (!node.empty()) {
      task->second.placed += PhaseOf(*pod) == "Failed" ? 0 : 1;
      if (!HasEnded(*pod)) {
        entry.gang.nodes.insert(node);
        task->second.partition_nodes[facts.partition].insert(node);
      }
    } else if (PhaseOf(*pod).empty() || PhaseOf(*pod) == "Pending") {
      waiting[facts.task][facts.index] = {key, facts.partition};
    }
  }
  for (const Task& task : job.job.tasks) {
    GangTask& read = tasks[task.name];
    for (auto& [index, pod] : waiting[task.name]) {
      read.waiting.push_back(std::move(pod));
    }
    entry.gang.tasks.push_back(std::move(read));
  }
}

bool MemberTurn::Admit(const Entry& entry) {
  const ResourceList& wanted = entry.job->facts.min_resources;
  const auto queue = queues_.find(entry.job->job.queue);
  if (queue == queues_.end()) {
    return false;
  }
  for (const auto& [name, amount] : wanted) {
    if (IsOfQuota(name)) {
      continue;
    }
    const auto limit = queue->second.capability.find(name);
    if (limit != queue->second.capability.end() &&
        amount + AmountOf(queue->second.allocated, name) +
                AmountOf(queue_inqueue_[entry.job->job.queue], name) >
            limit->second) {
      return false;
    }
    const int64_t overcommitted = SaturatingMul(AmountOf(total_, name), kOvercommitTenths) / 10;
    if (name != "pods" &&
        amount + AmountOf(used_, name) + AmountOf(inqueue_, name) > overcommitted) {
      return false;
    }
  }
  AddTo(inqueue_, wanted);
  AddTo(queue_inqueue_[entry.job->job.queue], wanted);
  return true;
}

void MemberTurn::Report(const Entry& entry) {
  int64_t placed = 0;
  for (const GangTask& task : entry.gang.tasks) {
    placed += task.placed;
  }
  std::string phase = entry.phase;
  if (phase == "Inqueue" && entry.running > 0 && placed >= entry.gang.min_member) {
    phase = "Running";
  } else if (phase == "Running" && entry.running == 0 &&
             entry.succeeded + entry.failed >= entry.job->shape.Replicas()) {
    phase = "Completed";
  }
  Value status = MakeMap({{"phase", phase}});
  for (const auto& [field, count] :
       {std::pair("running", entry.running), std::pair("succeeded", entry.succeeded),
        std::pair("failed", entry.failed)}) {
    if (count > 0) {
      status.Set(field, count);
    }
  }
  if (entry.short_of_room || entry.phase == "Pending") {
    const Value* const there = views_.pod_groups->Find(entry.group);
    const Value* const old = there->At({"status", "conditions"});
    Value conditions = old == nullptr ? Value(Value::List{}) : *old;
    SetCondition(conditions,
                 {"Unschedulable", "True",
                  entry.phase == "Pending" ? "NotEnoughResources" : "NotEnoughTasks",
                  "the gang of " + std::to_string(entry.gang.min_member) +
                      " does not fit into what is free"},
                 MetaTime(now_));
    status.Set("conditions", std::move(conditions));
  }
  group_statuses_[entry.group] = std::move(status);
  ++queue_loads_[entry.job->job.queue].groups[phase];
}

}  // namespace caldera::sandbox
