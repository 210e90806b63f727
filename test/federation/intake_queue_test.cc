#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "federation/intake.h"
#include "test/federation/manifests.h"

namespace caldera {
namespace {

std::string Manifest(const std::string& spec, const std::string& more = "",
                     const std::string& name = "gold") {
  return "apiVersion: scheduling.volcano.sh/v1beta1\nkind: Queue\nmetadata: {name: " + name +
         "}\nspec: " + spec + "\n" + more;
}

Queue Accepted(const std::string& yaml, Strictness strictness = Strictness::kNew) {
  const Intake intake = Take(yaml, strictness);
  REQUIRE_MESSAGE(intake.change.has_value(), ListIssues(intake.errors));
  return std::get<QueueUpsert>(*intake.change).queue;
}

TEST_CASE("queue: defaults") {
  const Queue queue = Accepted(Manifest("{}"));
  CHECK(queue.name == "gold");
  CHECK(queue.parent == "root");
  CHECK(queue.weight == 1);
  CHECK(queue.priority == 0);
  CHECK(queue.reclaimable);
  CHECK(queue.dequeue_strategy == DequeueStrategy::kTraverse);
  CHECK(queue.state == QueueState::kOpen);
  CHECK(queue.capability.empty());

  for (const std::string spec : {"{}", "null"}) {
    const Intake intake = Take(Manifest(spec));
    CHECK(intake.defaulted.At({"spec", "weight"})->AsInteger() == 1);
    CHECK(intake.defaulted.At({"spec", "reclaimable"})->AsBool());
    CHECK(intake.defaulted.At({"spec", "parent"})->AsString() == "root");
    CHECK(intake.defaulted.At({"spec", "dequeueStrategy"})->AsString() == "traverse");
  }
}

TEST_CASE("queue: every field") {
  const Intake intake = Take(Manifest(
      "{weight: 65535, priority: 7, parent: org, reclaimable: false, dequeueStrategy: fifo,"
      " capability: {cpu: '10', memory: 8Gi, nvidia.com/gpu: 0}, deserved: {cpu: 8},"
      " guarantee: {resource: {cpu: 4}}, type: x, affinity: {nodeGroupAffinity:"
      " {requiredDuringSchedulingIgnoredDuringExecution: [a]}},"
      " extendClusters: [{name: m1, weight: 1, capacity: {cpu: 1}}]}",
      "status: {state: Closed, allocated: null}\n"));
  REQUIRE_MESSAGE(intake.change.has_value(), ListIssues(intake.errors));
  CHECK_MESSAGE(intake.warnings.empty(), ListIssues(intake.warnings));
  const Queue queue = std::get<QueueUpsert>(*intake.change).queue;
  CHECK(queue.weight == 65535);
  CHECK(queue.priority == 7);
  CHECK(queue.parent == "org");
  CHECK(!queue.reclaimable);
  CHECK(queue.dequeue_strategy == DequeueStrategy::kFifo);
  CHECK(queue.state == QueueState::kClosed);
  CHECK(queue.capability ==
        ResourceList{{"cpu", 10'000}, {"memory", 8'589'934'592}, {"nvidia.com/gpu", 0}});
  CHECK(queue.deserved == ResourceList{{"cpu", 8000}});
  CHECK(queue.guarantee == ResourceList{{"cpu", 4000}});
  CHECK(intake.defaulted.At({"spec", "reclaimable"})->AsBool() == false);
}

TEST_CASE("queue: what is refused") {
  struct Row {
    std::string spec;
    std::string field;
    std::string part;
  };
  for (const Row& row : std::vector<Row>{
           {"{weight: 10000000}", "spec.weight", "from 1 to 65535"},
           {"{weight: 65536}", "spec.weight", "from 1 to 65535"},
           {"{weight: -1}", "spec.weight", "from 1 to 65535"},
           {"{weight: '3'}", "spec.weight", "without quotes"},
           {"{weight: 1.5}", "spec.weight", "an integer"},
           {"{priority: -1}", "spec.priority", "from 0"},
           {"{priority: 2147483648}", "spec.priority", "to 2147483647"},
           {"{parent: Org}", "spec.parent", "lower-case"},
           {"{parent: 7}", "spec.parent", "must be a string"},
           {"{parent: gold}", "spec.parent", "its own parent"},
           {"{parent: ''}", "spec.parent", "must not be empty"},
           {"{reclaimable: 'yes'}", "spec.reclaimable", "true or false"},
           {"{dequeueStrategy: lifo}", "spec.dequeueStrategy", "fifo or traverse"},
           {"{capability: {cpu: ten}}", "spec.capability[cpu]", "is no quantity"},
           {"{capability: {cpu: -1}}", "spec.capability[cpu]", "negative"},
           {"{capability: {cpu: 0.5}}", "spec.capability[cpu]", "in quotes, \"0.5\""},
           {"{capability: {pods: '1.5'}}", "spec.capability[pods]", "whole number"},
           {"{capability: [cpu]}", "spec.capability", "must be a map"},
           {"{guarantee: 5}", "spec.guarantee", "must be a map"},
           {"{guarantee: {resource: {cpu: 4}}}", "spec.guarantee.resource[cpu]",
            "needs deserved[cpu] = 4"},
           {"{guarantee: {resource: {cpu: 4}}, deserved: {cpu: 3}}", "spec.deserved[cpu]",
            "at least guarantee[cpu] = 4"},
           {"{deserved: {cpu: 80}, capability: {cpu: 60}}", "spec.deserved[cpu]",
            "at most capability[cpu] = 60"},
           {"{affinity: {nodeGroupAffinity: {requiredDuringSchedulingIgnoredDuringExecution: a}}}",
            "spec.affinity.nodeGroupAffinity.requiredDuringSchedulingIgnoredDuringExecution",
            "must be a list"},
           {"{extendClusters: [{weight: x}]}", "spec.extendClusters[0].weight", "an integer"},
           {"[]", "spec", "must be a map"},
       }) {
    CAPTURE(row.spec);
    const Intake intake = Take(Manifest(row.spec));
    CHECK(!intake.change.has_value());
    CHECK_MESSAGE(FindIssue(intake.errors, row.field, row.part) != nullptr,
                  ListIssues(intake.errors));
  }
}

TEST_CASE("queue: weight 0 is what admission makes of it") {
  const Intake intake = Take(Manifest("{weight: 0}"));
  CHECK(std::get<QueueUpsert>(*intake.change).queue.weight == 1);
  CHECK(intake.defaulted.At({"spec", "weight"})->AsInteger() == 1);
  CHECK(FindIssue(intake.warnings, "spec.weight", "counts as 1") != nullptr);
}

TEST_CASE("queue: a resource one level too high in guarantee is dropped with a warning") {
  const Intake intake =
      Take(Manifest("{parent: root, capability: {cpu: '100'}, guarantee: {cpu: '50'}}"));
  REQUIRE(intake.change.has_value());
  CHECK(std::get<QueueUpsert>(*intake.change).queue.guarantee.empty());
  const Issue* const issue =
      FindIssue(intake.warnings, "spec.guarantee.cpu",
                "guarantee.cpu is not a field and is dropped by the API server; did you mean "
                "guarantee.resource.cpu?");
  REQUIRE(issue != nullptr);
  CHECK(issue->value == "50");
}

TEST_CASE("queue: a misspelt field is named with the one that is near") {
  const Intake intake = Take(Manifest("{weigth: 5, color: red}", "extra: 1\n"));
  CHECK(intake.change.has_value());
  CHECK(FindIssue(intake.warnings, "spec.weigth", "did you mean weight?") != nullptr);
  const Issue* const color = FindIssue(intake.warnings, "spec.color", "is not a field");
  REQUIRE(color != nullptr);
  CHECK(color->message.find("did you mean") == std::string::npos);
  CHECK(FindIssue(intake.warnings, "extra", "is not a field") != nullptr);
}

TEST_CASE("queue: numbers of a stored queue are clamped") {
  const Intake intake =
      Take(Manifest("{deserved: {cpu: 80, memory: 4Gi}, capability: {cpu: 60},"
                    " guarantee: {resource: {cpu: 70, memory: 5Gi, nvidia.com/gpu: 2}}}"),
           Strictness::kStored);
  REQUIRE_MESSAGE(intake.change.has_value(), ListIssues(intake.errors));
  const Queue& queue = std::get<QueueUpsert>(*intake.change).queue;
  CHECK(queue.deserved == ResourceList{{"cpu", 60'000}, {"memory", 4'294'967'296}});
  CHECK(queue.guarantee ==
        ResourceList{{"cpu", 60'000}, {"memory", 4'294'967'296}, {"nvidia.com/gpu", 2}});
  CHECK(FindIssue(intake.warnings, "spec.deserved[cpu]", "above capability[cpu] = 60") != nullptr);
  CHECK(FindIssue(intake.warnings, "spec.guarantee.resource[cpu]", "above deserved[cpu] = 60") !=
        nullptr);
  // What was written stays written.
  CHECK(intake.defaulted.At({"spec", "deserved", "cpu"})->AsInteger() == 80);
  // A guarantee without deserved is how Volcano's proportion plugin is used.
  CHECK(Accepted(Manifest("{guarantee: {resource: {cpu: 4}}}"), Strictness::kStored).guarantee ==
        ResourceList{{"cpu", 4000}});
  CHECK(Accepted(Manifest("{parent: ''}"), Strictness::kStored).parent == "root");
}

TEST_CASE("queue: states") {
  const auto state = [](const std::string& text) {
    return Accepted(Manifest("{}", "status: {state: " + text + "}\n"), Strictness::kStored).state;
  };
  CHECK(state("Open") == QueueState::kOpen);
  CHECK(state("''") == QueueState::kOpen);
  CHECK(state("Closing") == QueueState::kClosing);
  CHECK(state("Unknown") == QueueState::kUnknown);
  const Intake wrong = Take(Manifest("{}", "status: {state: Shut}\n"));
  CHECK(FindIssue(wrong.errors, "status.state", "must be Open, Closed") != nullptr);
  const Intake closing = Take(Manifest("{}", "status: {state: Closing}\n"));
  CHECK(closing.change.has_value());
  CHECK(FindIssue(closing.warnings, "status.state", "Volcano only") != nullptr);
}

TEST_CASE("queue: root and default may be given") {
  CHECK(Accepted(Manifest("{weight: 1, reclaimable: false}", "", "root")).parent.empty());
  CHECK(Accepted(Manifest("{parent: root}", "", "root")).parent.empty());
  CHECK(Accepted(Manifest("{}", "", "default")).parent == "root");
  const Intake wrong = Take(Manifest("{parent: org}", "", "root"));
  CHECK(FindIssue(wrong.errors, "spec.parent", "top of the tree") != nullptr);
  CHECK(Take(Manifest("{}", "", "root")).defaulted.At({"spec", "parent"}) == nullptr);
}

TEST_CASE("queue: hierarchy annotations are checked and not used") {
  const auto take = [](const std::string& path, const std::string& weights) {
    return Take(
        "apiVersion: scheduling.volcano.sh/v1beta1\nkind: Queue\nmetadata: {name: gold, "
        "annotations: {volcano.sh/hierarchy: '" +
        path + "', volcano.sh/hierarchy-weights: '" + weights + "'}}\n");
  };
  const std::string field = "metadata.annotations[volcano.sh/hierarchy-weights]";
  CHECK(take("root/a/b", "1/2/8.5").change.has_value());
  CHECK(FindIssue(take("root/a", "1/2").warnings, "metadata.annotations[volcano.sh/hierarchy]",
                  "spec.parent") != nullptr);
  CHECK(FindIssue(take("root/a/b", "1/2").errors, field, "as many parts") != nullptr);
  CHECK(FindIssue(take("root/a", "1/0").errors, field, "above 0") != nullptr);
  CHECK(FindIssue(take("root/a", "1/x").errors, field, "above 0") != nullptr);
}

// ------------------------------------------------------------------------------------ the tree

/// The queues of a YAML text as a tree check wants them. Keeps the documents.
struct Tree {
  explicit Tree(const std::string& yaml, Strictness strictness = Strictness::kNew)
      : documents(Documents(yaml)) {
    for (const Document& document : documents) {
      const Intake intake = TakeObject(document, Strictness::kStored, TestNow());
      REQUIRE_MESSAGE(intake.change.has_value(), ListIssues(intake.errors));
      queues.push_back({std::get<QueueUpsert>(*intake.change).queue, &document});
    }
    issues = CheckQueueTree(queues, strictness);
  }

  std::vector<Document> documents;
  std::vector<QueueSource> queues;
  QueueTreeIssues issues;
};

/// One document a line: `name: spec`.
std::string Queues(const std::vector<std::pair<std::string, std::string>>& queues) {
  std::string yaml;
  for (const auto& [name, spec] : queues) {
    yaml += Manifest(spec, "---\n", name);
  }
  return yaml;
}

TEST_CASE("queue tree: a sound tree has no issues") {
  const Tree tree(Queues({{"org",
                           "{capability: {cpu: 100}, deserved: {cpu: 60},"
                           " guarantee: {resource: {cpu: 20}}}"},
                          {"a",
                           "{parent: org, capability: {cpu: 100}, deserved: {cpu: 40},"
                           " guarantee: {resource: {cpu: 20}}}"},
                          {"b", "{parent: org, deserved: {cpu: 20}}"},
                          {"free", "{deserved: {cpu: 1000}}"}}));
  CHECK_MESSAGE(tree.issues.errors.empty(), ListIssues(tree.issues.errors));
  CHECK_MESSAGE(tree.issues.warnings.empty(), ListIssues(tree.issues.warnings));
  CHECK(tree.issues.refused.empty());
}

TEST_CASE("queue tree: cycles are refused in either strictness") {
  for (const Strictness strictness : {Strictness::kNew, Strictness::kStored}) {
    const Tree tree(Queues({{"a", "{parent: c}"},
                            {"b", "{parent: a}"},
                            {"c", "{parent: b}"},
                            {"below", "{parent: b}"},
                            {"solo", "{}"}}),
                    strictness);
    CHECK(tree.issues.refused == std::vector<size_t>{0, 1, 2});
    CHECK(tree.issues.errors.size() == 3);
    CHECK(FindIssue(tree.issues.errors, "spec.parent", "a -> c -> b -> a") != nullptr);
    CHECK(tree.issues.errors.front().object == "Queue/a");
    CHECK(tree.issues.errors.front().mark.line == 4);
    REQUIRE(tree.issues.warnings.size() == 1);
    CHECK(tree.issues.warnings.front().object == "Queue/below");
  }
}

TEST_CASE("queue tree: its own parent") {
  Document document = OneDocument(Manifest("{parent: ouroboros}", "", "ouroboros"));
  Queue queue;
  queue.name = queue.parent = "ouroboros";
  const QueueTreeIssues issues = CheckQueueTree({{queue, &document}}, Strictness::kStored);
  CHECK(issues.refused == std::vector<size_t>{0});
  CHECK(FindIssue(issues.errors, "spec.parent", "cannot be its own parent") != nullptr);
}

TEST_CASE("queue tree: a long cycle ends") {
  std::vector<std::pair<std::string, std::string>> ring;
  ring.reserve(300);
  for (int i = 0; i < 300; ++i) {
    ring.emplace_back("q" + std::to_string(i), "{parent: q" + std::to_string((i + 1) % 300) + "}");
  }
  const Tree tree(Queues(ring), Strictness::kStored);
  CHECK(tree.issues.refused.size() == 300);
  CHECK(tree.issues.errors.front().message.size() < 300);
}

TEST_CASE("queue tree: an unknown parent is a warning") {
  const Tree tree(Queues({{"a", "{parent: later}"}, {"b", "{parent: default}"}}));
  CHECK(tree.issues.errors.empty());
  REQUIRE(tree.issues.warnings.size() == 1);
  CHECK(tree.issues.warnings[0].object == "Queue/a");
  CHECK(tree.issues.warnings[0].field == "spec.parent");
  CHECK(tree.issues.warnings[0].value == "later");
}

TEST_CASE("queue tree: five levels below root are the most") {
  const auto chain = [](Strictness strictness) {
    return Tree(Queues({{"l1", "{}"},
                        {"l2", "{parent: l1}"},
                        {"l3", "{parent: l2}"},
                        {"l4", "{parent: l3}"},
                        {"l5", "{parent: l4}"},
                        {"l6", "{parent: l5}"}}),
                strictness);
  };
  const Tree fresh = chain(Strictness::kNew);
  CHECK(fresh.issues.refused == std::vector<size_t>{5});
  CHECK(FindIssue(fresh.issues.errors, "spec.parent", "5 levels") != nullptr);
  const Tree stored = chain(Strictness::kStored);
  CHECK(stored.issues.refused.empty());
  CHECK(stored.issues.warnings.size() == 1);
}

TEST_CASE("queue tree: a capability above an ancestor's") {
  const std::string yaml =
      Queues({{"org", "{capability: {cpu: 100}}"},
              {"mid", "{parent: org}"},
              {"team-x", "{parent: mid, capability: {cpu: 200, memory: 1Gi}}"}});
  const Tree fresh(yaml);
  CHECK(fresh.issues.refused == std::vector<size_t>{2});
  CHECK(FindIssue(fresh.issues.errors, "spec.capability[cpu]",
                  "must be at most 100, the capability of org") != nullptr);
  const Tree stored(yaml, Strictness::kStored);
  CHECK(stored.issues.refused.empty());
  CHECK(FindIssue(stored.issues.warnings, "spec.capability[cpu]",
                  "is above 100, the capability of org, which is used instead") != nullptr);
}

TEST_CASE("queue tree: limits that Volcano does not compare are worth a warning") {
  const Tree tree(Queues({{"root", "{capability: {cpu: 10}}"},
                          {"none", "{capability: {nvidia.com/gpu: 0}}"},
                          {"a", "{parent: none, capability: {nvidia.com/gpu: 8, cpu: 20}}"}}));
  CHECK(tree.issues.errors.empty());
  CHECK(FindIssue(tree.issues.warnings, "spec.capability[nvidia.com/gpu]", "capability of none") !=
        nullptr);
  CHECK(FindIssue(tree.issues.warnings, "spec.capability[cpu]", "capability of root") != nullptr);
}

TEST_CASE("queue tree: siblings together above their parent") {
  const std::string yaml =
      Queues({{"org", "{deserved: {cpu: 100}, guarantee: {resource: {cpu: 10}}}"},
              {"a", "{parent: org, deserved: {cpu: 60}, guarantee: {resource: {cpu: 6}}}"},
              {"b", "{parent: org, deserved: {cpu: 50}, guarantee: {resource: {cpu: 4}}}"},
              {"c", "{parent: org, deserved: {cpu: 40}}"},
              {"d", "{parent: org, deserved: {memory: 1Gi}}"}});
  const Tree fresh(yaml);
  // b tips the sum and is refused; c fits in what is left; d asks for what the parent has none of.
  CHECK(fresh.issues.refused == std::vector<size_t>{2, 4});
  CHECK(FindIssue(fresh.issues.errors, "spec.deserved[cpu]", "to 110") != nullptr);
  CHECK(FindIssue(fresh.issues.errors, "spec.deserved[memory]", "above the parent's 0") != nullptr);
  const Tree stored(yaml, Strictness::kStored);
  CHECK(stored.issues.refused.empty());
  CHECK(!stored.issues.warnings.empty());
}

}  // namespace
}  // namespace caldera
