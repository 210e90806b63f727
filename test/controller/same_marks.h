// Equality of trees with their marks, for comparing two readers.
#pragma once

#include <cstddef>

#include "federation/document.h"

namespace caldera::testing {

inline bool SameMark(Mark a, Mark b) { return a.line == b.line && a.column == b.column; }

/// Same order of keys, same values, same marks.
inline bool SameTree(const Value& a, const Value& b) {
  if (a.kind() != b.kind() || !SameMark(a.mark(), b.mark())) {
    return false;
  }
  if (a.IsList()) {
    bool same = a.AsList().size() == b.AsList().size();
    for (size_t i = 0; same && i < a.AsList().size(); ++i) {
      same = SameTree(a.AsList()[i], b.AsList()[i]);
    }
    return same;
  }
  if (a.IsMap()) {
    bool same = a.AsMap().size() == b.AsMap().size();
    for (size_t i = 0; same && i < a.AsMap().size(); ++i) {
      const Member& left = a.AsMap()[i];
      const Member& right = b.AsMap()[i];
      same = left.key == right.key && SameMark(left.mark, right.mark) &&
             SameTree(left.value, right.value);
    }
    return same;
  }
  return a == b;
}

}  // namespace caldera::testing
