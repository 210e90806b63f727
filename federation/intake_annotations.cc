#include "federation/intake_annotations.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <set>

#include "federation/codec.h"
#include "federation/excerpt.h"
#include "federation/intake_read.h"
#include "federation/intake_selector.h"
#include "federation/names.h"

namespace caldera {
namespace {

constexpr std::string_view kPreemptable = "volcano.sh/preemptable";
constexpr size_t kCheckpointMax = 4096;

std::optional<bool> Flag(const Field& field) {
  const std::string_view text = TextOf(field);
  if (text == "true" || text == "false") {
    return text == "true";
  }
  field.Refuse(R"(must be "true" or "false")");
  return std::nullopt;
}

void TakeFlag(const Field& field, bool& into) { into = Flag(field).value_or(into); }

void TakeChoice(const Field& field, std::initializer_list<std::string_view> choices,
                std::string& into) {
  CheckChoice(field, choices, true);
  into = TextOf(field);
}

void TakeCount(const Field& field, int32_t& into) {
  const std::string_view text = TextOf(field);
  int32_t count = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (error != std::errc() || end != text.data() + text.size() || count < 1) {
    field.Refuse("must be a whole number from 1 to 2147483647, in quotes");
    return;
  }
  into = count;
}

void TakeClusters(const Field& field, ClusterConstraint& into) {
  std::set<std::string_view> seen;
  for (const std::string_view name : SplitList(TextOf(field))) {
    if (!IsDnsLabel(name)) {
      field.Refuse("\"" + Excerpt(name) +
                   "\" is no name of a cluster: give names joined by commas, as in east,west");
    } else if (!seen.insert(name).second) {
      field.Refuse("names " + Excerpt(name) + " twice");
    } else {
      into.names.emplace_back(name);
    }
  }
}

void TakeSelector(const Field& field, ClusterConstraint& into) {
  auto selector = ParseLabelSelector(TextOf(field));
  if (!selector.has_value()) {
    field.Refuse(selector.error().message);
    return;
  }
  into.selector = *std::move(selector);
}

void TakeClusterTolerations(const Field& field, ClusterConstraint& into) {
  auto tolerations = ParseTolerations(TextOf(field));
  if (!tolerations.has_value()) {
    field.Refuse(tolerations.error().message);
    return;
  }
  into.tolerations = *std::move(tolerations);
}

// A host name or IPv4 address, with a port or without; an IPv6 address stands in brackets.
void TakeRendezvous(const Field& field, std::string& into) {
  std::string_view host = TextOf(field);
  into = host;
  std::string_view port = "1";
  const bool bracketed = host.starts_with('[') && host.find(']') != std::string_view::npos;
  const size_t after = bracketed ? host.find(']') : 0;
  if (const size_t colon = host.find(':', after); colon != std::string_view::npos) {
    port = host.substr(colon + 1);
    host = host.substr(0, colon);
  }
  int number = 0;
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), number);
  const bool port_ok =
      error == std::errc() && end == port.data() + port.size() && number >= 1 && number <= 65535;
  const bool host_ok =
      bracketed
          ? host.ends_with(']') && host.size() > 3 &&
                host.substr(1, host.size() - 2).find_first_not_of("0123456789abcdefABCDEF:.") ==
                    std::string_view::npos
          : IsDnsSubdomain(host);
  if (!port_ok || !host_ok) {
    field.Refuse("must be an address that all shards reach: HOST or HOST:PORT");
  }
}

// Digits, at most six after the point, more than 0.
bool IsSpeed(std::string_view text) {
  const size_t point = text.find('.');
  const std::string_view whole = text.substr(0, point);
  const std::string_view fraction =
      point == std::string_view::npos ? std::string_view() : text.substr(point + 1);
  const auto digits = [](std::string_view part) {
    return part.find_first_not_of("0123456789") == std::string_view::npos;
  };
  return !whole.empty() && whole.size() <= 6 && fraction.size() <= 6 && digits(whole) &&
         digits(fraction) && (point == std::string_view::npos || !fraction.empty()) &&
         text.find_first_not_of("0.") != std::string_view::npos;
}

void CheckAccelerators(const Field& field) {
  std::set<std::string_view> seen;
  for (const std::string_view part : SplitList(TextOf(field))) {
    const size_t equals = part.find('=');
    const std::string_view product = part.substr(0, equals);
    if (equals == std::string_view::npos || product.empty() || !IsLabelValue(product) ||
        !IsSpeed(part.substr(equals + 1))) {
      field.Refuse("\"" + Excerpt(part) +
                   "\" must be PRODUCT=SPEED with a speed above 0, as in H100=1.0,A100=0.45");
    } else if (!seen.insert(product).second) {
      field.Refuse("names " + Excerpt(product) + " twice");
    }
  }
}

// EVENT=ACTION[:TIMEOUT]: what to do when a cluster or a shard is in trouble.
void CheckRecovery(const Field& field) {
  constexpr std::array<std::string_view, 4> kEvents = {"ClusterLost", "ShardFailed", "ShardPending",
                                                       "ClusterDraining"};
  constexpr std::array<std::string_view, 4> kActions = {"MoveShard", "RestartJob", "AbortJob",
                                                        "Wait"};
  const auto is_in = [](const auto& list, std::string_view text) {
    return std::find(list.begin(), list.end(), text) != list.end();
  };
  std::set<std::string_view> seen;
  for (const std::string_view part : SplitList(TextOf(field))) {
    const size_t equals = part.find('=');
    const std::string_view event = part.substr(0, equals);
    std::string_view action =
        equals == std::string_view::npos ? std::string_view() : part.substr(equals + 1);
    const size_t colon = action.find(':');
    const bool timed = colon != std::string_view::npos;
    const auto timeout = ParseDuration(timed ? action.substr(colon + 1) : "0s");
    action = action.substr(0, colon);
    if (!is_in(kEvents, event) || !is_in(kActions, action) || !timeout.has_value() ||
        timeout->count() < 0) {
      field.Refuse("\"" + Excerpt(part) +
                   "\" must be EVENT=ACTION or EVENT=ACTION:TIMEOUT; events are ClusterLost, "
                   "ShardFailed, ShardPending, ClusterDraining; actions are MoveShard, RestartJob, "
                   "AbortJob, Wait");
    } else if (!seen.insert(event).second) {
      field.Refuse("has " + std::string(event) + " twice: one event, one action");
    }
  }
}

void TakeRuntime(const Field& field, std::optional<Millis>& into) {
  const auto span = ParseDuration(TextOf(field));
  if (!span.has_value() || span->count() < 0) {
    field.Refuse("must be a duration of at least 0, such as 10m");
    return;
  }
  into = *span;
}

void TakeCheckpoint(const Field& field, std::string& into) {
  const std::string_view text = TextOf(field);
  const bool printable = std::none_of(text.begin(), text.end(), [](char c) {
    return static_cast<unsigned char>(c) < 0x20 || c == 0x7F;
  });
  if (text.empty() || text.size() > kCheckpointMax || !printable) {
    field.Refuse("must be a path or an id on one line, at most 4096 bytes");
    return;
  }
  into = text;
}

void TakePlacement(const Field& field, std::vector<Shard>& into) {
  auto placement = DecodePlacement(TextOf(field));
  if (!placement.has_value()) {
    field.Refuse("is not what Caldera writes there: " + placement.error().message);
    return;
  }
  into = *std::move(placement);
}

struct Known {
  std::string_view name;
  bool in_effect;
  void (*take)(const Field&, Job&);
};

constexpr std::array<Known, 16> kKnown{{
    {"hold", true, [](const Field& f, Job& job) { TakeFlag(f, job.hold); }},
    {"clusters", true, [](const Field& f, Job& job) { TakeClusters(f, job.clusters); }},
    {"cluster-selector", true, [](const Field& f, Job& job) { TakeSelector(f, job.clusters); }},
    {"cluster-tolerations", true,
     [](const Field& f, Job& job) { TakeClusterTolerations(f, job.clusters); }},
    {"placement", true, [](const Field& f, Job& job) { TakePlacement(f, job.placement); }},
    {"split", true,
     [](const Field& f, Job& job) {
       TakeChoice(f, {"never", "when-needed", "allowed"}, job.split);
     }},
    {"rendezvous", true, [](const Field& f, Job& job) { TakeRendezvous(f, job.rendezvous); }},
    {"max-clusters", true, [](const Field& f, Job& job) { TakeCount(f, job.max_clusters); }},
    {"min-shard", true, [](const Field& f, Job& job) { TakeCount(f, job.min_shard); }},
    {"max-distance", true,
     [](const Field& f, Job& job) {
       TakeChoice(f, {"cluster", "zone", "region", "any"}, job.max_distance);
     }},
    {"accelerators", false, [](const Field& f, Job& /*job*/) { CheckAccelerators(f); }},
    {"checkpoint", false, [](const Field& f, Job& job) { TakeCheckpoint(f, job.checkpoint); }},
    {"policies", false, [](const Field& f, Job& /*job*/) { CheckRecovery(f); }},
    {"min-runtime", true, [](const Field& f, Job& job) { TakeRuntime(f, job.min_runtime); }},
    {"preemptible", true, [](const Field& f, Job& job) { TakeFlag(f, job.preemptible); }},
    {"elastic", true, [](const Field& f, Job& job) { TakeFlag(f, job.elastic); }},
}};

constexpr std::string_view kNotYet = "is checked and kept, but not in effect in this release";

// Volcano reads it leniently and ignores what it does not understand, so a wrong value only warns.
void TakeVolcanoPreemptable(const Field& annotations, const ObjectMeta& meta, Job& job) {
  const Field field = annotations[kPreemptable];
  std::string_view text = TextOf(field);
  if (!field.Present()) {
    const auto label = meta.labels.find(kPreemptable);
    if (label == meta.labels.end()) {
      return;
    }
    text = label->second;
  }
  if (text == "false" || text == "true") {
    job.preemptible = text == "true";
  } else {
    field.Warn(R"(is neither "true" nor "false": it has no effect)");
  }
}

void WarnUnknownAnnotation(const std::string& key, const Field& field) {
  std::string known;
  for (const Known& each : kKnown) {
    known += (known.empty() ? "" : ", ") + std::string(each.name);
  }
  field.Warn("is no annotation that Caldera reads on a job, " + Excerpt(key) +
             " has no effect; it reads " + known);
}

}  // namespace

void TakeAnnotations(const Field& root, const ObjectMeta& meta, Job& job) {
  const Field annotations = root["metadata"]["annotations"];
  TakeVolcanoPreemptable(annotations, meta, job);
  for (const auto& [key, field] : MembersOf(annotations)) {
    if (!key.starts_with(kAnnotationPrefix)) {
      continue;
    }
    const std::string_view name = std::string_view(key).substr(kAnnotationPrefix.size());
    const auto* const known = std::find_if(kKnown.begin(), kKnown.end(),
                                           [&](const Known& each) { return each.name == name; });
    if (known == kKnown.end()) {
      WarnUnknownAnnotation(key, field);
      continue;
    }
    // A value that is no string was refused with the rest of the metadata.
    if (field.Present() && !field.value()->IsString()) {
      continue;
    }
    const size_t errors = root.sink().errors.size();
    known->take(field, job);
    if (!known->in_effect && root.sink().errors.size() == errors) {
      field.Warn(std::string(kNotYet));
    }
  }
}

}  // namespace caldera
