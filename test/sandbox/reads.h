// Get and list: objects as JSON or as a Table, in pages that show one moment. Pure but for what the
// store remembers.
#pragma once

#include "controller/kube/http.h"
#include "test/sandbox/answer.h"
#include "test/sandbox/route.h"
#include "test/sandbox/store.h"

namespace caldera::sandbox {

Answer<HttpResponse> GetObject(const Store& store, const Route& route, const HttpRequest& request,
                               Time now);
Answer<HttpResponse> ListObjects(const Store& store, const Route& route, const HttpRequest& request,
                                 Time now);
/// True where the client prefers a metav1.Table.
bool WantsTable(const HttpRequest& request);

}  // namespace caldera::sandbox
