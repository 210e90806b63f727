// An Observer with a Cycle behind it, fed with texts as API servers would send them; no API, no
// clock. For the tests of this folder.
#pragma once

#include <doctest/doctest.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "controller/kube/reading.h"
#include "controller/kube/yaml_reader.h"
#include "controller/run/cycle.h"
#include "controller/run/observer.h"
#include "federation/codec.h"

namespace caldera::testing {

inline std::vector<Value> ObjectsOf(std::string_view text) {
  std::vector<Value> objects;
  ReadReport report;
  ReadYaml(
      text, "in.yaml", [&](Document d) { objects.push_back(std::move(d.root)); }, report);
  REQUIRE(report.errors.empty());
  return objects;
}

inline Value ObjectOf(std::string_view text) {
  std::vector<Value> objects = ObjectsOf(text);
  REQUIRE(objects.size() == 1);
  return std::move(objects.front());
}

/// A Job of namespace team-a as it is stored: `replicas` pods of one CPU.
struct JobText {
  std::string name = "train";
  std::string uid = "u1";
  std::string queue = "gold";
  int replicas = 2;
  int generation = 1;
  std::string annotations = {};  ///< `federation.caldera.sh/hold: "true"`, joined by commas.
  std::string labels = {};
  std::string meta = {};    ///< More of metadata: `deletionTimestamp: ...`.
  std::string status = {};  ///< `state: {phase: Running}`.
  int grace = 0;            ///< 0: none given.

  [[nodiscard]] std::string Text() const {
    return "apiVersion: batch.volcano.sh/v1alpha1\nkind: Job\nmetadata: {name: " + name +
           ", namespace: team-a, uid: " + uid +
           ", creationTimestamp: \"2026-01-01T00:00:00Z\", generation: " +
           std::to_string(generation) + ", labels: {" + labels + "}, annotations: {" + annotations +
           "}" + (meta.empty() ? "" : ", " + meta) + "}\nspec:\n  queue: " + queue +
           "\n  minAvailable: " + std::to_string(replicas) +
           "\n  tasks:\n  - name: worker\n    replicas: " + std::to_string(replicas) +
           "\n    template:\n      spec:\n        restartPolicy: Never\n" +
           (grace == 0 ? std::string()
                       : "        terminationGracePeriodSeconds: " + std::to_string(grace) + "\n") +
           "        containers: [{name: c, image: i, resources: {requests: {cpu: \"1\"}}}]\n"
           "status: {" +
           status + "}\n";
  }
};

/// A Work of a shard as Karmada has it.
struct WorkText {
  std::string job = "train";
  std::string uid = "u1";
  std::string cluster = "east";
  int epoch = 1;
  std::string work_uid = {};  ///< Empty: from job and cluster.
  std::string applied = {};   ///< True or False; empty: no condition.
  std::string phase = {};     ///< Empty: nothing was reported.
  std::string counts = {};    ///< More of the Job's status: `running: 2`.
  std::string meta = {};
  int grace = 0;

  [[nodiscard]] std::string Text() const {
    std::string text =
        "apiVersion: work.karmada.io/v1alpha1\nkind: Work\nmetadata: {name: caldera-" + uid +
        ", namespace: karmada-es-" + cluster +
        ", uid: " + (work_uid.empty() ? "w-" + uid + "-" + cluster : work_uid) +
        ", labels: {app.kubernetes.io/managed-by: caldera, federation.caldera.sh/work: shard}, "
        "annotations: {federation.caldera.sh/job: team-a/" +
        job + ", federation.caldera.sh/job-uid: " + uid + R"(, federation.caldera.sh/epoch: ")" +
        std::to_string(epoch) + R"(", federation.caldera.sh/intent: "7"})" +
        (meta.empty() ? "" : ", " + meta) +
        "}\nspec: {workload: {manifests: [{kind: Job, spec: {tasks: [{name: worker, template: "
        "{spec: {" +
        (grace == 0 ? "" : "terminationGracePeriodSeconds: " + std::to_string(grace)) +
        "}}}]}}]}}\nstatus:\n";
    if (!applied.empty()) {
      text += "  conditions: [{type: Applied, status: \"" + applied + "\", message: said}]\n";
    }
    if (!phase.empty()) {
      text += "  manifestStatuses: [{identifier: {kind: Job}, status: {state: {phase: " + phase +
              ", lastTransitionTime: \"2026-01-02T00:00:00Z\"}" +
              (counts.empty() ? "" : ", " + counts) + "}}]\n";
    }
    return text;
  }
};

inline std::string QueueText(const std::string& name, const std::string& uid,
                             const std::string& status = "",
                             const std::string& spec = "weight: 1") {
  return "apiVersion: scheduling.volcano.sh/v1beta1\nkind: Queue\nmetadata: {name: " + name +
         ", uid: " + uid + ", creationTimestamp: \"2026-01-01T00:00:00Z\"}\nspec: {" + spec +
         "}\nstatus: {" + status + "}\n";
}

inline std::string ClusterText(const std::string& name, const std::string& ready = "True",
                               const std::string& since = "2026-01-01T00:00:00Z",
                               const std::string& cpu = "8", const std::string& uid = "c-uid") {
  return "apiVersion: cluster.karmada.io/v1alpha1\nkind: Cluster\nmetadata: {name: " + name +
         ", uid: " + uid + ", creationTimestamp: \"2026-01-01T00:00:00Z\"}\nstatus:\n" +
         "  conditions: [{type: Ready, status: \"" + ready + "\", lastTransitionTime: \"" + since +
         "\"}]\n  resourceSummary: {allocatable: {cpu: \"" + cpu + "\", pods: \"100\"}}\n";
}

inline std::string CommandText(const std::string& action, const std::string& kind,
                               const std::string& name, const std::string& uid,
                               const std::string& command = "do") {
  return "apiVersion: bus.volcano.sh/v1alpha1\nkind: Command\nmetadata: {name: " + command +
         ", namespace: team-a, uid: uid-of-" + command +
         ", creationTimestamp: \"2026-01-01T00:00:00Z\"}\naction: " + action +
         "\ntarget: {kind: " + kind + ", name: " + name + ", uid: " + uid + "}\n";
}

/// What is watched, and the controller's State behind it.
struct Watching {
  explicit Watching(ObserverOptions options = {}) : observer(cycle.state(), std::move(options)) {}

  Cycle cycle;
  Observer observer;
  Time now = *ParseTime("2026-01-10T00:00:00Z");

  Watching& See(const std::string& text) {
    for (Value& object : ObjectsOf(text)) {
      observer.Upsert(std::move(object), now);
    }
    return *this;
  }
  Watching& SeeWork(const WorkText& work) {
    observer.UpsertWork(ObjectOf(work.Text()), now);
    return *this;
  }
  Watching& SeeCommand(const std::string& text) {
    observer.UpsertCommand(ObjectOf(text), now);
    return *this;
  }
  Watching& WorkGoes(const WorkText& work) {
    observer.DeleteWork("karmada-es-" + work.cluster, "caldera-" + work.uid, "", now);
    return *this;
  }
  Watching& JobGoes(const std::string& name = "train", const std::string& uid = "u1") {
    observer.Delete("Job", "team-a", name, uid, now);
    return *this;
  }
  Watching& Later(int seconds) {
    now += std::chrono::seconds(seconds);
    return *this;
  }
  Watching& Relisted() {
    cycle.Observe(observer.TakeRelist(now));
    return *this;
  }
  /// What TakeChanges gave, as canonical text; it is in State then.
  std::vector<std::string> Step() {
    const std::vector<Change> changes = observer.TakeChanges(now);
    std::vector<std::string> texts;
    texts.reserve(changes.size());
    for (const Change& change : changes) {
      texts.push_back(EncodeChange(change));
    }
    cycle.Observe(changes);
    return texts;
  }
  Plan Decide() {
    Step();
    auto outcome = cycle.Decide();
    REQUIRE(outcome.has_value());
    return outcome->plan;
  }

  [[nodiscard]] const State& state() const { return cycle.state(); }
  [[nodiscard]] const JobEntry* Job(const std::string& name = "train") const {
    const JobIndex index = state().FindJob({"team-a", name});
    return index == kNoIndex ? nullptr : &state().job(index);
  }
  [[nodiscard]] bool Charged(const std::string& name = "train") const {
    return Job(name) != nullptr && Job(name)->charge.has_value();
  }
  [[nodiscard]] const Queue* FindQueue(const std::string& name) const {
    const auto it = state().queues().find(name);
    const bool there = it != state().queues().end() && state().queue(it->second).declared;
    return there ? &*state().queue(it->second).object : nullptr;
  }
  [[nodiscard]] const Cluster* FindCluster(const std::string& name) const {
    const auto it = state().clusters().find(name);
    const bool there = it != state().clusters().end() && state().cluster(it->second).object;
    return there ? &*state().cluster(it->second).object : nullptr;
  }

  /// Queue gold, cluster east (8 CPUs) and what else is given, listed; then one plan.
  Watching& Start(const std::string& more = "") {
    See(QueueText("gold", "q-uid") + "---\n" + ClusterText("east"));
    if (!more.empty()) {
      See(more);
    }
    Relisted();
    Decide();
    return *this;
  }
};

}  // namespace caldera::testing
