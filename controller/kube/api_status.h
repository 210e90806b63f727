// What a response of the Kubernetes API means: a typed Error out of a status code and a body, and
// when to try again. Source: the Kubernetes API conventions (metav1.Status) and RFC 9110
// (Retry-After).
#pragma once

#include <optional>

#include "controller/kube/http.h"
#include "federation/time.h"

namespace caldera {

/// The error of a response that is not 2xx, by the table in client.h, with the server's message
/// (cut to 512 characters).
Error ErrorOf(const HttpResponse& response);

/// True where the same request may succeed later: 429, 500, 502, 503 and 504, but never "request is
/// too large", which etcd answers as a 500; and 401, since the token may just be rotated.
bool WorthRepeating(const HttpResponse& response);

/// Retry-After as seconds or as an HTTP date, as a wait from `now` (never negative, at most 5 min).
std::optional<Millis> RetryAfter(const HttpResponse& response, Time now);

}  // namespace caldera
