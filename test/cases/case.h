// A case of the case bank as manifests: what it has of Kubernetes' objects is read, what its script
// says is done by the test.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "controller/kube/input.h"
#include "federation/explain.h"
#include "federation/intake.h"
#include "federation/planner.h"
#include "federation/report.h"
#include "federation/state.h"

namespace caldera {

inline const Time kNow = Time(std::chrono::hours(24 * 365 * 50));

/// Objects of a case and of its script, as they come in.
class Case {
 public:
  void Load(const std::string& name) {
    std::istringstream nothing;
    Finish(ReadInput({std::string(CALDERA_TEST_DATA) + "/cases/" + name + ".yaml"}, nothing,
                     [this](Document document) { Take(document); }));
  }
  void AddText(const std::string& yaml) {
    ReadReport report;
    ReadText(
        yaml, "script.yaml", [this](Document document) { Take(document); }, report);
    Finish(report);
  }
  void AddCluster(const std::string& name, const std::string& allocatable) {
    AddText("{apiVersion: cluster.karmada.io/v1alpha1, kind: Cluster, metadata: {name: " + name +
            "}, status: {conditions: [{type: Ready, status: 'True'}], "
            "resourceSummary: {allocatable: {" +
            allocatable + "}}}}");
  }
  struct Extra {
    // NOLINTNEXTLINE(google-explicit-constructor): tests say {spec, annotations}.
    Extra(std::string its_spec = {}, std::string its_annotations = {}, std::string its_time = {})
        : spec(std::move(its_spec)),
          annotations(std::move(its_annotations)),
          created(std::move(its_time)) {}
    std::string spec;
    std::string annotations;
    std::string created;
  };
  void AddJob(const std::string& name, const std::string& queue, int pods, const std::string& each,
              const Extra& extra = {}) {
    AddText("{apiVersion: batch.volcano.sh/v1alpha1, kind: Job, metadata: {name: " + name +
            ", namespace: n, " +
            (extra.created.empty() ? "" : "creationTimestamp: '" + extra.created + "', ") +
            "annotations: {" + extra.annotations + "}}, spec: {queue: " + queue + ", " +
            extra.spec + " tasks: [{name: t, replicas: " + std::to_string(pods) +
            ", template: {spec: {restartPolicy: Never, containers: [{name: c, image: x, "
            "resources: {requests: {" +
            each + "}}}]}}}]}}");
  }

  Plan Go() {
    Plan plan = MakePlan(state);
    for (const Change& change : EffectOf(plan, 1)) {
      state.Apply(change);
    }
    return plan;
  }
  [[nodiscard]] PendingJob Waiting(const std::string& name) const {
    const std::vector<PendingJob> pending = ExplainPending(state);
    const auto it = std::find_if(pending.begin(), pending.end(),
                                 [&](const PendingJob& job) { return job.job.name == name; });
    REQUIRE_MESSAGE(it != pending.end(), name);
    return *it;
  }
  [[nodiscard]] QueueReport Queue(const std::string& name) const {
    const Report report = MakeReport(state);
    const auto it = std::find_if(report.queues.begin(), report.queues.end(),
                                 [&](const QueueReport& queue) { return queue.queue == name; });
    REQUIRE_MESSAGE(it != report.queues.end(), name);
    return *it;
  }

  State state;
  std::vector<Intake> refused;

 private:
  void Take(const Document& document) {
    Intake intake = TakeObject(document, Strictness::kStored, kNow);
    if (!intake.known) {
      return;  // The script of the case, which the test follows itself.
    }
    if (!intake.errors.empty()) {
      refused.push_back(std::move(intake));
      return;
    }
    REQUIRE(intake.change.has_value());
    state.Apply(*intake.change);
  }
  static void Finish(const ReadReport& report) { REQUIRE(report.errors.empty()); }
};

}  // namespace caldera
