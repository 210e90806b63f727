// The patches that a Kubernetes API takes. Sources: RFC 7386 (merge), RFC 6902 (JSON patch),
// k8s.io/apimachinery pkg/util/strategicpatch (strategic merge, for the lists that the core kinds
// of the sandbox have). Pure.
#pragma once

#include "federation/document.h"
#include "test/sandbox/answer.h"

namespace caldera::sandbox {

/// RFC 7386.
void ApplyMergePatch(Value& target, const Value& patch);

/// RFC 6902. Refused: 400 for a malformed patch, 422 where a path is missing or a test fails; the
/// target is then left half patched.
Answer<void> ApplyJsonPatch(Value& target, const Value& patch);

/// Merges maps, lists of maps by the merge key that the field has (`name`, `uid`, `type` ...), and
/// lists of scalars of finalizers as sets; `$patch: delete|replace`, `$retainKeys`,
/// `$setElementOrder/...` and `$deleteFromPrimitiveList/...` are understood, other lists replaced.
void ApplyStrategicPatch(Value& target, const Value& patch);

}  // namespace caldera::sandbox
