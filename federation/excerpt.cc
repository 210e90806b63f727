#include "federation/excerpt.h"

namespace caldera {
namespace {

constexpr std::string_view kEllipsis = "...";

std::string Escaped(unsigned char byte) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  return {'\\', 'x', kDigits[byte >> 4U], kDigits[byte & 0xFU]};
}

}  // namespace

size_t Utf8Length(std::string_view text) {
  const auto byte = [text](size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U;
  };
  const unsigned lead = byte(0);
  const unsigned second = byte(1);
  size_t length = 0;
  if (lead < 0x80) {
    return text.empty() ? 0 : 1;
  }
  if (lead >= 0xC2 && lead <= 0xDF) {
    length = 2;
  } else if (lead >= 0xE0 && lead <= 0xEF) {
    length = 3;
  } else if (lead >= 0xF0 && lead <= 0xF4) {
    length = 4;
  }
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0U) != 0x80U) {
      return 0;
    }
  }
  // Overlong forms, surrogates and what lies beyond U+10FFFF.
  const bool wrong = (lead == 0xE0 && second < 0xA0) || (lead == 0xED && second > 0x9F) ||
                     (lead == 0xF0 && second < 0x90) || (lead == 0xF4 && second > 0x8F);
  return wrong ? 0 : length;
}

std::string WithArticle(std::string_view kind) {
  if (kind == "null") {
    return std::string(kind);
  }
  const bool vowel = std::string_view("aeiou").find(kind.front()) != std::string_view::npos;
  return (vowel ? "an " : "a ") + std::string(kind);
}

std::string Excerpt(std::string_view text, size_t limit) {
  std::string out;
  size_t characters = 0;
  std::string cut;  // `out` as it was when room for the ellipsis was still left.
  bool cut_known = false;
  while (!text.empty()) {
    const size_t length = Utf8Length(text);
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
