#include "controller/cli/messages.h"

#include <unistd.h>

#include <iostream>

#include "controller/cli/command.h"
#include "controller/cli/terminal.h"

namespace caldera {

int PrintUnusable(const std::string& command, const Error& error) {
  const Terminal terminal = Terminal::Of(stderr);
  size_t at = 0;
  while (at <= error.message.size()) {
    const size_t end = std::min(error.message.find('\n', at), error.message.size());
    std::cerr << terminal.Painted("caldera " + command + ": ", Paint::kRed)
              << Harmless(error.message.substr(at, end - at)) << "\n";
    at = end + 1;
  }
  return kExitUnusable;
}

void PrintSkipped(const std::map<std::string, size_t>& skipped) {
  for (const auto& [kind, count] : skipped) {
    std::cerr << "skipped " << count << (count == 1 ? " object" : " objects") << " of kind "
              << Harmless(kind) << ": Caldera does not read it\n";
  }
}

std::function<void(size_t)> ProgressLine() {
  const Terminal terminal = Terminal::Of(stderr);
  if (!terminal.colour || isatty(STDERR_FILENO) != 1) {
    return {};
  }
  return [](size_t objects) {
    std::cerr << "\r\x1b[K";
    if (objects != 0) {
      std::cerr << "read " << objects << " objects";
    }
    std::cerr.flush();
  };
}

}  // namespace caldera
