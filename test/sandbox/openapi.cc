#include "test/sandbox/openapi.h"

#include <set>

#include "controller/kube/json_writer.h"
#include "test/sandbox/answer.h"
#include "test/sandbox/route.h"

namespace caldera::sandbox {
namespace {

Value Parameter(const char* name, const char* in) {
  Value schema;
  schema.Set("type", "string");
  Value parameter;
  parameter.Set("name", name);
  parameter.Set("in", in);
  if (std::string_view(in) == "path") {
    parameter.Set("required", true);
  }
  parameter.Set("schema", std::move(schema));
  return parameter;
}

Value TypeOf(const Kind& kind) {
  Value type;
  type.Set("group", kind.type.group);
  type.Set("version", kind.type.version);
  type.Set("kind", kind.type.kind);
  return type;
}

Value Operation(const Kind& kind, const char* action) {
  Value responses;
  responses.Set("200", Value::Map{{"description", "OK", {}}});
  Value operation;
  operation.Set("operationId", std::string(action) + kind.type.kind);
  operation.Set("parameters",
                Value::List{Parameter("dryRun", "query"), Parameter("fieldManager", "query"),
                            Parameter("fieldValidation", "query")});
  operation.Set("responses", std::move(responses));
  operation.Set("x-kubernetes-action", action);
  operation.Set("x-kubernetes-group-version-kind", TypeOf(kind));
  return operation;
}

Value Schema(const Kind& kind) {
  Value properties;
  for (const char* text : {"apiVersion", "kind"}) {
    properties.Set(text, Value::Map{{"type", "string", {}}});
  }
  properties.Set("metadata", Value::Map{{"type", "object", {}}});
  Value schema;
  schema.Set("type", "object");
  schema.Set("description", "The sandbox takes every field of a " + kind.type.kind + ".");
  schema.Set("properties", std::move(properties));
  schema.Set("x-kubernetes-preserve-unknown-fields", true);
  schema.Set("x-kubernetes-group-version-kind", Value::List{TypeOf(kind)});
  return schema;
}

void AddPaths(const Kind& kind, Value& paths) {
  const std::string base = kind.type.Path("");
  std::string collection = base;
  Value::List parameters;
  if (kind.type.namespaced) {
    const size_t slash = base.rfind('/');
    collection = base.substr(0, slash) + "/namespaces/{namespace}" + base.substr(slash);
    parameters.push_back(Parameter("namespace", "path"));
  }
  Value whole;
  whole.Set("post", Operation(kind, "post"));
  whole.Set("parameters", parameters);
  parameters.push_back(Parameter("name", "path"));
  Value one;
  one.Set("put", Operation(kind, "put"));
  one.Set("patch", Operation(kind, "patch"));
  one.Set("parameters", std::move(parameters));
  paths.Set(collection, std::move(whole));
  paths.Set(collection + "/{name}", std::move(one));
}

Value Describe(const Catalog& catalog, const std::string& group, const std::string& version) {
  Value paths = Value::Map{};
  Value schemas = Value::Map{};
  for (const Kind& kind : catalog.kinds()) {
    if (kind.type.group == group && kind.type.version == version) {
      AddPaths(kind, paths);
      schemas.Set((group.empty() ? "core" : group) + "." + version + "." + kind.type.kind,
                  Schema(kind));
    }
  }
  Value document;
  document.Set("openapi", "3.0.0");
  document.Set("info", Value::Map{{"title", "Caldera sandbox", {}}, {"version", "v1", {}}});
  document.Set("paths", std::move(paths));
  document.Set("components", Value::Map{{"schemas", std::move(schemas), {}}});
  return document;
}

Value Index(const Catalog& catalog) {
  std::set<std::string> names;
  for (const Kind& kind : catalog.kinds()) {
    const std::string version = kind.type.ApiVersion();
    names.insert((kind.type.group.empty() ? "api/" : "apis/") + version);
  }
  Value paths = Value::Map{};
  for (const std::string& name : names) {
    paths.Set(name, Value::Map{{"serverRelativeURL", "/openapi/v3/" + name + "?hash=sandbox", {}}});
  }
  return Value::Map{{"paths", std::move(paths), {}}};
}

}  // namespace

std::optional<HttpResponse> DescribeApi(const Catalog& catalog, const HttpRequest& request) {
  const std::vector<std::string> parts = PathParts(request.path);
  if (request.method != "GET" || parts.size() < 2 || parts[0] != "openapi" || parts[1] != "v3") {
    return std::nullopt;
  }
  if (parts.size() == 2) {
    return JsonResponse(200, WriteJson(Index(catalog)));
  }
  const bool core = parts.size() == 4 && parts[2] == "api";
  if (!core && (parts.size() != 5 || parts[2] != "apis")) {
    return std::nullopt;
  }
  const std::string group = core ? "" : parts[3];
  const std::string& version = parts.back();
  return catalog.HasGroupVersion(group, version)
             ? std::optional(JsonResponse(200, WriteJson(Describe(catalog, group, version))))
             : std::nullopt;
}

}  // namespace caldera::sandbox
