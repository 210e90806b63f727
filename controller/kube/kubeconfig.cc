#include "controller/kube/kubeconfig.h"

#include <openssl/evp.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string_view>
#include <utility>

#include "controller/kube/credentials.h"
#include "controller/kube/input.h"
#include "federation/fields.h"

namespace caldera {
namespace {

// The text of `data`; nullopt where it is no base64 (RFC 4648, section 4). Line ends are ignored.
std::optional<std::string> FromBase64(std::string data) {
  constexpr std::string_view kAlphabet =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::erase_if(data, [](char c) { return c == '\n' || c == '\r' || c == ' '; });
  const size_t digits = std::min(data.find('='), data.size());
  const size_t padding = data.size() - digits;
  if (data.size() % 4 != 0 || padding > 2 ||
      std::string_view(data).substr(0, digits).find_first_not_of(kAlphabet) !=
          std::string_view::npos ||
      data.find_first_not_of('=', digits) != std::string::npos) {
    return std::nullopt;
  }
  std::string text(data.size() / 4 * 3, '\0');
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): OpenSSL's bytes are unsigned.
  const int size = EVP_DecodeBlock(reinterpret_cast<unsigned char*>(text.data()),
                                   // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast)
                                   reinterpret_cast<const unsigned char*>(data.data()),
                                   static_cast<int>(data.size()));
  if (size < 0) {
    return std::nullopt;
  }
  text.resize(static_cast<size_t>(size) - padding);
  return text;
}

// The first complaint as an Error. Never the value: it may be a secret.
Error ErrorOfIssue(const Issue& issue) {
  std::string text = "kubeconfig " + issue.file;
  if (issue.mark.line > 0) {
    text += ":" + std::to_string(issue.mark.line);
  }
  text += ": " + (issue.field.empty() ? "" : issue.field + ": ") + issue.message;
  return {ErrorCode::kInvalid, std::move(text)};
}

Result<Value> ReadRoot(const std::string& path) {
  Result<std::string> text = ReadSmallFile(path);
  if (!text) {
    return tl::unexpected<Error>(text.error().Within("kubeconfig"));
  }
  ReadReport report;
  std::vector<Document> documents;
  ReadText(
      *text, path, [&documents](Document document) { documents.push_back(std::move(document)); },
      report);
  if (!report.errors.empty()) {
    return tl::unexpected<Error>(ErrorOfIssue(report.errors.front()));
  }
  if (documents.size() != 1) {
    return Fail(ErrorCode::kInvalid, "kubeconfig " + path + ": must hold one document, not " +
                                         std::to_string(documents.size()));
  }
  return std::move(documents.front().root);
}

// Reads one kubeconfig; complaints go to the sink, of which the first is told.
class KubeconfigReader {
 public:
  KubeconfigReader(const std::string& path, const Value& root)
      : folder_(std::filesystem::path(path).parent_path()), root_(&root, "", root.mark(), sink_) {
    sink_.file = path;
  }

  Result<RestConfig> Read(const std::string& context) {
    CheckKind();
    const auto name = context.empty() ? root_["current-context"].String() : context;
    if (!name || name->empty()) {
      root_["current-context"].Refuse("is not set, and no context was asked for");
    } else if (const auto named = Entry("contexts", "context", *name)) {
      ReadContext((*named)["context"]);
    }
    if (!sink_.errors.empty()) {
      return tl::unexpected<Error>(ErrorOfIssue(sink_.errors.front()));
    }
    return config_;
  }

 private:
  void CheckKind() {
    const auto kind = root_["kind"].String();
    if (kind && !kind->empty() && *kind != "Config") {
      root_["kind"].Refuse("must be Config, as kubectl config writes it");
    }
    const auto version = root_["apiVersion"].String();
    if (version && !version->empty() && *version != "v1") {
      root_["apiVersion"].Refuse("must be v1");
    }
  }

  // The entry of that name in a list of the root.
  std::optional<Field> Entry(const char* list, const char* what, const std::string& name) {
    std::optional<Field> found;
    for (const Field& item : root_[list].Items()) {
      const auto item_name = item["name"].String();
      if (!item_name || *item_name != name) {
        continue;
      }
      if (found) {
        item["name"].Refuse(std::string("there are two entries named ") + name);
        return std::nullopt;
      }
      found = item;
    }
    if (!found) {
      root_[list].Refuse(std::string("there is no ") + what + " named " + name);
    }
    return found;
  }

  void ReadContext(const Field& context) {
    const auto cluster = context["cluster"].String();
    const auto user = context["user"].String();
    if (!cluster || cluster->empty()) {
      context["cluster"].Refuse("is missing: name an entry of clusters");
    } else if (const auto entry = Entry("clusters", "cluster", *cluster)) {
      ReadCluster((*entry)["cluster"]);
    }
    if (!user || user->empty()) {
      context["user"].Refuse("is missing: name an entry of users");
    } else if (const auto entry = Entry("users", "user", *user)) {
      ReadUser((*entry)["user"]);
    }
  }

  void ReadCluster(const Field& cluster) {
    const auto server = cluster["server"].String();
    RefuseWhere(cluster["server"], CheckServer(server.value_or("")));
    config_.server = server.value_or("");
    while (config_.server.ends_with('/')) {
      config_.server.pop_back();
    }
    RefuseUnsupported(cluster, "tls-server-name", "use a server name that is in the certificate");
    RefuseUnsupported(cluster, "proxy-url", "the server must be reachable directly");
    config_.insecure = cluster["insecure-skip-tls-verify"].Bool().value_or(false);
    ReadText(cluster, "certificate-authority", config_.ca_pem, config_.ca_file);
    const Field at = Shown(cluster, "certificate-authority");
    if (config_.insecure && at.Present()) {
      at.Refuse("cannot stand beside insecure-skip-tls-verify: remove one of them");
    } else if (at.Present() && sink_.errors.empty()) {
      if (const auto pem = Text(at, config_.ca_pem, config_.ca_file)) {
        RefuseWhere(at, CheckCertificates(*pem));
      }
    }
  }

  void ReadUser(const Field& user) {
    RefuseUnsupported(user, "exec", "use a client certificate, token or tokenFile");
    RefuseUnsupported(user, "auth-provider", "use a client certificate, token or tokenFile");
    for (const char* key : {"username", "password"}) {
      RefuseUnsupported(user, key, "API servers have no passwords since Kubernetes 1.19");
    }
    for (const char* key : {"as", "as-uid", "as-groups", "as-user-extra"}) {
      RefuseUnsupported(user, key, "give the rights to the user itself");
    }
    ReadText(user, "client-certificate", config_.cert_pem, config_.cert_file);
    ReadText(user, "client-key", config_.key_pem, config_.key_file);
    const Field cert_at = Shown(user, "client-certificate");
    const Field key_at = Shown(user, "client-key");
    if (cert_at.Present() != key_at.Present()) {
      (cert_at.Present() ? key_at : cert_at)
          .Refuse("is missing: a certificate and its key go together");
    } else if (cert_at.Present() && sink_.errors.empty()) {
      CheckPair(cert_at, key_at);
    }
    ReadToken(user);
  }

  void CheckPair(const Field& cert_at, const Field& key_at) {
    const auto cert = Text(cert_at, config_.cert_pem, config_.cert_file);
    const auto key = Text(key_at, config_.key_pem, config_.key_file);
    if (!cert || !key) {
      return;
    }
    if (const Status checked = CheckCertificates(*cert); !checked) {
      RefuseWhere(cert_at, checked);
    } else {
      RefuseWhere(key_at, CheckKeyPair(*cert, *key));
    }
  }

  void ReadToken(const Field& user) {
    config_.token = Secret(user["token"]);
    config_.token_file = Resolved(user["tokenFile"].String().value_or(""));
    if (!config_.token.empty()) {
      RefuseWhere(user["token"], CheckToken(config_.token));
    }
    if (!config_.token_file.empty()) {
      RestConfig only_token;
      only_token.token = config_.token;
      only_token.token_file = config_.token_file;
      if (auto read = ReadCredentials(only_token); !read) {
        user["tokenFile"].Refuse(read.error().message);
      }
    }
  }

  // `KEY-data` (base64) as text, or `KEY` as a file.
  void ReadText(const Field& parent, const std::string& key, std::string& text, std::string& file) {
    const Field data = parent[key + "-data"];
    file = Resolved(parent[key].String().value_or(""));
    const std::string encoded = Secret(data);
    if (encoded.empty()) {
      return;
    }
    if (!file.empty()) {
      data.Refuse("stands beside " + key + ": remove one of them");
    } else if (auto decoded = FromBase64(encoded)) {
      text = *std::move(decoded);
    } else {
      data.Refuse("is no base64 text; a file goes into " + key);
    }
  }

  // A string whose value no complaint may show.
  static std::string Secret(const Field& field) {
    if (field.Present() && !field.value()->IsString()) {
      field.Refuse("must be a string: write it in quotes");
      return "";
    }
    return field.String().value_or("");
  }

  // Whichever of the two fields is used.
  static Field Shown(const Field& parent, const std::string& key) {
    const Field data = parent[key + "-data"];
    const bool used =
        data.Present() && !(data.value()->IsString() && data.value()->AsString().empty());
    return used ? data : parent[key];
  }

  // The text itself or the file's; nullopt where the file was refused.
  static std::optional<std::string> Text(const Field& at, const std::string& text,
                                         const std::string& file) {
    if (file.empty()) {
      return text;
    }
    Result<std::string> read = ReadSmallFile(file);
    if (!read) {
      at.Refuse(read.error().message);
      return std::nullopt;
    }
    return *std::move(read);
  }

  [[nodiscard]] std::string Resolved(const std::string& file) const {
    return file.empty() ? file : (folder_ / file).lexically_normal().string();
  }

  static void RefuseUnsupported(const Field& parent, const char* key, const char* instead) {
    const Field field = parent[key];
    const Value* value = field.value();
    if (field.Present() && !(value->IsString() && value->AsString().empty())) {
      field.Refuse(std::string("is not supported: ") + instead);
    }
  }

  static void RefuseWhere(const Field& at, const Status& status) {
    if (!status) {
      at.Refuse(status.error().message);
    }
  }

  const std::filesystem::path folder_;
  IssueSink sink_;
  const Field root_;
  RestConfig config_;
};

}  // namespace

Result<RestConfig> LoadKubeconfig(const std::string& path, const std::string& context) {
  CALDERA_TRY(const Value root, ReadRoot(path));
  return KubeconfigReader(path, root).Read(context);
}

Result<RestConfig> InClusterConfig(const std::string& folder) {
  // NOLINTNEXTLINE(concurrency-mt-unsafe): nothing here changes the environment after main began.
  const auto get = [](const char* name) { return std::getenv(name); };
  const char* host = get("KUBERNETES_SERVICE_HOST");
  const char* port = get("KUBERNETES_SERVICE_PORT");
  if (host == nullptr || port == nullptr || *host == '\0' || *port == '\0') {
    return Fail(ErrorCode::kNotFound,
                "this is no pod: KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set");
  }
  const std::string name(host);
  RestConfig config;
  config.server =
      "https://" + (name.find(':') == std::string::npos ? name : "[" + name + "]") + ":" + port;
  config.ca_file = folder + "/ca.crt";
  config.token_file = folder + "/token";
  CALDERA_CHECK(CheckServer(config.server));
  if (const auto read = ReadCredentials(config); !read) {
    return tl::unexpected<Error>(read.error().Within("the service account"));
  }
  return config;
}

}  // namespace caldera
