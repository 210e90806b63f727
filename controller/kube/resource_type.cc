#include "controller/kube/client.h"
#include "controller/kube/url.h"

namespace caldera {

std::string ResourceType::Path(std::string_view ns, std::string_view name,
                               std::string_view subresource) const {
  std::string path = group.empty() ? "/api/" + version : "/apis/" + group + "/" + version;
  if (namespaced && !ns.empty()) {
    path += "/namespaces/" + PercentEncode(ns);
  }
  path += "/" + plural;
  if (!name.empty()) {
    path += "/" + PercentEncode(name);
  }
  if (!subresource.empty()) {
    path += "/" + PercentEncode(subresource);
  }
  return path;
}

namespace resource {

const ResourceType& Queues() {
  static const ResourceType kType{"scheduling.volcano.sh", "v1beta1", "queues", "Queue", false};
  return kType;
}
const ResourceType& Jobs() {
  static const ResourceType kType{"batch.volcano.sh", "v1alpha1", "jobs", "Job", true};
  return kType;
}
const ResourceType& HyperJobs() {
  static const ResourceType kType{"training.volcano.sh", "v1alpha1", "hyperjobs", "HyperJob", true};
  return kType;
}
const ResourceType& Commands() {
  static const ResourceType kType{"bus.volcano.sh", "v1alpha1", "commands", "Command", true};
  return kType;
}
const ResourceType& PriorityClasses() {
  static const ResourceType kType{"scheduling.k8s.io", "v1", "priorityclasses", "PriorityClass",
                                  false};
  return kType;
}
const ResourceType& TenantQuotas() {
  static const ResourceType kType{"policy.karmada.io", "v1alpha1", "federatedresourcequotas",
                                  "FederatedResourceQuota", true};
  return kType;
}
const ResourceType& Clusters() {
  static const ResourceType kType{"cluster.karmada.io", "v1alpha1", "clusters", "Cluster", false};
  return kType;
}
const ResourceType& Works() {
  static const ResourceType kType{"work.karmada.io", "v1alpha1", "works", "Work", true};
  return kType;
}
const ResourceType& Namespaces() {
  static const ResourceType kType{"", "v1", "namespaces", "Namespace", false};
  return kType;
}
const ResourceType& Nodes() {
  static const ResourceType kType{"", "v1", "nodes", "Node", false};
  return kType;
}
const ResourceType& Pods() {
  static const ResourceType kType{"", "v1", "pods", "Pod", true};
  return kType;
}
const ResourceType& HyperNodes() {
  static const ResourceType kType{"topology.volcano.sh", "v1alpha1", "hypernodes", "HyperNode",
                                  false};
  return kType;
}
const ResourceType& Events() {
  static const ResourceType kType{"", "v1", "events", "Event", true};
  return kType;
}
const ResourceType& Leases() {
  static const ResourceType kType{"coordination.k8s.io", "v1", "leases", "Lease", true};
  return kType;
}
const ResourceType& Secrets() {
  static const ResourceType kType{"", "v1", "secrets", "Secret", true};
  return kType;
}
const ResourceType& ConfigMaps() {
  static const ResourceType kType{"", "v1", "configmaps", "ConfigMap", true};
  return kType;
}
const ResourceType& ServiceAccounts() {
  static const ResourceType kType{"", "v1", "serviceaccounts", "ServiceAccount", true};
  return kType;
}
const ResourceType& PersistentVolumeClaims() {
  static const ResourceType kType{"", "v1", "persistentvolumeclaims", "PersistentVolumeClaim",
                                  true};
  return kType;
}

}  // namespace resource
}  // namespace caldera
