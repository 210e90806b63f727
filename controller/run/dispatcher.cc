#include "controller/run/dispatcher.h"

#include <algorithm>
#include <deque>
#include <map>
#include <random>
#include <set>
#include <utility>

#include "controller/run/dispatcher_carriers.h"
#include "controller/run/dispatcher_look.h"
#include "controller/run/dispatcher_memory.h"
#include "controller/run/dispatcher_queues.h"
#include "controller/run/stray_works.h"

namespace caldera {
namespace {

// Looks without a request are quick, but a hundred thousand of them are not: others have a turn.
constexpr int kLooksAtATurn = 200;

}  // namespace

class Dispatcher::Impl : public std::enable_shared_from_this<Dispatcher::Impl> {
 public:
  Impl(Client& client, const State& state, Observer& observer, EventRecorder& events,
       DispatcherOptions options)
      : client_(client),
        state_(state),
        observer_(observer),
        events_(events),
        options_(std::move(options)),
        carriers_(std::make_shared<Carriers>(
            client, state, observer, options_,
            Carriers::Handlers{
                [this] { FollowUpAgain(); },
                [this](const std::string& uid, const WorkKey& work) { SayPutBack(uid, work); }})),
        queues_(std::make_shared<QueueStatuses>(client, state, observer, options_,
                                                [this] { FollowUpAgain(); })),
        strays_(std::make_shared<StrayWorks>(client,
                                             [this](const Error& error) {
                                               if (options_.on_error) {
                                                 options_.on_error("", error);
                                               }
                                             })),
        context_{client, state, observer, events, *carriers_, options_},
        random_(options_.seed) {}

  void Look(const std::string& uid) {
    if (stopped_ || options_.observe) {
      return;
    }
    Entry& entry = entries_[uid];
    if (entry.look != nullptr) {
      entry.dirty = true;
    } else if (!entry.queued && entry.not_before <= client_.executor().Now()) {
      entry.queued = true;
      queue_.push_back(uid);
      SchedulePump();
    }
  }

  void LookAll() {
    if (stopped_ || options_.observe) {
      return;
    }
    for (const std::string& uid : observer_.JobUids()) {
      Look(uid);
      first_looks_.insert(uid);
    }
    looking_at_all_ = true;
    strays_->Sweep();
    SchedulePump();
  }

  void LookAtCarriers(const std::set<WorkKey>& works) {
    if (!options_.observe) {
      for (const WorkKey& work : works) {
        carriers_->Look(work);
      }
    }
  }

  void AfterCycle(std::vector<PendingJob> pending) {
    if (stopped_ || options_.observe) {
      return;
    }
    pending_ = std::move(pending);
    has_pending_ = true;
    ScheduleFollowUp(followed_ + options_.status_interval);
  }

  void Stop() {
    stopped_ = true;
    carriers_->Stop();
    strays_->Stop();
    queues_->Stop();
    queue_.clear();
    for (auto& [uid, entry] : entries_) {
      if (entry.look != nullptr) {
        entry.look->Stop();
        entry.look.reset();
      }
      client_.executor().Cancel(entry.timer);
    }
    client_.executor().Cancel(follow_up_);
  }

  [[nodiscard]] bool idle() const {
    return queue_.empty() && in_flight_ == 0 && parked_ == 0 && !has_pending_ &&
           carriers_->idle() && queues_->idle();
  }

 private:
  struct Entry {
    JobMemory memory;
    std::shared_ptr<JobLook> look;  ///< While it is being looked at.
    bool queued = false;
    bool dirty = false;
    int failures = 0;
    Time not_before;  ///< Of a backoff.
    Executor::TimerId timer = 0;
  };

  void SchedulePump() {
    if (!pump_posted_) {
      pump_posted_ = true;
      client_.executor().Post([self = shared_from_this()] {
        self->pump_posted_ = false;
        self->Pump();
      });
    }
  }

  void Pump() {
    for (int i = 0;
         i < kLooksAtATurn && !stopped_ && !queue_.empty() && in_flight_ < options_.jobs_in_flight;
         ++i) {
      const std::string uid = std::move(queue_.front());
      queue_.pop_front();
      Begin(uid);
    }
    if (!stopped_ && !queue_.empty() && in_flight_ < options_.jobs_in_flight) {
      SchedulePump();
    }
    if (!stopped_ && looking_at_all_ && first_looks_.empty()) {
      looking_at_all_ = false;
      carriers_->BeginCollecting();
    }
  }

  void Begin(const std::string& uid) {
    Entry& entry = entries_[uid];
    entry.queued = false;
    entry.dirty = false;
    client_.executor().Cancel(entry.timer);
    entry.timer = 0;
    ++in_flight_;
    JobLook::Handlers handlers;
    handlers.done = [self = shared_from_this(), uid](const LookOutcome& outcome) {
      self->End(uid, outcome);
    };
    handlers.park = [self = shared_from_this()] {
      --self->in_flight_;
      ++self->parked_;
      self->SchedulePump();
    };
    handlers.unpark = [self = shared_from_this()] {
      --self->parked_;
      ++self->in_flight_;
    };
    const auto look = std::make_shared<JobLook>(context_, uid, entry.memory, std::move(handlers));
    entry.look = look;
    look->Start();
  }

  void End(const std::string& uid, const LookOutcome& outcome) {
    --in_flight_;
    first_looks_.erase(uid);
    const auto found = entries_.find(uid);
    Entry& entry = found->second;
    entry.look.reset();
    const Time now = client_.executor().Now();
    Time again = outcome.again;
    if (outcome.error) {
      entry.not_before = now + Backoff(entry.failures++, outcome.error->code);
      again = entry.not_before;
      if (options_.on_error) {
        options_.on_error(uid, *outcome.error);
      }
    } else {
      entry.failures = 0;
      entry.not_before = Time();
    }
    if (!outcome.error && entry.dirty) {
      Look(uid);
    } else if (again != Time()) {
      entry.timer = client_.executor().PostAt(again, [self = shared_from_this(), uid] {
        if (const auto at = self->entries_.find(uid); at != self->entries_.end()) {
          at->second.timer = 0;
          self->Look(uid);
        }
      });
    } else if (observer_.FindJob(uid) == nullptr && observer_.WorksOf(uid).empty()) {
      entries_.erase(found);
    }
    SchedulePump();
  }

  Millis Backoff(int failures, ErrorCode code) {
    Millis wait = options_.first_backoff;
    // What is wrong with the object does not pass by itself.
    for (int i = code == ErrorCode::kInvalid ? -3 : 0;
         i < failures && wait < options_.longest_backoff; ++i) {
      wait *= 2;
    }
    wait = std::min(wait, options_.longest_backoff);
    const int64_t half = wait.count() / 2;
    return Millis(half + static_cast<int64_t>(random_()) % (half + 1));
  }

  void SayPutBack(const std::string& uid, const WorkKey& work) {
    if (const JobView* const user = observer_.FindJob(uid); user != nullptr) {
      events_.Record(TargetOf(user->key, uid, user->kind),
                     {EventType::kWarning, "WorkEdited",
                      "Work " + work.first + "/" + work.second +
                          ", which it uses, was changed by another hand: it is put back",
                      EventRepeat::kEachTime});
    }
  }

  void FollowUpAgain() { ScheduleFollowUp(client_.executor().Now() + options_.longest_backoff); }

  // At the earlier one of this and what is scheduled.
  void ScheduleFollowUp(Time at) {
    if (follow_up_ != 0 && follow_up_at_ <= at) {
      return;
    }
    client_.executor().Cancel(follow_up_);
    follow_up_at_ = at;
    follow_up_ = client_.executor().PostAt(std::max(at, client_.executor().Now()),
                                           [self = shared_from_this()] {
                                             self->follow_up_ = 0;
                                             self->FollowUp();
                                           });
  }

  void FollowUp() {
    if (stopped_) {
      return;
    }
    followed_ = client_.executor().Now();
    has_pending_ = false;
    for (const PendingJob& pending : std::exchange(pending_, {})) {
      const JobIndex found = state_.FindJob(pending.job, pending.kind);
      if (found != kNoIndex && pending.verdict != Verdict::kClaimedElsewhere) {
        events_.Waiting(TargetOf(pending.job, state_.job(found).uid, pending.kind), pending.verdict,
                        pending.message);
      }
    }
    carriers_->FollowQueues();
    carriers_->FollowAccess();
    if (const Time again = queues_->Write(); again != Time()) {
      ScheduleFollowUp(again);
    }
  }

  Client& client_;
  const State& state_;
  Observer& observer_;
  EventRecorder& events_;
  const DispatcherOptions options_;
  const std::shared_ptr<Carriers> carriers_;
  const std::shared_ptr<QueueStatuses> queues_;
  const std::shared_ptr<StrayWorks> strays_;
  const DispatchContext context_;
  std::map<std::string, Entry> entries_;  ///< By uid; a look refers to its entry's memory.
  std::deque<std::string> queue_;
  int in_flight_ = 0;
  int parked_ = 0;
  bool pump_posted_ = false;
  bool looking_at_all_ = false;
  std::set<std::string> first_looks_;  ///< Of LookAll, not ended yet.
  std::vector<PendingJob> pending_;
  bool has_pending_ = false;
  Time followed_;
  Executor::TimerId follow_up_ = 0;
  Time follow_up_at_;
  std::minstd_rand random_;
  bool stopped_ = false;
};

Dispatcher::Dispatcher(Client& client, const State& state, Observer& observer,
                       EventRecorder& events, DispatcherOptions options)
    : impl_(std::make_shared<Impl>(client, state, observer, events, std::move(options))) {}

Dispatcher::~Dispatcher() { impl_->Stop(); }

void Dispatcher::Look(const std::string& job_uid) { impl_->Look(job_uid); }

void Dispatcher::LookAll() { impl_->LookAll(); }

void Dispatcher::LookAtCarriers(const std::set<std::pair<std::string, std::string>>& works) {
  impl_->LookAtCarriers(works);
}

void Dispatcher::AfterCycle(std::vector<PendingJob> pending) {
  impl_->AfterCycle(std::move(pending));
}

void Dispatcher::Stop() { impl_->Stop(); }

bool Dispatcher::idle() const { return impl_->idle(); }

}  // namespace caldera
