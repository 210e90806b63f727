// Who is served before a waiting job's queue, and when its turn comes.
#include "federation/turn.h"

#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <vector>

#include "test/federation/builders.h"

namespace caldera {
namespace {

using testing::Fed;
using testing::Key;
using testing::Names;

using Why = QueueAhead::Why;

/// gold (weight 2) held all of 8 cpu for two half-lives and 4 since; silver (weight 1) holds the
/// other 4 from now on. One more job waits in each.
Fed Contended(int32_t usage_weight = 500) {
  Fed fed;
  Settings settings = fed.state.settings();
  settings.usage_weight = usage_weight;
  fed.Do(SettingsSet{settings});
  fed.AddQueue("root").AddQueue("gold", [](Queue& q) { q.weight = 2; }).AddQueue("silver");
  fed.AddCluster("east", "cpu=8 pods=100");
  fed.AddJob("n/g1", "gold", 4, "cpu=1").AddJob("n/g2", "gold", 4, "cpu=1");
  fed.Go();
  fed.Do(ClockSet{fed.state.now() + 2 * settings.usage_half_life});
  fed.Do(JobDelete{Key("n/g2"), "uid-n/g2"});
  fed.AddJob("n/s1", "silver", 4, "cpu=1");
  fed.Go();
  fed.AddJob("n/g3", "gold", 4, "cpu=1").AddJob("n/s2", "silver", 4, "cpu=1");
  REQUIRE(fed.Go().actions.empty());
  return fed;
}

TEST_CASE("turn: a share that falls slower passes the other where the curves cross") {
  // gold ((1-h) 4 + h (4 + 2x)) / 5.333, silver ((1-h) 4 + h (4 - 4x)) / 2.667, x = 2^(-t/H): they
  // meet at x = 0.8.
  const Fed fed = Contended();
  const std::vector<QueueAhead> ahead = WhoIsAhead(fed.state, Key("n/g3"));
  REQUIRE(ahead.size() == 1);
  CHECK(ahead[0].queue == "silver");
  CHECK(ahead[0].before == "gold");
  CHECK(ahead[0].why == Why::kShare);
  CHECK(ahead[0].share_milli == 749);
  CHECK(ahead[0].before_milli == 937);
  REQUIRE(ahead[0].until.has_value());
  const double hours =
      std::chrono::duration<double, std::ratio<3600>>(*ahead[0].until - fed.state.now()).count();
  CHECK(std::abs(hours - 24 * std::log2(1 / 0.8)) < 0.01);
  CHECK(TurnOf(ahead) == ahead[0].until);
  CHECK(WhoIsAhead(fed.state, Key("n/s2")).empty());
  CHECK(Sentences(ahead)[0] ==
        "queue silver is served before queue gold: its share is 0.749, that of queue gold 0.937");
}

TEST_CASE("turn: at the time that was said it is the queue's turn, and not a grid step before") {
  Fed fed = Contended();
  const Time turn = *TurnOf(WhoIsAhead(fed.state, Key("n/g3")));
  fed.Do(ClockSet{turn - kUsageGrid});
  CHECK(WhoIsAhead(fed.state, Key("n/g3")).size() == 1);
  fed.Do(ClockSet{turn});
  CHECK(WhoIsAhead(fed.state, Key("n/g3")).empty());
  CHECK(WhoIsAhead(fed.state, Key("n/s2")).size() == 1);
}

TEST_CASE("turn: without usage nothing but what is held decides, and that has no time") {
  Fed fed = Contended(0);
  CHECK(WhoIsAhead(fed.state, Key("n/g3")).empty());
  const std::vector<QueueAhead> ahead = WhoIsAhead(fed.state, Key("n/s2"));
  REQUIRE(ahead.size() == 1);
  CHECK(ahead[0].queue == "gold");
  CHECK_FALSE(ahead[0].until.has_value());
  CHECK(Sentences(ahead).back() ==
        "while all hold what they hold now its queue's turn does not come");
}

TEST_CASE("turn: who stays within its deserved and who has the priority has no end by usage") {
  Fed fed = Contended();
  fed.AddQueue("urgent", [](Queue& q) { q.priority = 5; });
  fed.AddJob("n/u", "urgent", 9, "cpu=1");  // Of an empty queue: within, however large.
  fed.AddJob("n/late", "urgent", 1, "cpu=1");
  const std::vector<QueueAhead> ahead = WhoIsAhead(fed.state, Key("n/g3"));
  REQUIRE(ahead.size() == 2);
  CHECK(ahead[0].queue == "urgent");
  CHECK(ahead[0].why == Why::kWithin);
  CHECK(ahead[1].queue == "silver");
  CHECK_FALSE(TurnOf(ahead).has_value());

  fed.AddQueue("silver", [](Queue& q) { q.priority = 9; });
  const std::vector<QueueAhead> by_priority = WhoIsAhead(fed.state, Key("n/g3"));
  REQUIRE(by_priority.size() == 2);
  CHECK(by_priority[1].why == Why::kPriority);
}

TEST_CASE("turn: each level of the tree has its own, from the root down") {
  Fed fed = Contended();
  fed.AddQueue("gold-a", [](Queue& q) { q.parent = "gold"; });
  CHECK(WhoIsAhead(fed.state, Key("n/g3")).empty());  // gold is no leaf any more.
  Fed tree;
  tree.AddQueue("root").AddQueue("org").AddQueue("other");
  for (const std::string name : {"a", "b"}) {
    tree.AddQueue(name, [](Queue& q) { q.parent = "org"; });
  }
  tree.AddCluster("east", "cpu=4 pods=100");
  tree.AddJob("n/a1", "a", 4, "cpu=1");
  tree.Go();
  tree.AddJob("n/o", "other", 5, "cpu=1")
      .AddJob("n/b", "b", 5, "cpu=1")
      .AddJob("n/a", "a", 5, "cpu=1");
  Names ahead;
  for (const QueueAhead& queue : WhoIsAhead(tree.state, Key("n/a"))) {
    ahead.push_back(queue.queue + "<" + queue.before);
  }
  CHECK(ahead == Names{"other<org", "b<a"});
}

TEST_CASE("turn: only of a job that waits for room") {
  Fed fed = Contended();
  fed.AddQuota("n", "cpu=8");
  CHECK(WhoIsAhead(fed.state, Key("n/g3")).empty());
  CHECK(WhoIsAhead(fed.state, Key("n/g1")).empty());  // It runs.
  CHECK(WhoIsAhead(fed.state, Key("n/nobody")).empty());
}

}  // namespace
}  // namespace caldera
