#include "federation/split_search.h"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

namespace caldera {

namespace {

// Sets of clusters that are tried in one search, and of those of one group.
constexpr int kMostSets = 400;
constexpr int kMostSetsOfGroup = 64;
// Sets that are looked at, most of them ruled out by sums.
constexpr int kMostLooks = 512;
// Where a master fits, of the largest shards.
constexpr size_t kMostHomes = 3;

using Set = std::vector<size_t>;  ///< Candidates, by rank.

class Search {
 public:
  Search(const State& state, ShapeIndex shape, SplitRules rules, const SplitSites& sites)
      : shape_(state.shape(shape)),
        rules_(std::move(rules)),
        sites_(sites.sites),
        tasks_(GangOf(shape_, state.facts(shape))),
        kinds_(SplitKindsOf(shape_, state.facts(shape))) {}

  std::vector<SplitPart> Find() {
    if (!FitsBySums()) {
      return {};
    }
    ListCandidates();
    const int64_t least = std::max(rules_.min_shard, 1);
    size_t most = std::min<size_t>(candidates_.size(), static_cast<size_t>(Pods() / least));
    if (rules_.max_clusters > 0) {
      most = std::min<size_t>(most, static_cast<size_t>(rules_.max_clusters));
    }
    Set all(candidates_.size());
    std::iota(all.begin(), all.end(), size_t{0});
    const std::vector<std::vector<Set>> levels = GroupByDistance(all);
    for (size_t n = 2; n <= most && tries_ < kMostSets; ++n) {
      if (!Could(n, all)) {
        continue;
      }
      for (const std::vector<Set>& groups : levels) {
        if (const std::optional<Found> found = BestOf(groups, n)) {
          return ToParts(*found);
        }
      }
    }
    return {};
  }

  /// Pods of it that the clusters hold, each on its own.
  int64_t PodsWithRoom() {
    ListCandidates();
    int64_t pods = 0;
    for (const Candidate& candidate : candidates_) {
      pods = SaturatingAdd(pods, candidate.pods);
    }
    return pods;
  }
  [[nodiscard]] int64_t Pods() const {
    int64_t pods = 0;
    for (const SplitKind& kind : kinds_) {
      pods += kind.count * kind.pods;
    }
    return pods;
  }

 private:
  struct Candidate {
    const SplitSite* site = nullptr;
    std::vector<int64_t> most;  ///< By kind, each as if it came alone.
    int64_t pods = 0;           ///< Of the whole job, filled greedily.
    size_t preference = 0;
  };
  struct Found {
    Set set;
    SplitCounts counts;
  };

  /// Enough for each kind over all clusters; no nodes are looked at.
  [[nodiscard]] bool FitsBySums() const {
    return std::all_of(kinds_.begin(), kinds_.end(), [&](const SplitKind& kind) {
      int64_t bound = 0;
      for (const SplitSite& site : sites_) {
        bound += BoundIn(site, kind);
      }
      return bound >= kind.count;
    });
  }

  static int64_t BoundIn(const SplitSite& site, const SplitKind& kind) {
    int64_t bound = kind.MayGoTo(site.view->name()) ? kind.count : 0;
    for (ResourceIndex r = 0; r < kind.request.size(); ++r) {
      if (const int64_t amount = kind.request[r]; amount > 0) {
        bound = std::min(bound, std::max<int64_t>(site.free[r], 0) / amount);
      }
    }
    return bound;
  }

  /// Those that could have a shard, the roomiest first.
  void ListCandidates() {
    if (!candidates_.empty()) {
      return;
    }
    const std::vector<std::string>& names = shape_.clusters.names;
    for (const SplitSite& site : sites_) {
      Candidate candidate;
      candidate.site = &site;
      SplitRoom together(site, tasks_);
      int64_t upper = 0;
      for (const SplitKind& kind : kinds_) {
        const int64_t bound = BoundIn(site, kind);
        candidate.most.push_back(site.nodes == nullptr || bound == 0
                                     ? bound
                                     : SplitRoom(site, tasks_).Take(kind, bound));
        upper += candidate.most.back() * kind.pods;
        candidate.pods += together.Take(kind, kind.count) * kind.pods;
      }
      const auto named = std::find(names.begin(), names.end(), site.view->name());
      candidate.preference = static_cast<size_t>(named - names.begin());
      if (upper >= std::max(rules_.min_shard, 1)) {
        candidates_.push_back(std::move(candidate));
      }
    }
    std::sort(candidates_.begin(), candidates_.end(), [](const Candidate& a, const Candidate& b) {
      // The views are sorted by name.
      return std::tuple(-a.pods, a.preference, a.site->view->object().cost, a.site->cluster) <
             std::tuple(-b.pods, b.preference, b.site->view->object().cost, b.site->cluster);
    });
  }

  /// By what the clusters of a group have in common, nearest first, as far as they may be apart.
  [[nodiscard]] std::vector<std::vector<Set>> GroupByDistance(const Set& all) const {
    std::map<std::tuple<std::string, std::string, std::string>, Set> zones;
    std::map<std::pair<std::string, std::string>, Set> regions;
    std::map<std::string, Set> providers;
    for (const size_t c : all) {
      const Cluster& cluster = candidates_[c].site->view->object();
      for (const std::string& zone : cluster.zones) {
        zones[{cluster.provider, cluster.region, zone}].push_back(c);
      }
      if (!cluster.region.empty()) {
        regions[{cluster.provider, cluster.region}].push_back(c);
      }
      if (!cluster.provider.empty()) {
        providers[cluster.provider].push_back(c);
      }
    }
    std::vector<std::vector<Set>> levels;
    const auto add = [&](const auto& groups) {
      std::vector<Set>& level = levels.emplace_back();
      for (const auto& [key, group] : groups) {
        level.push_back(group);
      }
    };
    add(zones);
    if (rules_.max_distance != SplitDistance::kZone) {
      add(regions);
    }
    if (rules_.max_distance == SplitDistance::kAny) {
      add(providers);
      levels.push_back({all});
    }
    return levels;
  }

  /// The roomiest n of the group have enough for each kind.
  [[nodiscard]] bool Could(size_t n, const Set& group) const {
    for (size_t k = 0; k < kinds_.size(); ++k) {
      std::vector<int64_t> most;
      most.reserve(group.size());
      for (const size_t c : group) {
        most.push_back(candidates_[c].most[k]);
      }
      const auto end = most.begin() + static_cast<std::ptrdiff_t>(std::min(n, most.size()));
      std::partial_sort(most.begin(), end, most.end(), std::greater<>());
      if (std::accumulate(most.begin(), end, int64_t{0}) < kinds_[k].count) {
        return false;
      }
    }
    return true;
  }

  /// Of one distance: what leaves the least room beside it, then by rank.
  std::optional<Found> BestOf(const std::vector<Set>& groups, size_t n) {
    std::optional<Found> best;
    for (const Set& group : groups) {
      if (group.size() < n || !Could(n, group)) {
        continue;
      }
      std::optional<Found> found = InGroup(group, n);
      if (found && (!best || std::pair(Room(found->set), found->set) <
                                 std::pair(Room(best->set), best->set))) {
        best = std::move(found);
      }
    }
    return best;
  }
  [[nodiscard]] int64_t Room(const Set& set) const {
    int64_t pods = 0;
    for (const size_t c : set) {
      pods += candidates_[c].pods;
    }
    return pods;
  }

  /// The roomiest that do, and in place of the last of them the one that the rest fills best.
  std::optional<Found> InGroup(const Set& group, size_t n) {
    Set at(n);
    std::iota(at.begin(), at.end(), size_t{0});
    int tried = 0;
    for (int looks = 0; looks < kMostLooks && tried < kMostSetsOfGroup; ++looks) {
      Set set = Picked(group, at);
      if (Could(n, set)) {
        ++tried;
        if (std::optional<Found> found = Try(set)) {
          return Tighten(group, at, *std::move(found));
        }
      }
      if (!Next(at, group.size())) {
        break;
      }
    }
    return std::nullopt;
  }

  /// Smaller ones first, of equal ones the first by rank.
  std::optional<Found> Tighten(const Set& group, Set at, Found found) {
    const auto pods = [&](size_t i) { return candidates_[group[i]].pods; };
    std::vector<size_t> smaller;
    for (size_t i = at.back() + 1; i < group.size(); ++i) {
      if (pods(i) < pods(at.back())) {
        smaller.push_back(i);
      }
    }
    std::stable_sort(smaller.begin(), smaller.end(),
                     [&](size_t a, size_t b) { return pods(a) < pods(b); });
    int tried = 0;
    for (size_t k = 0; k < smaller.size() && tried < kMostSetsOfGroup; ++k) {
      at.back() = smaller[k];
      if (const Set set = Picked(group, at); Could(set.size(), set)) {
        ++tried;
        if (std::optional<Found> tighter = Try(set)) {
          return tighter;
        }
      }
    }
    return found;
  }

  static Set Picked(const Set& group, const Set& at) {
    Set set;
    for (const size_t i : at) {
      set.push_back(group[i]);
    }
    return set;
  }
  /// The next choice of so many out of `size`, in lexicographic order.
  static bool Next(Set& at, size_t size) {
    for (size_t i = at.size(); i-- > 0;) {
      if (at[i] + (at.size() - i) < size) {
        ++at[i];
        for (size_t j = i + 1; j < at.size(); ++j) {
          at[j] = at[j - 1] + 1;
        }
        return true;
      }
    }
    return false;
  }

  std::optional<Found> Try(const Set& set) {
    if (++tries_ > kMostSets) {
      return std::nullopt;
    }
    std::vector<const SplitSite*> sites;
    for (const size_t c : set) {
      sites.push_back(candidates_[c].site);
    }
    const bool homeless = std::none_of(kinds_.begin(), kinds_.end(),
                                       [](const SplitKind& kind) { return kind.single; });
    const size_t homes = homeless ? 1 : std::min(set.size(), kMostHomes);
    std::optional<Found> second;
    for (size_t home = 0; home < homes; ++home) {
      for (const SplitOrder::Way way : {SplitOrder::Way::kAdvantage, SplitOrder::Way::kInTurn,
                                        SplitOrder::Way::kBackwards, SplitOrder::Way::kEvenly}) {
        auto counts = FillSites(kinds_, tasks_, sites, std::max(rules_.min_shard, 1), {way, home});
        if (!counts || !Packs(sites, *counts)) {
          continue;
        }
        Found found{set, *std::move(counts)};
        if (homeless || Largest(found.counts) == home) {
          return found;
        }
        second = second ? std::move(second) : std::optional(std::move(found));
      }
    }
    return second;
  }

  [[nodiscard]] int64_t PodsOf(const std::vector<int64_t>& counts) const {
    int64_t pods = 0;
    for (size_t k = 0; k < kinds_.size(); ++k) {
      pods += counts[k] * kinds_[k].pods;
    }
    return pods;
  }
  [[nodiscard]] size_t Largest(const SplitCounts& counts) const {
    size_t largest = 0;
    for (size_t s = 1; s < counts.size(); ++s) {
      largest = PodsOf(counts[s]) > PodsOf(counts[largest]) ? s : largest;
    }
    return largest;
  }

  [[nodiscard]] std::vector<int32_t> Replicas(const std::vector<int64_t>& counts) const {
    std::vector<int32_t> replicas(shape_.tasks.size(), 0);
    for (size_t k = 0; k < kinds_.size(); ++k) {
      for (const auto& [task, pods] : kinds_[k].parts) {
        replicas[task] += static_cast<int32_t>(counts[k] * pods);
      }
    }
    return replicas;
  }

  /// As it will be packed when it is placed: largest requests first.
  [[nodiscard]] bool Packs(const std::vector<const SplitSite*>& sites,
                           const SplitCounts& counts) const {
    for (size_t s = 0; s < sites.size(); ++s) {
      if (sites[s]->nodes == nullptr) {
        continue;
      }
      std::vector<NodePool::Task> gang = tasks_;
      const std::vector<int32_t> replicas = Replicas(counts[s]);
      for (size_t t = 0; t < gang.size(); ++t) {
        gang[t].replicas = replicas[t];
      }
      if (NodePool nodes = *sites[s]->nodes; !nodes.Pack(gang)) {
        return false;
      }
    }
    return true;
  }

  [[nodiscard]] bool HasSingles(const std::vector<int64_t>& counts) const {
    for (size_t k = 0; k < kinds_.size(); ++k) {
      if (kinds_[k].single && counts[k] > 0) {
        return true;
      }
    }
    return false;
  }

  [[nodiscard]] std::vector<SplitPart> ToParts(const Found& found) const {
    std::vector<size_t> order(found.set.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
      return std::pair(HasSingles(found.counts[a]), PodsOf(found.counts[a])) >
             std::pair(HasSingles(found.counts[b]), PodsOf(found.counts[b]));
    });
    std::vector<SplitPart> parts;
    parts.reserve(order.size());
    for (const size_t s : order) {
      parts.push_back({candidates_[found.set[s]].site->cluster, Replicas(found.counts[s])});
    }
    return parts;
  }

  const Shape& shape_;
  const SplitRules rules_;
  const std::vector<SplitSite>& sites_;
  const std::vector<NodePool::Task> tasks_;
  const std::vector<SplitKind> kinds_;
  std::vector<Candidate> candidates_;
  int tries_ = 0;
};

}  // namespace

std::vector<SplitPart> FindSplit(const State& state, ShapeIndex shape, const SplitRules& rules,
                                 const SplitSites& sites) {
  return Search(state, shape, rules, sites).Find();
}

int64_t PodsWithRoom(const State& state, ShapeIndex shape, const SplitSites& sites) {
  return Search(state, shape, state.shape(shape).split, sites).PodsWithRoom();
}

std::vector<Roomless> WithoutRoom(const State& state, ShapeIndex shape, const SplitSites& sites) {
  const std::vector<NodePool::Task> tasks = GangOf(state.shape(shape), state.facts(shape));
  std::vector<SplitRoom> rooms;
  for (const SplitSite& site : sites.sites) {
    rooms.emplace_back(site, tasks);
  }
  std::vector<Roomless> roomless;
  for (SplitKind& kind : SplitKindsOf(state.shape(shape), state.facts(shape))) {
    int64_t missing = kind.count;
    for (SplitRoom& room : rooms) {
      missing -= room.Take(kind, missing);
    }
    if (missing > 0) {
      roomless.push_back({std::move(kind), missing, {}});
    }
  }
  for (Roomless& each : roomless) {
    for (const SplitRoom& room : rooms) {
      each.left.push_back(room.free());
    }
  }
  return roomless;
}

}  // namespace caldera
