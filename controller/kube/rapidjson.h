// The one way in which this room includes RapidJSON: its assertions throw, so that a fault in its
// use ends at the caller's catch instead of in abort().
#pragma once

#include <stdexcept>

#ifndef RAPIDJSON_ASSERT
#define RAPIDJSON_ASSERT(condition)                     \
  do {                                                  \
    if (!(condition)) {                                 \
      throw std::logic_error("RapidJSON: " #condition); \
    }                                                   \
  } while (false)
#endif
