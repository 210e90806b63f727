#include <algorithm>
#include <cctype>
#include <iterator>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "controller/cli/amounts_text.h"
#include "controller/cli/issue_text.h"
#include "controller/cli/plan_result.h"
#include "controller/cli/table.h"

namespace caldera {
namespace {

// Beyond this many rows of one kind, `table` counts; `wide` shows all.
constexpr size_t kRowsShown = 40;

std::string Plural(size_t n, const std::string& noun) {
  return std::to_string(n) + " " + noun + (n == 1 ? "" : "s");
}

class PlanPrinter {
 public:
  PlanPrinter(const PlanResult& result, const Terminal& terminal, bool wide)
      : result_(result), terminal_(terminal), wide_(wide) {}

  std::string Print() {
    Summary();
    Queues();
    Tenants();
    Clusters();
    Running();
    Placements();
    Pending();
    ExplainAsked();
    Issues("REFUSED", result_.refused, Paint::kRed);
    Issues("WARNINGS", result_.warnings, Paint::kYellow);
    return std::move(out_);
  }

 private:
  void Heading(const std::string& title, const std::string& note) {
    out_ += "\n" + terminal_.Painted(title, Paint::kBold);
    out_ += note.empty() ? "\n" : "  " + terminal_.Painted(note, Paint::kDim) + "\n";
  }

  void Summary() {
    out_ += "Plan at " + FormatTime(result_.now) + ": " + Decided() + ", " +
            std::to_string(EarlierRunning().size()) + " already running, " +
            std::to_string(result_.pending.size()) + " waiting, " +
            Plural(RefusedObjects(), "object") + " refused.\n";
  }

  // "2 jobs placed, 1 shrunk".
  [[nodiscard]] std::string Decided() const {
    std::map<ActionKind, size_t> counts;
    for (const Action& action : result_.plan.actions) {
      ++counts[action.action];
    }
    std::string text = Plural(counts[ActionKind::kPlace], "job") + " placed";
    for (const auto& [kind, count] : counts) {
      if (kind != ActionKind::kPlace) {
        text += ", " + std::to_string(count) + " " + Done(kind);
      }
    }
    return text;
  }

  static std::string Done(ActionKind kind) {
    switch (kind) {
      case ActionKind::kPlace:
        return "placed";
      case ActionKind::kGrow:
        return "grown";
      case ActionKind::kShrink:
        return "shrunk";
      case ActionKind::kEvict:
        return "evicted";
    }
    return "changed";
  }

  [[nodiscard]] size_t RefusedObjects() const {
    std::set<std::pair<std::string, std::string>> objects;
    for (const Issue& issue : result_.refused) {
      objects.emplace(issue.file, issue.object);
    }
    return objects.size();
  }

  // The charged jobs that this plan did not place.
  [[nodiscard]] std::vector<const RunningReport*> EarlierRunning() const {
    std::vector<JobKey> placed;
    for (const Action& action : result_.plan.actions) {
      placed.push_back(action.job);
    }
    std::ranges::sort(placed);
    std::vector<const RunningReport*> earlier;
    for (const RunningReport& running : result_.report.running) {
      if (!std::ranges::binary_search(placed, running.job)) {
        earlier.push_back(&running);
      }
    }
    return earlier;
  }

  // Children under their parent, in the order of names.
  void AddQueues(Table& table, const std::string& parent, size_t depth) {
    for (const QueueReport& queue : result_.report.queues) {
      if (queue.parent != parent || depth > kDeepest) {
        continue;
      }
      std::vector<Cell> row{std::string(2 * depth, ' ') + queue.queue,
                            std::to_string(queue.weight)};
      if (wide_) {
        row.emplace_back(std::to_string(queue.priority));
        row.emplace_back(BriefAmounts(queue.guarantee));
        row.emplace_back(queue.capability.empty() ? "-" : LimitsText(queue.capability));
        row.emplace_back(BriefAmounts(queue.demand));
      }
      row.emplace_back(ShareText(queue.share_milli));
      row.emplace_back(BriefAmounts(queue.deserved));
      row.emplace_back(BriefAmounts(queue.allocated));
      table.Add(std::move(row));
      AddQueues(table, queue.queue, depth + 1);
    }
  }

  static std::string LimitsText(const ResourceList& limits) {
    ResourceList finite;
    std::ranges::copy_if(limits, std::inserter(finite, finite.end()),
                         [](const auto& entry) { return entry.second != kUnlimited; });
    std::string text;
    for (const auto& [resource, limit] : finite) {
      text += (text.empty() ? "" : ", ") + resource + " " + FormatAmount(resource, limit);
    }
    return text.empty() ? "-" : text;
  }

  void Queues() {
    Heading("QUEUES", "what each deserves now, and what it holds after this plan");
    std::vector<Column> columns{{"QUEUE"}, {"WEIGHT", true}};
    if (wide_) {
      columns.insert(columns.end(),
                     {{"PRIORITY", true}, {"GUARANTEE"}, {"CAPABILITY"}, {"DEMAND"}});
    }
    columns.insert(columns.end(), {{"SHARE", true}, {"DESERVED"}, {"ALLOCATED"}});
    Table table(std::move(columns));
    AddQueues(table, "", 0);
    out_ += table.Text(terminal_, 2);
  }

  void Tenants() {
    if (result_.report.tenants.empty()) {
      return;
    }
    Heading("TENANTS", "used of the quota, over all clusters and where one has its own");
    Table table({{"TENANT"}, {"CLUSTER"}, {"USED/QUOTA"}});
    for (const TenantReport& tenant : result_.report.tenants) {
      table.Add({tenant.tenant, "(all)", BriefUsage(tenant.overall.used, tenant.overall.quota)});
      for (const auto& [cluster, usage] : tenant.clusters) {
        table.Add({"", cluster, BriefUsage(usage.used, usage.quota)});
      }
    }
    out_ += table.Text(terminal_, 2);
  }

  void Clusters() {
    Heading("CLUSTERS", "after this plan");
    Table table({{"CLUSTER"}, {"STATE"}, {"FULL", true}, {"FREE/ALLOCATABLE"}});
    for (const ClusterReport& cluster : result_.report.clusters) {
      ResourceList used;
      for (const auto& [resource, amount] : cluster.allocatable) {
        const auto free = cluster.free.find(resource);
        used[resource] = amount - (free == cluster.free.end() ? 0 : free->second);
      }
      const int64_t percent = cluster.ready ? FullestPercent(used, cluster.allocatable) : 0;
      const std::string bar = terminal_.colour ? Bar(percent) + " " : "";
      table.Add(
          {cluster.cluster,
           {cluster.ready ? "Ready" : "NotReady", cluster.ready ? Paint::kGreen : Paint::kRed},
           cluster.ready ? bar + std::to_string(percent) + "%" : "-",
           BriefUsage(cluster.free, cluster.allocatable)});
    }
    out_ += table.Text(terminal_, 2);
  }

  /// Children of a HyperJob may share a cluster; in the order of the shards.
  static std::vector<std::pair<std::string, int64_t>> PodsByCluster(
      const std::vector<Shard>& shards) {
    std::vector<std::pair<std::string, int64_t>> all;
    for (const Shard& shard : shards) {
      const auto at = std::find_if(all.begin(), all.end(),
                                   [&](const auto& each) { return each.first == shard.cluster; });
      (at == all.end() ? all.emplace_back(shard.cluster, 0) : *at).second += shard.Pods();
    }
    return all;
  }

  static std::string ClustersOf(const std::vector<Shard>& shards) {
    std::string text;
    for (const auto& [cluster, pods] : PodsByCluster(shards)) {
      text += (text.empty() ? "" : ", ") + cluster;
    }
    return text;
  }

  static ResourceList RequestsOf(const std::vector<Shard>& shards) {
    ResourceList requests;
    for (const Shard& shard : shards) {
      AddTo(requests, shard.requests);
    }
    return requests;
  }

  /// Of a split job `4+2`, in the order of ClustersOf; of one in waves `3 of 4`.
  static std::string PodsOf(const std::vector<Shard>& shards) {
    if (shards.size() == 1 && shards.front().InWaves()) {
      return std::to_string(shards.front().PodsAtOnce()) + " of " +
             std::to_string(shards.front().Pods());
    }
    std::string text;
    for (const auto& [cluster, pods] : PodsByCluster(shards)) {
      text += (text.empty() ? "" : "+") + std::to_string(pods);
    }
    return text;
  }

  void Running() {
    const std::vector<const RunningReport*> earlier = EarlierRunning();
    if (earlier.empty()) {
      return;
    }
    Heading("RUNNING", "placed before this plan");
    Table table({{"JOB"}, {"QUEUE"}, {"CLUSTER"}, {"PODS", true}, {"REQUESTS"}});
    for (size_t i = 0; i < earlier.size() && (wide_ || i < kRowsShown); ++i) {
      const RunningReport& running = *earlier[i];
      table.Add({running.job.ToString(), running.queue, ClustersOf(running.shards),
                 PodsOf(running.shards), BriefAmounts(RequestsOf(running.shards))});
    }
    out_ += table.Text(terminal_, 2);
    More(earlier.size());
  }

  void Placements() {
    const std::vector<Action>& actions = result_.plan.actions;
    const bool only_placed = std::ranges::all_of(
        actions, [](const Action& action) { return action.action == ActionKind::kPlace; });
    Heading(only_placed ? "PLACED" : "DECIDED", "in this order");
    if (actions.empty()) {
      out_ += "  none\n";
      return;
    }
    std::vector<Column> columns{{"#", true}, {"JOB"}, {"QUEUE"}, {"CLUSTER"}, {"PODS", true}};
    if (wide_) {
      columns.push_back({"REQUESTS"});
    }
    if (!only_placed) {
      columns.push_back({"ACTION"});
    }
    columns.push_back({"WHY"});
    Table table(std::move(columns));
    for (size_t i = 0; i < actions.size() && (wide_ || i < kRowsShown); ++i) {
      const Action& action = actions[i];
      std::vector<Cell> row{std::to_string(action.rank),
                            {action.job.ToString(), Paint::kGreen},
                            action.queue,
                            ClustersOf(action.shards),
                            PodsOf(action.shards)};
      if (wide_) {
        row.emplace_back(BriefAmounts(RequestsOf(action.shards)));
      }
      if (!only_placed) {
        row.emplace_back(std::string(ActionName(action.action)));
      }
      row.emplace_back(action.reason +
                       (action.topology_unchecked ? " (topology left to the member)" : ""));
      table.Add(std::move(row));
    }
    out_ += table.Text(terminal_, 2);
    More(actions.size());
  }

  void Pending() {
    if (result_.pending.empty()) {
      return;
    }
    Heading("WAITING", "and why; --explain JOB says what would help");
    Table table({{"#", true}, {"JOB"}, {"QUEUE"}, {"VERDICT"}, {"WHY"}});
    for (size_t i = 0; i < result_.pending.size() && (wide_ || i < kRowsShown); ++i) {
      const PendingJob& job = result_.pending[i];
      table.Add({std::to_string(job.rank),
                 {job.job.ToString(), Paint::kYellow},
                 job.queue,
                 std::string(VerdictName(job.verdict)),
                 job.message});
    }
    out_ += table.Text(terminal_, 2);
    if (More(result_.pending.size())) {
      VerdictCounts();
    }
  }

  bool More(size_t rows) {
    if (wide_ || rows <= kRowsShown) {
      return false;
    }
    out_ += "  ... and " + std::to_string(rows - kRowsShown) + " more (-o wide shows all)\n";
    return true;
  }

  void VerdictCounts() {
    std::map<std::string_view, size_t> counts;
    for (const PendingJob& job : result_.pending) {
      ++counts[VerdictName(job.verdict)];
    }
    for (const auto& [verdict, count] : counts) {
      out_ += "  " + std::string(verdict) + ": " + Plural(count, "job") + "\n";
    }
  }

  // In the order of ranks; then those that do not wait.
  void ExplainAsked() {
    std::map<JobKey, Explained> asked = result_.explained;
    for (const PendingJob& job : result_.pending) {
      const auto more = asked.find(job.job);
      if (more != asked.end()) {
        Explain(job, more->second);
        asked.erase(more);
      }
    }
    for (const auto& [job, more] : asked) {
      ExplainSettled(job);
    }
  }

  void ExplainSettled(const JobKey& job) {
    Heading(Harmless(job.ToString()) + " DOES NOT WAIT", "");
    for (const Action& action : result_.plan.actions) {
      if (action.job == job) {
        std::string done = Done(action.action);
        done.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(done.front())));
        out_ += "  " + done + (action.action == ActionKind::kEvict ? " from " : " on ") +
                ClustersOf(action.shards) + ": " + Harmless(action.reason) + "\n";
        return;
      }
    }
    for (const RunningReport& running : result_.report.running) {
      if (running.job == job) {
        out_ += "  It runs on " + ClustersOf(running.shards) + ", placed before this plan.\n";
        return;
      }
    }
    out_ += "  It is finished and holds nothing.\n";
  }

  void Explain(const PendingJob& job, const Explained& more) {
    Heading("WHY " + Harmless(job.job.ToString()) + " WAITS", "");
    out_ += "  " + std::string(VerdictName(job.verdict)) + ": " + Harmless(job.message) + "\n";
    Figures(job.figures);
    if (!job.clusters.empty()) {
      Table table({{"CLUSTER"}, {"VERDICT"}, {"WHY"}});
      for (const ClusterVerdict& cluster : job.clusters) {
        table.Add({cluster.cluster, std::string(VerdictName(cluster.verdict)), cluster.message});
      }
      out_ += table.Text(terminal_, 4);
    }
    for (const std::string& sentence : Sentences(more.ahead)) {
      out_ += "  " + Harmless(sentence) + ".\n";
    }
    if (more.would_fit_if.empty()) {
      out_ += "  No single change of a limit or a capacity would place it now.\n";
      return;
    }
    out_ += "  It would be placed if:\n";
    for (const Edit& edit : more.would_fit_if) {
      out_ += "    " +
              Harmless(edit.object + " " + edit.field + ": " + edit.from + " -> " + edit.to) + "\n";
    }
  }

  void Figures(const std::vector<Figure>& figures) {
    if (figures.empty()) {
      return;
    }
    Table table({{"LIMIT OF"}, {"RESOURCE"}, {"REQUESTED", true}, {"USED", true}, {"LIMIT", true}});
    for (const Figure& figure : figures) {
      table.Add({figure.object, figure.resource, FormatAmount(figure.resource, figure.requested),
                 FormatAmount(figure.resource, figure.used),
                 FormatAmount(figure.resource, figure.limit)});
    }
    out_ += table.Text(terminal_, 4);
  }

  void Issues(const std::string& title, const std::vector<Issue>& issues, Paint paint) {
    if (issues.empty()) {
      return;
    }
    Heading(title, "");
    for (size_t i = 0; i < issues.size() && (wide_ || i < kRowsShown); ++i) {
      out_ += IssueText(issues[i], terminal_, paint);
    }
    More(issues.size());
  }

  static constexpr size_t kDeepest = 16;

  const PlanResult& result_;
  const Terminal& terminal_;
  bool wide_;
  std::string out_;
};

}  // namespace

std::string PlanText(const PlanResult& result, const Terminal& terminal, bool wide) {
  return PlanPrinter(result, terminal, wide).Print();
}

}  // namespace caldera
