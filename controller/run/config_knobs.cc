#include "controller/run/config_knobs.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "federation/names.h"

namespace caldera {
namespace {

constexpr Millis kLongest = std::chrono::hours(24 * 365);

// The setters of knobs that are one member of ControllerConfig, reached by `of`.
template <typename Of>
Take Text(Of of) {
  return [of](const Field& field, ControllerConfig& config) {
    if (const auto text = field.String()) {
      of(config) = *text;
    }
  };
}

template <typename Of>
Take Flag(Of of) {
  return [of](const Field& field, ControllerConfig& config) {
    if (const auto flag = field.Bool()) {
      of(config) = *flag;
    }
  };
}

template <typename Of>
Take Number(int64_t min, int64_t max, Of of) {
  return [min, max, of](const Field& field, ControllerConfig& config) {
    if (const auto number = field.Integer(min, max)) {
      using Member = std::remove_reference_t<decltype(of(config))>;
      of(config) = static_cast<Member>(*number);
    }
  };
}

template <typename Of>
Take Span(Millis min, Of of) {
  return [min, of](const Field& field, ControllerConfig& config) {
    const auto text = field.String();
    if (!text) {
      return;
    }
    const auto span = ParseDuration(*text);
    if (!span || *span < min || *span > kLongest) {
      field.Refuse(fmt::format("must be a duration from {} to {}, such as 10s or 1m30s",
                               FormatDuration(min), FormatDuration(kLongest)));
      return;
    }
    of(config) = *span;
  };
}

/// What a name may be, and how that is said.
struct NameRule {
  bool (*holds)(std::string_view);
  std::string_view what;
  std::string_view rule;
};

constexpr NameRule kNamespaceName{IsDnsLabel, "a namespace", kDnsLabelRule};
constexpr NameRule kObjectName{IsDnsSubdomain, "an object", kDnsSubdomainRule};

void CheckName(const Field& field, std::string_view name, const NameRule& rule) {
  if (!rule.holds(name)) {
    field.Refuse(fmt::format("is no name of {}: it takes {}", rule.what, rule.rule));
  }
}

template <typename Of>
Take Name(const NameRule& rule, Of of) {
  return [rule, of](const Field& field, ControllerConfig& config) {
    if (const auto name = field.String()) {
      CheckName(field, *name, rule);
      of(config) = *name;
    }
  };
}

template <typename Of>
Take Names(const NameRule& rule, Of of) {
  return [rule, of](const Field& field, ControllerConfig& config) {
    for (const Field& item : field.Items()) {
      if (const auto name = item.String()) {
        CheckName(item, *name, rule);
        of(config).insert(*name);
      } else if (!item.Present()) {
        item.Refuse("must be a name");
      }
    }
  };
}

void TakeLevel(const Field& field, ControllerConfig& config) {
  constexpr std::array<std::string_view, 4> kLevels = {"debug", "info", "warn", "error"};
  if (const auto level = field.String()) {
    if (std::find(kLevels.begin(), kLevels.end(), *level) == kLevels.end()) {
      field.Refuse("must be debug, info, warn or error");
      return;
    }
    config.log.level = *level;
  }
}

void TakeLogFormat(const Field& field, ControllerConfig& config) {
  if (const auto format = field.String()) {
    if (*format != "text" && *format != "json") {
      field.Refuse("must be text (key=value) or json");
      return;
    }
    config.log.json = *format == "json";
  }
}

void TakeLedgerAccess(const Field& field, ControllerConfig& config) {
  if (const auto access = field.String()) {
    if (*access != "off" && *access != "loopback" && *access != "any") {
      field.Refuse("must be off, loopback or any");
      return;
    }
    config.ledger_access = *access == "off"   ? LedgerAccess::kOff
                           : *access == "any" ? LedgerAccess::kAny
                                              : LedgerAccess::kLoopback;
  }
}

std::optional<MemberView> ViewOf(const Field& field) {
  const auto view = field.String();
  if (view && *view != "summary" && *view != "nodes") {
    field.Refuse("must be summary or nodes");
    return std::nullopt;
  }
  return view ? std::optional(*view == "nodes" ? MemberView::kNodes : MemberView::kSummary)
              : std::nullopt;
}

void TakeMembers(const Field& field, ControllerConfig& config) {
  config.members = ViewOf(field).value_or(config.members);
}

void TakeMemberViews(const Field& field, ControllerConfig& config) {
  for (const auto& [cluster, view] : field.Members()) {
    CheckName(view, cluster, {IsDnsLabel, "a cluster", kDnsLabelRule});
    if (const auto known = ViewOf(view)) {
      config.member_views[cluster] = *known;
    }
  }
}

using Config = ControllerConfig;

std::vector<Knob> ConnectionKnobs() {
  return {
      {"karmada.kubeconfig", "", "Kubeconfig of the Karmada API; empty: the pod's service account",
       Text([](Config & c) -> auto& { return c.kubeconfig; })},
      {"karmada.context", "", "Context in it; empty: its current-context",
       Text([](Config & c) -> auto& { return c.context; })},
      {"karmada.requestsPerSecond", "200", "Client-side rate limit of requests to the Karmada API",
       Number(
           1, 100'000, [](Config & c) -> auto& { return c.requests_per_second; })},
      {"karmada.burst", "400", "Requests that may go at once before the rate limit holds them back",
       Number(
           1, 100'000, [](Config & c) -> auto& { return c.burst; })},
      {"karmada.inFlight", "12", "Requests under way at the same time (8 to 16 is the optimum)",
       Number(
           1, 256, [](Config & c) -> auto& { return c.in_flight; })},
      {"ledger.path", "/var/lib/caldera/ledger.db", "The ledger's file; its folder must be there",
       Text([](Config & c) -> auto& { return c.ledger; })},
      {"listen.address", "127.0.0.1", "Where /healthz, /readyz, /metrics and /ledger are served",
       Text([](Config & c) -> auto& { return c.address; })},
      {"listen.port", "8080", "Its port; 0: any free one, named in the log",
       Number(
           0, 65'535, [](Config & c) -> auto& { return c.port; })},
      {"listen.ledger", "loopback",
       "Whom /ledger answers: off, loopback (port-forwards included) or any", TakeLedgerAccess},
      {"log.level", "info", "debug, info, warn or error", TakeLevel},
      {"log.format", "text", "text (key=value) or json", TakeLogFormat}};
}

std::vector<Knob> ScopeKnobs() {
  return {{"observe", "false", "Watch, plan and explain, but write nothing to any cluster",
           Flag([](Config & c) -> auto& { return c.observe; })},
          {"namespaces", "[]", "Only jobs of these namespaces; empty: all",
           Names(
               kNamespaceName, [](Config & c) -> auto& { return c.namespaces; })},
          {"queues", "[]", "Only jobs of these queues; empty: all",
           Names(
               kObjectName, [](Config & c) -> auto& { return c.queues; })},
          {"members.view", "summary",
           "What is read of members: summary (their Cluster objects) or nodes (Nodes, Pods, "
           "HyperNodes)",
           TakeMembers},
          {"members.clusters", "{}", "The same for single clusters, by name", TakeMemberViews},
          {"members.deliverAccess", "false",
           "Send members of view nodes, as a Work, the ClusterRole and binding that this needs",
           Flag([](Config & c) -> auto& { return c.deliver_access; })},
          {"members.reader", "system:serviceaccount:caldera-system:caldera",
           "Whom they are for: the controller's account at the Karmada API, as a user",
           Text([](Config & c) -> auto& { return c.reader; })}};
}

std::vector<Knob> LeaderKnobs() {
  return {
      {"leader.enabled", "true", "Wait for the Lease before writing; off only for a single replica",
       Flag([](Config & c) -> auto& { return c.leader.enabled; })},
      {"leader.namespace", "caldera-system", "Namespace of the Lease at the Karmada API",
       Name(
           kNamespaceName, [](Config & c) -> auto& { return c.leader.ns; })},
      {"leader.name", "caldera-controller", "Name of the Lease",
       Name(
           kObjectName, [](Config & c) -> auto& { return c.leader.name; })},
      {"leader.identity", "", "This replica's name in the Lease; empty: host name and process id",
       Text([](Config & c) -> auto& { return c.leader.identity; })},
      {"leader.leaseDuration", "15s", "How long others wait for a leader that fell silent",
       Span(
           Millis(1'000), [](Config & c) -> auto& { return c.leader.lease; })},
      {"leader.renewDeadline", "10s", "A leader that cannot renew for so long gives up",
       Span(
           Millis(500), [](Config & c) -> auto& { return c.leader.renew_deadline; })},
      {"leader.retryPeriod", "2s", "How often the Lease is renewed, and tried by others",
       Span(
           Millis(100), [](Config & c) -> auto& { return c.leader.retry; })}};
}

std::vector<Knob> TimingKnobs() {
  return {
      {"timing.batch", "5ms", "From the first change to the cycle that acts on it",
       Span(
           Millis(0), [](Config & c) -> auto& { return c.timing.batch; })},
      {"timing.summaryPeriod", "10s", "How often Karmada refreshes a Cluster's resourceSummary",
       Span(
           Millis(100), [](Config & c) -> auto& { return c.timing.summary_period; })},
      {"timing.readyDebounce", "10s", "A Cluster's Ready is believed after standing for so long",
       Span(
           Millis(0), [](Config & c) -> auto& { return c.timing.ready_debounce; })},
      {"timing.clusterLostAfter", "5m", "A cluster not Ready for so long leaves the total",
       Span(
           Millis(0), [](Config & c) -> auto& { return c.timing.cluster_lost_after; })},
      {"timing.releaseMargin", "10s",
       "On top of the grace period, from a Work's end to the release of its charge",
       Span(
           Millis(0), [](Config & c) -> auto& { return c.timing.release_margin; })},
      {"timing.clusterBackoff", "5m", "A cluster that could not take a job is left out for it",
       Span(
           Millis(100), [](Config & c) -> auto& { return c.timing.cluster_backoff; })},
      {"timing.unscheduledAfter", "5m",
       "A job is called back when so long not all the pods that must start together have a node",
       Span(
           Millis(1'000), [](Config & c) -> auto& { return c.timing.unscheduled_after; })},
      {"timing.pendingTooLong", "30m", "The same where no pods are seen and its Job is Pending",
       Span(
           Millis(1'000), [](Config & c) -> auto& { return c.timing.pending_too_long; })},
      {"timing.queuedEventAfter", "2s", "A job that waits so long gets an Event with the reason",
       Span(
           Millis(0), [](Config & c) -> auto& { return c.timing.queued_event_after; })},
      {"timing.queueStatusEvery", "1s", "A Queue's status is written at most so often",
       Span(
           Millis(0), [](Config & c) -> auto& { return c.timing.queue_status_every; })},
      {"sharing.usageHalfLife", "24h",
       "Half-life of the usage in a queue's share; 0s: it counts not",
       Span(
           Millis(0), [](Config & c) -> auto& { return c.sharing.usage_half_life; })},
      {"sharing.usageWeight", "500",
       "How much of a share is usage, in thousandths; the rest is held",
       Number(
           0, 1000, [](Config & c) -> auto& { return c.sharing.usage_weight; })},
      {"sharing.minRuntime", "10m", "A job that says nothing itself is not evicted before",
       Span(
           Millis(0), [](Config & c) -> auto& { return c.sharing.min_runtime; })},
      {"sharing.evictionsADay", "3",
       "A job is evicted at most so often in 24 hours; 0: none is, nor an elastic trainer shrunk",
       Number(
           0, 1000, [](Config & c) -> auto& { return c.sharing.evictions_a_day; })},
      {"sharing.reserveAfter", "10m",
       "First so long with no start known, a job gets a cluster kept",
       Span(
           Millis(0), [](Config & c) -> auto& { return c.sharing.reserve_after; })},
      {"sharing.holdAfterFree", "5m", "Room that evictions made is kept so long for its job",
       Span(
           Millis(0), [](Config & c) -> auto& { return c.sharing.hold_after_free; })}};
}

}  // namespace

std::vector<Knob> Knobs() {
  std::vector<Knob> all = ConnectionKnobs();
  for (const auto& more : {ScopeKnobs(), LeaderKnobs(), TimingKnobs()}) {
    all.insert(all.end(), more.begin(), more.end());
  }
  return all;
}

}  // namespace caldera
