#include "test/sandbox/backend_gate.h"

namespace caldera::sandbox {

void BackendGate::Send(HttpRequest request, HttpTransport::ResponseHandler done) {
  executor_.Post([self = shared_from_this(), request = std::move(request),
                  done = std::move(done)]() mutable {
    if (self->backend_ == nullptr) {
      return;
    }
    self->backend_->Send(
        std::move(request), [self, done = std::move(done)](Result<HttpResponse> response) mutable {
          self->ToIo([done = std::move(done), response = std::move(response)]() mutable {
            done(std::move(response));
          });
        });
  });
}

BackendGate::StreamId BackendGate::Open(HttpRequest request, StreamHandlers handlers) {
  const StreamId id = ++last_;
  executor_.Post([self = shared_from_this(), id, request = std::move(request),
                  handlers = std::move(handlers)]() mutable {
    if (self->backend_ != nullptr) {
      self->OpenHere(id, std::move(request), handlers);
    }
  });
  return id;
}

void BackendGate::OpenHere(StreamId id, HttpRequest request, const StreamHandlers& handlers) {
  StreamHandlers here;
  here.on_response = [self = shared_from_this(), handlers](const HttpResponse& response) {
    self->ToIo([handlers, response] { handlers.on_response(response); });
  };
  here.on_line = [self = shared_from_this(), handlers](std::string&& line) {
    self->ToIo([handlers, line = std::move(line)]() mutable { handlers.on_line(std::move(line)); });
  };
  here.on_end = [self = shared_from_this(), id, handlers](const Status& status) {
    self->streams_.erase(id);
    self->ToIo([handlers, status] { handlers.on_end(status); });
  };
  // A backend may answer before it returns: the entry is there first, so that on_end finds it.
  streams_.emplace(id, 0);
  const HttpTransport::StreamId stream = backend_->OpenStream(std::move(request), std::move(here));
  if (const auto found = streams_.find(id); found != streams_.end()) {
    found->second = stream;
  }
}

void BackendGate::Close(StreamId stream) {
  executor_.Post([self = shared_from_this(), stream] {
    const auto found = self->streams_.find(stream);
    if (found != self->streams_.end() && self->backend_ != nullptr) {
      const HttpTransport::StreamId id = found->second;
      self->streams_.erase(found);
      self->backend_->CloseStream(id);
    }
  });
}

void BackendGate::Shut() {
  HttpTransport* const backend = std::exchange(backend_, nullptr);
  for (const auto& [id, stream] : std::exchange(streams_, {})) {
    backend->CloseStream(stream);
  }
}

void BackendGate::ToIo(Step step) {
  if (backend_ != nullptr) {
    to_io_(std::move(step));
  }
}

}  // namespace caldera::sandbox
