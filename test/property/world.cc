#include "test/property/world.h"

#include <rapidcheck.h>

#include <algorithm>

#include "federation/codec.h"
#include "test/property/draws.h"
#include "test/property/world_children.h"

namespace caldera::property {

namespace {

constexpr int kQueues = 5;
constexpr int kTenants = 3;
constexpr int kNodes = 3;
constexpr int kJobs = 16;
const Time kNow = Time(Millis(1'000'000'000));

std::string QueueName(int i) { return i == kQueues ? "default" : "q" + std::to_string(i); }
std::string TenantName(int i) { return "t" + std::to_string(i); }

/// Some of cpu, memory and devices, up to `scale` of each.
ResourceList AnyLimits(int scale) {
  const int base = OneIn(6) ? 0 : scale / 3;
  ResourceList list;
  if (!OneIn(3)) {
    list["cpu"] = (base + Pick(scale)) * int64_t{500};
  }
  if (OneIn(4)) {
    list["memory"] = (base + Pick(scale)) * (int64_t{1} << 30U);
  }
  if (OneIn(4)) {
    list["nvidia.com/gpu"] = base / 2 + Pick(scale / 2 + 1);
  }
  if (OneIn(8)) {
    list["pods"] = base + Pick(scale);
  }
  return list;
}

ResourceList AnyRequest() {
  ResourceList list{{"pods", 1}};
  if (!OneIn(5)) {
    list["cpu"] = (1 + Pick(4)) * int64_t{500};
  }
  if (OneIn(3)) {
    list["memory"] = (1 + Pick(4)) * (int64_t{1} << 30U);
  }
  if (OneIn(5)) {
    list["nvidia.com/gpu"] = 1 + Pick(2);
  }
  return list;
}

ResourceList AnyCapacity(int scale) {
  const int base = OneIn(6) ? 0 : scale / 2;
  ResourceList list{{"cpu", (base + Pick(scale)) * int64_t{500}},
                    {"memory", (base + Pick(scale)) * (int64_t{1} << 30U)}};
  if (OneIn(2)) {
    list["nvidia.com/gpu"] = base / 2 + Pick(scale / 2 + 1);
  }
  if (OneIn(4)) {
    list["pods"] = base + Pick(scale);
  }
  return list;
}

Labels AnyLabels() {
  Labels labels;
  if (OneIn(2)) {
    labels["zone"] = OneOf({"a", "b"});
  }
  if (OneIn(3)) {
    labels["n"] = OneOf({"1", "5", "x"});
  }
  return labels;
}

std::vector<Taint> AnyTaints() {
  std::vector<Taint> taints;
  if (OneIn(8)) {
    taints.push_back(
        {"gpu", OneOf({"", "yes"}), OneOf({"NoSchedule", "NoExecute", "PreferNoSchedule"})});
  }
  return taints;
}

std::vector<Toleration> AnyTolerations() {
  if (!OneIn(3)) {
    return {};
  }
  Toleration toleration;
  toleration.op = OneOf({"Equal", "Exists"});
  toleration.key = toleration.op == "Exists" && OneIn(3) ? "" : "gpu";
  toleration.value = toleration.op == "Equal" ? OneOf({"", "yes"}) : "";
  toleration.effect = OneOf({"", "NoSchedule", "NoExecute"});
  return {toleration};
}

std::vector<LabelRequirement> AnySelector() {
  if (!OneIn(8)) {
    return {};
  }
  LabelRequirement requirement;
  requirement.op = OneOf({"In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"});
  const bool number = requirement.op == "Gt" || requirement.op == "Lt";
  requirement.key = number ? "n" : "zone";
  if (number) {
    requirement.values = {"3"};
  } else if (requirement.op == "In" || requirement.op == "NotIn") {
    requirement.values = {"a"};
  }
  return {requirement};
}

Queue AnyQueue(int i) {
  Queue queue;
  queue.name = QueueName(i);
  queue.creation = Time(Millis(Pick(3)));
  queue.parent = "root";
  if (i < kQueues && OneIn(3)) {
    // Mostly upwards, so that trees come out; now and then a cycle, an orphan or itself.
    queue.parent = i > 0 && !OneIn(16) ? QueueName(Pick(i))
                                       : OneOf({"root", "root", "root", "q0", "q1", "gone"});
  }
  queue.weight = 1 + Pick(4);
  queue.priority = Pick(2);
  if (OneIn(2)) {
    queue.capability = AnyLimits(24);
  }
  if (OneIn(3)) {
    queue.guarantee = AnyLimits(8);
  }
  if (OneIn(4)) {
    queue.deserved = AnyLimits(16);
  }
  queue.dequeue_strategy = OneIn(5) ? DequeueStrategy::kFifo : DequeueStrategy::kTraverse;
  queue.state = OneIn(16) ? QueueState::kClosed : QueueState::kOpen;
  return queue;
}

TenantQuota AnyQuota(int tenant, int i) {
  TenantQuota quota;
  quota.tenant = TenantName(tenant);
  quota.name = "quota" + std::to_string(i);
  quota.overall = AnyLimits(24);
  if (OneIn(3)) {
    quota.per_cluster[ClusterName(Pick(kClusters))] = AnyLimits(16);
  }
  quota.weight = 1 + Pick(3);
  return quota;
}

Cluster AnyCluster(int i) {
  Cluster cluster;
  cluster.name = ClusterName(i);
  cluster.labels = AnyLabels();
  cluster.taints = AnyTaints();
  cluster.cost = Pick(2);
  cluster.provider = OneOf({"", "p"});
  cluster.region = OneOf({"", "r", "r", "s"});
  if (OneIn(2)) {
    cluster.zones = {OneOf({"z", "y"})};
  }
  cluster.ready = !OneIn(8);
  cluster.ready_changed = OneOf({Time(), kNow - Millis(1), kNow - Millis(900'000)});
  cluster.deleting = OneIn(12);
  cluster.apis_known = OneIn(8);
  if (OneIn(2)) {
    cluster.apis = {"batch.volcano.sh/v1alpha1/Job"};
  }
  cluster.has_summary = !OneIn(8);
  if (cluster.has_summary) {
    cluster.allocatable = AnyCapacity(24);
    if (OneIn(3)) {
      cluster.allocated = AnyLimits(8);
      cluster.allocating = AnyLimits(4);
    }
  }
  return cluster;
}

Node AnyNode(int cluster, int i) {
  Node node;
  node.cluster = ClusterName(cluster);
  node.name = "n" + std::to_string(i);
  node.labels = AnyLabels();
  node.taints = AnyTaints();
  node.unschedulable = OneIn(8);
  node.ready = !OneIn(8);
  node.allocatable = AnyCapacity(12);
  return node;
}

Pod AnyPod(int cluster, int i) {
  Pod pod;
  pod.cluster = ClusterName(cluster);
  pod.ns = TenantName(Pick(kTenants));
  pod.name = "p" + std::to_string(i);
  pod.node = OneIn(5) ? "" : "n" + std::to_string(Pick(kNodes));
  pod.requests = AnyRequest();
  pod.terminal = OneIn(5);
  if (OneIn(2)) {
    pod.job = "j" + std::to_string(Pick(kJobs)) + (OneIn(3) ? OneOf({"-r1-0", "-r2-1"}) : "");
    pod.task = "a";
  }
  return pod;
}

Task AnyTask(const std::string& name) {
  Task task;
  task.name = name;
  task.replicas = Pick(5);
  task.min_available = OneIn(3) ? Pick(task.replicas + 1) : task.replicas;
  task.request = AnyRequest();
  if (task.replicas == 4 && OneIn(2)) {
    task.partition = {2, 2, task.min_available / 2, {}};
    task.min_available = task.min_available / 2 * 2;
  }
  if (OneIn(4)) {
    task.nodes.selector = AnyLabels();
    task.nodes.tolerations = AnyTolerations();
  }
  if (OneIn(6)) {
    task.nodes.has_affinity = true;
    task.nodes.terms.push_back({AnySelector(), {}});
    if (OneIn(3)) {
      task.nodes.terms.push_back({{}, {{"metadata.name", "In", {"n1"}}}});
    }
  }
  return task;
}

Job AnyJob(int i) {
  Job job;
  job.key = {TenantName(i % kTenants), "j" + std::to_string(i)};
  job.uid = "u" + std::to_string((i * 7) % kJobs);
  job.creation = Time(Millis(Pick(4)));
  job.queue = OneIn(24) ? "missing" : QueueName(Pick(kQueues + 1));
  job.priority_class = OneIn(24) ? "unknown" : OneOf({"", "", "high", "low"});
  job.tasks.push_back(AnyTask("a"));
  if (OneIn(3)) {
    job.tasks.push_back(AnyTask("b"));
  }
  for (const Task& task : job.tasks) {
    job.min_available += task.min_available;
  }
  job.min_available = OneIn(6) ? Pick(job.min_available + 1) : job.min_available;
  job.clusters.tolerations = AnyTolerations();
  job.clusters.selector = AnySelector();
  if (OneIn(8)) {
    job.clusters.names = {ClusterName(Pick(kClusters)), "c1"};
  }
  job.topology.mode =
      OneIn(4) ? OneOf({TopologyMode::kHard, TopologyMode::kSoft}) : TopologyMode::kNone;
  if (job.topology.mode != TopologyMode::kNone && OneIn(3)) {
    job.topology.highest_tier = 1 + Pick(2);
  } else if (job.topology.mode == TopologyMode::kHard && OneIn(6)) {
    job.topology.highest_tier_name = "rack";  // Needs the tree: waits.
  }
  job.elastic = OneIn(5);
  job.split = OneOf({"when-needed", "when-needed", "allowed", "never"});
  if (OneIn(8)) {
    job.ties.plugins = {"svc"};
    job.rendezvous = OneIn(2) ? "host:1" : "";
  }
  job.max_clusters = OneIn(4) ? 1 + Pick(3) : 0;
  job.min_shard = OneIn(4) ? 1 + Pick(4) : 1;
  job.max_distance = OneOf({"any", "any", "region", "zone", "cluster"});
  if (job.tasks.size() > 1 && OneIn(4)) {
    job.tasks[1].depends_on = {"a"};
  }
  job.refused = OneIn(24) ? "no" : "";
  job.hold = OneIn(24);
  job.suspended = OneIn(24);
  job.claimed_elsewhere = OneIn(24);
  job.terminal = OneIn(24);
  if (OneIn(24)) {
    job.missing_references = {"Secret/t/x"};
  }
  if (OneIn(6)) {
    job.backoffs.push_back({ClusterName(Pick(kClusters)),
                            OneOf({"ApplyFailed", "MissingReference", "else"}), "no",
                            OneOf({kNow - Millis(1), kNow, kNow + Millis(1)})});
  }
  if (OneIn(4)) {
    job.reports = {{"a", Pick(3), Pick(2)}};
    job.reported = OneOf({kNow, kNow - Millis(100'000), kNow - Millis(600'000)});
  }
  return job;
}

/// Every eighth name is that of a HyperJob.
Job AnyJobOrHyperJob(int i) { return i % 8 == 5 ? AnyHyperJob(AnyJob(i), AnyTask) : AnyJob(i); }

/// As the planner would have decided it, or (rarely) split.
std::vector<Shard> AnyShards(const Job& job, int64_t epoch, bool waves_too = true) {
  if (job.kind == JobKind::kHyperJob) {
    return AnyChildren(job, epoch);
  }
  std::vector<Shard> shards;
  const int first = Pick(kClusters);
  const int count = OneIn(6) ? 2 : 1;
  const bool waves = waves_too && count == 1 && OneIn(4);
  for (int s = 0; s < count; ++s) {
    Shard shard;
    shard.cluster = ClusterName((first + s) % kClusters);
    shard.epoch = epoch;
    for (const Task& task : job.tasks) {
      int32_t replicas = task.replicas / count + (s == 0 ? task.replicas % count : 0);
      if (OneIn(6)) {
        replicas = std::max(replicas + Pick(5) - 2, 0);  // The job was edited since.
      }
      shard.tasks.push_back({task.name, replicas, replicas});
      shard.min_available += replicas;
      if (waves) {
        shard.tasks.back().at_once = Pick(replicas + 1);
      }
    }
    shards.push_back(shard);
  }
  return shards;
}

}  // namespace

State World::Build() const {
  State state;
  for (const Change& change : objects) {
    state.Apply(change);
  }
  for (const Change& change : placed) {
    state.Apply(change);
  }
  return state;
}

World AnyWorld(const WorldOptions& options) {
  World world;
  world.objects.emplace_back(ClockSet{kNow});
  if (!options.evictions) {
    Settings settings;
    settings.evictions_a_day = 0;
    world.objects.emplace_back(SettingsSet{settings});
  }
  world.objects.emplace_back(PriorityClassUpsert{{"high", 10, false, true}});
  world.objects.emplace_back(PriorityClassUpsert{{"low", -10, OneIn(4), true}});
  const int queues = OneIn(6) ? Pick(kQueues) : kQueues + Pick(2);
  for (int i = 0; i < queues; ++i) {
    world.objects.emplace_back(QueueUpsert{AnyQueue(i)});
  }
  for (int t = 0; t < kTenants; ++t) {
    for (int i = OneIn(2) ? 0 : Pick(3); i > 0; --i) {
      world.objects.emplace_back(TenantQuotaUpsert{AnyQuota(t, i)});
    }
    if (OneIn(6)) {
      world.objects.emplace_back(NamespaceUpsert{{TenantName(t), OneIn(6)}});
    }
  }
  const int clusters = OneIn(12) ? 0 : 1 + Pick(kClusters);
  for (int c = 0; c < clusters; ++c) {
    world.objects.emplace_back(ClusterUpsert{AnyCluster(c)});
    if (!options.nodes || !OneIn(3)) {
      continue;
    }
    for (int n = 1 + Pick(kNodes); n > 0; --n) {
      world.objects.emplace_back(NodeUpsert{AnyNode(c, n - 1)});
    }
    for (int p = OneIn(2) ? Pick(4) : 0; p > 0; --p) {
      world.objects.emplace_back(PodUpsert{AnyPod(c, p)});
    }
  }
  int64_t intent = 0;
  for (int j = 2 + Pick(kJobs - 1); j > 0; --j) {
    Job job = AnyJobOrHyperJob(j - 1);
    if (options.running && OneIn(8)) {
      job.placement = AnyShards(job, 1 + Pick(2), options.waves);
    }
    world.objects.emplace_back(JobUpsert{job});
    if (options.running && OneIn(6)) {
      world.placed.emplace_back(Placed{job.key, job.uid, ++intent,
                                       kNow - Millis(OneOf({5, 500'000})),
                                       AnyShards(job, 3, options.waves)});
    }
  }
  return world;
}

Change AnyUpsert() {
  switch (Pick(7)) {
    case 0:
      return QueueUpsert{AnyQueue(Pick(kQueues + 1))};
    case 1:
      return TenantQuotaUpsert{AnyQuota(Pick(kTenants), Pick(2))};
    case 2:
      return ClusterUpsert{AnyCluster(Pick(kClusters))};
    case 3:
      return NodeUpsert{AnyNode(Pick(kClusters), Pick(kNodes))};
    case 4:
      return PodUpsert{AnyPod(Pick(kClusters), Pick(4))};
    case 5:
      return PriorityClassUpsert{{"high", Pick(20), OneIn(2), true}};
    default: {
      Job job = AnyJobOrHyperJob(Pick(kJobs));
      if (OneIn(4)) {
        job.uid = "again";
      }
      if (OneIn(4)) {
        job.placement = AnyShards(job, 1 + Pick(4));
      }
      return JobUpsert{job};
    }
  }
}

Change AnyDelete() {
  const int job = Pick(kJobs);
  const JobKey key{TenantName(job % kTenants), "j" + std::to_string(job)};
  const std::string uid = OneIn(4) ? "again" : "u" + std::to_string((job * 7) % kJobs);
  switch (Pick(8)) {
    case 0:
      return QueueDelete{QueueName(Pick(kQueues + 1))};
    case 1:
      return TenantQuotaDelete{TenantName(Pick(kTenants)), "quota1"};
    case 2:
      return ClusterDelete{ClusterName(Pick(kClusters))};
    case 3:
      return NodeDelete{ClusterName(Pick(kClusters)), "n0"};
    case 4:
      return PodDelete{ClusterName(Pick(kClusters)), TenantName(Pick(kTenants)), "p1"};
    case 5:
      return PriorityClassDelete{"high"};
    case 6:
      return Released{key, uid, Pick(3)};
    default:
      return JobDelete{key, uid};
  }
}

std::string Show(const std::vector<Change>& changes) {
  std::string text;
  for (const Change& change : changes) {
    text += EncodeChange(change) + "\n";
  }
  return text;
}

std::string Show(const Plan& plan) { return EncodePlan(plan); }

}  // namespace caldera::property
