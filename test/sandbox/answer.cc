#include "test/sandbox/answer.h"

#include "controller/kube/json_writer.h"

namespace caldera::sandbox {
namespace {

Value DetailsOf(const Kind& kind, const std::string& name, const std::string& kind_name) {
  Value details;
  details.Set("name", name);
  if (!kind.type.group.empty()) {
    details.Set("group", kind.type.group);
  }
  details.Set("kind", kind_name);
  return details;
}

std::string Named(const Kind& kind, const std::string& name) {
  return kind.Resource() + " \"" + name + "\"";
}

std::string_view ReasonOf(int code) {
  switch (code) {
    case 400:
      return "BadRequest";
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      return "NotFound";
    case 405:
      return "MethodNotAllowed";
    case 409:
      return "Conflict";
    case 410:
      return "Expired";
    case 413:
      return "RequestEntityTooLarge";
    case 415:
      return "UnsupportedMediaType";
    case 422:
      return "Invalid";
    case 429:
      return "TooManyRequests";
    case 503:
      return "ServiceUnavailable";
    case 504:
      return "Timeout";
    default:
      return code >= 500 ? "InternalError" : "";
  }
}

}  // namespace

Refusal NotFound(const Kind& kind, const std::string& name) {
  return {404, "NotFound", Named(kind, name) + " not found",
          DetailsOf(kind, name, kind.type.plural)};
}

Refusal NoSuchPath() {
  return {404, "NotFound", "the server could not find the requested resource", Value::Map{}};
}

Refusal AlreadyExists(const Kind& kind, const std::string& name) {
  return {409, "AlreadyExists", Named(kind, name) + " already exists",
          DetailsOf(kind, name, kind.type.plural)};
}

Refusal Conflict(const Kind& kind, const std::string& name, const std::string& why) {
  return {409, "Conflict", "Operation cannot be fulfilled on " + Named(kind, name) + ": " + why,
          DetailsOf(kind, name, kind.type.plural)};
}

Refusal Modified(const Kind& kind, const std::string& name) {
  return Conflict(kind, name,
                  "the object has been modified; please apply your changes to the latest version "
                  "and try again");
}

Refusal Invalid(const Kind& kind, const std::string& name, const std::string& field,
                const std::string& problem) {
  Value details = DetailsOf(kind, name, kind.type.kind);
  Value cause;
  const bool required = problem.starts_with("Required");
  cause.Set("reason", required                           ? "FieldValueRequired"
                      : problem.starts_with("Forbidden") ? "FieldValueForbidden"
                                                         : "FieldValueInvalid");
  cause.Set("message", problem);
  cause.Set("field", field);
  details.Set("causes", Value::List{std::move(cause)});
  const std::string full =
      kind.type.group.empty() ? kind.type.kind : kind.type.kind + "." + kind.type.group;
  return {422, "Invalid", full + " \"" + name + "\" is invalid: " + field + ": " + problem,
          std::move(details)};
}

Refusal Forbidden(const Kind& kind, const std::string& name, const std::string& why) {
  return {403, "Forbidden", Named(kind, name) + " is forbidden: " + why,
          DetailsOf(kind, name, kind.type.plural)};
}

Refusal BadRequest(std::string message) { return OfCode(400, std::move(message)); }

Refusal Expired(std::string message) { return OfCode(410, std::move(message)); }

Refusal MethodNotAllowed() {
  return OfCode(405, "the server does not allow this method on the requested resource");
}

Refusal UnsupportedMediaType(std::string_view accepted) {
  return OfCode(
      415, "the body of the request was in an unknown format - accepted media types include: " +
               std::string(accepted));
}

Refusal OfCode(int code, std::string message) {
  return {code, std::string(ReasonOf(code)), std::move(message), Value()};
}

Value StatusObject(const Refusal& refusal) {
  Value status;
  status.Set("kind", "Status");
  status.Set("apiVersion", "v1");
  status.Set("metadata", Value::Map{});
  status.Set("status", "Failure");
  status.Set("message", refusal.message);
  if (!refusal.reason.empty()) {
    status.Set("reason", refusal.reason);
  }
  if (!refusal.details.IsNull()) {
    status.Set("details", refusal.details);
  }
  status.Set("code", refusal.code);
  return status;
}

HttpResponse ToResponse(const Refusal& refusal) {
  HttpResponse response = JsonResponse(refusal.code, WriteJson(StatusObject(refusal)));
  if (refusal.code == 429 || refusal.code == 503) {
    response.headers["retry-after"] = "1";
  }
  return response;
}

HttpResponse JsonResponse(int code, std::string body) {
  return {code, {{"content-type", "application/json"}}, std::move(body)};
}

}  // namespace caldera::sandbox
