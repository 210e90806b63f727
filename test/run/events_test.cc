#include "controller/run/events.h"

#include <doctest/doctest.h>

#include "controller/kube/json_reader.h"
#include "test/controller/fake_transport.h"

namespace caldera {
namespace {

struct Recording {
  explicit Recording(EventOptions options = {})
      : client(transport, executor, ClientOptions()), recorder(client, std::move(options)) {}

  void Settle() {
    while (executor.RunDue()) {
    }
  }
  void Advance(Millis span) {
    clock.Set(clock.Now() + span);
    Settle();
  }
  /// The request that waits, which must be one of `method`.
  FakeTransport::Exchange Next(const std::string& method) {
    REQUIRE(!transport.sent.empty());
    FakeTransport::Exchange exchange = transport.Take();
    CHECK(exchange.request.method == method);
    return exchange;
  }
  void Answer(FakeTransport::Exchange& exchange, int status, const std::string& body) {
    exchange.done(FakeTransport::Response(status, body));
    Settle();
  }
  Value Created() {
    FakeTransport::Exchange exchange = Next("POST");
    Value body = *ParseJson(exchange.request.body);
    Answer(exchange, 201, exchange.request.body);
    return body;
  }
  void Say(const std::string& reason, EventRepeat repeat = EventRepeat::kEachTime) {
    recorder.Record(target, {EventType::kNormal, reason, "said", repeat});
    Settle();
  }

  ManualClock clock{*ParseTime("2026-12-01T08:00:00Z")};
  Executor executor{clock};
  FakeTransport transport{executor};
  Client client;
  EventRecorder recorder;
  EventTarget target = TargetOf({"team-a", "train"}, "u1", JobKind::kJob);
};

constexpr const char* kExists =
    R"({"kind":"Status","code":409,"reason":"AlreadyExists","message":"already exists"})";

TEST_CASE("events: a core Event on the Job") {
  Recording r;
  r.Say("Placed");
  const Value event = r.Created();
  CHECK(*event.At({"involvedObject", "uid"}) == Value("u1"));
  CHECK(*event.At({"involvedObject", "apiVersion"}) == Value("batch.volcano.sh/v1alpha1"));
  CHECK(*event.At({"source", "component"}) == Value("caldera-controller"));
  CHECK(*event.Find("count") == Value(1));
  CHECK(*event.Find("firstTimestamp") == Value("2026-12-01T08:00:00Z"));
  CHECK(r.recorder.idle());
}

TEST_CASE("events: said again it is counted") {
  Recording r;
  r.Say("Recalled");
  const Value first = r.Created();
  r.Say("Recalled");
  FakeTransport::Exchange patch = r.Next("PATCH");
  CHECK(patch.request.path ==
        "/api/v1/namespaces/team-a/events/" + first.At({"metadata", "name"})->AsString());
  CHECK(*ParseJson(patch.request.body)->Find("count") == Value(2));
  // It expired meanwhile: it is a new one.
  r.Answer(patch, 404, R"({"kind":"Status","code":404})");
  CHECK(*r.Created().Find("count") == Value(1));
}

TEST_CASE("events: another process said it before") {
  Recording r;
  r.Say("Recalled");
  FakeTransport::Exchange create = r.Next("POST");
  r.Answer(create, 409, kExists);
  FakeTransport::Exchange get = r.Next("GET");
  r.Answer(get, 200, R"({"count":4})");
  FakeTransport::Exchange patch = r.Next("PATCH");
  CHECK(*ParseJson(patch.request.body)->Find("count") == Value(5));
  r.Answer(patch, 200, "{}");
  CHECK(r.recorder.idle());
}

TEST_CASE("events: what is said once is not counted") {
  Recording r;
  r.Say("Placed", EventRepeat::kOnce);
  FakeTransport::Exchange create = r.Next("POST");
  r.Answer(create, 409, kExists);
  CHECK(r.transport.sent.empty());
  r.Say("Placed", EventRepeat::kOnce);
  CHECK(r.transport.sent.empty());
  CHECK(r.recorder.idle());
}

TEST_CASE("events: a job is queued once it has waited for one reason") {
  Recording r;
  r.recorder.Waiting(r.target, Verdict::kFairShare, "a");
  r.Advance(Millis(1'900));
  CHECK(r.transport.sent.empty());
  r.recorder.Waiting(r.target, Verdict::kFairShare, "b");
  r.Advance(Millis(200));
  CHECK(*r.Created().Find("message") == Value("FairShare: b"));
  // The same reason says nothing more; another does, yet not so soon.
  r.recorder.Waiting(r.target, Verdict::kFairShare, "c");
  r.recorder.Waiting(r.target, Verdict::kTenantQuota, "d");
  r.Advance(Millis(20'000));
  CHECK(r.transport.sent.empty());
  r.Advance(Millis(10'000));
  CHECK(*r.Created().Find("message") == Value("TenantQuota: d"));
}

TEST_CASE("events: a job that is placed soon is not said to be queued") {
  Recording r;
  r.recorder.Waiting(r.target, Verdict::kFairShare, "a");
  r.recorder.NotWaiting("u1");
  r.Advance(Millis(5'000));
  CHECK(r.transport.sent.empty());
}

TEST_CASE("events: too many are dropped and hold nothing up") {
  EventOptions options;
  options.waiting = 3;
  options.burst = 100;
  Recording r(options);
  for (int i = 0; i < 10; ++i) {
    r.Say("Reason" + std::to_string(i));
  }
  CHECK(r.transport.sent.size() == 2);  // In flight.
  CHECK(r.recorder.dropped() == 5);
}

TEST_CASE("events: one object says no more than its share") {
  EventOptions options;
  options.burst = 2;
  Recording r(options);
  for (int i = 0; i < 4; ++i) {
    r.Say("Reason" + std::to_string(i));
    if (!r.transport.sent.empty()) {
      r.Created();
    }
  }
  CHECK(r.recorder.dropped() == 2);
  r.Advance(Millis(300'000));
  r.Say("Later");
  CHECK(*r.Created().Find("reason") == Value("Later"));
}

TEST_CASE("events: a long message is cut at a character") {
  Recording r;
  std::string message;
  for (int i = 0; i < 600; ++i) {
    message += "ä";
  }
  r.recorder.Record(r.target, {EventType::kWarning, "Refused", message, EventRepeat::kOnce});
  r.Settle();
  const Value event = r.Created();
  CHECK(event.Find("message")->AsString().size() <= 1024);
  CHECK(event.Find("message")->AsString().ends_with("ä..."));
}

}  // namespace
}  // namespace caldera
