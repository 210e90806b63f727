#include "controller/kube/yaml_chunks.h"

namespace caldera {
namespace {

bool IsMarker(std::string_view line, std::string_view marker) {
  if (!line.starts_with(marker)) {
    return false;
  }
  return line.size() == marker.size() ||
         std::string_view(" \t\r").find(line[marker.size()]) != std::string_view::npos;
}

bool IsBlankOrComment(std::string_view line) {
  const size_t first = line.find_first_not_of(" \t\r");
  return first == std::string_view::npos || line[first] == '#';
}

}  // namespace

std::vector<YamlChunk> SplitYaml(std::string_view text) {
  std::vector<YamlChunk> chunks;
  size_t start = 0;
  uint32_t start_line = 0;
  uint32_t line_number = 0;
  bool content = false;     // Anything but blanks, comments and directives in this piece.
  bool directives = false;  // Only directives so far: the next --- belongs to them.
  bool opened = false;      // A --- has been in this piece: no directive may come.
  size_t stray = std::string_view::npos;
  const auto close = [&](size_t end, uint32_t next_line) {
    if (content || directives) {
      chunks.push_back({text.substr(start, end - start), start_line, stray});
    }
    start = end;
    start_line = next_line;
    content = false;
    directives = false;
    opened = false;
    stray = std::string_view::npos;
  };
  size_t at = 0;
  while (at < text.size()) {
    const size_t newline = text.find('\n', at);
    const size_t next = newline == std::string_view::npos ? text.size() : newline + 1;
    std::string_view line = text.substr(at, next - at);
    if (line.ends_with('\n')) {
      line.remove_suffix(1);
    }
    if (IsMarker(line, "---")) {
      if (content || !directives) {
        close(at, line_number);
      }
      directives = false;
      opened = true;
      content = !IsBlankOrComment(line.substr(3));
    } else if (IsMarker(line, "...")) {
      close(next, line_number + 1);
    } else if (line.starts_with('%') && !content && !opened) {
      directives = true;
    } else if (line.starts_with('%')) {
      stray = stray == std::string_view::npos ? at - start : stray;
      content = true;
    } else if (!IsBlankOrComment(line)) {
      content = true;
    }
    at = next;
    ++line_number;
  }
  close(text.size(), line_number);
  return chunks;
}

}  // namespace caldera
