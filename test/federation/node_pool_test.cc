#include "federation/node_pool.h"

#include <random>

#include "federation/capacity.h"
#include "test/federation/builders.h"

namespace caldera {
namespace {

using testing::Amounts;
using testing::Fed;
using testing::Names;
using testing::Placements;
using testing::Tweak;

const NodeConstraint kAnyNode;

NodePool PoolOf(const Fed& fed, const std::string& cluster) {
  return {fed.state, fed.state.cluster(fed.state.clusters().find(cluster)->second)};
}

NodePool::Task Pods(Fed& fed, int64_t replicas, std::string_view request) {
  // Jobs make their resources known to the State.
  fed.AddJob("probe/p", "default", 1, request, [](Job& j) { j.hold = true; });
  return {&kAnyNode, fed.state.facts(fed.At("probe/p").shape).total, replicas};
}

Node WithLabels(Labels labels) {
  Node node;
  node.name = "n1";
  node.labels = std::move(labels);
  return node;
}

NodeConstraint Affinity(std::vector<LabelRequirement> expressions) {
  NodeConstraint constraint;
  constraint.has_affinity = true;
  constraint.terms = {{std::move(expressions), {}}};
  return constraint;
}

TEST_CASE("nodes: cordon and Ready and taints keep pods out") {
  Node node = WithLabels({});
  CHECK(NodeTakes(node, kAnyNode));
  node.unschedulable = true;
  CHECK(!NodeTakes(node, kAnyNode));
  node.unschedulable = false;
  node.ready = false;
  CHECK(!NodeTakes(node, kAnyNode));
  node.ready = true;
  node.taints = {{"soft", "", "PreferNoSchedule"}};
  CHECK(NodeTakes(node, kAnyNode));
  for (const char* effect : {"NoSchedule", "NoExecute"}) {
    node.taints = {{"gpu", "a100", effect}};
    CHECK(!NodeTakes(node, kAnyNode));
    const auto tolerated = [&](Toleration toleration) {
      NodeConstraint constraint;
      constraint.tolerations = {std::move(toleration)};
      return NodeTakes(node, constraint);
    };
    CHECK(tolerated({"gpu", "Exists", "", ""}));
    CHECK(tolerated({"", "Exists", "", ""}));
    CHECK(tolerated({"gpu", "Equal", "a100", effect}));
    CHECK(!tolerated({"gpu", "Equal", "h100", effect}));
    CHECK(!tolerated({"gpu", "Exists", "", "PreferNoSchedule"}));
    CHECK(!tolerated({"cpu", "Exists", "", ""}));
    CHECK(!tolerated({"", "Equal", "", ""}));
  }
}

TEST_CASE("nodes: selector and required affinity") {
  const Node node = WithLabels({{"zone", "a"}, {"gen", "7"}, {"odd", "x7"}});
  NodeConstraint selector;
  selector.selector = {{"zone", "a"}};
  CHECK(NodeTakes(node, selector));
  selector.selector = {{"zone", "b"}};
  CHECK(!NodeTakes(node, selector));
  selector.selector = {{"missing", ""}};
  CHECK(!NodeTakes(node, selector));

  const auto matches = [&](LabelRequirement requirement) {
    return NodeTakes(node, Affinity({std::move(requirement)}));
  };
  CHECK(matches({"zone", "In", {"b", "a"}}));
  CHECK(!matches({"zone", "In", {"b"}}));
  CHECK(!matches({"missing", "In", {"b"}}));
  CHECK(!matches({"zone", "NotIn", {"a"}}));
  CHECK(matches({"missing", "NotIn", {"a"}}));
  CHECK(matches({"zone", "Exists", {}}));
  CHECK(!matches({"zone", "DoesNotExist", {}}));
  CHECK(matches({"missing", "DoesNotExist", {}}));
  CHECK(matches({"gen", "Gt", {"6"}}));
  CHECK(!matches({"gen", "Gt", {"7"}}));
  CHECK(matches({"gen", "Lt", {"10"}}));
  CHECK(!matches({"odd", "Gt", {"1"}}));
  CHECK(!matches({"missing", "Lt", {"1"}}));
  CHECK(!matches({"zone", "Resembles", {"a"}}));
}

TEST_CASE("nodes: terms are ORed and the empty term matches nothing") {
  const Node node = WithLabels({{"zone", "a"}});
  NodeConstraint constraint = Affinity({{"zone", "In", {"b"}}});
  CHECK(!NodeTakes(node, constraint));
  constraint.terms.push_back({{{"zone", "In", {"a"}}}, {}});
  CHECK(NodeTakes(node, constraint));
  constraint.terms = {{{}, {{"metadata.name", "In", {"n1"}}}}};
  CHECK(NodeTakes(node, constraint));
  constraint.terms = {{{}, {{"metadata.name", "In", {"n2"}}}}};
  CHECK(!NodeTakes(node, constraint));
  constraint.terms = {{{}, {}}};
  CHECK(!NodeTakes(node, constraint));
  constraint.terms = {};
  CHECK(!NodeTakes(node, constraint));
}

TEST_CASE("nodes: slots are counted node by node and not by sums") {
  // The vector of reference volcano 5.2: 1 2 0 1 2 2 0 1 pods of 4 gpu and 16 memory.
  Fed fed;
  fed.AddCluster("c", "");
  const std::vector<std::string> nodes = {
      "gpu/g=6 memory=64", "gpu/g=8 memory=64", "gpu/g=3 memory=64", "gpu/g=8 memory=20",
      "gpu/g=8 memory=64", "gpu/g=8 memory=64", "gpu/g=0 memory=64", "gpu/g=5 memory=64"};
  for (size_t i = 0; i < nodes.size(); ++i) {
    fed.AddNode("c", "n" + std::to_string(i + 1), nodes[i]);
  }
  const NodePool::Task task = Pods(fed, 100, "gpu/g=4 memory=16");
  NodePool pool = PoolOf(fed, "c");
  CHECK(!pool.Pack({task}));
  CHECK(pool.PackSome(task) == 9);
  CHECK(pool.PackSome(task) == 0);
}

TEST_CASE("nodes: a gang that does not fit takes nothing") {
  Fed fed;
  fed.AddCluster("c", "").AddNode("c", "n1", "cpu=4").AddNode("c", "n2", "cpu=3");
  const NodePool::Task big = Pods(fed, 2, "cpu=2");
  const NodePool::Task small = Pods(fed, 4, "cpu=1");
  NodePool pool = PoolOf(fed, "c");
  CHECK(!pool.Pack({small, big}));
  CHECK(pool.PackSome(small) == 4);
  CHECK(pool.PackSome(small) == 3);  // 7 cpu in all: the gang took none.
}

TEST_CASE("nodes: the largest request goes first and each where it leaves least") {
  // In the order given, the small pods would take n1 and leave no room for the large one.
  Fed fed;
  fed.AddCluster("c", "").AddNode("c", "n1", "cpu=4").AddNode("c", "n2", "cpu=3");
  const NodePool::Task small = Pods(fed, 3, "cpu=1");
  const NodePool::Task big = Pods(fed, 1, "cpu=4");
  NodePool pool = PoolOf(fed, "c");
  CHECK(pool.Pack({small, big}));
}

TEST_CASE("nodes: of a gang that does not fit fewer than all are counted") {
  // The small pod goes to n2 only, which the large ones fill up; the other way round all would fit.
  Fed fed;
  fed.AddCluster("c", "").AddNode("c", "n1", "cpu=2").AddNode("c", "n2", "cpu=4");
  fed.AddNode("c", "n3", "cpu=5");
  const NodePool::Task big = Pods(fed, 3, "cpu=2");
  NodePool::Task small = Pods(fed, 1, "cpu=1");
  NodeConstraint on_n2;
  on_n2.has_affinity = true;
  on_n2.terms = {{{}, {{"metadata.name", "In", {"n2"}}}}};
  small.nodes = &on_n2;
  NodePool pool = PoolOf(fed, "c");
  CHECK(!pool.Pack({small, big}));
  CHECK(pool.PackMost({small, big}) == 3);
  NodePool other = PoolOf(fed, "c");
  CHECK(other.PackSome(small) + other.PackSome(big) == 4);
}

TEST_CASE("nodes: best fit does not look at pods and looks at devices first") {
  Fed fed;
  fed.AddCluster("c", "").AddNode("c", "a", "cpu=8 pods=500");
  fed.AddNode("c", "b", "cpu=9 pods=10").AddNode("c", "g", "cpu=2 nvidia.com/gpu=1 pods=10");
  fed.AddNode("c", "h", "cpu=1 nvidia.com/gpu=2 pods=10");
  // The pod without devices fills `a`, so that nine more fit on `b`.
  fed.AddJob("n/cpu", "default", 1, "cpu=8").AddJob("n/nine", "default", 1, "cpu=9");
  // One device goes to `g` though `h` has less cpu; two then fit on `h`.
  fed.AddJob("n/one", "default", 1, "cpu=1 nvidia.com/gpu=1");
  fed.AddJob("n/two", "default", 1, "nvidia.com/gpu=2");
  CHECK(fed.Go().actions.size() == 4);
}

TEST_CASE("nodes: pods on an unknown node use no other") {
  Fed fed;
  fed.AddCluster("c", "").AddNode("c", "n1", "cpu=4");
  fed.Do(PodUpsert{{"c", "x", "p", "gone", Amounts("cpu=4"), false, "", ""}});
  fed.AddJob("n/a", "default", 4, "cpu=1");
  CHECK(Placements(fed.Go()).empty());  // The sums have no room...
  fed.Do(PodDelete{"c", "x", "p"});
  CHECK(Placements(fed.Go()) == Names{"n/a@c"});
}

TEST_CASE("nodes: both the summary and the slots must fit") {
  Fed fed;
  fed.AddCluster("c", "cpu=8").AddNode("c", "n1", "cpu=3").AddNode("c", "n2", "cpu=3");
  fed.AddJob("n/a", "default", 1, "cpu=4").AddJob("n/b", "default", 2, "cpu=2");
  CHECK(Placements(fed.Go()) == Names{"n/b@c"});
  fed.AddCluster("c", "cpu=4").AddJob("n/c", "default", 1, "cpu=1");
  CHECK(Placements(fed.Go()).empty());
}

TEST_CASE("nodes: a constraint decides which nodes count") {
  Fed fed;
  fed.AddCluster("c", "").AddNode("c", "n1", "cpu=8");
  fed.AddNode("c", "n2", "cpu=8", [](Node& n) { n.labels = {{"disk", "ssd"}}; });
  const auto ssd = [](Job& j) { j.tasks[0].nodes.selector = {{"disk", "ssd"}}; };
  fed.AddJob("n/a", "default", 3, "cpu=4", ssd).AddJob("n/b", "default", 2, "cpu=4", ssd);
  CHECK(Placements(fed.Go()) == Names{"n/b@c"});
}

TEST_CASE("nodes: a State built again has the free nodes of the rounds before") {
  std::mt19937 random(9);
  for (int round = 0; round < 40; ++round) {
    Fed fed;
    fed.AddCluster("c", "");
    for (int n = 0; n < 6; ++n) {
      fed.AddNode("c", "n" + std::to_string(n), "cpu=" + std::to_string(4 + random() % 9));
    }
    const auto add = [&](int from, int to) {
      for (int i = from; i < to; ++i) {
        fed.AddJob("n/j" + std::to_string(random() % 1000), "default",
                   1 + static_cast<int32_t>(random() % 3),
                   "cpu=" + std::to_string(1 + random() % 5));
      }
    };
    add(0, 8);
    fed.Go();
    add(8, 16);
    // Nothing that is placed was packed differently: the same jobs would be placed in one go.
    State rebuilt;
    for (const Change& change : fed.state.Export()) {
      rebuilt.Apply(change);
    }
    CHECK(Placements(MakePlan(rebuilt)) == Placements(MakePlan(fed.state)));
    fed.Go();
    CHECK(MakePlan(fed.state).actions.empty());
  }
}

}  // namespace
}  // namespace caldera
