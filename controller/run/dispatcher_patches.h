// Internal to the dispatcher: what it writes, as values, and what may be changed of a shard that is
// there already. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "controller/kube/client.h"
#include "federation/document.h"
#include "federation/model.h"

namespace caldera {

inline constexpr std::string_view kClaimedByLabel = "resourcetemplate.karmada.io/claimed-by";
inline constexpr std::string_view kClaimedByUs = "caldera";

/// Where a Job or a HyperJob is.
ObjectRef ParentRef(const JobKey& key, JobKind kind);
/// Merge patch of the parent: the claim, and the annotation `placement` (removed where `text` is
/// empty) unless `text` is absent.
Value ParentPatch(const std::string& uid, const std::optional<std::string>& text);
/// Merge patch of a Work's spec.suspendDispatching.
Value SuspendPatch(const std::string& uid, bool suspend);

/// What Volcano lets change of a Job that is there: minAvailable, priorityClassName, and each
/// task's replicas and minAvailable, taken from `wanted` into a copy of `there`.
Value WithAllowed(const Value& there, const Value& wanted);
/// True where the specs differ in nothing but those, and in the CALDERA_* environment, which is
/// fixed for an epoch.
bool SameButAllowed(const Value& there, const Value& wanted);

/// Merge patch of a Work that is about to be deleted: its object in the member is to go with it.
Value HoldPatch(const std::string& uid, const std::vector<std::string>& other_finalizers);

/// Merge patch of a Work that is to be like `wanted` but for its spec: labels, annotations and
/// finalizers (those of others stay); and its object goes with it.
Value MetadataPatch(const std::string& uid, const Value& wanted,
                    const std::vector<std::string>& other_finalizers);

/// Merge patch of a Work: the manifest as a whole, and what stands on the Work about it.
struct ManifestPatch {
  std::string uid;
  Value manifest;
  std::string digest;      ///< ManifestDigest of it.
  int64_t intent = 0;      ///< 0: stays.
  int64_t generation = 0;  ///< 0: stays.
  std::string at_once{};   ///< Empty: stays.
};
Value ToPatch(const ManifestPatch& patch);

}  // namespace caldera
