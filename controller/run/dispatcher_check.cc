// What is there and yet gets nowhere: jobs whose name is still taken, shards that the member does
// not take, or does not schedule.
#include <algorithm>
#include <string>
#include <utility>

#include "controller/run/dispatcher_look.h"
#include "federation/children.h"
#include "federation/successor.h"
#include "federation/time.h"

namespace caldera {
namespace {

/// Pods of that Job of the member that have, or had, a node there.
int64_t BoundPods(const ClusterEntry& member, const JobKey& job) {
  int64_t bound = 0;
  for (auto it = member.pods.lower_bound({job.ns, ""});
       it != member.pods.end() && it->first.first == job.ns; ++it) {
    bound += it->second.job == job.name && !it->second.node.empty() ? 1 : 0;
  }
  return bound;
}

}  // namespace

// State knows it once the earlier job of its name has given back what it held.
bool JobLook::AwaitName() {
  if (seen_.parent == nullptr || seen_.entry != nullptr) {
    return false;
  }
  const JobIndex earlier = context_.state.FindJob(seen_.parent->key, seen_.parent->kind);
  const Successor* const successor =
      earlier == kNoIndex ? nullptr : context_.state.SuccessorOf(earlier);
  if (successor == nullptr || successor->uid != uid_) {
    return false;
  }
  seen_.awaits_name = true;
  const PendingJob waits = ExplainSuccessor(context_.state, earlier);
  context_.events.Waiting(target_, waits.verdict, waits.message);
  return WriteStatus();
}

bool JobLook::CheckApplied() {
  for (const SeenWork& work : seen_.works) {
    if (work.deleting || work.view == nullptr || work.view->applied != WorkView::Applied::kFalse) {
      continue;
    }
    const WorkView& view = *work.view;
    if (view.reported) {
      // It runs: only what was changed since did not reach it.
      Say(EventType::kWarning, "ApplyFailed",
          "cluster " + view.cluster + " did not take a change: " + view.applied_message,
          EventRepeat::kOnce);
      continue;
    }
    const bool taken = view.NameIsTaken();
    const Time since = view.applied_since == Time() ? Now() : view.applied_since;
    if (taken || since + context_.options.apply_grace <= Now()) {
      RecallFrom({view.cluster}, taken ? Verdict::kNameConflict : Verdict::kApplyFailed,
                 view.applied_message);
      return true;
    }
    Again(since + context_.options.apply_grace);
  }
  return false;
}

// What Volcano cannot schedule although there should be room: no part of the job can start.
bool JobLook::CheckScheduled() {
  for (const Shard& shard : charge().shards) {
    const SeenWork* const work = FindWork(seen_, uid_, shard);
    const auto cluster = context_.state.clusters().find(shard.cluster);
    if (work == nullptr || work->view == nullptr || work->suspended || shard.min_available == 0 ||
        (!work->view->phase.empty() && work->view->phase != "Pending") ||
        cluster == context_.state.clusters().end()) {
      continue;
    }
    const ClusterEntry& member = context_.state.cluster(cluster->second);
    if (!member.object.has_value() || !member.object->ready) {
      continue;  // Nothing is heard of it: that is not for want of room.
    }
    const bool pods_seen = !member.nodes.empty();
    const std::string job = MemberJobName(seen_.parent->key.name, shard.child);
    const int64_t bound = BoundPods(member, {seen_.parent->key.ns, job});
    if (pods_seen && bound >= shard.min_available) {
      continue;
    }
    const Millis patience =
        pods_seen ? context_.options.unscheduled_after : context_.options.pending_too_long;
    // A charge that was taken over has no time of its own.
    const Time since = std::max(
        {charge().at, work->view->created, work->view->applied_since, work->view->phase_since});
    if (since + patience <= Now()) {
      const std::string who = shard.child.empty() ? "" : "Job " + job + ": ";
      const std::string needed = std::to_string(shard.min_available);
      const std::string what = pods_seen ? std::to_string(bound) + " of the " + needed +
                                               " pods that must start together have a node since " +
                                               FormatTime(since)
                                         : "Pending since " + FormatTime(since);
      RecallFrom({shard.cluster}, Verdict::kStuckInMember, who + what);
      return true;
    }
    Again(since + patience);
  }
  return false;
}

}  // namespace caldera
