#include "controller/run/queue_works.h"

#include "controller/kube/json_writer.h"
#include "federation/codec.h"
#include "federation/render.h"
#include "federation/state.h"

namespace caldera {

std::optional<Carrier> MakeQueueCarrier(const Queue& queue, const std::string& cluster) {
  if (queue.name == kRootQueue || queue.name == kDefaultQueue) {
    return std::nullopt;
  }
  Value object{Value::Map{}};
  object.Set("apiVersion", resource::Queues().ApiVersion());
  object.Set("kind", resource::Queues().kind);
  object.Set("metadata", Value::Map{{"name", queue.name, {}}});
  object.Set("spec", Value::Map{{"parent", std::string(kRootQueue), {}},
                                {"weight", int64_t{queue.weight}, {}},
                                {"reclaimable", false, {}}});
  Carrier carrier{WorkRole::kQueue, resource::Queues().kind, "", queue.name, cluster, {}, {}};
  carrier.manifest =
      RenderManifest(object, CarrierName(carrier.kind, carrier.ns, carrier.name), cluster);
  carrier.digest = Digest(WriteJson(carrier.manifest));
  return carrier;
}

std::string QueueUse(const std::string& queue) { return resource::Queues().kind + "/" + queue; }

}  // namespace caldera
