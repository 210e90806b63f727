// Objects as metav1.Table, which is what `kubectl get` asks for and prints. Pure.
#pragma once

#include <string>
#include <vector>

#include "federation/time.h"
#include "test/sandbox/store.h"

namespace caldera::sandbox {

struct TableOptions {
  Time now;
  bool with_columns = true;
  std::string resource_version;
  std::string continue_token;
  int64_t remaining = -1;  ///< Below 0: not said.
};

/// Compact JSON. Rows carry the object's metadata only.
std::string RenderTable(const Kind& kind, const std::vector<const StoredObject*>& objects,
                        const TableOptions& options);

/// What a CRD's printer column shows: `.a.b`, `[*]`, `[?(@.type=="X")]`; several values are joined
/// with commas. Empty where there is nothing.
std::string ValueAtPath(const Value& object, std::string_view path);

/// A span as `kubectl` prints ages: `42s`, `3m5s`, `7h12m`, `3d4h`, `26d`, `2y30d`.
std::string HumanDuration(Millis span);

}  // namespace caldera::sandbox
