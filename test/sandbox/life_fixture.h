// A federation in virtual time for tests: a Karmada API, members m1 and m2, and a work executor
// between them.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "controller/kube/json_writer.h"
#include "test/sandbox/api_server.h"
#include "test/sandbox/served_kinds.h"
#include "test/sandbox/tree.h"
#include "test/sandbox/virtual_time.h"
#include "test/sandbox/work_executor.h"

namespace caldera::sandbox {

struct LifeFixture : VirtualTime {
  ApiServer karmada{executor, {"karmada", KarmadaKinds()}};
  ApiServer m1{executor, {"m1", MemberKinds()}};
  ApiServer m2{executor, {"m2", MemberKinds()}};
  std::optional<WorkExecutor> works;

  void StartWorks() {
    works.emplace(karmada, executor, WorkExecutorOptions{});
    works->AddMember("m1", m1);
    works->AddMember("m2", m2);
    works->Start();
    for (const char* const name : {"m1", "m2"}) {
      Create(karmada, "/apis/cluster.karmada.io/v1alpha1/clusters",
             R"({"metadata":{"name":")" + std::string(name) + R"("},"spec":{"syncMode":"Push"}})");
    }
    Create(karmada, "/api/v1/namespaces", R"({"metadata":{"name":"team-a"}})");
    Advance(Millis(20'000));
  }
};

/// `apiVersion`, `kind` and `metadata` of a manifest as Caldera sends it through the Work `name`.
inline std::string Managed(const std::string& api_version, const std::string& kind,
                           const std::string& object, const std::string& work,
                           const std::string& cluster = "m1") {
  return R"("apiVersion":")" + api_version + R"(","kind":")" + kind + R"(","metadata":{"name":")" +
         object + R"(",)" +
         (kind == "Queue" || kind == "PriorityClass" || kind == "Namespace"
              ? std::string()
              : R"("namespace":"team-a",)") +
         R"("labels":{"karmada.io/managed":"true"},"annotations":{"work.karmada.io/namespace":"karmada-es-)" +
         cluster + R"(","work.karmada.io/name":")" + work + R"("}})";
}

inline std::string WorkBody(const std::string& name, const std::string& manifests,
                            const std::string& more_spec = "") {
  return R"({"metadata":{"name":")" + name +
         R"(","finalizers":["karmada.io/execution-controller"]},"spec":{)" + more_spec +
         R"("workload":{"manifests":[)" + manifests + R"(]}}})";
}

inline const std::string kWorksOfM1 =
    "/apis/work.karmada.io/v1alpha1/namespaces/karmada-es-m1/works";
inline const std::string kJobsInTeamA = "/apis/batch.volcano.sh/v1alpha1/namespaces/team-a/jobs";
inline const std::string kClusters = "/apis/cluster.karmada.io/v1alpha1/clusters";

}  // namespace caldera::sandbox
