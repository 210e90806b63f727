#include "federation/names.h"

#include <algorithm>
#include <string>

namespace caldera {
namespace {

constexpr size_t kLabelMax = 63;
constexpr size_t kSubdomainMax = 253;

bool IsLower(char c) { return c >= 'a' && c <= 'z'; }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsLowerAlnum(char c) { return IsLower(c) || IsDigit(c); }
bool IsAlnum(char c) { return IsLowerAlnum(c) || (c >= 'A' && c <= 'Z'); }

// A DNS label of any length.
bool IsDnsPart(std::string_view text) {
  return !text.empty() && IsLowerAlnum(text.front()) && IsLowerAlnum(text.back()) &&
         std::all_of(text.begin(), text.end(), [](char c) { return IsLowerAlnum(c) || c == '-'; });
}

bool IsNamePart(std::string_view text) {
  return !text.empty() && text.size() <= kLabelMax && IsAlnum(text.front()) &&
         IsAlnum(text.back()) && std::all_of(text.begin(), text.end(), [](char c) {
           return IsAlnum(c) || c == '-' || c == '_' || c == '.';
         });
}

}  // namespace

bool IsDnsLabel(std::string_view text) { return text.size() <= kLabelMax && IsDnsPart(text); }

bool IsDns1035Label(std::string_view text) { return IsDnsLabel(text) && IsLower(text.front()); }

bool IsDnsSubdomain(std::string_view text) {
  if (text.size() > kSubdomainMax) {
    return false;
  }
  while (true) {
    const size_t dot = text.find('.');
    if (!IsDnsPart(text.substr(0, dot))) {
      return false;
    }
    if (dot == std::string_view::npos) {
      return true;
    }
    text.remove_prefix(dot + 1);
  }
}

bool IsQualifiedName(std::string_view text) {
  const size_t slash = text.find('/');
  if (slash == std::string_view::npos) {
    return IsNamePart(text);
  }
  return IsDnsSubdomain(text.substr(0, slash)) && IsNamePart(text.substr(slash + 1));
}

bool IsAnnotationKey(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return IsQualifiedName(lower);
}

bool IsLabelValue(std::string_view text) { return text.empty() || IsNamePart(text); }

}  // namespace caldera
