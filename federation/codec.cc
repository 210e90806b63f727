#include "federation/codec.h"

#include <algorithm>
#include <utility>

#include "federation/codec_json.h"

// The format. A Change is {"change":NAME, ...its fields}; a Plan is {"now":MS,"actions":[...]}.
// Fields stand in the order of codec_fields.h, and one that equals the default of its struct is
// left out. Instants and spans are integers of milliseconds, enums are names, amounts are int64 in
// the unit of resources.h, maps are objects sorted by key bytewise.
namespace caldera {
namespace {

using codec::Complaint;
using codec::Json;

template <size_t... kIndex>
bool ReadAlternative(size_t which, const Json& json, Change& change, Complaint& complaint,
                     std::index_sequence<kIndex...> /*all*/) {
  bool good = false;
  (void)((which == kIndex &&
          (good = codec::ReadFields(json, change.emplace<kIndex>(), complaint, "change"), true)) ||
         ...);
  return good;
}

bool ReadChange(const Json& json, Change& change, Complaint& complaint) {
  if (!json.IsObject()) {
    return complaint.Expected("an object", json);
  }
  const auto name = json.FindMember("change");
  if (name == json.MemberEnd()) {
    return complaint.Say("the field `change` is missing");
  }
  if (!name->value.IsString()) {
    complaint.Expected("a name", name->value);
    return complaint.At("change");
  }
  const std::string_view text = codec::TextOf(name->value);
  const auto* at = std::find(codec::kChangeNames.begin(), codec::kChangeNames.end(), text);
  if (at == codec::kChangeNames.end()) {
    complaint.Say("`" + codec::Cut(text) + "` is no kind of change");
    return complaint.At("change");
  }
  const auto which = static_cast<size_t>(at - codec::kChangeNames.begin());
  return ReadAlternative(which, json, change, complaint,
                         std::make_index_sequence<std::variant_size_v<Change>>()) ||
         complaint.At(text);
}

}  // namespace

std::string EncodeChange(const Change& change) {
  rapidjson::StringBuffer buffer;
  codec::Writer writer(buffer);
  writer.StartObject();
  codec::WriteKey(writer, "change");
  codec::WriteString(writer, codec::kChangeNames.at(change.index()));
  std::visit([&writer](const auto& fields) { codec::WriteFields(writer, fields); }, change);
  writer.EndObject();
  return codec::Take(buffer);
}

Result<Change> DecodeChange(std::string_view text) {
  Change change;
  CALDERA_CHECK(
      codec::Parse(text, ErrorCode::kCorrupt, [&change](const Json& json, Complaint& complaint) {
        return ReadChange(json, change, complaint);
      }));
  return change;
}

std::string EncodePlan(const Plan& plan) {
  rapidjson::StringBuffer buffer;
  codec::Writer writer(buffer);
  codec::Write(writer, plan);
  return codec::Take(buffer);
}

Result<Plan> DecodePlan(std::string_view text) {
  Plan plan;
  CALDERA_CHECK(
      codec::Parse(text, ErrorCode::kCorrupt, [&plan](const Json& json, Complaint& complaint) {
        return codec::Read(json, plan, complaint);
      }));
  return plan;
}

}  // namespace caldera
