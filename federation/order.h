// Who is next. At each level of the queue tree the children compete with the best job of each:
//   1. jobs that stay within what the queue deserves before borrowers (the first job of a queue
//      that holds nothing counts as within);
//   2. queue priority, higher first;
//   3. share, smaller first: the largest of ((1 - h) held + h used) / deserved over the resources
//      the job asks for; `used` is what was used lately (usage.h), h the setting usage_weight;
//   4. the queue's creation, then its name.
// Inside a queue: PriorityClass value, higher first; the tenant's part of what the queue holds and
// used (mixed as above), divided by the tenant's weight, smaller first; the job's creation, uid,
// key. `pods` count in neither test. A total order that does not depend on the order of the input.
//
// Heads are kept, not searched: a lane keeps its place in its list of jobs and passes over classes
// that are out, a parent keeps its children in a tournament, so that one placement costs
// O(depth x log children), however many jobs wait.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <vector>

#include "federation/amounts.h"
#include "federation/queue_tree.h"
#include "federation/shares.h"
#include "federation/state.h"

namespace caldera {

/// One job of one class, at the head of everything.
struct Head {
  ClassIndex job_class = kNoIndex;
  JobIndex job = kNoIndex;
  bool within = false;  ///< At every level below the root.
  [[nodiscard]] bool Any() const { return job != kNoIndex; }
};

/// With such a job more, a queue that holds `held` stays within what it deserves, by the first
/// rule.
bool IsWithin(const QueueShare& share, const ResourceVector& held, const ShapeFacts& facts,
              const ResourceKinds& kinds);

class Contest {
 public:
  /// One lane that takes part, with the PriorityClass value of its jobs.
  struct Entrant {
    LaneIndex lane = kNoIndex;
    int32_t priority = 0;
  };
  /// Who takes part.
  struct Field {
    std::vector<Entrant> entrants;
    std::vector<bool> out;  ///< By ClassIndex, those of theirs that do not; all may be left out.
  };
  /// As the best job now, one of that class in that lane would not be placed and change nothing.
  using Doomed = std::function<bool(LaneIndex, ClassIndex)>;
  /// Borrows all but the field. `settled`: jobs of it that are dealt with already; they count as
  /// held.
  Contest(const State& state, const QueueTree& tree, const std::vector<QueueShare>& shares,
          const Field& field, const std::set<JobIndex>& settled);

  /// What the best job's queue and those above it hold by now, itself not in it: it stays within
  /// deserved even if it is the first there.
  [[nodiscard]] bool BorrowsNothing() const;
  /// The same if the best job asked for that.
  [[nodiscard]] bool BorrowsNothing(const ShapeFacts& facts) const;
  /// That class is out for the round.
  [[nodiscard]] bool IsOut(ClassIndex job_class) const { return dropped_[job_class]; }
  /// The next job, or none.
  [[nodiscard]] Head Best() const;
  /// The job that competes for the queue with its siblings, or none.
  [[nodiscard]] JobIndex Champion(QueueIndex queue) const;
  /// The siblings that come before the queue, which has a champion; best first.
  [[nodiscard]] std::vector<QueueIndex> Ahead(QueueIndex queue) const;
  /// The best job was placed or is about to be, and holds `amounts`: its queue and tenant hold
  /// more, and the next of its class comes up.
  void Took(const ResourceVector& amounts);
  /// The best job's class is out for the round (all its jobs are alike); in a fifo queue, all of
  /// the queue is. So are those that would be the best next, one after the other, and of which
  /// `doomed` says that they would be dropped too: nobody else comes in between.
  void Drop(const Doomed& doomed);

 private:
  /// Where a State's lane stands: its oldest job that is neither taken nor out.
  struct Line {
    LaneIndex lane = kNoIndex;
    LaneFifo::Cursor at;
    LaneFifo::Item head;  ///< What stands at `at`: heaps compare it all the time.
  };
  /// The jobs of one tenant with one priority in one queue, as a heap, oldest on top: several lines
  /// where several PriorityClasses have that value.
  struct Lane {
    int32_t priority = 0;
    TenantIndex tenant = kNoIndex;
    std::vector<Line> lines;
  };
  /// What a job makes of how its queue stands against its siblings.
  struct Claim {
    bool within = false;
    int64_t share = 0;
    [[nodiscard]] bool IsWorseThan(const Claim& other) const {
      return within != other.within ? other.within : share > other.share;
    }
  };
  /// How a queue stands against its siblings.
  struct Standing {
    bool any = false;
    Claim claim;
    int32_t priority = 0;
    Time creation;
    uint32_t name = 0;  ///< Rank among all queue names.
    size_t lane = 0;    ///< In a leaf: where its best job is.
    QueueIndex leaf = kNoIndex;
  };
  struct Node {
    ResourceVector held;
    ResourceVector shares;  ///< By resource, at what is held.
    std::map<TenantIndex, ResourceVector> held_by;
    std::vector<Lane> lanes;          ///< By priority desc, then tenant name; of a leaf.
    size_t first_lane = 0;            ///< Those before it are empty.
    std::vector<QueueIndex> winners;  ///< Tournament over the children: winners[1] is the best.
    size_t position = 0;              ///< Among its siblings.
    Standing standing;
  };

  void Weigh();
  void BarShapes();
  void Enter(const std::vector<Entrant>& entrants);
  void Settle(QueueIndex i);
  void Judge(QueueIndex i);
  [[nodiscard]] Claim ClaimOf(QueueIndex i, const ShapeFacts& facts) const;
  [[nodiscard]] bool StillBest(QueueIndex leaf) const;
  [[nodiscard]] bool CannotBeWorse(const Line& line, QueueIndex leaf) const;
  [[nodiscard]] static bool IsAlone(const Node& node);
  LaneFifo::Cursor DropFrom(const Line& line, const Doomed& doomed);
  void Hold(QueueIndex i, const ResourceVector& amounts);
  void Replay(QueueIndex parent, QueueIndex child);
  [[nodiscard]] QueueIndex Better(QueueIndex a, QueueIndex b) const;
  void PickLane(QueueIndex i);
  [[nodiscard]] bool LaneBefore(const Node& node, const Lane& a, const Lane& b) const;
  [[nodiscard]] int64_t TenantShare(const Node& node, const Lane& lane) const;
  [[nodiscard]] bool Older(const Line& a, const Line& b) const;
  /// Where the best job of a leaf stands that has any.
  [[nodiscard]] const Line& BestLine(QueueIndex leaf) const;
  [[nodiscard]] const ShapeFacts& Facts(const Line& line) const;
  void PopLine(Lane& lane);
  void PushLine(Lane& lane, LaneIndex from, LaneFifo::Cursor at);

  const State& state_;
  const QueueTree& tree_;
  const std::vector<QueueShare>& shares_;
  const std::set<JobIndex>& settled_;
  ResourceKinds kinds_;
  int32_t usage_weight_;
  std::vector<Node> queues_;   ///< By QueueIndex.
  std::vector<bool> dropped_;  ///< By ClassIndex: out for the round, or never in it.
};

}  // namespace caldera
