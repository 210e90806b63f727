#include "test/bench/gate.h"

#include <rapidjson/document.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <sstream>

namespace caldera::bench {
namespace {

/// What a limit in that unit is multiplied with on a machine whose probe takes `slower` times as
/// long.
double ScaleOf(const std::string& unit, double slower) {
  constexpr std::array<std::string_view, 4> kTimes = {"s", "ms", "us", "ns"};
  if (std::find(kTimes.begin(), kTimes.end(), unit) != kTimes.end()) {
    return slower;
  }
  return unit.ends_with("/s") ? 1 / slower : 1;
}

bool Good(double number) { return std::isfinite(number) && number > 0; }

bool Within(double value, double bound, bool at_least) {
  return at_least ? value >= bound : value <= bound;
}

/// True where the line was understood.
bool ReadLine(const std::string& line, Limits& limits) {
  std::istringstream words(line);
  Limit limit;
  std::string relation;
  std::string more;
  words >> limit.name;
  if (limit.name == "hop") {
    return words >> limits.hop && Good(limits.hop) && !(words >> more);
  }
  if (!(words >> limit.unit >> relation >> limit.limit >> limit.goal) || words >> more) {
    return false;
  }
  limit.at_least = relation == ">=";
  const bool known = limit.at_least || relation == "<=";
  const bool twice = std::any_of(limits.limits.begin(), limits.limits.end(),
                                 [&](const Limit& other) { return other.name == limit.name; });
  limits.limits.push_back(limit);
  return known && !twice && Good(limit.limit) && Good(limit.goal);
}

}  // namespace

Result<Limits> ReadLimits(std::string_view text) {
  Limits limits;
  std::istringstream lines{std::string(text)};
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    line.resize(std::min(line.find('#'), line.size()));
    if (line.find_first_not_of(" \t\r") != std::string::npos && !ReadLine(line, limits)) {
      return Fail(ErrorCode::kInvalid, "line " + std::to_string(number) + ": `" + line +
                                           "` must be `hop NS`, or `NAME UNIT <=|>= LIMIT GOAL` "
                                           "with numbers above 0 and a name that stands once");
    }
  }
  if (limits.hop == 0 || limits.limits.empty()) {
    return Fail(ErrorCode::kInvalid, "there must be a line `hop NS` and at least one limit");
  }
  return limits;
}

Result<std::map<std::string, Measured>> ReadMeasured(std::string_view json) {
  rapidjson::Document document;
  document.Parse(json.data(), json.size());
  if (document.HasParseError() || !document.IsArray()) {
    return Fail(ErrorCode::kInvalid, "no list of measures in JSON");
  }
  std::map<std::string, Measured> measured;
  for (const auto& item : document.GetArray()) {
    const auto has = [&item](const char* key, bool text) {
      return item.HasMember(key) && (text ? item[key].IsString() : item[key].IsNumber());
    };
    if (!item.IsObject() || !has("name", true) || !has("value", false) || !has("unit", true) ||
        !has("hop", false)) {
      return Fail(ErrorCode::kInvalid,
                  "measure " + std::to_string(&item - document.Begin()) +
                      ": must have a name, a value, a unit and the number hop");
    }
    measured[item["name"].GetString()] = {item["value"].GetDouble(), item["unit"].GetString(),
                                          item["hop"].GetDouble()};
  }
  return measured;
}

Result<std::vector<Judged>> Judge(const Limits& limits,
                                  const std::map<std::string, Measured>& measured) {
  std::vector<Judged> all;
  for (const Limit& limit : limits.limits) {
    Judged& judged = all.emplace_back(Judged{limit, 0, Judgement::kMissing, false});
    const auto found = measured.find(limit.name);
    if (found == measured.end()) {
      continue;
    }
    const Measured& measure = found->second;
    if (measure.unit != limit.unit || !Good(measure.hop)) {
      return Fail(ErrorCode::kInvalid, limit.name + ": measured in `" + measure.unit +
                                           "` with a probe of " + std::to_string(measure.hop) +
                                           ", but its limit is in `" + limit.unit +
                                           "` and the probe must be above 0");
    }
    judged.value = measure.value;
    judged.limit.limit *= ScaleOf(limit.unit, measure.hop / limits.hop);
    judged.goal_met = Within(measure.value, limit.goal, limit.at_least);
    judged.judgement = Within(measure.value, judged.limit.limit, limit.at_least) ? Judgement::kOk
                                                                                 : Judgement::kOver;
  }
  return all;
}

}  // namespace caldera::bench
