#include "federation/excerpt.h"

namespace caldera {
namespace {

constexpr std::string_view kEllipsis = "...";

// Length of the valid UTF-8 sequence at the start of `text`, 0 if there is none.
size_t SequenceLength(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) {
    return 1;
  }
  size_t length = 0;
  if (lead >= 0xC2 && lead <= 0xDF) {
    length = 2;
  } else if (lead >= 0xE0 && lead <= 0xEF) {
    length = 3;
  } else if (lead >= 0xF0 && lead <= 0xF4) {
    length = 4;
  }
  if (length == 0 || text.size() < length) {
    return 0;
  }
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) {
      return 0;
    }
  }
  // Overlong forms, surrogates and what lies beyond U+10FFFF.
  const unsigned char second = byte(1);
  const bool wrong = (lead == 0xE0 && second < 0xA0) || (lead == 0xED && second > 0x9F) ||
                     (lead == 0xF0 && second < 0x90) || (lead == 0xF4 && second > 0x8F);
  return wrong ? 0 : length;
}

std::string Escaped(unsigned char byte) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  return {'\\', 'x', kDigits[byte >> 4U], kDigits[byte & 0xFU]};
}

}  // namespace

std::string Excerpt(std::string_view text, size_t limit) {
  std::string out;
  size_t characters = 0;
  std::string cut;  // `out` as it was when room for the ellipsis was still left.
  bool cut_known = false;
  while (!text.empty()) {
    const size_t length = SequenceLength(text);
    const auto lead = static_cast<unsigned char>(text.front());
    const bool plain = length > 1 || (length == 1 && lead >= 0x20 && lead != 0x7F);
    const std::string piece = plain ? std::string(text.substr(0, length)) : Escaped(lead);
    const size_t width = plain ? 1 : piece.size();
    if (!cut_known && characters + width + kEllipsis.size() > limit) {
      cut = out;
      cut_known = true;
    }
    if (characters + width > limit) {
      return cut + std::string(kEllipsis);
    }
    out += piece;
    characters += width;
    text.remove_prefix(plain ? length : 1);
  }
  return out;
}

}  // namespace caldera
