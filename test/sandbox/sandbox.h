// A whole federation in one process: a Karmada API and member APIs behind HTTPS on loopback, and
// what acts in them (work_executor.h, member_life.h). One thread (the executor's) but for the I/O
// threads of the servers.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "controller/kube/executor.h"
#include "federation/result.h"
#include "test/sandbox/fleet.h"
#include "test/sandbox/member_life.h"
#include "test/sandbox/work_executor.h"

namespace caldera::sandbox {

struct SandboxOptions {
  Fleet fleet;
  std::filesystem::path directory;  ///< Must be there.
  uint16_t port = 0;                ///< The Karmada API's; 0: any free one.
  WorkExecutorOptions works;
  MemberLifeOptions life;
};

class Sandbox {
 public:
  /// Serves at once, and writes `karmada.kubeconfig` and `member-<name>.kubeconfig` into the
  /// directory. `on_ready` is called when the fleet is in, with what could not be created. Errors:
  /// kUnavailable where the port is taken or a file cannot be written.
  static Result<std::unique_ptr<Sandbox>> Start(Executor& executor, SandboxOptions options,
                                                std::function<void(Status)> on_ready);
  Sandbox(const Sandbox&) = delete;
  Sandbox& operator=(const Sandbox&) = delete;
  ~Sandbox();

  [[nodiscard]] std::string url() const;
  [[nodiscard]] std::filesystem::path kubeconfig() const;

 private:
  class Impl;
  explicit Sandbox(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace caldera::sandbox
