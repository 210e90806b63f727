#include "controller/run/leader.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <utility>

#include "federation/value_at.h"

namespace caldera {
namespace {

// metav1.MicroTime: exactly six digits of fraction.
std::string MicroTime(Time time) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(time);
  std::string text = FormatTime(Time(seconds));
  text.pop_back();  // Z
  return fmt::format("{}.{:06}Z", text, (time - seconds).count() * 1'000);
}

}  // namespace

class LeaderElection::Impl : public std::enable_shared_from_this<Impl> {
 public:
  Impl(Client& client, LeaderConfig config, LeaderHandlers handlers)
      : client_(client), config_(std::move(config)), handlers_(std::move(handlers)) {}

  void Start() { Try(); }

  void Stop(std::function<void()> done) {
    stopped_ = true;
    client_.executor().Cancel(timer_);
    if (!std::exchange(leading_, false)) {
      done();
      return;
    }
    Value lease = Renewed();
    Value& spec = lease.Set("spec", *lease.Find("spec"));
    spec.Set("holderIdentity", "");
    spec.Set("leaseDurationSeconds", 1);
    client_.Update(Ref(), lease, [done = std::move(done)](const Result<Value>&) { done(); });
  }

  void Abandon() {
    stopped_ = true;
    leading_ = false;
    client_.executor().Cancel(timer_);
  }

  [[nodiscard]] bool leading() const { return leading_; }

 private:
  [[nodiscard]] ObjectRef Ref() const { return {&resource::Leases(), config_.ns, config_.name}; }
  [[nodiscard]] Time Now() { return client_.executor().Now(); }

  // A handler of an answer that is dropped once this has stopped.
  template <typename F>
  auto Alive(F f) {
    return [weak = weak_from_this(), f](auto answer) {
      if (const auto self = weak.lock(); self != nullptr && !self->stopped_) {
        f(*self, std::move(answer));
      }
    };
  }

  void Try() {
    client_.Get(Ref(), Alive([](Impl& self, Result<Value> lease) { self.Seen(std::move(lease)); }));
    Again();
  }

  // One round after the other, whether the last one was answered or not; and a term ends by the
  // clock, not by an answer.
  void Again() {
    timer_ = client_.executor().PostAfter(config_.retry, [weak = weak_from_this()] {
      const auto self = weak.lock();
      if (self == nullptr || self->stopped_) {
        return;
      }
      if (self->leading_ && self->Now() - self->renewed_ >= self->config_.renew_deadline) {
        self->Lose("the Lease could not be renewed for " +
                   FormatDuration(self->config_.renew_deadline));
        return;
      }
      self->Try();
    });
  }

  void Seen(Result<Value> lease) {
    if (!lease.has_value()) {
      if (lease.error().code == ErrorCode::kNotFound && !leading_) {
        Create();
      } else {
        handlers_.on_error(lease.error().Within("read Lease " + config_.ns + "/" + config_.name));
      }
      return;
    }
    const std::string holder = TextAt(*lease, {"spec", "holderIdentity"});
    const std::string version = TextAt(*lease, {"metadata", "resourceVersion"});
    // Time in which nobody looked does not count: the clock may have been put ahead.
    unchanged_ += std::min(Now() - looked_, 2 * config_.retry);
    looked_ = Now();
    if (version != seen_version_) {
      seen_version_ = version;
      unchanged_ = Millis(0);
    }
    Tell(holder);
    lease_ = *std::move(lease);
    const bool ours = holder == config_.identity;
    if (leading_ && !ours) {
      Lose(holder + " holds the Lease now");
    } else if (ours || holder.empty() || unchanged_ >= Duration()) {
      Write();
    }
  }

  // How long the holder asked others to wait.
  [[nodiscard]] Millis Duration() const {
    const Value* const seconds = lease_.At({"spec", "leaseDurationSeconds"});
    return seconds != nullptr && seconds->IsInteger()
               ? std::max(Millis(std::chrono::seconds(seconds->AsInteger())), Millis(0))
               : config_.lease;
  }

  // The Lease as it was seen, held by us from now on.
  Value Renewed() {
    Value lease = lease_;
    Value spec = lease.Find("spec") != nullptr ? *lease.Find("spec") : Value(Value::Map{});
    const std::string now = MicroTime(Now());
    if (TextAt(lease, {"spec", "holderIdentity"}) != config_.identity) {
      const Value* const transitions = spec.Find("leaseTransitions");
      const bool known = transitions != nullptr && transitions->IsInteger();
      spec.Set("leaseTransitions", known ? transitions->AsInteger() + 1 : int64_t{0});
      spec.Set("acquireTime", now);
    }
    spec.Set("holderIdentity", config_.identity);
    spec.Set("leaseDurationSeconds",
             std::chrono::ceil<std::chrono::seconds>(config_.lease).count());
    spec.Set("renewTime", now);
    lease.Set("spec", std::move(spec));
    return lease;
  }

  void Create() {
    lease_ = Value(Value::Map{});
    lease_.Set("apiVersion", "coordination.k8s.io/v1");
    lease_.Set("kind", "Lease");
    lease_.Set("metadata", Value::Map{{"name", config_.name, {}}, {"namespace", config_.ns, {}}});
    const Time asked = Now();
    client_.Create(
        resource::Leases(), config_.ns, Renewed(),
        Alive([asked](Impl& self, const Result<Value>& lease) { self.Written(lease, asked); }));
  }

  void Write() {
    const Time asked = Now();
    client_.Update(Ref(), Renewed(), Alive([asked](Impl& self, const Result<Value>& lease) {
                     self.Written(lease, asked);
                   }));
  }

  void Written(const Result<Value>& lease, Time asked) {
    if (!lease.has_value()) {
      // Somebody was faster, or the server is away: the next round sees.
      if (lease.error().code != ErrorCode::kConflict) {
        handlers_.on_error(lease.error().Within("write Lease " + config_.ns + "/" + config_.name));
      }
      return;
    }
    lease_ = *lease;
    renewed_ = asked;
    if (!std::exchange(leading_, true)) {
      Tell(config_.identity);
      handlers_.on_leading();
    }
  }

  void Lose(const std::string& why) {
    Abandon();
    handlers_.on_lost(why);
  }

  void Tell(const std::string& holder) {
    if (!told_ || holder != told_holder_) {
      told_ = true;
      told_holder_ = holder;
      handlers_.on_holder(holder);
    }
  }

  Client& client_;
  const LeaderConfig config_;
  const LeaderHandlers handlers_;
  Value lease_{Value::Map{}};
  std::string seen_version_;
  Millis unchanged_{0};  ///< For how long the Lease was seen to be of that version.
  Time looked_;
  Time renewed_;
  bool leading_ = false;
  bool stopped_ = false;
  bool told_ = false;
  std::string told_holder_;
  Executor::TimerId timer_ = 0;
};

LeaderElection::LeaderElection(Client& client, LeaderConfig config, LeaderHandlers handlers)
    : impl_(std::make_shared<Impl>(client, std::move(config), std::move(handlers))) {}
LeaderElection::~LeaderElection() { impl_->Abandon(); }
void LeaderElection::Start() { impl_->Start(); }
void LeaderElection::Stop(std::function<void()> done) { impl_->Stop(std::move(done)); }
bool LeaderElection::leading() const { return impl_->leading(); }

std::string DefaultIdentity() {
  std::array<char, 256> host{};
  if (::gethostname(host.data(), host.size() - 1) != 0) {
    host.front() = '\0';
  }
  return fmt::format("{}_{}", host.data(), ::getpid());
}

}  // namespace caldera
