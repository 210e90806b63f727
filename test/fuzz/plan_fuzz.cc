// Any bytes as a folder of manifests, planned. The plan keeps every rule, is the same whatever the
// order of the objects, and takes effect without leaving anything that could still be placed.
#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "controller/kube/yaml_reader.h"
#include "federation/assert.h"
#include "federation/codec.h"
#include "federation/intake.h"
#include "federation/invariants.h"
#include "federation/planner.h"

namespace {

using caldera::Change;
using caldera::Document;

constexpr caldera::Time kNow{caldera::Millis{1'800'000'000'000}};

// The changes that `caldera plan` would make of the documents; each object once, no queue in a
// circle.
std::vector<Change> ChangesOf(const std::vector<Document>& documents) {
  std::vector<Change> changes;
  std::vector<caldera::QueueSource> queues;
  std::set<std::string> seen;
  for (const Document& document : documents) {
    caldera::Intake intake = caldera::TakeObject(document, caldera::Strictness::kStored, kNow);
    if (!intake.change || !seen.insert(intake.object).second) {
      continue;
    }
    if (auto* queue = std::get_if<caldera::QueueUpsert>(&*intake.change)) {
      queues.push_back({queue->queue, &document});
    } else {
      changes.push_back(*std::move(intake.change));
    }
  }
  const auto issues = caldera::CheckQueueTree(queues, caldera::Strictness::kStored);
  for (size_t i = 0; i < queues.size(); ++i) {
    if (std::find(issues.refused.begin(), issues.refused.end(), i) == issues.refused.end()) {
      changes.emplace_back(caldera::QueueUpsert{queues[i].queue});
    }
  }
  return changes;
}

caldera::State StateOf(const std::vector<Change>& changes) {
  caldera::State state;
  state.Apply(caldera::ClockSet{kNow});
  for (const Change& change : changes) {
    state.Apply(change);
  }
  return state;
}

}  // namespace

// The name and the type are libFuzzer's.
// NOLINTNEXTLINE(readability-identifier-naming)
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): bytes are characters.
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  std::vector<Document> documents;
  caldera::ReadReport report;
  caldera::ReadYaml(
      text, "in.yaml", [&](Document d) { documents.push_back(std::move(d)); }, report);
  std::vector<Change> changes = ChangesOf(documents);
  caldera::State state = StateOf(changes);
  const caldera::Plan plan = caldera::MakePlan(state);
  CALDERA_ASSERT(caldera::CheckPlan(state, plan).empty());
  std::reverse(changes.begin(), changes.end());
  CALDERA_ASSERT(caldera::EncodePlan(caldera::MakePlan(StateOf(changes))) ==
                 caldera::EncodePlan(plan));
  const auto decoded = caldera::DecodePlan(caldera::EncodePlan(plan));
  CALDERA_ASSERT(decoded.has_value());
  for (const Change& change : caldera::EffectOf(plan, 1)) {
    state.Apply(change);
  }
  // Who borrowed in this plan may be above its deserved in the next one; nobody else has to wait.
  const caldera::Plan next = caldera::MakePlan(state);
  CALDERA_ASSERT(std::all_of(next.actions.begin(), next.actions.end(), [](const auto& action) {
    return action.action == caldera::ActionKind::kEvict;
  }));
  return 0;
}
