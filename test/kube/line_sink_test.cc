#include "controller/kube/line_sink.h"

#include <doctest/doctest.h>

#include <string>
#include <thread>
#include <vector>

namespace caldera {
namespace {

using Lines = std::vector<std::string>;

struct World {
  int woken = 0;
  int resumed = 0;
  LineSink sink{10, 20, [this] { ++woken; }};
  LineSink::Put Write(std::string_view bytes) {
    return sink.Write(bytes, [this] { ++resumed; });
  }
};

TEST_CASE("line sink joins a line that comes in pieces and keeps what has no end") {
  World world;
  CHECK(world.Write("ab") == LineSink::Put::kTaken);
  CHECK(world.woken == 0);
  CHECK(world.sink.Drain().empty());
  CHECK(world.Write("c\n\nde") == LineSink::Put::kTaken);
  CHECK(world.woken == 1);
  CHECK(world.sink.Drain() == Lines{"abc", ""});
  CHECK(world.sink.Drain().empty());
  CHECK(world.sink.Rest() == "de");
  CHECK(world.sink.Rest().empty());
}

TEST_CASE("line sink wakes its consumer once until it drains") {
  World world;
  world.Write("a\n");
  world.Write("b\n");
  CHECK(world.woken == 1);
  CHECK(world.sink.Drain() == Lines{"a", "b"});
  world.Write("c\n");
  CHECK(world.woken == 2);
}

TEST_CASE("line sink holds the producer back until it is drained") {
  World world;
  CHECK(world.Write("0123456789\n") == LineSink::Put::kTaken);
  CHECK(world.Write("01234567\n") == LineSink::Put::kTaken);
  CHECK(world.Write("x\n") == LineSink::Put::kFull);
  CHECK(world.resumed == 0);
  CHECK(world.sink.Drain().size() == 3);
  CHECK(world.resumed == 1);
  world.sink.Drain();
  CHECK(world.resumed == 1);
  CHECK(world.Write("y\n") == LineSink::Put::kTaken);
}

TEST_CASE("line sink bounds one line even where its end has come") {
  World world;
  CHECK(world.Write("0123456789") == LineSink::Put::kTaken);
  CHECK(world.Write("\n") == LineSink::Put::kTaken);
  CHECK(world.Write("0123456789x") == LineSink::Put::kLineTooLong);
  World whole;
  CHECK(whole.Write("a\n0123456789x\n") == LineSink::Put::kLineTooLong);
  CHECK(whole.sink.Drain() == Lines{"a"});
}

TEST_CASE("line sink counts empty lines too") {
  World world;
  for (int i = 0; i < 20; ++i) {
    CHECK(world.Write("\n") == LineSink::Put::kTaken);
  }
  CHECK(world.Write("\n") == LineSink::Put::kFull);
}

TEST_CASE("line sink that is abandoned lets its producer go and takes nothing more") {
  World world;
  CHECK(world.Write("0123456789\n0123456789\nx\n") == LineSink::Put::kFull);
  world.sink.Abandon();
  CHECK(world.resumed == 1);
  CHECK(world.sink.Drain().empty());
  CHECK(world.Write("a\n") == LineSink::Put::kTaken);
  CHECK(world.sink.Drain().empty());
  CHECK(world.sink.Rest().empty());
}

TEST_CASE("line sink hands every line over between two threads") {
  constexpr int kLines = 2000;
  LineSink sink(100, 50, [] {});
  std::thread producer([&sink] {
    for (int i = 0; i < kLines; ++i) {
      sink.Write("line ", [] {});
      sink.Write(std::to_string(i) + "\n", [] {});
    }
  });
  Lines all;
  while (all.size() < kLines) {
    for (std::string& line : sink.Drain()) {
      all.push_back(std::move(line));
    }
  }
  producer.join();
  for (int i = 0; i < kLines; ++i) {
    REQUIRE(all[static_cast<size_t>(i)] == "line " + std::to_string(i));
  }
}

}  // namespace
}  // namespace caldera
