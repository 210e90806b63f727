#include "controller/run/dispatcher_status.h"

#include <algorithm>
#include <utility>

#include "controller/run/manifest_digest.h"
#include "controller/run/parent_status.h"

namespace caldera {
namespace {

ParentFacts FactsOf(const SeenJob& job, const std::string& uid, Time now) {
  ParentFacts facts;
  facts.kind = job.parent->kind;
  facts.name = job.parent->key.name;
  facts.generation = job.parent->generation;
  facts.phase = job.parent->phase;
  facts.now = now;
  facts.works_left = !job.works.empty();
  facts.awaits_name = job.awaits_name;
  facts.suspended = job.entry != nullptr && job.entry->suspended && !job.entry->terminal;
  facts.shards = ShardsOf(job);
  for (const Shard& shard : facts.shards) {
    const SeenWork* const work = FindWork(job, uid, shard);
    facts.works.push_back(work == nullptr ? nullptr : work->view);
  }
  return facts;
}

}  // namespace

std::vector<Shard> ShardsOf(const SeenJob& job) {
  if (job.entry == nullptr) {
    return {};
  }
  if (job.entry->charge.has_value()) {
    return job.entry->charge->shards;
  }
  if (!job.entry->terminal) {
    return {};
  }
  if (!job.entry->rare().placement.empty()) {
    return job.entry->rare().placement;
  }
  std::vector<Shard> shards;
  for (const SeenWork& work : job.works) {
    Shard& shard = shards.emplace_back();
    shard.cluster = work.cluster;
    shard.epoch = work.epoch;
    shard.child = work.view == nullptr ? "" : work.view->child;
  }
  return shards;
}

StatusDecision DecideStatus(const SeenJob& job, const std::string& uid, JobMemory& memory,
                            const DispatcherOptions& options, Time now) {
  StatusDecision decision;
  std::optional<ParentStatus> wanted = MakeParentStatus(FactsOf(job, uid, now));
  if (!wanted) {
    return decision;
  }
  const std::string digest = StatusDigest(wanted->status);
  const bool there =
      wanted->own ? job.parent->phase == wanted->phase : job.parent->status_digest == digest;
  const bool written = now - memory.status_at < options.unseen_write &&
                       memory.status_phase == wanted->phase &&
                       (wanted->own || memory.status_digest == digest);
  if (there) {
    return decision;
  }
  if (written) {
    // A watch should show it soon; unless somebody wrote another one over it.
    decision.again = memory.status_at + options.unseen_write;
    return decision;
  }
  const bool fresh = now - memory.status_at < options.unseen_write;
  const bool changes = (fresh ? memory.status_phase : job.parent->phase) != wanted->phase;
  Time earliest = now;
  if (wanted->phase == "Pending" && job.parent->phase.empty()) {
    if (memory.pending_since == Time()) {
      memory.pending_since = now;
    }
    earliest = memory.pending_since + options.pending_after;
  } else if (!changes) {
    earliest = memory.status_at + options.status_interval;
  }
  if (earliest > now) {
    decision.again = earliest;
    return decision;
  }
  decision.ends = IsTerminalPhase(wanted->phase) && job.parent->phase != wanted->phase;
  decision.phase = std::move(wanted->phase);
  decision.write = std::move(wanted->status);
  return decision;
}

void RememberStatus(const StatusDecision& decision, JobMemory& memory, Time now) {
  memory.status_digest = StatusDigest(*decision.write);
  memory.status_phase = decision.phase;
  memory.status_at = now;
  memory.pending_since = Time();
}

}  // namespace caldera
