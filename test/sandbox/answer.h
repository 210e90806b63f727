// How the sandbox's API server refuses: metav1.Status with the codes, reasons, details and words of
// Kubernetes (k8s.io/apimachinery, pkg/api/errors), because clients decide by them. Pure.
#pragma once

#include <string>
#include <string_view>
#include <tl/expected.hpp>

#include "controller/kube/http.h"
#include "federation/document.h"
#include "test/sandbox/kinds.h"

namespace caldera::sandbox {

struct Refusal {
  int code = 500;
  std::string reason;  ///< `NotFound`, `AlreadyExists`, `Conflict`, `Invalid` ...
  std::string message;
  Value details;  ///< Null: none.
};

template <typename T>
using Answer = tl::expected<T, Refusal>;

Refusal NotFound(const Kind& kind, const std::string& name);
Refusal NoSuchPath();  ///< A path that nobody serves.
Refusal AlreadyExists(const Kind& kind, const std::string& name);
Refusal Conflict(const Kind& kind, const std::string& name, const std::string& why);
/// The resourceVersion given is not the newest.
Refusal Modified(const Kind& kind, const std::string& name);
/// One field is wrong; `problem` starts with the type of error: `Required value: ...`.
Refusal Invalid(const Kind& kind, const std::string& name, const std::string& field,
                const std::string& problem);
Refusal Forbidden(const Kind& kind, const std::string& name, const std::string& why);
Refusal BadRequest(std::string message);
Refusal Expired(std::string message);
Refusal MethodNotAllowed();
Refusal UnsupportedMediaType(std::string_view accepted);
/// For failures on demand: the reason that Kubernetes gives with that code.
Refusal OfCode(int code, std::string message);

Value StatusObject(const Refusal& refusal);
HttpResponse ToResponse(const Refusal& refusal);
HttpResponse JsonResponse(int code, std::string body);

}  // namespace caldera::sandbox
