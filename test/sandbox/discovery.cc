#include "test/sandbox/discovery.h"

#include <algorithm>
#include <map>

#include "controller/kube/json_writer.h"
#include "test/sandbox/answer.h"
#include "test/sandbox/route.h"

namespace caldera::sandbox {
namespace {

Value StringList(const std::vector<std::string>& texts) {
  Value::List list;
  for (const std::string& text : texts) {
    list.emplace_back(text);
  }
  return {std::move(list)};
}

Value Version() {
  Value version;
  version.Set("major", "1");
  version.Set("minor", "36");
  version.Set("gitVersion", "v1.36.3+caldera-sandbox");
  version.Set("gitCommit", "");
  version.Set("gitTreeState", "clean");
  version.Set("buildDate", "2026-01-01T00:00:00Z");
  version.Set("goVersion", "");
  version.Set("compiler", "");
  version.Set("platform", "linux/amd64");
  return version;
}

Value Resource(const Kind& kind, const std::string& subresource) {
  Value resource;
  const bool whole = subresource.empty();
  resource.Set("name", kind.type.plural + (whole ? "" : "/" + subresource));
  resource.Set("singularName", whole ? kind.singular : "");
  resource.Set("namespaced", kind.type.namespaced);
  resource.Set("kind", subresource == "binding" ? "Binding" : kind.type.kind);
  if (!whole) {
    resource.Set("verbs", subresource == "binding" ? StringList({"create"})
                                                   : StringList({"get", "patch", "update"}));
    return resource;
  }
  resource.Set("verbs", StringList({"create", "delete", "deletecollection", "get", "list", "patch",
                                    "update", "watch"}));
  if (!kind.short_names.empty()) {
    resource.Set("shortNames", StringList(kind.short_names));
  }
  if (kind.Resource() == "pods" || kind.Resource() == "services") {
    resource.Set("categories", StringList({"all"}));  // `kubectl get all`
  }
  return resource;
}

Value ResourcesOf(const Catalog& catalog, const std::string& group, const std::string& version) {
  Value::List resources;
  for (const Kind& kind : catalog.kinds()) {
    if (kind.type.group != group || kind.type.version != version) {
      continue;
    }
    resources.push_back(Resource(kind, ""));
    if (kind.has_status) {
      resources.push_back(Resource(kind, "status"));
    }
    if (kind.Resource() == "pods") {
      resources.push_back(Resource(kind, "binding"));
    }
  }
  Value list;
  list.Set("kind", "APIResourceList");
  list.Set("apiVersion", "v1");
  list.Set("groupVersion", group.empty() ? version : group + "/" + version);
  list.Set("resources", std::move(resources));
  return list;
}

Value Group(const std::string& name, const std::vector<std::string>& versions) {
  Value::List list;
  for (const std::string& version : versions) {
    Value entry;
    entry.Set("groupVersion", name + "/" + version);
    entry.Set("version", version);
    list.push_back(std::move(entry));
  }
  Value group;
  group.Set("name", name);
  group.Set("preferredVersion", list.front());
  group.Set("versions", std::move(list));
  return group;
}

std::map<std::string, std::vector<std::string>> Groups(const Catalog& catalog) {
  std::map<std::string, std::vector<std::string>> groups;
  for (const Kind& kind : catalog.kinds()) {
    if (kind.type.group.empty()) {
      continue;
    }
    auto& versions = groups[kind.type.group];
    if (std::find(versions.begin(), versions.end(), kind.type.version) == versions.end()) {
      versions.push_back(kind.type.version);
    }
  }
  return groups;
}

Value GroupList(const Catalog& catalog) {
  Value::List groups;
  for (const auto& [name, versions] : Groups(catalog)) {
    groups.push_back(Group(name, versions));
  }
  Value list;
  list.Set("kind", "APIGroupList");
  list.Set("apiVersion", "v1");
  list.Set("groups", std::move(groups));
  return list;
}

Value CoreVersions() {
  Value versions;
  versions.Set("kind", "APIVersions");
  versions.Set("versions", StringList({"v1"}));
  versions.Set("serverAddressByClientCIDRs", Value::List{});
  return versions;
}

}  // namespace

std::optional<HttpResponse> Discover(const Catalog& catalog, const HttpRequest& request) {
  const std::vector<std::string> parts = PathParts(request.path);
  const auto answer = [](const Value& value) { return JsonResponse(200, WriteJson(value)); };
  if (request.method != "GET" || parts.empty()) {
    return std::nullopt;
  }
  if (parts.size() == 1 && parts[0] == "version") {
    return answer(Version());
  }
  if (parts[0] == "api" && parts.size() == 1) {
    return answer(CoreVersions());
  }
  if (parts[0] == "api" && parts.size() == 2 && parts[1] == "v1") {
    return answer(ResourcesOf(catalog, "", "v1"));
  }
  if (parts[0] != "apis" || parts.size() > 3) {
    return std::nullopt;
  }
  if (parts.size() == 1) {
    return answer(GroupList(catalog));
  }
  const auto groups = Groups(catalog);
  const auto group = groups.find(parts[1]);
  if (group == groups.end()) {
    return std::nullopt;
  }
  if (parts.size() == 2) {
    Value object = Group(group->first, group->second);
    object.Set("kind", "APIGroup");
    object.Set("apiVersion", "v1");
    return answer(object);
  }
  return catalog.HasGroupVersion(parts[1], parts[2])
             ? std::optional(answer(ResourcesOf(catalog, parts[1], parts[2])))
             : std::nullopt;
}

}  // namespace caldera::sandbox
