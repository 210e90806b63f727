// `caldera-sandbox apply`: manifests to an API server, for machines without kubectl. What is there
// already gets the manifest as a merge patch. One thread.
#pragma once

#include <string>
#include <vector>

#include "controller/kube/kubeconfig.h"
#include "federation/result.h"

namespace caldera::sandbox {

struct ApplyOptions {
  std::vector<std::string> paths;  ///< Files and folders, applied in their order.
  /// Kinds that are left out.
  std::vector<std::string> skip;
  bool create_namespaces = false;  ///< Those that objects name and that are not there.
};

/// Prints `kind/name created|configured` for each to standard output, as kubectl does. Error: the
/// manifests', or the first that the server refused.
Status Apply(const RestConfig& config, const ApplyOptions& options);

}  // namespace caldera::sandbox
