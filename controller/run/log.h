// The controller's log: one line an event, a message and fields, as key=value or as JSON, to
// standard error. Any thread.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "controller/run/config.h"

namespace caldera {

enum class LogLevel : uint8_t { kDebug, kInfo, kWarn, kError };
/// Values are quoted where they need it. Names in camelCase, as in the API.
using LogFields = std::initializer_list<std::pair<std::string_view, std::string>>;

/// Once, before the first line; without it lines go out as text from info on.
void StartLog(const LogConfig& config);
void Log(LogLevel level, std::string_view message, LogFields fields = {});

/// One line without level and time, as it would be printed; for tests.
std::string FormatLogLine(bool json, std::string_view message, LogFields fields);

}  // namespace caldera
