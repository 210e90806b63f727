// The command lines of the benchmark programs: words in fixed places, `--smoke` at the end where a
// program has a small run. Anything else gets the usage, so that `--help` writes no file of that
// name.
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace caldera::bench {

struct Arguments {
  std::vector<std::string> words;  ///< Without the program's name and --smoke.
  bool smoke = false;
};

enum class SmallRun { kNone, kSmoke };

/// Nothing where the number of words is not from `least` to `most` or one of them is an option.
inline std::optional<Arguments> ReadArguments(int argc, char** argv, size_t least, size_t most,
                                              SmallRun small = SmallRun::kNone) {
  Arguments arguments{{argv + 1, argv + argc}, false};
  if (small == SmallRun::kSmoke && !arguments.words.empty() &&
      arguments.words.back() == "--smoke") {
    arguments.smoke = true;
    arguments.words.pop_back();
  }
  for (const std::string& word : arguments.words) {
    if (word.empty() || word.front() == '-') {
      return std::nullopt;
    }
  }
  if (arguments.words.size() < least || arguments.words.size() > most) {
    return std::nullopt;
  }
  return arguments;
}

/// A whole number above 0, else 0.
inline int64_t Positive(const std::string& word) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  return error == std::errc() && end == word.data() + word.size() && number > 0 ? number : 0;
}

}  // namespace caldera::bench
