// What a client may learn of the server before it asks for objects: version, groups, kinds. Pure.
#pragma once

#include <optional>

#include "controller/kube/http.h"
#include "test/sandbox/kinds.h"

namespace caldera::sandbox {

/// The answer to /version, /api, /apis, /api/v1, /apis/GROUP and /apis/GROUP/VERSION; nullopt for
/// any other path.
std::optional<HttpResponse> Discover(const Catalog& catalog, const HttpRequest& request);

}  // namespace caldera::sandbox
