#include "controller/cli/contract.h"

namespace caldera {
namespace {

Value Text(std::string_view text) { return {std::string(text)}; }

}  // namespace

Value AmountsValue(const ResourceList& amounts) {
  Value::Map map;
  map.reserve(amounts.size());
  for (const auto& [name, amount] : amounts) {
    map.push_back({name, FormatAmount(name, amount), {}});
  }
  return {std::move(map)};
}

Value IssueValue(const Issue& issue) {
  return {Value::Map{{"object", issue.object, {}},
                     {"file", issue.file, {}},
                     {"line", static_cast<int64_t>(issue.mark.line), {}},
                     {"column", static_cast<int64_t>(issue.mark.column), {}},
                     {"field", issue.field, {}},
                     {"value", issue.value, {}},
                     {"message", issue.message, {}}}};
}

Value IssuesValue(const std::vector<Issue>& issues) {
  Value::List list;
  for (const Issue& issue : issues) {
    list.push_back(IssueValue(issue));
  }
  return {std::move(list)};
}

Value ShardsValue(const std::vector<Shard>& shards) {
  Value::List list;
  for (const Shard& shard : shards) {
    Value::Map tasks;
    for (const TaskGrant& task : shard.tasks) {
      Value::Map grant{{"replicas", task.replicas, {}}, {"minAvailable", task.min_available, {}}};
      if (task.at_once.has_value()) {
        grant.push_back({"atOnce", *task.at_once, {}});
      }
      tasks.push_back({task.name, std::move(grant), {}});
    }
    Value::Map map{{"cluster", shard.cluster, {}}, {"epoch", shard.epoch, {}}};
    if (!shard.child.empty()) {
      map.push_back({"child", shard.child, {}});
    }
    map.push_back({"tasks", std::move(tasks), {}});
    map.push_back({"minAvailable", shard.min_available, {}});
    map.push_back({"requests", AmountsValue(shard.requests), {}});
    list.emplace_back(std::move(map));
  }
  return {std::move(list)};
}

Value FiguresValue(const std::vector<Figure>& figures) {
  Value::List list;
  for (const Figure& figure : figures) {
    const auto amount = [&figure](int64_t value) {
      return Text(FormatAmount(figure.resource, value));
    };
    list.emplace_back(Value::Map{{"object", figure.object, {}},
                                 {"resource", figure.resource, {}},
                                 {"requested", amount(figure.requested), {}},
                                 {"used", amount(figure.used), {}},
                                 {"limit", amount(figure.limit), {}}});
  }
  return {std::move(list)};
}

Value EditsValue(const std::vector<Edit>& edits) {
  Value::List list;
  for (const Edit& edit : edits) {
    list.emplace_back(Value::Map{{"object", edit.object, {}},
                                 {"field", edit.field, {}},
                                 {"from", edit.from, {}},
                                 {"to", edit.to, {}}});
  }
  return {std::move(list)};
}

Value AheadValue(const std::vector<QueueAhead>& ahead) {
  Value::List list;
  for (const QueueAhead& queue : ahead) {
    list.emplace_back(
        Value::Map{{"queue", queue.queue, {}},
                   {"before", queue.before, {}},
                   {"why", std::string(WhyAheadName(queue.why)), {}},
                   {"share", std::to_string(queue.share_milli), {}},
                   {"beforeShare", std::to_string(queue.before_milli), {}},
                   {"until", queue.until.has_value() ? FormatTime(*queue.until) : "", {}}});
  }
  return {std::move(list)};
}

Value TurnValue(const std::vector<QueueAhead>& ahead) {
  const std::optional<Time> turn = TurnOf(ahead);
  return {turn.has_value() ? FormatTime(*turn) : ""};
}

Value ClusterVerdictsValue(const std::vector<ClusterVerdict>& clusters) {
  Value::List list;
  for (const ClusterVerdict& cluster : clusters) {
    list.emplace_back(Value::Map{{"cluster", cluster.cluster, {}},
                                 {"verdict", Text(VerdictName(cluster.verdict)), {}},
                                 {"message", cluster.message, {}},
                                 {"figures", FiguresValue(cluster.figures), {}}});
  }
  return {std::move(list)};
}

Value TopologyValue(const NetworkTopology& topology) {
  Value::Map map;
  if (topology.mode != TopologyMode::kNone) {
    map.push_back({"mode", topology.mode == TopologyMode::kHard ? "hard" : "soft", {}});
  }
  if (topology.highest_tier.has_value()) {
    map.push_back({"highestTierAllowed", *topology.highest_tier, {}});
  }
  if (!topology.highest_tier_name.empty()) {
    map.push_back({"highestTierName", topology.highest_tier_name, {}});
  }
  return {std::move(map)};
}

std::string_view JobKindName(JobKind kind) {
  return kind == JobKind::kHyperJob ? "HyperJob" : "Job";
}

}  // namespace caldera
