#include "controller/run/ledger_endpoint.h"

#include <algorithm>
#include <charconv>
#include <future>
#include <utility>

namespace caldera {
namespace {

constexpr auto kLongest = std::chrono::seconds(10);
constexpr int64_t kRows = 100'000;
constexpr int64_t kBytes = int64_t{32} << 20U;
constexpr size_t kArguments = 64;
constexpr size_t kWidest = 1'000;
constexpr const char* kType = "text/vnd.caldera; charset=utf-8";

int StatusOf(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalid:
      return 400;
    case ErrorCode::kNotFound:
      return 404;
    case ErrorCode::kUnavailable:
      return 503;
    default:
      return 500;
  }
}

std::string FirstOf(const EndpointRequest& request, const std::string& name) {
  const auto found = request.query.find(name);
  return found == request.query.end() ? "" : found->second;
}

}  // namespace

EndpointAnswer LedgerEndpoint::Answer(const EndpointRequest& request) const {
  LedgerQuestionAsked question;
  const auto [first, last] = request.query.equal_range("arg");
  for (auto it = first; it != last; ++it) {
    question.arguments.push_back(it->second);
  }
  if (question.arguments.empty() || question.arguments.size() > kArguments) {
    return {400, kType, "ask as the program does: /ledger?arg=ledger&arg=queues"};
  }
  const std::string width = FirstOf(request, "width");
  std::from_chars(width.data(), width.data() + width.size(), question.width);
  question.width = std::min(question.width, kWidest);
  question.colour = FirstOf(request, "colour") == "true";
  const auto until = std::chrono::steady_clock::now() + kLongest;
  question.limits.give_up = [until, stopping = stopping_] {
    return *stopping || std::chrono::steady_clock::now() >= until;
  };
  question.limits.rows = kRows;
  question.limits.bytes = kBytes;
  Result<LedgerAnswer> answer = answer_(std::move(question));
  if (!answer.has_value()) {
    return {StatusOf(answer.error().code), kType, answer.error().message};
  }
  return {answer->exit_code == 0 ? 200 : 409, kType, std::move(answer->text)};
}

ShardPhases AskExecutor(Executor& executor, const std::function<ShardPhases()>& find,
                        std::chrono::milliseconds longest) {
  // Shared: the step may run after this has given up.
  const auto promise = std::make_shared<std::promise<ShardPhases>>();
  std::future<ShardPhases> found = promise->get_future();
  executor.Post([promise, find] { promise->set_value(find()); });
  return found.wait_for(longest) == std::future_status::ready ? found.get() : ShardPhases();
}

}  // namespace caldera
