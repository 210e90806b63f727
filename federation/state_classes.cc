// Candidates in State: the class of each job and the lane in which it waits.
#include <algorithm>
#include <functional>
#include <tuple>
#include <utility>

#include "federation/children.h"
#include "federation/elastic.h"
#include "federation/state.h"

namespace caldera {

namespace {

/// The next of four steps in each doubling, from a second on, so that jobs of about the same length
/// are of one class; 0 where nothing is known.
Millis EstimateUp(const std::optional<Millis>& estimate) {
  if (!estimate.has_value() || *estimate <= Millis(0)) {
    return Millis(0);
  }
  int64_t octave = 1000;
  while (octave * 2 < estimate->count() && octave < (int64_t{1} << 60U)) {
    octave *= 2;
  }
  if (estimate->count() <= octave) {
    return Millis(octave);
  }
  const int64_t step = octave / 4;
  return Millis(octave + (estimate->count() - octave + step - 1) / step * step);
}

auto KeyOf(const JobClass& c) {
  return std::tie(c.queue, c.priority, c.tenant, c.shape, c.preemptible, c.estimate, c.partial,
                  c.blocked);
}

size_t HashOf(const JobClass& c) {
  size_t hash = 0;
  const auto mix = [&](uint64_t value) { hash = (hash ^ value) * 0x9E3779B97F4A7C15ULL; };
  mix(uint64_t{c.queue} << 32U | c.priority);
  mix(uint64_t{c.tenant} << 32U | c.shape);
  mix(uint64_t{c.partial} << 32U | (c.preemptible ? 1U : 0U));
  mix(static_cast<uint64_t>(c.estimate.count()));
  for (const ClusterIndex cluster : c.blocked) {
    mix(cluster);
  }
  return hash;
}

/// A slot of `entries` that is free, used again where there is one.
template <typename Entry>
uint32_t Slot(std::vector<Entry>& entries, std::vector<uint32_t>& free) {
  if (free.empty()) {
    entries.emplace_back();
    return static_cast<uint32_t>(entries.size() - 1);
  }
  const uint32_t index = free.back();
  free.pop_back();
  return index;
}

}  // namespace

// Offline, uids come from the input and may be equal: the key makes the order total.
auto State::Settle() const {
  return [this](JobIndex a, JobIndex b) {
    return std::tie(jobs_[a].uid, jobs_[a].key) < std::tie(jobs_[b].uid, jobs_[b].key);
  };
}

LaneIndex State::LaneOf(const JobClass& job_class) {
  const auto [it, added] = lane_keys_.try_emplace(
      std::tuple(job_class.queue, job_class.priority, job_class.tenant), kNoIndex);
  if (added) {
    it->second = Slot(lanes_, free_lanes_);
    Lane& lane = lanes_[it->second];
    lane.queue = job_class.queue;
    lane.priority = job_class.priority;
    lane.tenant = job_class.tenant;
  }
  return it->second;
}

void State::DropLane(LaneIndex index) {
  Lane& lane = lanes_[index];
  lane_keys_.erase(std::tuple(lane.queue, lane.priority, lane.tenant));
  free_lanes_.push_back(index);
  lane = {};
}

ClassIndex State::ClassOf(JobClass job_class) {
  const size_t hash = HashOf(job_class);
  const ClassIndex known =
      class_keys_.Find(hash, [&](ClassIndex c) { return KeyOf(classes_[c]) == KeyOf(job_class); });
  if (known != HashIndex::kNone) {
    return known;
  }
  const ClassIndex index = Slot(classes_, free_classes_);
  class_keys_.Insert(hash, index);
  job_class.lane = LaneOf(job_class);
  Lane& lane = lanes_[job_class.lane];
  class_shapes_.resize(classes_.size());
  class_shapes_[index] = job_class.shape;
  job_class.position = static_cast<uint32_t>(lane.classes.size());
  lane.classes.push_back(index);
  lane.shapes.push_back(job_class.shape);
  classes_[index] = std::move(job_class);
  return index;
}

void State::DropClass(ClassIndex index) {
  JobClass& job_class = classes_[index];
  Lane& lane = lanes_[job_class.lane];
  classes_[lane.classes.back()].position = job_class.position;
  lane.classes[job_class.position] = lane.classes.back();
  lane.classes.pop_back();
  lane.shapes[job_class.position] = lane.shapes.back();
  lane.shapes.pop_back();
  class_keys_.Erase(HashOf(job_class), index);
  free_classes_.push_back(index);
  job_class = {};
}

void State::Enqueue(JobIndex index) {
  JobEntry& entry = jobs_[index];
  const RareFacts& rare = entry.rare();
  const bool candidate = entry.Pending() && rare.refused.empty() && !entry.hold &&
                         !entry.suspended && !entry.claimed_elsewhere &&
                         rare.missing_references.empty() && HasChildren(specs_[entry.spec]) &&
                         rare.last_epoch < kEpochMax;
  if (!candidate) {
    return;
  }
  const JobSpec& spec = specs_[entry.spec];
  JobClass key;
  key.queue = entry.queue;
  key.priority = entry.priority;
  key.tenant = entry.tenant;
  key.shape = entry.shape;
  key.preemptible = spec.preemptible;
  key.estimate = EstimateUp(spec.running_estimate);
  key.partial = MayBePartial(spec) ? entry.spec : kNoIndex;
  key.blocked = BlockedFor(entry);
  if (entry.rare().backs_off != Time()) {
    backing_off_.insert({entry.rare().backs_off, index});
  }
  entry.job_class = ClassOf(std::move(key));
  JobClass& job_class = classes_[entry.job_class];
  Lane& lane = lanes_[job_class.lane];
  ++job_class.jobs;
  lane.waiting.Insert({entry.creation, index, entry.job_class}, Settle());
  lane.asked.Add(facts_[entry.shape].total);
  ++candidates_;
  ++shape_candidates_[entry.shape];
  partial_candidates_ += job_class.partial != kNoIndex ? 1 : 0;
}

void State::Dequeue(JobIndex index) {
  JobEntry& entry = jobs_[index];
  if (entry.job_class == kNoIndex) {
    return;
  }
  JobClass& job_class = classes_[entry.job_class];
  const LaneIndex lane_index = job_class.lane;
  Lane& lane = lanes_[lane_index];
  lane.waiting.Erase({entry.creation, index, entry.job_class}, Settle());
  lane.asked.Subtract(facts_[entry.shape].total);
  --candidates_;
  --shape_candidates_[entry.shape];
  partial_candidates_ -= job_class.partial != kNoIndex ? 1 : 0;
  if (--job_class.jobs == 0) {
    DropClass(entry.job_class);
  }
  if (lane.waiting.empty()) {
    DropLane(lane_index);
  }
  entry.job_class = kNoIndex;
  if (entry.rare().backs_off != Time()) {
    backing_off_.erase({entry.rare().backs_off, index});
    entry.EditRare([](RareFacts& facts) { facts.backs_off = Time(); });
  }
}

}  // namespace caldera
