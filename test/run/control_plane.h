// A controller in virtual time: the sandbox's API server as Karmada's, what acts there in place of
// Karmada and the members, and everything of the controller but its main. For the tests of the
// dispatcher. A controller can be cut off after any of its writes and another one started.
#pragma once

#include <doctest/doctest.h>

#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "controller/kube/client.h"
#include "controller/kube/json_reader.h"
#include "controller/kube/json_writer.h"
#include "controller/kube/reflector.h"
#include "controller/kube/yaml_reader.h"
#include "controller/run/cycle.h"
#include "controller/run/dispatcher.h"
#include "controller/run/events.h"
#include "controller/run/informers.h"
#include "controller/run/observer.h"
#include "federation/value_at.h"
#include "test/sandbox/api_server.h"
#include "test/sandbox/virtual_time.h"
#include "test/storage/scene.h"

namespace caldera::testing {

/// Hands on to the API server, counts writes by verb and kind, and can stop doing so.
class Wire final : public HttpTransport {
 public:
  explicit Wire(HttpTransport& server) : server_(server) {}

  /// The write number `after` (0 based) and all that follow: `arrives`: it is done, its answer is
  /// lost; else it is lost itself.
  void CutAt(int after, bool arrives) {
    cut_ = after;
    arrives_ = arrives;
  }
  [[nodiscard]] int writes() const { return writes_; }
  [[nodiscard]] bool is_cut() const { return is_cut_; }
  /// `POST works`, `PATCH jobs/status` ...
  std::map<std::string, int> counts;
  std::string refused;                     ///< Writes of this name are refused.
  std::string forbidden;                   ///< Requests to paths with this in it get 403.
  std::map<std::string, int> claim_reads;  ///< In members, by path.

  void Send(HttpRequest request, ResponseHandler done) override {
    if (is_cut_) {
      return;
    }
    if (!forbidden.empty() && request.path.find(forbidden) != std::string::npos) {
      HttpResponse response;
      response.status = 403;
      return done(std::move(response));
    }
    if (request.path.find("/proxy/") != std::string::npos &&
        request.path.find("/persistentvolumeclaims/") != std::string::npos) {
      ++claim_reads[request.path];
    }
    if (request.method != "GET") {
      ++counts[Name(request)];
      if (writes_++ == cut_) {
        is_cut_ = true;
        if (arrives_) {
          server_.Send(std::move(request), [](const Result<HttpResponse>& /*lost*/) {});
        }
        return;
      }
      if (Name(request) == refused) {
        HttpResponse response;
        response.status = 422;
        return done(std::move(response));
      }
    }
    server_.Send(std::move(request), std::move(done));
  }
  StreamId OpenStream(HttpRequest request, StreamHandlers handlers) override {
    return server_.OpenStream(std::move(request), std::move(handlers));
  }
  void CloseStream(StreamId stream) override { server_.CloseStream(stream); }

 private:
  static std::string Name(const HttpRequest& request) {
    for (const std::string_view plural :
         {"works", "jobs", "hyperjobs", "queues", "events", "secrets", "configmaps"}) {
      const size_t at = request.path.find("/" + std::string(plural));
      if (at != std::string::npos) {
        const bool status = request.path.ends_with("/status");
        return request.method + " " + std::string(plural) + (status ? "/status" : "");
      }
    }
    return request.method + " " + request.path;
  }

  HttpTransport& server_;
  int writes_ = 0;
  int cut_ = std::numeric_limits<int>::max();
  bool arrives_ = false;
  bool is_cut_ = false;
};

/// What the controller consists of, over one ledger.
class Controller {
 public:
  Controller(HttpTransport& server, Executor& executor, const std::string& ledger,
             DispatcherOptions options = {})
      : wire(server),
        executor_(executor),
        client_(wire, executor, ClientOptions()),
        ledger_(Must(Ledger::Open(ledger))),
        cycle_(Must(Cycle::Start(ledger_))),
        observer(cycle_.state(), ObserverOptions()),
        events_(client_, Events(options)),
        alive_(std::make_shared<bool>(true)) {
    options.on_learnt = [this] { Wake(); };
    options.on_error = [this](const std::string& uid, const Error& error) {
      errors.push_back(uid + ": " + error.message);
    };
    dispatcher_ = std::make_unique<Dispatcher>(client_, cycle_.state(), observer, events_, options);
    for (const ResourceType* const type :
         {&resource::Queues(), &resource::Clusters(), &resource::PriorityClasses(),
          &resource::Namespaces(), &resource::Jobs(), &resource::HyperJobs(), &resource::Works()}) {
      Watch(*type);
    }
    for (const auto& reflector : reflectors_) {
      reflector->Start();
    }
  }
  ~Controller() {
    *alive_ = false;
    dispatcher_->Stop();
    events_.Stop();
  }
  Controller(const Controller&) = delete;
  Controller& operator=(const Controller&) = delete;

  void SetSuspended(const std::string& uid, const std::string& action, const std::string& job,
                    const ResourceType& type = resource::Jobs()) {
    observer.UpsertCommand(
        *ParseJson(R"({"apiVersion":"bus.volcano.sh/v1alpha1","kind":"Command","metadata":)"
                   R"({"name":")" +
                   action + R"(","namespace":"team-a","uid":"cmd-)" + action + R"("},"action":")" +
                   action + R"(","target":{"apiVersion":")" + type.ApiVersion() + R"(","kind":")" +
                   type.kind + R"(","name":")" + job + R"(","uid":")" + uid + R"("}})"),
        executor_.Now());
    Wake();
  }
  [[nodiscard]] const State& state() const { return cycle_.state(); }

  Wire wire;
  std::vector<std::string> errors;

 private:
  static EventOptions Events(const DispatcherOptions& options) {
    EventOptions events;
    events.observe = options.observe;
    return events;
  }

  void Watch(const ResourceType& type) {
    ReflectorOptions options;
    options.type = type;
    ReflectorHandlers handlers;
    const bool works = type.kind == "Work";
    options.label_selector = works ? std::string(kManagedBySelector) : "";
    handlers.on_upsert = [this, works, type](Value&& object) {
      object.Set("apiVersion", type.ApiVersion());
      object.Set("kind", type.kind);
      if (works) {
        observer.UpsertWork(object, executor_.Now());
      } else {
        observer.Upsert(std::move(object), executor_.Now());
      }
      Wake();
    };
    handlers.on_delete = [this, kind = type.kind](const std::string& ns, const std::string& name,
                                                  const std::string& uid) {
      observer.Delete(kind, ns, name, uid, executor_.Now());
      Wake();
    };
    handlers.on_synced = [this] { Wake(); };
    handlers.on_error = [](const Error& /*why*/) {};
    reflectors_.push_back(
        std::make_unique<Reflector>(client_, std::move(options), std::move(handlers)));
  }

  void Wake() {
    if (!std::exchange(woken_, true)) {
      executor_.Post([this, alive = alive_] {
        if (*alive) {
          woken_ = false;
          Cycle();
        }
      });
    }
  }

  void Cycle() {
    for (const auto& reflector : reflectors_) {
      if (!reflector->Synced()) {
        return;
      }
    }
    if (wire.is_cut()) {
      return;  // A process that is gone decides nothing.
    }
    const bool first = !std::exchange(listed_, true);
    std::vector<Change> changes =
        first ? observer.TakeRelist(executor_.Now()) : observer.TakeChanges(executor_.Now());
    const bool any = !changes.empty();
    cycle_.Observe(std::move(changes));
    if (any) {
      CycleOutcome outcome = Must(cycle_.Decide());
      for (const Action& action : outcome.plan.actions) {
        dispatcher_->Look(action.uid);
      }
      dispatcher_->AfterCycle(std::move(outcome.pending));
    }
    for (const std::string& uid : observer.TakeDirtyJobs()) {
      dispatcher_->Look(uid);
    }
    dispatcher_->LookAtCarriers(observer.TakeDirtyCarriers());
    if (first) {
      dispatcher_->LookAll();
    }
    if (const Time due = observer.NextDue(); due != Time()) {
      executor_.Cancel(timer_);
      timer_ = executor_.PostAt(std::max(due, executor_.Now() + Millis(1)), [this, alive = alive_] {
        if (*alive) {
          Cycle();
        }
      });
    }
  }

  Executor& executor_;
  Client client_;
  Ledger ledger_;
  caldera::Cycle cycle_;

 public:
  Observer observer;

 private:
  EventRecorder events_;
  std::unique_ptr<Dispatcher> dispatcher_;
  std::vector<std::unique_ptr<Reflector>> reflectors_;
  std::shared_ptr<bool> alive_;
  bool woken_ = false;
  bool listed_ = false;
  Executor::TimerId timer_ = 0;
};

/// The API server with what stands behind it.
class ControlPlane : public sandbox::VirtualTime {
 public:
  ControlPlane() : server(executor, Options()), client_(server, executor, ClientOptions()) {
    for (const std::string name : {"team-a", "karmada-es-east", "karmada-es-west"}) {
      Create("/api/v1/namespaces", R"({"metadata":{"name":")" + name + R"("}})");
    }
    ReflectorOptions options;
    options.type = resource::Works();
    ReflectorHandlers handlers;
    handlers.on_upsert = [this](Value&& work) { Act(work); };
    handlers.on_delete = [](const std::string& /*ns*/, const std::string& /*name*/,
                            const std::string& /*uid*/) {};
    handlers.on_synced = [] {};
    handlers.on_error = [](const Error& /*why*/) {};
    karmada_ = std::make_unique<Reflector>(client_, std::move(options), std::move(handlers));
    karmada_->Start();
    Settle();
  }

  static sandbox::ApiServerOptions Options() {
    sandbox::ApiServerOptions options;
    options.name = "karmada";
    options.types = {resource::Queues(),      resource::Jobs(),     resource::HyperJobs(),
                     resource::Commands(),    resource::Clusters(), resource::Works(),
                     resource::TenantQuotas()};
    return options;
  }

  HttpResponse Ask(const std::string& method, const std::string& path, const std::string& body = "",
                   const std::string& type = "application/json") {
    return Do(server, method, path, body, type);
  }
  Value Create(const std::string& path, const std::string& body) {
    return VirtualTime::Create(server, path, body);
  }
  Value Merge(const std::string& path, const std::string& patch) {
    return VirtualTime::Merge(server, path, patch);
  }
  /// Null where it is not there.
  Value Get(const std::string& path) { return VirtualTime::Get(server, path); }
  std::vector<Value> List(const std::string& path) {
    Value list = Get(path);
    Value* const items = list.Find("items");
    REQUIRE(items != nullptr);
    return items->IsList() ? items->AsList() : std::vector<Value>();
  }

  /// `cpus` on each cluster named, and queue gold.
  void Fleet(const std::vector<std::string>& clusters, const std::string& cpus = "8") {
    for (const std::string& name : clusters) {
      Create(
          "/apis/cluster.karmada.io/v1alpha1/clusters",
          R"({"apiVersion":"cluster.karmada.io/v1alpha1","kind":"Cluster","metadata":{"name":")" +
              name + R"("}})");
      Merge("/apis/cluster.karmada.io/v1alpha1/clusters/" + name + "/status",
            R"({"status":{"conditions":[{"type":"Ready","status":"True",)"
            R"("lastTransitionTime":"2026-01-01T00:00:00Z"}],"resourceSummary":)"
            R"({"allocatable":{"cpu":")" +
                cpus + R"(","pods":"100"}}}})");
    }
    Create(kQueues, R"({"apiVersion":"scheduling.volcano.sh/v1beta1","kind":"Queue",)"
                    R"("metadata":{"name":"gold"},"spec":{"weight":3}})");
  }
  /// A Job of `pods` one-CPU pods; `pod` is more of the pod's spec, `spec` of the Job's. Returns
  /// its uid.
  std::string Submit(const std::string& name, int pods, const std::string& pod = "",
                     const std::string& spec = "") {
    const std::string count = std::to_string(pods);
    const Value job = Create(
        kJobs, R"({"apiVersion":"batch.volcano.sh/v1alpha1","kind":"Job","metadata":{"name":")" +
                   name + R"(","namespace":"team-a"},"spec":{"queue":"gold","minAvailable":)" +
                   count + spec + R"(,"tasks":[{"name":"worker","replicas":)" + count +
                   R"(,"template":{"spec":{"containers":[{"name":"c","image":"i","resources":)"
                   R"({"requests":{"cpu":"1"}}}])" +
                   pod + "}}}]}}");
    return TextAt(job, {"metadata", "uid"});
  }
  Value Job(const std::string& name) { return Get(kJobs + "/" + name); }
  std::string Phase(const std::string& name) {
    return TextAt(Job(name), {"status", "state", "phase"});
  }
  std::vector<std::string> Works() {
    std::vector<std::string> names;
    for (const Value& work : List("/apis/work.karmada.io/v1alpha1/works")) {
      names.push_back(TextAt(work, {"metadata", "namespace"}) + "/" +
                      TextAt(work, {"metadata", "name"}));
    }
    return names;
  }
  Value Work(const std::string& cluster, const std::string& name) {
    return Get("/apis/work.karmada.io/v1alpha1/namespaces/karmada-es-" + cluster + "/works/" +
               name);
  }
  void Report(const std::string& cluster, const std::string& name, const std::string& status) {
    Merge("/apis/work.karmada.io/v1alpha1/namespaces/karmada-es-" + cluster + "/works/" + name +
              "/status",
          status);
  }
  /// Reasons of the Events, in the order of their creation.
  std::multiset<std::string> Reasons() {
    std::multiset<std::string> reasons;
    for (const Value& event : List("/api/v1/namespaces/team-a/events")) {
      reasons.insert(TextAt(event, {"reason"}));
    }
    return reasons;
  }

  inline static const std::string kJobs = "/apis/batch.volcano.sh/v1alpha1/namespaces/team-a/jobs";
  inline static const std::string kHyperJobs =
      "/apis/training.volcano.sh/v1alpha1/namespaces/team-a/hyperjobs";
  inline static const std::string kQueues = "/apis/scheduling.volcano.sh/v1beta1/queues";

  sandbox::ApiServer server;
  TempDir directory;
  std::string ledger = directory.File("ledger.db");

  /// Clusters in which the Job's name is taken already.
  std::set<std::string> taken;
  bool let_go = true;                  ///< Karmada lets a deleted Work go at once.
  bool runs = true;                    ///< Members start what they get after 300 ms.
  std::optional<Millis> takes_time;    ///< And it completes after so long.
  std::map<std::string, int> started;  ///< Shards by Work, how often a Job was made there.

 private:
  // What Karmada and Volcano would do about a Work, as far as these tests need it.
  void Act(const Value& work) {
    const std::string ns = TextAt(work, {"metadata", "namespace"});
    const std::string name = TextAt(work, {"metadata", "name"});
    const std::string uid = TextAt(work, {"metadata", "uid"});
    const Value* const suspended = work.At({"spec", "suspendDispatching"});
    if (!TextAt(work, {"metadata", "deletionTimestamp"}).empty()) {
      if (!let_go) {
        return;
      }
      // Its object in the member is deleted: Karmada lets the Work go.
      client_.Patch({&resource::Works(), ns, name}, PatchKind::kMerge,
                    *ParseJson(R"({"metadata":{"finalizers":null}})"), "",
                    [](const Result<Value>& /*patched*/) {});
      return;
    }
    if ((suspended != nullptr && suspended->IsBool() && suspended->AsBool()) ||
        !acted_.insert(uid).second) {
      return;
    }
    const bool shard =
        TextAt(work, {"metadata", "labels", "federation.caldera.sh/work"}) == "shard";
    if (shard && taken.contains(ns.substr(11))) {
      PatchStatus(ns, name, Millis(200),
                  R"({"status":{"conditions":[{"type":"Applied","status":"False",)"
                  R"("message":"jobs.batch.volcano.sh \"x\" already exists"}]}})");
      return;
    }
    const std::string applied = R"("conditions":[{"type":"Applied","status":"True","message":""}])";
    PatchStatus(ns, name, Millis(200), R"({"status":{)" + applied + "}}");
    if (!shard || !runs) {
      return;
    }
    ++started[ns + "/" + name];
    PatchStatus(ns, name, Millis(300), ReportOf("Pending", R"("pending":2,)"));
    PatchStatus(ns, name, Millis(600),
                ReportOf("Running", R"("running":2,"taskStatusCount":)"
                                    R"({"worker":{"phase":{"Running":2}}},)"));
    if (takes_time) {
      PatchStatus(ns, name, *takes_time, ReportOf("Completed", ""));
    }
  }
  [[nodiscard]] static std::string ReportOf(const std::string& phase, const std::string& counters) {
    return R"({"status":{"manifestStatuses":[{"identifier":{"kind":"Job"},"status":{)" + counters +
           R"("minAvailable":2,"version":1,"state":{"phase":")" + phase +
           R"(","lastTransitionTime":"2026-12-01T08:00:10Z"}}}]}})";
  }
  void PatchStatus(const std::string& ns, const std::string& name, Millis after,
                   const std::string& status) {
    executor.PostAfter(after, [this, ns, name, status] {
      client_.Patch({&resource::Works(), ns, name}, PatchKind::kMerge, *ParseJson(status), "status",
                    [](const Result<Value>& /*patched*/) {});
    });
  }

  Client client_;
  std::unique_ptr<Reflector> karmada_;
  std::set<std::string> acted_;
};

}  // namespace caldera::testing
