// Whether a run of the benchmarks stays within the limits of `limits.txt`. The limits are what the
// tree reached on the machine whose memory probe (MemoryHop) stands at their head, with slack; for
// another they are scaled by its probe: times grow with it, rates shrink, bytes and ratios stay.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "federation/result.h"

namespace caldera::bench {

struct Limit {
  std::string name;
  std::string unit;
  bool at_least = false;  ///< More is better: values below `limit` are over it.
  double limit = 0;
  double goal = 0;
};

struct Limits {
  double hop = 0;  ///< ns, of the machine that they are for.
  std::vector<Limit> limits;
};

struct Measured {
  double value = 0;
  std::string unit;
  double hop = 0;  ///< ns, of the same run.
};

enum class Judgement { kOk, kOver, kMissing };

struct Judged {
  Limit limit;       ///< Scaled.
  double value = 0;  ///< 0 where it is missing.
  Judgement judgement = Judgement::kMissing;
  bool goal_met = false;  ///< Not scaled: a goal is about the machine that runs.
};

/// Lines `hop NS` and `NAME UNIT <=|>= LIMIT GOAL`; `#` begins a comment. Errors: kInvalid, with
/// the line.
Result<Limits> ReadLimits(std::string_view text);

/// A `bench.json` (report.h), by name; of several of one name the last. Errors: kInvalid.
Result<std::map<std::string, Measured>> ReadMeasured(std::string_view json);

/// In the order of the limits. Errors: kInvalid where a measure has another unit than its limit, or
/// no probe.
Result<std::vector<Judged>> Judge(const Limits& limits,
                                  const std::map<std::string, Measured>& measured);

}  // namespace caldera::bench
