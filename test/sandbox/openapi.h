// The OpenAPI v3 that kubectl needs before it applies: that patches take `fieldValidation`, so that
// it leaves the checks to the server and asks for no schema. Schemas are open: every field is
// taken. OpenAPI v2 is not served. Pure.
#pragma once

#include <optional>

#include "controller/kube/http.h"
#include "test/sandbox/kinds.h"

namespace caldera::sandbox {

/// The answer to /openapi/v3, /openapi/v3/api/v1 and /openapi/v3/apis/GROUP/VERSION; nullopt for
/// any other path.
std::optional<HttpResponse> DescribeApi(const Catalog& catalog, const HttpRequest& request);

}  // namespace caldera::sandbox
