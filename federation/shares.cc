#include "federation/shares.h"

#include <algorithm>

#include "federation/amounts.h"
#include "federation/entitlement.h"
#include "federation/share.h"

namespace caldera {

namespace {

/// Charges on clusters that are gone or lost: capacity and shards leave the entitlement together.
void TakeOffLost(const State& state, const std::vector<ClusterView>& clusters,
                 std::vector<QueueShare>& shares) {
  std::vector<bool> counts(state.clusters().size(), false);
  for (const ClusterView& cluster : clusters) {
    counts[cluster.index] = !cluster.lost;
  }
  for (const auto& [name, index] : state.clusters()) {
    if (counts[index]) {
      continue;
    }
    for (const JobIndex job : state.cluster(index).jobs) {
      for (const Charge::Holding& holding : state.job(job).charge->held) {
        if (holding.cluster == index) {
          shares[state.job(job).charge_queue].held.Subtract(holding.requests);
        }
      }
    }
  }
}

void AddUp(const QueueTree& tree, std::vector<QueueShare>& shares) {
  for (const QueueIndex i : tree.BottomUp()) {
    if (const QueueIndex parent = tree.node(i).parent; parent != kNoIndex) {
      shares[parent].demand.Add(shares[i].demand);
      shares[parent].held.Add(shares[i].held);
      shares[parent].charged.Add(shares[i].charged);
      AddUsage(shares[parent].used, shares[i].used);
    }
  }
}

/// What the tree says of each queue, in dense form.
struct Terms {
  std::vector<ResourceVector> guarantee;
  std::vector<ResourceLimits> deserved;  ///< spec.deserved: no limit where it is absent.
  std::vector<ResourceVector> demand;    ///< Each queue's own, its descendants' not in it.
};

/// One resource at a time over the whole tree: wants and guarantees upwards, then shares downwards.
class Descent {
 public:
  Descent(const QueueTree& tree, const Terms& terms) : tree_(tree), terms_(terms) {}

  void Run(ResourceIndex r, int64_t total, std::vector<QueueShare>& shares) {
    r_ = r;
    nodes_.assign(tree_.size(), {});
    Gather();
    const QueueIndex root = tree_.root();
    Node& top = nodes_[root];
    const int64_t all = std::min(total, tree_.node(root).capability[r_]);
    top.guarantee = std::min(top.guarantee, all);
    top.share.deserved = std::min(all, std::max(top.guarantee, top.want));
    top.share.within = top.share.deserved;
    for (const QueueIndex i : tree_.TopDown()) {
      const Node& node = nodes_[i];
      ShareAmongChildren(i, i == root ? all : node.guarantee);
      shares[i].guarantee.Set(r_, node.guarantee);
      shares[i].deserved.Set(r_, node.share.deserved);
      shares[i].within.Set(r_, node.share.within);
    }
  }

 private:
  struct Node {
    int64_t guarantee = 0;
    int64_t want = 0;  ///< The cap of its entitlement.
    int64_t guaranteed_below = 0;
    int64_t wanted_below = 0;
    EntitlementShare share;
  };

  void Gather() {
    for (const QueueIndex i : tree_.BottomUp()) {
      const QueueNode& queue = tree_.node(i);
      Node& node = nodes_[i];
      const int64_t capability = queue.capability[r_];
      const int64_t demand = SaturatingAdd(terms_.demand[i][r_], node.wanted_below);
      node.guarantee =
          std::min(std::max(terms_.guarantee[i][r_], node.guaranteed_below), capability);
      node.want = std::min({demand, capability, terms_.deserved[i][r_]});
      if (queue.parent != kNoIndex) {
        Node& parent = nodes_[queue.parent];
        parent.guaranteed_below = SaturatingAdd(parent.guaranteed_below, node.guarantee);
        parent.wanted_below =
            SaturatingAdd(parent.wanted_below, std::max(node.guarantee, node.want));
      }
    }
  }

  /// `guaranteed` is what the children's guarantees may come to.
  void ShareAmongChildren(QueueIndex i, int64_t guaranteed) {
    const std::vector<QueueIndex>& children = tree_.node(i).children;
    if (children.empty()) {
      return;
    }
    guarantees_.clear();
    for (const QueueIndex child : children) {
      guarantees_.push_back(nodes_[child].guarantee);
    }
    guarantees_ = ScaleDown(guaranteed, std::move(guarantees_));
    inputs_.clear();
    for (size_t c = 0; c < children.size(); ++c) {
      const QueueNode& child = tree_.node(children[c]);
      const int64_t weight = child.attached ? child.object().weight : 1;
      inputs_.push_back({weight, guarantees_[c], nodes_[children[c]].want});
      nodes_[children[c]].guarantee = guarantees_[c];
    }
    const std::vector<EntitlementShare> shares = Entitle(nodes_[i].share.deserved, inputs_);
    for (size_t c = 0; c < children.size(); ++c) {
      nodes_[children[c]].share = shares[c];
    }
  }

  const QueueTree& tree_;
  const Terms& terms_;
  ResourceIndex r_ = 0;
  std::vector<Node> nodes_;
  std::vector<int64_t> guarantees_;  ///< These two of one queue's children, used again.
  std::vector<EntitlementInput> inputs_;
};

Terms TermsOf(const State& state, const QueueTree& tree, const std::vector<QueueShare>& shares) {
  Terms terms{std::vector<ResourceVector>(tree.size()), std::vector<ResourceLimits>(tree.size()),
              std::vector<ResourceVector>(tree.size())};
  for (const QueueIndex i : tree.TopDown()) {
    terms.demand[i] = shares[i].demand;
    if (tree.node(i).attached) {
      terms.guarantee[i] = AmountsIn(state, tree.node(i).object().guarantee);
      terms.deserved[i] = LimitsIn(state, tree.node(i).object().deserved);
    }
  }
  return terms;
}

}  // namespace

int64_t DominantShare(const QueueShare& share, const ResourceVector& held, const ShapeFacts& facts,
                      const ResourceKinds& kinds, int32_t usage_weight) {
  int64_t largest = 0;
  for (const ResourceIndex r : facts.requested) {
    if (r != kinds.pods) {
      largest = std::max(largest, ShareIn(share, held[r], r, usage_weight));
    }
  }
  return largest;
}

int64_t ShareIn(const QueueShare& share, int64_t held, ResourceIndex r, int32_t usage_weight) {
  return BlendShare(Blend(held, UsageOf(share.used, r), usage_weight), share.deserved[r]);
}

int32_t UsageWeight(const State& state) {
  const Settings& settings = state.settings();
  return settings.usage_half_life > Millis(0) ? std::clamp(settings.usage_weight, 0, 1000) : 0;
}

std::vector<QueueShare> ShareOut(const State& state, const QueueTree& tree,
                                 const std::vector<ClusterView>& clusters,
                                 const std::vector<ResourceVector>& pending) {
  std::vector<QueueShare> shares(tree.size());
  for (const QueueIndex i : tree.TopDown()) {
    shares[i].charged = state.queue(i).charged.ToVector();
    shares[i].held = shares[i].charged;
  }
  TakeOffLost(state, clusters, shares);
  for (const QueueIndex i : tree.TopDown()) {
    shares[i].demand = shares[i].held;
    shares[i].demand.Add(pending[i]);
    if (UsageWeight(state) > 0) {
      shares[i].used_by = state.UsedIn(i);
      for (const auto& [tenant, used] : shares[i].used_by) {
        AddUsage(shares[i].used, used);
      }
    }
  }
  const Terms terms = TermsOf(state, tree, shares);
  AddUp(tree, shares);
  const ResourceVector total = FederationTotal(clusters);
  Descent descent(tree, terms);
  for (ResourceIndex r = 0; r < state.resources().size(); ++r) {
    descent.Run(r, total[r], shares);
  }
  return shares;
}

}  // namespace caldera
