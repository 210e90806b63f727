// The federation of the Speed table: a queue tree of three levels, 200 clusters, 8 resources,
// capabilities, guarantees and quotas on some of it, and as many pending gangs as asked for, in as
// many shapes. The same for equal arguments.
#pragma once

#include <cstddef>
#include <cstdint>

#include "federation/plan.h"
#include "federation/state.h"

namespace caldera::bench {

struct WorldSize {
  int queues = 1000;
  int clusters = 200;
  int shapes = 64;
  int64_t pending = 1'000'000;
};

/// Everything but the jobs.
State EmptyWorld(const WorldSize& size);
/// Job number `i` of such a world.
Job WorldJob(const WorldSize& size, int64_t i);
State World(const WorldSize& size);

/// The plan takes effect; intents are numbered on from `next_intent`.
void TakeEffect(State& state, const Plan& plan, int64_t& next_intent);
/// Applies the effect of plans until one is empty; returns how many placements there were.
int64_t Fill(State& state, int64_t& next_intent);
/// Lets everybody run past min-runtime, so that they may be evicted, and then plans until one is
/// empty; whoever is evicted leaves at once. Returns how many were evicted.
int64_t Ripen(State& state, int64_t& next_intent);

}  // namespace caldera::bench
