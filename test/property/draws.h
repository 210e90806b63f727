// What random worlds and manifests are made of. Only inside a property; shrinks.
#pragma once

#include <rapidcheck.h>

#include <initializer_list>

namespace caldera::property {

/// From 0 to `count` - 1, whatever the size that rapidcheck has come to.
inline int Pick(int count) { return *rc::gen::resize(100, rc::gen::inRange(0, count)); }
inline bool OneIn(int chances) { return Pick(chances) == chances - 1; }

template <class T>
T OneOf(std::initializer_list<T> values) {
  return *(values.begin() + Pick(static_cast<int>(values.size())));
}

}  // namespace caldera::property
