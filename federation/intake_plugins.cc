#include "federation/intake_plugins.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <vector>

#include "federation/excerpt.h"
#include "federation/intake_read.h"
#include "federation/names.h"

namespace caldera {
namespace {

enum class Argument : uint8_t { kText, kNumber, kSwitch };

struct Flag {
  std::string_view name;
  Argument argument;
  /// A task of this name is what the plugin looks for where the flag is not given; empty: no task.
  std::string_view task;
};

struct Plugin {
  std::string_view name;
  std::vector<Flag> flags;
};

const std::vector<Plugin>& Plugins() {
  static const std::vector<Plugin> kPlugins = {
      {"env", {}},
      {"hcclrank", {{"master", Argument::kText, ""}, {"worker", Argument::kText, ""}}},
      {"mpi",
       {{"master", Argument::kText, "master"},
        {"worker", Argument::kText, "worker"},
        {"port", Argument::kNumber, ""}}},
      {"pytorch",
       {{"master", Argument::kText, "master"},
        {"worker", Argument::kText, "worker"},
        {"port", Argument::kNumber, ""},
        {"wait-master-enabled", Argument::kSwitch, ""},
        {"wait-master-timeout", Argument::kNumber, ""},
        {"wait-master-image", Argument::kText, ""}}},
      {"ray",
       {{"head", Argument::kText, "head"},
        {"headContainer", Argument::kText, ""},
        {"worker", Argument::kText, "worker"},
        {"workerContainer", Argument::kText, ""},
        {"port", Argument::kNumber, ""},
        {"dashboardPort", Argument::kNumber, ""},
        {"clientPort", Argument::kNumber, ""}}},
      {"ssh",
       {{"ssh-key-file-path", Argument::kText, ""},
        {"ssh-private-key", Argument::kText, ""},
        {"ssh-public-key", Argument::kText, ""},
        {"ssh-port", Argument::kNumber, ""}}},
      {"svc",
       {{"publish-not-ready-addresses", Argument::kSwitch, ""},
        {"disable-network-policy", Argument::kSwitch, ""},
        {"inject-hosts-env", Argument::kSwitch, ""}}},
      {"tensorflow",
       {{"ps", Argument::kText, "ps"},
        {"worker", Argument::kText, "worker"},
        {"chief", Argument::kText, "chief"},
        {"evaluator", Argument::kText, "evaluator"},
        {"port", Argument::kNumber, ""}}},
  };
  return kPlugins;
}

const Plugin* FindPlugin(std::string_view name) {
  const auto& plugins = Plugins();
  const auto at = std::find_if(plugins.begin(), plugins.end(),
                               [&](const Plugin& plugin) { return plugin.name == name; });
  return at == plugins.end() ? nullptr : &*at;
}

bool IsGoBool(std::string_view text) {
  constexpr std::array<std::string_view, 12> kWords = {
      "1", "0", "t", "f", "T", "F", "true", "TRUE", "True", "false", "FALSE", "False"};
  return std::find(kWords.begin(), kWords.end(), text) != kWords.end();
}

// As Go's ParseInt with base 0: an optional sign, 0x, 0o, 0b or 0 for other bases, `_` between
// digits.
bool IsGoNumber(std::string_view text) {
  std::string digits;
  if (text.starts_with('+') || text.starts_with('-')) {
    text.remove_prefix(1);
  }
  int base = 10;
  if (text.size() > 1 && text.front() == '0') {
    constexpr std::array<std::pair<std::string_view, int>, 7> kPrefixes = {
        {{"0x", 16}, {"0X", 16}, {"0o", 8}, {"0O", 8}, {"0b", 2}, {"0B", 2}, {"0", 8}}};
    const auto* const prefix =
        std::find_if(kPrefixes.begin(), kPrefixes.end(),
                     [&](const auto& known) { return text.starts_with(known.first); });
    base = prefix->second;
    text.remove_prefix(prefix->first.size());
  }
  std::remove_copy(text.begin(), text.end(), std::back_inserter(digits), '_');
  int64_t number = 0;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), number, base);
  return error == std::errc() && end == digits.data() + digits.size() && digits.front() != '-';
}

// Go's flag.Parse over a plugin's arguments: what was set before the first fault stays set, the
// rest is not read.
class FlagReader {
 public:
  FlagReader(const Plugin& plugin, const Field& arguments)
      : plugin_(plugin), arguments_(ItemsOf(arguments)) {}

  /// The values that the plugin ends up with; warns where Volcano stops reading.
  std::map<std::string_view, std::string_view> Read() {
    while (next_ < arguments_.size() && ReadOne()) {
    }
    return std::move(values_);
  }

 private:
  bool ReadOne() {
    const Field& field = arguments_[next_];
    std::string_view text = TextOf(field);
    ++next_;
    if (text.size() < 2 || text.front() != '-' || text == "--") {
      return Stop(field, text == "--" ? "ends the flags" : "is no flag");
    }
    text.remove_prefix(text.starts_with("--") ? 2 : 1);
    if (text.empty() || text.front() == '-' || text.front() == '=') {
      return Stop(field, "is no flag");
    }
    const size_t equals = text.find('=', 1);
    const std::string_view name = text.substr(0, equals);
    const auto flag = std::find_if(plugin_.flags.begin(), plugin_.flags.end(),
                                   [&](const Flag& known) { return known.name == name; });
    if (flag == plugin_.flags.end()) {
      return Stop(field, "is no flag of this plugin");
    }
    if (equals != std::string_view::npos) {
      return Take(*flag, text.substr(equals + 1), field);
    }
    if (flag->argument == Argument::kSwitch) {
      values_[flag->name] = "true";
      return true;
    }
    if (next_ == arguments_.size()) {
      return Stop(field, "needs a value");
    }
    const Field& value = arguments_[next_];
    ++next_;
    return Take(*flag, TextOf(value), value);
  }

  bool Take(const Flag& flag, std::string_view value, const Field& field) {
    if (flag.argument == Argument::kNumber && !IsGoNumber(value)) {
      return Stop(field, "is no number");
    }
    if (flag.argument == Argument::kSwitch && !IsGoBool(value)) {
      return Stop(field, "is neither true nor false");
    }
    values_[flag.name] = value;
    return true;
  }

  [[nodiscard]] bool Stop(const Field& field, const std::string& why) const {
    std::string flags;
    for (const Flag& flag : plugin_.flags) {
      flags += (flags.empty() ? "" : ", ") + ("--" + std::string(flag.name));
    }
    field.Warn(why + ": Volcano stops reading the arguments of " + std::string(plugin_.name) +
               " here and takes its defaults for the rest" +
               (flags.empty() ? "; it has none" : "; it takes " + flags));
    return false;
  }

  const Plugin& plugin_;
  std::vector<Field> arguments_;
  size_t next_ = 0;
  std::map<std::string_view, std::string_view> values_;
};

bool HasTask(const Field& spec, std::string_view name) {
  const std::vector<Field> tasks = ItemsOf(spec["tasks"]);
  return std::any_of(tasks.begin(), tasks.end(),
                     [&](const Field& task) { return TextOf(task["name"]) == name; });
}

// mpi without its master task is refused by Volcano; the tasks of the others may be missing.
void CheckTasks(const Field& spec, const Plugin& plugin, const Field& arguments) {
  const auto values = FlagReader(plugin, arguments).Read();
  for (const Flag& flag : plugin.flags) {
    const auto given = values.find(flag.name);
    const std::string_view task = given == values.end() ? flag.task : given->second;
    if (flag.task.empty() || HasTask(spec, task)) {
      continue;
    }
    if (plugin.name == "mpi" && flag.name == "master") {
      arguments.Refuse("mpi looks for a master task named " + Excerpt(task) +
                       ", which is not there: name a task so, or give --master=TASK");
    } else if (given != values.end()) {
      arguments.Warn("--" + std::string(flag.name) + " names the task " + Excerpt(task) +
                     ", which is not there");
    }
  }
}

}  // namespace

void DefaultPlugins(Value& spec) {
  Value* const plugins = spec.Find("plugins");
  if (plugins == nullptr || !plugins->IsMap()) {
    return;
  }
  const auto has = [&](std::string_view name) { return plugins->Find(name) != nullptr; };
  const bool mpi = has("mpi");
  if ((mpi || has("pytorch") || has("tensorflow") || has("ray")) && !has("svc")) {
    plugins->Set("svc", Value(Value::List{}));
  }
  if (mpi && !has("ssh")) {
    plugins->Set("ssh", Value(Value::List{}));
  }
}

void CheckPlugins(const Field& spec, std::string_view job_name) {
  for (const auto& [name, arguments] : MembersOf(spec["plugins"])) {
    const Plugin* const plugin = FindPlugin(name);
    if (plugin == nullptr) {
      std::string known;
      for (const Plugin& each : Plugins()) {
        known += (known.empty() ? "" : ", ") + std::string(each.name);
      }
      arguments.Refuse("is no plugin of Volcano: the plugins are " + known);
      continue;
    }
    CheckTasks(spec, *plugin, arguments);
    if (name == "svc" && !job_name.empty() && !IsDns1035Label(job_name)) {
      arguments.Warn(
          "makes a Service of the job's name, which a Service cannot have: it starts "
          "with a letter, then letters, digits and '-' only");
    }
  }
}

void WarnNullPlugins(const Field& spec) {
  for (const auto& [name, arguments] : MembersOf(spec["plugins"])) {
    if (!arguments.Present()) {
      arguments.Warn(
          "is null: the API server drops it, and the plugin is not used; write [] for "
          "no arguments");
    }
  }
}

}  // namespace caldera
