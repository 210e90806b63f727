// What commands say on stderr, apart from their result: why the input cannot be used, what was
// skipped, how far they are.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "federation/result.h"

namespace caldera {

/// `caldera plan: message`, each further line of the message on its own; returns kExitUnusable.
int PrintUnusable(const std::string& command, const Error& error);

/// One line a kind that was skipped, with how many there were.
void PrintSkipped(const std::map<std::string, size_t>& skipped);

/// Where stderr is a terminal, a function that shows a line which the next one overwrites (0 wipes
/// it); else none.
std::function<void(size_t)> ProgressLine();

}  // namespace caldera
