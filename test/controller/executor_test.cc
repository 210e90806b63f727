#include "controller/kube/executor.h"

#include <doctest/doctest.h>

#include <string>
#include <thread>

namespace caldera {
namespace {

TEST_CASE("executor runs posts in order and timers by time in virtual time") {
  ManualClock clock(Time(Millis(1000)));
  Executor executor(clock);
  std::string ran;
  executor.Post([&] {
    ran += "a";
    executor.PostAfter(Millis(20), [&] { ran += "late "; });
    executor.PostAfter(Millis(10), [&] { ran += "early "; });
    const auto never = executor.PostAfter(Millis(5), [&] { ran += "cancelled "; });
    executor.Cancel(never);
    executor.Cancel(never);
  });
  executor.Post([&] { ran += "b "; });
  CHECK(executor.RunDue());
  CHECK(ran == "ab ");
  CHECK(executor.NextTimer() == Time(Millis(1010)));
  CHECK_FALSE(executor.RunDue());
  clock.Set(Time(Millis(1025)));
  CHECK(executor.RunDue());
  CHECK(ran == "ab early late ");
  CHECK(executor.NextTimer() == Time{});
}

TEST_CASE("the clock follows the machine's, but for its jumps back") {
  using std::chrono::seconds;
  const Time start(seconds(1'000'000));
  ForwardTime time;
  CHECK(time.Read(start, seconds(50)) == start);
  CHECK(time.Read(start + seconds(10), seconds(60)) == start + seconds(10));
  // An hour ahead, as after a machine slept.
  const Time ahead = start + seconds(3'610);
  CHECK(time.Read(ahead, seconds(60)) == ahead);
  // An hour back: it goes on, slower, until they meet.
  CHECK(time.Read(ahead - seconds(3'600), seconds(60)) == ahead);
  CHECK(time.Read(ahead - seconds(3'500), seconds(160)) == ahead + seconds(90));
  CHECK(time.Read(ahead, seconds(3'660)) == ahead + seconds(3'240));
  CHECK(time.Read(ahead + seconds(32'400), seconds(36'060)) == ahead + seconds(32'400));
  CHECK(time.Read(ahead + seconds(32'401), seconds(36'061)) == ahead + seconds(32'401));
}

TEST_CASE("executor runs on one thread what others post and stops") {
  const SystemClock clock;
  Executor executor(clock);
  std::thread::id runner;
  int count = 0;
  std::thread poster([&] {
    for (int i = 0; i < 100; ++i) {
      executor.Post([&] { ++count; });
    }
    executor.Post([&] {
      runner = std::this_thread::get_id();
      executor.PostAfter(Millis(1), [&] { executor.Stop(); });
    });
  });
  executor.Run();
  poster.join();
  CHECK(count == 100);
  CHECK(runner == std::this_thread::get_id());
}

}  // namespace
}  // namespace caldera
