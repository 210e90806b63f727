#include "test/sandbox/base64.h"

#include <cstdint>

namespace caldera::sandbox {
namespace {

constexpr std::string_view kAlphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

}  // namespace

std::string EncodeBase64(std::string_view bytes) {
  std::string text;
  uint32_t bits = 0;
  unsigned count = 0;
  for (const char c : bytes) {
    bits = (bits << 8U) | static_cast<unsigned char>(c);
    count += 8;
    while (count >= 6) {
      count -= 6;
      text += kAlphabet[(bits >> count) & 63U];
    }
  }
  if (count > 0) {
    text += kAlphabet[(bits << (6 - count)) & 63U];
  }
  while (text.size() % 4 != 0) {
    text += '=';
  }
  return text;
}

std::optional<std::string> DecodeBase64(std::string_view text) {
  if (text.size() % 4 != 0) {
    return std::nullopt;
  }
  for (int pad = 0; pad < 2 && text.ends_with('='); ++pad) {
    text.remove_suffix(1);
  }
  std::string bytes;
  uint32_t bits = 0;
  unsigned count = 0;
  for (const char c : text) {
    const size_t digit = kAlphabet.find(c);
    if (digit == std::string_view::npos) {
      return std::nullopt;
    }
    bits = (bits << 6U) | static_cast<uint32_t>(digit);
    count += 6;
    if (count >= 8) {
      count -= 8;
      bytes += static_cast<char>((bits >> count) & 255U);
    }
  }
  return bytes;
}

}  // namespace caldera::sandbox
