// What one of our Works at the Karmada API says, and the few things of a parent Job or a Queue that
// a write to it needs. Values; no I/O.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "federation/document.h"
#include "federation/model.h"
#include "federation/result.h"

namespace caldera {

/// What a Work is for: label `federation.caldera.sh/work`.
enum class WorkRole : uint8_t { kShard, kReference, kQueue, kAccess };
/// The label's value: `shard`, `reference`, `queue`, `access`.
std::string_view RoleName(WorkRole role);

struct WorkView {
  std::string ns;
  std::string name;
  std::string uid;
  std::string resource_version;
  Time created;         ///< metadata.creationTimestamp.
  std::string cluster;  ///< From the namespace `karmada-es-<cluster>`.
  WorkRole role = WorkRole::kShard;
  bool suspended = false;  ///< spec.suspendDispatching.
  bool deleting = false;   ///< metadata.deletionTimestamp is set.

  // Of a shard, from our annotations.
  std::string job_uid;
  JobKey job;
  std::string child;
  int64_t epoch = 0;
  int64_t index = 0;  ///< Among the shards of the placement; annotation `shard`.
  int64_t intent = 0;
  Millis grace{30'000};    ///< The longest terminationGracePeriodSeconds of its pods.
  int64_t generation = 0;  ///< Of the parent when it was rendered; annotation `generation`.
  // Of its Job, as it was sent: with it a placement can be told from its Works alone. Tasks are
  // named as those of the job, also of a HyperJob's child.
  std::vector<TaskGrant> grants;
  int32_t min_available = 0;
  int64_t shards = 1;  ///< How many the placement has: CALDERA_SHARD_COUNT.
  /// Annotation `uses`, joined by commas: what its pods refer to and its Queue, by the names that
  /// references.h gives (`Secret/team-a/token`, `Queue/gold`).
  std::vector<std::string> uses;

  // Of every role.
  std::string object;   ///< Annotation `object`, of what is no shard: as in `uses`.
  std::string digest;   ///< Annotation `digest`: ManifestDigest of what was written last.
  std::string content;  ///< ManifestDigest of what is there; empty unless it is one manifest.
  /// Somebody else changed what it carries (or the server keeps it in another way than written), or
  /// took away what would tell.
  [[nodiscard]] bool IsEdited() const { return digest.empty() || digest != content; }
  bool finalized = false;                     ///< Karmada's finalizer stands on it, WorkFinalizers.
  std::vector<std::string> other_finalizers;  ///< OtherFinalizers.
  bool preserves = false;                     ///< spec.preserveResourcesOnDeletion.
  /// When it is deleted now, its object in the member stays.
  [[nodiscard]] bool LeavesItsObject() const { return preserves || !finalized; }

  // Condition Applied.
  enum class Applied : uint8_t { kUnknown, kTrue, kFalse };
  Applied applied = Applied::kUnknown;
  std::string applied_message;
  Time applied_since;
  /// The member has something else of that name.
  [[nodiscard]] bool NameIsTaken() const {
    return applied_message.find("already exist") != std::string::npos;
  }

  // status.manifestStatuses of the Job: what the member reported.
  bool reported = false;
  std::string phase;  ///< state.phase; empty: none yet.
  Value job_status;   ///< The whole status, as the member wrote it; null where there is none.
  Time phase_since;   ///< state.lastTransitionTime.
  std::vector<TaskReport> tasks;
};

/// The finalizers on a Work but Karmada's.
std::vector<std::string> OtherFinalizers(const Value& work);

/// Reads a Work. Error: kInvalid for one that is none of ours or cannot be read (message says why).
Result<WorkView> ReadWork(const Value& work);

/// True where no pod of the shard can be there: it is terminal, or it was never applied (a
/// conflict).
bool HasNoPods(const WorkView& work);

/// Completed, Failed or Terminated (Aborted is not: the shard can be resumed).
bool IsTerminalPhase(std::string_view phase);

/// What is kept of a parent Job (or HyperJob).
struct JobView {
  JobKey key;
  std::string uid;
  JobKind kind = JobKind::kJob;
  std::string resource_version;
  int64_t generation = 0;
  bool claimed_by_us = false;
  std::string placement;  ///< The annotation, as it is there.
  /// Of its own status, which we wrote. That of a HyperJob has no phase: Completed, Failed,
  /// Aborting or Aborted by its conditions, else Pending where it has a status.
  std::string phase;
  std::string status_digest;  ///< StatusDigest of its whole status: would a write change it?
  std::optional<Millis> ttl;  ///< spec.ttlSecondsAfterFinished.
  bool deleting = false;
  /// The longest terminationGracePeriodSeconds of its pods.
  Millis grace{30'000};
};
/// `job` is a Job or HyperJob that has a name and a uid; what else is missing or of another kind
/// counts as absent.
JobView ReadJobView(const Value& job);

/// What is kept of a Queue.
struct QueueView {
  std::string name;
  std::string uid;
  std::string resource_version;
  std::string state;          ///< status.state as it is there; empty: none.
  std::string status_digest;  ///< StatusDigest of its whole status.
};
QueueView ReadQueueView(const Value& queue);

}  // namespace caldera
