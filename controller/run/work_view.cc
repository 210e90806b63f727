#include "controller/run/work_view.h"

#include <algorithm>
#include <charconv>
#include <initializer_list>
#include <limits>
#include <utility>

#include "controller/run/manifest_digest.h"
#include "federation/children.h"
#include "federation/excerpt.h"
#include "federation/intake.h"
#include "federation/render.h"
#include "federation/value_at.h"

namespace caldera {
namespace {

constexpr std::string_view kExecutionNamespace = "karmada-es-";
constexpr std::string_view kManagedBy = "app.kubernetes.io/managed-by";
constexpr std::string_view kClaimedBy = "resourcetemplate.karmada.io/claimed-by";
constexpr std::string_view kOurselves = "caldera";

std::string OurKey(std::string_view name) {
  return std::string(kAnnotationPrefix) + std::string(name);
}

std::string_view OurAnnotationOf(const Value& object, std::string_view name) {
  return TextAt(object, {"metadata", "annotations", OurKey(name)});
}

Time TimeAt(const Value& value, std::initializer_list<std::string_view> path) {
  return ParseTime(TextAt(value, path)).value_or(Time());
}

int32_t CountAt(const Value& value, std::initializer_list<std::string_view> path) {
  return static_cast<int32_t>(
      std::clamp<int64_t>(NumberAt(value, path), 0, std::numeric_limits<int32_t>::max()));
}

std::optional<int64_t> ParseNumber(std::string_view text) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) {
    return std::nullopt;
  }
  return number;
}

// Kubernetes gives a pod 30 s where its template says nothing.
Millis GraceOf(const Value& spec) {
  constexpr int64_t kDefault = 30;
  // A year: what is longer is a slip, and must not overflow.
  constexpr int64_t kLongest = 31'536'000;
  int64_t longest = 0;
  bool tasks = false;
  for (const Value& task : ListAt(spec, {"tasks"})) {
    const Value* const grace = task.At({"template", "spec", "terminationGracePeriodSeconds"});
    tasks = true;
    longest = std::max(longest, grace != nullptr && grace->IsInteger()
                                    ? std::clamp<int64_t>(grace->AsInteger(), 0, kLongest)
                                    : kDefault);
  }
  return std::chrono::seconds(tasks ? longest : kDefault);
}

Value KarmadasFinalizer() { return WorkFinalizers().AsList().front(); }

void ReadMetadata(const Value& work, WorkView& view) {
  view.ns = TextAt(work, {"metadata", "namespace"});
  view.name = TextAt(work, {"metadata", "name"});
  view.uid = TextAt(work, {"metadata", "uid"});
  view.resource_version = TextAt(work, {"metadata", "resourceVersion"});
  view.created = TimeAt(work, {"metadata", "creationTimestamp"});
  view.deleting = !TextAt(work, {"metadata", "deletionTimestamp"}).empty();
  view.suspended = FlagAt(work, {"spec", "suspendDispatching"});
  view.preserves = FlagAt(work, {"spec", "preserveResourcesOnDeletion"});
  view.object = OurAnnotationOf(work, "object");
  view.digest = OurAnnotationOf(work, "digest");
  const Value::List& finalizers = ListAt(work, {"metadata", "finalizers"});
  view.finalized =
      std::find(finalizers.begin(), finalizers.end(), KarmadasFinalizer()) != finalizers.end();
  view.other_finalizers = OtherFinalizers(work);
}

Status ReadRole(const Value& work, WorkView& view) {
  // A Work that render.cc wrote and nobody labelled yet is a shard's.
  const std::string_view role = TextAt(work, {"metadata", "labels", OurKey("work")});
  if (role == "reference") {
    view.role = WorkRole::kReference;
  } else if (role == "queue") {
    view.role = WorkRole::kQueue;
  } else if (role == "access") {
    view.role = WorkRole::kAccess;
  } else if (!role.empty() && role != "shard") {
    return Fail(ErrorCode::kInvalid, "label " + OurKey("work") + " is \"" + Excerpt(role) +
                                         "\": shard, reference, queue or access is known");
  }
  return {};
}

/// What the numbers in our annotations may be.
struct Bounds {
  int64_t least = 0;
  int64_t most = std::numeric_limits<int64_t>::max();
};

Status ReadNumber(const Value& work, std::string_view name, int64_t& into, Bounds bounds = {}) {
  const std::string_view text = OurAnnotationOf(work, name);
  const auto number = ParseNumber(text);
  if (!number.has_value() || *number < bounds.least || *number > bounds.most) {
    return Fail(ErrorCode::kInvalid, "annotation " + OurKey(name) + " is \"" + Excerpt(text) +
                                         "\": it must be a whole number from " +
                                         std::to_string(bounds.least) + " to " +
                                         std::to_string(bounds.most));
  }
  into = *number;
  return {};
}

void ReadUses(std::string_view text, std::vector<std::string>& uses) {
  while (!text.empty()) {
    const size_t comma = text.find(',');
    if (const std::string_view one = text.substr(0, comma); !one.empty()) {
      uses.emplace_back(one);
    }
    text = comma == std::string_view::npos ? std::string_view() : text.substr(comma + 1);
  }
}

Status ReadShard(const Value& work, WorkView& view) {
  view.job_uid = OurAnnotationOf(work, "job-uid");
  if (view.job_uid.empty()) {
    return Fail(ErrorCode::kInvalid, "annotation " + OurKey("job-uid") + " is missing");
  }
  const std::string_view job = OurAnnotationOf(work, "job");
  const size_t slash = job.find('/');
  if (slash == std::string_view::npos || slash == 0 || slash + 1 == job.size()) {
    return Fail(ErrorCode::kInvalid, "annotation " + OurKey("job") + " is \"" + Excerpt(job) +
                                         "\": it must be NAMESPACE/NAME");
  }
  view.job = {std::string(job.substr(0, slash)), std::string(job.substr(slash + 1))};
  CALDERA_CHECK(ReadNumber(work, "epoch", view.epoch, {1, kEpochMax}));
  CALDERA_CHECK(ReadNumber(work, "intent", view.intent));
  if (!OurAnnotationOf(work, "shard").empty()) {
    CALDERA_CHECK(ReadNumber(work, "shard", view.index));
  }
  if (!OurAnnotationOf(work, "generation").empty()) {
    CALDERA_CHECK(ReadNumber(work, "generation", view.generation));
  }
  ReadUses(OurAnnotationOf(work, "uses"), view.uses);
  // The name is `caldera-<uid>` or `caldera-<uid>-<child>`.
  const std::string prefix = std::string(kOurselves) + "-" + view.job_uid;
  if (!view.name.starts_with(prefix) ||
      (view.name.size() > prefix.size() && view.name[prefix.size()] != '-')) {
    return Fail(ErrorCode::kInvalid, "its name is not that of a Work of job " + view.job_uid);
  }
  view.child = view.name.size() > prefix.size() ? view.name.substr(prefix.size() + 1) : "";
  return {};
}

void ReadApplied(const Value& work, WorkView& view) {
  for (const Value& condition : ListAt(work, {"status", "conditions"})) {
    if (TextAt(condition, {"type"}) != "Applied") {
      continue;
    }
    const std::string_view status = TextAt(condition, {"status"});
    view.applied = status == "True"    ? WorkView::Applied::kTrue
                   : status == "False" ? WorkView::Applied::kFalse
                                       : WorkView::Applied::kUnknown;
    view.applied_message = TextAt(condition, {"message"});
    view.applied_since = TimeAt(condition, {"lastTransitionTime"});
  }
}

// status.taskStatusCount; the counters of a job of one task are in the status itself too. Names
// are those of the child's tasks in its HyperJob.
std::vector<TaskReport> ReadTasks(const Value& status, const Value* job, const std::string& child) {
  std::vector<TaskReport> tasks;
  if (const Value* const counts = status.Find("taskStatusCount");
      counts != nullptr && counts->IsMap()) {
    for (const Member& task : counts->AsMap()) {
      tasks.push_back({TaskOfChild(child, task.key), CountAt(task.value, {"phase", "Running"}),
                       SumOfPods(CountAt(task.value, {"phase", "Succeeded"}),
                                 CountAt(task.value, {"phase", "Failed"}))});
    }
  }
  const bool counted = status.Find("running") != nullptr || status.Find("succeeded") != nullptr ||
                       status.Find("failed") != nullptr;
  if (tasks.empty() && counted && job != nullptr) {
    if (const Value::List& own = ListAt(*job, {"spec", "tasks"}); own.size() == 1) {
      tasks.push_back({TaskOfChild(child, std::string(TextAt(own.front(), {"name"}))),
                       CountAt(status, {"running"}),
                       SumOfPods(CountAt(status, {"succeeded"}), CountAt(status, {"failed"}))});
    }
  }
  std::sort(tasks.begin(), tasks.end(),
            [](const TaskReport& a, const TaskReport& b) { return a.task < b.task; });
  return tasks;
}

void ReadReport(const Value& work, const Value* job, WorkView& view) {
  for (const Value& manifest : ListAt(work, {"status", "manifestStatuses"})) {
    if (TextAt(manifest, {"identifier", "kind"}) != "Job") {
      continue;
    }
    const Value* const status = manifest.Find("status");
    if (status == nullptr || !status->IsMap()) {
      continue;
    }
    view.reported = true;
    view.phase = TextAt(*status, {"state", "phase"});
    view.phase_since = TimeAt(*status, {"state", "lastTransitionTime"});
    view.tasks = ReadTasks(*status, job, view.child);
    view.job_status = *status;
  }
}

// Empty where there is not one manifest, as we write it.
std::string ContentOf(const Value& work) {
  const Value::List& manifests = ListAt(work, {"spec", "workload", "manifests"});
  return manifests.size() == 1 && manifests.front().IsMap() ? ManifestDigest(manifests.front())
                                                            : std::string();
}

const Value* FindJobManifest(const Value& work) {
  for (const Value& manifest : ListAt(work, {"spec", "workload", "manifests"})) {
    if (TextAt(manifest, {"kind"}) == "Job") {
      return &manifest;
    }
  }
  return nullptr;
}

int64_t ShardCountOf(const Value& task) {
  for (const Value& container : ListAt(task, {"template", "spec", "containers"})) {
    for (const Value& variable : ListAt(container, {"env"})) {
      if (TextAt(variable, {"name"}) == "CALDERA_SHARD_COUNT") {
        const std::string_view text = TextAt(variable, {"value"});
        int64_t count = 0;
        std::from_chars(text.data(), text.data() + text.size(), count);
        return count;
      }
    }
  }
  return 1;
}

// Annotation `at-once`: `1,2`, by task; a text that does not fit the tasks says nothing.
void ReadAtOnce(std::string_view text, std::vector<TaskGrant>& grants) {
  std::vector<int32_t> counts;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at != end) {
    const auto [rest, error] = std::from_chars(at, end, counts.emplace_back());
    if (error != std::errc() || (rest != end && *rest != ',')) {
      return;
    }
    at = rest == end ? end : rest + 1;
  }
  if (counts.size() != grants.size()) {
    return;
  }
  for (size_t t = 0; t < counts.size(); ++t) {
    if (counts[t] < 0 || counts[t] > grants[t].replicas) {
      return;
    }
  }
  for (size_t t = 0; t < counts.size(); ++t) {
    grants[t].at_once = counts[t];
  }
}

void ReadGrants(const Value& spec, WorkView& view) {
  view.min_available = CountAt(spec, {"minAvailable"});
  for (const Value& task : ListAt(spec, {"tasks"})) {
    view.grants.push_back({TaskOfChild(view.child, std::string(TextAt(task, {"name"}))),
                           CountAt(task, {"replicas"}), CountAt(task, {"minAvailable"})});
    view.shards = std::max(view.shards, ShardCountOf(task));
  }
}

std::string DigestAt(const Value& object) {
  const Value* const status = object.Find("status");
  return status == nullptr ? std::string() : StatusDigest(*status);
}

// What its conditions say: only how it ended, and whether it was aborted.
std::string PhaseOfHyperJob(const Value& job) {
  for (const Value& condition : ListAt(job, {"status", "conditions"})) {
    const std::string_view type = TextAt(condition, {"type"});
    if (TextAt(condition, {"status"}) != "True") {
      continue;
    }
    if (type == kCompletedCondition || type == kFailedCondition) {
      return std::string(type);
    }
    if (type == kSuspendedCondition) {
      return std::string(TextAt(condition, {"reason"}));
    }
  }
  return {};
}

// A HyperJob's pods are those of its templates.
Millis GraceOfJob(const Value& spec) {
  Millis longest{0};
  const Value::List& jobs = ListAt(spec, {"replicatedJobs"});
  for (const Value& job : jobs) {
    if (const Value* const template_spec = job.Find("templateSpec"); template_spec != nullptr) {
      longest = std::max(longest, GraceOf(*template_spec));
    }
  }
  return jobs.empty() ? GraceOf(spec) : longest;
}

}  // namespace

std::string_view RoleName(WorkRole role) {
  switch (role) {
    case WorkRole::kShard:
      return "shard";
    case WorkRole::kReference:
      return "reference";
    case WorkRole::kQueue:
      return "queue";
    case WorkRole::kAccess:
      return "access";
  }
  return "";
}

std::vector<std::string> OtherFinalizers(const Value& work) {
  std::vector<std::string> others;
  for (const Value& finalizer : ListAt(work, {"metadata", "finalizers"})) {
    if (finalizer.IsString() && !(finalizer == KarmadasFinalizer())) {
      others.push_back(finalizer.AsString());
    }
  }
  return others;
}

Result<WorkView> ReadWork(const Value& work) {
  WorkView view;
  ReadMetadata(work, view);
  const std::string where = "Work " + Excerpt(view.ns) + "/" + Excerpt(view.name);
  const auto refuse = [&](const std::string& why) {
    return Fail(ErrorCode::kInvalid, where + ": " + why);
  };
  if (TextAt(work, {"metadata", "labels", kManagedBy}) != kOurselves) {
    return refuse("label " + std::string(kManagedBy) + " is not caldera: it is none of ours");
  }
  if (view.name.empty() || view.uid.empty()) {
    return refuse("metadata.name or metadata.uid is missing");
  }
  if (!view.ns.starts_with(kExecutionNamespace) || view.ns.size() == kExecutionNamespace.size()) {
    return refuse("it is in no execution namespace, karmada-es-CLUSTER");
  }
  view.cluster = view.ns.substr(kExecutionNamespace.size());
  if (const Status role = ReadRole(work, view); !role.has_value()) {
    return refuse(role.error().message);
  }
  view.content = ContentOf(work);
  ReadApplied(work, view);
  if (view.role != WorkRole::kShard) {
    return view;
  }
  if (const Status shard = ReadShard(work, view); !shard.has_value()) {
    return refuse(shard.error().message);
  }
  const Value* const job = FindJobManifest(work);
  if (const Value* const spec = job == nullptr ? nullptr : job->Find("spec"); spec != nullptr) {
    view.grace = GraceOf(*spec);
    ReadGrants(*spec, view);
    ReadAtOnce(OurAnnotationOf(work, "at-once"), view.grants);
  }
  ReadReport(work, job, view);
  return view;
}

bool HasNoPods(const WorkView& work) {
  return IsTerminalPhase(work.phase) ||
         (work.applied == WorkView::Applied::kFalse && !work.reported);
}

bool IsTerminalPhase(std::string_view phase) {
  return phase == "Completed" || phase == "Failed" || phase == "Terminated";
}

JobView ReadJobView(const Value& job) {
  JobView view;
  view.kind = TextAt(job, {"kind"}) == "HyperJob" ? JobKind::kHyperJob : JobKind::kJob;
  view.key = {std::string(TextAt(job, {"metadata", "namespace"})),
              std::string(TextAt(job, {"metadata", "name"}))};
  view.uid = TextAt(job, {"metadata", "uid"});
  view.resource_version = TextAt(job, {"metadata", "resourceVersion"});
  view.generation = NumberAt(job, {"metadata", "generation"});
  view.claimed_by_us = TextAt(job, {"metadata", "labels", kClaimedBy}) == kOurselves;
  view.placement = OurAnnotationOf(job, "placement");
  view.status_digest = DigestAt(job);
  view.phase = view.kind == JobKind::kJob ? std::string(TextAt(job, {"status", "state", "phase"}))
                                          : PhaseOfHyperJob(job);
  if (view.phase.empty() && view.kind == JobKind::kHyperJob && !view.status_digest.empty()) {
    view.phase = "Pending";
  }
  view.deleting = !TextAt(job, {"metadata", "deletionTimestamp"}).empty();
  if (const Value* const ttl = job.At({"spec", "ttlSecondsAfterFinished"});
      ttl != nullptr && ttl->IsInteger() && ttl->AsInteger() >= 0) {
    view.ttl = std::chrono::seconds(
        std::min<int64_t>(ttl->AsInteger(), std::numeric_limits<int32_t>::max()));
  }
  if (const Value* const spec = job.Find("spec"); spec != nullptr) {
    view.grace = GraceOfJob(*spec);
  }
  return view;
}

QueueView ReadQueueView(const Value& queue) {
  QueueView view;
  view.name = TextAt(queue, {"metadata", "name"});
  view.uid = TextAt(queue, {"metadata", "uid"});
  view.resource_version = TextAt(queue, {"metadata", "resourceVersion"});
  view.state = TextAt(queue, {"status", "state"});
  view.status_digest = DigestAt(queue);
  return view;
}

}  // namespace caldera
