#include "controller/run/leader.h"

#include <doctest/doctest.h>

#include <string>

#include "test/sandbox/api_server.h"

using namespace caldera;

namespace {

constexpr Time kStart{Millis(1'764'547'200'000)};

/// An API server with the Lease's namespace, in virtual time.
struct Place {
  ManualClock clock{kStart};
  Executor executor{clock};
  sandbox::ApiServer server{executor, {}};
  Client client{server, executor, {}};

  Place() {
    Value ns{Value::Map{}};
    ns.Set("apiVersion", "v1");
    ns.Set("kind", "Namespace");
    ns.Set("metadata", Value::Map{{"name", "caldera-system", {}}});
    client.Create(resource::Namespaces(), "", ns,
                  [](const Result<Value>& made) { REQUIRE(made.has_value()); });
    Settle();
  }

  void Settle() {
    while (executor.RunDue()) {
    }
  }
  void Advance(Millis span) {
    const Time end = clock.Now() + span;
    while (clock.Now() < end) {
      clock.Set(std::min(end, clock.Now() + Millis(100)));
      Settle();
    }
  }
  Value Lease() {
    Value lease;
    client.Get({&resource::Leases(), "caldera-system", "caldera-controller"},
               [&](Result<Value> got) { lease = got.has_value() ? *got : Value(); });
    Settle();
    return lease;
  }
  std::string Holder() {
    const Value lease = Lease();
    const Value* const holder = lease.At({"spec", "holderIdentity"});
    return holder == nullptr ? "" : holder->AsString();
  }
};

struct Replica {
  Client client;
  int led = 0;
  std::string lost;
  LeaderElection election;

  Replica(Place& place, const std::string& identity) : Replica(place, identity, place.executor) {}
  /// On a machine of its own.
  Replica(Place& place, const std::string& identity, Executor& executor)
      : client(place.server, executor, OneAttempt()),
        election(client, ConfigOf(identity),
                 {[this] { ++led; }, [this](const std::string& why) { lost = why; },
                  [](const std::string&) {}, [](const Error&) {}}) {}

  static ClientOptions OneAttempt() {
    ClientOptions options;
    options.max_attempts = 1;
    return options;
  }
  static LeaderConfig ConfigOf(const std::string& identity) {
    LeaderConfig config;
    config.identity = identity;
    return config;
  }
};

}  // namespace

TEST_CASE("the first replica leads and renews, the second stands by") {
  Place place;
  Replica a(place, "a");
  Replica b(place, "b");
  a.election.Start();
  place.Settle();
  b.election.Start();
  place.Advance(Millis(60'000));
  CHECK(a.led == 1);
  CHECK(a.lost.empty());
  CHECK(b.led == 0);
  CHECK(place.Holder() == "a");
  const Value lease = place.Lease();
  const Value* const renewed = lease.At({"spec", "renewTime"});
  REQUIRE(renewed != nullptr);
  CHECK(renewed->AsString().size() == std::string("2026-12-01T00:00:00.000000Z").size());
}

TEST_CASE("a leader that stops gives the lease back and the next leads at once") {
  Place place;
  Replica a(place, "a");
  Replica b(place, "b");
  a.election.Start();
  place.Settle();
  b.election.Start();
  place.Settle();
  bool done = false;
  a.election.Stop([&] { done = true; });
  place.Advance(Millis(2'000));
  CHECK(done);
  CHECK(b.led == 1);
  const Value lease = place.Lease();
  const Value* const transitions = lease.At({"spec", "leaseTransitions"});
  REQUIRE(transitions != nullptr);
  CHECK(transitions->AsInteger() == 1);
}

TEST_CASE("a leader that dies is followed after the lease has run out") {
  Place place;
  Replica b(place, "b");
  {
    Replica a(place, "a");
    a.election.Start();
    place.Settle();
    CHECK(a.led == 1);
  }
  b.election.Start();
  place.Advance(Millis(14'000));
  CHECK(b.led == 0);
  place.Advance(Millis(4'000));
  CHECK(b.led == 1);
}

TEST_CASE("a leader that cannot renew ends its term before another can begin") {
  Place place;
  Replica a(place, "a");
  a.election.Start();
  place.Settle();
  place.server.SetReachable(false);
  place.Advance(Millis(9'000));
  CHECK(a.election.leading());
  place.Advance(Millis(4'000));
  CHECK(!a.election.leading());
  CHECK(a.lost.find("could not be renewed") != std::string::npos);
}

TEST_CASE("a clock that is put ahead takes no lease from a leader that renews it") {
  Place place;
  ManualClock clock{kStart};
  Executor executor{clock};
  Replica a(place, "a");
  Replica b(place, "b", executor);
  a.election.Start();
  place.Settle();
  b.election.Start();
  const auto advance = [&](Millis span) {
    for (Millis gone{0}; gone < span; gone += Millis(100)) {
      clock.Set(clock.Now() + Millis(100));
      place.Advance(Millis(100));
      while (executor.RunDue() || place.executor.RunDue()) {
      }
    }
  };
  advance(Millis(10'000));
  clock.Set(clock.Now() + Millis(3'600'000));
  advance(Millis(60'000));
  CHECK(a.election.leading());
  CHECK(b.led == 0);
}

TEST_CASE("a lease taken by somebody else ends the term") {
  Place place;
  Replica a(place, "a");
  a.election.Start();
  place.Settle();
  Value patch{Value::Map{}};
  patch.Set("spec", Value::Map{{"holderIdentity", "thief", {}}});
  place.client.Patch({&resource::Leases(), "caldera-system", "caldera-controller"},
                     PatchKind::kMerge, patch, "", [](const Result<Value>&) {});
  place.Advance(Millis(4'000));
  CHECK(a.lost.find("thief") != std::string::npos);
}
