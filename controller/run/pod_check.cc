#include "controller/run/pod_check.h"

#include <utility>

#include "controller/kube/json_reader.h"

namespace caldera {
namespace {

bool SaysNone(const Result<HttpResponse>& response) {
  if (!response.has_value() || response->status != 200) {
    return false;
  }
  const Result<Value> list = ParseJson(response->body);
  if (!list.has_value()) {
    return false;
  }
  const Value* const items = list->Find("items");
  const Value* const more = list->At({"metadata", "continue"});
  const bool whole = more == nullptr || !more->IsString() || more->AsString().empty();
  return whole && items != nullptr &&
         (items->IsNull() || (items->IsList() && items->AsList().empty()));
}

}  // namespace

void AskForPods(Client& member, const JobKey& job, std::function<void(bool gone)> done) {
  HttpRequest request;
  request.path = resource::Pods().Path(job.ns);
  request.query = {{"labelSelector", "volcano.sh/job-name=" + job.name}, {"limit", "1"}};
  member.Raw(
      std::move(request), "list", resource::Pods().kind,
      [done = std::move(done)](const Result<HttpResponse>& response) { done(SaysNone(response)); });
}

}  // namespace caldera
