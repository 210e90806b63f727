// What a RestConfig proves its identity with and whom it trusts, read and checked: PEM texts that
// OpenSSL takes, a key that belongs to its certificate, a token that fits in a header. Read when a
// configuration is loaded and again when files may have rotated. Blocks on disk; any thread.
#pragma once

#include <string>
#include <string_view>

#include "controller/kube/kubeconfig.h"
#include "federation/result.h"

namespace caldera {

/// PEM texts; empty: none.
struct Credentials {
  std::string ca;
  std::string cert;
  std::string key;
  std::string token;
};

/// Everything that `config` names, files read now. A token file that cannot be read is passed over
/// where there is a token beside it, as kubectl does. Error: kInvalid naming the file and, for PEM
/// texts, OpenSSL's reason.
Result<Credentials> ReadCredentials(const RestConfig& config);

/// Each error is kInvalid, says what is wrong and leaves it to the caller to say where.
Status CheckCertificates(const std::string& pem);
Status CheckKeyPair(const std::string& cert_pem, const std::string& key_pem);
Status CheckToken(std::string_view token);
/// `https://HOST[:PORT][/PATH]` (or http), without user, query and fragment.
Status CheckServer(const std::string& server);

/// A regular file of at most 1 MiB that is not empty. Error: kInvalid naming it.
Result<std::string> ReadSmallFile(const std::string& path);

}  // namespace caldera
