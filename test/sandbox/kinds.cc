#include "test/sandbox/kinds.h"

#include <algorithm>
#include <cctype>

namespace caldera::sandbox {
namespace {

Kind Core(ResourceType type, std::vector<std::string> short_names, std::vector<Column> columns) {
  Kind kind;
  kind.type = std::move(type);
  kind.short_names = std::move(short_names);
  kind.columns = std::move(columns);
  kind.builtin = true;
  kind.has_status = false;
  kind.generation = false;
  return kind;
}

ResourceType Rbac(const char* plural, const char* kind, bool namespaced) {
  return {"rbac.authorization.k8s.io", "v1", plural, kind, namespaced};
}

Kind PodKind() {
  Kind pods = Core(resource::Pods(), {"po"},
                   {{"Ready", "string", "@ready"},
                    {"Status", "string", "@podStatus"},
                    {"Restarts", "string", "@restarts"},
                    {"IP", "string", ".status.podIP", 1},
                    {"Node", "string", ".spec.nodeName", 1}});
  pods.has_status = true;
  pods.generation = true;
  pods.fields = {"spec.nodeName",           "spec.restartPolicy", "spec.schedulerName",
                 "spec.serviceAccountName", "status.phase",       "status.podIP",
                 "status.nominatedNodeName"};
  return pods;
}

Kind EventKind() {
  Kind events = Core(resource::Events(), {"ev"},
                     {{"Last Seen", "string", "@lastSeen"},
                      {"Type", "string", ".type"},
                      {"Reason", "string", ".reason"},
                      {"Object", "string", "@involved"},
                      {"Message", "string", ".message"}});
  for (const char* side : {"involvedObject.", "regarding."}) {
    for (const char* field :
         {"kind", "namespace", "name", "uid", "apiVersion", "resourceVersion", "fieldPath"}) {
      events.fields.push_back(std::string(side) + field);
    }
  }
  for (const char* field : {"reason", "type", "source", "reportingComponent"}) {
    events.fields.emplace_back(field);
  }
  return events;
}

std::vector<Kind> CoreKinds() {
  std::vector<Kind> kinds;
  Kind namespaces = Core(resource::Namespaces(), {"ns"}, {{"Status", "string", ".status.phase"}});
  namespaces.has_status = true;
  namespaces.fields = {"status.phase"};
  kinds.push_back(std::move(namespaces));
  Kind nodes = Core(resource::Nodes(), {"no"},
                    {{"Status", "string", "@nodeStatus"},
                     {"Roles", "string", "@nodeRoles"},
                     {"Version", "string", ".status.nodeInfo.kubeletVersion"}});
  nodes.has_status = true;
  nodes.born_with_status = true;
  nodes.fields = {"spec.unschedulable"};
  kinds.push_back(std::move(nodes));
  kinds.push_back(PodKind());
  kinds.push_back(EventKind());
  Kind secrets = Core(resource::Secrets(), {},
                      {{"Type", "string", ".type"}, {"Data", "string", "@dataCount"}});
  secrets.fields = {"type"};
  kinds.push_back(std::move(secrets));
  kinds.push_back(Core(resource::ConfigMaps(), {"cm"}, {{"Data", "string", "@dataCount"}}));
  kinds.push_back(Core(resource::ServiceAccounts(), {"sa"}, {}));
  Kind claims = Core(resource::PersistentVolumeClaims(), {"pvc"},
                     {{"Status", "string", ".status.phase"},
                      {"Volume", "string", ".spec.volumeName"},
                      {"StorageClass", "string", ".spec.storageClassName"}});
  claims.has_status = true;
  kinds.push_back(std::move(claims));
  Kind services =
      Core({"", "v1", "services", "Service", true}, {"svc"},
           {{"Type", "string", ".spec.type"}, {"Cluster-IP", "string", ".spec.clusterIP"}});
  services.has_status = true;
  kinds.push_back(std::move(services));
  kinds.push_back(Core(resource::Leases(), {}, {{"Holder", "string", ".spec.holderIdentity"}}));
  Kind classes =
      Core(resource::PriorityClasses(), {"pc"},
           {{"Value", "string", ".value"}, {"Global-Default", "boolean", "@globalDefault"}});
  classes.generation = true;
  kinds.push_back(std::move(classes));
  kinds.push_back(Core(Rbac("clusterroles", "ClusterRole", false), {}, {}));
  kinds.push_back(Core(Rbac("clusterrolebindings", "ClusterRoleBinding", false), {},
                       {{"Role", "string", "@roleRef"}}));
  kinds.push_back(Core(Rbac("roles", "Role", true), {}, {}));
  kinds.push_back(
      Core(Rbac("rolebindings", "RoleBinding", true), {}, {{"Role", "string", "@roleRef"}}));
  return kinds;
}

// What the CRDs of Volcano and Karmada say beside the ResourceType.
void Describe(Kind& kind) {
  const std::string name = kind.Resource();
  if (name == "jobs.batch.volcano.sh") {
    kind.short_names = {"vcjob", "vj"};
    kind.columns = {{"Status", "string", ".status.state.phase"},
                    {"minAvailable", "integer", ".status.minAvailable"},
                    {"Runnings", "integer", ".status.running"},
                    {"Queue", "string", ".spec.queue", 1}};
  } else if (name == "queues.scheduling.volcano.sh") {
    kind.short_names = {"q", "queue-v1beta1"};
    kind.columns = {{"Parent", "string", ".spec.parent"}};
  } else if (name == "podgroups.scheduling.volcano.sh") {
    kind.short_names = {"pg", "podgroup-v1beta1"};
    kind.has_status = false;
    kind.columns = {{"Status", "string", ".status.phase"},
                    {"minMember", "integer", ".spec.minMember"},
                    {"Runnings", "integer", ".status.running"},
                    {"Queue", "string", ".spec.queue", 1}};
  } else if (name == "commands.bus.volcano.sh") {
    kind.has_status = false;
  } else if (name == "hypernodes.topology.volcano.sh") {
    kind.short_names = {"hn"};
    kind.columns = {{"Tier", "string", ".spec.tier"},
                    {"TierName", "string", ".spec.tierName"},
                    {"NodeCount", "integer", ".status.nodeCount"}};
  } else if (name == "hyperjobs.training.volcano.sh") {
    kind.short_names = {"hj"};
  } else if (name == "works.work.karmada.io") {
    kind.short_names = {"wk"};
    kind.columns = {{"Workload-Kind", "string", ".spec.workload.manifests[*].kind"},
                    {"Applied", "string", ".status.conditions[?(@.type==\"Applied\")].status"}};
  } else if (name == "clusters.cluster.karmada.io") {
    kind.born_with_status = true;
    kind.columns = {{"Version", "string", ".status.kubernetesVersion"},
                    {"Mode", "string", ".spec.syncMode"},
                    {"Ready", "string", ".status.conditions[?(@.type==\"Ready\")].status"},
                    {"APIEndpoint", "string", ".spec.apiEndpoint", 1}};
  } else if (name == "federatedresourcequotas.policy.karmada.io") {
    kind.columns = {{"Overall", "string", ".status.overall"},
                    {"Overall_Used", "string", ".status.overallUsed"}};
  }
}

std::string Lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

}  // namespace

Catalog::Catalog(const std::vector<ResourceType>& types) : kinds_(CoreKinds()) {
  for (const ResourceType& type : types) {
    if (Find(type.group, type.version, type.plural) != nullptr) {
      continue;
    }
    Kind kind;
    kind.type = type;
    Describe(kind);
    kinds_.push_back(std::move(kind));
  }
  for (Kind& kind : kinds_) {
    kind.singular = Lower(kind.type.kind);
  }
}

const Kind* Catalog::Find(std::string_view group, std::string_view version,
                          std::string_view plural) const {
  const auto found = std::find_if(kinds_.begin(), kinds_.end(), [&](const Kind& kind) {
    return kind.type.group == group && kind.type.version == version && kind.type.plural == plural;
  });
  return found == kinds_.end() ? nullptr : &*found;
}

bool Catalog::HasGroupVersion(std::string_view group, std::string_view version) const {
  return std::any_of(kinds_.begin(), kinds_.end(), [&](const Kind& kind) {
    return kind.type.group == group && kind.type.version == version;
  });
}

}  // namespace caldera::sandbox
