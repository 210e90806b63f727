// WouldFitIf: turn the knobs that the job's verdict asks for, plan again, look at the next verdict,
// until it is placed; then take back what was not needed, and turn the rest back as far as it goes.
// Every step is judged by the planner itself, so the answer holds when it is applied.
#include <algorithm>
#include <optional>
#include <utility>

#include "federation/explain.h"
#include "federation/plan.h"
#include "federation/planner.h"
#include "federation/remedy.h"

namespace caldera {

namespace {

/// Plans made for one answer, at most: on a large federation each costs a good part of a second.
constexpr int kPlansMax = 60;

class Search {
 public:
  Search(const State& before, JobIndex job) : before_(before), job_(job) {}

  std::vector<Edit> Run() {
    if (!Find() || knobs_.empty()) {
      return {};
    }
    DropUnneeded();
    for (size_t i = 0; i < knobs_.size(); ++i) {
      Minimise(i);
    }
    std::vector<Edit> edits;
    for (const Knob& knob : knobs_) {
      const std::vector<Edit> more = knob.edits(knob.by);
      edits.insert(edits.end(), more.begin(), more.end());
    }
    return edits;
  }

 private:
  struct Trial {
    State state;  ///< Knobs turned, not planned yet.
    Plan plan;
    bool placed = false;
  };

  Trial Try(const std::vector<Knob>& knobs) {
    ++plans_;
    Trial trial{before_, {}, false};
    for (const Knob& knob : knobs) {
      knob.turn(trial.state, knob.by);
    }
    trial.plan = MakePlan(trial.state);
    trial.placed = std::any_of(trial.plan.actions.begin(), trial.plan.actions.end(),
                               [&](const Action& action) { return IsOurs(action); });
    return trial;
  }

  [[nodiscard]] bool IsOurs(const Action& action) const {
    const JobEntry& entry = before_.job(job_);
    return action.action == ActionKind::kPlace && action.job == entry.key &&
           action.uid == entry.uid;
  }

  /// Turns knobs until the job is placed. False: nothing (more) helps.
  bool Find() {
    ClusterIndex target = kNoIndex;
    while (plans_ < kPlansMax / 2) {
      Trial trial = Try(knobs_);
      if (trial.placed) {
        return true;
      }
      for (const Change& change : EffectOf(trial.plan, 1)) {
        trial.state.Apply(change);
      }
      Remedy remedy(before_, trial.state, job_, target);
      const std::vector<Knob> next = remedy.Next();
      target = remedy.target();
      if (!TurnAll(next) && !TurnAll(remedy.ForParts())) {
        return false;
      }
    }
    return false;
  }

  bool TurnAll(const std::vector<Knob>& knobs) {
    bool moved = false;
    for (const Knob& knob : knobs) {
      moved = Turn(knob) || moved;
    }
    return moved;
  }

  /// True where it makes a difference. What was not enough is doubled at least: jobs ahead take
  /// room too, and there may be thousands of them.
  bool Turn(const Knob& knob) {
    const auto it =
        std::find_if(knobs_.begin(), knobs_.end(), [&](const Knob& k) { return k.id == knob.id; });
    if (it == knobs_.end()) {
      if (knob.most < 1) {
        return false;
      }
      knobs_.push_back(knob);
      return true;
    }
    const int64_t before = it->by;
    it->by = std::min(it->most, std::max(knob.by, SaturatingMul(before, 2)));
    return it->by > before;
  }

  void DropUnneeded() {
    for (size_t i = knobs_.size(); i-- > 0 && knobs_.size() > 1 && plans_ < kPlansMax;) {
      std::vector<Knob> fewer = knobs_;
      fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
      if (Try(fewer).placed) {
        knobs_ = std::move(fewer);
      }
    }
  }

  [[nodiscard]] bool Works(size_t i, int64_t by) {
    std::vector<Knob> other = knobs_;
    other[i].by = by;
    return plans_ < kPlansMax && Try(other).placed;
  }

  /// What the plan uses of the limit once the job is placed: `by` need not go further.
  std::optional<int64_t> Needed(size_t i) {
    if (!knobs_[i].used || plans_ >= kPlansMax) {
      return std::nullopt;
    }
    Trial trial = Try(knobs_);
    const std::vector<Change> effects = EffectOf(trial.plan, 1);
    for (size_t a = 0; a < trial.plan.actions.size(); ++a) {
      trial.state.Apply(effects[a]);
      if (IsOurs(trial.plan.actions[a])) {
        break;
      }
    }
    const int64_t by = SaturatingSub(knobs_[i].used(trial.state), knobs_[i].from);
    return std::clamp<int64_t>(by, 1, knobs_[i].by);
  }

  void Minimise(size_t i) {
    if (const std::optional<int64_t> needed = Needed(i);
        needed && *needed < knobs_[i].by && Works(i, *needed)) {
      knobs_[i].by = *needed;
    }
    // Down by whole steps, as far as it still works. Most knobs are as low as they can be by now:
    // one step tells.
    const int64_t by = knobs_[i].by;
    const int64_t step = knobs_[i].step;
    int64_t good = 0;
    int64_t bad = (by - 1) / step + 1;
    for (int64_t probe = 1; probe > good && probe < bad && plans_ < kPlansMax;
         probe = good + (bad - good) / 2) {
      (Works(i, by - probe * step) ? good : bad) = probe;
    }
    knobs_[i].by = by - good * step;
  }

  const State& before_;
  JobIndex job_;
  std::vector<Knob> knobs_;
  int plans_ = 0;
};

}  // namespace

std::vector<Edit> WouldFitIf(const State& before, const JobKey& job) {
  const JobIndex index = before.FindJob(job);
  if (index == kNoIndex || !before.job(index).Pending()) {
    return {};
  }
  return Search(before, index).Run();
}

}  // namespace caldera
