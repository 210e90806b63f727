// The way to a running controller: GET /ledger with the arguments as they were typed.
#include <map>
#include <optional>

#include "controller/cli/ask.h"
#include "controller/cli/command.h"
#include "controller/kube/credentials.h"
#include "controller/kube/executor.h"
#include "controller/kube/kubeconfig.h"
#include "controller/kube/rest_transport.h"

namespace caldera {
namespace {

constexpr Millis kLongestWait{60'000};

ErrorCode CodeOf(int status) {
  switch (status) {
    case 400:
      return ErrorCode::kInvalid;
    case 404:
      return ErrorCode::kNotFound;
    default:
      return ErrorCode::kUnavailable;
  }
}

Result<Printed> Understood(const std::string& server, const HttpResponse& response) {
  const auto kind = response.headers.find("content-type");
  const bool ours =
      kind != response.headers.end() && kind->second.find("caldera") != std::string::npos;
  if (!ours) {
    return Fail(ErrorCode::kInvalid, server + " answers with status " +
                                         std::to_string(response.status) +
                                         ", but not as a controller: is it listen.address and "
                                         "listen.port of caldera-controller?");
  }
  if (response.status == 200 || response.status == 409) {
    return Printed{response.body, response.status == 200 ? kExitOk : kExitRefused};
  }
  return Fail(CodeOf(response.status), response.body);
}

}  // namespace

Result<Printed> AskServer(const std::string& server, const std::vector<std::string>& arguments,
                          const Terminal& terminal) {
  RestConfig config;
  config.server = server;
  while (config.server.ends_with('/')) {
    config.server.pop_back();
  }
  if (const Status usable = CheckServer(config.server); !usable.has_value()) {
    return tl::unexpected<Error>(usable.error().Within("--server " + server));
  }
  HttpRequest request;
  request.path = "/ledger";
  for (const std::string& argument : arguments) {
    request.query.emplace_back("arg", argument);
  }
  request.query.emplace_back("width", std::to_string(terminal.width));
  request.query.emplace_back("colour", terminal.colour ? "true" : "false");

  PrepareRestLibrary();
  const SystemClock clock;
  Executor executor(clock);
  RestTransportOptions options;
  options.request_timeout = kLongestWait;
  CALDERA_TRY(const auto transport, RestTransport::Create(config, executor, options));
  std::optional<Result<HttpResponse>> response;
  transport->Send(std::move(request), [&](Result<HttpResponse> answer) {
    response = std::move(answer);
    executor.Stop();
  });
  executor.Run();
  if (!response->has_value()) {
    return tl::unexpected<Error>(response->error().Within("--server " + server));
  }
  return Understood(server, **response);
}

}  // namespace caldera
