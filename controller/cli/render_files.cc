#include "controller/cli/render_files.h"

#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <optional>
#include <system_error>

#include "controller/kube/yaml_writer.h"
#include "controller/run/queue_works.h"
#include "federation/assert.h"
#include "federation/children.h"
#include "federation/render.h"

namespace caldera {
namespace {

Status WriteFile(const std::filesystem::path& path, const std::string& text) {
  errno = 0;
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out << text;
  out.close();
  if (!out) {
    return Fail(ErrorCode::kUnavailable,
                path.string() + ": cannot be written: " +
                    std::error_code(errno, std::generic_category()).message());
  }
  return {};
}

std::optional<Carrier> QueueOf(const Action& action, const State& after) {
  const JobIndex job = after.FindJob(action.job, action.uid);
  CALDERA_ASSERT(job != kNoIndex);
  return MakeWavesCarrier(after, after.job(job));
}

}  // namespace

Status PrepareFolder(const std::string& directory) {
  std::error_code failure;
  std::filesystem::create_directories(directory, failure);
  if (failure) {
    return Fail(ErrorCode::kUnavailable,
                directory + ": cannot be made a folder: " + failure.message());
  }
  if (access(directory.c_str(), W_OK | X_OK) != 0) {
    return Fail(ErrorCode::kUnavailable,
                directory + ": no files can be made in this folder: " +
                    std::error_code(errno, std::generic_category()).message());
  }
  return {};
}

Result<size_t> RenderFiles(const Plan& plan, const std::map<JobKey, KeptJob>& jobs,
                           const RenderTarget& target) {
  const std::filesystem::path directory(target.directory);
  size_t written = 0;
  int64_t intent = target.first_intent;
  for (const Action& action : plan.actions) {
    if (action.action == ActionKind::kEvict) {
      ++intent;
      continue;
    }
    const auto job = jobs.find(action.job);
    CALDERA_ASSERT(job != jobs.end());
    ShardContext context;
    context.job_uid = action.uid;
    context.all_shards = action.shards;
    context.rendezvous = job->second.rendezvous;
    context.intent = intent++;
    for (const Shard& shard : action.shards) {
      context.restore_from = shard.epoch > 1 ? job->second.checkpoint : "";
      CALDERA_TRY(const Value rendered, RenderShardJob(job->second.document, context));
      const std::string name =
          action.job.ns + "." + MemberJobName(action.job.name, shard.child) + "." + shard.cluster;
      CALDERA_CHECK(WriteFile(directory / (name + ".yaml"),
                              WriteYaml(target.works ? RenderWork(rendered, context) : rendered)));
      ++context.index;
      ++written;
      const auto queue = target.works ? QueueOf(action, *target.after) : std::nullopt;
      if (queue.has_value()) {
        CALDERA_CHECK(
            WriteFile(directory / (name + ".queue.yaml"), WriteYaml(RenderCarrier(*queue))));
        ++written;
      }
    }
  }
  return written;
}

}  // namespace caldera
