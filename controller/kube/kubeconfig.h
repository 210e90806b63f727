// Who to talk to and as whom: a kubeconfig file or the in-cluster service account.
#pragma once

#include <string>

#include "federation/result.h"

namespace caldera {

/// One server and one identity. Files are kept by path too, so that rotated ones are read again.
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
/// where that is empty. Errors: kInvalid naming the file, the entry and the field; exec,
/// auth-provider, username/password and tls-server-name are refused as not supported; a certificate
/// or key that OpenSSL cannot read is refused here, not at the first request.
Result<RestConfig> LoadKubeconfig(const std::string& path, const std::string& context);

/// From the pod's service account (KUBERNETES_SERVICE_HOST, the token and CA under
/// /var/run/secrets/kubernetes.io/serviceaccount). Error: kNotFound outside a pod.
Result<RestConfig> InClusterConfig();

}  // namespace caldera
