// Invariants of our own code, checked in release too. Never on outside data: that gets an Error.
#pragma once

#include <cstdio>
#include <cstdlib>

#define CALDERA_ASSERT(condition)                                                            \
  do {                                                                                       \
    if (!(condition)) {                                                                      \
      std::fprintf(stderr, "%s:%d: invariant broken: %s\n", __FILE__, __LINE__, #condition); \
      std::abort();                                                                          \
    }                                                                                        \
  } while (false)
