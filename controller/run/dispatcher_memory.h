// Internal to the dispatcher: a job as it is now. What the watches have shown, and on top of it
// what our own writes did a moment ago and no watch has shown yet, so that nothing is written
// twice. No I/O.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "controller/run/observer.h"
#include "controller/run/work_view.h"
#include "federation/state.h"

namespace caldera {

using WorkKey = std::pair<std::string, std::string>;  ///< Namespace and name.

/// What only Caldera changes of a shard's Work: its annotations. The epoch is kept beside the hash
/// of the others, since a Work whose annotation was edited still is the shard of its epoch.
struct Stamp {
  int64_t epoch = 0;
  uint64_t hash = 0;
  friend bool operator==(const Stamp&, const Stamp&) = default;
};
Stamp StampOf(const WorkView& view);

/// What is remembered of one job between looks. Lost at a restart, when all of it has been shown.
struct JobMemory {
  struct Placement {
    std::string text;
    Time at;
  };
  struct Work {
    std::string uid;
    std::string cluster;
    int64_t epoch = 0;
    int64_t intent = 0;
    int64_t generation = 0;
    bool suspended = false;
    std::string content;  ///< ManifestDigest of what the server made of it.
    std::vector<std::string> uses;
    Time at;
  };
  std::optional<Placement> placement;   ///< Written, with the claim.
  std::map<WorkKey, Work> works;        ///< Created or patched.
  std::map<std::string, Time> deleted;  ///< Works by uid.
  /// Works by uid: ManifestDigest of what the server keeps where that is not what we wrote, so
  /// that it is not taken for an edit.
  std::map<std::string, std::string> kept;
  /// Works by uid: StampOf as it was written, or seen first.
  std::map<std::string, Stamp> stamps;

  int64_t sent_epoch = 0;           ///< The highest of which a Work was sent, be it in vain.
  std::optional<int64_t> recalled;  ///< The charge (its intent) that is to be given back.
  int64_t checked_generation = 0;   ///< Of the parent, whose edits are followed or held.
  /// By replicatedJob (of a Job: empty): its shards, edited alike, are as that generation wants
  /// them.
  std::set<std::string> checked;
  /// Looking again, less and less often, for what a job lacks.
  struct Recheck {
    int64_t generation = 0;  ///< Of the parent that named it; 0: not known.
    int times = 0;
    Time at;
  };
  Recheck references;

  /// Claims that are not in a cluster, and until when it is left out for that.
  struct AbsentClaims {
    std::set<std::string> names;
    Time until;
  };
  std::map<std::string, AbsentClaims> absent_claims;  ///< By cluster.
  Recheck claims;

  std::string status_digest;  ///< Of the status that was written last.
  std::string status_phase;
  Time status_at;
  Time pending_since;  ///< Since when Pending could have been written.
  Time ended;          ///< When it was first seen to have ended, where no Work says so.
};

/// One Work of a job.
struct SeenWork {
  std::string ns;
  std::string name;
  std::string uid;
  std::string cluster;
  int64_t epoch = 0;
  int64_t intent = 0;
  int64_t generation = 0;
  bool suspended = false;
  bool deleting = false;
  bool edited = false;  ///< By another hand: what it carries, what stands on it, its finalizer.
  bool leaves = false;  ///< LeavesItsObject.
  std::vector<std::string> uses;
  const WorkView* view = nullptr;  ///< nullptr: no watch has shown it yet.
};

struct SeenJob {
  const JobView* parent = nullptr;
  const JobEntry* entry = nullptr;  ///< Of State; nullptr: State does not know it.
  JobIndex index = kNoIndex;
  bool claimed = false;
  bool awaits_name = false;  ///< State will know it once an earlier job of its name is done with.
  std::string placement;
  std::vector<SeenWork> works;  ///< In the order of their namespaces and names.
};

/// Drops from `memory` what has been shown by now, or was written longer than `unseen` ago.
SeenJob See(const std::string& uid, const State& state, const Observer& observer, JobMemory& memory,
            std::pair<Time, Millis> now_and_unseen);

/// The Work that is to be for the shard: its name and epoch, and not on its way out.
const SeenWork* FindWork(const SeenJob& job, const std::string& uid, const Shard& shard);
/// Some Work of the shard's name is there, of whatever epoch.
bool NameIsTaken(const SeenJob& job, const std::string& uid, const Shard& shard);

/// What should be.
enum class Aim : uint8_t {
  kLeave,   ///< None of ours, or not known yet.
  kGone,    ///< The parent is gone: no Works.
  kNone,    ///< Claimed, no placement, no Works.
  kPlaced,  ///< As the charge says.
  kEnded,   ///< What ran stays to be looked at, until its time is up.
};
Aim AimOf(const SeenJob& job, const JobMemory& memory);

}  // namespace caldera
