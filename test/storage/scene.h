// A small federation with a ledger in a folder of its own: each Record() is one cycle.
#pragma once

#include <doctest/doctest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "federation/codec.h"
#include "federation/planner.h"
#include "storage/ledger.h"
#include "storage/reader.h"
#include "test/federation/builders.h"

namespace caldera::testing {

class TempDir {
 public:
  TempDir() {
    // In memory where there is such a place: most of the time would go into waiting for the disk.
    const bool memory = access("/dev/shm", W_OK) == 0;
    const auto parent = memory ? "/dev/shm" : std::filesystem::temp_directory_path();
    std::string pattern = (parent / "caldera-XXXXXX").string();
    REQUIRE(mkdtemp(pattern.data()) != nullptr);
    path_ = pattern;
  }
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;
  TempDir(TempDir&&) = delete;
  TempDir& operator=(TempDir&&) = delete;
  ~TempDir() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::string File(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

/// The value, or the test ends with the error's message.
template <typename T>
T Must(Result<T> result) {
  if (!result.has_value()) {
    FAIL(result.error().message);
  }
  return *std::move(result);
}
inline void Must(const Status& status) {
  if (!status.has_value()) {
    FAIL(status.error().message);
  }
}

inline std::vector<std::string> Exported(const State& state) {
  std::vector<std::string> lines;
  for (const Change& change : state.Export()) {
    lines.push_back(EncodeChange(change));
  }
  return lines;
}

class Scene {
 public:
  explicit Scene(LedgerOptions options = {}) : options_(options) { Open(); }

  void Open() {
    ledger.reset();
    ledger.emplace(Must(Ledger::Open(path, options_)));
  }
  void Tick(Millis span) { fed.Do(ClockSet{fed.state.now() + span}); }
  void Drop(std::string_view key) {
    const JobKey name = Key(key);
    fed.Do(JobDelete{name, "uid-" + name.ToString()});
  }
  /// The job's object once more, changed.
  void Again(std::string_view key, const std::function<void(Job&)>& edit) {
    Job job = fed.state.Object(fed.state.FindJob(Key(key)));
    edit(job);
    fed.Do(JobUpsert{std::move(job)});
  }

  /// One cycle: plans, records what happened since the last one, keeps the plan's effect.
  Result<int64_t> TryRecord(const std::vector<PendingJob>& pending = {}) {
    plan = MakePlan(fed.state);
    State after = fed.state;
    for (const Change& change : EffectOf(plan, Must(ledger->NextIntent()))) {
      after.Apply(change);
    }
    CALDERA_TRY(const int64_t cycle, ledger->Append(fed.changes, plan, after, pending));
    fed.state = std::move(after);
    fed.changes.clear();
    return cycle;
  }
  int64_t Record(const std::vector<PendingJob>& pending = {}) { return Must(TryRecord(pending)); }

  [[nodiscard]] LedgerReader Reader() const { return Must(LedgerReader::Open(path)); }
  [[nodiscard]] std::string Sql(const std::string& query) const {
    const LedgerReader reader = Reader();
    Statement statement = Must(reader.database().Prepare(query));
    std::string text;
    while (Must(statement.Step())) {
      text += text.empty() ? "" : "\n";
      for (int column = 0; column < statement.Columns(); ++column) {
        text += (column == 0 ? "" : "|") + statement.Text(column);
      }
    }
    return text;
  }

  TempDir directory;
  std::string path = directory.File("ledger.db");
  std::optional<Ledger> ledger;
  Fed fed;
  Plan plan;

 private:
  LedgerOptions options_;
};

}  // namespace caldera::testing
