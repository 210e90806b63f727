#include <algorithm>
#include <array>
#include <limits>

#include "federation/intake_pod.h"
#include "federation/intake_read.h"

namespace caldera {
namespace {

constexpr int64_t kPortMax = 65535;

bool IsPortName(std::string_view name) {
  const bool plain = std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
  });
  const bool letter =
      std::any_of(name.begin(), name.end(), [](char c) { return c >= 'a' && c <= 'z'; });
  return plain && letter && name.size() <= 15 && name.front() != '-' && name.back() != '-' &&
         name.find("--") == std::string_view::npos;
}

void CheckPort(const Field& port) {
  if (const auto number = NumberOf(port); number.has_value()) {
    CheckRange(port, 1, kPortMax);
  } else if (port.Present() && port.value()->IsString() && !IsPortName(TextOf(port))) {
    port.Refuse("must be a number from 1 to 65535 or the name of a port");
  }
}

void CheckHttp(const Field& http) {
  CheckPort(http["port"]);
  CheckChoice(http["scheme"], {"HTTP", "HTTPS"});
  for (const Field& header : ItemsOf(http["httpHeaders"])) {
    const std::string_view name = TextOf(header["name"]);
    const bool plain = std::all_of(name.begin(), name.end(), [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-';
    });
    if (name.empty() || !plain) {
      header["name"].Refuse("must be the name of an HTTP header: letters, digits and '-'");
    }
  }
}

// What a probe or a hook does: exactly one of the kinds.
void CheckHandler(const Field& handler, std::initializer_list<std::string_view> kinds,
                  const PodParts& parts) {
  int given = 0;
  for (const std::string_view kind : kinds) {
    given += handler[kind].Present() ? 1 : 0;
  }
  if (given != 1) {
    handler.Refuse("must have one of " + OneOf(kinds));
  }
  if (IsMap(handler["exec"]) && ItemsOf(handler["exec"]["command"]).empty()) {
    handler["exec"]["command"].Refuse("is required: the command and its arguments");
  }
  if (IsMap(handler["httpGet"])) {
    CheckHttp(handler["httpGet"]);
  }
  if (IsMap(handler["tcpSocket"])) {
    CheckPort(handler["tcpSocket"]["port"]);
  }
  const bool has_grpc = std::find(kinds.begin(), kinds.end(), "grpc") != kinds.end();
  if (has_grpc && IsMap(handler["grpc"])) {
    CheckRange(handler["grpc"]["port"], 1, kPortMax);
  }
  if (!has_grpc && IsMap(handler["sleep"])) {
    CheckRange(handler["sleep"]["seconds"], 1, parts.grace_seconds);
  }
}

bool IsSignal(std::string_view name) {
  constexpr std::array<std::string_view, 36> kSignals = {
      "SIGABRT", "SIGALRM", "SIGBUS",   "SIGCHLD",   "SIGCLD",  "SIGCONT", "SIGFPE",    "SIGHUP",
      "SIGILL",  "SIGINT",  "SIGIO",    "SIGIOT",    "SIGKILL", "SIGPIPE", "SIGPOLL",   "SIGPROF",
      "SIGPWR",  "SIGQUIT", "SIGSEGV",  "SIGSTKFLT", "SIGSTOP", "SIGSYS",  "SIGTERM",   "SIGTRAP",
      "SIGTSTP", "SIGTTIN", "SIGTTOU",  "SIGURG",    "SIGUSR1", "SIGUSR2", "SIGVTALRM", "SIGWINCH",
      "SIGXCPU", "SIGXFSZ", "SIGRTMIN", "SIGRTMAX"};
  if (std::find(kSignals.begin(), kSignals.end(), name) != kSignals.end()) {
    return true;
  }
  // SIGRTMIN+1 to +15, SIGRTMAX-1 to -14.
  for (int i = 1; i <= 15; ++i) {
    if (name == "SIGRTMIN+" + std::to_string(i) ||
        (i <= 14 && name == "SIGRTMAX-" + std::to_string(i))) {
      return true;
    }
  }
  return false;
}

}  // namespace

void CheckProbe(const Field& probe, std::string_view kind, const PodParts& parts) {
  if (!IsMap(probe)) {
    return;
  }
  CheckHandler(probe, {"exec", "httpGet", "tcpSocket", "grpc"}, parts);
  constexpr int64_t kMax = std::numeric_limits<int32_t>::max();
  for (const char* const key :
       {"initialDelaySeconds", "timeoutSeconds", "periodSeconds", "failureThreshold"}) {
    CheckRange(probe[key], 0, kMax);
  }
  // 0 stands for the default, which is 1.
  CheckRange(probe["successThreshold"], 0, kind == "readiness" ? kMax : 1);
  const Field grace = probe["terminationGracePeriodSeconds"];
  if (grace.Present() && kind == "readiness") {
    grace.Refuse("must not be set for a readiness probe");
  } else {
    CheckRange(grace, 1, std::numeric_limits<int64_t>::max());
  }
}

void CheckLifecycle(const Field& lifecycle, const PodParts& parts) {
  if (!IsMap(lifecycle)) {
    return;
  }
  for (const char* const hook : {"postStart", "preStop"}) {
    if (IsMap(lifecycle[hook])) {
      CheckHandler(lifecycle[hook], {"exec", "httpGet", "tcpSocket", "sleep"}, parts);
    }
  }
  const Field signal = lifecycle["stopSignal"];
  if (!signal.Present()) {
    return;
  }
  if (parts.os.empty()) {
    signal.Refuse("must not be set where spec.os.name is not");
  } else if (parts.os == "windows") {
    CheckChoice(signal, {"SIGKILL", "SIGTERM"}, true);
  } else if (!IsSignal(TextOf(signal))) {
    signal.Refuse("is no signal: SIGTERM is");
  }
}

}  // namespace caldera
