#include "federation/relist.h"

#include <iterator>
#include <map>
#include <optional>
#include <utility>

#include "federation/object_key.h"

namespace caldera {
namespace {

using Objects = std::map<ObjectKey, Change>;

Objects ByKey(const std::vector<Change>& changes) {
  Objects objects;
  for (const Change& change : changes) {
    if (const std::optional<ObjectKey> key = KeyOfChange(change)) {
      objects.insert_or_assign(*key, change);
    }
  }
  return objects;
}

/// A job made again under the same name is another job.
bool OtherJob(const Change& known, const Change& seen) {
  const auto* before = std::get_if<JobUpsert>(&known);
  const auto* after = std::get_if<JobUpsert>(&seen);
  return before != nullptr && after != nullptr && before->job.uid != after->job.uid;
}

/// Intake gives the time of reading to an object that carries no creation time; one that is known
/// keeps the time at which it was seen first, or it would lose its place with every listing.
void KeepCreation(const Change& known, Time now, Change& seen) {
  if (auto* job = std::get_if<JobUpsert>(&seen); job != nullptr && job->job.creation == now) {
    job->job.creation = std::get<JobUpsert>(known).job.creation;
  }
  if (auto* queue = std::get_if<QueueUpsert>(&seen);
      queue != nullptr && queue->queue.creation == now) {
    queue->queue.creation = std::get<QueueUpsert>(known).queue.creation;
  }
}

/// The knobs are no object that could be absent: they change only where they were given.
std::optional<Settings> NewSettings(const State& state, const std::vector<Change>& observed) {
  std::optional<Settings> settings;
  for (const Change& change : observed) {
    if (const auto* set = std::get_if<SettingsSet>(&change)) {
      settings = set->settings;
    }
  }
  return settings && *settings != state.settings() ? settings : std::nullopt;
}

}  // namespace

std::vector<Change> Relist(const State& state, Time now, const std::vector<Change>& observed) {
  const Objects known = ByKey(state.Export());
  Objects seen = ByKey(observed);
  std::vector<Change> result = {ClockSet{now}};
  if (const std::optional<Settings> settings = NewSettings(state, observed)) {
    result.emplace_back(SettingsSet{*settings});
  }
  std::vector<Change> deletes;
  for (const auto& [key, change] : known) {
    const auto at = seen.find(key);
    if (at == seen.end() || OtherJob(change, at->second)) {
      const auto* job = std::get_if<JobUpsert>(&change);
      deletes.push_back(DeletionOf(key, job == nullptr ? "" : job->job.uid));
    }
  }
  result.insert(result.end(), std::make_move_iterator(deletes.rbegin()),
                std::make_move_iterator(deletes.rend()));
  for (auto& [key, change] : seen) {
    const auto at = known.find(key);
    if (at != known.end() && !OtherJob(at->second, change)) {
      KeepCreation(at->second, now, change);
      if (SameChange(at->second, change)) {
        continue;
      }
    }
    result.push_back(std::move(change));
  }
  return result;
}

}  // namespace caldera
