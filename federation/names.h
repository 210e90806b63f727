// What Kubernetes takes as a name. Source of the rules: k8s.io/apimachinery pkg/util/validation.
#pragma once

#include <string_view>

namespace caldera {

/// Lower-case letters, digits and `-`, first and last alphanumeric, at most 63.
bool IsDnsLabel(std::string_view text);
/// As IsDnsLabel, but starts with a letter (RFC 1035: Service names).
bool IsDns1035Label(std::string_view text);
/// DnsLabel characters in parts joined by `.` (a part may pass 63), at most 253 in all.
bool IsDnsSubdomain(std::string_view text);
/// A label key or a finalizer: an optional DNS subdomain and `/`, then at most 63 letters, digits,
/// `-`, `_`, `.`, first and last alphanumeric.
bool IsQualifiedName(std::string_view text);
/// A qualified name whose DNS subdomain may have upper-case letters.
bool IsAnnotationKey(std::string_view text);
/// Empty, or what may follow the `/` of a qualified name.
bool IsLabelValue(std::string_view text);

/// What would be right, for messages.
inline constexpr std::string_view kDnsLabelRule =
    "lower-case letters, digits and '-', starting and ending with a letter or digit, at most 63 "
    "characters";
inline constexpr std::string_view kDnsSubdomainRule =
    "lower-case letters, digits, '-' and '.', starting and ending with a letter or digit, at most "
    "253 characters";
inline constexpr std::string_view kQualifiedNameRule =
    "letters, digits, '-', '_' and '.', at most 63 characters, optionally after a DNS name and '/'";
inline constexpr std::string_view kLabelValueRule =
    "letters, digits, '-', '_' and '.', starting and ending with a letter or digit, at most 63 "
    "characters, or empty";

}  // namespace caldera
