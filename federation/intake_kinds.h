// Internal to intake: what TakeObject (intake.cc) prepares for every kind, the function that takes
// each kind (intake_<kind>.cc), and the checks that several of them share.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "federation/fields.h"
#include "federation/intake.h"

namespace caldera {

/// metadata, checked: names valid for the kind, labels and annotations maps of strings.
struct ObjectMeta {
  std::string name;
  std::string ns;   ///< Empty for cluster-scoped kinds; `default` where a namespaced one has none.
  std::string uid;  ///< metadata.uid; where it has none, derived from kind, namespace and name.
  Time creation;    ///< metadata.creationTimestamp; where it has none, `now`.
  Labels labels;
  Labels annotations;
  bool deleting = false;  ///< deletionTimestamp is set.
};

/// One object on its way through intake. A Take function reads `root` (complaints go to
/// `root.sink()`), writes defaults into `out.defaulted` and sets `out.change`; TakeObject drops the
/// change again where there were errors. It must not fail in any other way.
struct Taking {
  const Document& document;
  Field root;
  ObjectMeta meta;
  Strictness strictness;
  Time now;
  Intake& out;  ///< `defaulted` starts as the document itself, with metadata.namespace in.
};

void TakeQueue(Taking& taking);
void TakeCluster(Taking& taking);
void TakeNode(Taking& taking);
void TakePod(Taking& taking);
void TakeHyperNode(Taking& taking);
void TakeFederatedResourceQuota(Taking& taking);
void TakePriorityClass(Taking& taking);
void TakeNamespace(Taking& taking);
/// batch.volcano.sh/v1alpha1 Job: also sets `out.job`.
void TakeJob(Taking& taking);
/// training.volcano.sh/v1alpha1 HyperJob.
void TakeHyperJob(Taking& taking);

/// An annotation of ours as a Field (`federation.caldera.sh/` + name), for reading and complaints.
Field OurAnnotation(const Field& root, std::string_view name);

/// RFC 3339, as metadata carries it; absent: nullopt.
std::optional<Time> TakeTime(const Field& field);

/// A whole number written as a string, as annotations carry it.
std::optional<int64_t> IntegerText(const Field& field, int64_t min, int64_t max);

/// The member cluster that an object (Node, Pod, HyperNode) is in: annotation or label
/// `federation.caldera.sh/cluster`, or the annotation that Karmada's search proxy writes. Empty
/// where it does not say.
std::string ClusterOfMember(const Value& object);

/// Warns of each member of `map` that is not in `known`: the API server drops unknown fields, so a
/// misspelt one is silently without effect there. Names the nearest known one.
void WarnUnknown(const Field& map, std::initializer_list<std::string_view> known);

/// A list of `{key, value, effect}`.
std::vector<Taint> TakeTaints(const Field& list);
/// A list of `{key, operator, values}`. `node` also allows Gt and Lt (node affinity).
std::vector<LabelRequirement> TakeRequirements(const Field& list, bool node);
/// A map of labels, keys and values checked.
Labels TakeLabels(const Field& map);

}  // namespace caldera
