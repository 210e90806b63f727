#include <optional>
#include <set>
#include <utility>

#include "federation/codec.h"
#include "federation/codec_json.h"

namespace caldera {
namespace {

using codec::Complaint;
using codec::Cut;
using codec::Json;
using codec::TextOf;

bool ReadCount(const Json& json, std::string_view key, int32_t& value, Complaint& complaint) {
  if (!codec::ReadInteger(json, value, complaint)) {
    return complaint.At(key);
  }
  if (value < 0) {
    complaint.Say(std::to_string(value) + " is negative");
    return complaint.At(key);
  }
  return true;
}

bool ReadGrant(const Json& json, TaskGrant& grant, Complaint& complaint) {
  if (!json.IsObject()) {
    return complaint.Expected("an object with `replicas` and `minAvailable`", json);
  }
  std::optional<int32_t> replicas;
  std::optional<int32_t> min_available;
  for (const auto& member : json.GetObject()) {
    const std::string_view key = TextOf(member.name);
    if (key != "replicas" && key != "minAvailable" && key != "atOnce") {
      complaint.Say("unknown field; there are `replicas`, `minAvailable` and `atOnce`");
      return complaint.At(key);
    }
    auto& target = key == "replicas" ? replicas : key == "atOnce" ? grant.at_once : min_available;
    if (target) {
      complaint.Say("the field stands twice");
      return complaint.At(key);
    }
    if (!ReadCount(member.value, key, target.emplace(), complaint)) {
      return false;
    }
  }
  if (!replicas) {
    return complaint.Say("`replicas` is missing");
  }
  grant.replicas = *replicas;
  grant.min_available = min_available.value_or(*replicas);
  if (grant.AtOnce() > grant.replicas) {
    return complaint.Say("atOnce " + std::to_string(grant.AtOnce()) + " is more than replicas " +
                         std::to_string(grant.replicas));
  }
  return grant.min_available <= grant.replicas ||
         complaint.Say("minAvailable " + std::to_string(grant.min_available) +
                       " is more than replicas " + std::to_string(grant.replicas));
}

bool ReadGrants(const Json& json, std::vector<TaskGrant>& tasks, Complaint& complaint) {
  if (!json.IsObject()) {
    return complaint.Expected("an object, task name -> grant", json);
  }
  std::set<std::string_view> names;
  for (const auto& member : json.GetObject()) {
    TaskGrant& grant = tasks.emplace_back();
    grant.name = TextOf(member.name);
    if (!names.insert(TextOf(member.name)).second) {
      return complaint.Say("the task `" + Cut(grant.name) + "` stands twice");
    }
    if (!ReadGrant(member.value, grant, complaint)) {
      return complaint.At(grant.name);
    }
  }
  return true;
}

/// The part of a shard that is not about its tasks' sums.
bool ReadShardMember(const Json::Member& member, Shard& shard, std::optional<int32_t>& floor,
                     Complaint& complaint) {
  const std::string_view key = TextOf(member.name);
  bool good = true;
  if (key == "cluster") {
    good = codec::Read(member.value, shard.cluster, complaint);
  } else if (key == "epoch") {
    good = codec::Read(member.value, shard.epoch, complaint) &&
           ((shard.epoch >= 1 && shard.epoch <= kEpochMax) ||
            complaint.Say(std::to_string(shard.epoch) + " is no epoch: it is a number from 1 to " +
                          std::to_string(kEpochMax)));
  } else if (key == "child") {
    good = codec::Read(member.value, shard.child, complaint);
  } else if (key == "tasks") {
    good = ReadGrants(member.value, shard.tasks, complaint);
  } else if (key == "minAvailable") {
    return ReadCount(member.value, key, floor.emplace(), complaint);
  } else {
    good = complaint.Say("unknown field; there are cluster, epoch, child, tasks, minAvailable");
  }
  return good || complaint.At(key);
}

bool ReadShard(const Json& json, Shard& shard, Complaint& complaint) {
  if (!json.IsObject()) {
    return complaint.Expected("an object", json);
  }
  std::set<std::string_view> keys;
  std::optional<int32_t> floor;
  for (const auto& member : json.GetObject()) {
    if (!keys.insert(TextOf(member.name)).second) {
      complaint.Say("the field stands twice");
      return complaint.At(TextOf(member.name));
    }
    if (!ReadShardMember(member, shard, floor, complaint)) {
      return false;
    }
  }
  if (shard.cluster.empty()) {
    return complaint.Say("`cluster` is missing or empty");
  }
  if (!keys.contains("tasks")) {
    return complaint.Say("`tasks` is missing");
  }
  int64_t replicas = 0;
  int64_t sum = 0;
  for (const TaskGrant& grant : shard.tasks) {
    replicas += grant.replicas;
    sum += grant.min_available;
  }
  if (replicas > std::numeric_limits<int32_t>::max()) {
    return complaint.Say("more than 2147483647 replicas in all");
  }
  shard.min_available = floor.value_or(static_cast<int32_t>(sum));
  return shard.min_available <= replicas ||
         complaint.Say("minAvailable " + std::to_string(shard.min_available) +
                       " is more than the " + std::to_string(replicas) + " replicas of the shard");
}

bool ReadPlacement(const Json& json, std::vector<Shard>& shards, Complaint& complaint) {
  if (!json.IsArray()) {
    return complaint.Expected("a list of shards", json);
  }
  std::set<std::pair<std::string, std::string>> places;
  for (rapidjson::SizeType i = 0; i < json.Size(); ++i) {
    Shard shard;
    if (!ReadShard(json[i], shard, complaint)) {
      return complaint.At(size_t{i});
    }
    if (!places.emplace(shard.cluster, shard.child).second) {
      complaint.Say("the cluster `" + Cut(shard.cluster) + "` stands twice");
      return complaint.At(size_t{i});
    }
    shards.push_back(std::move(shard));
  }
  return true;
}

}  // namespace

std::string EncodePlacement(const std::vector<Shard>& shards) {
  rapidjson::StringBuffer buffer;
  codec::Writer writer(buffer);
  writer.StartArray();
  for (const Shard& shard : shards) {
    writer.StartObject();
    codec::WriteKey(writer, "cluster");
    codec::WriteString(writer, shard.cluster);
    codec::WriteKey(writer, "epoch");
    writer.Int64(shard.epoch);
    if (!shard.child.empty()) {
      codec::WriteKey(writer, "child");
      codec::WriteString(writer, shard.child);
    }
    codec::WriteKey(writer, "tasks");
    writer.StartObject();
    for (const TaskGrant& grant : shard.tasks) {
      codec::WriteKey(writer, grant.name);
      writer.StartObject();
      codec::WriteKey(writer, "replicas");
      writer.Int64(grant.replicas);
      codec::WriteKey(writer, "minAvailable");
      writer.Int64(grant.min_available);
      if (grant.at_once.has_value()) {
        codec::WriteKey(writer, "atOnce");
        writer.Int64(*grant.at_once);
      }
      writer.EndObject();
    }
    writer.EndObject();
    codec::WriteKey(writer, "minAvailable");
    writer.Int64(shard.min_available);
    writer.EndObject();
  }
  writer.EndArray();
  return codec::Take(buffer);
}

Result<std::vector<Shard>> DecodePlacement(std::string_view text) {
  std::vector<Shard> shards;
  CALDERA_CHECK(
      codec::Parse(text, ErrorCode::kInvalid, [&shards](const Json& json, Complaint& complaint) {
        return ReadPlacement(json, shards, complaint);
      }));
  return shards;
}

}  // namespace caldera
