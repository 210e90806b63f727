// Knobs on the job itself.
#include <algorithm>
#include <utility>

#include "federation/feasibility.h"
#include "federation/intake.h"
#include "federation/knob_parts.h"
#include "federation/node_pool.h"

namespace caldera {

namespace {

std::string Annotation(std::string_view name) {
  return Keyed("metadata.annotations", std::string(kAnnotationPrefix) + std::string(name));
}

std::string JobName(const State& state, JobIndex job) {
  const JobEntry& entry = state.job(job);
  const bool hyper = state.spec(entry).kind == JobKind::kHyperJob;
  return (hyper ? "HyperJob/" : "Job/") + entry.key.ToString();
}

Knob EditJob(const State& state, JobIndex job, std::vector<Edit> edits,
             std::function<void(Job&)> change) {
  for (Edit& edit : edits) {
    edit.object = JobName(state, job);
  }
  return Switch(std::move(edits), [job, change = std::move(change)](State& s) {
    Job object = s.Object(job);
    change(object);
    s.Apply(JobUpsert{object});
  });
}

std::string Joined(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) {
    text += (text.empty() ? "" : ",") + part;
  }
  return text;
}

std::string TolerationText(const Toleration& toleration) {
  std::string text = toleration.key.empty() ? "*" : toleration.key;
  if (toleration.op == "Equal") {
    text += "=" + toleration.value;
  }
  return toleration.effect.empty() ? text : text + ":" + toleration.effect;
}

std::string TolerationsText(const std::vector<Toleration>& tolerations) {
  std::vector<std::string> parts;
  parts.reserve(tolerations.size());
  for (const Toleration& toleration : tolerations) {
    parts.push_back(TolerationText(toleration));
  }
  return parts.empty() ? std::string(kAbsent) : Joined(parts);
}

/// A label selector as kubectl writes it.
std::string SelectorText(const std::vector<LabelRequirement>& selector) {
  std::vector<std::string> parts;
  for (const LabelRequirement& r : selector) {
    const std::string values = Joined(r.values);
    if (r.op == "In") {
      parts.push_back(r.values.size() == 1 ? r.key + "=" + values : r.key + " in (" + values + ")");
    } else if (r.op == "NotIn") {
      parts.push_back(r.key + " notin (" + values + ")");
    } else if (r.op == "Gt" || r.op == "Lt") {
      parts.push_back(r.key + (r.op == "Gt" ? ">" : "<") + values);
    } else {
      parts.push_back((r.op == "DoesNotExist" ? "!" : "") + r.key);
    }
  }
  return Joined(parts);
}

}  // namespace

Knob SetQueue(const State& state, JobIndex job, const std::string& queue) {
  return EditJob(state, job, {{"", "spec.queue", state.queue(state.job(job).queue).name, queue}},
                 [queue](Job& object) { object.queue = queue; });
}

Knob Unhold(const State& state, JobIndex job) {
  return EditJob(state, job, {{"", Annotation("hold"), "true", std::string(kAbsent)}},
                 [](Job& object) { object.hold = false; });
}

Knob Resume(const State& state, JobIndex job) {
  return EditJob(state, job, {{"", "status.state.phase", "Aborted", "Pending"}},
                 [](Job& object) { object.suspended = false; });
}

Knob CreateReference(const std::string& reference) {
  const std::string name = reference.substr(reference.rfind('/') + 1);
  return Switch({reference, "metadata.name", std::string(kAbsent), name}, [reference](State& s) {
    // Whoever else waits for it goes too.
    std::vector<Job> jobs;
    for (const JobIndex index : s.JobsByKey()) {
      const auto& missing = s.job(index).rare().missing_references;
      if (std::find(missing.begin(), missing.end(), reference) != missing.end()) {
        jobs.push_back(s.Object(index));
      }
    }
    for (Job& job : jobs) {
      std::erase(job.missing_references, reference);
      s.Apply(JobUpsert{job});
    }
  });
}

Knob EndBackoff(const State& state, JobIndex job, ClusterIndex cluster) {
  const std::string& name = state.cluster(cluster).name;
  const ClusterBackoff* backoff = LiveBackoff(state.job(job), name, state.now());
  const Time until = backoff == nullptr ? state.now() : backoff->until;
  return EditJob(
      state, job,
      {{"", Keyed("backoffs", name) + ".until", FormatTime(until), FormatTime(state.now())}},
      [name, now = state.now()](Job& object) {
        for (ClusterBackoff& b : object.backoffs) {
          b.until = b.cluster == name ? std::min(b.until, now) : b.until;
        }
      });
}

Knob AllowCluster(const State& state, JobIndex job, ClusterIndex cluster) {
  const Cluster& target = *state.cluster(cluster).object;
  ClusterConstraint constraint = state.spec(state.job(job)).clusters;
  std::vector<Edit> edits;
  if (!constraint.names.empty() && std::find(constraint.names.begin(), constraint.names.end(),
                                             target.name) == constraint.names.end()) {
    const std::string from = Joined(constraint.names);
    constraint.names.push_back(target.name);
    edits.push_back({"", Annotation("clusters"), from, Joined(constraint.names)});
  }
  if (!std::all_of(constraint.selector.begin(), constraint.selector.end(),
                   [&](const auto& r) { return Matches(r, target.labels); })) {
    edits.push_back({"", Annotation("cluster-selector"), SelectorText(constraint.selector),
                     std::string(kAbsent)});
    constraint.selector.clear();
  }
  const std::string from = TolerationsText(constraint.tolerations);
  for (const Taint& taint : target.taints) {
    if (!Tolerates(constraint.tolerations, {taint})) {
      constraint.tolerations.push_back(
          {taint.key, taint.value.empty() ? "Exists" : "Equal", taint.value, taint.effect});
    }
  }
  if (const std::string to = TolerationsText(constraint.tolerations); to != from) {
    edits.push_back({"", Annotation("cluster-tolerations"), from, to});
  }
  return EditJob(state, job, std::move(edits),
                 [constraint](Job& object) { object.clusters = constraint; });
}

Knob LetSplit(const State& state, JobIndex job) {
  const JobSpec& spec = state.spec(state.job(job));
  std::vector<Edit> edits;
  if (spec.split == "never") {
    edits.push_back({"", Annotation("split"), "never", "when-needed"});
  }
  if (spec.max_clusters == 1) {
    edits.push_back({"", Annotation("max-clusters"), "1", std::string(kAbsent)});
  }
  if (spec.max_distance == "cluster") {
    edits.push_back({"", Annotation("max-distance"), "cluster", std::string(kAbsent)});
  }
  return EditJob(state, job, std::move(edits), [](Job& object) {
    object.split = object.split == "never" ? "when-needed" : object.split;
    object.max_clusters = object.max_clusters == 1 ? 0 : object.max_clusters;
    object.max_distance = object.max_distance == "cluster" ? "any" : object.max_distance;
  });
}

Knob LetBorrow(const State& state, JobIndex job) {
  return EditJob(state, job, {{"", Annotation("preemptible"), "false", "true"}},
                 [](Job& object) { object.preemptible = true; });
}

Knob RaiseMaxClusters(const State& state, JobIndex job) {
  Knob knob;
  knob.from = state.spec(state.job(job)).max_clusters;
  knob.most = static_cast<int64_t>(state.clusters().size());
  const std::string name = JobName(state, job);
  knob.id = name + " " + Annotation("max-clusters");
  knob.turn = [job, from = knob.from](State& s, int64_t by) {
    Job object = s.Object(job);
    object.max_clusters = static_cast<int32_t>(from + by);
    s.Apply(JobUpsert{object});
  };
  knob.edits = [name, from = knob.from](int64_t by) {
    return std::vector<Edit>{
        {name, Annotation("max-clusters"), std::to_string(from), std::to_string(from + by)}};
  };
  return knob;
}

}  // namespace caldera
