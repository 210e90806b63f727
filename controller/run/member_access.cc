#include "controller/run/member_access.h"

#include <utility>

#include "controller/run/manifest_digest.h"
#include "federation/render.h"

namespace caldera {
namespace {

constexpr std::string_view kGroup = "rbac.authorization.k8s.io";
constexpr std::string_view kName = "caldera-reader";

Value Rule(std::string_view group, Value::List resources, Value::List verbs) {
  return Value::Map{{"apiGroups", Value::List{std::string(group)}, {}},
                    {"resources", std::move(resources), {}},
                    {"verbs", std::move(verbs), {}}};
}

Value Object(std::string_view kind) {
  Value object{Value::Map{}};
  object.Set("apiVersion", std::string(kGroup) + "/v1");
  object.Set("kind", std::string(kind));
  object.Set("metadata",
             Value::Map{{"name", std::string(kName), {}},
                        {"labels", Value::Map{{"app.kubernetes.io/part-of", "caldera", {}}}, {}}});
  return object;
}

Carrier CarrierOf(const Value& object, const std::string& cluster) {
  Carrier carrier{
      WorkRole::kAccess, object.Find("kind")->AsString(), "", std::string(kName), cluster, {}, {}};
  carrier.manifest =
      RenderManifest(object, CarrierName(carrier.kind, carrier.ns, carrier.name), cluster);
  carrier.digest = ManifestDigest(carrier.manifest);
  return carrier;
}

}  // namespace

std::vector<Carrier> MakeAccessCarriers(const std::string& user, const std::string& cluster) {
  Value role = Object("ClusterRole");
  role.Set("rules",
           Value::List{Rule("", {"nodes", "pods"}, {"list", "watch"}),
                       Rule(resource::HyperNodes().group, {"hypernodes"}, {"list", "watch"}),
                       Rule("", {"persistentvolumeclaims"}, {"get"})});
  Value binding = Object("ClusterRoleBinding");
  binding.Set("roleRef", Value::Map{{"apiGroup", std::string(kGroup), {}},
                                    {"kind", "ClusterRole", {}},
                                    {"name", std::string(kName), {}}});
  binding.Set("subjects", Value::List{Value::Map{{"apiGroup", std::string(kGroup), {}},
                                                 {"kind", "User", {}},
                                                 {"name", user, {}}}});
  return {CarrierOf(role, cluster), CarrierOf(binding, cluster)};
}

}  // namespace caldera
