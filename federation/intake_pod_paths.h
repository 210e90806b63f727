// Rules for paths in a pod template. Source: k8s.io/kubernetes pkg/apis/core/validation.
#pragma once

#include "federation/fields.h"

namespace caldera {

/// No `..` among the parts of the path.
void CheckNoBacksteps(const Field& path);
/// A relative path without `..`; empty is fine.
void CheckDescendingPath(const Field& path);
/// As CheckDescendingPath, and not starting with `..` at all.
void CheckLocalPath(const Field& path);

}  // namespace caldera
