#include "test/sandbox/member_admission.h"

#include <utility>

#include "federation/intake.h"

namespace caldera::sandbox {
namespace {

Status Deny(const std::string& message) {
  return Fail(ErrorCode::kInvalid,
              "admission webhook \"validatejob.volcano.sh\" denied the request: " + message);
}

Status CheckQueue(const std::string& name, const Mirror& queues) {
  const Value* const queue = queues.Find({"", name});
  if (queue == nullptr) {
    return Deny("unable to find job queue: queue.scheduling.volcano.sh \"" + name + "\" not found");
  }
  const std::string state = TextAt(*queue, {"status", "state"});
  if (state != "Open") {
    return Deny("can only submit job to queue with state `Open`, queue `" + name + "` status is `" +
                state + "`");
  }
  if (name == "root") {
    return Deny("can not submit job to root queue");
  }
  return {};
}

Status AdmitNew(Value& job, const Mirror& queues, Time now) {
  Intake intake = TakeObject({"", 0, job}, Strictness::kNew, now);
  if (!intake.errors.empty()) {
    const Issue& first = intake.errors.front();
    return Deny(first.field + ": " + first.message);
  }
  CALDERA_CHECK(CheckQueue(TextAt(intake.defaulted, {"spec", "queue"}), queues));
  job = std::move(intake.defaulted);
  return {};
}

// What an update may change is taken from the old spec; the rest must be the same.
Status AdmitUpdate(const Value& before, const Value& job) {
  const Value* const old = before.Find("spec");
  const Value* const wished = job.Find("spec");
  if (old == nullptr || wished == nullptr || *old == *wished) {
    return {};
  }
  const Value::List& old_tasks = ListAt(*old, {"tasks"});
  Value same = *wished;
  if (ListAt(same, {"tasks"}).size() != old_tasks.size()) {
    return Deny("job updates may not add or remove tasks");
  }
  const auto restore = [](Value& into, const Value& from, std::string_view field) {
    into.Erase(field);
    if (const Value* const value = from.Find(field)) {
      into.Set(field, *value);
    }
  };
  restore(same, *old, "minAvailable");
  restore(same, *old, "priorityClassName");
  int64_t replicas = 0;
  for (size_t i = 0; i < old_tasks.size(); ++i) {
    Value& task = same.Find("tasks")->AsList()[i];
    const int64_t wanted = NumberAt(task, {"replicas"});
    if (NumberAt(task, {"minAvailable"}) > wanted) {
      return Deny("'minAvailable' must be <= 'replicas' in task: " + TextAt(task, {"name"}));
    }
    replicas += wanted;
    restore(task, old_tasks[i], "replicas");
    restore(task, old_tasks[i], "minAvailable");
  }
  if (NumberAt(*wished, {"minAvailable"}) > replicas) {
    return Deny("job 'minAvailable' must not be greater than total replicas");
  }
  if (!(same == *old)) {
    return Deny(
        "job updates may not change fields other than `minAvailable`, `tasks[*].replicas under "
        "spec` and `PriorityClassName`");
  }
  return {};
}

}  // namespace

Status AdmitAsVolcano(const ResourceType& type, const Value* before, Value& object,
                      const Mirror& queues, Time now) {
  if (type.Path("") != resource::Jobs().Path("")) {
    return {};
  }
  return before == nullptr ? AdmitNew(object, queues, now) : AdmitUpdate(*before, object);
}

}  // namespace caldera::sandbox
