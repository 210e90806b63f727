#include "federation/render.h"

#include <algorithm>
#include <array>
#include <utility>

#include "federation/assert.h"
#include "federation/children.h"
#include "federation/excerpt.h"
#include "federation/intake.h"
#include "federation/value_at.h"

namespace caldera {
namespace {

constexpr std::string_view kExecutionNamespace = "karmada-es-";

struct Variable {
  std::string name;
  std::string value;
};

const Shard& ShardOf(const ShardContext& context) {
  CALDERA_ASSERT(context.index >= 0 &&
                 static_cast<size_t>(context.index) < context.all_shards.size());
  return context.all_shards[static_cast<size_t>(context.index)];
}

const TaskGrant* FindGrant(const Shard& shard, std::string_view task) {
  const auto at = std::find_if(shard.tasks.begin(), shard.tasks.end(),
                               [&](const TaskGrant& grant) { return grant.name == task; });
  return at == shard.tasks.end() ? nullptr : &*at;
}

int64_t WorldSize(const ShardContext& context) {
  int64_t size = 0;
  for (const Shard& shard : context.all_shards) {
    size += shard.Pods();
  }
  return size;
}

// How many pods of the task the shards before this one have: ranks go on where theirs end.
int64_t RankOffset(const ShardContext& context, std::string_view task) {
  int64_t offset = 0;
  for (int32_t i = 0; i < context.index; ++i) {
    const TaskGrant* const grant = FindGrant(context.all_shards[static_cast<size_t>(i)], task);
    offset += grant == nullptr ? 0 : grant->replicas;
  }
  return offset;
}

std::vector<Variable> Environment(const ShardContext& context, std::string_view task) {
  const Shard& shard = ShardOf(context);
  std::vector<Variable> variables = {
      {"CALDERA_CLUSTER", shard.cluster},
      {"CALDERA_SHARD_INDEX", std::to_string(context.index)},
      {"CALDERA_SHARD_COUNT", std::to_string(context.all_shards.size())},
      {"CALDERA_RANK_OFFSET", std::to_string(RankOffset(context, task))},
      {"CALDERA_WORLD_SIZE", std::to_string(WorldSize(context))},
      {"CALDERA_EPOCH", std::to_string(shard.epoch)}};
  if (!context.rendezvous.empty()) {
    variables.push_back({"CALDERA_RENDEZVOUS", context.rendezvous});
  }
  if (!context.restore_from.empty()) {
    variables.push_back({"CALDERA_RESTORE_FROM", context.restore_from});
  }
  return variables;
}

// Ours stand first, so that the container's own variables can refer to them as $(NAME).
void SetEnvironment(Value& container, const std::vector<Variable>& variables) {
  Value::List list;
  for (const Variable& variable : variables) {
    list.emplace_back(Value::Map{{"name", variable.name, {}}, {"value", variable.value, {}}});
  }
  if (const Value* const own = container.Find("env"); own != nullptr && own->IsList()) {
    for (const Value& entry : own->AsList()) {
      const Value* const name = entry.Find("name");
      const bool ours =
          name != nullptr && name->IsString() &&
          std::any_of(variables.begin(), variables.end(),
                      [&](const Variable& variable) { return variable.name == name->AsString(); });
      if (!ours) {
        list.push_back(entry);
      }
    }
  }
  container.Set("env", std::move(list));
}

// A shard's partitions are whole ones; a task of which the shard has no pod has none, and its
// policy goes, since Volcano takes no policy of 0 partitions.
void RenderPartitions(Value& task, const TaskGrant& grant) {
  Value* const policy = task.Find("partitionPolicy");
  if (policy == nullptr || !policy->IsMap()) {
    return;
  }
  if (grant.replicas == 0) {
    task.Erase("partitionPolicy");
    return;
  }
  const Value* const size = policy->Find("partitionSize");
  const Value* const minimum = policy->Find("minPartitions");
  if (size == nullptr || !size->IsInteger() || size->AsInteger() < 1) {
    return;
  }
  const int64_t per_partition = size->AsInteger();
  policy->Set("totalPartitions", grant.replicas / per_partition);
  if (minimum != nullptr && minimum->IsInteger() && minimum->AsInteger() > 0) {
    policy->Set("minPartitions", grant.min_available / per_partition);
  }
}

void RenderTask(Value& task, const ShardContext& context) {
  const Value* const name = task.Find("name");
  const std::string task_name =
      TaskOfChild(ShardOf(context).child,
                  name != nullptr && name->IsString() ? name->AsString() : std::string());
  const TaskGrant* const found = FindGrant(ShardOf(context), task_name);
  const TaskGrant grant = found == nullptr ? TaskGrant{task_name, 0, 0} : *found;
  task.Set("replicas", int64_t{grant.replicas});
  task.Set("minAvailable", int64_t{grant.min_available});
  RenderPartitions(task, grant);
  Value* const pod_template = task.Find("template");
  Value* const pod = pod_template == nullptr ? nullptr : pod_template->Find("spec");
  if (pod == nullptr) {
    return;
  }
  const std::vector<Variable> variables = Environment(context, task_name);
  for (const char* const list : {"containers", "initContainers"}) {
    if (Value* const containers = pod->Find(list); containers != nullptr && containers->IsList()) {
      for (Value& container : containers->AsList()) {
        SetEnvironment(container, variables);
      }
    }
  }
}

// What belongs to the parent's life at the Karmada API, or to those who manage it there.
bool IsOfParent(std::string_view key) {
  constexpr std::array<std::string_view, 6> kPrefixes = {
      kAnnotationPrefix,
      "propagationpolicy.karmada.io/",
      "clusterpropagationpolicy.karmada.io/",
      "resourcetemplate.karmada.io/",
      "work.karmada.io/",
      "kubectl.kubernetes.io/last-applied-configuration"};
  return std::any_of(kPrefixes.begin(), kPrefixes.end(),
                     [&](std::string_view prefix) { return key.starts_with(prefix); });
}

Value Kept(const Value* map) {
  Value kept{Value::Map{}};
  if (map != nullptr && map->IsMap()) {
    for (const Member& member : map->AsMap()) {
      if (!IsOfParent(member.key)) {
        kept.Set(member.key, member.value);
      }
    }
  }
  return kept;
}

void RenderMetadata(Value& metadata, const std::string& work_name, const std::string& work_ns) {
  for (const std::string_view field :
       {"uid", "resourceVersion", "generation", "managedFields", "ownerReferences", "finalizers",
        "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "selfLink",
        "generateName"}) {
    metadata.Erase(field);
  }
  Value labels = Kept(metadata.Find("labels"));
  labels.Set("karmada.io/managed", "true");
  metadata.Set("labels", std::move(labels));
  Value annotations = Kept(metadata.Find("annotations"));
  annotations.Set("work.karmada.io/name", work_name);
  annotations.Set("work.karmada.io/namespace", work_ns);
  metadata.Set("annotations", std::move(annotations));
}

std::string Joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) {
    text += (text.empty() ? "" : ",") + name;
  }
  return text;
}

// The templateSpec that a child is made of; nullptr where the job has none of that name.
const Value* FindTemplate(const Value& job, const std::string& name) {
  const Value* const templates = job.At({"spec", "replicatedJobs"});
  if (templates == nullptr || !templates->IsList()) {
    return nullptr;
  }
  const auto& list = templates->AsList();
  const auto found = std::find_if(
      list.begin(), list.end(), [&](const Value& each) { return TextAt(each, {"name"}) == name; });
  return found == list.end() ? nullptr : found->Find("templateSpec");
}

// The Job that is one child of a HyperJob, named and labelled as Volcano's own controller does it.
Result<Value> ChildJob(const Value& hyper_job, const std::string& child) {
  const std::string wanted = TemplateOf(child);
  const Value* const spec = FindTemplate(hyper_job, wanted);
  if (spec == nullptr) {
    return Fail(ErrorCode::kInvalid, "spec.replicatedJobs has no \"" + Excerpt(wanted) +
                                         "\", which child \"" + Excerpt(child) +
                                         "\" of its placement is made of");
  }
  const Value* const metadata = hyper_job.Find("metadata");
  CALDERA_ASSERT(metadata != nullptr && metadata->IsMap());
  Value own = *metadata;
  const std::string parent = TextAt(own, {"name"});
  own.Set("name", MemberJobName(parent, child));
  Value labels{Value::Map{}};
  if (const Value* const given = own.Find("labels"); given != nullptr && given->IsMap()) {
    labels = *given;
  }
  labels.Set("volcano.sh/hyperjob-name", parent);
  labels.Set("volcano.sh/replicatedjob-name", wanted);
  own.Set("labels", std::move(labels));
  Value job{Value::Map{}};
  job.Set("apiVersion", "batch.volcano.sh/v1alpha1");
  job.Set("kind", "Job");
  job.Set("metadata", std::move(own));
  job.Set("spec", *spec);
  return job;
}

// The Job of the shard before anything of the shard is in it.
Result<Value> JobOf(const Value& defaulted_job, const Shard& shard) {
  if (!shard.child.empty()) {
    return ChildJob(defaulted_job, shard.child);
  }
  if (TextAt(defaulted_job, {"kind"}) == "HyperJob") {
    return Fail(ErrorCode::kInvalid, "its placement in cluster \"" + Excerpt(shard.cluster) +
                                         "\" names no child, as that of a HyperJob has to");
  }
  return defaulted_job;
}

// Of the shard's Job: the parent that it is of.
std::string ParentName(const Value& shard_job, const std::string& child) {
  const std::string name = TextAt(shard_job, {"metadata", "name"});
  return child.empty() ? name : name.substr(0, name.size() - child.size() - 1);
}

}  // namespace

std::string WorkName(const std::string& job_uid, const std::string& child) {
  return "caldera-" + job_uid + (child.empty() ? "" : "-" + child);
}

std::string QueueOfWaves(const std::string& job_uid) { return WorkName(job_uid, ""); }

std::string AtOnceText(const std::vector<TaskGrant>& tasks) {
  const bool waves = std::any_of(tasks.begin(), tasks.end(),
                                 [](const TaskGrant& task) { return task.at_once.has_value(); });
  std::vector<std::string> counts;
  for (const TaskGrant& task : tasks) {
    if (waves) {
      counts.push_back(std::to_string(task.AtOnce()));
    }
  }
  return Joined(counts);
}

std::string ExecutionNamespace(const std::string& cluster) {
  return std::string(kExecutionNamespace) + cluster;
}

Value WorkFinalizers() { return Value::List{Value("karmada.io/execution-controller")}; }

Value RenderManifest(Value object, const std::string& work_name, const std::string& cluster) {
  object.Erase("status");
  Value* const metadata = object.Find("metadata");
  CALDERA_ASSERT(metadata != nullptr && metadata->IsMap());
  RenderMetadata(*metadata, work_name, ExecutionNamespace(cluster));
  return object;
}

Result<Value> RenderShardJob(const Value& defaulted_job, const ShardContext& context) {
  const Shard& shard = ShardOf(context);
  CALDERA_TRY(Value own, JobOf(defaulted_job, shard));
  Value job = RenderManifest(std::move(own), WorkName(context.job_uid, shard.child), shard.cluster);
  Value* const spec = job.Find("spec");
  CALDERA_ASSERT(spec != nullptr && spec->IsMap());
  spec->Set("minAvailable", int64_t{shard.min_available});
  if (shard.InWaves()) {
    spec->Set("queue", QueueOfWaves(context.job_uid));
  }
  if (Value* const tasks = spec->Find("tasks"); tasks != nullptr && tasks->IsList()) {
    for (Value& task : tasks->AsList()) {
      RenderTask(task, context);
    }
  }
  return job;
}

Value RenderWork(const Value& shard_job, const ShardContext& context) {
  const Shard& shard = ShardOf(context);
  const auto annotation = [](std::string_view name) {
    return std::string(kAnnotationPrefix) + std::string(name);
  };
  Value annotations{Value::Map{}};
  annotations.Set(annotation("job"), TextAt(shard_job, {"metadata", "namespace"}) + "/" +
                                         ParentName(shard_job, shard.child));
  annotations.Set(annotation("job-uid"), context.job_uid);
  annotations.Set(annotation("epoch"), std::to_string(shard.epoch));
  annotations.Set(annotation("shard"), std::to_string(context.index));
  annotations.Set(annotation("intent"), std::to_string(context.intent));
  if (context.generation != 0) {
    annotations.Set(annotation("generation"), std::to_string(context.generation));
  }
  if (shard.InWaves()) {
    annotations.Set(annotation("at-once"), AtOnceText(shard.tasks));
  }
  if (!context.digest.empty()) {
    annotations.Set(annotation("digest"), context.digest);
  }
  if (!context.uses.empty()) {
    annotations.Set(annotation("uses"), Joined(context.uses));
  }
  Value metadata{Value::Map{}};
  metadata.Set("name", WorkName(context.job_uid, shard.child));
  metadata.Set("namespace", ExecutionNamespace(shard.cluster));
  metadata.Set("labels", Value::Map{{"app.kubernetes.io/managed-by", "caldera", {}},
                                    {annotation("work"), "shard", {}}});
  metadata.Set("annotations", std::move(annotations));
  metadata.Set("finalizers", WorkFinalizers());
  Value spec{Value::Map{}};
  spec.Set("workload", Value::Map{{"manifests", Value::List{shard_job}, {}}});
  // The shards of a split job are released together, once all of them exist.
  if (context.all_shards.size() > 1) {
    spec.Set("suspendDispatching", true);
  }
  Value work{Value::Map{}};
  work.Set("apiVersion", "work.karmada.io/v1alpha1");
  work.Set("kind", "Work");
  work.Set("metadata", std::move(metadata));
  work.Set("spec", std::move(spec));
  return work;
}

}  // namespace caldera
