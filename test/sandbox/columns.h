// Cells of `kubectl get` that are more than a field of the object, as the printers of Kubernetes
// compute them (k8s.io/kubernetes pkg/printers/internalversion). Pure.
#pragma once

#include <string>
#include <string_view>

#include "federation/document.h"
#include "federation/time.h"

namespace caldera::sandbox {

/// `name` is one of the `@...` paths of kinds.cc, `@name` or `@age`.
std::string ComputedCell(std::string_view name, const Value& object, Time now);

}  // namespace caldera::sandbox
