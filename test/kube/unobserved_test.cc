// The guard rail of pplx_guard.h: a failed task that nobody looked at is counted, where the library
// would end the process. The one test that sees the library's headers.
#include "controller/kube/pplx_guard.h"
//
#include <cpprest/http_client.h>
#include <doctest/doctest.h>

#include <chrono>
#include <thread>

#include "controller/kube/rest_transport.h"

namespace caldera {
namespace {

bool CountReaches(uint64_t count) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(5);
  while (UnobservedFailures() < count && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return UnobservedFailures() == count;
}

TEST_CASE("a failed task that nobody looks at is counted and the process lives") {
  PrepareRestLibrary();
  const uint64_t before = UnobservedFailures();
  pplx::task_from_exception<int>(std::runtime_error("dropped"));
  CHECK(CountReaches(before + 1));
  {
    // This one fails and is dropped inside the library.
    web::http::client::http_client client("http://127.0.0.1:1");
    client.request("GET");
  }
  CHECK(CountReaches(before + 2));
}

}  // namespace
}  // namespace caldera
