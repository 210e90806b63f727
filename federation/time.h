// The one type for instants and the one for spans. Nothing in federation/ reads a clock: `now` is
// part of State.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "federation/result.h"

namespace caldera {

using Millis = std::chrono::milliseconds;
/// Milliseconds since 1970-01-01T00:00:00Z. The zero value means "not known".
using Time = std::chrono::sys_time<Millis>;

/// RFC 3339 in UTC, `2026-12-01T08:00:00Z`; a fraction is printed only where it is not 0.
std::string FormatTime(Time time);
/// Takes RFC 3339 with `Z` or an offset, and up to nine digits of fraction (cut to milliseconds).
/// Error: kInvalid, naming the text.
Result<Time> ParseTime(std::string_view text);
/// Go's duration text, as Kubernetes stores it: `300ms`, `1h30m`, `10m0s`, `-1.5h`; units
/// ns us µs ms s m h. Cut to milliseconds. Error: kInvalid, naming the text.
Result<Millis> ParseDuration(std::string_view text);
/// Go's canonical duration text: `10m0s`, `1h30m0s`, `1.5s`, `0s`.
std::string FormatDuration(Millis span);

}  // namespace caldera
