// What the pods of a Job refer to and a member must therefore have ahead of them: found in the
// Job, judged by the object itself, and carried by a Work of its own, one a cluster however many
// jobs use it. Pure. What changes in a ConfigMap or Secret after a shard was sent reaches the
// cluster when the next shard that uses it goes there, not before.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "controller/kube/client.h"
#include "controller/run/work_view.h"
#include "federation/document.h"

namespace caldera {

struct Reference {
  std::string kind;  ///< ConfigMap, Secret, ServiceAccount, PriorityClass, PersistentVolumeClaim.
  std::string ns;    ///< Empty for a PriorityClass.
  std::string name;
  bool optional = false;  ///< Every pod can do without.

  /// `Secret/team-a/token`, `PriorityClass/high`.
  [[nodiscard]] std::string ToString() const;
  friend auto operator<=>(const Reference&, const Reference&) = default;
};

/// Sorted, each object once. Looked at: volumes of every kind that names a Secret, a ConfigMap or a
/// claim, projected ones included, env, envFrom, imagePullSecrets, serviceAccountName and
/// priorityClassName of every task, the Job's own priorityClassName and volumes that exist already.
/// Left out: what every member has of its own (ServiceAccount `default`, ConfigMap
/// `kube-root-ca.crt`, `system-*` classes).
std::vector<Reference> ReferencesOf(const Value& job);

/// The same of each replicatedJob of a HyperJob, by its name; of a Job by the empty name.
std::map<std::string, std::vector<Reference>> ReferencesByTemplate(const Value& job);

/// What a ServiceAccount refers to itself: its imagePullSecrets and its mountable Secrets (the
/// latter optional).
std::vector<Reference> ReferencesOfAccount(const Value& account);

/// The two lists as one, sorted, each object once.
std::vector<Reference> Merged(std::vector<Reference> a, const std::vector<Reference>& b);

/// The inverse of ToString; a kind of "" where it is none.
Reference ReferenceOf(const std::string& use);

/// Where to get it; nullptr for a kind that is none of the above.
ObjectRef WhereIs(const Reference& reference);

enum class Carriage : uint8_t {
  kSend,    ///< By a Work of ours.
  kOthers,  ///< A Karmada policy has it: it brings it where it is to be.
  kUsers,   ///< A claim: the user brings it there.
  kOwn,     ///< A ServiceAccount's token: it is worth something at this API server only.
};
Carriage CarriageOf(const Reference& reference, const Value& object);

/// What is carried by a Work of its own.
struct Carrier {
  WorkRole role = WorkRole::kReference;
  std::string kind;
  std::string ns;
  std::string name;
  std::string cluster;
  Value manifest;      ///< As the member gets it.
  std::string digest;  ///< ManifestDigest of it.

  /// The name in a shard's `uses`.
  [[nodiscard]] std::string Use() const;
};
/// `caldera-<kind>.<namespace>.<name>` in lower case, without the namespace where there is none;
/// cut and told apart by a hash where it would be longer than 253. The same object always has the
/// same name, and no other has it.
std::string CarrierName(const std::string& kind, const std::string& ns, const std::string& name);

/// The same from the name in `uses`; empty for a text that is none.
std::string CarrierNameOfUse(const std::string& use);

Carrier MakeReferenceCarrier(const Reference& reference, const Value& object,
                             const std::string& cluster);
/// Namespace and name of its Work.
std::pair<std::string, std::string> KeyOf(const Carrier& carrier);

/// The Work, with label `federation.caldera.sh/work`, and annotations `digest` and `object`.
Value RenderCarrier(const Carrier& carrier);

}  // namespace caldera
