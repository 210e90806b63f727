// Where a request of the Kubernetes API goes: its path and its query taken apart. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "controller/kube/http.h"
#include "test/sandbox/answer.h"
#include "test/sandbox/store.h"

namespace caldera::sandbox {

/// `/api/v1/...` or `/apis/GROUP/VERSION/...`, with at least a plural.
struct Route {
  const Kind* kind = nullptr;
  ObjectKey key;  ///< Name empty: all of the kind; namespace empty as well: in all namespaces.
  std::string subresource;
};

/// The decoded parts between slashes; empty parts are left out.
std::vector<std::string> PathParts(std::string_view path);

/// Refused: 404 for what no kind serves.
Answer<Route> ParseRoute(const Catalog& catalog, const std::vector<std::string>& parts);

/// A request through Karmada's cluster proxy.
struct ProxyRoute {
  std::string cluster;
  std::string path;  ///< What the member is asked, still encoded.
};
std::optional<ProxyRoute> ParseProxyRoute(std::string_view path);

/// The last value of a query parameter; empty where it is missing.
std::string QueryText(const HttpRequest& request, std::string_view key);
/// True for `1` and `true`.
bool QueryFlag(const HttpRequest& request, std::string_view key);
/// A number that is not negative; `otherwise` where it is missing or none.
int64_t QueryNumber(const HttpRequest& request, std::string_view key, int64_t otherwise);
/// A header by its name in any case; empty where it is missing.
std::string HeaderText(const HttpRequest& request, std::string_view name);

}  // namespace caldera::sandbox
