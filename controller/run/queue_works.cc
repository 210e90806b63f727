#include "controller/run/queue_works.h"

#include "controller/run/manifest_digest.h"
#include "federation/render.h"
#include "federation/waves.h"

namespace caldera {

namespace {

Carrier Make(const std::string& name, const std::string& cluster, Value spec) {
  Value object{Value::Map{}};
  object.Set("apiVersion", resource::Queues().ApiVersion());
  object.Set("kind", resource::Queues().kind);
  object.Set("metadata", Value::Map{{"name", name, {}}});
  object.Set("spec", std::move(spec));
  Carrier carrier{WorkRole::kQueue, resource::Queues().kind, "", name, cluster, {}, {}};
  carrier.manifest =
      RenderManifest(object, CarrierName(carrier.kind, carrier.ns, carrier.name), cluster);
  carrier.digest = ManifestDigest(carrier.manifest);
  return carrier;
}

Value SpecOf(int32_t weight) {
  return Value::Map{{"parent", std::string(kRootQueue), {}},
                    {"weight", int64_t{weight}, {}},
                    {"reclaimable", false, {}}};
}

}  // namespace

std::optional<Carrier> MakeQueueCarrier(const Queue& queue, const std::string& cluster) {
  if (queue.name == kRootQueue || queue.name == kDefaultQueue) {
    return std::nullopt;
  }
  return Make(queue.name, cluster, SpecOf(queue.weight));
}

bool HasWavesQueue(const JobEntry& job) {
  return job.charge.has_value() && job.charge->shards.size() == 1 &&
         job.charge->shards.front().InWaves();
}

std::optional<Carrier> MakeWavesCarrier(const State& state, const JobEntry& job) {
  if (!HasWavesQueue(job)) {
    return std::nullopt;
  }
  const Shard& shard = job.charge->shards.front();
  const auto& queue = state.queue(job.charge_queue).object;
  Value::Map capability;
  for (const auto& [name, amount] : GrantOf(state.spec(job), CountsOf(shard))) {
    if (name != "pods") {
      capability.push_back({name, FormatAmount(name, amount), {}});
    }
  }
  Value spec = SpecOf(queue.has_value() ? queue->weight : 1);
  spec.Set("capability", std::move(capability));
  return Make(QueueOfWaves(job.uid), shard.cluster, std::move(spec));
}

std::string QueueUse(const std::string& queue) { return resource::Queues().kind + "/" + queue; }

}  // namespace caldera
