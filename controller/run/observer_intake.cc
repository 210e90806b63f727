#include "controller/run/observer_intake.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "federation/intake.h"

namespace caldera {

std::optional<ObjectKey> KeyOfObject(const std::string& kind, const std::string& ns,
                                     const std::string& name) {
  using Kind = ObjectKind;
  constexpr std::array<std::pair<std::string_view, Kind>, 5> kKinds{{
      {"PriorityClass", Kind::kPriorityClass},
      {"Namespace", Kind::kNamespace},
      {"Queue", Kind::kQueue},
      {"FederatedResourceQuota", Kind::kTenantQuota},
      {"Cluster", Kind::kCluster},
  }};
  for (const auto& [text, known] : kKinds) {
    if (kind == text) {
      return known == Kind::kTenantQuota ? ObjectKey{known, {ns, name}} : ObjectKey{known, {name}};
    }
  }
  return std::nullopt;
}

std::optional<ObjectKey> MemberKeyOf(const std::string& cluster, const std::string& kind,
                                     const std::string& ns, const std::string& name) {
  using Kind = ObjectKind;
  if (kind == "Node") {
    return ObjectKey{Kind::kNode, {cluster, name}};
  }
  if (kind == "HyperNode") {
    return ObjectKey{Kind::kHyperNode, {cluster, name}};
  }
  if (kind == "Pod") {
    return ObjectKey{Kind::kPod, {cluster, ns, name}};
  }
  return std::nullopt;
}

bool IsNeeded(const Pod& pod) { return !pod.job.empty() || (!pod.node.empty() && !pod.terminal); }

void SetCluster(Value& object, const std::string& cluster) {
  Value* const metadata = object.Find("metadata");
  if (metadata == nullptr || !metadata->IsMap()) {
    return;  // Intake says so.
  }
  const std::string key = std::string(kAnnotationPrefix) + "cluster";
  if (Value* const annotations = metadata->Find("annotations");
      annotations != nullptr && annotations->IsMap()) {
    annotations->Set(key, cluster);
  } else {
    metadata->Set("annotations", Value::Map{{key, cluster, {}}});
  }
}

std::string Complaints(const std::vector<Issue>& errors) {
  constexpr size_t kShown = 3;
  std::string text;
  for (size_t i = 0; i < std::min(errors.size(), kShown); ++i) {
    const Issue& error = errors[i];
    text += (text.empty() ? "" : "; ") + error.field +
            (error.value.empty() ? "" : " (" + error.value + ")") + " " + error.message;
  }
  if (errors.size() > kShown) {
    text += "; and " + std::to_string(errors.size() - kShown) + " more";
  }
  return text;
}

Taken TakeStored(Value&& object, Time now) {
  Document document;
  document.root = std::move(object);
  Intake intake = TakeObject(document, Strictness::kStored, now);
  if (intake.change.has_value()) {
    return {std::move(intake.change), {}};
  }
  if (!intake.known) {
    return {std::nullopt, "is of a kind or version that Caldera does not read"};
  }
  return {std::nullopt, Complaints(intake.errors)};
}

}  // namespace caldera
