#include "federation/turn.h"

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include "federation/decay.h"
#include "federation/gate.h"
#include "federation/report.h"
#include "federation/round.h"
#include "federation/share.h"

namespace caldera {

namespace {

class Turn {
 public:
  explicit Turn(const State& state)
      : state_(state),
        round_(state),
        kinds_(state.resources()),
        contest_(state, round_.tree(), round_.shares(), {round_.entrants(), {}}, nobody_) {}

  [[nodiscard]] std::vector<QueueAhead> Ask(const JobEntry& job) const {
    std::vector<QueueAhead> all;
    if (!WaitsForRoom(job)) {
      return all;
    }
    std::vector<QueueIndex> chain;
    for (QueueIndex n = job.queue; n != round_.tree().root(); n = round_.tree().node(n).parent) {
      chain.push_back(n);
    }
    std::reverse(chain.begin(), chain.end());
    for (const QueueIndex n : chain) {
      for (const QueueIndex sibling : contest_.Ahead(n)) {
        all.push_back(Compare(sibling, n));
      }
    }
    return all;
  }

 private:
  [[nodiscard]] bool WaitsForRoom(const JobEntry& job) const {
    if (job.job_class == kNoIndex) {
      return false;
    }
    const JobClass& job_class = state_.classes()[job.job_class];
    if (ClassGate(state_, round_.tree(), job_class) != Verdict::kNone) {
      return false;
    }
    const std::optional<Block> block =
        round_.limits().Check(job_class.queue, job_class.tenant, state_.facts(job_class.shape));
    return !block.has_value() || block->verdict == Verdict::kFairShare;
  }

  [[nodiscard]] QueueAhead Compare(QueueIndex sibling, QueueIndex queue) const {
    QueueAhead ahead{Name(sibling),
                     Name(queue),
                     QueueAhead::Why::kShare,
                     Milli(ShareIn(sibling, Millis(0))),
                     Milli(ShareIn(queue, Millis(0))),
                     {}};
    if (Within(sibling) != Within(queue)) {
      ahead.why = QueueAhead::Why::kWithin;
    } else if (Object(sibling).priority != Object(queue).priority) {
      ahead.why = QueueAhead::Why::kPriority;
    } else if (const std::optional<Millis> after = Passes(queue, sibling)) {
      ahead.until = state_.now() + *after;
    }
    return ahead;
  }

  /// After how long `queue` comes before `sibling` by its share, on the grid of usage.
  [[nodiscard]] std::optional<Millis> Passes(QueueIndex queue, QueueIndex sibling) const {
    if (UsageWeight(state_) == 0) {
      return std::nullopt;
    }
    int64_t before = 0;
    int64_t after = (kDecayBits + 1) * (state_.settings().usage_half_life / kUsageGrid + 1);
    if (!Passed(queue, sibling, after * kUsageGrid)) {
      return std::nullopt;
    }
    while (after - before > 1) {
      const int64_t middle = before + (after - before) / 2;
      (Passed(queue, sibling, middle * kUsageGrid) ? after : before) = middle;
    }
    return after * kUsageGrid;
  }

  [[nodiscard]] bool Passed(QueueIndex queue, QueueIndex sibling, Millis later) const {
    const auto key = [&](QueueIndex n) {
      return std::tuple(ShareIn(n, later), Object(n).creation, Name(n));
    };
    return key(queue) < key(sibling);
  }

  /// The share by which it competes, so much later.
  [[nodiscard]] int64_t ShareIn(QueueIndex queue, Millis later) const {
    QueueShare share = round_.shares()[queue];
    if (UsageWeight(state_) > 0) {
      const int64_t left = DecayFactor(later, state_.settings().usage_half_life);
      share.used.resize(std::max(share.used.size(), share.held.size()));
      for (ResourceIndex r = 0; r < share.used.size(); ++r) {
        const Int128 held = Int128{share.held[r]} * kUsageOne;
        share.used[r] = held + (((share.used[r] - held) * left) >> kDecayBits);
      }
    }
    return DominantShare(share, share.held, Facts(queue), kinds_, UsageWeight(state_));
  }

  [[nodiscard]] bool Within(QueueIndex queue) const {
    const QueueShare& share = round_.shares()[queue];
    return IsWithin(share, share.held, Facts(queue), kinds_);
  }
  [[nodiscard]] const ShapeFacts& Facts(QueueIndex queue) const {
    return state_.facts(state_.job(contest_.Champion(queue)).shape);
  }
  [[nodiscard]] const Queue& Object(QueueIndex queue) const {
    return round_.tree().node(queue).object();
  }
  [[nodiscard]] const std::string& Name(QueueIndex queue) const { return state_.queue(queue).name; }
  [[nodiscard]] static int64_t Milli(int64_t share) {
    return share == kUnlimited ? kUnlimited : static_cast<int64_t>((Int128{share} * 1000) >> 32U);
  }

  const State& state_;
  Round round_;
  ResourceKinds kinds_;
  std::set<JobIndex> nobody_;
  Contest contest_;
};

}  // namespace

std::vector<QueueAhead> WhoIsAhead(const State& after, const JobKey& job) {
  const JobIndex index = after.FindJob(job);
  if (index == kNoIndex || !after.job(index).Pending()) {
    return {};
  }
  return Turn(after).Ask(after.job(index));
}

std::optional<Time> TurnOf(const std::vector<QueueAhead>& ahead) {
  std::optional<Time> turn;
  for (const QueueAhead& queue : ahead) {
    if (!queue.until.has_value()) {
      return std::nullopt;
    }
    turn = std::max(turn, queue.until);
  }
  return turn;
}

std::string_view WhyAheadName(QueueAhead::Why why) {
  switch (why) {
    case QueueAhead::Why::kWithin:
      return "within";
    case QueueAhead::Why::kPriority:
      return "priority";
    case QueueAhead::Why::kShare:
      return "share";
  }
  return "";
}

std::vector<std::string> Sentences(const std::vector<QueueAhead>& ahead) {
  std::vector<std::string> sentences;
  for (const QueueAhead& queue : ahead) {
    std::string text = "queue " + queue.queue + " is served before queue " + queue.before + ": ";
    if (queue.why == QueueAhead::Why::kWithin) {
      text += "it stays within its deserved, and queue " + queue.before + " would not";
    } else if (queue.why == QueueAhead::Why::kPriority) {
      text += "it has a higher priority";
    } else {
      text += "its share is " + ShareText(queue.share_milli) + ", that of queue " + queue.before +
              " " + ShareText(queue.before_milli);
    }
    sentences.push_back(std::move(text));
  }
  if (const std::optional<Time> turn = TurnOf(ahead)) {
    sentences.push_back("by the present rates its queue's turn comes at " + FormatTime(*turn));
  } else if (!ahead.empty()) {
    sentences.emplace_back("while all hold what they hold now its queue's turn does not come");
  }
  return sentences;
}

}  // namespace caldera
