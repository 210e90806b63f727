// Certificates for the sandbox and for tests, made with OpenSSL when they are needed: none is ever
// stored in the repository. Any thread.
#pragma once

#include <string>

#include "federation/result.h"

namespace caldera::sandbox {

/// A CA with one server and one client certificate, EC P-256, SHA-256, valid from an hour ago for a
/// year. The server's is for 127.0.0.1, ::1 and localhost. All as PEM, keys as PKCS #8.
struct Certificates {
  std::string ca;
  std::string server_cert;
  std::string server_key;
  std::string client_cert;
  std::string client_key;
};

/// `name` goes into the subjects (at most 40 characters); the client is CN=`name`-admin,
/// O=system:masters. Error: kInternal with OpenSSL's reason.
Result<Certificates> MakeCertificates(const std::string& name);

}  // namespace caldera::sandbox
