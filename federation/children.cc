#include "federation/children.h"

#include <algorithm>
#include <charconv>

namespace caldera {

std::string ChildName(const ReplicatedJob& job, int64_t index) {
  return job.name + "-" + std::to_string(index);
}

std::string MemberJobName(const std::string& job, const std::string& child) {
  return child.empty() ? job : job + "-" + child;
}

std::string TemplateOf(const std::string& child) { return child.substr(0, child.rfind('-')); }

std::string_view MemberTask(std::string_view task) { return task.substr(task.find('/') + 1); }

std::string TaskOfChild(const std::string& child, const std::string& task) {
  return child.empty() ? task : TemplateOf(child) + "/" + task;
}

bool IsChildJob(const JobSpec& spec, const std::string& job, std::string_view name) {
  if (!name.starts_with(job + "-")) {
    return false;
  }
  const std::string_view child = name.substr(job.size() + 1);
  return std::any_of(
      spec.replicated_jobs.begin(), spec.replicated_jobs.end(), [&](const ReplicatedJob& each) {
        if (!child.starts_with(each.name + "-")) {
          return false;
        }
        const std::string_view digits = child.substr(each.name.size() + 1);
        int64_t index = -1;
        const auto [end, error] =
            std::from_chars(digits.data(), digits.data() + digits.size(), index);
        return error == std::errc() && index >= 0 && end == digits.data() + digits.size() &&
               std::to_string(index) == digits && (each.divided || index < each.replicas);
      });
}

bool HasChildren(const JobSpec& spec) {
  return spec.kind == JobKind::kJob ||
         std::any_of(spec.replicated_jobs.begin(), spec.replicated_jobs.end(),
                     [](const ReplicatedJob& job) { return job.replicas > 0; });
}

}  // namespace caldera
