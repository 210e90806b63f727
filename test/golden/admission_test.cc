// What the real Volcano answered to 312 Jobs (its CRD schema, its webhooks, its controller),
// against our intake. Two differences are intended: a queue that is missing, closed, not a leaf or
// the root holds a job and does not refuse it; and a pod with limits but no requests counts its
// limits in minResources, which Volcano's PodGroup leaves out.
#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>
#include <vector>

#include "controller/kube/json_reader.h"
#include "federation/intake.h"
#include "federation/quantity.h"
#include "federation/time.h"

using namespace caldera;

namespace {

std::vector<Document> ReadCases() {
  std::ifstream file(std::string(CALDERA_TEST_DATA) + "/golden/volcano-admission.jsonl");
  std::stringstream text;
  text << file.rdbuf();
  std::vector<Document> cases;
  ReadReport report;
  ReadJson(
      text.str(), "volcano-admission.jsonl",
      [&](Document document) { cases.push_back(std::move(document)); }, report);
  REQUIRE(report.errors.empty());
  return cases;
}

std::string Text(const Value& value, std::string_view key) {
  const Value* const member = value.Find(key);
  return member != nullptr && member->IsString() ? member->AsString() : "";
}

// Absent, null, zero and empty are one in Go's types.
bool IsEmpty(const Value* value) {
  if (value == nullptr || value->IsNull()) {
    return true;
  }
  switch (value->kind()) {
    case Value::Kind::kBool:
      return !value->AsBool();
    case Value::Kind::kInteger:
      return value->AsInteger() == 0;
    case Value::Kind::kString:
      return value->AsString().empty();
    case Value::Kind::kList:
      return value->AsList().empty();
    case Value::Kind::kMap: {
      const auto& map = value->AsMap();
      return std::all_of(map.begin(), map.end(),
                         [](const Member& member) { return IsEmpty(&member.value); });
    }
    default:
      return false;
  }
}

std::string ScalarText(const Value& value) {
  return value.IsString() ? value.AsString() : value.Brief();
}

// By value: 3000 is 3k, 10m is 10m0s.
bool SameScalar(const Value& a, const Value& b) {
  if (a == b) {
    return true;
  }
  const auto amount_a = Quantity::Parse(ScalarText(a));
  const auto amount_b = Quantity::Parse(ScalarText(b));
  if (amount_a.has_value() && amount_b.has_value()) {
    return *amount_a == *amount_b;
  }
  const auto span_a = ParseDuration(ScalarText(a));
  const auto span_b = ParseDuration(ScalarText(b));
  return span_a.has_value() && span_b.has_value() && *span_a == *span_b;
}

// Says where `ours` differs from `theirs`; `dropped` are paths of fields that the schema does not
// know, which the API server drops and Caldera keeps.
void Compare(const Value* ours, const Value* theirs, const std::string& path,
             std::vector<std::string>& differences) {
  if (IsEmpty(ours) && IsEmpty(theirs)) {
    return;
  }
  if (ours == nullptr || theirs == nullptr) {
    differences.push_back(path + (ours == nullptr ? " is missing" : " is not there in theirs"));
  } else if (ours->IsMap() && theirs->IsMap()) {
    std::set<std::string> keys;
    for (const Value* const map : {ours, theirs}) {
      for (const Member& member : map->AsMap()) {
        keys.insert(member.key);
      }
    }
    for (const std::string& key : keys) {
      Compare(ours->Find(key), theirs->Find(key), path + "." + key, differences);
    }
  } else if (ours->IsList() && theirs->IsList() &&
             ours->AsList().size() == theirs->AsList().size()) {
    for (size_t i = 0; i < ours->AsList().size(); ++i) {
      Compare(&ours->AsList()[i], &theirs->AsList()[i], path + "[" + std::to_string(i) + "]",
              differences);
    }
  } else if (!SameScalar(*ours, *theirs)) {
    differences.push_back(path + ": " + ours->Brief() + " and theirs " + theirs->Brief());
  }
}

// The message without what the webhook says of queues; empty where it says nothing else.
bool RefusedForQueueOnly(const std::string& message) {
  static const std::vector<std::string> kQueueTalk = {
      "unable to find job queue", "can not submit job to root queue",
      "can only submit job to leaf queue", "can only submit job to queue with state"};
  const bool talks = std::any_of(kQueueTalk.begin(), kQueueTalk.end(), [&](const auto& words) {
    return message.find(words) != std::string::npos;
  });
  // The webhook puts `;` behind each complaint: one is all there is.
  return talks && std::count(message.begin(), message.end(), ';') == 1;
}

bool HasAll(const Intake& intake) {
  return std::all_of(intake.errors.begin(), intake.errors.end(), [](const Issue& issue) {
    return !issue.object.empty() && !issue.file.empty() && issue.mark.line > 0 &&
           !issue.field.empty() && !issue.message.empty();
  });
}

std::string Said(const Intake& intake) {
  std::string text;
  for (const Issue& issue : intake.errors) {
    text += "\n  " + issue.field + " = " + issue.value + ": " + issue.message;
  }
  return text;
}

Intake TakeCase(const Value& entry) {
  return TakeObject({"volcano-admission.jsonl", 0, *entry.Find("job")}, Strictness::kNew, Time{});
}

int64_t Integer(const Value* value) {
  return value != nullptr && value->IsInteger() ? value->AsInteger() : 0;
}

void CheckTopology(const NetworkTopology& ours, const Value* theirs) {
  const TopologyMode mode = theirs == nullptr                 ? TopologyMode::kNone
                            : Text(*theirs, "mode") == "soft" ? TopologyMode::kSoft
                                                              : TopologyMode::kHard;
  CHECK(ours.mode == mode);
  if (theirs != nullptr) {
    const Value* const tier = theirs->Find("highestTierAllowed");
    CHECK(ours.highest_tier.has_value() == (tier != nullptr));
    CHECK(ours.highest_tier.value_or(0) == Integer(tier));
    CHECK(ours.highest_tier_name == Text(*theirs, "highestTierName"));
  }
}

void CheckSubGroups(const JobFacts& facts, const Value* theirs) {
  REQUIRE(facts.sub_groups.size() == (theirs == nullptr ? 0 : theirs->AsList().size()));
  for (size_t i = 0; i < facts.sub_groups.size(); ++i) {
    const Value& group = theirs->AsList()[i];
    CHECK(facts.sub_groups[i].name == Text(group, "name"));
    CHECK(facts.sub_groups[i].size == Integer(group.Find("subGroupSize")));
    CHECK(facts.sub_groups[i].minimum == Integer(group.Find("minSubGroups")));
    CheckTopology(facts.sub_groups[i].topology, group.Find("networkTopology"));
  }
}

// Every container of the job requests all that it limits: then minResources agree.
bool RequestsAreComplete(const Value& spec) {
  for (const Value& task : spec.Find("tasks")->AsList()) {
    const Value* const pod = task.At({"template", "spec"});
    for (const char* const list : {"containers", "initContainers"}) {
      const Value* const containers = pod->Find(list);
      for (const Value& container : containers == nullptr ? Value::List{} : containers->AsList()) {
        const Value* const limits = container.At({"resources", "limits"});
        for (const Member& limit : limits == nullptr ? Value::Map{} : limits->AsMap()) {
          if (container.At({"resources", "requests", limit.key}) == nullptr) {
            return false;
          }
        }
      }
    }
  }
  return true;
}

// Volcano adds up exact quantities and we whole units of each pod, rounded up; so where a quantity
// is finer than a unit, ours may be more by at most one a pod.
void CheckMinResources(const JobFacts& facts, const Value& theirs) {
  ResourceList ours = facts.min_resources;
  const int64_t pods = ours.contains("pods") ? ours["pods"] : 0;
  std::erase_if(ours, [](const auto& entry) { return entry.second == 0; });
  for (const Member& member : theirs.AsMap()) {
    const auto amount = Quantity::Parse(ScalarText(member.value));
    REQUIRE(amount.has_value());
    if (amount->Nano() == 0) {
      continue;
    }
    const bool fine = amount->Nano() % (IsMilli(member.key) ? 1'000'000 : 1'000'000'000) != 0;
    const int64_t wanted = RequestAmount(member.key, *amount);
    INFO(member.key, " ", ours[member.key], " and theirs ", wanted);
    CHECK(ours[member.key] >= wanted);
    CHECK(ours[member.key] <= wanted + (fine ? pods : 0));
    ours.erase(member.key);
  }
  CHECK(ours.empty());
}

}  // namespace

TEST_CASE("golden admission: accepted and refused as by the real Volcano") {
  const std::vector<Document> cases = ReadCases();
  CHECK(cases.size() == 312);
  for (const Document& document : cases) {
    const Value& entry = document.root;
    const Intake intake = TakeCase(entry);
    const bool accepted =
        entry.Find("accepted")->AsBool() || RefusedForQueueOnly(Text(entry, "message"));
    INFO(Text(entry, "id"), " ", Text(entry, "message"), Said(intake));
    CHECK(intake.errors.empty() == accepted);
    CHECK(intake.change.has_value() == accepted);
    CHECK(intake.job.has_value() == accepted);
    CHECK(HasAll(intake));
  }
}

TEST_CASE("golden admission: the defaulted spec is the stored one") {
  for (const Document& document : ReadCases()) {
    const Value& entry = document.root;
    if (!entry.Find("accepted")->AsBool()) {
      continue;
    }
    const Intake intake = TakeCase(entry);
    INFO(Text(entry, "id"));
    std::vector<std::string> differences;
    Compare(intake.defaulted.Find("spec"), entry.Find("spec"), "spec", differences);
    // An unknown field stays: the API server drops it, Caldera sends it on.
    std::erase(differences, "spec.zzz is not there in theirs");
    CHECK(differences == std::vector<std::string>{});
  }
}

TEST_CASE("golden admission: the PodGroup of the real controller") {
  size_t compared = 0;
  for (const Document& document : ReadCases()) {
    const Value& entry = document.root;
    const Value* const group = entry.Find("podgroup");
    if (!entry.Find("accepted")->AsBool() || group == nullptr || !group->IsMap()) {
      continue;
    }
    const Intake intake = TakeCase(entry);
    INFO(Text(entry, "id"));
    REQUIRE(intake.job.has_value());
    const JobFacts& facts = *intake.job;
    CHECK(facts.min_member == Integer(group->Find("minMember")));
    const Value* const members = group->Find("minTaskMember");
    REQUIRE(members != nullptr);
    CHECK(facts.min_task_member.size() == members->AsMap().size());
    for (const auto& [task, count] : facts.min_task_member) {
      CHECK(members->Find(task) != nullptr);
      CHECK(count == Integer(members->Find(task)));
    }
    CheckTopology(facts.topology, group->Find("networkTopology"));
    CheckSubGroups(facts, group->Find("subGroupPolicy"));
    if (RequestsAreComplete(*entry.Find("spec"))) {
      CheckMinResources(facts, *group->Find("minResources"));
    }
    ++compared;
  }
  CHECK(compared > 150);
}
