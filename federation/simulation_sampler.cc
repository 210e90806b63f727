#include "federation/simulation_sampler.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "federation/capacity.h"
#include "federation/round.h"

namespace caldera {

namespace {

constexpr int64_t kMillisPerSecond = 1000;

/// max(0, a - b).
ResourceVector Excess(const ResourceVector& a, const ResourceVector& b) {
  ResourceVector excess;
  for (ResourceIndex r = 0; r < a.size(); ++r) {
    if (a[r] > b[r]) {
      excess.Set(r, a[r] - std::max<int64_t>(b[r], 0));
    }
  }
  return excess;
}

}  // namespace

void Accrual::Add(const ResourceVector& amounts, Millis span) {
  if (sums_.size() < amounts.size()) {
    sums_.resize(amounts.size());
  }
  for (ResourceIndex r = 0; r < amounts.size(); ++r) {
    // An unlimited amount is no amount.
    sums_[r] += amounts[r] == kUnlimited ? 0 : Int128{amounts[r]} * span.count();
  }
}

ResourceList Accrual::Seconds(const ResourceCatalog& resources) const {
  ResourceList list;
  for (ResourceIndex r = 0; r < sums_.size(); ++r) {
    const Int128 seconds = sums_[r] / kMillisPerSecond;
    if (seconds > 0) {
      list.emplace(resources.Name(r), static_cast<int64_t>(std::min<Int128>(
                                          seconds, std::numeric_limits<int64_t>::max())));
    }
  }
  return list;
}

Sampler::Queue& Sampler::At(QueueIndex queue) {
  if (queue >= queues_.size()) {
    queues_.resize(queue + 1);
  }
  return queues_[queue];
}

Sampler::Capacity& Sampler::In(ClusterIndex cluster) {
  if (cluster >= clusters_.size()) {
    clusters_.resize(cluster + 1);
  }
  return clusters_[cluster];
}

void Sampler::Waiting(QueueIndex queue, int32_t by) { At(queue).waiting += by; }
void Sampler::Running(QueueIndex queue, int32_t by) { At(queue).running += by; }

void Sampler::Charged(QueueIndex queue, ClusterIndex cluster, const ResourceVector& amounts,
                      Millis span) {
  At(queue).allocated.Add(amounts, span);
  At(queue).seen = true;
  In(cluster).allocated.Add(amounts, span);
  In(cluster).seen = true;
}

void Sampler::TakeCapacity(const std::vector<ResourceVector>& foreign) {
  AddCapacity();
  for (Capacity& capacity : clusters_) {
    capacity.amounts = {};
  }
  for (const ClusterView& view : ViewClusters(state_)) {
    Capacity& capacity = In(view.index);
    capacity.seen = true;
    capacity.amounts =
        view.index < foreign.size() && view.object().has_summary
            ? Excess(view.allocatable, foreign[view.index])
            : Excess(view.allocatable, view.nodes.has_value() ? view.allocated : ResourceVector());
  }
}

void Sampler::AddCapacity() {
  for (Capacity& capacity : clusters_) {
    capacity.allocatable.Add(capacity.amounts, state_.now() - capacity_since_);
  }
  capacity_since_ = state_.now();
}

void Sampler::Take(bool last) {
  const Time now = state_.now();
  if (any_ && now < next_ && !last) {
    return;
  }
  if (any_) {
    AddSince(last_);
  }
  Sample sample;
  sample.at = now;
  const Round round(state_);
  for (const auto& [name, i] : state_.queues()) {
    Queue& queue = At(i);
    const QueueShare& share = round.shares()[i];
    const bool leaf = round.tree().node(i).children.empty() && i != round.tree().root();
    queue.seen = queue.seen || (leaf && state_.queue(i).object.has_value());
    sample.waiting += queue.waiting;
    sample.running += queue.running;
    if (leaf && (queue.waiting > 0 || queue.running > 0 || !share.charged.IsZero() ||
                 !share.deserved.IsZero())) {
      sample.queues.push_back({i, queue.waiting, queue.running, share.charged, share.deserved});
    }
  }
  sample.total = round.total();
  sample.allocated = round.shares()[round.tree().root()].charged;
  for (ClusterIndex c = 0; c < state_.clusters().size(); ++c) {
    sample.clusters.push_back(state_.cluster(c).charged.ToVector());
  }
  // Of several at one time, what came last holds.
  if (any_ && samples_.back().at == now) {
    samples_.pop_back();
  }
  last_ = sample;
  samples_.push_back(std::move(sample));
  any_ = true;
  if (samples_.size() >= 2 * wanted_ && !last) {
    Thin();
  }
  next_ = now + step_;
}

void Sampler::AddSince(const Sample& sample) {
  const Millis span = state_.now() - sample.at;
  for (const QueueSample& q : sample.queues) {
    Queue& queue = At(q.queue);
    queue.deserved.Add(q.deserved, span);
    queue.missed.Add(Excess(q.deserved, q.allocated), span);
  }
}

void Sampler::Thin() {
  const Millis span = samples_.back().at - samples_.front().at;
  step_ = std::max(2 * step_, span / static_cast<int64_t>(wanted_));
  std::vector<Sample> kept;
  Time next = samples_.front().at;
  for (Sample& sample : samples_) {
    if (sample.at >= next) {
      next = sample.at + step_;
      kept.push_back(std::move(sample));
    }
  }
  samples_ = std::move(kept);
}

void Sampler::Finish(SimulationRecord& record) {
  AddCapacity();
  record.resources = state_.resources();
  std::vector<uint32_t> queue_at(state_.queues().size(), kNoIndex);
  for (const auto& [name, i] : state_.queues()) {
    const Queue& queue = At(i);
    if (queue.seen) {
      queue_at[i] = static_cast<uint32_t>(record.queues.size());
      record.queues.push_back({name, queue.allocated.Seconds(record.resources),
                               queue.deserved.Seconds(record.resources),
                               queue.missed.Seconds(record.resources)});
    }
  }
  std::vector<ClusterIndex> clusters;
  for (const auto& [name, i] : state_.clusters()) {
    const Capacity& cluster = In(i);
    if (cluster.seen) {
      clusters.push_back(i);
      record.clusters.push_back({name, cluster.allocated.Seconds(record.resources),
                                 cluster.allocatable.Seconds(record.resources)});
    }
  }
  for (Sample& sample : samples_) {
    std::erase_if(sample.queues,
                  [&](const QueueSample& q) { return queue_at[q.queue] == kNoIndex; });
    for (QueueSample& queue : sample.queues) {
      queue.queue = queue_at[queue.queue];
    }
    std::vector<ResourceVector> charged;
    charged.reserve(clusters.size());
    for (const ClusterIndex i : clusters) {
      charged.push_back(i < sample.clusters.size() ? sample.clusters[i] : ResourceVector());
    }
    sample.clusters = std::move(charged);
  }
  record.samples = std::move(samples_);
}

}  // namespace caldera
