#include "controller/kube/kubeconfig.h"

#include <doctest/doctest.h>
#include <openssl/evp.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "test/kube/temp_folder.h"
#include "test/sandbox/certificates.h"

namespace caldera {
namespace {

const sandbox::Certificates& Made() {
  static const sandbox::Certificates kMade = sandbox::MakeCertificates("unit").value();
  return kMade;
}

std::string Base64(const std::string& text) {
  std::string out((text.size() + 2) / 3 * 4 + 1, '\0');
  const int size = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(out.data()),
                                   reinterpret_cast<const unsigned char*>(text.data()),
                                   static_cast<int>(text.size()));
  out.resize(static_cast<size_t>(size));
  return out;
}

// A kubeconfig of one context `here` with these fields of the cluster and the user.
std::string Config(const std::string& cluster, const std::string& user) {
  return "apiVersion: v1\nkind: Config\ncurrent-context: here\n"
         "contexts:\n- name: here\n  context: {cluster: c, user: u, namespace: ignored}\n"
         "clusters:\n- name: c\n  cluster:\n" +
         cluster + "users:\n- name: u\n  user:\n" + user;
}

const std::string kServer = "    server: https://127.0.0.1:6443\n";
const std::string kToken = "    token: abc.def\n";

std::string ErrorOfConfig(TempFolder& folder, const std::string& text,
                          const std::string& context = "") {
  const auto config = LoadKubeconfig(folder.Write("config", text), context);
  return config ? "none" : config.error().message;
}

bool Has(const std::string& text, const std::string& part) {
  CAPTURE(text);
  CAPTURE(part);
  const bool has = text.find(part) != std::string::npos;
  CHECK(has);
  return has;
}

TEST_CASE("kubeconfig takes inline certificates and keys") {
  TempFolder folder;
  const auto config = LoadKubeconfig(
      folder.Write("config",
                   Config("    server: https://127.0.0.1:6443/\n"
                          "    certificate-authority-data: " +
                              Base64(Made().ca) + "\n",
                          "    client-certificate-data: " + Base64(Made().client_cert) +
                              "\n    client-key-data: " + Base64(Made().client_key) + "\n")),
      "");
  REQUIRE_MESSAGE(config.has_value(), config.error().message);
  CHECK(config->server == "https://127.0.0.1:6443");
  CHECK(config->ca_pem == Made().ca);
  CHECK(config->cert_pem == Made().client_cert);
  CHECK(config->key_pem == Made().client_key);
  CHECK(config->ca_file.empty());
  CHECK_FALSE(config->insecure);
}

TEST_CASE("kubeconfig takes files relative to its own folder") {
  TempFolder folder;
  folder.Write("ca.crt", Made().ca);
  folder.Write("me.crt", Made().client_cert);
  folder.Write("me.key", Made().client_key);
  folder.Write("token", "tok-1\n");
  const auto config = LoadKubeconfig(
      folder.Write("config", Config(kServer + "    certificate-authority: ca.crt\n",
                                    "    client-certificate: ./me.crt\n    client-key: " +
                                        folder.path("me.key") + "\n    tokenFile: token\n")),
      "here");
  REQUIRE_MESSAGE(config.has_value(), config.error().message);
  CHECK(config->ca_file == folder.path("ca.crt"));
  CHECK(config->cert_file == folder.path("me.crt"));
  CHECK(config->key_file == folder.path("me.key"));
  CHECK(config->token_file == folder.path("token"));
  CHECK(config->ca_pem.empty());
}

TEST_CASE("kubeconfig in JSON and another context than the current one") {
  TempFolder folder;
  const std::string text =
      R"({"kind":"Config","apiVersion":"v1","current-context":"a","preferences":{},
      "contexts":[{"name":"a","context":{"cluster":"x","user":"x"}},
                  {"name":"b","context":{"cluster":"c","user":"u"}}],
      "clusters":[{"name":"c","cluster":{"server":"https://[::1]:1/k8s/c-1","insecure-skip-tls-verify":true}}],
      "users":[{"name":"u","user":{"token":"t","tokenFile":""}}]})";
  const auto config = LoadKubeconfig(folder.Write("config", text), "b");
  REQUIRE_MESSAGE(config.has_value(), config.error().message);
  CHECK(config->server == "https://[::1]:1/k8s/c-1");
  CHECK(config->insecure);
  CHECK(config->token == "t");
  Has(ErrorOfConfig(folder, text), "there is no cluster named x");
}

TEST_CASE("kubeconfig says which entry is missing or double") {
  TempFolder folder;
  const std::string good = Config(kServer, kToken);
  CHECK(ErrorOfConfig(folder, good) == "none");
  Has(ErrorOfConfig(folder, good, "there"), "contexts: there is no context named there");
  Has(ErrorOfConfig(folder, "kind: Config\n"), "current-context: is not set");
  Has(ErrorOfConfig(folder, good + "- name: u\n  user: {}\n"), "there are two entries named u");
  Has(ErrorOfConfig(folder, "kind: Job\n"), "kind: must be Config");
  Has(ErrorOfConfig(folder, "{"), folder.path("config") + ":1");
  Has(ErrorOfConfig(folder, "a: 1\n---\nb: 2\n"), "must hold one document");
  Has(ErrorOfConfig(folder, "contexts: 3\ncurrent-context: here\n"), "contexts: must be a list");
  const auto missing = LoadKubeconfig(folder.path("nothing"), "");
  REQUIRE_FALSE(missing.has_value());
  Has(missing.error().message, "nothing: there is no such file");
}

TEST_CASE("kubeconfig refuses what it does not support instead of passing it over") {
  TempFolder folder;
  for (const std::string field :
       {"exec: {command: aws}", "auth-provider: {name: gcp}", "username: admin", "password: secret",
        "as: other", "as-uid: '1'", "as-groups: [a]", "as-user-extra: {a: [b]}"}) {
    CAPTURE(field);
    const std::string error = ErrorOfConfig(folder, Config(kServer, "    " + field + "\n"));
    Has(error, "users[0].user." + field.substr(0, field.find(':')) + ": is not supported");
    CHECK(error.find("secret") == std::string::npos);
  }
  for (const std::string field : {"tls-server-name: other", "proxy-url: http://proxy:1"}) {
    Has(ErrorOfConfig(folder, Config(kServer + "    " + field + "\n", kToken)),
        field.substr(0, field.find(':')) + ": is not supported");
  }
  CHECK(ErrorOfConfig(folder, Config(kServer + "    proxy-url: ''\n", kToken)) == "none");
}

TEST_CASE("kubeconfig refuses servers that are none") {
  TempFolder folder;
  for (const std::string server :
       {"''", "127.0.0.1:6443", "https://", "https://:1", "ftp://a", "https://u@a", "https://a:0",
        "https://a:65536", "https://a:1x", "https://a?b=c", "'https://a b'"}) {
    CAPTURE(server);
    Has(ErrorOfConfig(folder, Config("    server: " + server + "\n", kToken)),
        "clusters[0].cluster.server: ");
  }
  for (const std::string server : {"http://a", "https://a.b:65535/c/d/", "https://[::1]"}) {
    CAPTURE(server);
    CHECK(ErrorOfConfig(folder, Config("    server: " + server + "\n", kToken)) == "none");
  }
}

TEST_CASE("kubeconfig refuses certificates and keys that OpenSSL cannot use") {
  TempFolder folder;
  const std::string other_key = sandbox::MakeCertificates("other").value().client_key;
  const auto user = [](const std::string& cert, const std::string& key) {
    return Config(kServer, "    client-certificate-data: " + Base64(cert) +
                               "\n    client-key-data: " + Base64(key) + "\n");
  };
  const auto ca = [](const std::string& value) { return Config(kServer + value, kToken); };
  const std::string data = "    certificate-authority-data: ";
  Has(ErrorOfConfig(folder, ca(data + "'-----BEGIN'\n")), "is no base64 text");
  Has(ErrorOfConfig(folder, ca(data + "YWI\n")), "is no base64 text");
  Has(ErrorOfConfig(folder, ca(data + "YW=I\n")), "is no base64 text");
  Has(ErrorOfConfig(folder, ca(data + "12\n")), "must be a string");
  Has(ErrorOfConfig(folder, ca(data + Base64("not PEM") + "\n")),
      "certificate-authority-data: there is no PEM certificate in it: no start line");
  std::string broken = Made().ca;
  broken[40] = broken[40] == 'A' ? 'B' : 'A';
  broken[41] = '!';
  Has(ErrorOfConfig(folder, ca(data + Base64(broken) + "\n")),
      "PEM certificate number 1 cannot be read: bad base64 decode");
  Has(ErrorOfConfig(folder, ca("    certificate-authority: gone.crt\n")), "there is no such file");
  folder.Write("empty.crt", "");
  Has(ErrorOfConfig(folder, ca("    certificate-authority: empty.crt\n")), "is empty");
  Has(ErrorOfConfig(folder, ca("    certificate-authority: .\n")), "is no regular file");
  folder.Write("ca.crt", Made().ca);
  Has(ErrorOfConfig(folder,
                    ca("    certificate-authority: ca.crt\n" + data + Base64(Made().ca) + "\n")),
      "stands beside certificate-authority");
  Has(ErrorOfConfig(folder,
                    ca(data + Base64(Made().ca) + "\n    insecure-skip-tls-verify: true\n")),
      "cannot stand beside insecure-skip-tls-verify");
  Has(ErrorOfConfig(folder, user(Made().client_cert, other_key)),
      "client-key-data: the key does not belong to the certificate: key values mismatch");
  Has(ErrorOfConfig(folder, user(Made().client_cert, "x")), "the key cannot be read as PEM");
  Has(ErrorOfConfig(
          folder, user(Made().client_cert, "-----BEGIN ENCRYPTED PRIVATE KEY-----\n" + Base64("x") +
                                               "\n-----END ENCRYPTED PRIVATE KEY-----\n")),
      "the key cannot be read");
  Has(ErrorOfConfig(folder, Config(kServer, "    client-certificate-data: " +
                                                Base64(Made().client_cert) + "\n")),
      "client-key: is missing");
}

TEST_CASE("kubeconfig checks tokens and shows none") {
  TempFolder folder;
  const std::string error = ErrorOfConfig(folder, Config(kServer, "    token: \"se cret\"\n"));
  Has(error, "users[0].user.token: the token has a character");
  CHECK(error.find("cret") == std::string::npos);
  CHECK(ErrorOfConfig(folder, Config(kServer, "    token: 77777\n")).find("777") ==
        std::string::npos);
  Has(ErrorOfConfig(folder, Config(kServer, "    tokenFile: gone\n")), "there is no such file");
  folder.Write("blank", "\n");
  Has(ErrorOfConfig(folder, Config(kServer, "    tokenFile: blank\n")), "the token is empty");
  CHECK(ErrorOfConfig(folder, Config(kServer, kToken + "    tokenFile: gone\n")) == "none");
}

TEST_CASE("in-cluster configuration comes from the environment and the service account") {
  TempFolder folder;
  unsetenv("KUBERNETES_SERVICE_HOST");
  const auto outside = InClusterConfig(folder.path(""));
  REQUIRE_FALSE(outside.has_value());
  CHECK(outside.error().code == ErrorCode::kNotFound);
  setenv("KUBERNETES_SERVICE_HOST", "fd00::1", 1);
  setenv("KUBERNETES_SERVICE_PORT", "443", 1);
  const std::string root = folder.path("sa");
  std::filesystem::create_directory(root);
  Has(InClusterConfig(root).error().message, "ca.crt: there is no such file");
  folder.Write("sa/ca.crt", Made().ca);
  folder.Write("sa/token", "t\n");
  const auto inside = InClusterConfig(root);
  unsetenv("KUBERNETES_SERVICE_HOST");
  REQUIRE_MESSAGE(inside.has_value(), inside.error().message);
  CHECK(inside->server == "https://[fd00::1]:443");
  CHECK(inside->token_file == root + "/token");
  CHECK(inside->ca_file == root + "/ca.crt");
}

}  // namespace
}  // namespace caldera
