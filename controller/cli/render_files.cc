#include "controller/cli/render_files.h"

#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "controller/kube/yaml_writer.h"
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
    }
  }
  return written;
}

}  // namespace caldera
