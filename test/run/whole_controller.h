// The whole controller in virtual time on one thread: informers, cycle, ledger, dispatcher, leader
// election, over a Karmada API, what Karmada does with Works, and two members that run Jobs.
#pragma once

#include <doctest/doctest.h>

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "controller/kube/json_reader.h"
#include "controller/run/controller.h"
#include "controller/run/informers.h"
#include "controller/run/log.h"
#include "storage/database.h"
#include "storage/ledger.h"
#include "test/sandbox/api_server.h"
#include "test/sandbox/member_life.h"
#include "test/sandbox/served_kinds.h"
#include "test/sandbox/tree.h"
#include "test/sandbox/virtual_time.h"
#include "test/sandbox/work_executor.h"
#include "test/storage/scene.h"

namespace caldera::testing {

inline constexpr Millis kSoon{3'000};
inline constexpr Millis kRun{40'000};  ///< How long each pod runs.
inline const std::string kQuotas =
    "/apis/policy.karmada.io/v1alpha1/namespaces/team-a/federatedresourcequotas";
inline const std::string kJobs = "/apis/batch.volcano.sh/v1alpha1/namespaces/team-a/jobs";

/// A process with the controller in it; gone without a word when it is destroyed.
struct Replica {
  Replica(Executor& executor, HttpTransport& karmada, const std::string& ledger_file,
          const std::string& identity, ControllerConfig config)
      : ledger(Must(Ledger::Open(ledger_file, Impatient()))) {
    config.log.level = "off";
    StartLog(config.log);
    config.leader.identity = identity;
    controller =
        Must(caldera::Controller::Create(config, {executor, karmada, ledger, metrics}, [] {}));
    controller->Start();
  }
  static LedgerOptions Impatient() {
    LedgerOptions options;
    options.busy_timeout = Millis(0);
    return options;
  }
  Ledger ledger;
  Metrics metrics;
  std::unique_ptr<caldera::Controller> controller;
};

/// Members east and west with two nodes of 4 cpu each, and queue gold.
class Federation : public sandbox::VirtualTime {
 public:
  Federation() {
    for (const auto& [name, member] : Members()) {
      karmada.AddMember(name, *member);
      works_.AddMember(name, *member);
      for (const std::string node : {"n1", "n2"}) {
        Create(*member, "/api/v1/nodes",
               R"({"metadata":{"name":")" + node +
                   R"("},"status":{"allocatable":{"cpu":"4","pods":"110"},)" +
                   R"("conditions":[{"type":"Ready","status":"True"}]}})");
      }
    }
    for (auto* const life : {&east_life_, &west_life_}) {
      life->Start();
    }
    works_.Start();
    for (const std::string name : {"team-a", "caldera-system"}) {
      Create(karmada, "/api/v1/namespaces", R"({"metadata":{"name":")" + name + R"("}})");
    }
    for (const auto& [name, member] : Members()) {
      Create(karmada, "/apis/cluster.karmada.io/v1alpha1/clusters",
             R"({"metadata":{"name":")" + name + R"("},"spec":{"syncMode":"Push"}})");
    }
    Create(karmada, "/apis/scheduling.volcano.sh/v1beta1/queues",
           R"({"metadata":{"name":"gold"},"spec":{"weight":1}})");
    Advance(Millis(20'000));
  }

  std::vector<std::pair<std::string, sandbox::ApiServer*>> Members() {
    return {{"east", &east}, {"west", &west}};
  }
  std::unique_ptr<Replica> StartReplica(const std::string& identity = "one",
                                        const std::string& ledger = "ledger.db",
                                        const ControllerConfig& config = {}) {
    auto replica =
        std::make_unique<Replica>(executor, karmada, directory.File(ledger), identity, config);
    Advance(kSoon);
    return replica;
  }

  /// Of one-cpu pods; `pod` is more of their spec.
  void Submit(const std::string& name, int pods, const std::string& queue = "gold",
              const std::string& pod = "") {
    const std::string count = std::to_string(pods);
    Create(karmada, kJobs,
           R"({"apiVersion":"batch.volcano.sh/v1alpha1","kind":"Job","metadata":{"name":")" + name +
               R"("},"spec":{"queue":")" + queue + R"(","minAvailable":)" + count +
               R"(,"tasks":[{"name":"worker","replicas":)" + count +
               R"(,"template":{"spec":{"containers":[{"name":"c","image":"i","resources":)" +
               R"({"requests":{"cpu":"1"}}}])" + pod + "}}}]}}");
  }
  std::string Phase(const std::string& name) {
    return TextAt(Get(karmada, kJobs + "/" + name), {"status", "state", "phase"});
  }
  /// `east/train`: Jobs in members, those on their way out too.
  std::multiset<std::string> Running() {
    std::multiset<std::string> jobs;
    for (const auto& [name, member] : Members()) {
      const Value list = Get(*member, kJobs);
      for (const Value& job : ListAt(list, {"items"})) {
        jobs.insert(name + "/" + TextAt(job, {"metadata", "name"}));
      }
    }
    return jobs;
  }
  size_t Works() {
    const Value list = Get(karmada, "/apis/work.karmada.io/v1alpha1/works");
    size_t shards = 0;
    for (const Value& work : ListAt(list, {"items"})) {
      shards += TextAt(work, {"metadata", "labels", "federation.caldera.sh/work"}) == "shard";
    }
    return shards;
  }

 private:
  static sandbox::MemberLifeOptions Life() {
    sandbox::MemberLifeOptions options;
    options.duration = kRun;
    return options;
  }

 public:
  sandbox::ApiServer karmada{executor, {"karmada", sandbox::KarmadaKinds()}};
  sandbox::ApiServer east{executor, {"east", sandbox::MemberKinds()}};
  sandbox::ApiServer west{executor, {"west", sandbox::MemberKinds()}};
  TempDir directory;

 private:
  sandbox::MemberLife east_life_{east, executor, Life()};
  sandbox::MemberLife west_life_{west, executor, Life()};
  sandbox::WorkExecutor works_{karmada, executor, {}};
};

}  // namespace caldera::testing
