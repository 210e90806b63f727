// Who is served before the queue of a waiting job, and when, by the present rates, its turn comes:
// while everybody holds what they hold now, usage moves towards that (usage.h), and with it the
// shares by which order.h compares queues. Pure, found on request.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "federation/model.h"
#include "federation/state.h"
#include "federation/time.h"

namespace caldera {

/// A queue whose jobs come first, as it stands against the job's queue or one above that.
struct QueueAhead {
  enum class Why : uint8_t {
    kWithin,
    kPriority,
    kShare
  };  ///< The first rule of order.h that says so.
  std::string queue;
  std::string before;  ///< The job's queue, or the one above it that is its sibling.
  Why why = Why::kShare;
  int64_t share_milli = 0;  ///< Of the first, in thousandths; kUnlimited where it deserves nothing.
  int64_t before_milli = 0;
  std::optional<Time> until;  ///< From then on it comes after; nothing: never by usage alone.
};

/// Those ahead of a job that waits for room, from the root down, best first at each level; empty
/// where it is its queue's turn, and of a job that waits for something else (its limits, a hold).
std::vector<QueueAhead> WhoIsAhead(const State& after, const JobKey& job);

/// When all of them come after; nothing where there is one of which that is not known.
std::optional<Time> TurnOf(const std::vector<QueueAhead>& ahead);

/// `within`, `priority`, `share`.
std::string_view WhyAheadName(QueueAhead::Why why);

/// For people: one of each, and one on when the turn comes; none of none.
std::vector<std::string> Sentences(const std::vector<QueueAhead>& ahead);

}  // namespace caldera
