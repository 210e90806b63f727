#include "controller/kube/reflector.h"

#include <doctest/doctest.h>

#include <fstream>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "controller/kube/json_reader.h"
#include "controller/kube/json_writer.h"
#include "test/controller/fake_transport.h"

namespace caldera {
namespace {

std::string Text(const Value* value) {
  return value != nullptr && value->IsString() ? value->AsString() : "";
}

// The cases write objects in short: {"name","uid","rv"} beside anything else.
Value Object(const Value& brief) {
  if (brief.Find("metadata") != nullptr || brief.Find("code") != nullptr) {
    return brief;
  }
  Value metadata{Value::Map{}};
  metadata.Set("namespace", "n");
  metadata.Set("name", Text(brief.Find("name")));
  metadata.Set("uid", Text(brief.Find("uid")));
  metadata.Set("resourceVersion", Text(brief.Find("rv")));
  Value object = brief;
  object.Set("metadata", metadata);
  return object;
}

// Plays the `exchange` list of a case against a reflector and logs what it tells.
struct Player {
  ManualClock clock{Time(Millis(1'000'000))};
  Executor executor{clock};
  FakeTransport transport{executor};
  Client client{transport, executor, {}};
  std::map<std::string, std::string> view;  // name -> uid
  std::vector<std::string> told;
  std::vector<std::string> errors;
  int synced = 0;
  std::optional<Reflector> reflector;

  Player() {
    ReflectorOptions options;
    options.type = resource::Jobs();
    ReflectorHandlers handlers;
    handlers.on_upsert = [this](Value&& object) {
      const std::string name = Text(object.At({"metadata", "name"}));
      view[name] = Text(object.At({"metadata", "uid"}));
      told.push_back("+" + name + "@" + Text(object.At({"metadata", "resourceVersion"})));
    };
    handlers.on_delete = [this](const std::string&, const std::string& name,
                                const std::string& uid) {
      view.erase(name);
      told.push_back("-" + name + "(" + uid + ")");
    };
    handlers.on_synced = [this] { ++synced; };
    handlers.on_error = [this](const Error& error) { errors.push_back(error.message); };
    reflector.emplace(client, options, handlers);
    reflector->Start();
    executor.RunDue();
  }

  FakeTransport::Exchange Next() {
    for (int i = 0; i < 100 && transport.sent.empty(); ++i) {
      clock.Set(clock.Now() + Millis(500));
      executor.RunDue();
    }
    REQUIRE_FALSE(transport.sent.empty());
    return transport.Take();
  }

  static void Expect(const HttpRequest& request, const Value& expect) {
    std::map<std::string, std::string> query(request.query.begin(), request.query.end());
    if (const Value* wanted = expect.Find("query")) {
      for (const Member& member : wanted->AsMap()) {
        CAPTURE(member.key);
        REQUIRE(query.contains(member.key));
        if (member.value.AsString() != "*") {
          CHECK(query[member.key] == member.value.AsString());
        }
      }
    }
    if (const Value* unwanted = expect.Find("notQuery")) {
      for (const Value& key : unwanted->AsList()) {
        CHECK_FALSE(query.contains(key.AsString()));
      }
    }
  }

  void Play(const Value& step) {
    FakeTransport::Exchange exchange = Next();
    Expect(exchange.request, *step.Find("expect"));
    const Value& reply = *step.Find("reply");
    const int status = static_cast<int>(reply.Find("status")->AsInteger());
    std::string text;
    if (const Value* body = reply.Find("body")) {
      Value full = *body;
      if (Value* items = full.Find("items")) {
        for (Value& item : items->AsList()) {
          item = Object(item);
        }
      }
      text = WriteJson(full);
    }
    if (exchange.stream == 0) {
      exchange.done(FakeTransport::Response(status, text));
    } else {
      PlayStream(exchange.stream, status, text, reply);
    }
    executor.RunDue();
  }

  void PlayStream(HttpTransport::StreamId stream, int status, const std::string& text,
                  const Value& reply) {
    transport.Respond(stream, FakeTransport::Response(status, text));
    if (const Value* lines = reply.Find("stream")) {
      for (const Value& line : lines->AsList()) {
        Value event = line;
        event.Set("object", Object(*line.Find("object")));
        transport.Line(stream, WriteJson(event));
      }
    }
    const std::string then = Text(reply.Find("then"));
    if (then == "drop-connection") {
      transport.End(stream, Fail(ErrorCode::kUnavailable, "reset"));
    } else if (then == "close" || status != 200) {
      transport.End(stream, {});
    }
  }

  void PlayCase(const std::string& file) {
    std::ifstream in(std::string(CALDERA_TEST_DATA) + "/cases/watch/" + file);
    std::stringstream text;
    text << in.rdbuf();
    const auto document = ParseJson(text.str());
    REQUIRE(document.has_value());
    for (const Value& step : document->Find("exchange")->AsList()) {
      Play(step);
    }
  }
};

using Told = std::vector<std::string>;

TEST_CASE("reflector lists anew after every 410 - case c27") {
  Player player;
  player.PlayCase("c27-watch-410-gone.json");
  CHECK(player.told == Told{"+a@900", "+b@950", "+a@1005", "+a@1500", "+c@1800", "-b(ub)"});
  CHECK(player.view == std::map<std::string, std::string>{{"a", "ua"}, {"c", "uc"}});
  CHECK(player.synced == 3);
  CHECK(player.errors.size() == 3);
}

TEST_CASE("reflector resumes from bookmarks and skips what it does not know - case c28") {
  Player player;
  player.PlayCase("c28-watch-bookmarks.json");
  CHECK(player.told == Told{"+a@9", "+a@3100"});
  REQUIRE(player.errors.size() == 1);
  CHECK(player.errors[0].find("SOMETHINGNEW") != std::string::npos);
}

TEST_CASE("reflector does no work for duplicates and finds missed deletes - case c30") {
  Player player;
  player.PlayCase("c30-duplicates-and-missed-deletes.json");
  CHECK(player.told == Told{"+a@90", "+b@91", "+d@92", "+e@101", "-d(ud1)", "+d@250", "-b(ub)"});
  CHECK(player.view == std::map<std::string, std::string>{{"a", "ua"}, {"d", "ud2"}, {"e", "ue"}});
}

TEST_CASE("reflector reads a line of more than a mebibyte and lists anew after a torn one") {
  Player player;
  player.Next().done(
      FakeTransport::Response(200, R"({"metadata":{"resourceVersion":"1"},"items":[]})"));
  player.executor.RunDue();
  auto watch = player.Next();
  player.transport.Respond(watch.stream, FakeTransport::Response(200, ""));
  std::string note;
  for (int i = 0; i < 629'146; ++i) {
    note += "\xC3\xA9";
  }
  player.transport.Line(
      watch.stream,
      R"({"type":"ADDED","object":{"metadata":{"namespace":"n","name":"big","uid":"u",)"
      R"("resourceVersion":"2","annotations":{"note":")" +
          note + R"("}}}})");
  player.transport.Line(watch.stream, R"({"type":"ADDED","object":{"meta)");
  player.executor.RunDue();
  CHECK(player.told == Told{"+big@2"});
  CHECK(player.transport.open_streams() == 0);
  const auto list = player.Next();
  CHECK(list.stream == 0);
}

TEST_CASE("reflector says nothing after it stopped") {
  Player player;
  auto list = player.Next();
  player.reflector->Stop();
  list.done(FakeTransport::Response(
      200,
      R"({"metadata":{"resourceVersion":"1"},"items":[{"metadata":{"name":"a","uid":"u"}}]})"));
  player.executor.RunDue();
  CHECK(player.told.empty());
  CHECK(player.synced == 0);
}

}  // namespace
}  // namespace caldera
