#include "controller/kube/credentials.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <system_error>

namespace caldera {
namespace {

constexpr size_t kMaxFileBytes = size_t{1} << 20U;

struct Free {
  void operator()(BIO* bio) const { BIO_free(bio); }
  void operator()(X509* certificate) const { X509_free(certificate); }
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
};
template <typename T>
using Owned = std::unique_ptr<T, Free>;

Owned<BIO> Over(const std::string& text) {
  return Owned<BIO>(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

// Why OpenSSL's last call failed; its queue is emptied.
std::string Reason() {
  const char* reason = ERR_reason_error_string(ERR_peek_last_error());
  ERR_clear_error();
  return reason != nullptr ? reason : "unknown reason";
}

// Without this OpenSSL would ask the terminal for the password of an encrypted key.
int NoPassword(char* /*buffer*/, int /*size*/, int /*write*/, void* asked) {
  *static_cast<bool*>(asked) = true;
  return -1;
}

std::string Trimmed(std::string text) {
  const auto blank = [](char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; };
  text.erase(std::find_if_not(text.rbegin(), text.rend(), blank).base(), text.end());
  text.erase(text.begin(), std::find_if_not(text.begin(), text.end(), blank));
  return text;
}

Result<std::string> TextOf(const std::string& text, const std::string& file) {
  return file.empty() ? Result<std::string>(text) : ReadSmallFile(file);
}

Result<std::string> TokenOf(const RestConfig& config) {
  if (config.token_file.empty()) {
    return config.token;
  }
  Result<std::string> text = ReadSmallFile(config.token_file);
  if (!text) {
    return config.token.empty() ? text : Result<std::string>(config.token);
  }
  return Trimmed(*std::move(text));
}

// Empty: nothing.
std::string ProblemOfServer(std::string_view server) {
  std::string_view rest = server;
  if (rest.starts_with("https://")) {
    rest.remove_prefix(8);
  } else if (rest.starts_with("http://")) {
    rest.remove_prefix(7);
  } else {
    return "must be a URL of the form https://HOST:PORT";
  }
  if (std::any_of(rest.begin(), rest.end(), [](char c) { return c <= ' ' || c >= '\x7f'; }) ||
      rest.find_first_of("@?#") != std::string_view::npos) {
    return "must have no blank, user, query or fragment: write https://HOST:PORT";
  }
  const std::string_view authority = rest.substr(0, rest.find('/'));
  if (authority.empty() || authority.front() == ':') {
    return "has no host: write https://HOST:PORT";
  }
  const size_t colon = authority.rfind(':');
  if (colon != std::string_view::npos && authority.back() != ']') {
    const std::string_view port = authority.substr(colon + 1);
    const bool number = !port.empty() && port.size() <= 5 &&
                        port.find_first_not_of("0123456789") == std::string_view::npos;
    const int value = number ? std::atoi(std::string(port).c_str()) : 0;  // NOLINT(cert-err34-c)
    if (value < 1 || value > 65'535) {
      return "has a port that is no number from 1 to 65535";
    }
  }
  return "";
}

std::string Where(const std::string& file, const std::string& what) {
  return file.empty() ? what : what + " file " + file;
}

}  // namespace

Result<std::string> ReadSmallFile(const std::string& path) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (status.type() == std::filesystem::file_type::not_found) {
    return Fail(ErrorCode::kInvalid, path + ": there is no such file");
  }
  if (error || status.type() != std::filesystem::file_type::regular) {
    return Fail(ErrorCode::kInvalid,
                path + ": " + (error ? error.message() : "is no regular file"));
  }
  std::ifstream in(path, std::ios::binary);
  if (!in) {
    return Fail(ErrorCode::kInvalid, path + ": cannot be opened for reading");
  }
  std::string text(kMaxFileBytes + 1, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<size_t>(in.gcount()));
  if (in.bad() || text.empty() || text.size() > kMaxFileBytes) {
    return Fail(ErrorCode::kInvalid,
                path + (text.empty() ? ": is empty" : ": is larger than 1 MiB"));
  }
  return text;
}

Status CheckCertificates(const std::string& pem) {
  ERR_clear_error();
  const Owned<BIO> in = Over(pem);
  int count = 0;
  while (const Owned<X509> certificate{PEM_read_bio_X509(in.get(), nullptr, nullptr, nullptr)}) {
    ++count;
  }
  const auto error = ERR_peek_last_error();
  const bool at_end =
      ERR_GET_LIB(error) == ERR_LIB_PEM && ERR_GET_REASON(error) == PEM_R_NO_START_LINE;
  if (!at_end) {
    return Fail(ErrorCode::kInvalid, "PEM certificate number " + std::to_string(count + 1) +
                                         " cannot be read: " + Reason());
  }
  if (count == 0) {
    return Fail(ErrorCode::kInvalid, "there is no PEM certificate in it: " + Reason());
  }
  ERR_clear_error();
  return {};
}

Status CheckKeyPair(const std::string& cert_pem, const std::string& key_pem) {
  ERR_clear_error();
  CALDERA_CHECK(CheckCertificates(cert_pem));
  const Owned<BIO> cert_in = Over(cert_pem);
  const Owned<X509> certificate(PEM_read_bio_X509(cert_in.get(), nullptr, nullptr, nullptr));
  const Owned<BIO> key_in = Over(key_pem);
  bool encrypted = false;
  const Owned<EVP_PKEY> key(PEM_read_bio_PrivateKey(key_in.get(), nullptr, NoPassword, &encrypted));
  if (key == nullptr) {
    const std::string reason = Reason();
    return Fail(ErrorCode::kInvalid,
                encrypted ? "the key is encrypted, which is not supported: store it in the clear"
                          : "the key cannot be read as PEM: " + reason);
  }
  if (X509_check_private_key(certificate.get(), key.get()) != 1) {
    return Fail(ErrorCode::kInvalid, "the key does not belong to the certificate: " + Reason());
  }
  return {};
}

Status CheckServer(const std::string& server) {
  const std::string problem = ProblemOfServer(server);
  return problem.empty() ? Status()
                         : Fail(ErrorCode::kInvalid, "server '" + server + "' " + problem);
}

Status CheckToken(std::string_view token) {
  if (token.empty()) {
    return Fail(ErrorCode::kInvalid, "the token is empty");
  }
  if (!std::all_of(token.begin(), token.end(), [](char c) { return c > ' ' && c < '\x7f'; })) {
    return Fail(
        ErrorCode::kInvalid,
        "the token has a character that no bearer token has (a blank, a line end or one that "
        "is not ASCII)");
  }
  return {};
}

Result<Credentials> ReadCredentials(const RestConfig& config) {
  Credentials now;
  CALDERA_TRY(now.ca, TextOf(config.ca_pem, config.ca_file));
  CALDERA_TRY(now.cert, TextOf(config.cert_pem, config.cert_file));
  CALDERA_TRY(now.key, TextOf(config.key_pem, config.key_file));
  CALDERA_TRY(now.token, TokenOf(config));
  if (!now.ca.empty()) {
    if (const Status checked = CheckCertificates(now.ca); !checked) {
      return tl::unexpected<Error>(
          checked.error().Within(Where(config.ca_file, "certificate authority")));
    }
  }
  if (!now.cert.empty() || !now.key.empty()) {
    if (const Status checked = CheckKeyPair(now.cert, now.key); !checked) {
      return tl::unexpected<Error>(checked.error().Within(
          Where(config.cert_file, "client certificate") + " and " + Where(config.key_file, "key")));
    }
  }
  if (!config.token.empty() || !config.token_file.empty()) {
    if (const Status checked = CheckToken(now.token); !checked) {
      return tl::unexpected<Error>(checked.error().Within(Where(config.token_file, "token")));
    }
  }
  return now;
}

}  // namespace caldera
