// The federation over time, for a simulation's record: exact sums of what was charged, and samples
// of what each queue deserved. Samples are thinned as time goes on (every second one is dropped
// when there are twice as many as asked for), so that a day and a year cost alike. Used by
// simulation.cc; one thread.
#pragma once

#include <vector>

#include "federation/quantity.h"
#include "federation/simulation_record.h"
#include "federation/state.h"

namespace caldera {

/// Sums of amount x time, exact.
class Accrual {
 public:
  void Add(const ResourceVector& amounts, Millis span);
  /// In amount-seconds, rounded down; only what is not 0.
  [[nodiscard]] ResourceList Seconds(const ResourceCatalog& resources) const;

 private:
  std::vector<Int128> sums_;
};

class Sampler {
 public:
  /// `state` must outlive this.
  Sampler(const State& state, size_t samples) : state_(state), wanted_(samples) {}

  // What goes on beside: jobs by queue, and charges that end.
  void Waiting(QueueIndex queue, int32_t by);
  void Running(QueueIndex queue, int32_t by);
  void Charged(QueueIndex queue, ClusterIndex cluster, const ResourceVector& amounts, Millis span);

  /// Clusters came, went or changed: what they have counts from now on. `foreign`, by ClusterIndex,
  /// is what others use of it.
  void TakeCapacity(const std::vector<ResourceVector>& foreign);

  /// Takes a sample of the State as it is now, unless the last one is too near and this is not the
  /// `last` one.
  void Take(bool last);

  /// Names, totals and samples into the record. Take(true) came before.
  void Finish(SimulationRecord& record);

 private:
  struct Queue {
    int32_t waiting = 0;
    int32_t running = 0;
    bool seen = false;  ///< It was a leaf, or held something.
    Accrual allocated;
    Accrual deserved;
    Accrual missed;
  };
  struct Capacity {
    ResourceVector amounts;
    Accrual allocatable;
    Accrual allocated;
    bool seen = false;
  };

  Queue& At(QueueIndex queue);
  Capacity& In(ClusterIndex cluster);
  void AddSince(const Sample& sample);
  void AddCapacity();
  void Thin();

  const State& state_;
  size_t wanted_;
  std::vector<Queue> queues_;       ///< By QueueIndex.
  std::vector<Capacity> clusters_;  ///< By ClusterIndex.
  Time capacity_since_;
  Time next_;       ///< No sample before it.
  Millis step_{0};  ///< The least distance of samples.
  Sample last_;     ///< Whose shares hold until the next; its indexes are the State's.
  bool any_ = false;
  std::vector<Sample> samples_;
};

}  // namespace caldera
