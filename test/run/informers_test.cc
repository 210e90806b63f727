// What an API server does not have, with the whole controller.
#include "controller/run/informers.h"

#include "test/run/whole_controller.h"

namespace caldera::testing {
namespace {

/// An API server that does not have a kind yet.
class Without : public HttpTransport {
 public:
  Without(HttpTransport& server, std::string absent) : plural(std::move(absent)), server_(server) {}
  void Send(HttpRequest request, ResponseHandler done) override {
    if (!plural.empty() && request.path.find(plural) != std::string::npos) {
      request.path = "/apis/none.example/v1/nothing";
    }
    server_.Send(std::move(request), std::move(done));
  }
  StreamId OpenStream(HttpRequest request, StreamHandlers handlers) override {
    return server_.OpenStream(std::move(request), std::move(handlers));
  }
  void CloseStream(StreamId stream) override { server_.CloseStream(stream); }

  std::string plural;  ///< Empty: it has all.

 private:
  HttpTransport& server_;
};

TEST_CASE(
    "Quotas that an API server does not have yet still hold, and those that are gone do not") {
  for (const bool comes : {true, false}) {
    CAPTURE(comes);
    Federation fed;
    fed.Create(fed.karmada, kQuotas, R"({"metadata":{"name":"q"},"spec":{"overall":{"cpu":"4"}}})");
    auto one = fed.StartReplica();
    fed.Submit("a", 4);
    fed.Submit("b", 4);
    fed.Advance(kSoon);
    CHECK(fed.Running().size() == 1);
    one.reset();
    Without server(fed.karmada, "federatedresourcequotas");
    Replica two(fed.executor, server, fed.directory.File("ledger.db"), "one", {});
    fed.Advance(Millis(20'000));
    CHECK(fed.Running().size() == 1);
    server.plural = comes ? "" : server.plural;
    fed.Advance(kAbsentKindPatience + Millis(60'000));
    CHECK(fed.Phase("b") == "Completed");
  }
}

}  // namespace
}  // namespace caldera::testing
