// Where a job goes: the one cluster, of those that hold all of it now, that it fills best.
//   1. the smallest part left free after placing: (free - request) / allocatable of the devices it
//      asks for, where it asks for any, else of the resource of which most is left;
//   2. the job's own order of preference, where its annotation `clusters` names them;
//   3. the cluster's cost, then its name.
// Free room only shrinks within a round, so a cluster that cannot hold a shape is not asked again
// for it, and a shape that fits nowhere is done with for the round.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "federation/amounts.h"
#include "federation/capacity.h"
#include "federation/limits.h"
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
  /// Borrows the first; takes the views and uses up their free room.
  Placement(const State& state, std::vector<ClusterView> clusters);

  [[nodiscard]] const std::vector<ClusterView>& clusters() const { return clusters_; }
  /// Takes the room for a job of that class at the best site; nothing where there is none.
  std::optional<Site> Place(const JobClass& job_class, const Limits& limits);
  /// False once no cluster can hold the shape, for whichever job.
  [[nodiscard]] bool Alive(ShapeIndex shape) const;

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
  };

  void List(ShapeIndex shape, Options& options);
  /// Brings options up to date with the free room; drops those that are too small by now.
  void Refresh(ShapeIndex shape, Options& options);
  bool Take(size_t cluster, ShapeIndex shape);
  [[nodiscard]] bool Before(const Option& a, const Option& b) const;
  [[nodiscard]] Part Left(const ClusterView& cluster, const ShapeFacts& facts) const;

  const State& state_;
  std::vector<ClusterView> clusters_;
  std::vector<uint64_t> versions_;  ///< By position; counts the placements there.
  std::vector<Options> options_;    ///< By ShapeIndex.
  ResourceKinds kinds_;
};

}  // namespace caldera
