// Where a job goes: the one cluster, of those that hold all of it now, that it fills best.
//   1. the smallest part left free after placing: (free - request) / allocatable of the devices it
//      asks for, where it asks for any, else of the resource of which most is left;
//   2. the job's own order of preference, where its annotation `clusters` names them;
//   3. the cluster's cost, then its name.
// What no cluster holds is split (split.h) where the job allows it.
// Free room only shrinks within a round, so a cluster that cannot hold a shape is not asked again
// for it, and a shape that fits nowhere, split neither, is done with for the round.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "federation/amounts.h"
#include "federation/capacity.h"
#include "federation/limits.h"
#include "federation/order.h"
#include "federation/quotas.h"
#include "federation/reservations.h"
#include "federation/split.h"
#include "federation/state.h"

namespace caldera {

/// A part of a whole, compared exactly.
struct Part {
  int64_t amount = 0;
  int64_t whole = 1;
  ResourceIndex resource = ResourceCatalog::kNone;  ///< Of which; kNone: of nothing that counts.
  friend bool operator<(const Part& a, const Part& b) {
    return Int128{a.amount} * b.whole < Int128{b.amount} * a.whole;
  }
};

struct Site {
  size_t cluster = 0;  ///< Position in the views.
  Part left;           ///< What stays free there.
  size_t rivals = 0;   ///< Clusters that could have held it, this one included.
};

class Placement {
 public:
  /// Borrows the first two; takes the views and uses up their free room.
  Placement(const State& state, const std::vector<TenantLimits>& quotas,
            std::vector<ClusterView> clusters);

  [[nodiscard]] const std::vector<ClusterView>& clusters() const { return clusters_; }
  /// Takes the room for that job at the best site; nothing where there is none.
  std::optional<Site> Place(const Head& head, const Limits& limits,
                            const Reservations& reservations);
  /// Takes the room for such a job there, as far as what is free is concerned; false, and nothing
  /// is taken, where it does not fit.
  bool PlaceAt(size_t cluster, ShapeIndex shape);
  /// Takes the room for some pods of a job there; they fit.
  void TakePart(size_t cluster, const ResourceVector& total,
                const std::vector<NodePool::Task>& gang);
  /// Takes the room for a job of that class, for which Place found no site, in several clusters of
  /// which none is kept for others; empty where it must not be split or does not fit.
  std::vector<SplitPart> Split(const JobClass& job_class, const Limits& limits,
                               const Reservations& reservations);
  /// Some cluster can hold the shape now and is not kept for others, or it could be tried to split
  /// it; kByClass: that depends on the class.
  Reservations::Openness MayFit(ShapeIndex shape, const Reservations& reservations);
  /// The same of one class of which MayFit says that it depends, for a job that stays within what
  /// its queue deserves.
  bool MayFit(ClassIndex job_class, ShapeIndex shape, const Reservations& reservations);
  /// False once no cluster can hold the shape, nor several together, for such a job.
  [[nodiscard]] bool Alive(ShapeIndex shape, TenantIndex tenant) const;

 private:
  /// A cluster that may hold a shape, as of one version of its free room.
  struct Option {
    size_t cluster = 0;
    size_t preference = 0;
    uint64_t version = 0;
    Part left;
  };
  struct Options {
    bool known = false;
    std::vector<Option> open;
    bool may_split = false;
    /// Some cluster could hold it when empty, for a tenant without static assignments.
    std::optional<bool> ever_fits;
    /// There is no room in several clusters together.
    bool split_failed = false;
  };

  Options& OptionsOf(ShapeIndex shape);
  void List(ShapeIndex shape, Options& options);
  /// Brings options up to date with the free room; drops those that are too small by now.
  void Refresh(ShapeIndex shape, Options& options);
  bool Take(size_t cluster, ShapeIndex shape);
  [[nodiscard]] bool Before(const Option& a, const Option& b) const;
  bool SplitIsDue(const JobClass& job_class);
  bool NeedsSplit(ShapeIndex shape);
  [[nodiscard]] bool HasAssignments(TenantIndex tenant) const;
  [[nodiscard]] Part Left(const ClusterView& cluster, const ShapeFacts& facts) const;

  const State& state_;
  const std::vector<TenantLimits>& quotas_;
  std::vector<ClusterView> clusters_;
  std::vector<uint64_t> versions_;  ///< By position; counts the placements there.
  std::vector<Options> options_;    ///< By ShapeIndex.
  ResourceKinds kinds_;
  bool any_assignments_;  ///< Some tenant has a quota for a cluster.
};

}  // namespace caldera
