#include "federation/lane_fifo.h"

#include <doctest/doctest.h>

#include <numeric>
#include <random>

#include "federation/tally.h"

namespace caldera {
namespace {

std::vector<uint32_t> List(const LaneFifo& fifo) {
  std::vector<uint32_t> jobs;
  for (LaneFifo::Cursor at; !fifo.AtEnd(at); at = fifo.Next(at)) {
    jobs.push_back(fifo.At(at).job);
  }
  return jobs;
}

TEST_CASE("lane fifo: oldest first whatever the order of arrival and over many chunks") {
  // Creation goes with job / 3, so that ties happen; the larger number is the smaller uid.
  const auto settle = [](uint32_t a, uint32_t b) { return a > b; };
  const auto item = [](uint32_t job) { return LaneFifo::Item{Time(Millis(job / 3)), job, 0}; };
  std::vector<uint32_t> jobs(5000);
  std::iota(jobs.begin(), jobs.end(), 0U);
  std::vector<uint32_t> expected;
  for (uint32_t job = 0; job < 4998; job += 3) {
    expected.insert(expected.end(), {job + 2, job + 1, job});
  }
  expected.insert(expected.end(), {4999, 4998});
  std::mt19937 random(3);
  for (const bool shuffled : {false, true}) {
    if (shuffled) {
      std::shuffle(jobs.begin(), jobs.end(), random);
    }
    LaneFifo fifo;
    for (const uint32_t job : jobs) {
      fifo.Insert(item(job), settle);
    }
    CHECK(fifo.size() == 5000);
    CHECK(List(fifo) == expected);
    for (const uint32_t job : jobs) {
      if (job % 7 != 0) {
        fifo.Erase(item(job), settle);
      }
    }
    std::vector<uint32_t> rest;
    std::copy_if(expected.begin(), expected.end(), std::back_inserter(rest),
                 [](uint32_t job) { return job % 7 == 0; });
    CHECK(List(fifo) == rest);
    for (uint32_t job = 0; job < 5000; job += 7) {
      fifo.Erase(item(job), settle);
    }
    CHECK(fifo.empty());
    CHECK(fifo.AtEnd({}));
  }
}

TEST_CASE("tally: what was added and taken away leaves nothing and however large") {
  ResourceVector huge;
  huge.Set(0, kUnlimited);
  huge.Set(2, kUnlimited - 1);
  ResourceVector small;
  small.Set(0, 5);
  Tally tally;
  tally.Add(small);
  tally.Add(huge);
  tally.Add(huge);
  CHECK(tally[0] == kUnlimited);
  CHECK(tally[1] == 0);
  CHECK(tally[2] == kUnlimited);
  tally.Subtract(huge);
  tally.Subtract(huge);
  CHECK(tally.ToVector() == small);
  tally.Subtract(small);
  CHECK(tally.IsZero());
}

}  // namespace
}  // namespace caldera
