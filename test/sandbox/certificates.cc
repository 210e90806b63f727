#include "test/sandbox/certificates.h"

#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <memory>
#include <utility>
#include <vector>

namespace caldera::sandbox {
namespace {

constexpr long kHourSeconds = 3600;          // NOLINT(google-runtime-int): OpenSSL's type
constexpr long kYearSeconds = 365L * 86400;  // NOLINT(google-runtime-int): OpenSSL's type
constexpr size_t kLongestName = 40;

struct Free {
  void operator()(BIO* bio) const { BIO_free(bio); }
  void operator()(X509* certificate) const { X509_free(certificate); }
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
  void operator()(X509_EXTENSION* extension) const { X509_EXTENSION_free(extension); }
};
template <typename T>
using Owned = std::unique_ptr<T, Free>;

struct Signed {
  Owned<X509> certificate;
  Owned<EVP_PKEY> key;
};

struct Subject {
  std::string common_name;
  std::string organization;
  std::vector<std::pair<int, const char*>> extensions;  ///< By NID, as openssl.cnf writes them.
};

Error OpenSslError(const char* what) {
  const char* reason = ERR_reason_error_string(ERR_peek_last_error());
  ERR_clear_error();
  return {ErrorCode::kInternal, std::string(what) + ": " + (reason != nullptr ? reason : "failed")};
}

bool AddEntry(X509_NAME* name, const char* field, const std::string& value) {
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): OpenSSL's bytes are unsigned.
  const auto* bytes = reinterpret_cast<const unsigned char*>(value.c_str());
  return value.empty() ||
         X509_NAME_add_entry_by_txt(name, field, MBSTRING_UTF8, bytes, -1, -1, 0) == 1;
}

bool AddExtension(X509* certificate, X509* issuer, int nid, const char* value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  const Owned<X509_EXTENSION> extension(X509V3_EXT_conf_nid(nullptr, &context, nid, value));
  return extension != nullptr && X509_add_ext(certificate, extension.get(), -1) == 1;
}

bool SetSerial(X509* certificate) {
  uint64_t serial = 0;
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): any bytes will do.
  return RAND_bytes(reinterpret_cast<unsigned char*>(&serial), sizeof serial) == 1 &&
         ASN1_INTEGER_set_uint64(X509_get_serialNumber(certificate), serial >> 1U) == 1;
}

// A certificate of `subject` by `issuer`, or by itself where that is null.
Result<Signed> Sign(const Subject& subject, const Signed* issuer) {
  Signed made{Owned<X509>(X509_new()), Owned<EVP_PKEY>(EVP_EC_gen("P-256"))};
  X509* const certificate = made.certificate.get();
  if (certificate == nullptr || made.key == nullptr) {
    return tl::unexpected<Error>(OpenSslError("a key"));
  }
  X509* const by = issuer != nullptr ? issuer->certificate.get() : certificate;
  EVP_PKEY* const by_key = issuer != nullptr ? issuer->key.get() : made.key.get();
  X509_NAME* const name = X509_get_subject_name(certificate);
  bool good = X509_set_version(certificate, X509_VERSION_3) == 1 && SetSerial(certificate) &&
              X509_gmtime_adj(X509_getm_notBefore(certificate), -kHourSeconds) != nullptr &&
              X509_gmtime_adj(X509_getm_notAfter(certificate), kYearSeconds) != nullptr &&
              AddEntry(name, "O", subject.organization) &&
              AddEntry(name, "CN", subject.common_name) &&
              X509_set_issuer_name(certificate, X509_get_subject_name(by)) == 1 &&
              X509_set_pubkey(certificate, made.key.get()) == 1;
  for (const auto& [nid, value] : subject.extensions) {
    good = good && AddExtension(certificate, by, nid, value);
  }
  if (!good || X509_sign(certificate, by_key, EVP_sha256()) == 0) {
    return tl::unexpected<Error>(OpenSslError("a certificate"));
  }
  return made;
}

std::string TextOf(BIO* out) {
  char* text = nullptr;
  const auto size = BIO_get_mem_data(out, &text);  // NOLINT(cppcoreguidelines-pro-type-cstyle-cast)
  return {text, static_cast<size_t>(size)};
}

std::string CertificateText(const Signed& made) {
  const Owned<BIO> out(BIO_new(BIO_s_mem()));
  PEM_write_bio_X509(out.get(), made.certificate.get());
  return TextOf(out.get());
}

std::string KeyText(const Signed& made) {
  const Owned<BIO> out(BIO_new(BIO_s_mem()));
  PEM_write_bio_PKCS8PrivateKey(out.get(), made.key.get(), nullptr, nullptr, 0, nullptr, nullptr);
  return TextOf(out.get());
}

}  // namespace

Result<Certificates> MakeCertificates(const std::string& name) {
  const std::string base = name.substr(0, kLongestName);
  CALDERA_TRY(const Signed ca, Sign({base + "-ca",
                                     "caldera sandbox",
                                     {{NID_basic_constraints, "critical,CA:TRUE"},
                                      {NID_key_usage, "critical,keyCertSign,cRLSign"},
                                      {NID_subject_key_identifier, "hash"}}},
                                    nullptr));
  CALDERA_TRY(const Signed server,
              Sign({base + "-server",
                    "caldera sandbox",
                    {{NID_basic_constraints, "critical,CA:FALSE"},
                     {NID_key_usage, "critical,digitalSignature"},
                     {NID_ext_key_usage, "serverAuth"},
                     {NID_authority_key_identifier, "keyid"},
                     {NID_subject_alt_name, "IP:127.0.0.1,IP:::1,DNS:localhost"}}},
                   &ca));
  CALDERA_TRY(const Signed client, Sign({base + "-admin",
                                         "system:masters",
                                         {{NID_basic_constraints, "critical,CA:FALSE"},
                                          {NID_key_usage, "critical,digitalSignature"},
                                          {NID_ext_key_usage, "clientAuth"},
                                          {NID_authority_key_identifier, "keyid"}}},
                                        &ca));
  return Certificates{CertificateText(ca), CertificateText(server), KeyText(server),
                      CertificateText(client), KeyText(client)};
}

}  // namespace caldera::sandbox
