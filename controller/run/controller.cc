#include "controller/run/controller.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <utility>

#include "controller/run/cycle.h"
#include "controller/run/dispatcher.h"
#include "controller/run/events.h"
#include "controller/run/informers.h"
#include "controller/run/leader.h"
#include "controller/run/log.h"
#include "controller/run/observer.h"
#include "controller/run/pod_check.h"
#include "controller/run/resize_events.h"

namespace caldera {
namespace {

constexpr Millis kFirstRetry{100};
constexpr Millis kLongestRetry{10'000};
constexpr Millis kStopPoll{10};
constexpr Millis kStopWait{1'000};  ///< For what is in flight.
constexpr Millis kLeaseWait{500};   ///< For the Lease to be given back.

ClientOptions ClientOptionsOf(const ControllerConfig& config) {
  ClientOptions options;
  options.requests_per_second = config.requests_per_second;
  options.burst = config.burst;
  options.in_flight = config.in_flight;
  return options;
}

EventOptions EventOptionsOf(const ControllerConfig& config) {
  EventOptions options;
  options.observe = config.observe;
  options.instance = config.leader.identity;
  options.queued_after = config.timing.queued_event_after;
  return options;
}

LeaderConfig LeaderConfigOf(const ControllerConfig& config) {
  LeaderConfig leader = config.leader;
  if (leader.identity.empty()) {
    leader.identity = DefaultIdentity();
  }
  return leader;
}

Settings SettingsOf(const ControllerConfig& config) {
  Settings settings = config.sharing;
  settings.summary_period = config.timing.summary_period;
  settings.cluster_lost_after = config.timing.cluster_lost_after;
  return settings;
}

std::string ClusterNames(const std::vector<Shard>& shards) {
  std::string names;
  for (const Shard& shard : shards) {
    names += (names.empty() ? "" : ",") + shard.cluster;
  }
  return names;
}

std::string ProxyPath(const std::string& cluster) {
  return resource::Clusters().Path("", cluster, "proxy");
}

}  // namespace

class Controller::Impl {
 public:
  Impl(const ControllerConfig& config, const ControllerPlace& place, Cycle cycle,
       std::function<void()> on_lost)
      : config_(config),
        executor_(place.executor),
        transport_(place.transport),
        ledger_(place.ledger),
        metrics_(place.metrics),
        cycle_(std::move(cycle)),
        client_(transport_, executor_, ClientOptionsOf(config)),
        lease_client_(transport_, executor_, ClientOptionsOf(config)),
        observer_(cycle_.state(), {config.namespaces, config.queues, config.timing.ready_debounce,
                                   config.timing.release_margin}),
        events_(client_, EventOptionsOf(config)),
        dispatcher_(client_, cycle_.state(), observer_, events_, DispatcherOptionsHere()),
        informers_(
            client_, observer_,
            {[this] { ScheduleCycle(config_.timing.batch); },
             [] { Log(LogLevel::kInfo, "everything is listed"); },
             [](const std::string& source, const Error& error) {
               Log(LogLevel::kWarn, "watch", {{"source", source}, {"error", error.message}});
             },
             [this](const ResourceType& type) { return KnowsObjects(cycle_.state(), type); }}),
        leader_(lease_client_, LeaderConfigOf(config),
                {[this] { Lead(); },
                 [this, on_lost = std::move(on_lost)](const std::string& why) {
                   Log(LogLevel::kError, "leadership lost", {{"why", why}});
                   Freeze();
                   on_lost();
                 },
                 [](const std::string& holder) {
                   Log(LogLevel::kInfo, "leader", {{"holder", holder}});
                 },
                 [](const Error& error) {
                   Log(LogLevel::kWarn, "leader election", {{"error", error.message}});
                 }}) {}

  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl() {
    Freeze();
    executor_.Cancel(poll_timer_);
    executor_.Cancel(stop_timer_);
  }

  void Start() {
    WarnOfTime();
    informers_.Start();
    if (config_.leader.enabled && !config_.observe) {
      leader_.Start();
    } else {
      Lead();
    }
  }

  void Stop(std::function<void()> done) {
    Freeze();
    done_ = std::move(done);
    stop_by_ = executor_.Now() + kStopWait;
    AwaitIdle();
  }

  [[nodiscard]] const State& state() const { return cycle_.state(); }
  [[nodiscard]] bool leading() const { return leading_; }
  [[nodiscard]] bool idle() const {
    return cycle_timer_ == 0 && !unrecorded_ && dispatcher_.idle() && events_.idle();
  }

  [[nodiscard]] std::vector<std::string> NotReady() const {
    std::vector<std::string> missing;
    for (const std::string& kind : informers_.Unsynced()) {
      missing.push_back(kind + " not listed yet");
    }
    if (unrecorded_) {
      missing.emplace_back("the ledger cannot be written");
    }
    return missing;
  }

  [[nodiscard]] std::map<std::pair<std::string, std::string>, std::string> PhasesOf(
      const std::string& job_uid) const {
    std::map<std::pair<std::string, std::string>, std::string> phases;
    for (const WorkView* const work : observer_.WorksOf(job_uid)) {
      phases[{work->cluster, work->child}] = work->phase;
    }
    return phases;
  }

  void UpdateMetrics() {
    metrics_.SetLeader(leading_);
    metrics_.SetSynced(informers_.Synced());
    metrics_.SetLedger(ledger_.LastCycle(), ledger_.WalBytes());
    std::map<RequestCount, uint64_t> counts = client_.counts();
    for (const auto& [key, count] : lease_client_.counts()) {
      counts[key] += count;
    }
    for (const auto& [cluster, member] : members_) {
      for (const auto& [key, count] : member->counts()) {
        counts[key] += count;
      }
    }
    metrics_.SetRequests(counts);
    metrics_.SetState(cycle_.state());
  }

 private:
  DispatcherOptions DispatcherOptionsHere() {
    DispatcherOptions options;
    options.observe = config_.observe;
    options.cluster_backoff = config_.timing.cluster_backoff;
    options.unscheduled_after = config_.timing.unscheduled_after;
    options.pending_too_long = config_.timing.pending_too_long;
    options.status_interval = config_.timing.queue_status_every;
    options.reader_of = [this](const std::string& cluster) {
      return config_.deliver_access && ViewOf(cluster) == MemberView::kNodes ? config_.reader : "";
    };
    options.member_path = [this](const std::string& cluster) {
      return ViewOf(cluster) == MemberView::kNodes ? ProxyPath(cluster) : "";
    };
    options.on_learnt = [this] { ScheduleCycle(config_.timing.batch); };
    options.on_error = [](const std::string& uid, const Error& error) {
      Log(LogLevel::kWarn, "dispatch", {{"jobUid", uid}, {"error", error.message}});
    };
    return options;
  }

  void Lead() {
    leading_ = true;
    ScheduleCycle(Millis(0));
  }

  // State's time never goes back.
  void WarnOfTime() const {
    constexpr Millis kNoteworthy{60'000};
    const Time last = cycle_.state().now();
    if (last - executor_.Now() > kNoteworthy) {
      Log(LogLevel::kWarn,
          "the ledger is ahead of this machine's clock: usage, backoffs and reservations stand "
          "still until that time",
          {{"time", FormatTime(last)}});
    }
  }

  // Nothing is decided or written from here on.
  void Freeze() {
    frozen_ = true;
    leading_ = false;
    executor_.Cancel(cycle_timer_);
    executor_.Cancel(due_timer_);
    dispatcher_.Stop();
    events_.Stop();
    informers_.Stop();
  }

  void AwaitIdle() {
    if ((dispatcher_.idle() && events_.idle()) || executor_.Now() >= stop_by_) {
      leader_.Stop([this] { Finish(); });
      stop_timer_ = executor_.PostAfter(kLeaseWait, [this] { Finish(); });
      return;
    }
    poll_timer_ = executor_.PostAfter(kStopPoll, [this] { AwaitIdle(); });
  }

  void Finish() {
    if (const auto done = std::exchange(done_, nullptr)) {
      done();
    }
  }

  void ScheduleCycle(Millis delay) {
    if (cycle_timer_ == 0 && leading_ && !frozen_ && informers_.Synced()) {
      cycle_timer_ = executor_.PostAfter(delay, [this] {
        cycle_timer_ = 0;
        RunCycle();
      });
    }
  }

  std::vector<Change> TakeObserved(Time now) {
    if (relisted_) {
      return observer_.TakeChanges(now);
    }
    std::vector<Change> changes = observer_.TakeRelist(now);
    if (const Settings settings = SettingsOf(config_); settings != cycle_.state().settings()) {
      changes.emplace_back(SettingsSet{settings});
    }
    return changes;
  }

  void RunCycle() {
    const Time now = executor_.Now();
    const auto started = std::chrono::steady_clock::now();
    std::vector<Change> changes = TakeObserved(now);
    const Time timed = cycle_.state().NextTimed();
    const bool due = timed != Time() && timed <= now;
    const bool again = std::exchange(again_, false);
    if (changes.empty() && !due && !again && !unrecorded_ && relisted_) {
      Follow();
      return;
    }
    if (changes.empty() && !again) {
      changes.emplace_back(ClockSet{now});
    }
    cycle_.Observe(std::move(changes));
    relisted_ = true;
    cycle_.SetRefusedQueues(observer_.RefusedQueues());
    auto outcome = cycle_.Decide();
    if (!outcome.has_value()) {
      Failed(outcome.error());
      return;
    }
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - started;
    metrics_.CycleDone(took.count(), outcome->observed.size(), outcome->plan.actions.size(),
                       outcome->pending.size());
    unrecorded_ = false;
    retry_ = kFirstRetry;
    Act(*std::move(outcome));
  }

  // Fails closed: nothing is dispatched until it could be recorded.
  void Failed(const Error& error) {
    unrecorded_ = true;
    metrics_.CycleFailed();
    Log(LogLevel::kError, "the ledger cannot be written, nothing is dispatched",
        {{"error", error.message}, {"retryIn", FormatDuration(retry_)}});
    ScheduleCycle(retry_);
    retry_ = std::min(retry_ * 2, kLongestRetry);
  }

  void Act(CycleOutcome outcome) {
    for (const Action& action : outcome.plan.actions) {
      Log(LogLevel::kInfo, "decided",
          {{"action", std::string(ActionName(action.action))},
           {"job", action.job.ToString()},
           {"queue", action.queue},
           {"clusters", ClusterNames(action.shards)},
           {"cycle", std::to_string(outcome.cycle)},
           {"reason", action.reason}});
      if (!action.beneficiary.name.empty()) {
        events_.Record(
            TargetOf(action.job, action.uid, action.kind),
            {EventType::kNormal, action.action == ActionKind::kEvict ? "Evicted" : "Shrunk",
             "it " + action.reason, EventRepeat::kOnce});
      }
      dispatcher_.Look(action.uid);
    }
    if (!std::exchange(looked_at_all_, true)) {
      dispatcher_.LookAll();
    }
    dispatcher_.AfterCycle(std::move(outcome.pending));
    for (auto& [target, event] : resize_events_.After(outcome.resizes)) {
      events_.Record(target, std::move(event));
    }
    UpdateMembers();
    Follow();
    if (outcome.again) {
      again_ = true;
      ScheduleCycle(Millis(0));
    }
  }

  // What the Observer asks for, once all of it is recorded.
  void Follow() {
    for (const std::string& uid : observer_.TakeDirtyJobs()) {
      dispatcher_.Look(uid);
    }
    dispatcher_.LookAtCarriers(observer_.TakeDirtyCarriers());
    for (const ObeyedCommand& command : observer_.TakeObeyed()) {
      DeleteCommand(command);
    }
    for (const RefusedObject& refused : observer_.TakeRefused()) {
      Tell(refused);
    }
    AskMembers();
    ScheduleDue();
  }

  void DeleteCommand(const ObeyedCommand& command) {
    if (config_.observe) {
      return;
    }
    DeleteOptions options;
    options.uid = command.uid;
    client_.Delete({&resource::Commands(), command.ns, command.name}, options,
                   [](const Status& status) {
                     if (!status.has_value() && status.error().code != ErrorCode::kNotFound) {
                       // It is seen again with the next list, and handed out again.
                       Log(LogLevel::kWarn, "delete Command", {{"error", status.error().message}});
                     }
                   });
  }

  // A member that is not watched is not asked: what was held there is given back by time alone.
  void AskMembers() {
    for (const PodCheck& check : observer_.TakePodChecks(executor_.Now())) {
      const auto member = members_.find(check.job.cluster);
      if (member != members_.end()) {
        AskForPods(*member->second, check.job.key, [this, check](bool gone) {
          observer_.AnswerPodCheck(check, gone, executor_.Now());
          ScheduleCycle(config_.timing.batch);
        });
      }
    }
  }

  void Tell(const RefusedObject& refused) {
    metrics_.RefusedObject(refused.kind);
    Log(LogLevel::kWarn, "refused",
        {{"object",
          refused.kind + "/" + (refused.ns.empty() ? "" : refused.ns + "/") + refused.name},
         {"error", refused.message}});
    const std::vector<const ResourceType*> kinds = {&resource::Jobs(), &resource::HyperJobs(),
                                                    &resource::Queues(), &resource::TenantQuotas()};
    const auto type = std::find_if(kinds.begin(), kinds.end(), [&](const ResourceType* kind) {
      return kind->kind == refused.kind;
    });
    if (type != kinds.end()) {
      events_.Record({(*type)->ApiVersion(), refused.kind, refused.ns, refused.name, refused.uid},
                     {EventType::kWarning, "Refused", refused.message, EventRepeat::kOnce});
    }
  }

  // Wakes up when time alone changes something.
  void ScheduleDue() {
    executor_.Cancel(due_timer_);
    due_timer_ = 0;
    Time due = observer_.NextDue();
    const Time timed = cycle_.state().NextTimed();
    if (due == Time() || (timed != Time() && timed < due)) {
      due = timed;
    }
    if (due != Time()) {
      due_timer_ = executor_.PostAt(due, [this] {
        due_timer_ = 0;
        ScheduleCycle(Millis(0));
      });
    }
  }

  [[nodiscard]] MemberView ViewOf(const std::string& cluster) const {
    const auto view = config_.member_views.find(cluster);
    return view == config_.member_views.end() ? config_.members : view->second;
  }

  // Members that are to be watched node by node: those that there are.
  void UpdateMembers() {
    for (const auto& [name, index] : cycle_.state().clusters()) {
      const bool there = cycle_.state().cluster(index).object.has_value();
      if (there && ViewOf(name) == MemberView::kNodes && !members_.contains(name)) {
        ClientOptions options = ClientOptionsOf(config_);
        options.base_path = ProxyPath(name);
        const auto [it, added] = members_.emplace(
            name, std::make_unique<Client>(transport_, executor_, std::move(options)));
        informers_.StartMember(name, *it->second);
      } else if (!there && members_.contains(name)) {
        informers_.StopMember(name);
        members_.erase(name);
      }
    }
  }

  const ControllerConfig config_;
  Executor& executor_;
  HttpTransport& transport_;
  Ledger& ledger_;
  Metrics& metrics_;
  Cycle cycle_;
  Client client_;
  Client lease_client_;  // Its own queue: renewing must not wait behind a thousand Works.
  std::map<std::string, std::unique_ptr<Client>> members_;
  Observer observer_;
  EventRecorder events_;
  ResizeEvents resize_events_;
  Dispatcher dispatcher_;
  Informers informers_;
  LeaderElection leader_;

  bool leading_ = false;
  bool frozen_ = false;
  bool relisted_ = false;
  bool again_ = false;  // The last plan gave back room.
  bool looked_at_all_ = false;
  bool unrecorded_ = false;
  Millis retry_ = kFirstRetry;
  Executor::TimerId cycle_timer_ = 0;
  Executor::TimerId due_timer_ = 0;
  Executor::TimerId poll_timer_ = 0;
  Executor::TimerId stop_timer_ = 0;
  Time stop_by_;
  std::function<void()> done_;
};

Controller::Controller(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Controller::~Controller() = default;

Result<std::unique_ptr<Controller>> Controller::Create(const ControllerConfig& config,
                                                       const ControllerPlace& place,
                                                       std::function<void()> on_lost) {
  CALDERA_TRY(Cycle cycle, Cycle::Start(place.ledger));
  return std::unique_ptr<Controller>(
      new Controller(std::make_unique<Impl>(config, place, std::move(cycle), std::move(on_lost))));
}

void Controller::Start() { impl_->Start(); }
void Controller::Stop(std::function<void()> done) { impl_->Stop(std::move(done)); }
const State& Controller::state() const { return impl_->state(); }
std::vector<std::string> Controller::NotReady() const { return impl_->NotReady(); }
bool Controller::leading() const { return impl_->leading(); }
bool Controller::idle() const { return impl_->idle(); }
std::map<std::pair<std::string, std::string>, std::string> Controller::PhasesOf(
    const std::string& job_uid) const {
  return impl_->PhasesOf(job_uid);
}
void Controller::UpdateMetrics() { impl_->UpdateMetrics(); }

}  // namespace caldera
