#include "federation/explainer.h"

#include <algorithm>
#include <tuple>

#include "federation/assert.h"
#include "federation/feasibility.h"
#include "federation/gate.h"
#include "federation/share.h"
#include "federation/split.h"

namespace caldera {

namespace {

constexpr size_t kNamesShown = 3;

/// "a, b, c and 4 more".
std::string Listed(const std::vector<std::string>& parts, const std::string& separator) {
  std::string text;
  for (size_t i = 0; i < std::min(parts.size(), kNamesShown); ++i) {
    text += (i == 0 ? "" : separator) + parts[i];
  }
  if (parts.size() > kNamesShown) {
    text += " and " + std::to_string(parts.size() - kNamesShown) + " more";
  }
  return text;
}

std::string NamedAmount(const std::string& resource, int64_t amount) {
  return resource + " " + FormatAmount(resource, amount);
}

/// Candidates as the planner would take them, then who is none.
std::vector<JobIndex> Rank(const Round& round) {
  const State& state = round.state();
  std::vector<JobIndex> ranking = WaitingOrder(round);
  std::vector<bool> ranked;
  for (const JobIndex job : ranking) {
    ranked.resize(std::max<size_t>(ranked.size(), job + 1), false);
    ranked[job] = true;
  }
  std::vector<JobIndex> others;
  for (const JobIndex job : state.JobsByKey()) {
    if (state.job(job).Pending() && (job >= ranked.size() || !ranked[job])) {
      others.push_back(job);
    }
  }
  // They come by key and kind already.
  std::stable_sort(others.begin(), others.end(), [&](JobIndex a, JobIndex b) {
    return state.job(a).creation < state.job(b).creation;
  });
  ranking.insert(ranking.end(), others.begin(), others.end());
  return ranking;
}

/// The part of the limit by which the worst of the figures is missed: how far off a cluster is.
int64_t Shortfall(const std::vector<Figure>& figures) {
  int64_t worst = 0;
  for (const Figure& figure : figures) {
    const int64_t missing =
        SaturatingSub(SaturatingAdd(figure.used, figure.requested), figure.limit);
    worst = std::max(worst, Share(missing, std::max<int64_t>(figure.limit, 1)));
  }
  return worst;
}

bool HasClusterQuotas(const TenantEntry& tenant) {
  return std::any_of(tenant.quotas.begin(), tenant.quotas.end(),
                     [](const auto& quota) { return !quota.second.per_cluster.empty(); });
}

}  // namespace

Explainer::Explainer(const State& after)
    : state_(after), round_(after), reservations_(round_), ranking_(Rank(round_)) {
  for (const JobIndex job : ranking_) {
    const JobEntry& entry = state_.job(job);
    if (entry.job_class == kNoIndex ||
        ClassGate(state_, round_.tree(), state_.classes()[entry.job_class]) != Verdict::kNone) {
      break;  // Only candidates hold others back.
    }
    if (round_.tree().node(entry.queue).object().dequeue_strategy == DequeueStrategy::kFifo) {
      fifo_heads_.emplace(entry.queue, job);
    }
  }
}

JobIndex Explainer::FifoHead(QueueIndex queue) const {
  const auto it = fifo_heads_.find(queue);
  return it == fifo_heads_.end() ? kNoIndex : it->second;
}

PendingJob Explainer::Explain(JobIndex job) {
  const JobEntry& entry = state_.job(job);
  CALDERA_ASSERT(entry.Pending());
  PendingJob pending;
  pending.job = entry.key;
  pending.kind = state_.spec(entry).kind;
  pending.queue = state_.queue(entry.queue).name;
  Reason reason = JobGate(state_, round_.tree(), job);
  if (reason.verdict == Verdict::kNone) {
    const JobClass& job_class = state_.classes()[entry.job_class];
    // Backoffs are each job's own: the rest of its class may be told other reasons.
    const Answer answer =
        job_class.blocked.empty() ? AnswerFor(entry.job_class) : Judge(job_class, &entry);
    reason = answer.reason;
    pending.clusters = answer.clusters;
    const JobIndex first = FifoHead(entry.queue);
    if (Reason kept = KeptFor(entry); kept.verdict != Verdict::kNone) {
      reason = std::move(kept);
    } else if (reason.verdict == Verdict::kNone && first != kNoIndex && first != job) {
      const int64_t own = PriorityValue(state_, entry.priority).value_or(0);
      const int64_t ahead = PriorityValue(state_, state_.job(first).priority).value_or(0);
      reason.verdict = ahead > own ? Verdict::kBehindPriority : Verdict::kFifo;
      reason.message = "queue " + pending.queue + " is fifo and its first job, " +
                       state_.job(first).key.ToString() + ", does not go yet";
      if (ahead > own) {
        reason.message += "; it comes first by its priority, " + std::to_string(ahead) +
                          " against " + std::to_string(own);
      }
    } else if (reason.verdict == Verdict::kNone) {
      reason.message = "nothing is in the way: the next round places it";
    }
  }
  pending.verdict = reason.verdict;
  pending.message = std::move(reason.message);
  pending.figures = std::move(reason.figures);
  return pending;
}

const Explainer::Answer& Explainer::AnswerFor(ClassIndex job_class) {
  const auto it = answers_.find(job_class);
  if (it != answers_.end()) {
    return it->second;
  }
  return answers_.emplace(job_class, Judge(state_.classes()[job_class], nullptr)).first->second;
}

Explainer::Answer Explainer::Judge(const JobClass& job_class, const JobEntry* job) {
  const std::optional<Block> block =
      round_.limits().Check(job_class.queue, job_class.tenant, state_.facts(job_class.shape));
  if (block && block->verdict != Verdict::kFairShare) {
    return {round_.limits().Explain(*block), {}};
  }
  ClusterVerdicts clusters = AskClusters(job_class);
  std::optional<Reason> backoff;
  if (job != nullptr) {
    clusters = WithBackoffs(clusters, *job);
    backoff = FirstBackoff(clusters, *job);
  }
  Reason reason = backoff ? *std::move(backoff) : SumUp(job_class, clusters);
  if (reason.verdict == Verdict::kNone && block) {
    reason = round_.limits().Explain(*block);
  }
  if (reason.verdict == Verdict::kNone && !job_class.preemptible) {
    reason = NeverBorrows(job_class);
  }
  return {std::move(reason), clusters};
}

/// Of jobs that are not preemptible: what their queue deserves does not hold one more.
Reason Explainer::NeverBorrows(const JobClass& job_class) const {
  const auto block = FindBorrowing(round_, job_class.queue, state_.facts(job_class.shape));
  if (!block.has_value()) {
    return {};
  }
  const std::string& resource = state_.resources().Name(block->resource);
  const std::string& queue = state_.queue(block->queue).name;
  return {Verdict::kFairShare,
          "it is not preemptible, so it does not borrow: queue " + queue + " deserves " +
              NamedAmount(resource, block->limit) + " and holds " +
              FormatAmount(resource, block->used) + ", and it asks " +
              FormatAmount(resource, block->requested),
          {{"Queue/" + queue, resource, block->requested, block->used, block->limit}}};
}

/// A cluster that would take the job now is what the backoff keeps it from; of the others, what
/// they lack is said.
ClusterVerdicts Explainer::WithBackoffs(const ClusterVerdicts& clusters,
                                        const JobEntry& job) const {
  ClusterVerdicts::List list = clusters;
  for (ClusterVerdict& cluster : list) {
    if (cluster.verdict != Verdict::kNone) {
      continue;
    }
    if (Reason reason = BacksOff(state_, job, cluster.cluster); reason.verdict != Verdict::kNone) {
      cluster.verdict = reason.verdict;
      cluster.message = std::move(reason.message);
      cluster.figures = std::move(reason.figures);
    }
  }
  return ClusterVerdicts(std::move(list));
}

/// Of the clusters that would take it but for a backoff, the one that comes back first; nothing
/// where another takes it now.
std::optional<Reason> Explainer::FirstBackoff(const ClusterVerdicts& clusters,
                                              const JobEntry& job) const {
  const ClusterVerdict* first = nullptr;
  Time until;
  for (const ClusterVerdict& cluster : clusters) {
    if (cluster.verdict == Verdict::kNone) {
      return std::nullopt;
    }
    const ClusterBackoff* backoff = LiveBackoff(job, cluster.cluster, state_.now());
    // Nobody knows when the pods of an earlier placement are gone.
    const Verdict verdict = backoff == nullptr ? Verdict::kBackoff : VerdictOf(*backoff);
    const Time ends = backoff == nullptr ? Time::max() : backoff->until;
    if (cluster.verdict == verdict && (first == nullptr || ends < until)) {
      first = &cluster;
      until = ends;
    }
  }
  if (first == nullptr) {
    return std::nullopt;
  }
  return Reason{first->verdict,
                "cluster " + first->cluster + " could not take it: " + first->message,
                first->figures};
}

const ClusterVerdicts& Explainer::AskClusters(const JobClass& job_class) {
  const bool by_tenant = HasClusterQuotas(state_.tenant(job_class.tenant));
  const std::tuple key(job_class.shape, by_tenant ? job_class.tenant : kNoIndex,
                       reservations_.bookings().empty() ? kNoIndex : IndexOf(job_class));
  const auto it = clusters_.find(key);
  if (it != clusters_.end()) {
    return it->second;
  }
  ClusterVerdicts::List list;
  for (const ClusterView& cluster : round_.clusters()) {
    list.push_back(AskCluster(cluster, job_class));
  }
  return clusters_.emplace(key, ClusterVerdicts(std::move(list))).first->second;
}

/// All classes that it looks at are the State's own.
ClassIndex Explainer::IndexOf(const JobClass& job_class) const {
  return static_cast<ClassIndex>(&job_class - state_.classes().data());
}

ClusterVerdict Explainer::AskCluster(const ClusterView& cluster, const JobClass& job_class) const {
  Reason reason = Admits(cluster, state_.shape(job_class.shape));
  if (reason.verdict == Verdict::kNone) {
    const std::optional<Block> block = round_.limits().CheckCluster(job_class.tenant, cluster.index,
                                                                    state_.facts(job_class.shape));
    reason = block ? round_.limits().Explain(*block) : Room(state_, cluster, job_class.shape);
  }
  if (reason.verdict == Verdict::kNone) {
    reason = KeptFromIt(cluster, job_class);
  }
  if (reason.verdict == Verdict::kNone) {
    reason.message = "it has room now";
  }
  return {cluster.name(), reason.verdict, std::move(reason.message), std::move(reason.figures)};
}

/// Room is being made for the job, or kept for it.
Reason Explainer::KeptFor(const JobEntry& job) const {
  for (const Reservations::Booking& booking : reservations_.bookings()) {
    if (!booking.pinned || state_.job(booking.job).uid != job.uid) {
      continue;
    }
    const std::string cluster = "cluster " + booking.reservation.cluster;
    if (booking.awaits) {
      return {Verdict::kReserved, "others are being evicted from " + cluster + " for it", {}};
    }
    std::string since = " is kept for it since " + FormatTime(booking.reservation.since);
    if (booking.start.has_value() && *booking.start > state_.now()) {
      since += "; by their estimates enough jobs end there until " + FormatTime(*booking.start);
    }
    return {Verdict::kReserved, cluster + since, {}};
  }
  return {};
}

/// The cluster has room, but it is kept for another job.
Reason Explainer::KeptFromIt(const ClusterView& cluster, const JobClass& job_class) const {
  const auto position = static_cast<size_t>(&cluster - round_.clusters().data());
  const Reservations::Booking* booking = reservations_.At(position);
  if (booking == nullptr ||
      reservations_.MayTake(cluster, position, IndexOf(job_class),
                            StaysWithin(round_, job_class.queue, state_.facts(job_class.shape)))) {
    return {};
  }
  std::string message = "its room is kept for " + booking->reservation.job.ToString();
  if (booking->start.has_value()) {
    message += ", which can start at " + FormatTime(*booking->start);
  }
  return {Verdict::kReserved, std::move(message), {}};
}

Reason Explainer::SumUp(const JobClass& job_class, const ClusterVerdicts& clusters) const {
  if (clusters.empty()) {
    return {Verdict::kNoClusterMatches, "there is no cluster", {}};
  }
  std::map<Verdict, std::vector<const ClusterVerdict*>> by_verdict;
  for (const ClusterVerdict& cluster : clusters) {
    by_verdict[cluster.verdict].push_back(&cluster);
  }
  if (by_verdict.contains(Verdict::kNone)) {
    return {};
  }
  if (std::optional<Reason> larger = LargerThanFederation(job_class.shape)) {
    return *larger;
  }
  if (std::optional<Reason> nowhere = ChildrenNowhere(job_class.shape)) {
    return *std::move(nowhere);
  }
  if (std::optional<Reason> split = NotSplit(job_class)) {
    return *std::move(split);
  }
  if (std::optional<Reason> larger = LargerThanEveryCluster(job_class.shape)) {
    return *larger;
  }
  std::vector<std::string> names;
  for (const Verdict verdict :
       {Verdict::kReserved, Verdict::kInsufficientResources, Verdict::kTenantQuota}) {
    if (const auto it = by_verdict.find(verdict); it != by_verdict.end()) {
      const ClusterVerdict& closest = **std::min_element(
          it->second.begin(), it->second.end(), [](const auto* a, const auto* b) {
            return Shortfall(a->figures) < Shortfall(b->figures);
          });
      const std::string head =
          it->second.size() == 1
              ? "cluster " + closest.cluster + " has no room now: "
              : "no cluster has room now; the closest is " + closest.cluster + ": ";
      return {verdict, head + closest.message, closest.figures};
    }
  }
  if (const auto it = by_verdict.find(Verdict::kClusterNotReady); it != by_verdict.end()) {
    for (const ClusterVerdict* cluster : it->second) {
      names.push_back(cluster->cluster);
    }
    return {Verdict::kClusterNotReady,
            "no cluster that may take it is Ready: " + Listed(names, ", "),
            {}};
  }
  for (const ClusterVerdict& cluster : clusters) {
    names.push_back(cluster.cluster + ": " + cluster.message);
  }
  return {Verdict::kNoClusterMatches, "no cluster may take it: " + Listed(names, "; "), {}};
}

/// Children of a HyperJob may go to none of the clusters, however much is free there.
std::optional<Reason> Explainer::ChildrenNowhere(ShapeIndex index) const {
  const Shape& shape = state_.shape(index);
  for (const SplitBundle& bundle : shape.split.bundles) {
    std::vector<std::string> answers;
    Verdict verdict = Verdict::kNoClusterMatches;
    bool open = bundle.clusters.empty();
    for (const ClusterView& cluster : round_.clusters()) {
      if (std::find(bundle.clusters.begin(), bundle.clusters.end(), cluster.name()) ==
          bundle.clusters.end()) {
        continue;
      }
      const Reason reason = Admits(cluster, shape.clusters);
      open = open || reason.verdict == Verdict::kNone;
      verdict = reason.verdict == Verdict::kNoClusterMatches ? verdict : reason.verdict;
      answers.push_back(cluster.name() + ": " + reason.message);
    }
    if (!open) {
      return Reason{verdict,
                    "children with clusterNames " + Listed(bundle.clusters, ", ") +
                        " may go nowhere: " +
                        (answers.empty() ? "there is no such cluster" : Listed(answers, "; ")),
                    {}};
    }
  }
  return std::nullopt;
}

/// Of a job that no single cluster takes: why it is not split, or a Reason of kNone where it would
/// be. Nothing where splitting is not the question.
std::optional<Reason> Explainer::NotSplit(const JobClass& job_class) const {
  const Shape& shape = state_.shape(job_class.shape);
  const SplitRules& rules = shape.split;
  if (rules.mode == SplitMode::kNever ||
      std::none_of(round_.clusters().begin(), round_.clusters().end(),
                   [&](const ClusterView& view) { return IsAdmitted(view, shape.clusters); })) {
    return std::nullopt;
  }
  const bool larger =
      !CouldEverFit(state_, round_.clusters(), job_class.shape, round_.quotas()[job_class.tenant]);
  if (!larger && (rules.mode != SplitMode::kAllowed || !MaySplit(shape))) {
    return std::nullopt;
  }
  const std::optional<Reason> alone =
      larger ? LargerThanEveryCluster(job_class.shape) : std::nullopt;
  Reason reason;
  if (!rules.unsafe.empty()) {
    reason = {Verdict::kSplitUnsafe, "it must not be split: " + rules.unsafe, {}};
  } else if (MaySplit(shape)) {
    const SplitSites sites = SitesNow(state_, job_class, round_.clusters(), round_.limits());
    if (sites.sites.size() < 2) {
      return std::nullopt;
    }
    if (!SplitOver(state_, job_class.shape, sites).empty()) {
      return Reason{};
    }
    reason = WhyNoSplit(state_, job_class.shape, sites);
  } else if (rules.max_clusters == 1 || rules.max_distance == SplitDistance::kCluster) {
    reason = {Verdict::kMaxClusters,
              rules.max_clusters == 1 ? "max-clusters 1 does not let it be split"
                                      : "max-distance cluster does not let it be split",
              {}};
  } else {
    return std::nullopt;
  }
  if (reason.figures.empty() && alone) {
    reason.figures = alone->figures;
  }
  reason.message = (larger ? alone ? alone->message + "; " : "no cluster could hold it; "
                           : "no cluster has room now; ") +
                   reason.message;
  return reason;
}

std::optional<Reason> Explainer::LargerThanFederation(ShapeIndex shape) const {
  const ShapeFacts& facts = state_.facts(shape);
  Reason reason{Verdict::kLargerThanFederation, "", {}};
  for (const ResourceIndex r : facts.requested) {
    int64_t all = 0;
    for (const ClusterView& cluster : round_.clusters()) {
      all = SaturatingAdd(all, cluster.allocatable[r]);
    }
    if (facts.total[r] > all) {
      const std::string& name = state_.resources().Name(r);
      reason.figures.push_back({"Federation", name, facts.total[r], 0, all});
      reason.message +=
          (reason.message.empty() ? "larger than all clusters together: it asks " : "; it asks ") +
          NamedAmount(name, facts.total[r]) + " and they have " + FormatAmount(name, all);
    }
  }
  return reason.figures.empty() ? std::nullopt : std::optional(reason);
}

std::optional<Reason> Explainer::LargerThanEveryCluster(ShapeIndex shape) const {
  const ShapeFacts& facts = state_.facts(shape);
  const ClusterView* largest = nullptr;
  int64_t least_missing = 0;
  for (const ClusterView& cluster : round_.clusters()) {
    if (!IsAdmitted(cluster, state_.shape(shape))) {
      continue;
    }
    int64_t missing = 0;
    for (const ResourceIndex r : facts.requested) {
      missing = std::max(missing, Share(SaturatingSub(facts.total[r], cluster.allocatable[r]),
                                        std::max<int64_t>(cluster.allocatable[r], 1)));
    }
    if (missing == 0) {
      return std::nullopt;
    }
    if (largest == nullptr || missing < least_missing) {
      largest = &cluster;
      least_missing = missing;
    }
  }
  if (largest == nullptr) {
    return std::nullopt;
  }
  Reason reason{
      Verdict::kInsufficientResources, "larger than every cluster that may take it: ", {}};
  for (const ResourceIndex r : facts.requested) {
    if (facts.total[r] > largest->allocatable[r]) {
      const std::string& name = state_.resources().Name(r);
      reason.message += (reason.figures.empty() ? "it asks " : "; it asks ") +
                        NamedAmount(name, facts.total[r]) + " and the largest, " + largest->name() +
                        ", has " + FormatAmount(name, largest->allocatable[r]);
      reason.figures.push_back(
          {"Cluster/" + largest->name(), name, facts.total[r], 0, largest->allocatable[r]});
    }
  }
  return reason;
}

}  // namespace caldera
