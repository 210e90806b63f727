#include "controller/cli/terminal.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <cstring>

#include "federation/excerpt.h"

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

/// Of one UTF-8 character.
uint32_t CodePoint(std::string_view character) {
  const auto lead = static_cast<unsigned char>(character.front());
  if (character.size() == 1) {
    return lead;
  }
  uint32_t point = lead & (0x7FU >> character.size());
  for (const char c : character.substr(1)) {
    point = point << 6U | (static_cast<unsigned char>(c) & 0x3FU);
  }
  return point;
}

/// Changes what a terminal shows elsewhere, or is not to be seen itself.
bool Steers(uint32_t point) {
  struct Range {
    uint32_t first;
    uint32_t last;
  };
  constexpr std::array<Range, 9> kRanges = {{
      {0x00, 0x1F},        // C0
      {0x7F, 0x9F},        // DEL, C1
      {0xAD, 0xAD},        // soft hyphen
      {0x061C, 0x061C},    // Arabic letter mark
      {0x200B, 0x200F},    // zero width, direction marks
      {0x2028, 0x202E},    // line and paragraph separator, embeddings and overrides
      {0x2060, 0x2069},    // word joiner, isolates
      {0xFEFF, 0xFEFF},    // byte order mark
      {0xE0000, 0xE007F},  // tags
  }};
  return std::any_of(kRanges.begin(), kRanges.end(), [point](const Range& range) {
    return range.first <= point && point <= range.last;
  });
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
  while (!text.empty()) {
    const size_t length = Utf8Length(text);
    if (length == 0) {
      result += fmt::format("\\x{:02x}", static_cast<unsigned char>(text.front()));
    } else if (text.front() == '\n' || text.front() == '\t') {
      result += ' ';
    } else if (const uint32_t point = CodePoint(text.substr(0, length)); Steers(point)) {
      result += fmt::format("\\u{:04x}", point);
    } else {
      result += text.substr(0, length);
    }
    text.remove_prefix(std::max<size_t>(length, 1));
  }
  return result;
}

}  // namespace caldera
