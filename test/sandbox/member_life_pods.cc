#include "test/sandbox/member_life_pods.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "test/sandbox/cluster_summary.h"
#include "test/sandbox/object_rules.h"

namespace caldera::sandbox {
namespace {

std::optional<int64_t> NumberMark(const Value& pod, const std::string& name) {
  const std::string text = AnnotationOf(pod, "sandbox.caldera.sh/" + name);
  int64_t number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  return text.empty() || read.ec != std::errc() ? std::nullopt : std::optional<int64_t>(number);
}

std::optional<Millis> SpanMark(const Value& pod, const std::string& name) {
  const Result<Millis> span = ParseDuration(AnnotationOf(pod, "sandbox.caldera.sh/" + name));
  return span ? std::optional<Millis>(*span) : std::nullopt;
}

int64_t RestartsOf(const Value& pod) {
  const Value::List& statuses = ListAt(pod, {"status", "containerStatuses"});
  return statuses.empty() ? 0 : NumberAt(statuses[0], {"restartCount"});
}

int64_t JobRetries(const Value& pod) {
  const std::string text = AnnotationOf(pod, "volcano.sh/job-retry-count");
  int64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

int64_t ExitCodeOf(const Value& pod) {
  const int64_t code = NumberMark(pod, "exit-code").value_or(0);
  const auto index = NumberMark(pod, "fail-index");
  if (index && std::to_string(*index) != LabelOf(pod, "volcano.sh/task-index")) {
    return 0;
  }
  const auto times = NumberMark(pod, "fail-times");
  return times && RestartsOf(pod) + JobRetries(pod) >= *times ? 0 : code;
}

Value Containers(const Value& pod, const Value& state, int64_t restarts) {
  Value::List statuses;
  for (const Value& container : ListAt(pod, {"spec", "containers"})) {
    statuses.push_back(MakeMap({{"name", TextAt(container, {"name"})},
                                {"image", TextAt(container, {"image"})},
                                {"imageID", ""},
                                {"ready", state.Find("running") != nullptr},
                                {"restartCount", restarts},
                                {"state", state}}));
  }
  return statuses;
}

Value RunningStatus(const Value& pod, const std::string& now, int64_t restarts) {
  Value ready = MakeMap({{"type", "Ready"}, {"status", "True"}, {"lastTransitionTime", now}});
  const std::string since = TextAt(pod, {"status", "startTime"});
  return MakeMap(
      {{"phase", "Running"},
       {"startTime", since.empty() ? now : since},
       {"conditions", Value::List{std::move(ready)}},
       {"containerStatuses",
        Containers(pod, MakeMap({{"running", MakeMap({{"startedAt", now}})}}), restarts)}});
}

// Of the run at hand.
std::string StartOf(const Value& pod) {
  const Value::List& statuses = ListAt(pod, {"status", "containerStatuses"});
  const std::string started =
      statuses.empty() ? "" : TextAt(statuses[0], {"state", "running", "startedAt"});
  return started.empty() ? TextAt(pod, {"status", "startTime"}) : started;
}

Value EndedStatus(const Value& pod, const std::string& now, int64_t code) {
  const std::string started = StartOf(pod);
  Value terminated = MakeMap({{"exitCode", code},
                              {"reason", code == 0 ? "Completed" : "Error"},
                              {"startedAt", started},
                              {"finishedAt", now}});
  Value ready = MakeMap({{"type", "Ready"}, {"status", "False"}, {"lastTransitionTime", now}});
  return MakeMap(
      {{"phase", code == 0 ? "Succeeded" : "Failed"},
       {"conditions", Value::List{std::move(ready)}},
       {"containerStatuses",
        Containers(pod, MakeMap({{"terminated", std::move(terminated)}}), RestartsOf(pod))}});
}

}  // namespace

class PodLife::Impl : public std::enable_shared_from_this<PodLife::Impl> {
 public:
  Impl(Client& client, std::optional<Millis> duration)
      : client_(client), executor_(client.executor()), duration_(duration) {}

  void Stop() { stopped_ = true; }

  void OnPod(const ObjectKey& key, const Value* pod) {
    if (pod == nullptr) {
      if (const auto found = runs_.find(key); found != runs_.end()) {
        executor_.Cancel(found->second.timer);
        runs_.erase(found);
      }
      return;
    }
    if (TextAt(*pod, {"spec", "nodeName"}).empty()) {
      return;
    }
    const std::string stage = StageOf(*pod);
    Run& run = runs_[key];
    if (run.stage == stage) {
      return;
    }
    executor_.Cancel(run.timer);
    run = {stage, 0};
    Begin(key, run, *pod);
  }

 private:
  struct Run {
    std::string stage;  ///< What of the pod the timer was set for.
    Executor::TimerId timer = 0;
  };

  static std::string StageOf(const Value& pod) {
    const std::string phase = TextAt(pod, {"status", "phase"});
    return UidOf(pod) + "/" + (IsDeleting(pod) ? "deleting" : phase) + "/" +
           std::to_string(RestartsOf(pod));
  }

  void Begin(const ObjectKey& key, Run& run, const Value& pod) {
    if (IsDeleting(pod)) {
      return After(key, run, SpanMark(pod, "termination").value_or(Millis(0)),
                   [this, key] { Remove(key); });
    }
    const std::string phase = TextAt(pod, {"status", "phase"});
    if (phase.empty() || phase == "Pending") {
      return After(key, run, Millis(0),
                   [this, key, pod] { WriteStatus(key, pod, RunningStatus(pod, Now(), 0)); });
    }
    const std::optional<Millis> duration =
        SpanMark(pod, "duration") ? SpanMark(pod, "duration") : duration_;
    if (phase == "Running" && duration) {
      const Result<Time> started = ParseTime(StartOf(pod));
      const Time end = (started ? *started : executor_.Now()) + *duration;
      const Millis left = std::max(end - executor_.Now(), Millis(0));
      return After(key, run, left, [this, key, pod] { Finish(key, pod); });
    }
  }

  void After(const ObjectKey& key, Run& run, Millis delay, Executor::Step step) {
    run.timer = executor_.PostAfter(
        delay, [self = shared_from_this(), key, stage = run.stage, step = std::move(step)] {
          const auto found = self->runs_.find(key);
          if (!self->stopped_ && found != self->runs_.end() && found->second.stage == stage) {
            step();
          }
        });
  }

  void Finish(const ObjectKey& key, const Value& pod) {
    const int64_t code = ExitCodeOf(pod);
    const std::string policy = TextAt(pod, {"spec", "restartPolicy"});
    if (code != 0 && policy != "Never") {
      return WriteStatus(key, pod, RunningStatus(pod, Now(), RestartsOf(pod) + 1));
    }
    WriteStatus(key, pod, EndedStatus(pod, Now(), code));
  }

  void WriteStatus(const ObjectKey& key, const Value& pod, Value status) {
    client_.Patch(
        {&resource::Pods(), key.ns, key.name}, PatchKind::kMerge,
        MakeMap({{"metadata", MakeMap({{"uid", UidOf(pod)}})}, {"status", std::move(status)}}),
        "status", [self = shared_from_this(), key](const Result<Value>& written) {
          if (!written && written.error().code == ErrorCode::kUnavailable) {
            self->runs_.erase(key);  // The next sight of the pod begins anew.
          }
        });
  }

  void Remove(const ObjectKey& key) {
    HttpRequest request;
    request.method = "DELETE";
    request.path = resource::Pods().Path(key.ns, key.name);
    request.query = {{"gracePeriodSeconds", "0"}};
    client_.Raw(std::move(request), "delete", "Pod", [](const Result<HttpResponse>&) {});
  }

  [[nodiscard]] std::string Now() const { return MetaTime(executor_.Now()); }

  Client& client_;
  Executor& executor_;
  const std::optional<Millis> duration_;
  bool stopped_ = false;
  std::map<ObjectKey, Run> runs_;
};

PodLife::PodLife(Client& client, std::optional<Millis> duration)
    : impl_(std::make_shared<Impl>(client, duration)) {}
PodLife::~PodLife() { impl_->Stop(); }
void PodLife::OnPod(const ObjectKey& key, const Value* pod) { impl_->OnPod(key, pod); }

}  // namespace caldera::sandbox
