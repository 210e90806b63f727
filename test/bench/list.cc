// bench_list OUT.json FOLDER JOBS LIMIT_MB: the live controller, watching only, comes up on a
// Karmada API that lists JOBS Jobs in pages, each with what `kubectl apply` leaves on it
// (managedFields, last-applied-configuration; about 6 KB of JSON), and decides once. Fails above
// LIMIT_MB of memory. In process, without sockets: the decoder, the Observer, State and the ledger
// are measured.
#include <sys/resource.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>

#include "controller/run/controller.h"
#include "controller/run/log.h"
#include "test/bench/arguments.h"
#include "test/bench/report.h"

namespace caldera::bench {
namespace {

constexpr int kPage = 500;

std::string Padding(const std::string& prefix, int entries) {
  std::string text;
  for (int i = 0; i < entries; ++i) {
    text += (i > 0 ? "," : "") + ("\"" + prefix + std::to_string(i) + "\":{}");
  }
  return text;
}

/// Answers lists; watches stay silent. The pages are made when they are asked for.
class Api final : public HttpTransport {
 public:
  Api(Executor& executor, int jobs) : executor_(executor), jobs_(jobs) {}

  [[nodiscard]] int64_t bytes() const { return bytes_; }

  void Send(HttpRequest request, ResponseHandler done) override {
    HttpResponse response;
    response.status = request.method == "GET" ? 200 : 405;
    response.headers["content-type"] = "application/json";
    response.body = Body(request);
    bytes_ += static_cast<int64_t>(response.body.size());
    executor_.Post([response = std::move(response), done = std::move(done)] { done(response); });
  }
  StreamId OpenStream(HttpRequest /*request*/, StreamHandlers /*handlers*/) override {
    return ++streams_;
  }
  void CloseStream(StreamId /*stream*/) override {}

 private:
  std::string Body(const HttpRequest& request) const {
    const auto list = [](const std::string& items, const std::string& token) {
      return R"({"kind":"List","apiVersion":"v1","metadata":{"resourceVersion":"1","continue":")" +
             token + R"("},"items":[)" + items + "]}";
    };
    if (request.path.ends_with("/clusters")) {
      return list(
          R"({"metadata":{"name":"east","uid":"east","resourceVersion":"1"},"status":{"conditions":)"
          R"([{"type":"Ready","status":"True","lastTransitionTime":"2026-01-01T00:00:00Z"}],)"
          R"("resourceSummary":{"allocatable":{"cpu":"64","memory":"256Gi","pods":"100"}}}})",
          "");
    }
    if (!request.path.ends_with("/jobs")) {
      return list("", "");
    }
    int from = 0;
    for (const auto& [key, value] : request.query) {
      from = key == "continue" ? std::atoi(value.c_str()) : from;
    }
    const int to = std::min(from + kPage, jobs_);
    std::string items;
    for (int i = from; i < to; ++i) {
      items += (i > from ? "," : "") + Job(i);
    }
    return list(items, to < jobs_ ? std::to_string(to) : "");
  }

  /// As a trainer's: its own name and image, one of 64 sizes.
  [[nodiscard]] std::string Job(int index) const {
    const std::string number = std::to_string(index);
    std::string variables;
    for (int i = 0; i < 20; ++i) {
      variables += (i > 0 ? "," : "") + (R"({"name":"VARIABLE_)" + std::to_string(i) +
                                         R"(","value":"some value of it )" + number + R"("})");
    }
    const std::string spec =
        R"({"queue":"default","minAvailable":4,"schedulerName":"volcano","plugins":{"svc":[]},)"
        R"("tasks":[{"name":"worker","replicas":4,"template":{"spec":{"restartPolicy":"Never",)"
        R"("containers":[{"name":"main","image":"registry.example.org/trainer:)" +
        number + R"(","command":["python","train.py","--run","run-)" + number + R"("],"env":[)" +
        variables + R"(],"resources":{"requests":{"cpu":")" + std::to_string(1 + index % 64) +
        R"(","memory":"8Gi"}}}]}}}]})";
    std::string applied;
    for (const char c : spec) {
      applied += c == '"' ? "\\\"" : std::string(1, c);
    }
    return R"({"apiVersion":"batch.volcano.sh/v1alpha1","kind":"Job","metadata":{"name":"job-)" +
           number + R"(","namespace":"team","uid":"00000000-0000-0000-0000-)" +
           std::string(12 - number.size(), '0') + number +
           R"(","resourceVersion":"1","creationTimestamp":"2026-12-01T08:00:00Z","annotations":)"
           R"({"kubectl.kubernetes.io/last-applied-configuration":")" +
           applied +
           R"("},"managedFields":[{"manager":"kubectl","operation":"Update","fieldsV1":{)" +
           fields_ + R"(}}]},"spec":)" + spec + "}";
  }

  Executor& executor_;
  const int jobs_;
  const std::string fields_ = Padding("f:field", 100);
  int64_t bytes_ = 0;
  StreamId streams_ = 0;
};

int64_t PeakMegabytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss / 1024;
}

int Run(const std::string& out, const std::filesystem::path& folder, int jobs, int64_t limit) {
  std::filesystem::create_directories(folder);
  const SystemClock clock;
  Executor executor(clock);
  Api api(executor, jobs);
  auto ledger = Ledger::Open((folder / "list.db").string());
  if (!ledger.has_value()) {
    std::fprintf(stderr, "bench_list: %s\n", ledger.error().message.c_str());
    return 1;
  }
  Metrics metrics;
  ControllerConfig config;
  config.log.level = "warn";
  StartLog(config.log);
  config.observe = true;
  config.requests_per_second = 1'000'000;
  config.burst = 1'000'000;
  const int64_t before = PeakMegabytes();
  auto controller = Controller::Create(config, {executor, api, *ledger, metrics}, [] {});
  if (!controller.has_value()) {
    std::fprintf(stderr, "bench_list: %s\n", controller.error().message.c_str());
    return 1;
  }
  const auto start = Clock::now();
  (*controller)->Start();
  while (ledger->LastCycle() == 0) {
    executor.RunDue();
  }
  const double decided = SecondsSince(start);
  const int64_t peak = PeakMegabytes();
  const bool written = Report(
      out, {{"list_json", static_cast<double>(api.bytes()) / 1e6, "MB"},
            {"list_jobs", jobs / decided, "1/s"},
            {"list_peak", static_cast<double>(peak), "MiB"},
            {"list_bytes_per_job", static_cast<double>(peak - before) * 1048576 / jobs, "B"}});
  if (peak > limit) {
    std::fprintf(stderr, "bench_list: %lld MiB, above %lld\n", static_cast<long long>(peak),
                 static_cast<long long>(limit));
    return 1;
  }
  return written ? 0 : 1;
}

}  // namespace
}  // namespace caldera::bench

int main(int argc, char** argv) {
  using namespace caldera::bench;
  const auto arguments = ReadArguments(argc, argv, 4, 4);
  const int64_t jobs = arguments.has_value() ? Positive(arguments->words[2]) : 0;
  const int64_t limit = arguments.has_value() ? Positive(arguments->words[3]) : 0;
  if (jobs == 0 || limit == 0) {
    std::fputs("usage: bench_list OUT.json FOLDER JOBS LIMIT_MB\n", stderr);
    return 2;
  }
  return Run(arguments->words[0], arguments->words[1], static_cast<int>(jobs), limit);
}
