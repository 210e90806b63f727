// `caldera validate`: the intake alone, for a manifest in a review or a pipeline.
#include <CLI/CLI.hpp>
#include <chrono>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "controller/cli/command.h"
#include "controller/cli/contract.h"
#include "controller/cli/issue_text.h"
#include "controller/cli/manifests.h"
#include "controller/cli/messages.h"
#include "controller/cli/options.h"
#include "controller/cli/table.h"

namespace caldera {
namespace {

constexpr const char* kValidateExamples = R"(Examples:
  caldera validate -f job.yaml
  caldera validate -f manifests/ -o json | jq '.results[] | select(.accepted | not)'
  helm template chart/ | caldera validate -f -

What is accepted here, Volcano's admission accepts: the same defaults, the same checks.
Exit code: 0 all accepted, 1 one was refused, 2 unusable input.)";

struct ValidateOptions {
  std::vector<std::string> inputs;
  std::string output;
};

Value CountsValue(const std::map<std::string, int32_t>& counts) {
  Value::Map map;
  for (const auto& [name, count] : counts) {
    map.push_back({name, count, {}});
  }
  return {std::move(map)};
}

// As in the PodGroup that Volcano's controller makes.
Value SubGroupsValue(const std::vector<JobFacts::SubGroup>& groups) {
  Value::List list;
  for (const JobFacts::SubGroup& group : groups) {
    Value::Map map{{"name", group.name, {}},
                   {"subGroupSize", group.size, {}},
                   {"minSubGroups", group.minimum, {}}};
    if (Value topology = TopologyValue(group.topology); !topology.AsMap().empty()) {
      map.push_back({"networkTopology", std::move(topology), {}});
    }
    map.push_back(
        {"labelSelector",
         Value::Map{{"matchLabels", Value::Map{{"volcano.sh/task-spec", group.name, {}}}, {}}},
         {}});
    map.push_back({"matchLabelKeys", Value::List{"volcano.sh/partition-id"}, {}});
    list.emplace_back(std::move(map));
  }
  return {std::move(list)};
}

Value PerPodValue(const std::map<std::string, ResourceList>& per_pod) {
  Value::Map map;
  for (const auto& [task, request] : per_pod) {
    map.push_back({task, AmountsValue(request), {}});
  }
  return {std::move(map)};
}

// Every key for every kind: what only a Job has is empty for the others.
Value ResultValue(Intake& intake) {
  const bool accepted = intake.errors.empty();
  const JobFacts facts = intake.job.value_or(JobFacts{});
  return {
      Value::Map{{"object", intake.object, {}},
                 {"accepted", accepted, {}},
                 {"kind", intake.kind, {}},
                 {"errors", IssuesValue(intake.errors), {}},
                 {"warnings", IssuesValue(intake.warnings), {}},
                 {"defaulted", accepted ? std::move(intake.defaulted) : Value(Value::Map{}), {}},
                 {"minMember", facts.min_member, {}},
                 {"minTaskMember", CountsValue(facts.min_task_member), {}},
                 {"minResources", AmountsValue(facts.min_resources), {}},
                 {"subGroupPolicy", SubGroupsValue(facts.sub_groups), {}},
                 {"networkTopology", TopologyValue(facts.topology), {}},
                 {"demand",
                  Value::Map{{"perPod", PerPodValue(facts.per_pod), {}},
                             {"minimum", AmountsValue(facts.minimum), {}},
                             {"full", AmountsValue(facts.full), {}}},
                  {}}}};
}

void PrintContract(std::vector<Intake>& intakes, Format format) {
  SectionWriter writer(std::cout, format);
  writer.Member("apiVersion", "caldera.validate/v1");
  writer.BeginList("results");
  for (Intake& intake : intakes) {
    writer.Item(ResultValue(intake));
  }
  writer.EndList();
  writer.End();
}

std::string Count(size_t n, const std::string& noun) {
  return std::to_string(n) + " " + noun + (n == 1 ? "" : "s");
}

void PrintTable(const std::vector<Intake>& intakes) {
  const Terminal terminal = Terminal::Of(stdout);
  std::map<std::string, size_t> accepted;
  size_t refused = 0;
  for (const Intake& intake : intakes) {
    for (const Issue& issue : intake.errors) {
      std::cout << terminal.Painted("refused", Paint::kRed) << IssueText(issue, terminal, {});
    }
    for (const Issue& issue : intake.warnings) {
      std::cout << terminal.Painted("warning", Paint::kYellow) << IssueText(issue, terminal, {});
    }
    if (intake.errors.empty()) {
      ++accepted[intake.kind];
    } else {
      ++refused;
    }
  }
  std::string kinds;
  for (const auto& [kind, count] : accepted) {
    kinds += (kinds.empty() ? " (" : ", ") + std::to_string(count) + " " + kind;
  }
  kinds += kinds.empty() ? "" : ")";
  std::cout << terminal.Painted(Count(intakes.size() - refused, "object") + " accepted",
                                Paint::kGreen)
            << kinds << ", "
            << terminal.Painted(std::to_string(refused) + " refused",
                                refused == 0 ? Paint::kPlain : Paint::kRed)
            << "\n";
}

int Validate(const ValidateOptions& options) {
  ReadOptions read;
  read.inputs = options.inputs;
  read.strictness = Strictness::kNew;
  read.keep_intakes = true;
  read.now = std::chrono::floor<Millis>(std::chrono::system_clock::now());
  Result<Manifests> manifests = ReadManifests(read);
  if (!manifests.has_value()) {
    return PrintUnusable("validate", manifests.error());
  }
  PrintSkipped(manifests->skipped);
  if (manifests->objects == 0) {
    return PrintUnusable("validate",
                         {ErrorCode::kInvalid, "there is no object of a known kind in the input"});
  }
  const bool refused = !manifests->refused.empty();
  const Format format = FormatOf(options.output);
  if (format == Format::kTable) {
    PrintTable(manifests->intakes);
  } else {
    PrintContract(manifests->intakes, format);
  }
  return refused ? kExitRefused : kExitOk;
}

}  // namespace

void AddValidateCommand(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<ValidateOptions>();
  CLI::App* command =
      app.add_subcommand("validate", "Check manifests as the cluster's admission would");
  command->footer(kValidateExamples);
  AddInputs(*command, options->inputs);
  AddOutput(*command, options->output, "table|json|yaml");
  command->callback([options, &exit_code] { exit_code = Validate(*options); });
}

}  // namespace caldera
