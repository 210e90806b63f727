// Canonical text of Changes and Plans (one JSON object each, keys in a fixed order, no spaces), and
// digests over it. The same value gives the same bytes on every machine and build: replay and
// tests compare them. Source of the format: this file's .cc; it is versioned by the ledger's
// schema.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "federation/change.h"
#include "federation/plan.h"
#include "federation/result.h"

namespace caldera {

std::string EncodeChange(const Change& change);
/// Error: kCorrupt, with what was expected where.
Result<Change> DecodeChange(std::string_view text);
std::string EncodePlan(const Plan& plan);
Result<Plan> DecodePlan(std::string_view text);

/// The value of annotation `placement`: compact JSON, one object a shard, with `cluster`, `epoch`,
/// `tasks` (name -> `replicas`, `minAvailable`), `minAvailable`, and `child` where it is not empty.
std::string EncodePlacement(const std::vector<Shard>& shards);
/// The inverse; `requests` stay empty (State computes them from the job's tasks). A shard without
/// `minAvailable` gets the sum of its tasks'. Error: kInvalid, saying what is wrong where.
Result<std::vector<Shard>> DecodePlacement(std::string_view text);

/// SHA-256, lower-case hex.
std::string Digest(std::string_view text);
/// Digest of a cycle: hash(previous, changes, plan), each part length-prefixed.
std::string CycleDigest(std::string_view previous, const std::vector<Change>& changes,
                        const Plan& plan);
/// The same from the canonical texts, for those who have them already.
std::string CycleDigest(std::string_view previous, const std::vector<std::string_view>& changes,
                        std::string_view plan);

}  // namespace caldera
