// How every room reports failure: a value or an Error, never an exception of ours.
// `code` says what the caller should do; `message` says what happened, and grows context on the way
// up ("cluster east: list jobs: timed out"). Values: no ownership, any thread.
#pragma once

#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace caldera {

/// What the caller does about it, not where it came from.
enum class ErrorCode {
  kInvalid,      ///< The input is wrong: tell the user, do not retry.
  kNotFound,     ///< The thing named does not exist.
  kConflict,     ///< Somebody else changed it: read again, then decide.
  kUnavailable,  ///< Not now: retry with backoff.
  kExpired,      ///< What was read is too old: list again.
  kCorrupt,      ///< Stored data cannot be trusted: stop and say so.
  kInternal,     ///< A fault of ours.
};

struct Error {
  ErrorCode code = ErrorCode::kInternal;
  std::string message;

  /// The same error with "context: " before its message.
  [[nodiscard]] Error Within(const std::string& context) const {
    return {code, context + ": " + message};
  }
};

template <typename T>
using Result = tl::expected<T, Error>;
using Status = Result<void>;

/// `return Fail(ErrorCode::kInvalid, "...")` from any function that returns a Result.
inline tl::unexpected<Error> Fail(ErrorCode code, std::string message) {
  return tl::unexpected<Error>(Error{code, std::move(message)});
}

/// True where the same call may succeed later without a change of input.
constexpr bool Retryable(ErrorCode code) { return code == ErrorCode::kUnavailable; }

}  // namespace caldera

// NOLINTBEGIN(bugprone-macro-parentheses): `decl` declares a variable and `tmp` names one.
// CALDERA_TRY(auto x, F()): x = the value of F(), or return F()'s error from here.
#define CALDERA_CONCAT_INNER(a, b) a##b
#define CALDERA_CONCAT(a, b) CALDERA_CONCAT_INNER(a, b)
#define CALDERA_TRY_NAMED(tmp, decl, expr)                           \
  auto tmp = (expr);                                                 \
  if (!tmp.has_value()) {                                            \
    return tl::unexpected<::caldera::Error>(std::move(tmp).error()); \
  }                                                                  \
  decl = *std::move(tmp)
#define CALDERA_TRY(decl, expr) \
  CALDERA_TRY_NAMED(CALDERA_CONCAT(caldera_try_, __COUNTER__), decl, expr)
// CALDERA_CHECK(F()): return F()'s error from here, if it has one.
#define CALDERA_CHECK_NAMED(tmp, expr)                               \
  if (auto tmp = (expr); !tmp.has_value()) {                         \
    return tl::unexpected<::caldera::Error>(std::move(tmp).error()); \
  }                                                                  \
  static_assert(true)
#define CALDERA_CHECK(expr) CALDERA_CHECK_NAMED(CALDERA_CONCAT(caldera_check_, __COUNTER__), expr)
// NOLINTEND(bugprone-macro-parentheses)
