#include "test/sandbox/member_life_objects.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "test/sandbox/cluster_summary.h"

namespace caldera::sandbox {
namespace {

constexpr std::string_view kSandboxPrefix = "sandbox.caldera.sh/";

int64_t ToNumber(const std::string& text) {
  int64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

JobShape ShapeOf(const Value& object, const Job& job) {
  JobShape shape;
  for (const Task& task : job.tasks) {
    shape.tasks.push_back({task.name, task.replicas, task.min_available});
  }
  shape.min_available = job.min_available;
  shape.max_retry = NumberAt(object, {"spec", "maxRetry"}, 3);
  if (object.At({"spec", "minSuccess"}) != nullptr) {
    shape.min_success = NumberAt(object, {"spec", "minSuccess"});
  }
  return shape;
}

Value SubGroups(const JobFacts& facts) {
  Value::List groups;
  for (const JobFacts::SubGroup& group : facts.sub_groups) {
    Value selector = MakeMap({{"matchLabels", MakeMap({{"volcano.sh/task-spec", group.name}})}});
    groups.push_back(MakeMap({{"name", group.name},
                              {"subGroupSize", int64_t{group.size}},
                              {"minSubGroups", int64_t{group.minimum}},
                              {"labelSelector", std::move(selector)},
                              {"matchLabelKeys", Value::List{Value("volcano.sh/partition-id")}}}));
  }
  return groups;
}

void SetMarks(Value& metadata, std::string_view field,
              std::initializer_list<std::pair<std::string_view, std::string>> marks) {
  if (metadata.Find(field) == nullptr) {
    metadata.Set(field, Value::Map{});
  }
  for (const auto& [key, text] : marks) {
    metadata.Find(field)->Set(key, text);
  }
}

// How long its pods run and how they end may be said once for the whole Job.
void InheritSandboxMarks(const Value& job, Value& metadata) {
  const Value* const marks = job.At({"metadata", "annotations"});
  if (marks == nullptr || !marks->IsMap()) {
    return;
  }
  for (const Member& mark : marks->AsMap()) {
    Value* const own = metadata.Find("annotations");
    if (mark.key.starts_with(kSandboxPrefix) && own->Find(mark.key) == nullptr) {
      own->Set(mark.key, mark.value);
    }
  }
}

}  // namespace

std::optional<MemberJob> ReadMemberJob(const Value& object, Time now) {
  Intake intake = TakeObject({"", 0, object}, Strictness::kStored, now);
  if (!intake.change || !intake.job) {
    return std::nullopt;
  }
  const auto* const upsert = std::get_if<JobUpsert>(&*intake.change);
  if (upsert == nullptr) {
    return std::nullopt;
  }
  JobShape shape = ShapeOf(intake.defaulted, upsert->job);
  return MemberJob{std::move(intake.defaulted), upsert->job, *std::move(intake.job),
                   std::move(shape)};
}

std::string PodGroupName(const Value& job) { return KeyOf(job).name + "-" + UidOf(job); }

std::string PodName(const std::string& job, const std::string& task, int64_t index) {
  return job + "-" + task + "-" + std::to_string(index);
}

Value OwnedBy(const Value& job) {
  return Value::List{MakeMap({{"apiVersion", resource::Jobs().ApiVersion()},
                              {"kind", "Job"},
                              {"name", KeyOf(job).name},
                              {"uid", UidOf(job)},
                              {"controller", true},
                              {"blockOwnerDeletion", true}})};
}

Value MakePodGroup(const MemberJob& job) {
  Value metadata = MakeMap({{"name", PodGroupName(job.object)},
                            {"namespace", job.job.key.ns},
                            {"ownerReferences", OwnedBy(job.object)}});
  Value spec = MakeMap({{"minMember", job.shape.min_available},
                        {"queue", job.job.queue},
                        {"minResources", QuantitiesOf(job.facts.min_resources)}});
  if (!job.facts.min_task_member.empty()) {
    Value members{Value::Map{}};
    for (const auto& [task, minimum] : job.facts.min_task_member) {
      members.Set(task, int64_t{minimum});
    }
    spec.Set("minTaskMember", std::move(members));
  }
  if (!job.job.priority_class.empty()) {
    spec.Set("priorityClassName", job.job.priority_class);
  }
  if (const Value* const topology = job.object.At({"spec", "networkTopology"})) {
    spec.Set("networkTopology", *topology);
  }
  if (!job.facts.sub_groups.empty()) {
    spec.Set("subGroupPolicy", SubGroups(job.facts));
  }
  return MakeMap({{"apiVersion", "scheduling.volcano.sh/v1beta1"},
                  {"kind", "PodGroup"},
                  {"metadata", std::move(metadata)},
                  {"spec", std::move(spec)},
                  {"status", MakeMap({{"phase", "Pending"}})}});
}

Value MakePod(const MemberJob& job, size_t task, int64_t index, const Value& job_status) {
  const Value& written = ListAt(job.object, {"spec", "tasks"})[task];
  const Task& read = job.job.tasks[task];
  const Value* const made = written.Find("template");
  Value metadata = made != nullptr && made->Find("metadata") != nullptr ? *made->Find("metadata")
                                                                        : Value(Value::Map{});
  const std::string number = std::to_string(index);
  metadata.Set("name", PodName(job.job.key.name, read.name, index));
  metadata.Set("namespace", job.job.key.ns);
  metadata.Set("ownerReferences", OwnedBy(job.object));
  SetMarks(metadata, "annotations",
           {{"volcano.sh/task-index", number},
            {"volcano.sh/task-spec", read.name},
            {"scheduling.k8s.io/group-name", PodGroupName(job.object)},
            {"volcano.sh/job-name", job.job.key.name},
            {"volcano.sh/queue-name", job.job.queue},
            {"volcano.sh/job-version", std::to_string(NumberAt(job_status, {"version"}))},
            {"volcano.sh/template-uid", job.job.key.name + "-" + read.name},
            {"volcano.sh/job-retry-count", std::to_string(NumberAt(job_status, {"retryCount"}))}});
  SetMarks(metadata, "labels",
           {{"volcano.sh/task-index", number},
            {"volcano.sh/task-spec", read.name},
            {"volcano.sh/job-name", job.job.key.name},
            {"volcano.sh/job-namespace", job.job.key.ns},
            {"volcano.sh/queue-name", job.job.queue}});
  if (read.partition.total > 0) {
    const int64_t size = std::max<int64_t>(read.partition.size, 1);
    SetMarks(metadata, "labels", {{"volcano.sh/partition-id", std::to_string(index / size)}});
  }
  InheritSandboxMarks(job.object, metadata);
  Value spec =
      made != nullptr && made->Find("spec") != nullptr ? *made->Find("spec") : Value(Value::Map{});
  spec.Set("schedulerName", TextAt(job.object, {"spec", "schedulerName"}));
  if (!job.job.priority_class.empty() && spec.Find("priorityClassName") == nullptr) {
    spec.Set("priorityClassName", job.job.priority_class);
  }
  return MakeMap({{"apiVersion", "v1"},
                  {"kind", "Pod"},
                  {"metadata", std::move(metadata)},
                  {"spec", std::move(spec)}});
}

PodFacts ReadPodFacts(const Value& pod) {
  PodFacts facts;
  if (LabelOf(pod, "volcano.sh/job-name").empty()) {
    return facts;
  }
  facts.job_uid = ControllerUidOf(pod);
  facts.task = LabelOf(pod, "volcano.sh/task-spec");
  facts.index = ToNumber(LabelOf(pod, "volcano.sh/task-index"));
  facts.partition = LabelOf(pod, "volcano.sh/partition-id");
  facts.version = ToNumber(AnnotationOf(pod, "volcano.sh/job-version"));
  return facts;
}

}  // namespace caldera::sandbox
