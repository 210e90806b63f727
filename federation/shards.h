// What a decision gives to a job, in the terms of the job: which cluster gets how many pods of each
// task, and how many of them have to start together. Pure.
#pragma once

#include <vector>

#include "federation/model.h"
#include "federation/split.h"
#include "federation/state.h"

namespace caldera {

/// The whole job in one cluster: one shard, or all children of a HyperJob.
std::vector<Shard> WholeShards(const State& state, const JobEntry& job, const std::string& cluster);

/// Gives the only shard of a job so many pods of each task at a time, and what follows from that:
/// of one that says `elastic` these are its replicas, any other keeps all and runs in waves.
void SetCounts(const JobSpec& spec, const std::vector<int32_t>& counts, Shard& shard);

/// The shards of a split job, in the order of `parts`; every shard has all tasks. Sums are exact,
/// task by task and in all:
///   replicas      the task's
///   minAvailable  the task's, divided by the replicas; in whole partitions where the task is
///                 partitioned and says how many of them it needs
///   minAvailable of the job: the job's, each shard at least what its tasks need if the job does
///   that, and at least 1 where they need any: Volcano takes 0 for "not given". So where the job
///   asks for fewer pods than it has shards, the sum is the number of shards.
/// Of a HyperJob a shard is a child, with the tasks of its template alone, template by template:
/// whole ones, and of a divided template one for each part that has pods of it, by the same sums.
std::vector<Shard> SplitShards(const State& state, const JobEntry& job,
                               const std::vector<SplitPart>& parts,
                               const std::vector<ClusterView>& clusters);

}  // namespace caldera
