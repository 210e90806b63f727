// Fields of a scenario to rules: kinds, ranges, choices. What they refer to is checked by
// scenario_script.cc.
#include <algorithm>
#include <array>
#include <iostream>
#include <limits>

#include "controller/cli/issue_text.h"
#include "controller/cli/scenario.h"
#include "controller/cli/scenario_fields.h"
#include "controller/kube/input.h"

namespace caldera {
namespace {

constexpr const char* kDefaultStart = "2026-01-01T00:00:00Z";

EstimateRule TakeEstimate(const Field& field, const EstimateRule& otherwise) {
  EstimateRule rule;
  if (!field.Present()) {
    return otherwise;
  }
  if (field.value()->IsMap()) {
    RefuseUnknown(field, {"factor"});
    if (!field["factor"].Present()) {
      field["factor"].Refuse("is required");
    }
    rule.kind = EstimateRule::Kind::kFactor;
    rule.factor_milli = TakeFactor(field["factor"], 1000).value_or(1000);
    return rule;
  }
  const auto text = field.String();
  if (!text) {
    return rule;
  }
  if (*text == "none") {
    rule.kind = EstimateRule::Kind::kNone;
  } else if (*text == "correct") {
    rule.kind = EstimateRule::Kind::kFactor;
  } else if (const auto fixed = ParseDuration(*text); fixed && *fixed > Millis(0)) {
    rule.kind = EstimateRule::Kind::kFixed;
    rule.fixed = *fixed;
  } else {
    field.Refuse("must be none, correct, a duration such as 30m, or {factor: 1.5}");
  }
  return rule;
}

RunRule TakeRun(const Field& map, const RunRule& otherwise) {
  RunRule run = otherwise;
  if (const auto law = TakeLaw(map["duration"], Millis(1))) {
    run.duration = law;
  }
  run.estimate = TakeEstimate(map["estimate"], otherwise.estimate);
  TakeSpanInto(map["checkpoint"], Millis(0), run.checkpoint);
  return run;
}

/// `team-a/train`.
JobKey TakeKey(const Field& field) {
  const auto text = field.String();
  if (!text) {
    if (!field.Present()) {
      field.Refuse("is required: NAMESPACE/NAME of a Job of -f");
    }
    return {};
  }
  const size_t slash = text->find('/');
  if (slash == std::string::npos || slash == 0 || slash + 1 == text->size()) {
    field.Refuse("must be NAMESPACE/NAME of a Job of -f");
    return {};
  }
  return {text->substr(0, slash), text->substr(slash + 1)};
}

SubmissionRule TakeSubmission(const Field& field, const Scenario& scenario) {
  RefuseUnknown(field, {"template", "name", "namespace", "queue", "priorityClass", "at", "count",
                        "for", "every", "rate", "duration", "estimate", "checkpoint"});
  SubmissionRule rule(field);
  rule.source = TakeKey(field["template"]);
  rule.name = field["name"].String().value_or("");
  rule.ns = field["namespace"].String().value_or("");
  rule.queue = field["queue"].String().value_or("");
  rule.priority_class = field["priorityClass"].String().value_or("");
  TakeSpanInto(field["at"], Millis(0), rule.at);
  rule.span = TakeSpan(field["for"], Millis(0));
  if (const auto count = field["count"].Integer(1, kSubmissionsMax)) {
    rule.count = *count;
  } else if (rule.span) {
    rule.count = kSubmissionsMax;
  }
  const bool spaced = field["every"].Present() || field["rate"].Present();
  if (field["every"].Present() && field["rate"].Present()) {
    field["rate"].Refuse("and every exclude each other");
  }
  if (rule.span && !spaced) {
    field["for"].Refuse("needs every or rate beside it");
  }
  rule.every = TakeLaw(field["every"], Millis(1)).value_or(rule.every);
  rule.every = TakeRate(field["rate"]).value_or(rule.every);
  rule.run = TakeRun(field, scenario.jobs);
  return rule;
}

/// `Queue/gold`, `Job/team-a/train` of {kind, namespace, name}.
std::string TakeObjectKey(const Field& field, Names more) {
  std::vector<std::string_view> known{"kind", "namespace", "name"};
  known.insert(known.end(), more.begin(), more.end());
  if (field.IsMapOrAbsent() && field.Present()) {
    for (const Member& member : field.value()->AsMap()) {
      if (std::find(known.begin(), known.end(), member.key) == known.end()) {
        field[member.key].Refuse("is no field here: there are kind, namespace, name" +
                                 std::string(more.size() == 0 ? "" : ", merge"));
      }
    }
  }
  const auto kind = field["kind"].String();
  const auto name = field["name"].String();
  const auto ns = field["namespace"].String();
  constexpr std::array<std::pair<std::string_view, bool>, 6> kKinds{
      {{"Queue", false},
       {"Cluster", false},
       {"PriorityClass", false},
       {"Namespace", false},
       {"FederatedResourceQuota", true},
       {"Job", true}}};
  const auto* const found =
      std::find_if(kKinds.begin(), kKinds.end(), [&](const auto& k) { return k.first == kind; });
  if (found == kKinds.end()) {
    field["kind"].Refuse(
        "must be Queue, Cluster, PriorityClass, Namespace, FederatedResourceQuota or Job");
    return "";
  }
  if (!name || name->empty()) {
    field["name"].Refuse("is required");
    return "";
  }
  if (found->second != ns.has_value()) {
    field["namespace"].Refuse(found->second ? "is required for a " + *kind
                                            : "must not be there: a " + *kind + " has none");
    return "";
  }
  return *kind + "/" + (ns ? *ns + "/" : "") + *name;
}

EventRule TakeOutage(const Field& field, EventRule rule) {
  RefuseUnknown(field, {"cluster", "for", "jobs"});
  rule.kind = EventRule::Kind::kOutage;
  rule.object = field["cluster"].String().value_or("");
  for (const char* needed : {"cluster", "for"}) {
    if (!field[needed].Present()) {
      field[needed].Refuse("is required");
    }
  }
  TakeSpanInto(field["for"], Millis(1), rule.span);
  const auto jobs = field["jobs"].String();
  if (jobs && *jobs != "continue" && *jobs != "restart") {
    field["jobs"].Refuse("must be continue or restart");
  }
  rule.restart = jobs == "restart";
  return rule;
}

EventRule TakeEvent(const Field& field) {
  RefuseUnknown(field, {"at", "apply", "patch", "delete", "outage"});
  EventRule rule(field);
  TakeSpanInto(field["at"], Millis(0), rule.at);
  if (!field["at"].Present()) {
    field["at"].Refuse("is required: a duration from the start");
  }
  size_t given = 0;
  for (const char* what : {"apply", "patch", "delete", "outage"}) {
    given += field[what].Present() ? 1U : 0U;
  }
  if (given != 1) {
    field.Refuse("must have exactly one of apply, patch, delete and outage");
    return rule;
  }
  if (const Field patch = field["patch"]; patch.Present()) {
    rule.kind = EventRule::Kind::kPatch;
    rule.object = TakeObjectKey(patch, {"merge"});
    if (!patch["merge"].Present()) {
      patch["merge"].Refuse("is required: what to change, as in kubectl patch --type merge");
    }
    patch["merge"].IsMapOrAbsent();
  } else if (const Field gone = field["delete"]; gone.Present()) {
    rule.kind = EventRule::Kind::kDelete;
    rule.object = TakeObjectKey(gone, {});
  } else if (const Field outage = field["outage"]; outage.Present()) {
    return TakeOutage(outage, rule);
  } else {
    field["apply"].IsMapOrAbsent();
  }
  return rule;
}

void TakeSettings(const Field& settings, Scenario& scenario) {
  RefuseUnknown(settings,
                {"resolution", "cycle", "startDelay", "evictionGrace", "summaries", "usageHalfLife",
                 "usageWeight", "minRuntime", "evictionsADay", "reserveAfter", "clusterLostAfter"});
  TakeSpanInto(settings["resolution"], Millis(1), scenario.resolution);
  TakeSpanInto(settings["cycle"], Millis(0), scenario.cycle);
  TakeSpanInto(settings["startDelay"], Millis(0), scenario.start_delay);
  TakeSpanInto(settings["evictionGrace"], Millis(0), scenario.grace);
  Settings& decisions = scenario.decisions;
  TakeSpanInto(settings["usageHalfLife"], Millis(0), decisions.usage_half_life);
  TakeSpanInto(settings["minRuntime"], Millis(0), decisions.min_runtime);
  TakeSpanInto(settings["reserveAfter"], Millis(0), decisions.reserve_after);
  TakeSpanInto(settings["clusterLostAfter"], Millis(0), decisions.cluster_lost_after);
  if (const auto weight = settings["usageWeight"].Integer(0, 1000)) {
    decisions.usage_weight = static_cast<int32_t>(*weight);
  }
  if (const auto count = settings["evictionsADay"].Integer(0, 1000)) {
    decisions.evictions_a_day = static_cast<int32_t>(*count);
  }
  const Field summaries = settings["summaries"];
  if (summaries.value() == nullptr || *summaries.value() != Value("exact")) {
    TakeSpanInto(summaries, Millis(1), scenario.summary_period);
  }
}

void TakeStart(const Field& field, Scenario& scenario) {
  const auto start = ParseTime(field.String().value_or(kDefaultStart));
  if (!start.has_value() || *start <= Time()) {
    field.Refuse("must be a time such as 2026-12-01T08:00:00Z");
    return;
  }
  scenario.start = *start;
}

void TakeScenario(const Field& root, Scenario& scenario) {
  RefuseUnknown(root, {"apiVersion", "kind", "metadata", "start", "seed", "until", "resource",
                       "settings", "jobs", "submissions", "events"});
  if (root["apiVersion"].String() != kScenarioVersion) {
    root["apiVersion"].Refuse("must be " + std::string(kScenarioVersion));
  }
  if (root["kind"].String() != kScenarioKind) {
    root["kind"].Refuse("must be " + std::string(kScenarioKind));
  }
  TakeStart(root["start"], scenario);
  scenario.seed = static_cast<uint64_t>(
      root["seed"].Integer(0, std::numeric_limits<int64_t>::max()).value_or(1));
  scenario.until = TakeSpan(root["until"], Millis(1));
  scenario.resource = root["resource"].String().value_or("");
  TakeSettings(root["settings"], scenario);
  RefuseUnknown(root["jobs"], {"duration", "estimate", "checkpoint"});
  scenario.jobs = TakeRun(root["jobs"], {});
  for (const Field& item : root["submissions"].Items()) {
    scenario.submissions.push_back(TakeSubmission(item, scenario));
  }
  for (const Field& item : root["events"].Items()) {
    scenario.events.push_back(TakeEvent(item));
  }
}

}  // namespace

Status Verdicts(const IssueSink& sink) {
  std::string message;
  for (const Issue& issue : sink.errors) {
    message += (message.empty() ? "" : "\n") + IssueLine(issue);
  }
  return message.empty() ? Status() : Fail(ErrorCode::kInvalid, message);
}

Result<std::unique_ptr<Scenario>> ReadScenario(const std::string& path) {
  auto scenario = std::make_unique<Scenario>();
  size_t documents = 0;
  ReadReport report = ReadInput({path}, std::cin, [&](Document document) {
    ++documents;
    scenario->document = std::move(document);
  });
  scenario->sink.errors = std::move(report.errors);
  CALDERA_CHECK(Verdicts(scenario->sink));
  if (documents != 1) {
    return Fail(ErrorCode::kInvalid, path + ": must hold one document, the scenario; it has " +
                                         std::to_string(documents));
  }
  scenario->sink.file = scenario->document.file;
  scenario->sink.object = kScenarioKind;
  const Value& root = scenario->document.root;
  TakeScenario(Field(&root, "", root.mark(), scenario->sink), *scenario);
  CALDERA_CHECK(Verdicts(scenario->sink));
  return scenario;
}

}  // namespace caldera
