// What the controller's source asks of the Kubernetes API, read from its calls of Client: so that
// the roles in manifests/ can be held against it.
#pragma once

#include <set>
#include <string>
#include <vector>

namespace caldera::testing {

struct Right {
  std::string group;
  std::string resource;  ///< With `/SUBRESOURCE` where there is one.
  std::string verb;
  friend auto operator<=>(const Right&, const Right&) = default;
};

struct SourceCalls {
  std::set<Right> karmada;           ///< Of the Karmada API.
  std::set<Right> members;           ///< Of members, through the proxy.
  std::vector<std::string> unclear;  ///< Calls whose kind cannot be told: file and text.
};

/// Reads every .cc of `folder` (controller/run).
SourceCalls ReadSourceCalls(const std::string& folder);

/// Those of one file's text.
void AddCalls(const std::string& file, const std::string& text, SourceCalls& calls);

}  // namespace caldera::testing
