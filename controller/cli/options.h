// Options that several commands share, spelled and explained the same way everywhere.
#pragma once

#include <string>
#include <vector>

#include "controller/cli/section_writer.h"

namespace CLI {
class App;
}  // namespace CLI

namespace caldera {

/// `-f, --filename`, repeatable, required.
void AddInputs(CLI::App& command, std::vector<std::string>& inputs);

/// `-o, --output`, one of `choices` (`table|json|yaml`), `table` where it is not given.
void AddOutput(CLI::App& command, std::string& output, const std::string& choices);

/// Refuses an empty text: an unset variable of a shell must not mean that the option is absent.
std::string CheckNotEmpty(const std::string& text);

Format FormatOf(const std::string& output);

}  // namespace caldera
