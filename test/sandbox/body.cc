#include "test/sandbox/body.h"

#include <utility>

#include "controller/kube/json_reader.h"
#include "controller/kube/yaml_reader.h"
#include "test/sandbox/protobuf.h"

namespace caldera::sandbox {
namespace {

Answer<Value> ParseYaml(const std::string& body) {
  ReadReport report;
  Value root;
  ReadYaml(
      body, "", [&](Document document) { root = std::move(document.root); }, report);
  if (!report.errors.empty()) {
    return tl::unexpected(BadRequest("error decoding the body: " + report.errors.front().message));
  }
  return root;
}

}  // namespace

std::string_view MediaType(std::string_view header) {
  std::string_view type = header.substr(0, header.find_first_of(";,"));
  while (type.ends_with(' ')) {
    type.remove_suffix(1);
  }
  return type;
}

Answer<Value> ParseBody(std::string_view content_type, const std::string& body) {
  if (body.find_first_not_of(" \t\r\n") == std::string::npos) {
    return Value();
  }
  const std::string_view type = MediaType(content_type);
  if (type == "application/yaml" || type == "application/x-yaml") {
    return ParseYaml(body);
  }
  if (type == "application/vnd.kubernetes.protobuf") {
    return ParseProtobuf(body);
  }
  if (type == "application/cbor") {
    return tl::unexpected(UnsupportedMediaType("application/json, application/yaml"));
  }
  Result<Value> value = ParseJson(body);
  if (!value) {
    return tl::unexpected(BadRequest("error decoding the body: " + value.error().message));
  }
  return *std::move(value);
}

}  // namespace caldera::sandbox
