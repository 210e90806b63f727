#include "controller/kube/api_status.h"

#include <algorithm>
#include <charconv>
#include <ctime>
#include <string>

#include "controller/kube/json_reader.h"

namespace caldera {
namespace {

constexpr Millis kLongestRetryAfter{300'000};
constexpr size_t kLongestMessage = 512;

ErrorCode CodeOf(int status) {
  switch (status) {
    case 404:
      return ErrorCode::kNotFound;
    case 409:
      return ErrorCode::kConflict;
    case 410:
      return ErrorCode::kExpired;
    case 401:
    case 408:
    case 429:
      return ErrorCode::kUnavailable;
    default:
      return status >= 400 && status < 500 ? ErrorCode::kInvalid : ErrorCode::kUnavailable;
  }
}

bool TooLarge(const HttpResponse& response) {
  return response.body.find("request is too large") != std::string::npos ||
         response.body.find("Request entity too large") != std::string::npos;
}

// The message of a metav1.Status body, else the body itself.
std::string MessageOf(const HttpResponse& response) {
  std::string message = response.body;
  if (const auto body = ParseJson(response.body)) {
    if (const Value* text = body->Find("message"); text != nullptr && text->IsString()) {
      message = text->AsString();
    }
  }
  if (message.size() > kLongestMessage) {
    message.resize(kLongestMessage);
    message += "...";
  }
  return message;
}

}  // namespace

Error ErrorOf(const HttpResponse& response) {
  const ErrorCode code = TooLarge(response) ? ErrorCode::kInvalid : CodeOf(response.status);
  const std::string message = MessageOf(response);
  return {code,
          "HTTP " + std::to_string(response.status) + (message.empty() ? "" : ": " + message)};
}

bool WorthRepeating(const HttpResponse& response) {
  switch (response.status) {
    case 401:
    case 429:
    case 500:
    case 502:
    case 503:
    case 504:
      return !TooLarge(response);
    default:
      return false;
  }
}

std::optional<Millis> RetryAfter(const HttpResponse& response, Time now) {
  const auto header = response.headers.find("retry-after");
  if (header == response.headers.end()) {
    return std::nullopt;
  }
  const std::string& text = header->second;
  int64_t seconds = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (error == std::errc() && stop == text.data() + text.size()) {
    const int64_t bounded = std::clamp<int64_t>(seconds, 0, kLongestRetryAfter.count() / 1000);
    return Millis(bounded * 1000);
  }
  std::tm date{};
  const char* rest = strptime(text.c_str(), "%a, %d %b %Y %H:%M:%S GMT", &date);
  if (rest == nullptr || *rest != '\0') {
    return std::nullopt;
  }
  const Time at{std::chrono::seconds(timegm(&date))};
  return std::clamp(at - now, Millis{0}, kLongestRetryAfter);
}

}  // namespace caldera
