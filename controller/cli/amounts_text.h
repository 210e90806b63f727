// Amounts of resources for people, short enough for a table cell. Programs get the canonical
// quantities of contract.h instead.
#pragma once

#include <string>

#include "federation/resources.h"

namespace caldera {

/// `cpu 24, gpu 8, memory 96Gi`: domains of extended resources and entries of 0 are left out, and
/// `pods` unless it is all there is. `-` for nothing.
std::string BriefAmounts(const ResourceList& amounts);

/// `cpu 66/96, gpu 8/8` for each resource of `limits`.
std::string BriefUsage(const ResourceList& used, const ResourceList& limits);

/// How full the fullest of these resources is, in percent; 0 where nothing is limited.
int64_t FullestPercent(const ResourceList& used, const ResourceList& limits);

/// `#####.....` of ten.
std::string Bar(int64_t percent);

}  // namespace caldera
