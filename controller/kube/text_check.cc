#include "controller/kube/text_check.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

#include "federation/excerpt.h"

namespace caldera {
namespace {

constexpr std::string_view kBom = "\xEF\xBB\xBF";

unsigned Byte(std::string_view text, size_t i) {
  return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U;
}

std::string Hex(unsigned byte) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  return std::string("0x") + kDigits[byte >> 4U] + kDigits[byte & 15U];
}

// Eight printable ASCII bytes at once, the common case.
bool AllPlain(const char* bytes) {
  uint64_t word = 0;
  std::memcpy(&word, bytes, sizeof(word));
  constexpr uint64_t kHigh = 0x8080808080808080U;
  constexpr uint64_t kSpaces = 0x2020202020202020U;
  const bool ascii = (word & kHigh) == 0;
  const bool no_control = (((word | kHigh) - kSpaces) & kHigh) == kHigh;
  return ascii && no_control && std::memchr(bytes, 0x7F, sizeof(word)) == nullptr;
}

std::optional<std::string> ControlFault(std::string_view text, size_t i) {
  const unsigned byte = Byte(text, i);
  if (byte == '\t' || byte == '\n') {
    return std::nullopt;
  }
  if (byte == '\r') {
    if (Byte(text, i + 1) == '\n') {
      return std::nullopt;
    }
    return "a carriage return must come before a line feed; end lines with LF or CRLF";
  }
  if (byte == 0) {
    return "a NUL byte is not allowed: this is no text (UTF-16 must be converted to UTF-8)";
  }
  if (byte < 0x20U || byte == 0x7FU) {
    return "a control character is not allowed; write it as an escape in a quoted string";
  }
  return std::nullopt;
}

}  // namespace

std::optional<TextFault> FindTextFault(std::string_view text) {
  size_t i = 0;
  while (i < text.size()) {
    if (i + 8 <= text.size() && AllPlain(text.data() + i)) {
      i += 8;
      continue;
    }
    const size_t length = Utf8Length(text.substr(i));
    if (length == 0) {
      const bool wide = i == 0 && (Byte(text, 0) == 0xFFU || Byte(text, 0) == 0xFEU);
      return TextFault{i, Hex(Byte(text, i)),
                       wide ? "the input is UTF-16 or no text; convert it to UTF-8"
                            : "not valid UTF-8; convert the file to UTF-8"};
    }
    if (length == 1) {
      if (auto fault = ControlFault(text, i)) {
        return TextFault{i, Hex(Byte(text, i)), *std::move(fault)};
      }
    }
    if (text.substr(i, length) == kBom && (i == 0 || text[i - 1] == '\n')) {
      return TextFault{i, "U+FEFF",
                       "a byte order mark may stand once, at the very start; remove this one"};
    }
    i += length;
  }
  return std::nullopt;
}

bool IsUtf8(std::string_view text) {
  size_t i = 0;
  while (i < text.size()) {
    const size_t length = Utf8Length(text.substr(i));
    if (length == 0) {
      return false;
    }
    i += length;
  }
  return true;
}

Mark MarkOf(std::string_view text, size_t offset) {
  offset = std::min(offset, text.size());
  const std::string_view before = text.substr(0, offset);
  const auto lines = std::count(before.begin(), before.end(), '\n');
  const size_t line_start =
      before.rfind('\n') == std::string_view::npos ? 0 : before.rfind('\n') + 1;
  return Mark{static_cast<uint32_t>(lines + 1), static_cast<uint32_t>(offset - line_start + 1)};
}

std::string LineAt(std::string_view text, size_t offset) {
  offset = std::min(offset, text.size());
  const size_t newline = offset == 0 ? std::string_view::npos : text.rfind('\n', offset - 1);
  const size_t start = newline == std::string_view::npos ? 0 : newline + 1;
  std::string_view line = text.substr(start, text.find('\n', start) - start);
  constexpr std::string_view kBlanks = " \t\r";
  const size_t first = line.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) {
    return "";
  }
  line = line.substr(first, line.find_last_not_of(kBlanks) - first + 1);
  return Excerpt(line);
}

std::string_view WithoutBom(std::string_view text) {
  return text.starts_with(kBom) ? text.substr(kBom.size()) : text;
}

}  // namespace caldera
