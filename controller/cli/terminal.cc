#include "controller/cli/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <cstring>

namespace caldera {
namespace {

constexpr size_t kNarrowest = 40;

// Read once at start, before any thread exists.
std::string_view Environment(const char* name) {
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe)
  return value == nullptr ? std::string_view{} : std::string_view{value};
}

size_t WidthOf(int descriptor, bool terminal) {
  winsize size{};
  if (terminal && ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
    return size.ws_col;
  }
  const std::string_view columns = Environment("COLUMNS");
  size_t width = 0;
  std::from_chars(columns.data(), columns.data() + columns.size(), width);
  return width;
}

const char* CodeOf(Paint paint) {
  switch (paint) {
    case Paint::kPlain:
      return "";
    case Paint::kBold:
      return "\x1b[1m";
    case Paint::kDim:
      return "\x1b[2m";
    case Paint::kGreen:
      return "\x1b[32m";
    case Paint::kYellow:
      return "\x1b[33m";
    case Paint::kRed:
      return "\x1b[31m";
    case Paint::kCyan:
      return "\x1b[36m";
  }
  return "";
}

}  // namespace

Terminal Terminal::Of(std::FILE* stream) {
  const int descriptor = fileno(stream);
  const bool terminal = isatty(descriptor) == 1;
  Terminal result;
  result.colour = terminal && Environment("NO_COLOR").empty() && Environment("TERM") != "dumb";
  result.width = WidthOf(descriptor, terminal);
  if (result.width != 0 && result.width < kNarrowest) {
    result.width = kNarrowest;
  }
  return result;
}

std::string Terminal::Painted(std::string_view text, Paint paint) const {
  if (!colour || paint == Paint::kPlain || text.empty()) {
    return std::string(text);
  }
  return std::string(CodeOf(paint)).append(text).append("\x1b[0m");
}

size_t DisplayWidth(std::string_view text) {
  size_t width = 0;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    width += (byte & 0xC0U) != 0x80U ? 1 : 0;
  }
  return width;
}

std::string Harmless(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\n' || c == '\t') {
      result += ' ';
    } else {
      result += byte < 0x20 || byte == 0x7F ? '?' : c;
    }
  }
  return result;
}

}  // namespace caldera
