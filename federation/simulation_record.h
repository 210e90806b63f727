// What a simulation leaves behind: each job's life, and the federation over time. Amounts over time
// are amount-seconds in each resource's unit (cpu: milli-core-seconds), rounded down. Values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "federation/model.h"
#include "federation/resources.h"
#include "federation/time.h"

namespace caldera {

enum class JobFate : uint8_t { kWaiting, kRunning, kDone, kDeleted };

struct JobRecord {
  JobKey key;
  std::string queue;
  ResourceList requests;  ///< At full replicas.
  Time submitted;
  std::optional<Time> first_start;  ///< Of its pods.
  std::optional<Time> end;          ///< Done or deleted.
  JobFate fate = JobFate::kWaiting;
  int32_t starts = 0;
  int32_t evictions = 0;  ///< Decided by a plan.
  int32_t shrinks = 0;    ///< How often a plan took pods from it for somebody; it stayed.
  int32_t losses = 0;     ///< By a cluster that went.
  Millis duration{0};
  Millis lost{0};       ///< Work that was done and has to be done again, at full replicas.
  std::string cluster;  ///< Where it was placed last; several joined by `+`.
};

/// Sums over time of one queue (its own jobs) or of one cluster.
struct QueueTotals {
  std::string queue;
  ResourceList allocated;  ///< Charged, from placement to release.
  ResourceList deserved;   ///< By the samples.
  /// What it deserved and did not have, by the samples.
  ResourceList missed;
};

struct ClusterTotals {
  std::string cluster;
  ResourceList allocated;
  ResourceList allocatable;  ///< While the cluster was there, Ready or not; foreign use taken off.
};

struct QueueSample {
  uint32_t queue = 0;  ///< Index into SimulationRecord::queues.
  int32_t waiting = 0;
  int32_t running = 0;
  ResourceVector allocated;  ///< Indexed by SimulationRecord::resources, like all here.
  ResourceVector deserved;
};

/// The federation right after the plans of one instant; it stays so until the next sample, or
/// changed in between where instants were left out.
struct Sample {
  Time at;
  int64_t waiting = 0;
  int64_t running = 0;
  ResourceVector total;  ///< Of the federation: what clusters offer that are not lost.
  ResourceVector allocated;
  std::vector<QueueSample> queues;       ///< Those that hold, want or deserve something.
  std::vector<ResourceVector> clusters;  ///< Charged, by index into SimulationRecord::clusters.
};

struct SimulationRecord {
  Time start;
  Time end;              ///< The last instant.
  bool stopped = false;  ///< `until` came before all was done.
  ResourceCatalog resources;
  std::vector<JobRecord> jobs;          ///< In order of submission.
  std::vector<QueueTotals> queues;      ///< By name; leaves only.
  std::vector<ClusterTotals> clusters;  ///< By name.
  std::vector<Sample> samples;
  int64_t instants = 0;
  int64_t rounds = 0;
  int64_t placements = 0;
  int64_t evictions = 0;
  int64_t shrinks = 0;
  /// Jobs that wait at the end, by verdict.
  std::vector<std::pair<std::string, int64_t>> waiting;
};

}  // namespace caldera
