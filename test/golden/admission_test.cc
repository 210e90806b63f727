// What the real Volcano answered to 612 Jobs (its CRD schema, its webhooks, its controller),
// against our intake: 312 made by hand, and 300 generated ones, chosen from some 7,500 to cover the
// most refusals and fields. Three differences are intended: a queue that is missing, closed, not a
// leaf or the root holds a job and does not refuse it; and in minResources a pod with limits but no
// requests counts its limits, and names such as count/pods count, both of which Volcano's PodGroup
// leaves out.
#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "federation/intake.h"
#include "test/golden/compare.h"

using namespace caldera;

namespace {

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

std::vector<Document> Cases() {
  std::vector<Document> cases = GoldenDocuments("volcano-admission.jsonl");
  for (Document& document : GoldenDocuments("volcano-admission-extra.jsonl")) {
    cases.push_back(std::move(document));
  }
  return cases;
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

bool LimitsAreRequested(const Value& holder) {
  const Value* const limits = holder.At({"resources", "limits"});
  const Value::Map none;
  const Value::Map& map = limits == nullptr ? none : limits->AsMap();
  return std::all_of(map.begin(), map.end(), [&](const Member& limit) {
    return holder.At({"resources", "requests", limit.key}) != nullptr;
  });
}

// Every container of the job, and every pod, requests all that it limits: then minResources agree.
bool RequestsAreComplete(const Value& spec) {
  for (const Value& task : spec.Find("tasks")->AsList()) {
    const Value* const pod = task.At({"template", "spec"});
    if (!LimitsAreRequested(*pod)) {
      return false;
    }
    for (const char* const list : {"containers", "initContainers"}) {
      const Value* const containers = pod->Find(list);
      for (const Value& container : containers == nullptr ? Value::List{} : containers->AsList()) {
        if (!LimitsAreRequested(container)) {
          return false;
        }
      }
    }
  }
  return true;
}

// Kubernetes' quotas count no such resource, and minResources are made from what they count.
bool LeftOutByVolcano(const std::string& resource) {
  return resource.starts_with("count/") || resource.starts_with("kubernetes.io/");
}

// Volcano adds up exact quantities and we whole units of each pod, rounded up; so where a quantity
// is finer than a unit, ours may be more by at most one a pod.
void CheckMinResources(const JobFacts& facts, const Value& theirs) {
  ResourceList ours = facts.min_resources;
  const int64_t pods = ours.contains("pods") ? ours["pods"] : 0;
  std::erase_if(
      ours, [](const auto& entry) { return entry.second == 0 || LeftOutByVolcano(entry.first); });
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
  const std::vector<Document> cases = Cases();
  CHECK(cases.size() == 612);
  for (const Document& document : cases) {
    const Value& entry = document.root;
    const Intake intake = TakeCase(entry);
    const bool accepted =
        entry.Find("accepted")->AsBool() || RefusedForQueueOnly(Text(entry, "message"));
    INFO(Text(entry, "id"), " ", Text(entry, "message"), Said(intake));
    CHECK(intake.errors.empty() == accepted);
    CHECK(intake.change.has_value() == accepted);
    CHECK(intake.job.has_value() == accepted);
    CHECK(NamesAll(intake));
  }
}

TEST_CASE("golden admission: the defaulted spec is the stored one") {
  for (const Document& document : Cases()) {
    const Value& entry = document.root;
    if (!entry.Find("accepted")->AsBool()) {
      continue;
    }
    const Intake intake = TakeCase(entry);
    INFO(Text(entry, "id"));
    CHECK(SpecDifferences(intake, *entry.Find("spec")) == std::vector<std::string>{});
  }
}

TEST_CASE("golden admission: the PodGroup of the real controller") {
  size_t compared = 0;
  for (const Document& document : Cases()) {
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
  CHECK(compared > 270);
}
