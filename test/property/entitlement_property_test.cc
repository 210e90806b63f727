// Weighted water filling: exact sums, nobody below the guarantee or above the cap, and the same
// level for all who are at neither.
#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <vector>

#include "federation/entitlement.h"
#include "federation/quantity.h"
#include "federation/resources.h"
#include "federation/round.h"
#include "test/property/reference_queues.h"
#include "test/property/world.h"

namespace caldera::property {
namespace {

rc::Gen<int64_t> Amount() {
  return rc::gen::oneOf(rc::gen::inRange<int64_t>(0, 20), rc::gen::inRange<int64_t>(0, 100'000),
                        rc::gen::inRange<int64_t>(0, int64_t{1} << 50U));
}

TEST_CASE("property: what is entitled sums to the smaller of the total and the caps") {
  CHECK(rc::check("entitle", [] {
    const int64_t total = *Amount();
    std::vector<EntitlementInput> children;
    std::vector<int64_t> guarantees;
    const int count = *rc::gen::inRange(0, 8);
    for (int i = 0; i < count; ++i) {
      EntitlementInput child;
      child.weight = *rc::gen::element<int64_t>(1, 2, 3, 7, 100, 65535);
      child.guarantee = *rc::gen::arbitrary<bool>() ? *Amount() : 0;
      child.cap = *rc::gen::inRange(0, 5) == 0 ? kUnlimited : *Amount();
      children.push_back(child);
      guarantees.push_back(child.guarantee);
    }
    const std::vector<int64_t> scaled = ScaleDown(total, guarantees);
    const std::vector<EntitlementShare> shares = Entitle(total, children);
    RC_ASSERT(shares.size() == children.size());
    Int128 sum = 0;
    Int128 most = 0;
    Int128 reserved = 0;
    Int128 wanted = 0;
    for (size_t i = 0; i < shares.size(); ++i) {
      const int64_t top = std::max(scaled[i], children[i].cap);
      RC_ASSERT(shares[i].deserved >= scaled[i]);
      RC_ASSERT(shares[i].deserved <= top);
      RC_ASSERT(shares[i].within == shares[i].deserved ||
                shares[i].within == shares[i].deserved + 1);
      RC_ASSERT(scaled[i] <= guarantees[i]);
      sum += shares[i].deserved;
      most += top;
      reserved += scaled[i];
      wanted += guarantees[i];
    }
    if (!children.empty()) {
      RC_ASSERT(sum == std::min<Int128>(total, most));
      RC_ASSERT(reserved == std::min<Int128>(total, wanted));
    }
    for (size_t i = 0; i < shares.size(); ++i) {
      for (size_t j = 0; j < shares.size(); ++j) {
        const bool could_give = shares[i].deserved > scaled[i];
        const bool could_take = shares[j].deserved < std::max(scaled[j], children[j].cap);
        if (could_give && could_take) {
          // i stands at most one unit of rounding above the level of j.
          RC_ASSERT(Int128{shares[i].deserved - 1} * children[j].weight <=
                    Int128{shares[j].deserved + 1} * children[i].weight);
        }
      }
    }
  }));
}

TEST_CASE("property: what all get does not depend on their order where nothing is left over") {
  CHECK(rc::check("permuted children", [] {
    std::vector<EntitlementInput> children;
    const int count = *rc::gen::inRange(1, 6);
    for (int i = 0; i < count; ++i) {
      children.push_back({*rc::gen::inRange<int64_t>(1, 5), *rc::gen::inRange<int64_t>(0, 50),
                          *rc::gen::inRange<int64_t>(0, 100)});
    }
    const int64_t total = *rc::gen::inRange<int64_t>(0, 500);
    const std::vector<EntitlementShare> shares = Entitle(total, children);
    std::reverse(children.begin(), children.end());
    std::vector<EntitlementShare> reversed = Entitle(total, children);
    std::reverse(reversed.begin(), reversed.end());
    for (size_t i = 0; i < shares.size(); ++i) {
      // Ties go by position, so a unit may move.
      RC_ASSERT(std::abs(shares[i].deserved - reversed[i].deserved) <= 1);
    }
  }));
}

TEST_CASE("property: the tree is shared out as level by level") {
  CHECK(rc::check("shares == reference; children get no more than their parent", [] {
    const State state = AnyWorld().Build();
    const Round round(state);
    RC_LOG() << Show(state.Export());
    const RefState known(state.Export());
    const RefQueues expected(known, state);
    const ResourceList total = expected.Total();
    for (const auto& [name, object] : known.queues) {
      const RefQueue& queue = expected.at(name);
      if (!queue.attached) {
        continue;
      }
      const QueueShare& share = round.shares()[state.queues().find(name)->second];
      for (ResourceIndex r = 0; r < state.resources().size(); ++r) {
        const std::string& resource = state.resources().Name(r);
        RC_ASSERT(share.guarantee[r] == At(queue.guarantee, resource));
        RC_ASSERT(share.deserved[r] == At(queue.deserved, resource));
        RC_ASSERT(share.within[r] == At(queue.within, resource));
        RC_ASSERT(share.deserved[r] >= share.guarantee[r]);
        Int128 below = 0;
        for (const std::string& child : queue.children) {
          below += At(expected.at(child).deserved, resource);
        }
        RC_ASSERT(below <= At(queue.deserved, resource));
        RC_ASSERT(name != "root" || share.deserved[r] <= At(total, resource));
      }
    }
  }));
}

}  // namespace
}  // namespace caldera::property
