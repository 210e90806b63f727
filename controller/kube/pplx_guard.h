// To be included before any header of cpprestsdk: the library ends the process where a failed task
// is dropped without a look at it; with this it is counted instead. That holds for the library's
// own code too, as long as the program's copy of these inline functions wins over the library's
// (default visibility; test/kube/rest_transport_test.cc proves it).
#pragma once

namespace caldera {
void CountUnobservedFailure();
}  // namespace caldera

// NOLINTBEGIN(bugprone-reserved-identifier): the library's names.
#define _REPORT_PPLTASK_UNOBSERVED_EXCEPTION() ::caldera::CountUnobservedFailure()
// The library's macro U breaks Boost's headers.
#define _TURN_OFF_PLATFORM_STRING
// NOLINTEND(bugprone-reserved-identifier)
