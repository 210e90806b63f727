// From `-f` arguments to what a command works on: every document of every input goes through intake
// as soon as it is read, so that only what is asked for stays in memory. Used by `plan` and
// `validate`; one thread.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "federation/document.h"
#include "federation/intake.h"
#include "federation/result.h"

namespace caldera {

struct ReadOptions {
  std::vector<std::string> inputs;  ///< Files, folders, `-`.
  Strictness strictness = Strictness::kStored;
  Time now;
  bool keep_intakes = false;    ///< Keep each Intake, in input order (validate).
  bool keep_documents = false;  ///< Keep the accepted objects as they were written (simulate).
  bool keep_jobs = false;       ///< Keep the defaulted documents of accepted Jobs (plan --render).
  /// Called now and then with the number of objects so far; may be empty.
  std::function<void(size_t)> progress;
};

/// What rendering needs of a Job beside the plan.
struct KeptJob {
  Value document;  ///< Defaulted.
  std::string rendezvous;
  std::string checkpoint;
};

struct Manifests {
  /// Objects that were refused (one object may have several), and warnings.
  std::vector<Issue> refused;
  std::vector<Issue> warnings;
  /// The accepted objects as upserts, each key once, in input order.
  std::vector<Change> changes;
  std::vector<Intake> intakes;     ///< With keep_intakes; issues between objects are in there too.
  std::map<JobKey, KeptJob> jobs;  ///< With keep_jobs.
  std::map<std::string, Value> documents;  ///< With keep_documents, by `Job/team-a/train`.
  std::map<std::string, size_t> skipped;   ///< Kinds that Caldera does not read, with their number.
  size_t objects = 0;                      ///< Of kinds that Caldera reads, refused ones included.
  std::chrono::nanoseconds intake_time{0};
};

/// Reads everything. An object that stands twice is refused the second time, naming both places; so
/// are Queues whose parents form a cycle. Error: kInvalid, one line an input that cannot be used
/// (no such file, no YAML, nothing in it).
Result<Manifests> ReadManifests(const ReadOptions& options);

}  // namespace caldera
