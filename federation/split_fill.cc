#include "federation/split_fill.h"

#include <algorithm>
#include <numeric>

#include "federation/divide.h"
#include "federation/share.h"
#include "federation/split.h"

namespace caldera {

namespace {

constexpr int64_t kScale = int64_t{1} << 20U;

void AddKind(const ShapeFacts& facts, SplitKind kind, std::vector<SplitKind>& kinds) {
  if (kind.count <= 0) {
    return;
  }
  for (const auto& [task, pods] : kind.parts) {
    kind.pods += pods;
    kind.request.AddTimes(facts.requests[task], pods);
  }
  kinds.push_back(std::move(kind));
}

class Filling {
 public:
  Filling(const std::vector<SplitKind>& kinds, const std::vector<NodePool::Task>& tasks,
          const std::vector<const SplitSite*>& sites, int64_t min_shard)
      : kinds_(kinds),
        min_shard_(min_shard),
        counts_(sites.size(), std::vector<int64_t>(kinds.size(), 0)),
        pods_(sites.size(), 0) {
    for (const SplitSite* site : sites) {
      rooms_.emplace_back(*site, tasks);
    }
    for (const SplitKind& kind : kinds) {
      left_ += kind.count * kind.pods;
    }
  }

  bool Run(SplitOrder order) {
    for (size_t k = 0; k < kinds_.size(); ++k) {
      if (kinds_[k].single && Take(order.home, k, kinds_[k].count) < kinds_[k].count) {
        return false;
      }
    }
    for (const size_t k : ByWeight()) {
      if (!kinds_[k].single && !Spread(k, order.way)) {
        return false;
      }
    }
    return std::all_of(pods_.begin(), pods_.end(),
                       [&](int64_t pods) { return pods >= min_shard_; });
  }
  [[nodiscard]] SplitCounts& counts() { return counts_; }

 private:
  /// Of what is left to give, what this site may get so that the others still get their least.
  [[nodiscard]] int64_t Allowance(size_t site) const {
    int64_t others = 0;
    for (size_t s = 0; s < pods_.size(); ++s) {
      others += s == site ? 0 : std::max<int64_t>(min_shard_ - pods_[s], 0);
    }
    return std::max<int64_t>(left_ - others, 0);
  }

  int64_t Take(size_t site, size_t k, int64_t most) {
    const SplitKind& kind = kinds_[k];
    const int64_t taken =
        rooms_[site].Take(kind, std::min(most, Allowance(site) / std::max<int64_t>(kind.pods, 1)));
    counts_[site][k] += taken;
    pods_[site] += taken * kind.pods;
    left_ -= taken * kind.pods;
    return taken;
  }

  bool Spread(size_t k, SplitOrder::Way way) {
    int64_t open = kinds_[k].count;
    if (way == SplitOrder::Way::kEvenly) {
      std::vector<Claim> claims;
      for (const SplitRoom& room : rooms_) {
        const int64_t bound = room.Bound(kinds_[k], kinds_[k].count);
        claims.push_back({bound, bound});
      }
      const std::vector<int64_t> shares = DivideByWeight(open, claims);
      for (size_t s = 0; s < rooms_.size(); ++s) {
        open -= Take(s, k, shares[s]);
      }
    }
    for (const size_t site : Turns(k, way)) {
      if (open == 0) {
        break;
      }
      open -= Take(site, k, open);
    }
    return open == 0;
  }

  /// The larger part of all the room one takes, the earlier: it is the harder to place.
  [[nodiscard]] std::vector<size_t> ByWeight() const {
    std::vector<std::pair<int64_t, size_t>> order;
    for (size_t k = 0; k < kinds_.size(); ++k) {
      int64_t bound = 0;
      for (const SplitRoom& room : rooms_) {
        bound = SaturatingAdd(bound, room.Bound(kinds_[k], kUnlimited));
      }
      order.emplace_back(bound, k);
    }
    std::sort(order.begin(), order.end());
    std::vector<size_t> kinds;
    kinds.reserve(order.size());
    for (const auto& [bound, k] : order) {
      kinds.push_back(k);
    }
    return kinds;
  }

  [[nodiscard]] std::vector<size_t> Turns(size_t k, SplitOrder::Way way) const {
    std::vector<size_t> turns(rooms_.size());
    std::iota(turns.begin(), turns.end(), size_t{0});
    if (way == SplitOrder::Way::kBackwards) {
      std::reverse(turns.begin(), turns.end());
    } else if (way == SplitOrder::Way::kAdvantage) {
      std::vector<int64_t> advantage;
      for (const SplitRoom& room : rooms_) {
        advantage.push_back(Advantage(room, k));
      }
      std::stable_sort(turns.begin(), turns.end(),
                       [&](size_t a, size_t b) { return advantage[a] > advantage[b]; });
    }
    return turns;
  }

  /// The part of this kind that finds room there, over the largest part of another.
  [[nodiscard]] int64_t Advantage(const SplitRoom& room, size_t k) const {
    const auto part = [&](const SplitKind& kind) {
      return Share(room.Bound(kind, kind.count), kind.count) >> 12U;
    };
    int64_t others = 0;
    for (size_t j = 0; j < kinds_.size(); ++j) {
      if (j != k && !kinds_[j].single) {
        others = std::max(others, part(kinds_[j]));
      }
    }
    return others == 0 ? part(kinds_[k]) : part(kinds_[k]) * kScale / others;
  }

  const std::vector<SplitKind>& kinds_;
  const int64_t min_shard_;
  std::vector<SplitRoom> rooms_;
  SplitCounts counts_;
  std::vector<int64_t> pods_;  ///< By site.
  int64_t left_ = 0;           ///< Pods that have no place yet.
};

}  // namespace

std::vector<SplitKind> SplitKindsOf(const Shape& shape, const ShapeFacts& facts) {
  std::vector<SplitKind> kinds;
  std::vector<bool> bundled(shape.tasks.size(), false);
  bool several = false;
  for (const SplitBundle& bundle : shape.split.bundles) {
    AddKind(facts, {bundle.count, bundle.parts, 0, {}, bundle.single, bundle.clusters}, kinds);
    several = several || !bundle.single;
    for (const auto& [task, pods] : bundle.parts) {
      bundled[task] = true;
    }
  }
  for (size_t t = 0; t < shape.tasks.size(); ++t) {
    if (!bundled[t]) {
      const ShapeTask& task = shape.tasks[t];
      const int32_t size = task.partition.total > 0 ? std::max(task.partition.size, 1) : 1;
      AddKind(
          facts,
          {task.replicas / size, {{static_cast<uint32_t>(t), size}}, 0, {}, task.replicas == 1, {}},
          kinds);
      several = several || task.replicas > 1;
    }
  }
  if (!several) {
    // Nothing that they could be with.
    for (SplitKind& kind : kinds) {
      kind.single = false;
    }
  }
  return kinds;
}

SplitRoom::SplitRoom(const SplitSite& site, const std::vector<NodePool::Task>& tasks)
    : cluster_(&site.view->name()), tasks_(&tasks), free_(site.free) {
  if (site.nodes != nullptr) {
    nodes_ = *site.nodes;
  }
}

int64_t SplitRoom::Bound(const SplitKind& kind, int64_t most) const {
  int64_t bound = kind.MayGoTo(*cluster_) ? most : 0;
  for (ResourceIndex r = 0; r < kind.request.size(); ++r) {
    if (const int64_t amount = kind.request[r]; amount > 0) {
      bound = std::min(bound, std::max<int64_t>(free_[r], 0) / amount);
    }
  }
  return bound;
}

int64_t SplitRoom::Take(const SplitKind& kind, int64_t most) {
  int64_t count = Bound(kind, most);
  if (nodes_.has_value() && count > 0) {
    count = TakeOnNodes(kind, count);
  }
  free_.AddTimes(kind.request, -count);
  return count;
}

int64_t SplitRoom::TakeOnNodes(const SplitKind& kind, int64_t most) {
  if (kind.parts.size() == 1) {
    const auto& [index, size] = kind.parts.front();
    NodePool::Task task = (*tasks_)[index];
    task.replicas = most * size;
    NodePool before = *nodes_;
    const int64_t got = nodes_->PackSome(task);
    if (got % size != 0) {
      task.replicas = got / size * size;
      nodes_ = std::move(before);
      nodes_->PackSome(task);
    }
    return got / size;
  }
  std::vector<NodePool::Task> gang;
  for (const auto& [index, pods] : kind.parts) {
    gang.push_back((*tasks_)[index]);
    gang.back().replicas = pods;
  }
  int64_t count = 0;
  while (count < most && nodes_->Pack(gang)) {
    ++count;
  }
  return count;
}

std::optional<SplitCounts> FillSites(const std::vector<SplitKind>& kinds,
                                     const std::vector<NodePool::Task>& tasks,
                                     const std::vector<const SplitSite*>& sites, int64_t min_shard,
                                     SplitOrder order) {
  Filling filling(kinds, tasks, sites, min_shard);
  if (!filling.Run(order)) {
    return std::nullopt;
  }
  return std::move(filling.counts());
}

}  // namespace caldera
