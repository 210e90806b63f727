#include "test/kube/script_server.h"

#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <netinet/in.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <memory>
#include <utility>

#include "test/kube/live_world.h"

namespace caldera {
namespace {

using Context = std::unique_ptr<SSL_CTX, void (*)(SSL_CTX*)>;

Context MakeContext() {
  Context context(SSL_CTX_new(TLS_server_method()), SSL_CTX_free);
  const auto read = [](const std::string& pem) {
    return std::unique_ptr<BIO, int (*)(BIO*)>(
        BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())), BIO_free);
  };
  const auto cert_text = read(TestCertificates().server_cert);
  const auto key_text = read(TestCertificates().server_key);
  X509* const cert = PEM_read_bio_X509(cert_text.get(), nullptr, nullptr, nullptr);
  EVP_PKEY* const key = PEM_read_bio_PrivateKey(key_text.get(), nullptr, nullptr, nullptr);
  SSL_CTX_use_certificate(context.get(), cert);
  SSL_CTX_use_PrivateKey(context.get(), key);
  X509_free(cert);
  EVP_PKEY_free(key);
  return context;
}

SSL* Of(void* ssl) { return static_cast<SSL*>(ssl); }

}  // namespace

std::string ScriptServer::Peer::ReadRequest() {
  std::string text;
  size_t wanted = std::string::npos;
  while (text.size() < wanted) {
    std::array<char, 4096> bytes{};
    const int size = SSL_read(Of(ssl_), bytes.data(), static_cast<int>(bytes.size()));
    if (size <= 0) {
      return "";
    }
    text.append(bytes.data(), static_cast<size_t>(size));
    const size_t head = text.find("\r\n\r\n");
    if (head != std::string::npos && wanted == std::string::npos) {
      const size_t length = text.find("Content-Length:");
      wanted = head + 4 + (length < head ? std::stoul(text.substr(length + 15)) : 0);
    }
  }
  return text;
}

void ScriptServer::Peer::Write(std::string_view bytes) {
  SSL_write(Of(ssl_), bytes.data(), static_cast<int>(bytes.size()));
}

void ScriptServer::Peer::Chunk(std::string_view bytes) {
  std::array<char, 16> size{};
  snprintf(size.data(), size.size(), "%zx\r\n", bytes.size());
  Write(std::string(size.data()) + std::string(bytes) + "\r\n");
}

void ScriptServer::Peer::WaitForEnd() {
  char byte = 0;
  while (SSL_read(Of(ssl_), &byte, 1) > 0) {
  }
}

void ScriptServer::Peer::Reset() {
  const linger now{.l_onoff = 1, .l_linger = 0};
  setsockopt(socket_, SOL_SOCKET, SO_LINGER, &now, sizeof now);
  open_ = false;
}

void ScriptServer::Peer::Cut() { open_ = false; }

ScriptServer::ScriptServer(Script script) : script_(std::move(script)) {
  listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* const any = reinterpret_cast<sockaddr*>(&address);
  REQUIRE(bind(listener_, any, size) == 0);
  REQUIRE(listen(listener_, 16) == 0);
  REQUIRE(getsockname(listener_, any, &size) == 0);
  port_ = ntohs(address.sin_port);
  thread_ = std::thread([this] { Run(); });
}

ScriptServer::~ScriptServer() {
  stop_ = true;
  shutdown(listener_, SHUT_RDWR);
  if (const int open = open_; open >= 0) {
    shutdown(open, SHUT_RDWR);
  }
  thread_.join();
  close(listener_);
}

std::string ScriptServer::url() const { return "https://127.0.0.1:" + std::to_string(port_); }

void ScriptServer::Run() {
  // OpenSSL writes with write(): a peer that has gone must not end the process, and only here.
  sigset_t pipe;
  sigemptyset(&pipe);
  sigaddset(&pipe, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &pipe, nullptr);
  while (!stop_) {
    const int socket = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (socket < 0) {
      return;
    }
    ++connections_;
    open_ = socket;
    Serve(socket);
    open_ = -1;
    close(socket);
  }
}

void ScriptServer::Serve(int socket) {
  const Context context = MakeContext();
  const std::unique_ptr<SSL, void (*)(SSL*)> ssl(SSL_new(context.get()), SSL_free);
  SSL_set_fd(ssl.get(), socket);
  if (SSL_accept(ssl.get()) != 1) {
    ERR_clear_error();
    return;
  }
  Peer peer(ssl.get(), socket);
  script_(peer);
  if (peer.open_) {
    SSL_shutdown(ssl.get());
  }
  ERR_clear_error();
}

}  // namespace caldera
