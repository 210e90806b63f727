#include "federation/intake_job.h"

#include <algorithm>

#include "federation/intake_annotations.h"
#include "federation/intake_job_build.h"
#include "federation/intake_kinds.h"
#include "federation/intake_plugins.h"
#include "federation/intake_read.h"
#include "federation/job_facts.h"
#include "federation/names.h"
#include "federation/volcano_schema.h"

namespace caldera {
namespace {

constexpr std::string_view kClaimedBy = "resourcetemplate.karmada.io/claimed-by";
constexpr std::string_view kOurselves = "caldera";
constexpr size_t kJobNameMax = 63;

bool IsKarmadaPolicyKey(std::string_view key) {
  return key.starts_with("propagationpolicy.karmada.io/") ||
         key.starts_with("clusterpropagationpolicy.karmada.io/");
}

void CheckJobName(const Taking& taking) {
  if (taking.meta.name.size() > kJobNameMax) {
    taking.root["metadata"]["name"].Refuse("has " + std::to_string(taking.meta.name.size()) +
                                           " characters: a Job's name takes at most " +
                                           std::to_string(kJobNameMax));
  }
}

int32_t Counter(const Field& field) {
  const int64_t number = NumberOf(field).value_or(0);
  return static_cast<int32_t>(std::clamp<int64_t>(number, 0, std::numeric_limits<int32_t>::max()));
}

// status.taskStatusCount; a job of one task has its counters in the status itself too.
std::vector<TaskReport> TakeReports(const Field& status, const std::vector<Task>& tasks) {
  std::vector<TaskReport> reports;
  for (const auto& [task, entry] : MembersOf(status["taskStatusCount"])) {
    const Field phase = entry["phase"];
    reports.push_back({task, Counter(phase["Running"]),
                       SumOfPods(Counter(phase["Succeeded"]), Counter(phase["Failed"]))});
  }
  const bool counted = NumberOf(status["running"]).has_value() ||
                       NumberOf(status["succeeded"]).has_value() ||
                       NumberOf(status["failed"]).has_value();
  if (reports.empty() && counted && tasks.size() == 1) {
    reports.push_back({tasks.front().name, Counter(status["running"]),
                       SumOfPods(Counter(status["succeeded"]), Counter(status["failed"]))});
  }
  return reports;
}

}  // namespace

void CheckMetadata(Taking& taking) {
  Value* const metadata = taking.out.defaulted.Find("metadata");
  if (metadata == nullptr || !metadata->IsMap()) {
    return;  // Said already: without it there is no name.
  }
  const Field place(metadata, "metadata", metadata->mark(), taking.root.sink());
  ApplySchema(VolcanoSchema(), "ObjectMeta", *metadata, place, Passage::kAsSent);
  for (const Field& finalizer : ItemsOf(place["finalizers"])) {
    if (!IsQualifiedName(TextOf(finalizer))) {
      finalizer.Refuse("is no name of a finalizer: it takes " + std::string(kQualifiedNameRule));
    }
  }
  for (const Field& owner : ItemsOf(place["ownerReferences"])) {
    for (const char* const key : {"apiVersion", "kind", "name", "uid"}) {
      CheckGiven(owner[key], "an owner is named in full");
    }
  }
}

bool IsClaimedElsewhere(const ObjectMeta& meta) {
  const auto of_policy = [](const auto& entry) { return IsKarmadaPolicyKey(entry.first); };
  if (std::any_of(meta.labels.begin(), meta.labels.end(), of_policy) ||
      std::any_of(meta.annotations.begin(), meta.annotations.end(), of_policy)) {
    return true;
  }
  const auto claimed = meta.labels.find(kClaimedBy);
  return claimed != meta.labels.end() && !claimed->second.empty() && claimed->second != kOurselves;
}

void TakeStatus(const Field& status, Job& job) {
  const std::string_view phase = TextOf(status["state"]["phase"]);
  job.terminal = phase == "Completed" || phase == "Failed" || phase == "Terminated";
  job.suspended = phase == "Aborting" || phase == "Aborted";
  if (const auto time = ParseTime(TextOf(status["state"]["lastTransitionTime"]));
      time.has_value()) {
    job.reported = *time;
  }
  job.reports = TakeReports(status, job.tasks);
}

bool TakeJobSpec(Value& spec, const Field& place, std::string_view job_name) {
  const size_t errors = place.sink().errors.size();
  WarnNullPlugins(place);
  const Passage passage = PrepareJobSpec(spec);
  ApplySchema(VolcanoSchema(), "JobSpec", spec, place, passage);
  DefaultJobSpec(spec);
  CheckJobSpec(place, job_name);
  return place.sink().errors.size() == errors;
}

void TakeJob(Taking& taking) {
  WarnUnknown(taking.root, {"apiVersion", "kind", "metadata", "spec", "status"});
  CheckMetadata(taking);
  CheckJobName(taking);
  taking.root["status"].IsMapOrAbsent();
  Job job;
  job.key = {taking.meta.ns, taking.meta.name};
  job.uid = taking.meta.uid;
  job.creation = taking.meta.creation;
  TakeAnnotations(taking.root, taking.meta, job);
  job.claimed_elsewhere = IsClaimedElsewhere(taking.meta);
  Value* const spec = taking.out.defaulted.Find("spec");
  if (spec == nullptr || !spec->IsMap()) {
    taking.root["spec"].Refuse("is required: a map with the tasks of the job");
    return;
  }
  // Defaults are written into the copy; complaints point to where its values stood in the input.
  const Field place(spec, "spec", spec->mark(), taking.root.sink());
  if (!TakeJobSpec(*spec, place, taking.meta.name) || !taking.root.sink().errors.empty()) {
    return;
  }
  BuildJob(place, job);
  TakeStatus(taking.root["status"], job);
  taking.out.job = MakeJobFacts(job, TaskPriorities(place));
  taking.out.change = JobUpsert{std::move(job)};
}

}  // namespace caldera
