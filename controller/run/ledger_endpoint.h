// GET /ledger: a question about this controller's ledger, as `caldera ledger`, `caldera explain`
// and `caldera job` put it (`arg` for each argument, `width` and `colour` of the asker's terminal),
// answered with what those print. 200: done; 409: the answer is no (exit code 1); 400, 404, 500,
// 503: an error, its message alone. Reads the file beside the writer; the endpoints' thread for
// what takes long. What it may cost is bounded.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "controller/kube/executor.h"
#include "controller/run/http_endpoints.h"
#include "federation/result.h"
#include "storage/reader.h"

namespace caldera {

/// By cluster and child.
using ShardPhases = std::map<std::pair<std::string, std::string>, std::string>;

struct LedgerQuestionAsked {
  std::vector<std::string> arguments;
  size_t width = 0;
  bool colour = false;
  ReadLimits limits;
};

/// What a question was answered with: text and exit code.
struct LedgerAnswer {
  std::string text;
  int exit_code = 0;
};

/// The commands, which this room knows nothing of.
using LedgerAnswerer = std::function<Result<LedgerAnswer>(LedgerQuestionAsked)>;

class LedgerEndpoint {
 public:
  explicit LedgerEndpoint(LedgerAnswerer answer)
      : answer_(std::move(answer)), stopping_(std::make_shared<std::atomic<bool>>(false)) {}

  /// Any thread, one at a time.
  [[nodiscard]] EndpointAnswer Answer(const EndpointRequest& request) const;
  /// What is being read is given up soon. Any thread.
  void Stop() { *stopping_ = true; }

 private:
  LedgerAnswerer answer_;
  std::shared_ptr<std::atomic<bool>> stopping_;
};

/// Runs `find` on the executor's thread and waits for it, at most `longest`; empty where it does
/// not come by then. Not from the executor's thread.
ShardPhases AskExecutor(Executor& executor, const std::function<ShardPhases()>& find,
                        std::chrono::milliseconds longest);

}  // namespace caldera
