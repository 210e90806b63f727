#include "test/sandbox/https_server.h"

#include <openssl/evp.h>

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <set>
#include <string_view>
#include <thread>
#include <utility>

#include "test/sandbox/backend_gate.h"
#include "test/sandbox/https_connection.h"

namespace caldera::sandbox {
namespace {

namespace asio = boost::asio;
using Tcp = asio::ip::tcp;
using BoostError = boost::system::error_code;

constexpr size_t kMaxConnections = 4096;
constexpr std::chrono::milliseconds kAcceptPause{50};

std::string Base64(const std::string& text) {
  std::string out((text.size() + 2) / 3 * 4 + 1, '\0');
  // NOLINTBEGIN(cppcoreguidelines-pro-type-reinterpret-cast): OpenSSL's bytes are unsigned.
  const int size = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(out.data()),
                                   reinterpret_cast<const unsigned char*>(text.data()),
                                   static_cast<int>(text.size()));
  // NOLINTEND(cppcoreguidelines-pro-type-reinterpret-cast)
  out.resize(static_cast<size_t>(size));
  return out;
}

void Configure(asio::ssl::context& context, const Certificates& certificates,
               const HttpsServerOptions& options) {
  context.set_options(asio::ssl::context::no_tlsv1 | asio::ssl::context::no_tlsv1_1);
  context.use_certificate_chain(asio::buffer(certificates.server_cert));
  context.use_private_key(asio::buffer(certificates.server_key), asio::ssl::context::pem);
  context.add_certificate_authority(asio::buffer(certificates.ca));
  // A client that resumes a session is refused where the context has no id.
  constexpr std::string_view kSessions = "caldera";
  SSL_CTX_set_session_id_context(context.native_handle(),
                                 reinterpret_cast<const unsigned char*>(kSessions.data()),
                                 kSessions.size());
  auto mode = asio::ssl::verify_peer;
  if (options.require_client_certificate && options.token.empty()) {
    mode |= asio::ssl::verify_fail_if_no_peer_cert;
  }
  context.set_verify_mode(mode);
}

}  // namespace

class HttpsServer::Impl {
 public:
  Impl(HttpTransport& backend, Executor& executor, Certificates certificates,
       HttpsServerOptions options)
      : certificates_(std::move(certificates)),
        options_(std::move(options)),
        backend_(std::make_shared<BackendGate>(
            backend, executor,
            [this](BackendGate::Step step) { asio::post(io_, std::move(step)); })),
        context_(asio::ssl::context::tls_server),
        acceptor_(io_),
        pause_(io_) {
    Configure(context_, certificates_, options_);
    const Tcp::endpoint endpoint(asio::ip::address_v4::loopback(), options_.port);
    acceptor_.open(endpoint.protocol());
    acceptor_.set_option(asio::socket_base::reuse_address(true));
    acceptor_.bind(endpoint);
    acceptor_.listen();
    port_ = acceptor_.local_endpoint().port();
    Accept();
    thread_ = std::thread([this] { io_.run(); });
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl() {
    // Peers must see the end of their connections before this returns.
    asio::post(io_, [this] {
      acceptor_.close();
      DropAll();
      io_.stop();
    });
    thread_.join();
    backend_->Shut();
  }

  void DropConnections() {
    asio::post(io_, [this] { DropAll(); });
  }
  [[nodiscard]] uint16_t port() const { return port_; }
  [[nodiscard]] uint64_t accepted() const { return accepted_; }
  [[nodiscard]] const Certificates& certificates() const { return certificates_; }
  [[nodiscard]] const HttpsServerOptions& options() const { return options_; }

 private:
  void Accept() {
    acceptor_.async_accept([this](const BoostError& error, Tcp::socket socket) {
      if (error == asio::error::operation_aborted) {
        return;
      }
      if (error) {
        // Out of descriptors, most likely: some may come back.
        pause_.expires_after(kAcceptPause);
        pause_.async_wait([this](const BoostError& aborted) {
          if (!aborted) {
            Accept();
          }
        });
        return;
      }
      ++accepted_;
      if (connections_.size() < kMaxConnections) {
        Serve(std::move(socket));
      }
      Accept();
    });
  }

  void Serve(Tcp::socket socket) {
    BoostError ignored;
    socket.set_option(Tcp::no_delay(true), ignored);
    const auto connection = std::make_shared<HttpsConnection>(
        std::move(socket), context_, options_, backend_,
        [this](HttpsConnection* done) { connections_.erase(done->shared_from_this()); });
    connections_.insert(connection);
    connection->Start();
  }

  void DropAll() {
    const auto connections = connections_;  // Each takes itself out.
    for (const auto& connection : connections) {
      connection->Drop();
    }
  }

  const Certificates certificates_;
  const HttpsServerOptions options_;
  asio::io_context io_{1};
  const std::shared_ptr<BackendGate> backend_;
  asio::ssl::context context_;
  Tcp::acceptor acceptor_;
  asio::steady_timer pause_;
  std::set<std::shared_ptr<HttpsConnection>> connections_;  // I/O thread only.
  std::atomic<uint64_t> accepted_{0};
  uint16_t port_ = 0;
  std::thread thread_;
};

Result<std::unique_ptr<HttpsServer>> HttpsServer::Start(HttpTransport& backend, Executor& executor,
                                                        const Certificates& certificates,
                                                        const HttpsServerOptions& options) {
  try {
    return std::unique_ptr<HttpsServer>(
        new HttpsServer(std::make_unique<Impl>(backend, executor, certificates, options)));
  } catch (const boost::system::system_error& error) {
    const bool port =
        error.code() == asio::error::address_in_use || error.code() == asio::error::access_denied;
    return Fail(port ? ErrorCode::kUnavailable : ErrorCode::kInvalid,
                "HTTPS on 127.0.0.1:" + std::to_string(options.port) + ": " + error.what());
  }
}

HttpsServer::HttpsServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

HttpsServer::~HttpsServer() = default;

uint16_t HttpsServer::port() const { return impl_->port(); }

std::string HttpsServer::url() const { return "https://127.0.0.1:" + std::to_string(port()); }

std::string HttpsServer::Kubeconfig(const std::string& context) const {
  const Certificates& made = impl_->certificates();
  const bool by_token =
      !impl_->options().require_client_certificate && !impl_->options().token.empty();
  const std::string user = by_token
                               ? "    token: \"" + impl_->options().token + "\"\n"
                               : "    client-certificate-data: " + Base64(made.client_cert) +
                                     "\n    client-key-data: " + Base64(made.client_key) + "\n";
  return "apiVersion: v1\nkind: Config\ncurrent-context: " + context +
         "\ncontexts:\n- name: " + context + "\n  context:\n    cluster: " + context +
         "\n    user: " + context + "\nclusters:\n- name: " + context +
         "\n  cluster:\n    server: " + url() +
         "\n    certificate-authority-data: " + Base64(made.ca) + "\nusers:\n- name: " + context +
         "\n  user:\n" + user;
}

void HttpsServer::DropConnections() { impl_->DropConnections(); }

uint64_t HttpsServer::connections() const { return impl_->accepted(); }

}  // namespace caldera::sandbox
