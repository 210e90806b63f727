#include "controller/run/stray_works.h"

#include <string_view>
#include <utility>

#include "controller/kube/json_reader.h"
#include "controller/run/references.h"
#include "federation/intake.h"
#include "federation/render.h"
#include "federation/value_at.h"

namespace caldera {
namespace {

constexpr std::string_view kManagedBy = "app.kubernetes.io/managed-by";
constexpr std::string_view kOurselves = "caldera";
constexpr std::string_view kPageSize = "500";

std::string Key(std::string_view name) {
  return std::string(kAnnotationPrefix) + std::string(name);
}

WorkRole RoleOfUse(std::string_view use) {
  const std::string_view kind = use.substr(0, use.find('/'));
  if (kind == "Queue") {
    return WorkRole::kQueue;
  }
  return kind == "ClusterRole" || kind == "ClusterRoleBinding" ? WorkRole::kAccess
                                                               : WorkRole::kReference;
}

// What it is by its name and annotations, whatever its labels say.
std::optional<WorkRole> RoleOf(const Value& work) {
  const std::string name = TextAt(work, {"metadata", "name"});
  if (const std::string uid = TextAt(work, {"metadata", "annotations", Key("job-uid")});
      !uid.empty()) {
    const std::string own = WorkName(uid, "");
    const bool fits = name == own || name.starts_with(own + "-");
    return fits ? std::optional(WorkRole::kShard) : std::nullopt;
  }
  const std::string use = TextAt(work, {"metadata", "annotations", Key("object")});
  return !use.empty() && name == CarrierNameOfUse(use) ? std::optional(RoleOfUse(use))
                                                       : std::nullopt;
}

}  // namespace

Value WorkLabels(WorkRole role) {
  return Value::Map{{std::string(kManagedBy), std::string(kOurselves), {}},
                    {Key("work"), std::string(RoleName(role)), {}}};
}

std::optional<Value> LabelsBack(const Value& work) {
  const std::optional<WorkRole> role = RoleOf(work);
  const std::string uid = TextAt(work, {"metadata", "uid"});
  if (!role || uid.empty() || !TextAt(work, {"metadata", "namespace"}).starts_with("karmada-es-")) {
    return std::nullopt;
  }
  if (TextAt(work, {"metadata", "labels", kManagedBy}) == kOurselves &&
      TextAt(work, {"metadata", "labels", Key("work")}) == RoleName(*role)) {
    return std::nullopt;
  }
  Value metadata{Value::Map{}};
  metadata.Set("uid", uid);
  metadata.Set("labels", WorkLabels(*role));
  return Value::Map{{"metadata", std::move(metadata), {}}};
}

void StrayWorks::ListPage(const std::string& token) {
  HttpRequest request;
  request.path = resource::Works().Path("");
  request.headers["Accept"] =
      "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json";
  request.query = {{"labelSelector", std::string(kManagedBy) + "!=" + std::string(kOurselves)},
                   {"limit", std::string(kPageSize)}};
  if (!token.empty()) {
    request.query.emplace_back("continue", token);
  }
  client_.Raw(std::move(request), "list", resource::Works().kind,
              [self = shared_from_this()](const Result<HttpResponse>& response) {
                if (!self->stopped_) {
                  self->TakePage(response);
                }
              });
}

void StrayWorks::TakePage(const Result<HttpResponse>& response) {
  constexpr int kOk = 200;
  if (!response || response->status != kOk) {
    on_error_(response ? Error{ErrorCode::kUnavailable, "list of Works without label " +
                                                            std::string(kManagedBy) + ": status " +
                                                            std::to_string(response->status)}
                       : response.error());
    return;
  }
  const Result<Value> page = ParseJson(response->body, JsonKeep::kWhatIsRead);
  if (!page) {
    on_error_(page.error().Within("a list of Works that cannot be read"));
    return;
  }
  if (const Value* const items = page->Find("items"); items != nullptr && items->IsList()) {
    for (const Value& work : items->AsList()) {
      Mend(work);
    }
  }
  if (const std::string token = TextAt(*page, {"metadata", "continue"}); !token.empty()) {
    ListPage(token);
  }
}

void StrayWorks::Mend(const Value& work) {
  const std::optional<Value> patch = LabelsBack(work);
  if (!patch) {
    return;
  }
  const std::string ns = TextAt(work, {"metadata", "namespace"});
  const std::string name = TextAt(work, {"metadata", "name"});
  client_.Patch({&resource::Works(), ns, name}, PatchKind::kMerge, *patch, "",
                [self = shared_from_this(), ns, name](const Result<Value>& patched) {
                  if (!self->stopped_ && !patched && patched.error().code != ErrorCode::kNotFound) {
                    self->on_error_(patched.error().Within("labels of Work " + ns + "/" + name));
                  }
                });
}

}  // namespace caldera
