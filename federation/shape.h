// What jobs have in common, interned: a JobSpec is all that a job asks for but its queue and its
// PriorityClass (they are names already, and with them nearly every job would be one of a kind), a
// Shape the part of it that decides where it can run. Thousands of jobs share one of each, and all
// work done on one is done once. Values; owned by State.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "federation/hash_index.h"
#include "federation/model.h"
#include "federation/resources.h"
#include "federation/split_rules.h"

namespace caldera {

/// A Job without its name, its queue, its PriorityClass, its age and what was observed of it.
struct JobSpec {
  JobKind kind = JobKind::kJob;
  int32_t min_available = 0;
  std::vector<Task> tasks;
  std::vector<ReplicatedJob> replicated_jobs;
  NetworkTopology topology;
  ClusterConstraint clusters;
  std::optional<Millis> running_estimate;
  Ties ties;
  std::string split;
  std::string rendezvous;
  int32_t max_clusters = 0;
  int32_t min_shard = 1;
  std::string max_distance;
  std::optional<Millis> min_runtime;
  bool preemptible = true;
  bool elastic = false;
  friend bool operator==(const JobSpec&, const JobSpec&) = default;
};
JobSpec SpecOf(const Job& job);
/// A Job of that spec, the rest of it empty.
Job ToJob(const JobSpec& spec);
size_t HashOf(const JobSpec& spec);

/// `replicas` pods that ask for the same and may use the same nodes.
struct ShapeTask {
  ResourceList request;
  int32_t replicas = 0;
  NodeConstraint nodes;
  PartitionPolicy partition;
  friend auto operator<=>(const ShapeTask&, const ShapeTask&) = default;
};
/// Tasks sorted, without those that have no replicas.
struct Shape {
  std::vector<ShapeTask> tasks;
  NetworkTopology topology;
  ClusterConstraint clusters;
  SplitRules split;
  friend bool operator==(const Shape&, const Shape&) = default;
};
Shape ShapeOf(const JobSpec& spec);
/// By task of the Shape: its position in the spec.
std::vector<size_t> ShapeOrder(const JobSpec& spec);
size_t HashOf(const Shape& shape);

/// A shape's amounts in a State's resource indexes.
struct ShapeFacts {
  std::vector<ResourceVector> requests;  ///< Of one pod, by task of the Shape.
  ResourceVector total;                  ///< Of all replicas.
  std::vector<ResourceIndex> requested;  ///< The resources with a positive total, by name.
  bool devices = false;                  ///< Some of them are devices.
};

ShapeFacts FactsOf(const Shape& shape, ResourceCatalog& resources);

/// Equal values get one index, counted by reference; an index is used again once nobody holds it,
/// so nothing that is seen outside may depend on its number.
template <typename T>
class Pool {
 public:
  using Index = uint32_t;
  static constexpr Index kNone = std::numeric_limits<Index>::max();

  /// The index of `value` and whether it is new.
  std::pair<Index, bool> Acquire(T value) {
    const size_t hash = HashOf(value);
    const Index known =
        by_hash_.Find(hash, [&](Index each) { return entries_[each].value == value; });
    if (known != HashIndex::kNone) {
      ++entries_[known].references;
      return {known, false};
    }
    auto index = static_cast<Index>(entries_.size());
    if (free_.empty()) {
      entries_.emplace_back();
    } else {
      index = free_.back();
      free_.pop_back();
    }
    entries_[index] = {std::move(value), hash, 1};
    by_hash_.Insert(hash, index);
    return {index, true};
  }
  /// True if that was the last reference: the value is gone.
  bool Release(Index index) {
    Entry& entry = entries_[index];
    if (--entry.references > 0) {
      return false;
    }
    by_hash_.Erase(entry.hash, index);
    entry = {};
    free_.push_back(index);
    return true;
  }
  [[nodiscard]] const T& operator[](Index index) const { return entries_[index].value; }
  /// One more than the largest index in use.
  [[nodiscard]] size_t size() const { return entries_.size(); }

 private:
  struct Entry {
    T value;
    size_t hash = 0;
    uint32_t references = 0;
  };
  std::vector<Entry> entries_;
  std::vector<Index> free_;
  HashIndex by_hash_;
};

}  // namespace caldera
