#include "test/sandbox/member_life.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "controller/kube/json_writer.h"
#include "test/sandbox/cluster_summary.h"
#include "test/sandbox/member_admission.h"
#include "test/sandbox/member_life_jobs.h"
#include "test/sandbox/member_life_pods.h"
#include "test/sandbox/member_life_queues.h"
#include "test/sandbox/member_life_turn.h"
#include "test/sandbox/served_kinds.h"

namespace caldera::sandbox {
namespace {

ClientOptions AsFastAsItGoes() {
  ClientOptions options;
  options.requests_per_second = 5'000;
  options.burst = 10'000;
  options.in_flight = 32;
  return options;
}

}  // namespace

class MemberLife::Impl : public std::enable_shared_from_this<MemberLife::Impl> {
 public:
  Impl(HttpTransport& member, Executor& executor, MemberLifeOptions options)
      : executor_(executor),
        options_(options),
        client_(member, executor, AsFastAsItGoes()),
        queues_(client_, resource::Queues(), Touch()),
        nodes_(client_, resource::Nodes(), Touch()),
        hyper_nodes_(client_, resource::HyperNodes(), Touch()),
        priorities_(client_, resource::PriorityClasses(), Touch()),
        jobs_(client_, resource::Jobs(),
              [this](const ObjectKey& key, const Value*, const Value*) {
                job_life_.OnJob(key);
                ScheduleSoon();
              }),
        pod_groups_(
            client_, PodGroups(),
            [this](const ObjectKey&, const Value* before, const Value* after) {
              job_life_.OnPodGroup(after == nullptr ? *before : *after);
              ScheduleSoon();
            },
            [this] { LookAtAll(); }),
        pods_(
            client_, resource::Pods(),
            [this](const ObjectKey& key, const Value* before, const Value* after) {
              OnPod(key, before, after);
            },
            [this] { LookAtAll(); }),
        commands_(client_, resource::Commands(),
                  [this](const ObjectKey& key, const Value*, const Value* after) {
                    if (after != nullptr) {
                      Obey(key, *after);
                    }
                  }),
        job_life_(client_, {&jobs_, &pods_, &pod_groups_}),
        pod_life_(client_, options.duration),
        queue_life_(client_) {}

  void Start() {
    queue_life_.CreateOwn();
    for (Mirror* const mirror : {&queues_, &nodes_, &priorities_, &hyper_nodes_, &jobs_,
                                 &pod_groups_, &pods_, &commands_}) {
      mirror->Start();
    }
  }

  [[nodiscard]] const Mirror& queues() const { return queues_; }
  [[nodiscard]] Time Now() const { return executor_.Now(); }

 private:
  Mirror::ChangeHandler Touch() {
    return [this](const ObjectKey&, const Value*, const Value*) { ScheduleSoon(); };
  }

  // Jobs wait until the pods and PodGroups that are there have been seen.
  void LookAtAll() {
    for (const auto& [key, job] : jobs_.objects()) {
      job_life_.OnJob(key);
    }
  }

  void OnPod(const ObjectKey& key, const Value* before, const Value* after) {
    job_life_.OnPod(before, after);
    if (options_.kubelets) {
      pod_life_.OnPod(key, after);
    }
    const bool bound = after != nullptr && !TextAt(*after, {"spec", "nodeName"}).empty();
    if (bound || after == nullptr) {
      assumed_.erase(key);
    }
    ScheduleSoon();
  }

  void Obey(const ObjectKey& key, const Value& command) {
    const std::string kind = TextAt(command, {"target", "kind"});
    const std::string name = TextAt(command, {"target", "name"});
    const std::string action = TextAt(command, {"action"});
    client_.Delete(
        {&resource::Commands(), key.ns, key.name}, {UidOf(command), "", "Background"},
        [self = shared_from_this(), ns = key.ns, kind, name, action](const Status& deleted) {
          if (!deleted) {
            return;  // Seen again, or obeyed already.
          }
          if (kind == "Queue") {
            self->queue_life_.Obey(self->queues_, name, action);
          } else {
            self->job_life_.Request({ns, name}, {action, {}});
          }
        });
  }

  // ---- scheduling

  void ScheduleSoon() {
    if (!scheduled_) {
      scheduled_ = true;
      executor_.PostAfter(options_.schedule_after, [self = std::weak_ptr<Impl>(weak_from_this())] {
        if (const auto alive = self.lock()) {
          alive->scheduled_ = false;
          alive->Schedule();
        }
      });
    }
  }

  void Schedule() {
    if (!queues_.Synced() || !nodes_.Synced() || !pods_.Synced() || !pod_groups_.Synced() ||
        !priorities_.Synced()) {
      return;
    }
    MemberTurn turn({&queues_, &nodes_, &hyper_nodes_, &priorities_, &jobs_, &pod_groups_, &pods_},
                    job_life_, assumed_, executor_.Now());
    for (const Binding& binding : turn.Decide()) {
      Bind(binding);
    }
    for (const auto& [key, status] : turn.group_statuses()) {
      WriteGroup(key, status);
    }
    queue_life_.Write(queues_, turn.queue_statuses());
  }

  void Bind(const Binding& binding) {
    assumed_[binding.pod] = binding.node;
    HttpRequest request;
    request.method = "POST";
    request.path = resource::Pods().Path(binding.pod.ns, binding.pod.name, "binding");
    request.headers["content-type"] = "application/json";
    request.body = WriteJson(MakeMap(
        {{"apiVersion", "v1"},
         {"kind", "Binding"},
         {"metadata", MakeMap({{"name", binding.pod.name}, {"namespace", binding.pod.ns}})},
         {"target", MakeMap({{"apiVersion", "v1"}, {"kind", "Node"}, {"name", binding.node}})}}));
    client_.Raw(std::move(request), "create", "Binding",
                [self = std::weak_ptr<Impl>(weak_from_this()),
                 pod = binding.pod](const Result<HttpResponse>& response) {
                  const auto alive = self.lock();
                  if (alive && (!response || response->status / 100 != 2)) {
                    alive->assumed_.erase(pod);
                    alive->ScheduleSoon();
                  }
                });
  }

  void WriteGroup(const ObjectKey& key, const Value& status) {
    const Value* const group = pod_groups_.Find(key);
    const Value* const there = group == nullptr ? nullptr : group->Find("status");
    const Value none{Value::Map{}};
    auto change = MergeDiff(there == nullptr ? none : *there, status);
    if (group == nullptr || !change || IsDeleting(*group)) {
      return;
    }
    client_.Patch({&PodGroups(), key.ns, key.name}, PatchKind::kMerge,
                  MakeMap({{"status", *std::move(change)}}), "", [](const Result<Value>&) {});
  }

  Executor& executor_;
  const MemberLifeOptions options_;
  Client client_;
  Mirror queues_;
  Mirror nodes_;
  Mirror hyper_nodes_;
  Mirror priorities_;
  Mirror jobs_;
  Mirror pod_groups_;
  Mirror pods_;
  Mirror commands_;
  JobLife job_life_;
  PodLife pod_life_;
  QueueLife queue_life_;
  std::map<ObjectKey, std::string> assumed_;  ///< Bindings that no watch has shown yet.
  bool scheduled_ = false;
};

MemberLife::MemberLife(HttpTransport& member, Executor& executor, MemberLifeOptions options)
    : impl_(std::make_shared<Impl>(member, executor, options)) {}
MemberLife::~MemberLife() = default;
void MemberLife::Start() { impl_->Start(); }

ApiServer::Admission MemberLife::Admission() const {
  return [impl = impl_.get()](const ResourceType& type, const Value* before, Value& object) {
    return AdmitAsVolcano(type, before, object, impl->queues(), impl->Now());
  };
}

}  // namespace caldera::sandbox
