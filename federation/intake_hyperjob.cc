#include <algorithm>
#include <limits>
#include <utility>

#include "federation/children.h"
#include "federation/intake_annotations.h"
#include "federation/intake_job.h"
#include "federation/intake_job_build.h"
#include "federation/intake_kinds.h"
#include "federation/intake_plugins.h"
#include "federation/intake_read.h"
#include "federation/names.h"
#include "federation/split_rules.h"
#include "federation/volcano_schema.h"

namespace caldera {
namespace {

constexpr int64_t kMax = std::numeric_limits<int32_t>::max();
constexpr size_t kJobNameMax = 63;

// The older topology of a HyperJob's own definition has a tier of 1 where none is given.
void DefaultTier(Value& template_spec) {
  Value* const topology = template_spec.Find("networkTopology");
  if (topology != nullptr && topology->IsMap() && topology->Find("highestTierAllowed") == nullptr &&
      topology->Find("highestTierName") == nullptr) {
    topology->Set("highestTierAllowed", 1);
  }
}

// Each template becomes Jobs named HYPERJOB-NAME-INDEX, so it must hold as a Job's spec.
void TakeTemplates(Value& spec, const Field& place, const std::string& name) {
  Value* const jobs = spec.Find("replicatedJobs");
  const std::vector<Field> items = ItemsOf(place["replicatedJobs"]);
  for (size_t i = 0; i < items.size(); ++i) {
    const Field& item = items[i];
    CheckRange(item["replicas"], 0, kMax);
    if (CheckGiven(item["name"], "a name for the replicated job") &&
        !IsDnsLabel(TextOf(item["name"]))) {
      item["name"].Refuse("is no name: it takes " + std::string(kDnsLabelRule));
    }
    Value* const template_spec = jobs->AsList()[i].Find("templateSpec");
    if (template_spec == nullptr || !template_spec->IsMap()) {
      continue;  // The schema's complaint.
    }
    DefaultTier(*template_spec);
    DefaultJobSpec(*template_spec);
    const int64_t last = std::max<int64_t>(NumberOf(item["replicas"]).value_or(1), 1) - 1;
    const std::string child =
        name + "-" + std::string(TextOf(item["name"])) + "-" + std::to_string(last);
    CheckJobSpec(item["templateSpec"], child);
    if (child.size() > kJobNameMax) {
      item["name"].Refuse("makes a Job " + child + ", of " + std::to_string(child.size()) +
                          " characters: a Job's name takes at most " + std::to_string(kJobNameMax));
    }
  }
}

// Its pods may not be cut, whatever splitPolicy says: its children go as they are.
bool IsDivided(const Field& item, const Job& part) {
  const Field mode = item["splitPolicy"]["mode"];
  if (TextOf(mode) != "auto") {
    return false;
  }
  const std::string unsafe = SplitUnsafeBy(SpecOf(part));
  if (!unsafe.empty()) {
    mode.Warn("has no effect, each child goes to one cluster as a whole: " + unsafe);
  }
  for (const char* const key : {"accelerators", "acceleratorType"}) {
    if (item["splitPolicy"][key].Present()) {
      item["splitPolicy"][key].Warn("has no effect: it is divided by what its pods ask for");
    }
  }
  return unsafe.empty();
}

// All children are one gang: they wait in one queue with one priority.
void CheckSame(const Field& field, const std::string& first) {
  if (TextOf(field) != first) {
    field.Refuse("must be \"" + first +
                 "\", as in the first replicated job: the children of a HyperJob are one gang, and "
                 "wait in one queue with one priority");
  }
}

int32_t Times(int32_t count, int32_t replicas) { return count * replicas; }

// The tasks of one template with the pods of all its children. `part` is one child.
void AddTemplate(const Field& item, const Job& part, Job& job) {
  ReplicatedJob replicated;
  replicated.name = TextOf(item["name"]);
  replicated.replicas = static_cast<int32_t>(NumberOf(item["replicas"]).value_or(1));
  replicated.tasks = static_cast<int32_t>(part.tasks.size());
  replicated.divided = IsDivided(item, part);
  replicated.min_available =
      Times(part.min_available, replicated.divided ? replicated.replicas : 1);
  for (const Field& name : ItemsOf(item["clusterNames"])) {
    replicated.clusters.emplace_back(TextOf(name));
  }
  const std::string prefix = replicated.name + "/";
  for (Task task : part.tasks) {
    task.name.insert(0, prefix);
    for (std::string& name : task.depends_on) {
      name.insert(0, prefix);
    }
    task.replicas = Times(task.replicas, replicated.replicas);
    task.min_available = Times(task.min_available, replicated.replicas);
    task.partition.total = Times(task.partition.total, replicated.replicas);
    task.partition.minimum = Times(task.partition.minimum, replicated.replicas);
    job.tasks.push_back(std::move(task));
  }
  job.min_available += Times(part.min_available, replicated.replicas);
  if (part.topology.mode != TopologyMode::kNone && job.topology.mode != TopologyMode::kHard) {
    job.topology = part.topology;
  }
  job.replicated_jobs.push_back(std::move(replicated));
}

// As long as the longest child, where each says how long it runs.
std::optional<Millis> LongestEstimate(const std::vector<Job>& parts) {
  std::optional<Millis> longest;
  for (const Job& part : parts) {
    if (!part.running_estimate.has_value()) {
      return std::nullopt;
    }
    longest = std::max(longest.value_or(Millis(0)), *part.running_estimate);
  }
  return longest;
}

void CheckCounts(const Field& list, const std::vector<Job>& parts) {
  int64_t children = 0;
  int64_t pods = 0;
  const std::vector<Field> items = ItemsOf(list);
  for (size_t i = 0; i < items.size(); ++i) {
    const int64_t replicas = NumberOf(items[i]["replicas"]).value_or(1);
    children += replicas;
    if (std::none_of(parts[i].tasks.begin(), parts[i].tasks.end(),
                     [](const Task& task) { return task.replicas > 0; })) {
      items[i]["templateSpec"]["tasks"].Refuse(
          "makes a Job of no pods, which nothing says where to send: give a task replicas");
    }
    if (const Field ttl = items[i]["templateSpec"]["ttlSecondsAfterFinished"]; ttl.Present()) {
      ttl.Warn("has no effect in a HyperJob: its Jobs stay in the clusters until it is deleted");
    }
    for (const Task& task : parts[i].tasks) {
      pods = SaturatingAdd(pods, replicas * task.replicas);
      pods = SaturatingAdd(pods, replicas * task.partition.total);
    }
  }
  if (children > kMostChildren) {
    list.Refuse("makes " + std::to_string(children) + " Jobs: at most " +
                std::to_string(kMostChildren) + " are taken");
  } else if (pods > kMax) {
    list.Refuse("has more than " + std::to_string(kMax) + " pods in all");
  }
}

void BuildHyperJob(const Field& place, Job& job) {
  const Field list = place["replicatedJobs"];
  const std::vector<Field> items = ItemsOf(list);
  std::vector<Job> parts(items.size());
  for (size_t i = 0; i < items.size(); ++i) {
    parts[i].rendezvous = job.rendezvous;
    BuildJob(items[i]["templateSpec"], parts[i]);
    CheckSame(items[i]["templateSpec"]["queue"], parts.front().queue);
    CheckSame(items[i]["templateSpec"]["priorityClassName"], parts.front().priority_class);
  }
  CheckCounts(list, parts);
  if (!place.sink().errors.empty()) {
    return;
  }
  job.queue = parts.front().queue;
  job.priority_class = parts.front().priority_class;
  job.running_estimate = LongestEstimate(parts);
  for (size_t i = 0; i < items.size(); ++i) {
    AddTemplate(items[i], parts[i], job);
  }
  if (const int64_t domains = NumberOf(place["maxDomains"]).value_or(0); domains > 0) {
    job.max_clusters = static_cast<int32_t>(
        job.max_clusters > 0 ? std::min<int64_t>(job.max_clusters, domains) : domains);
  }
}

void WarnWithoutEffect(const Field& place, const Job& job) {
  int64_t children = 0;
  for (const ReplicatedJob& each : job.replicated_jobs) {
    children += each.replicas;
  }
  const Field floor = place["minAvailable"];
  if (const auto number = NumberOf(floor); number.has_value() && *number < children) {
    floor.Warn("has no effect: all " + std::to_string(children) +
               " children are placed together, or none");
  }
  if (!MembersOf(place["plugins"]).empty()) {
    place["plugins"].Warn("has no effect, as with Volcano's own controller");
  }
  if (job.elastic) {
    place.Warn("annotation elastic has no effect on a HyperJob");
  }
}

// Its status has no state, only conditions.
void TakeConditions(const Field& status, Job& job) {
  for (const Field& condition : ItemsOf(status["conditions"])) {
    if (TextOf(condition["status"]) == "True") {
      const std::string_view type = TextOf(condition["type"]);
      job.terminal = job.terminal || type == kCompletedCondition || type == kFailedCondition;
      job.suspended = job.suspended || type == kSuspendedCondition;
    }
  }
}

}  // namespace

void TakeHyperJob(Taking& taking) {
  WarnUnknown(taking.root, {"apiVersion", "kind", "metadata", "spec", "status"});
  CheckMetadata(taking);
  Job job;
  job.kind = JobKind::kHyperJob;
  job.key = {taking.meta.ns, taking.meta.name};
  job.uid = taking.meta.uid;
  job.creation = taking.meta.creation;
  TakeAnnotations(taking.root, taking.meta, job);
  job.claimed_elsewhere = IsClaimedElsewhere(taking.meta);
  Value* const spec = taking.out.defaulted.Find("spec");
  if (spec == nullptr || !spec->IsMap()) {
    taking.root["spec"].Refuse("is required: a map with replicatedJobs");
    return;
  }
  const Field place(spec, "spec", spec->mark(), taking.root.sink());
  if (Value* const jobs = spec->Find("replicatedJobs"); jobs != nullptr && jobs->IsList()) {
    for (Value& entry : jobs->AsList()) {
      if (Value* const template_spec = entry.Find("templateSpec"); template_spec != nullptr) {
        PrepareJobSpec(*template_spec);
      }
    }
  }
  for (const Field& entry : ItemsOf(place["replicatedJobs"])) {
    WarnNullPlugins(entry["templateSpec"]);
  }
  ApplySchema(VolcanoSchema(), "HyperJobSpec", *spec, place, Passage::kRewritten);
  if (ItemsOf(place["replicatedJobs"]).empty()) {
    place["replicatedJobs"].Refuse("is required: a list of at least one replicated job");
  }
  CheckRange(place["minAvailable"], 0, kMax);
  CheckRange(place["maxDomains"], 0, kMax);
  TakeTemplates(*spec, place, taking.meta.name);
  if (!taking.root.sink().errors.empty()) {
    return;
  }
  // Its children are meant for several clusters.
  if (!OurAnnotation(taking.root, "split").Present()) {
    job.split = "allowed";
  }
  BuildHyperJob(place, job);
  if (!taking.root.sink().errors.empty()) {
    return;
  }
  WarnWithoutEffect(place, job);
  TakeConditions(taking.root["status"], job);
  taking.out.change = JobUpsert{std::move(job)};
}

}  // namespace caldera
