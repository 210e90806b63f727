#include "controller/run/config.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "controller/kube/yaml_reader.h"
#include "controller/run/config_knobs.h"
#include "federation/fields.h"

namespace caldera {
namespace {

/// What is given on the command line has no place in a file.
constexpr Mark kCommandLine{std::numeric_limits<uint32_t>::max(), 0};

Field FieldAt(const Field& root, std::string_view key) {
  Field field = root;
  while (!key.empty()) {
    const size_t dot = std::min(key.find('.'), key.size());
    field = field[key.substr(0, dot)];
    key.remove_prefix(std::min(dot + 1, key.size()));
  }
  return field;
}

void SetAt(Value& root, std::string_view key, const Value& value) {
  Value* at = &root;
  while (true) {
    if (!at->IsMap()) {
      *at = Value(Value::Map{});
    }
    const size_t dot = key.find('.');
    if (dot == std::string_view::npos) {
      at->Set(key, value);
      return;
    }
    Value* const next = at->Find(key.substr(0, dot));
    at = next != nullptr ? next : &at->Set(key.substr(0, dot), Value(Value::Map{}));
    key.remove_prefix(dot + 1);
  }
}

// Every key of the file must be a knob, or the beginning of one.
void RefuseUnknown(const Field& at, const std::string& prefix, const std::vector<Knob>& knobs) {
  for (const auto& entry : at.Members()) {
    const std::string& name = entry.first;
    const Field field = at[name];
    const std::string key = prefix + name;
    if (prefix.empty() && (name == "apiVersion" || name == "kind")) {
      continue;
    }
    const bool knob = std::any_of(knobs.begin(), knobs.end(),
                                  [&](const Knob& other) { return other.key == key; });
    const bool level = std::any_of(knobs.begin(), knobs.end(), [&](const Knob& other) {
      return other.key.starts_with(key + ".");
    });
    if (level) {
      RefuseUnknown(field, key + ".", knobs);
    } else if (!knob) {
      field.Refuse("there is no such setting; caldera-controller --help-config lists them");
    }
  }
}

void CheckTogether(const Field& root, const ControllerConfig& config) {
  if (config.leader.renew_deadline >= config.leader.lease) {
    FieldAt(root, "leader.renewDeadline")
        .Refuse("must be shorter than leader.leaseDuration, " +
                FormatDuration(config.leader.lease));
  }
  if (config.leader.retry >= config.leader.renew_deadline) {
    FieldAt(root, "leader.retryPeriod")
        .Refuse("must be shorter than leader.renewDeadline, " +
                FormatDuration(config.leader.renew_deadline));
  }
  if (config.deliver_access && config.reader.empty()) {
    FieldAt(root, "members.reader").Refuse("must name a user: members.deliverAccess is on");
  }
  if (config.ledger.empty()) {
    FieldAt(root, "ledger.path").Refuse("must name a file: nothing is dispatched unrecorded");
  }
}

std::string Line(const Issue& issue) {
  std::string where = issue.file;
  if (issue.mark.line == kCommandLine.line) {
    where = "--set";
  } else if (issue.mark.line > 0) {
    where += fmt::format(":{}:{}", issue.mark.line, issue.mark.column);
  }
  const std::string what = issue.field + (issue.value.empty() ? "" : " = " + issue.value);
  return where + ": " + what + (what.empty() ? "" : ": ") + issue.message;
}

Status Complaints(const std::vector<Issue>& issues) {
  std::string text;
  for (const Issue& issue : issues) {
    text += (text.empty() ? "" : "\n") + Line(issue);
  }
  return issues.empty() ? Status() : Fail(ErrorCode::kInvalid, text);
}

// The reader speaks of manifests.
void SpeakOfSettings(std::vector<Issue>& issues) {
  for (Issue& issue : issues) {
    if (issue.message.starts_with("an object must be a map")) {
      issue.field.clear();
      issue.value.clear();
      issue.message =
          "must be a map of settings, as in `log: {level: debug}`; caldera-controller "
          "--help-config lists them";
    }
  }
}

Result<Value> ReadTree(std::string_view text, const std::string& file) {
  Value root{Value::Map{}};
  ReadReport report;
  ReadYaml(
      text, file, [&](Document document) { root = std::move(document.root); }, report);
  SpeakOfSettings(report.errors);
  CALDERA_CHECK(Complaints(report.errors));
  if (report.documents > 1) {
    return Fail(ErrorCode::kInvalid, file + ": must hold one document");
  }
  return root;
}

/// `whole`: nothing is put over it any more, so what one setting asks of another holds too.
Result<ControllerConfig> ReadSettings(const Value& tree, const std::string& file, bool whole) {
  IssueSink sink;
  sink.file = file;
  const Field root(&tree, "", {}, sink);
  const std::vector<Knob> knobs = Knobs();
  RefuseUnknown(root, "", knobs);
  ControllerConfig config;
  for (const Knob& knob : knobs) {
    knob.take(FieldAt(root, knob.key), config);
  }
  if (whole) {
    CheckTogether(root, config);
  }
  CALDERA_CHECK(Complaints(sink.errors));
  return config;
}

Value OnCommandLine(Value value) {
  value.set_mark(kCommandLine);
  if (value.IsList()) {
    for (Value& item : value.AsList()) {
      item = OnCommandLine(std::move(item));
    }
  } else if (value.IsMap()) {
    for (Member& member : value.AsMap()) {
      member.value = OnCommandLine(std::move(member.value));
      member.mark = kCommandLine;
    }
  }
  return value;
}

}  // namespace

Result<ControllerConfig> ReadConfig(std::string_view text, const std::string& file,
                                    const std::vector<std::pair<std::string, Value>>& overrides) {
  CALDERA_TRY(Value tree, ReadTree(text, file));
  // By itself first: what is put over a mistake would hide it until it is left out.
  CALDERA_CHECK(ReadSettings(tree, file, false));
  for (const auto& [key, value] : overrides) {
    SetAt(tree, key, value);
  }
  return ReadSettings(tree, file, true);
}

Result<std::pair<std::string, Value>> ParseOverride(std::string_view text) {
  const size_t equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0) {
    return Fail(ErrorCode::kInvalid,
                fmt::format("--set {}: must be KEY=VALUE, such as timing.batch=10ms", text));
  }
  const std::string key(text.substr(0, equals));
  const auto tree = ReadTree("value: " + std::string(text.substr(equals + 1)), "--set");
  if (!tree) {
    return Fail(ErrorCode::kInvalid,
                fmt::format("--set {}: the value is no YAML; a list is [a, b], and a text with "
                            "characters such as [, {{ or : goes into quotes",
                            text));
  }
  const Value* const value = tree->Find("value");
  if (value == nullptr || value->IsNull()) {
    return Fail(ErrorCode::kInvalid,
                fmt::format("--set {}: has no value; an empty text is {}=\"\"", text, key));
  }
  return std::pair(key, OnCommandLine(*value));
}

std::string DescribeConfig() {
  std::string text;
  for (const Knob& knob : Knobs()) {
    text += fmt::format("{:<26} {:<27} {}\n", knob.key,
                        knob.fallback.empty() ? "\"\"" : knob.fallback, knob.meaning);
  }
  return text;
}

}  // namespace caldera
