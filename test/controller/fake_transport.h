// An HttpTransport that a test answers by hand: what was sent waits in `sent`, and Answer, Line and
// End play the server. Everything runs through the executor, as the real one does.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <utility>

#include "controller/kube/executor.h"
#include "controller/kube/http.h"

namespace caldera {

class FakeTransport final : public HttpTransport {
 public:
  struct Exchange {
    HttpRequest request;
    ResponseHandler done;  ///< Set for a request.
    StreamId stream = 0;   ///< Set for a stream.
  };

  explicit FakeTransport(Executor& executor) : executor_(executor) {}

  void Send(HttpRequest request, ResponseHandler done) override {
    sent.push_back({std::move(request), std::move(done), 0});
  }
  StreamId OpenStream(HttpRequest request, StreamHandlers handlers) override {
    const StreamId id = ++last_stream_;
    streams_.emplace(id, std::move(handlers));
    sent.push_back({std::move(request), nullptr, id});
    return id;
  }
  void CloseStream(StreamId stream) override { streams_.erase(stream); }

  /// Takes the oldest exchange that was not taken yet; asserts that there is one.
  Exchange Take() {
    Exchange exchange = std::move(sent.front());
    sent.pop_front();
    return exchange;
  }
  static HttpResponse Response(int status, std::string body) {
    return {status, {{"content-type", "application/json"}}, std::move(body)};
  }
  void Respond(StreamId stream, const HttpResponse& response) {
    Step(stream, [response](StreamHandlers& h) { h.on_response(response); });
  }
  void Line(StreamId stream, std::string line) {
    Step(stream,
         [line = std::move(line)](StreamHandlers& h) mutable { h.on_line(std::move(line)); });
  }
  void End(StreamId stream, const Status& status) {
    Step(stream, [status](StreamHandlers& h) { h.on_end(status); });
  }
  [[nodiscard]] size_t open_streams() const { return streams_.size(); }

  std::deque<Exchange> sent;

 private:
  template <typename Call>
  void Step(StreamId stream, Call call) {
    executor_.Post([this, stream, call = std::move(call)]() mutable {
      const auto found = streams_.find(stream);
      if (found != streams_.end()) {
        StreamHandlers handlers = found->second;  // A handler may close its own stream.
        call(handlers);
      }
    });
  }

  Executor& executor_;
  std::map<StreamId, StreamHandlers> streams_;
  StreamId last_stream_ = 0;
};

}  // namespace caldera
