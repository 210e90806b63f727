#include "controller/run/config.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <limits>

#include "controller/kube/yaml_reader.h"
#include "federation/fields.h"

namespace caldera {
namespace {

constexpr Millis kLongest = std::chrono::hours(24 * 365);

/// Takes the field into the config; what is wrong goes to the field's sink.
using Take = std::function<void(const Field&, ControllerConfig&)>;

struct Knob {
  std::string_view key;  ///< Dots between the levels of the file.
  std::string_view fallback;
  std::string_view meaning;
  Take take;
};

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

template <typename Of>
Take Names(Of of) {
  return [of](const Field& field, ControllerConfig& config) {
    for (const std::string& name : field.StringList()) {
      of(config).insert(name);
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
           Names([](Config & c) -> auto& { return c.namespaces; })},
          {"queues", "[]", "Only jobs of these queues; empty: all",
           Names([](Config & c) -> auto& { return c.queues; })},
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
       Text([](Config & c) -> auto& { return c.leader.ns; })},
      {"leader.name", "caldera-controller", "Name of the Lease",
       Text([](Config & c) -> auto& { return c.leader.name; })},
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
      {"sharing.evictionsADay", "3", "A job is evicted at most so often in 24 hours; 0: never",
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

std::vector<Knob> Knobs() {
  std::vector<Knob> all = ConnectionKnobs();
  for (const auto& more : {ScopeKnobs(), LeaderKnobs(), TimingKnobs()}) {
    all.insert(all.end(), more.begin(), more.end());
  }
  return all;
}

Field FieldAt(const Field& root, std::string_view key) {
  Field field = root;
  while (!key.empty()) {
    const size_t dot = std::min(key.find('.'), key.size());
    field = field[key.substr(0, dot)];
    key.remove_prefix(std::min(dot + 1, key.size()));
  }
  return field;
}

void SetAt(Value& root, std::string_view key, const Value& value) {
  Value* at = &root;
  while (true) {
    if (!at->IsMap()) {
      *at = Value(Value::Map{});
    }
    const size_t dot = key.find('.');
    if (dot == std::string_view::npos) {
      at->Set(key, value);
      return;
    }
    Value* const next = at->Find(key.substr(0, dot));
    at = next != nullptr ? next : &at->Set(key.substr(0, dot), Value(Value::Map{}));
    key.remove_prefix(dot + 1);
  }
}

// Every key of the file must be a knob, or the beginning of one.
void RefuseUnknown(const Field& at, const std::string& prefix, const std::vector<Knob>& knobs) {
  for (const auto& entry : at.Members()) {
    const std::string& name = entry.first;
    const Field field = at[name];
    const std::string key = prefix + name;
    if (prefix.empty() && (name == "apiVersion" || name == "kind")) {
      continue;
    }
    const bool knob = std::any_of(knobs.begin(), knobs.end(),
                                  [&](const Knob& other) { return other.key == key; });
    const bool level = std::any_of(knobs.begin(), knobs.end(), [&](const Knob& other) {
      return other.key.starts_with(key + ".");
    });
    if (level) {
      RefuseUnknown(field, key + ".", knobs);
    } else if (!knob) {
      field.Refuse("there is no such setting; caldera-controller --help-config lists them");
    }
  }
}

void CheckTogether(const Field& root, const ControllerConfig& config) {
  if (config.leader.renew_deadline >= config.leader.lease) {
    FieldAt(root, "leader.renewDeadline")
        .Refuse("must be shorter than leader.leaseDuration, " +
                FormatDuration(config.leader.lease));
  }
  if (config.leader.retry >= config.leader.renew_deadline) {
    FieldAt(root, "leader.retryPeriod")
        .Refuse("must be shorter than leader.renewDeadline, " +
                FormatDuration(config.leader.renew_deadline));
  }
  if (config.deliver_access && config.reader.empty()) {
    FieldAt(root, "members.reader").Refuse("must name a user: members.deliverAccess is on");
  }
  if (config.ledger.empty()) {
    FieldAt(root, "ledger.path").Refuse("must name a file: nothing is dispatched unrecorded");
  }
}

std::string Line(const Issue& issue) {
  std::string line = issue.file;
  if (issue.mark.line > 0) {
    line += fmt::format(":{}:{}", issue.mark.line, issue.mark.column);
  }
  line += ": " + issue.field;
  return line + (issue.value.empty() ? "" : " = " + issue.value) + ": " + issue.message;
}

Status Complaints(const std::vector<Issue>& issues) {
  std::string text;
  for (const Issue& issue : issues) {
    text += (text.empty() ? "" : "\n") + Line(issue);
  }
  return issues.empty() ? Status() : Fail(ErrorCode::kInvalid, text);
}

Result<Value> ReadTree(std::string_view text, const std::string& file) {
  Value root{Value::Map{}};
  ReadReport report;
  ReadYaml(
      text, file, [&](Document document) { root = std::move(document.root); }, report);
  CALDERA_CHECK(Complaints(report.errors));
  if (report.documents > 1) {
    return Fail(ErrorCode::kInvalid, file + ": must hold one document");
  }
  return root;
}

/// `whole`: nothing is put over it any more, so what one setting asks of another holds too.
Result<ControllerConfig> ReadSettings(const Value& tree, const std::string& file, bool whole) {
  IssueSink sink;
  sink.file = file;
  const Field root(&tree, "", {}, sink);
  const std::vector<Knob> knobs = Knobs();
  RefuseUnknown(root, "", knobs);
  ControllerConfig config;
  for (const Knob& knob : knobs) {
    knob.take(FieldAt(root, knob.key), config);
  }
  if (whole) {
    CheckTogether(root, config);
  }
  CALDERA_CHECK(Complaints(sink.errors));
  return config;
}

}  // namespace

Result<ControllerConfig> ReadConfig(std::string_view text, const std::string& file,
                                    const std::vector<std::pair<std::string, Value>>& overrides) {
  CALDERA_TRY(Value tree, ReadTree(text, file));
  // By itself first: what is put over a mistake would hide it until it is left out.
  CALDERA_CHECK(ReadSettings(tree, file, false));
  for (const auto& [key, value] : overrides) {
    SetAt(tree, key, value);
  }
  return ReadSettings(tree, file, true);
}

Result<std::pair<std::string, Value>> ParseOverride(std::string_view text) {
  const size_t equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0) {
    return Fail(ErrorCode::kInvalid,
                fmt::format("--set {}: must be KEY=VALUE, such as timing.batch=10ms", text));
  }
  const std::string key(text.substr(0, equals));
  CALDERA_TRY(Value tree, ReadTree("value: " + std::string(text.substr(equals + 1)), "--set"));
  const Value* const value = tree.Find("value");
  if (value == nullptr || value->IsNull()) {
    return Fail(ErrorCode::kInvalid,
                fmt::format("--set {}: has no value; an empty text is {}=\"\"", text, key));
  }
  return std::pair(key, *value);
}

std::string DescribeConfig() {
  std::string text;
  for (const Knob& knob : Knobs()) {
    text += fmt::format("{:<26} {:<27} {}\n", knob.key,
                        knob.fallback.empty() ? "\"\"" : knob.fallback, knob.meaning);
  }
  return text;
}

}  // namespace caldera
