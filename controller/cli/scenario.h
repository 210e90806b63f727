// The scenario of `caldera simulate`: what happens to the federation of `-f`, and when. The format
// is described in examples/simulate/README.md. Reading is strict: an unknown field, a wrong value,
// a name that nothing has is an error with its line and what would be right, all of them at once.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "controller/cli/manifests.h"
#include "controller/cli/random.h"
#include "federation/fields.h"
#include "federation/simulation.h"

namespace caldera {

inline constexpr std::string_view kScenarioVersion = "caldera.simulate/v1";
inline constexpr std::string_view kScenarioKind = "Scenario";

/// More jobs than this are refused.
inline constexpr int64_t kSubmissionsMax = 10'000'000;

/// What a job says of its duration.
struct EstimateRule {
  enum class Kind : uint8_t { kOwn, kNone, kFactor, kFixed };
  Kind kind = Kind::kOwn;  ///< kOwn: its annotation, if it has one.
  int64_t factor_milli = 1000;
  Millis fixed{0};
};

/// How jobs run, once placed.
struct RunRule {
  std::optional<SpanLaw> duration;
  EstimateRule estimate;
  Millis checkpoint{0};
};

struct SubmissionRule {
  explicit SubmissionRule(Field field) : place(std::move(field)) {}
  Field place;
  JobKey source;
  std::string name;  ///< Empty: that of the template.
  std::string ns;    ///< Empty: that of the template; so with the next two.
  std::string queue;
  std::string priority_class;
  Millis at{0};
  int64_t count = 1;
  std::optional<Millis> span;  ///< None later than this after the first.
  SpanLaw every = SpanLaw::Fixed(0);
  RunRule run;
};

struct EventRule {
  enum class Kind : uint8_t { kApply, kPatch, kDelete, kOutage };
  explicit EventRule(Field field) : place(std::move(field)) {}
  Field place;
  Kind kind = Kind::kApply;
  Millis at{0};
  Millis span{0};        ///< Of an outage.
  bool restart = false;  ///< Of an outage.
  std::string
      object;  ///< `Queue/gold`, `Job/team-a/train`: of a patch, a delete; a cluster's name.
};

struct Scenario {
  Document document;  ///< The Fields of the rules borrow from it.
  IssueSink sink;
  Time start;
  uint64_t seed = 1;
  std::optional<Millis> until;
  std::string resource;  ///< Whose time is shown; empty: the one that says most.
  Millis resolution{1000};
  Millis cycle{0};
  Millis start_delay{0};
  Millis grace{30'000};
  Millis summary_period{0};  ///< 0: exact.
  Settings decisions;        ///< Its summary_period is set from the above.
  RunRule jobs;              ///< Of the Jobs of `-f` that are no templates.
  std::vector<SubmissionRule> submissions;
  std::vector<EventRule> events;
};

/// Reads the file. Error: kInvalid, a line for each thing that is wrong.
Result<std::unique_ptr<Scenario>> ReadScenario(const std::string& path);

/// The script that the scenario and the objects of `-f` make together; the manifests' changes are
/// taken. Jobs that no submission uses as its template come at the start (or at their
/// creationTimestamp, where that is later). Error as above.
Result<SimulationScript> MakeScript(Scenario& scenario, Manifests& manifests);

/// Every error of the sink as a line; success where there is none.
Status Verdicts(const IssueSink& sink);

}  // namespace caldera
