#include "controller/kube/url.h"

#include <charconv>
#include <cstdint>

namespace caldera {

std::string PercentEncode(std::string_view text) {
  constexpr std::string_view kUnreserved =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";
  constexpr std::string_view kHex = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    if (kUnreserved.find(c) != std::string_view::npos) {
      out += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      out += '%';
      out += kHex[byte >> 4U];
      out += kHex[byte & 15U];
    }
  }
  return out;
}

std::optional<std::string> PercentDecode(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    uint8_t byte = 0;
    const std::string_view hex = text.substr(i + 1, 2);
    const auto [end, error] = std::from_chars(hex.data(), hex.data() + hex.size(), byte, 16);
    if (hex.size() != 2 || error != std::errc() || end != hex.data() + hex.size()) {
      return std::nullopt;
    }
    out += static_cast<char>(byte);
    i += 2;
  }
  return out;
}

std::string EncodeQuery(const std::vector<std::pair<std::string, std::string>>& query) {
  std::string out;
  for (const auto& [key, value] : query) {
    out += out.empty() ? "" : "&";
    out += PercentEncode(key) + "=" + PercentEncode(value);
  }
  return out;
}

}  // namespace caldera
