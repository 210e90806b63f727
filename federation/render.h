// From a defaulted Job and a shard of its placement to what is sent: the shard's Job, and the Work
// around it. Pure; unknown fields are kept. Source of the contract: DESIGN 3, reference on the Work
// contract in ARCHITECTURE.md.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "federation/document.h"
#include "federation/model.h"
#include "federation/result.h"

namespace caldera {

/// What a shard must know beyond itself.
struct ShardContext {
  std::string job_uid;
  int32_t index = 0;              ///< CALDERA_SHARD_INDEX.
  std::vector<Shard> all_shards;  ///< Of this placement, in order; size is CALDERA_SHARD_COUNT.
  std::string rendezvous;         ///< CALDERA_RENDEZVOUS where not empty.
  std::string restore_from;       ///< CALDERA_RESTORE_FROM where not empty.
  int64_t intent = 0;
  // What the live controller adds; absent from the Work where empty or 0.
  std::string digest;             ///< Of the shard's Job.
  int64_t generation = 0;         ///< Of the parent.
  std::vector<std::string> uses;  ///< Names of what its pods refer to, and of its Queue.
};

/// The Job as the member gets it: same name and namespace, the shard's replicas, every default in,
/// in waves the Queue of its own,
/// the CALDERA_* environment in every container; without status, uid, resourceVersion,
/// generation, managedFields, ownerReferences, finalizers, creationTimestamp,
/// last-applied-configuration and Caldera's own annotations; with Karmada's label and annotations
/// that bring status back. Of a HyperJob: the Job that is its child, `<hyperjob>-<child>`, with
/// Volcano's labels of such a Job. Error kInvalid: the shard is a child, and `defaulted_job` is no
/// HyperJob with the replicatedJob that it was made of (it was edited since); or the other way
/// round.
Result<Value> RenderShardJob(const Value& defaulted_job, const ShardContext& context);

/// The Work (work.karmada.io/v1alpha1) in `karmada-es-<cluster>`, named `caldera-<uid>`.
Value RenderWork(const Value& shard_job, const ShardContext& context);

/// Any object as a member gets it through the Work `work_name` in `karmada-es-<cluster>`: without
/// status and what belongs to the API server that keeps it or to those who manage it there; with
/// Karmada's label and annotations.
Value RenderManifest(Value object, const std::string& work_name, const std::string& cluster);

/// The namespace in which the Works of a cluster are.
std::string ExecutionNamespace(const std::string& cluster);

/// What a Work has to keep until Karmada has deleted its object in the member: Karmada takes the
/// finalizer off, yet does not set it. Without it
/// a deleted Work leaves the object behind.
Value WorkFinalizers();

/// The member Queue of a shard that runs in waves.
std::string QueueOfWaves(const std::string& job_uid);
/// How many pods of each task run at once, `1,2`; empty for a shard without waves. Annotation
/// `at-once` of its Work: with it a lost ledger is rebuilt.
std::string AtOnceText(const std::vector<TaskGrant>& tasks);

/// The Work's name for a job uid (and child of a HyperJob).
std::string WorkName(const std::string& job_uid, const std::string& child);

}  // namespace caldera
