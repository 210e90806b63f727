// The annotations `federation.caldera.sh/*` of a Job or HyperJob, read strictly: a wrong value is
// refused, since a wish that is silently ignored is worse than an error.
//   hold                 true, false                                       in effect
//   clusters             east,west: allowed clusters, in order of preference   in effect
//   cluster-selector     a label selector over Cluster labels              in effect
//   cluster-tolerations  key=value:Effect,key:Effect,key,*                 in effect
//   placement            what Caldera wrote (codec.h)                      in effect
// Checked, kept, and warned about as not in effect in this release:
//   split                never, when-needed, allowed
//   rendezvous           HOST or HOST:PORT
//   max-clusters, min-shard   a whole number from 1
//   max-distance         cluster, zone, region, any
//   accelerators         H100=1.0,A100=0.45: products with their relative speed, best first
//   checkpoint           a path or an id
//   policies             EVENT=ACTION or EVENT=ACTION:TIMEOUT, joined by commas
//   min-runtime          a duration, such as 10m
//   preemptible, elastic true, false
// and Volcano's own `volcano.sh/preemptable`.
#pragma once

#include "federation/fields.h"
#include "federation/intake_kinds.h"
#include "federation/model.h"

namespace caldera {

/// Reads them from `root` (the object) into `job`.
void TakeAnnotations(const Field& root, const ObjectMeta& meta, Job& job);

}  // namespace caldera
