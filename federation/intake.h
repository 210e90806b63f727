// The door: a document becomes a typed object with its defaults, or a list of exact complaints.
// Defaults and checks are those of Volcano's CRD schemas and admission (and of Karmada's and
// Kubernetes' for the other kinds), so that what Caldera accepts, a member accepts. Pure.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "federation/change.h"
#include "federation/document.h"

namespace caldera {

/// The annotation prefix: `federation.caldera.sh/hold`.
inline constexpr std::string_view kAnnotationPrefix = "federation.caldera.sh/";

/// What Volcano's controller would make of a Job (its PodGroup), and what the job asks for.
struct JobFacts {
  struct SubGroup {
    std::string name;
    int32_t size = 0;
    int32_t minimum = 0;
    NetworkTopology topology;
  };
  int32_t min_member = 0;
  /// Absent in the PodGroup where Volcano leaves it out.
  std::map<std::string, int32_t> min_task_member;
  ResourceList min_resources;
  std::vector<SubGroup> sub_groups;
  NetworkTopology topology;
  std::map<std::string, ResourceList> per_pod;  ///< By task.
  ResourceList minimum;                         ///< Of the gang's floor.
  ResourceList full;                            ///< Of all replicas.
};

struct Intake {
  std::string object;  ///< `Job/team-a/train`; `?` parts where the name could not be read.
  std::string kind;
  bool known = false;         ///< false: a kind that Caldera does not read; nothing else is set.
  std::vector<Issue> errors;  ///< Empty: accepted.
  std::vector<Issue> warnings;
  Value defaulted;  ///< The whole object with its defaults in; every unknown field is kept.
  std::optional<Change> change;  ///< The upsert; set where accepted.
  std::optional<JobFacts> job;   ///< For Job, where accepted.
};

/// kNew: as admission treats an object that is created. kStored: as an object that is there
/// already, perhaps from before a rule existed: relations between a queue's numbers (deserved above
/// capability, guarantee above deserved) are clamped with a warning instead of refused.
enum class Strictness { kNew, kStored };

/// Takes one document. Never fails: what is wrong is in `errors`. `now` is the creation time of an
/// object that carries none.
Intake TakeObject(const Document& document, Strictness strictness, Time now);

/// The kinds that TakeObject reads, `scheduling.volcano.sh/v1beta1 Queue` and so on, for messages.
std::vector<std::string> KnownKinds();

/// Relations between queues that one object cannot show: unknown parent, self parent or a cycle,
/// deeper than 5, child's capability above its parent's, children's guarantees or deserved above
/// their parent's. Errors with kNew, warnings with kStored (State clamps), except parent cycles,
/// which are refused always (index into `queues` in `refused`). An unknown parent is a warning.
struct QueueTreeIssues {
  std::vector<Issue> errors;
  std::vector<Issue> warnings;
  std::vector<size_t> refused;
};
struct QueueSource {
  Queue queue;
  const Document* document = nullptr;  ///< For marks; not null.
};
QueueTreeIssues CheckQueueTree(const std::vector<QueueSource>& queues, Strictness strictness);

}  // namespace caldera
