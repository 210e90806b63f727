#include "controller/run/dispatcher_queues.h"

#include <algorithm>

#include "controller/run/manifest_digest.h"
#include "controller/run/parent_status.h"

namespace caldera {
namespace {

bool Runs(const JobEntry& job) {
  return std::any_of(job.rare().reports.begin(), job.rare().reports.end(),
                     [](const TaskReport& report) { return report.running > 0; });
}

std::map<QueueIndex, QueueCounts> Count(const State& state) {
  std::map<QueueIndex, QueueCounts> counts;
  state.VisitJobs([&](JobIndex /*index*/, const JobEntry& job) {
    QueueCounts& queue = counts[job.charge.has_value() ? job.charge_queue : job.queue];
    if (job.terminal) {
      ++queue.completed;
    } else if (!job.charge.has_value()) {
      ++queue.pending;
    } else if (Runs(job)) {
      ++queue.running;
    } else {
      ++queue.inqueue;
    }
  });
  return counts;
}

}  // namespace

Time QueueStatuses::Write() {
  Time again;
  const std::map<QueueIndex, QueueCounts> counts = Count(state_);
  for (const auto& [name, index] : state_.queues()) {
    const QueueEntry& queue = state_.queue(index);
    const QueueView* const view = observer_.FindQueue(name);
    if (view == nullptr || !queue.object.has_value()) {
      continue;
    }
    const auto counted = counts.find(index);
    const ResourceList allocated = ToList(state_.resources(), queue.charged.ToVector());
    const Value status = MakeQueueStatus(
        queue.object->state, counted == counts.end() ? QueueCounts() : counted->second, allocated);
    const std::string digest = StatusDigest(status);
    const auto written = written_.find(view->uid);
    const bool unseen = written != written_.end() && written->second.digest == digest &&
                        client_.executor().Now() - written->second.at < options_.unseen_write;
    if (view->status_digest == digest) {
      continue;
    }
    if (!unseen) {
      WriteOne(*view, status);
      continue;
    }
    const Time shown = written->second.at + options_.unseen_write;
    again = again == Time() ? shown : std::min(again, shown);
  }
  return again;
}

void QueueStatuses::WriteOne(const QueueView& view, const Value& status) {
  ++in_flight_;
  client_.Patch({&resource::Queues(), "", view.name}, PatchKind::kJson,
                StatusPatch(view.uid, status), "status",
                [self = shared_from_this(), uid = view.uid,
                 digest = StatusDigest(status)](const Result<Value>& patched) {
                  --self->in_flight_;
                  if (patched) {
                    self->written_[uid] = {digest, self->client_.executor().Now()};
                  } else if (patched.error().code != ErrorCode::kNotFound && !self->stopped_) {
                    self->on_failed_();
                  }
                });
}

}  // namespace caldera
