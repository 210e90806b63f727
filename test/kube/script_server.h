// A TLS server that does exactly what a test says, byte for byte, also what no server should: one
// thread that hands each connection to the script. Blocking OpenSSL on purpose.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <thread>

namespace caldera {

class ScriptServer {
 public:
  class Peer {
   public:
    explicit Peer(void* ssl, int socket) : ssl_(ssl), socket_(socket) {}
    /// Up to and with the blank line and the body that Content-Length announces; empty: they
    /// closed.
    std::string ReadRequest();
    void Write(std::string_view bytes);
    /// `bytes` as one chunk of a chunked body.
    void Chunk(std::string_view bytes);
    /// Until the peer has closed or reset its side.
    void WaitForEnd();
    /// Closes with a RST, without close_notify.
    void Reset();
    /// Closes with a FIN, without close_notify.
    void Cut();

   private:
    void* ssl_;
    int socket_;
    bool open_ = true;
    friend class ScriptServer;
  };
  using Script = std::function<void(Peer&)>;

  /// `script` runs for each connection, one after the other, on the server's thread.
  explicit ScriptServer(Script script);
  ~ScriptServer();
  ScriptServer(const ScriptServer&) = delete;
  ScriptServer& operator=(const ScriptServer&) = delete;

  [[nodiscard]] std::string url() const;
  [[nodiscard]] int connections() const { return connections_; }

 private:
  void Run();
  void Serve(int socket);

  const Script script_;
  int listener_ = -1;
  uint16_t port_ = 0;
  std::atomic<bool> stop_{false};
  std::atomic<int> connections_{0};
  std::atomic<int> open_{-1};
  std::thread thread_;
};

}  // namespace caldera
