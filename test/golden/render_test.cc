// Every Job of the golden answers that is accepted, rendered for a whole placement and for a split
// one: what is sent must pass intake again, whole, and intake must have nothing to add to it.
#include "federation/render.h"

#include <doctest/doctest.h>

#include <variant>

#include "test/golden/compare.h"

using namespace caldera;

namespace {

std::vector<Value> AcceptedJobs() {
  std::vector<Value> jobs;
  for (const char* const file : {"volcano-admission.jsonl", "generated-admission.jsonl"}) {
    for (const Document& document : GoldenDocuments(file)) {
      if (document.root.Find("accepted")->AsBool()) {
        jobs.push_back(*document.root.Find("job"));
      }
    }
  }
  return jobs;
}

// The job in one shard, or each partition or pod in turn in the first and the second of two.
ShardContext Spread(const Job& job, size_t shards) {
  ShardContext context;
  context.job_uid = job.uid;
  context.all_shards.resize(shards);
  for (size_t i = 0; i < shards; ++i) {
    Shard& shard = context.all_shards[i];
    shard.cluster = "east-" + std::to_string(i);
    for (const Task& task : job.tasks) {
      const int32_t atom = task.partition.total > 0 ? task.partition.size : 1;
      const int32_t atoms = task.replicas / atom;
      const int32_t own = shards == 1 ? atoms : (i == 0 ? atoms - atoms / 2 : atoms / 2);
      TaskGrant grant{task.name, own * atom, own * atom};
      if (shards == 1) {
        grant.min_available = task.min_available;
      }
      shard.tasks.push_back(grant);
      shard.min_available += grant.min_available;
    }
    if (shards == 1) {
      shard.min_available = job.min_available;
    }
  }
  return context;
}

}  // namespace

TEST_CASE("render: every accepted job is accepted again, with nothing to default") {
  size_t rendered_jobs = 0;
  for (const Value& manifest : AcceptedJobs()) {
    const Intake first = TakeObject({"golden", 0, manifest}, Strictness::kNew, Time{});
    REQUIRE(first.change.has_value());
    const Job& job = std::get<JobUpsert>(*first.change).job;
    for (const size_t shards : {size_t{1}, size_t{2}}) {
      ShardContext context = Spread(job, shards);
      for (size_t i = 0; i < shards; ++i) {
        context.index = static_cast<int32_t>(i);
        const Value rendered = *RenderShardJob(first.defaulted, context);
        const Intake second = TakeObject({"rendered", 0, rendered}, Strictness::kNew, Time{});
        INFO(first.object, " shard ", i, " of ", shards, " ", rendered.Find("spec")->Brief());
        CHECK_MESSAGE(second.errors.empty(), Said(second));
        CHECK(second.defaulted == rendered);
        ++rendered_jobs;
      }
    }
  }
  CHECK(rendered_jobs > 1000);
}
