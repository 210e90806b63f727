#include "controller/run/log.h"

#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <atomic>

#include "controller/kube/json_writer.h"
#include "federation/document.h"

namespace caldera {
namespace {

// What StartLog set.
std::atomic<bool>& JsonLines() {
  static std::atomic<bool> json_lines{false};
  return json_lines;
}

spdlog::logger& Logger() {
  static const std::shared_ptr<spdlog::logger> kLogger = [] {
    auto logger = std::make_shared<spdlog::logger>(
        "caldera", std::make_shared<spdlog::sinks::stderr_color_sink_mt>());
    logger->set_pattern("time=%Y-%m-%dT%H:%M:%S.%eZ level=%l %v", spdlog::pattern_time_type::utc);
    return logger;
  }();
  return *kLogger;
}

spdlog::level::level_enum LevelOf(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug:
      return spdlog::level::debug;
    case LogLevel::kInfo:
      return spdlog::level::info;
    case LogLevel::kWarn:
      return spdlog::level::warn;
    case LogLevel::kError:
      break;
  }
  return spdlog::level::err;
}

// As Go's logfmt does it: a bare word stays bare, all else is a JSON string.
std::string Quoted(std::string_view text) {
  const bool bare = !text.empty() && text.find_first_of(" =\"\\") == std::string_view::npos &&
                    text.find_first_of("\n\r\t") == std::string_view::npos;
  return bare ? std::string(text) : WriteJson(Value(std::string(text)));
}

}  // namespace

void StartLog(const LogConfig& config) {
  JsonLines() = config.json;
  spdlog::logger& logger = Logger();
  logger.set_level(config.level == "error"  ? spdlog::level::err
                   : config.level == "warn" ? spdlog::level::warn
                                            : spdlog::level::from_str(config.level));
  if (config.json) {
    logger.set_pattern(R"({"time":"%Y-%m-%dT%H:%M:%S.%eZ","level":"%l",%v)",
                       spdlog::pattern_time_type::utc);
  }
}

std::string FormatLogLine(bool json, std::string_view message, LogFields fields) {
  if (json) {
    Value line{Value::Map{}};
    line.Set("message", std::string(message));
    for (const auto& [name, value] : fields) {
      line.Set(name, value);
    }
    return WriteJson(line).substr(1);
  }
  std::string line = "message=" + Quoted(message);
  for (const auto& [name, value] : fields) {
    line += " " + std::string(name) + "=" + Quoted(value);
  }
  return line;
}

void Log(LogLevel level, std::string_view message, LogFields fields) {
  const spdlog::level::level_enum spd_level = LevelOf(level);
  if (Logger().should_log(spd_level)) {
    Logger().log(spd_level, "{}", FormatLogLine(JsonLines(), message, fields));
  }
}

}  // namespace caldera
