// Who to talk to and as whom: a kubeconfig file or the in-cluster service account.
#pragma once

#include <string>

#include "federation/result.h"

namespace caldera {

/// One server and one identity. A file is kept by path (its text field is then empty), so that a
/// rotated one is read again.
struct RestConfig {
  std::string server;  ///< `https://host:port`, without a trailing slash.
  std::string ca_pem;
  std::string ca_file;
  std::string cert_pem;
  std::string cert_file;
  std::string key_pem;
  std::string key_file;
  std::string token;
  std::string token_file;
  bool insecure = false;  ///< insecure-skip-tls-verify: the caller warns loudly.
};

/// Reads `path` (relative files in it are relative to it) and `context`, or its current-context
/// where that is empty. Errors: kInvalid naming the file, the line, the entry and the field, never
/// the value, which may be secret. exec, auth-provider, username/password, impersonation,
/// tls-server-name and proxy-url are refused as not supported; a certificate or key that OpenSSL
/// cannot read is refused here, not at the first request.
Result<RestConfig> LoadKubeconfig(const std::string& path, const std::string& context);

/// From the pod's service account: KUBERNETES_SERVICE_HOST and _PORT, `token` and `ca.crt` in
/// `folder`. Errors: kNotFound outside a pod; kInvalid as above.
Result<RestConfig> InClusterConfig(
    const std::string& folder = "/var/run/secrets/kubernetes.io/serviceaccount");

}  // namespace caldera
