#include "test/sandbox/route.h"

#include <algorithm>
#include <cctype>
#include <charconv>

namespace caldera::sandbox {
namespace {

std::string PercentDecode(std::string_view text) {
  std::string plain;
  for (size_t i = 0; i < text.size(); ++i) {
    unsigned code = 0;
    if (text[i] == '%' && i + 2 < text.size()) {
      const char* from = text.data() + i + 1;
      const auto [end, error] = std::from_chars(from, from + 2, code, 16);
      if (error == std::errc() && end == from + 2) {
        plain += static_cast<char>(code);
        i += 2;
        continue;
      }
    }
    plain += text[i];
  }
  return plain;
}

bool SameIgnoringCase(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](unsigned char x, unsigned char y) {
    return std::tolower(x) == std::tolower(y);
  });
}

}  // namespace

std::vector<std::string> PathParts(std::string_view path) {
  std::vector<std::string> parts;
  while (!path.empty()) {
    const size_t slash = path.find('/');
    if (slash != 0) {
      parts.push_back(PercentDecode(path.substr(0, slash)));
    }
    path = slash == std::string_view::npos ? std::string_view() : path.substr(slash + 1);
  }
  return parts;
}

Answer<Route> ParseRoute(const Catalog& catalog, const std::vector<std::string>& parts) {
  const bool core = !parts.empty() && parts[0] == "api";
  const size_t head = core ? 2 : 3;
  if (parts.size() <= head || (!core && parts[0] != "apis")) {
    return tl::unexpected(NoSuchPath());
  }
  const std::string group = core ? "" : parts[1];
  const std::string& version = parts[head - 1];
  std::vector<std::string> rest(parts.begin() + static_cast<ptrdiff_t>(head), parts.end());
  Route route;
  const bool in_namespace =
      rest[0] == "namespaces" && rest.size() >= 3 && rest[2] != "status" && rest[2] != "finalize";
  if (in_namespace) {
    route.key.ns = rest[1];
    rest.erase(rest.begin(), rest.begin() + 2);
  }
  route.kind = catalog.Find(group, version, rest[0]);
  const bool named = rest.size() > 1;
  if (route.kind == nullptr || rest.size() > 3 ||
      (route.kind->type.namespaced ? named && !in_namespace : in_namespace)) {
    return tl::unexpected(NoSuchPath());
  }
  route.key.name = named ? rest[1] : "";
  route.subresource = rest.size() > 2 ? rest[2] : "";
  const bool binding = route.subresource == "binding" && route.kind->Resource() == "pods";
  const bool status = route.subresource == "status" && route.kind->has_status;
  if (!route.subresource.empty() && !binding && !status) {
    return tl::unexpected(NoSuchPath());
  }
  return route;
}

std::optional<ProxyRoute> ParseProxyRoute(std::string_view path) {
  constexpr std::string_view kPrefix = "/apis/cluster.karmada.io/v1alpha1/clusters/";
  constexpr std::string_view kProxy = "/proxy";
  if (!path.starts_with(kPrefix)) {
    return std::nullopt;
  }
  path.remove_prefix(kPrefix.size());
  const size_t slash = path.find('/');
  if (slash == std::string_view::npos) {
    return std::nullopt;
  }
  const std::string_view rest = path.substr(slash);
  if (!rest.starts_with(kProxy) || (rest.size() > kProxy.size() && rest[kProxy.size()] != '/')) {
    return std::nullopt;
  }
  const std::string_view target = rest.substr(kProxy.size());
  return ProxyRoute{PercentDecode(path.substr(0, slash)),
                    target.empty() ? "/" : std::string(target)};
}

std::string QueryText(const HttpRequest& request, std::string_view key) {
  const auto found = std::find_if(request.query.rbegin(), request.query.rend(),
                                  [&](const auto& entry) { return entry.first == key; });
  return found == request.query.rend() ? std::string() : found->second;
}

bool QueryFlag(const HttpRequest& request, std::string_view key) {
  const std::string text = QueryText(request, key);
  return text == "1" || SameIgnoringCase(text, "true");
}

int64_t QueryNumber(const HttpRequest& request, std::string_view key, int64_t otherwise) {
  const std::string text = QueryText(request, key);
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  return whole && number >= 0 ? number : otherwise;
}

std::string HeaderText(const HttpRequest& request, std::string_view name) {
  const auto found =
      std::find_if(request.headers.begin(), request.headers.end(),
                   [&](const auto& header) { return SameIgnoringCase(header.first, name); });
  return found == request.headers.end() ? std::string() : found->second;
}

}  // namespace caldera::sandbox
