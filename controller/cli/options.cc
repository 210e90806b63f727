#include "controller/cli/options.h"

#include <CLI/CLI.hpp>

namespace caldera {

void AddInputs(CLI::App& command, std::vector<std::string>& inputs) {
  command
      .add_option("-f,--filename", inputs,
                  "A file or a folder (read recursively) of YAML or JSON, - for standard input; "
                  "may be repeated")
      ->required()
      ->type_name("FILE|DIR|-")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

void AddOutput(CLI::App& command, std::string& output, const std::string& choices) {
  output = "table";
  command.add_option("-o,--output", output, "How to print the result (default: table)")
      ->type_name(choices)
      ->check(CLI::IsMember(CLI::detail::split(choices, '|')));
}

std::string CheckNotEmpty(const std::string& text) {
  return text.empty() ? "must not be empty" : "";
}

Format FormatOf(const std::string& output) {
  if (output == "json") {
    return Format::kJson;
  }
  if (output == "yaml") {
    return Format::kYaml;
  }
  return output == "wide" ? Format::kWide : Format::kTable;
}

}  // namespace caldera
