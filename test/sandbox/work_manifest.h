// What Karmada makes of one manifest of a Work: which object it wants in the member, whether the
// member's differs, and what of it goes back into the Work's status. Source: Karmada
// pkg/util/objectwatcher, pkg/controllers/status and its interpreter for Volcano Jobs. Pure.
#pragma once

#include <optional>
#include <string>

#include "test/sandbox/tree.h"

namespace caldera::sandbox {

inline constexpr std::string_view kExecutionFinalizer = "karmada.io/execution-controller";
inline constexpr std::string_view kExecutionPrefix = "karmada-es-";

/// The cluster of an execution namespace; empty: `ns` is none.
std::string ClusterOfNamespace(const std::string& ns);

/// Label `karmada.io/managed: "true"`: Karmada may change and delete it.
bool IsManaged(const Value& object);
/// The Work that a member's object names; nullopt unless it is managed and names one.
std::optional<ObjectKey> WorkOf(const Value& object);

/// The manifest without what no member gets: status, server-set metadata, finalizers, owners, a
/// Job's ttlSecondsAfterFinished.
Value PrunedManifest(const Value& manifest);
/// The update that brings `observed` to the (pruned) manifest; what others added to labels,
/// annotations, finalizers and owners stays. nullopt: they are the same already.
std::optional<Value> WantedUpdate(const Value& manifest, const Value& observed);

/// One entry of `status.manifestStatuses` for the member's object.
Value ManifestStatus(const Value& work, const Value& object);

}  // namespace caldera::sandbox
