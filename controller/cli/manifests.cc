#include "controller/cli/manifests.h"

#include <algorithm>
#include <deque>
#include <iostream>
#include <set>
#include <type_traits>
#include <utility>

#include "controller/cli/issue_text.h"
#include "controller/kube/input.h"
#include "federation/intake.h"

namespace caldera {
namespace {

// What makes two upserts the same object: the key by which State keeps it.
struct KeyOf {
  std::string operator()(const QueueUpsert& c) const { return "Queue/" + c.queue.name; }
  std::string operator()(const PriorityClassUpsert& c) const {
    return "PriorityClass/" + c.priority_class.name;
  }
  std::string operator()(const TenantQuotaUpsert& c) const {
    return "FederatedResourceQuota/" + c.quota.tenant + "/" + c.quota.name;
  }
  std::string operator()(const NamespaceUpsert& c) const { return "Namespace/" + c.ns.name; }
  std::string operator()(const ClusterUpsert& c) const { return "Cluster/" + c.cluster.name; }
  std::string operator()(const NodeUpsert& c) const {
    return "Node/" + c.node.cluster + "/" + c.node.name;
  }
  std::string operator()(const PodUpsert& c) const {
    return "Pod/" + c.pod.cluster + "/" + c.pod.ns + "/" + c.pod.name;
  }
  std::string operator()(const HyperNodeUpsert& c) const {
    return "HyperNode/" + c.hyper_node.cluster + "/" + c.hyper_node.name;
  }
  // A Job and a HyperJob share their names: a placement, a Work and the ledger know no kind.
  std::string operator()(const JobUpsert& c) const { return "Job/" + c.job.key.ToString(); }
  template <typename Other>
  std::string operator()(const Other& /*change*/) const {
    return {};
  }
};

constexpr size_t kProgressStep = 500;

struct Place {
  std::string object;
  std::string file;
  Mark mark;
};

class ManifestReader {
 public:
  explicit ManifestReader(const ReadOptions& options) : options_(options) {}

  Result<Manifests> Read() {
    ReadReport report = ReadInput(options_.inputs, std::cin,
                                  [this](Document document) { Take(std::move(document)); });
    if (!report.errors.empty()) {
      return Unusable(report);
    }
    out_.warnings.insert(out_.warnings.begin(), report.warnings.begin(), report.warnings.end());
    CheckQueues();
    if (options_.keep_intakes) {
      return std::move(out_);
    }
    std::erase_if(queue_changes_,
                  [this](const auto& q) { return refused_queues_.contains(q.first); });
    for (auto& [index, change] : queue_changes_) {
      out_.changes.push_back(std::move(change));
    }
    CheckPlacements();
    return std::move(out_);
  }

 private:
  static tl::unexpected<Error> Unusable(const ReadReport& report) {
    std::string message;
    for (const Issue& issue : report.errors) {
      message += (message.empty() ? "" : "\n") + IssueLine(issue);
    }
    return Fail(ErrorCode::kInvalid, message);
  }

  void Take(Document document) {
    const auto start = std::chrono::steady_clock::now();
    Intake intake = TakeObject(document, options_.strictness, options_.now);
    if (!intake.known && intake.errors.empty()) {
      ++out_.skipped[SkippedName(document.root, intake.kind)];
      Append(out_.warnings, intake.warnings);
    } else {
      ++out_.objects;
      if (options_.progress && out_.objects % kProgressStep == 0) {
        options_.progress(out_.objects);
      }
      RefuseSecond(document, intake);
      Keep(std::move(document), std::move(intake));
    }
    out_.intake_time += std::chrono::steady_clock::now() - start;
  }

  static std::string SkippedName(const Value& root, const std::string& kind) {
    const Value* version = root.Find("apiVersion");
    return kind + " (" + (version != nullptr ? version->Brief() : "no apiVersion") + ")";
  }

  void RefuseSecond(const Document& document, Intake& intake) {
    if (!intake.change.has_value()) {
      return;
    }
    const auto [first, inserted] =
        places_.try_emplace(std::visit(KeyOf{}, *intake.change),
                            Place{intake.object, document.file, document.root.mark()});
    if (inserted) {
      return;
    }
    const Place& place = first->second;
    const bool same = place.object == intake.object;
    intake.errors.push_back(
        {intake.object, document.file, document.root.mark(), "metadata.name", "",
         (same ? "is defined already" : "has the name of " + place.object) + std::string(" at ") +
             place.file + ":" + std::to_string(place.mark.line) +
             ": keep one of the two, or rename one"});
    intake.change.reset();
    intake.job.reset();
  }

  void Keep(Document document, Intake intake) {
    Append(out_.warnings, intake.warnings);
    Append(out_.refused, intake.errors);
    if (intake.change.has_value() && options_.keep_documents) {
      out_.documents.emplace(intake.object, document.root);
    }
    if (intake.change.has_value()) {
      if (auto* queue = std::get_if<QueueUpsert>(&*intake.change)) {
        documents_.push_back(std::move(document));
        queues_.push_back({queue->queue, &documents_.back()});
        intake_of_queue_.push_back(out_.intakes.size());
        queue_changes_.emplace_back(queues_.size() - 1, *queue);
      } else if (!options_.keep_intakes) {
        if (const auto* job = std::get_if<JobUpsert>(&*intake.change);
            job != nullptr && options_.keep_jobs) {
          out_.jobs.emplace(job->job.key, KeptJob{std::move(intake.defaulted), job->job.rendezvous,
                                                  job->job.checkpoint});
        }
        out_.changes.push_back(std::move(*intake.change));
      }
    }
    if (options_.keep_intakes) {
      out_.intakes.push_back(std::move(intake));
    }
  }

  // Relations that one Queue alone cannot show.
  void CheckQueues() {
    QueueTreeIssues issues = CheckQueueTree(queues_, options_.strictness);
    Append(out_.refused, issues.errors);
    Append(out_.warnings, issues.warnings);
    refused_queues_.insert(issues.refused.begin(), issues.refused.end());
    if (!options_.keep_intakes) {
      return;
    }
    for (size_t i = 0; i < queues_.size(); ++i) {
      Intake& intake = out_.intakes[intake_of_queue_[i]];
      AppendOf(intake.object, issues.errors, intake.errors);
      AppendOf(intake.object, issues.warnings, intake.warnings);
    }
  }

  // A job runs nowhere where there is no cluster.
  void CheckPlacements() {
    std::set<std::string> clusters;
    for (const Change& change : out_.changes) {
      if (const auto* const cluster = std::get_if<ClusterUpsert>(&change); cluster != nullptr) {
        clusters.insert(cluster->cluster.name);
      }
    }
    for (Change& change : out_.changes) {
      auto* const upsert = std::get_if<JobUpsert>(&change);
      if (upsert == nullptr) {
        continue;
      }
      std::vector<Shard>& placement = upsert->job.placement;
      const auto lost = std::find_if(placement.begin(), placement.end(), [&](const Shard& shard) {
        return !clusters.contains(shard.cluster);
      });
      if (lost != placement.end()) {
        const Place& place = places_.at(KeyOf()(*upsert));
        out_.warnings.push_back(
            {place.object, place.file, place.mark,
             "metadata.annotations[" + std::string(kAnnotationPrefix) + "placement]", lost->cluster,
             "is no Cluster that was given: the placement is not taken over, and the job waits"});
        placement.clear();
      }
    }
  }

  static void Append(std::vector<Issue>& into, const std::vector<Issue>& from) {
    into.insert(into.end(), from.begin(), from.end());
  }

  static void AppendOf(const std::string& object, const std::vector<Issue>& from,
                       std::vector<Issue>& into) {
    for (const Issue& issue : from) {
      if (issue.object == object) {
        into.push_back(issue);
      }
    }
  }

  const ReadOptions& options_;
  Manifests out_;
  std::map<std::string, Place> places_;
  std::deque<Document> documents_;  // Of Queues: a deque keeps their addresses.
  std::vector<QueueSource> queues_;
  std::vector<size_t> intake_of_queue_;
  std::vector<std::pair<size_t, Change>> queue_changes_;
  std::set<size_t> refused_queues_;
};

}  // namespace

Result<Manifests> ReadManifests(const ReadOptions& options) {
  return ManifestReader(options).Read();
}

}  // namespace caldera
