#include "federation/order.h"

#include <algorithm>
#include <bit>
#include <tuple>

#include "federation/gate.h"
#include "federation/share.h"

namespace caldera {

namespace {

bool FitsWithin(const QueueShare& share, const ResourceVector& held, const ShapeFacts& facts,
                const ResourceKinds& kinds) {
  return std::all_of(facts.requested.begin(), facts.requested.end(), [&](ResourceIndex r) {
    const int64_t deserved = kinds.device[r] ? share.within[r] : share.deserved[r];
    return r == kinds.pods || SaturatingAdd(held[r], facts.total[r]) <= deserved;
  });
}

}  // namespace

bool IsWithin(const QueueShare& share, const ResourceVector& held, const ShapeFacts& facts,
              const ResourceKinds& kinds) {
  return held.IsZero() || FitsWithin(share, held, facts, kinds);
}

Contest::Contest(const State& state, const QueueTree& tree, const std::vector<QueueShare>& shares,
                 const Field& field, const std::set<JobIndex>& settled)
    : state_(state),
      tree_(tree),
      shares_(shares),
      settled_(settled),
      kinds_(state.resources()),
      usage_weight_(UsageWeight(state)),
      queues_(tree.size()),
      dropped_(field.out) {
  dropped_.resize(state.classes().size(), false);
  Weigh();
  for (const JobIndex job : settled) {
    const JobEntry& entry = state.job(job);
    for (QueueIndex n = entry.queue; n != kNoIndex; n = tree.node(n).parent) {
      Hold(n, state.facts(entry.shape).total);
    }
  }
  BarShapes();
  Enter(field.entrants);
  for (const QueueIndex i : tree.BottomUp()) {
    Judge(i);
    if (const QueueIndex parent = tree.node(i).parent; parent != kNoIndex) {
      Replay(parent, i);
    }
  }
}

/// How the queues stand before anybody is placed.
void Contest::Weigh() {
  uint32_t rank = 0;
  for (const auto& [name, i] : state_.queues()) {
    Node& node = queues_[i];
    node.held = shares_[i].held;
    for (ResourceIndex r = 0; r < state_.resources().size(); ++r) {
      node.shares.Set(r, ShareIn(shares_[i], node.held[r], r, usage_weight_));
    }
    node.standing.name = rank++;
    const auto& children = tree_.node(i).children;
    node.winners.assign(2 * std::bit_ceil(children.size()), kNoIndex);
    for (size_t c = 0; c < children.size(); ++c) {
      queues_[children[c]].position = c;
    }
  }
}

/// Those that ClassGate refuses for their shape: few, if any.
void Contest::BarShapes() {
  for (ShapeIndex s = 0; s < state_.shape_count(); ++s) {
    if (state_.CandidatesOf(s) == 0 || ShapeGate(state_.shape(s)) == Verdict::kNone) {
      continue;
    }
    for (ClassIndex c = 0; c < dropped_.size(); ++c) {
      dropped_[c] = dropped_[c] || state_.ClassShape(c) == s;
    }
  }
}

void Contest::Enter(const std::vector<Entrant>& entrants) {
  std::vector<uint32_t> tenant_rank(state_.tenants().size());
  uint32_t rank = 0;
  for (const auto& [name, tenant] : state_.tenants()) {
    tenant_rank[tenant] = rank++;
  }
  std::vector<Entrant> sorted = entrants;
  const auto key = [&](const Entrant& e) {
    const caldera::Lane& lane = state_.lanes()[e.lane];
    return std::tuple(lane.queue, -int64_t{e.priority}, tenant_rank[lane.tenant]);
  };
  std::sort(sorted.begin(), sorted.end(),
            [&](const Entrant& a, const Entrant& b) { return key(a) < key(b); });
  for (const Entrant& entrant : sorted) {
    const caldera::Lane& lane = state_.lanes()[entrant.lane];
    Node& node = queues_[lane.queue];
    if (node.lanes.empty() || node.lanes.back().priority != entrant.priority ||
        node.lanes.back().tenant != lane.tenant) {
      node.lanes.push_back({entrant.priority, lane.tenant, {}});
      if (const auto it = state_.queue(lane.queue).charged_by.find(lane.tenant);
          it != state_.queue(lane.queue).charged_by.end()) {
        node.held_by[lane.tenant] = it->second.ToVector();
      }
    }
    PushLine(node.lanes.back(), entrant.lane, {});
  }
}

bool Contest::BorrowsNothing() const {
  return BorrowsNothing(Facts(BestLine(queues_[tree_.root()].standing.leaf)));
}

bool Contest::BorrowsNothing(const ShapeFacts& facts) const {
  const QueueIndex leaf = queues_[tree_.root()].standing.leaf;
  for (QueueIndex n = leaf; n != tree_.root(); n = tree_.node(n).parent) {
    if (!FitsWithin(shares_[n], queues_[n].held, facts, kinds_)) {
      return false;
    }
  }
  return true;
}

Head Contest::Best() const {
  const Standing& root = queues_[tree_.root()].standing;
  if (!root.any) {
    return {};
  }
  const Line& line = BestLine(root.leaf);
  Head head{line.head.job_class, line.head.job, true};
  for (QueueIndex n = root.leaf; n != tree_.root(); n = tree_.node(n).parent) {
    head.within = head.within && queues_[n].standing.claim.within;
  }
  return head;
}

JobIndex Contest::Champion(QueueIndex queue) const {
  const Standing& standing = queues_[queue].standing;
  return standing.any ? BestLine(standing.leaf).head.job : kNoIndex;
}

std::vector<QueueIndex> Contest::Ahead(QueueIndex queue) const {
  std::vector<QueueIndex> ahead;
  for (const QueueIndex sibling : tree_.node(tree_.node(queue).parent).children) {
    if (sibling != queue && queues_[sibling].standing.any && Better(sibling, queue) == sibling) {
      ahead.push_back(sibling);
    }
  }
  std::sort(ahead.begin(), ahead.end(),
            [&](QueueIndex a, QueueIndex b) { return a != b && Better(a, b) == a; });
  return ahead;
}

void Contest::Took(const ResourceVector& amounts) {
  const QueueIndex leaf = queues_[tree_.root()].standing.leaf;
  Lane& lane = queues_[leaf].lanes[queues_[leaf].standing.lane];
  const Line line = lane.lines.front();
  for (QueueIndex n = leaf; n != kNoIndex; n = tree_.node(n).parent) {
    Hold(n, amounts);
  }
  queues_[leaf].held_by[lane.tenant].Add(amounts);
  PopLine(lane);
  PushLine(lane, line.lane, state_.lanes()[line.lane].waiting.Next(line.at));
  Settle(leaf);
}

/// The queue holds so much more.
void Contest::Hold(QueueIndex i, const ResourceVector& amounts) {
  Node& node = queues_[i];
  node.held.Add(amounts);
  for (ResourceIndex r = 0; r < amounts.size(); ++r) {
    if (amounts[r] != 0) {
      node.shares.Set(r, ShareIn(shares_[i], node.held[r], r, usage_weight_));
    }
  }
}

void Contest::Drop(const Doomed& doomed) {
  const QueueIndex leaf = queues_[tree_.root()].standing.leaf;
  Node& node = queues_[leaf];
  if (tree_.node(leaf).object().dequeue_strategy == DequeueStrategy::kFifo) {
    node.lanes.clear();
    node.first_lane = 0;
    Settle(leaf);
    return;
  }
  const auto is_doomed = [&](const Line& line) {
    return StillBest(leaf) && doomed(line.lane, line.head.job_class);
  };
  LaneIndex one_by_one = kNoIndex;
  do {
    Lane& lane = node.lanes[node.standing.lane];
    Line line = lane.lines.front();
    dropped_[line.head.job_class] = true;
    if (line.lane != one_by_one && IsAlone(node) && CannotBeWorse(line, leaf)) {
      line.at = DropFrom(line, doomed);
    } else {
      one_by_one = line.lane;
    }
    PopLine(lane);
    PushLine(lane, line.lane, line.at);
    PickLane(leaf);
  } while (node.standing.any && is_doomed(BestLine(leaf)));
  Settle(leaf);
}

/// The classes in that line up to the first that is not doomed; where that is.
LaneFifo::Cursor Contest::DropFrom(const Line& line, const Doomed& doomed) {
  const LaneFifo& waiting = state_.lanes()[line.lane].waiting;
  LaneFifo::Cursor at = line.at;
  for (; !waiting.AtEnd(at); at = waiting.Next(at)) {
    const LaneFifo::Item& item = waiting.At(at);
    if (!dropped_[item.job_class] && !settled_.contains(item.job)) {
      if (!doomed(line.lane, item.job_class)) {
        break;
      }
      dropped_[item.job_class] = true;
    }
  }
  return at;
}

/// The best line of the leaf is the only one of its priority: those in it come one after the other.
bool Contest::IsAlone(const Node& node) {
  const Lane& best = node.lanes[node.standing.lane];
  return best.lines.size() == 1 &&
         std::none_of(node.lanes.begin() + static_cast<std::ptrdiff_t>(node.first_lane),
                      node.lanes.end(), [&](const Lane& lane) {
                        return &lane != &best && lane.priority == best.priority &&
                               !lane.lines.empty();
                      });
}

/// None in that line makes the leaf, or a queue above it, stand worse than it did as the best.
bool Contest::CannotBeWorse(const Line& line, QueueIndex leaf) const {
  const Tally& asked = state_.lanes()[line.lane].asked;
  for (QueueIndex n = leaf; n != tree_.root(); n = tree_.node(n).parent) {
    const Node& node = queues_[n];
    Claim worst;
    for (ResourceIndex r = 0; r < asked.size(); ++r) {
      if (r != kinds_.pods && asked[r] > 0) {
        worst.share = std::max(worst.share, node.shares[r]);
      }
    }
    if (worst.IsWorseThan(node.standing.claim)) {
      return false;
    }
  }
  return true;
}

/// The leaf was the best before its head changed, and since then nobody was judged: it still is
/// where no queue on its way up stands worse.
bool Contest::StillBest(QueueIndex leaf) const {
  const ShapeFacts& facts = Facts(BestLine(leaf));
  for (QueueIndex n = leaf; n != tree_.root(); n = tree_.node(n).parent) {
    if (ClaimOf(n, facts).IsWorseThan(queues_[n].standing.claim)) {
      return false;
    }
  }
  return true;
}

/// What changed at `i` is judged anew from there to the root.
void Contest::Settle(QueueIndex i) {
  for (QueueIndex n = i; n != kNoIndex; n = tree_.node(n).parent) {
    Judge(n);
    if (const QueueIndex parent = tree_.node(n).parent; parent != kNoIndex) {
      Replay(parent, n);
    }
  }
}

void Contest::Judge(QueueIndex i) {
  Node& node = queues_[i];
  Standing& standing = node.standing;
  if (tree_.node(i).children.empty()) {
    standing.leaf = i;
    PickLane(i);
  } else {
    const QueueIndex winner = node.winners[1];
    standing.any = winner != kNoIndex;
    standing.leaf = standing.any ? queues_[winner].standing.leaf : kNoIndex;
  }
  if (!standing.any) {
    return;
  }
  standing.claim = ClaimOf(i, Facts(BestLine(standing.leaf)));
  standing.priority = tree_.node(i).object().priority;
  standing.creation = tree_.node(i).object().creation;
}

Contest::Claim Contest::ClaimOf(QueueIndex i, const ShapeFacts& facts) const {
  const Node& node = queues_[i];
  Claim claim{IsWithin(shares_[i], node.held, facts, kinds_), 0};
  for (const ResourceIndex r : facts.requested) {
    claim.share = r == kinds_.pods ? claim.share : std::max(claim.share, node.shares[r]);
  }
  return claim;
}

void Contest::Replay(QueueIndex parent, QueueIndex child) {
  std::vector<QueueIndex>& winners = queues_[parent].winners;
  size_t k = winners.size() / 2 + queues_[child].position;
  winners[k] = queues_[child].standing.any ? child : kNoIndex;
  if (winners.size() == 2) {
    return;
  }
  for (k /= 2; k >= 1; k /= 2) {
    winners[k] = Better(winners[2 * k], winners[2 * k + 1]);
  }
}

QueueIndex Contest::Better(QueueIndex a, QueueIndex b) const {
  if (a == kNoIndex || b == kNoIndex) {
    return a == kNoIndex ? b : a;
  }
  const Standing& x = queues_[a].standing;
  const Standing& y = queues_[b].standing;
  return std::tie(y.claim.within, y.priority, x.claim.share, x.creation, x.name) <
                 std::tie(x.claim.within, x.priority, y.claim.share, y.creation, y.name)
             ? a
             : b;
}

void Contest::PickLane(QueueIndex i) {
  Node& node = queues_[i];
  while (node.first_lane < node.lanes.size() && node.lanes[node.first_lane].lines.empty()) {
    ++node.first_lane;
  }
  node.standing.any = node.first_lane < node.lanes.size();
  node.standing.lane = node.first_lane;
  for (size_t k = node.first_lane + 1; k < node.lanes.size(); ++k) {
    const Lane& lane = node.lanes[k];
    if (lane.priority != node.lanes[node.first_lane].priority) {
      break;
    }
    if (!lane.lines.empty() && LaneBefore(node, lane, node.lanes[node.standing.lane])) {
      node.standing.lane = k;
    }
  }
}

bool Contest::LaneBefore(const Node& node, const Lane& a, const Lane& b) const {
  const int64_t share_a = TenantShare(node, a);
  const int64_t share_b = TenantShare(node, b);
  return share_a != share_b ? share_a < share_b : Older(a.lines.front(), b.lines.front());
}

int64_t Contest::TenantShare(const Node& node, const Lane& lane) const {
  static const ResourceVector kNothing;
  static const UsageVector kUnused;
  const auto held = node.held_by.find(lane.tenant);
  const QueueShare& terms = shares_[node.standing.leaf];
  const auto used = terms.used_by.find(lane.tenant);
  const ResourceVector& holds = held == node.held_by.end() ? kNothing : held->second;
  const UsageVector& uses = used == terms.used_by.end() ? kUnused : used->second;
  int64_t share = 0;
  const int64_t weight = state_.tenant(lane.tenant).Weight();
  for (const ResourceIndex r : Facts(lane.lines.front()).requested) {
    if (r != kinds_.pods) {
      const Int128 whole = Blend(node.held[r], UsageOf(terms.used, r), usage_weight_);
      share = std::max(share,
                       BlendShare(Blend(holds[r], UsageOf(uses, r), usage_weight_), whole, weight));
    }
  }
  return share;
}

bool Contest::Older(const Line& a, const Line& b) const {
  if (a.head.creation != b.head.creation) {
    return a.head.creation < b.head.creation;
  }
  const JobEntry& x = state_.job(a.head.job);
  const JobEntry& y = state_.job(b.head.job);
  return std::tie(x.uid, x.key) < std::tie(y.uid, y.key);
}

const Contest::Line& Contest::BestLine(QueueIndex leaf) const {
  const Node& node = queues_[leaf];
  return node.lanes[node.standing.lane].lines.front();
}

const ShapeFacts& Contest::Facts(const Line& line) const {
  return state_.facts(state_.ClassShape(line.head.job_class));
}

void Contest::PopLine(Lane& lane) {
  std::pop_heap(lane.lines.begin(), lane.lines.end(),
                [this](const Line& a, const Line& b) { return Older(b, a); });
  lane.lines.pop_back();
}

/// The first from there on that may still go; nothing where the lane has nobody left.
void Contest::PushLine(Lane& lane, LaneIndex from, LaneFifo::Cursor at) {
  const LaneFifo& waiting = state_.lanes()[from].waiting;
  for (; !waiting.AtEnd(at); at = waiting.Next(at)) {
    const LaneFifo::Item& item = waiting.At(at);
    if (!dropped_[item.job_class] && (settled_.empty() || !settled_.contains(item.job))) {
      lane.lines.push_back({from, at, item});
      std::push_heap(lane.lines.begin(), lane.lines.end(),
                     [this](const Line& a, const Line& b) { return Older(b, a); });
      return;
    }
  }
}

}  // namespace caldera
