#include <limits>

#include "federation/intake_annotations.h"
#include "federation/intake_job.h"
#include "federation/intake_job_build.h"
#include "federation/intake_kinds.h"
#include "federation/intake_plugins.h"
#include "federation/intake_read.h"
#include "federation/names.h"
#include "federation/volcano_schema.h"

namespace caldera {
namespace {

constexpr int64_t kMax = std::numeric_limits<int32_t>::max();

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
    CheckJobSpec(item["templateSpec"], name + "-" + std::string(TextOf(item["name"])) + "-0");
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
  const std::vector<Field> jobs = ItemsOf(place["replicatedJobs"]);
  job.queue = TextOf(jobs.front()["templateSpec"]["queue"]);
  job.priority_class = TextOf(jobs.front()["templateSpec"]["priorityClassName"]);
  job.min_available = static_cast<int32_t>(NumberOf(place["minAvailable"]).value_or(0));
  TakeStatus(taking.root["status"], job);
  taking.out.change = JobUpsert{std::move(job)};
}

}  // namespace caldera
