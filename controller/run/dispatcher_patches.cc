#include "controller/run/dispatcher_patches.h"

#include <algorithm>
#include <utility>

#include "federation/intake.h"
#include "federation/render.h"

namespace caldera {
namespace {

std::string Annotation(std::string_view name) {
  return std::string(kAnnotationPrefix) + std::string(name);
}

Value Metadata(const std::string& uid) { return Value::Map{{"uid", uid, {}}}; }

Value AllFinalizers(const std::vector<std::string>& others) {
  Value all = WorkFinalizers();
  for (const std::string& other : others) {
    all.AsList().emplace_back(other);
  }
  return all;
}

void TakeField(Value& into, const Value& from, std::string_view key) {
  if (const Value* const value = from.Find(key); value != nullptr && !value->IsNull()) {
    into.Set(key, *value);
  } else {
    into.Erase(key);
  }
}

Value* TasksOf(Value& job) {
  Value* const spec = job.Find("spec");
  Value* const tasks = spec == nullptr ? nullptr : spec->Find("tasks");
  return tasks != nullptr && tasks->IsList() ? tasks : nullptr;
}

const Value* FindTask(const Value& job, const Value* name) {
  const Value* const tasks = job.At({"spec", "tasks"});
  if (tasks == nullptr || !tasks->IsList() || name == nullptr) {
    return nullptr;
  }
  for (const Value& task : tasks->AsList()) {
    if (const Value* const own = task.Find("name"); own != nullptr && *own == *name) {
      return &task;
    }
  }
  return nullptr;
}

void EraseOurVariables(Value& container) {
  Value* const env = container.Find("env");
  if (env == nullptr || !env->IsList()) {
    return;
  }
  std::erase_if(env->AsList(), [](const Value& variable) {
    const Value* const name = variable.Find("name");
    return name != nullptr && name->IsString() && name->AsString().starts_with("CALDERA_");
  });
}

// The spec without what may differ.
Value Fixed(const Value& job) {
  Value copy = job;
  Value* const spec = copy.Find("spec");
  if (spec == nullptr || !spec->IsMap()) {
    return {};
  }
  spec->Erase("minAvailable");
  spec->Erase("priorityClassName");
  // Karmada's webhook takes it out of whatever is called a Job.
  spec->Erase("ttlSecondsAfterFinished");
  if (Value* const tasks = TasksOf(copy); tasks != nullptr) {
    for (Value& task : tasks->AsList()) {
      task.Erase("replicas");
      task.Erase("minAvailable");
      Value* const pod_template = task.Find("template");
      Value* const pod = pod_template == nullptr ? nullptr : pod_template->Find("spec");
      for (const std::string_view list : {"containers", "initContainers"}) {
        Value* const containers = pod == nullptr ? nullptr : pod->Find(list);
        if (containers != nullptr && containers->IsList()) {
          std::for_each(containers->AsList().begin(), containers->AsList().end(),
                        EraseOurVariables);
        }
      }
    }
  }
  return *spec;
}

}  // namespace

ObjectRef ParentRef(const JobKey& key, JobKind kind) {
  return {kind == JobKind::kJob ? &resource::Jobs() : &resource::HyperJobs(), key.ns, key.name};
}

Value ParentPatch(const std::string& uid, const std::optional<std::string>& text) {
  Value metadata = Metadata(uid);
  metadata.Set("labels", Value::Map{{std::string(kClaimedByLabel), std::string(kClaimedByUs), {}}});
  if (text.has_value()) {
    metadata.Set("annotations",
                 Value::Map{{Annotation("placement"), text->empty() ? Value() : Value(*text), {}}});
  }
  return Value::Map{{"metadata", std::move(metadata), {}}};
}

Value SuspendPatch(const std::string& uid, bool suspend) {
  return Value::Map{{"metadata", Metadata(uid), {}},
                    {"spec", Value::Map{{"suspendDispatching", suspend, {}}}, {}}};
}

Value WithAllowed(const Value& there, const Value& wanted) {
  Value job = there;
  Value* const spec = job.Find("spec");
  const Value* const from = wanted.Find("spec");
  if (spec == nullptr || !spec->IsMap() || from == nullptr) {
    return job;
  }
  TakeField(*spec, *from, "minAvailable");
  TakeField(*spec, *from, "priorityClassName");
  if (Value* const tasks = TasksOf(job); tasks != nullptr) {
    for (Value& task : tasks->AsList()) {
      if (const Value* const other = FindTask(wanted, task.Find("name")); other != nullptr) {
        TakeField(task, *other, "replicas");
        TakeField(task, *other, "minAvailable");
      }
    }
  }
  return job;
}

bool SameButAllowed(const Value& there, const Value& wanted) {
  return Fixed(there) == Fixed(wanted);
}

Value HoldPatch(const std::string& uid, const std::vector<std::string>& other_finalizers) {
  Value metadata = Metadata(uid);
  metadata.Set("finalizers", AllFinalizers(other_finalizers));
  return Value::Map{{"metadata", std::move(metadata), {}},
                    {"spec", Value::Map{{"preserveResourcesOnDeletion", Value(), {}}}, {}}};
}

Value MetadataPatch(const std::string& uid, const Value& wanted,
                    const std::vector<std::string>& other_finalizers) {
  Value patch = HoldPatch(uid, other_finalizers);
  for (const std::string_view field : {"labels", "annotations"}) {
    patch.Find("metadata")->Set(field, *wanted.At({"metadata", field}));
  }
  return patch;
}

Value ToPatch(const ManifestPatch& patch) {
  Value annotations{Value::Map{}};
  annotations.Set(Annotation("digest"), patch.digest);
  if (patch.intent != 0) {
    annotations.Set(Annotation("intent"), std::to_string(patch.intent));
  }
  if (patch.generation != 0) {
    annotations.Set(Annotation("generation"), std::to_string(patch.generation));
  }
  if (!patch.at_once.empty()) {
    annotations.Set(Annotation("at-once"), patch.at_once);
  }
  Value metadata = Metadata(patch.uid);
  metadata.Set("annotations", std::move(annotations));
  return Value::Map{
      {"metadata", std::move(metadata), {}},
      {"spec",
       Value::Map{{"workload", Value::Map{{"manifests", Value::List{patch.manifest}, {}}}, {}}},
       {}}};
}

}  // namespace caldera
