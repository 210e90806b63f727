#include "controller/run/dispatcher_memory.h"

#include <algorithm>
#include <functional>
#include <string>
#include <tuple>

#include "federation/render.h"

namespace caldera {
namespace {

bool IsEdited(const WorkView& view, JobMemory& memory) {
  const auto kept = memory.kept.find(view.uid);
  const bool as_kept =
      kept != memory.kept.end() && kept->second == view.content && !view.digest.empty();
  const Stamp stamp = StampOf(view);
  const bool as_stamped = memory.stamps.try_emplace(view.uid, stamp).first->second == stamp;
  return (view.IsEdited() && !as_kept) || view.LeavesItsObject() || !as_stamped;
}

SeenWork FromView(const WorkView& view, JobMemory& memory) {
  const bool edited = IsEdited(view, memory);
  return {view.ns,
          view.name,
          view.uid,
          view.cluster,
          memory.stamps.at(view.uid).epoch,
          view.intent,
          view.generation,
          view.suspended,
          view.deleting,
          edited,
          view.LeavesItsObject(),
          view.uses,
          &view};
}

void TakeOver(const JobMemory::Work& made, SeenWork& work) {
  work.epoch = made.epoch;
  work.intent = made.intent;
  work.generation = made.generation;
  work.suspended = made.suspended;
  work.edited = false;
  work.leaves = false;
  work.uses = made.uses;
}

bool Shows(const WorkView& view, const JobMemory::Work& made) {
  return view.epoch == made.epoch && view.intent >= made.intent &&
         view.generation >= made.generation && view.suspended == made.suspended &&
         view.content == made.content;
}

bool IsBefore(const SeenWork& work, const WorkKey& key) {
  return std::tie(work.ns, work.name) < std::tie(key.first, key.second);
}

/// `works` in the order of their keys.
const SeenWork* FindByKey(const std::vector<SeenWork>& works, const WorkKey& key) {
  const auto at = std::lower_bound(works.begin(), works.end(), key, IsBefore);
  return at != works.end() && at->ns == key.first && at->name == key.second ? &*at : nullptr;
}

/// In the order of namespaces and names, each of which is there once.
std::vector<SeenWork> SeeWorks(const std::vector<const WorkView*>& views, JobMemory& memory,
                               Time too_old) {
  std::vector<SeenWork> works;
  std::map<std::string, Time> still_shown;
  for (const WorkView* const view : views) {
    SeenWork work = FromView(*view, memory);
    const auto deleted = memory.deleted.find(view->uid);
    if (deleted != memory.deleted.end() && deleted->second > too_old && !view->deleting) {
      still_shown.insert(*deleted);
      work.deleting = true;
    }
    if (const auto made = memory.works.find({view->ns, view->name}); made != memory.works.end()) {
      if (made->second.uid != view->uid && work.deleting) {
        continue;  // Its successor is there already, and follows below.
      }
      if (made->second.uid != view->uid || Shows(*view, made->second)) {
        memory.works.erase(made);
      } else {
        TakeOver(made->second, work);
      }
    }
    works.push_back(std::move(work));
  }
  memory.deleted = std::move(still_shown);
  std::vector<SeenWork> unseen;
  for (const auto& [key, made] : memory.works) {
    if (FindByKey(works, key) == nullptr) {
      SeenWork& work = unseen.emplace_back();
      work.ns = key.first;
      work.name = key.second;
      work.uid = made.uid;
      work.cluster = made.cluster;
      TakeOver(made, work);
    }
  }
  for (SeenWork& work : unseen) {
    const WorkKey key(work.ns, work.name);
    works.insert(std::lower_bound(works.begin(), works.end(), key, IsBefore), std::move(work));
  }
  const auto gone = [&](const auto& remembered) {
    return std::none_of(works.begin(), works.end(),
                        [&](const SeenWork& work) { return work.uid == remembered.first; });
  };
  std::erase_if(memory.kept, gone);
  std::erase_if(memory.stamps, gone);
  return works;
}

}  // namespace

Stamp StampOf(const WorkView& view) {
  std::string text = view.digest + "|" + view.job.ToString();
  for (const int64_t number : {view.index, view.intent, view.generation}) {
    text += "|" + std::to_string(number);
  }
  for (const TaskGrant& grant : view.grants) {
    text += "|" + (grant.at_once.has_value() ? std::to_string(*grant.at_once) : "");
  }
  for (const std::string& use : view.uses) {
    text += "|" + use;
  }
  return {view.epoch, std::hash<std::string>()(text)};
}

SeenJob See(const std::string& uid, const State& state, const Observer& observer, JobMemory& memory,
            std::pair<Time, Millis> now_and_unseen) {
  const Time too_old = now_and_unseen.first - now_and_unseen.second;
  std::erase_if(memory.works, [&](const auto& made) { return made.second.at <= too_old; });
  SeenJob job;
  job.parent = observer.FindJob(uid);
  if (job.parent != nullptr) {
    const JobIndex found = state.FindJob(job.parent->key, job.parent->kind);
    if (found != kNoIndex && state.job(found).uid == uid) {
      job.index = found;
      job.entry = &state.job(found);
    }
    job.claimed = job.parent->claimed_by_us;
    job.placement = job.parent->placement;
    if (memory.placement) {
      const bool shown = job.claimed && job.placement == memory.placement->text;
      if (shown || memory.placement->at <= too_old) {
        memory.placement.reset();
      } else {
        job.claimed = true;
        job.placement = memory.placement->text;
      }
    }
  }
  job.works = SeeWorks(observer.WorksOf(uid), memory, too_old);
  return job;
}

const SeenWork* FindWork(const SeenJob& job, const std::string& uid, const Shard& shard) {
  const SeenWork* const work =
      FindByKey(job.works, {ExecutionNamespace(shard.cluster), WorkName(uid, shard.child)});
  return work != nullptr && work->epoch == shard.epoch && !work->deleting ? work : nullptr;
}

bool NameIsTaken(const SeenJob& job, const std::string& uid, const Shard& shard) {
  return FindByKey(job.works, {ExecutionNamespace(shard.cluster), WorkName(uid, shard.child)}) !=
         nullptr;
}

namespace {

// It fails the job. What else runs of it is taken away, and only then the job has ended for State.
bool HasFailedShard(const SeenJob& job) {
  return job.entry->charge.has_value() &&
         std::any_of(job.entry->charge->shards.begin(), job.entry->charge->shards.end(),
                     [&](const Shard& shard) {
                       const SeenWork* const work = FindWork(job, job.entry->uid, shard);
                       return work != nullptr && work->view != nullptr &&
                              (work->view->phase == "Failed" || work->view->phase == "Terminated");
                     });
}

}  // namespace

Aim AimOf(const SeenJob& job, const JobMemory& memory) {
  if (job.parent == nullptr || job.parent->deleting) {
    return Aim::kGone;
  }
  // What State does not know it cannot have decided about: a Job that was refused keeps what runs.
  if (job.entry == nullptr) {
    return Aim::kLeave;
  }
  const JobEntry& entry = *job.entry;
  if (entry.claimed_elsewhere) {
    return entry.charge.has_value() || job.works.empty() ? Aim::kLeave : Aim::kNone;
  }
  if (entry.terminal || HasFailedShard(job)) {
    return Aim::kEnded;
  }
  const bool wanted = entry.charge.has_value() && !entry.suspended && !entry.Evicting() &&
                      !IsRecalled(entry) && memory.recalled != entry.charge->intent;
  return wanted ? Aim::kPlaced : Aim::kNone;
}

}  // namespace caldera
