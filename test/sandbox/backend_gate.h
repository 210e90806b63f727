// The way between the I/O thread of an HttpsServer and its backend on the executor's thread: calls
// go over as posted steps, answers come back as posted steps.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <utility>

#include "controller/kube/executor.h"
#include "controller/kube/http.h"

namespace caldera::sandbox {

class BackendGate : public std::enable_shared_from_this<BackendGate> {
 public:
  using Step = std::function<void()>;
  using StreamId = uint64_t;  ///< Ours, known before the backend has opened the stream.

  /// `to_io` posts a step on the I/O thread; it is not called after Shut.
  BackendGate(HttpTransport& backend, Executor& executor, std::function<void(Step)> to_io)
      : backend_(&backend), executor_(executor), to_io_(std::move(to_io)) {}

  // On the I/O thread; the handlers run there too.
  void Send(HttpRequest request, HttpTransport::ResponseHandler done);
  StreamId Open(HttpRequest request, StreamHandlers handlers);
  void Close(StreamId stream);

  /// On the executor's thread: closes all streams; the backend is not called any more.
  void Shut();

 private:
  void OpenHere(StreamId id, HttpRequest request, const StreamHandlers& handlers);
  void ToIo(Step step);

  HttpTransport* backend_;  // Executor's thread only; null once shut.
  Executor& executor_;
  const std::function<void(Step)> to_io_;
  StreamId last_ = 0;                                    // I/O thread only.
  std::map<StreamId, HttpTransport::StreamId> streams_;  // Executor's thread only.
};

}  // namespace caldera::sandbox
