// Internal to Observer: shards whose Works are gone while their pods may still run, and when they
// are known to be gone: once their grace period and a margin have passed, unless pods of it are
// seen running in a cluster that is Ready; at once where the member says so. It is asked for
// (PodCheck) once its pods, which were seen there, are seen no more, since what a watch has shown
// may be from before the Work went. A shard that never had a pod is not asked for: the first ones
// may be on their way. No I/O, one thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "controller/run/observer.h"
#include "federation/state.h"

namespace caldera {

class LeavingShards {
 public:
  explicit LeavingShards(const State& state) : state_(state) {}

  /// `until` is when its pods are gone unless they are seen; `had_pods`: some were reported.
  void Add(const std::string& uid, MemberJob job, Time until, bool had_pods);
  void Forget(const std::string& uid) { shards_.erase(uid); }
  /// When the last of the job's shards is gone at the latest; a zero Time: none is leaving.
  [[nodiscard]] Time Until(const std::string& uid) const;

  /// Shards whose time has come while pods of theirs are seen running: until when they are waited
  /// for next, and the jobs' uids. To be called before that time is acted on.
  std::vector<std::pair<Time, std::string>> Extend(Time now);
  /// Those to be asked for now, each once. Drops the ones whose time has come.
  std::vector<PodCheck> TakeChecks(Time now);
  /// The job that has less to wait for now; nullopt where nothing changed. A check whose answer
  /// does not say that all pods are gone is handed out again 2 s later.
  std::optional<std::string> Answer(const PodCheck& check, bool gone, Time now);
  /// When TakeChecks has more to hand out though nothing was reported; a zero Time: never.
  [[nodiscard]] Time NextDue() const;

 private:
  struct Leaving {
    uint64_t number = 0;
    MemberJob job;
    Time until;
    bool had_pods = false;
    bool asked = false;
    Time not_before;  ///< Of the next check.
  };

  [[nodiscard]] bool IsSeenRunning(const MemberJob& job) const;

  const State& state_;
  std::map<std::string, std::vector<Leaving>> shards_;  ///< By the job's uid.
  uint64_t last_number_ = 0;
};

}  // namespace caldera
