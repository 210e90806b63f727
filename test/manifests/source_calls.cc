#include "test/manifests/source_calls.h"

#include <doctest/doctest.h>

#include <cctype>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <regex>

#include "controller/kube/client.h"

namespace caldera::testing {
namespace {

using TypeOf = const ResourceType& (*)();

// Every kind of client.h, by the name of its function.
const std::map<std::string, TypeOf>& Types() {
  static const std::map<std::string, TypeOf> kTypes = {
      {"Queues", &resource::Queues},
      {"Jobs", &resource::Jobs},
      {"HyperJobs", &resource::HyperJobs},
      {"Commands", &resource::Commands},
      {"PriorityClasses", &resource::PriorityClasses},
      {"TenantQuotas", &resource::TenantQuotas},
      {"Clusters", &resource::Clusters},
      {"Works", &resource::Works},
      {"Namespaces", &resource::Namespaces},
      {"Nodes", &resource::Nodes},
      {"Pods", &resource::Pods},
      {"HyperNodes", &resource::HyperNodes},
      {"Events", &resource::Events},
      {"Leases", &resource::Leases},
      {"Secrets", &resource::Secrets},
      {"ConfigMaps", &resource::ConfigMaps},
      {"ServiceAccounts", &resource::ServiceAccounts},
      {"PersistentVolumeClaims", &resource::PersistentVolumeClaims}};
  return kTypes;
}

// The names in `resource::NAME()` of a text.
std::vector<std::string> TypesIn(const std::string& text) {
  static const std::regex kType(R"(resource::(\w+)\(\))");
  std::vector<std::string> names;
  for (std::sregex_iterator it(text.begin(), text.end(), kType), end; it != end; ++it) {
    names.push_back((*it)[1]);
  }
  return names;
}

// The arguments of a call whose `(` is at `open`, without white space at their ends.
std::vector<std::string> Arguments(const std::string& text, size_t open) {
  std::vector<std::string> arguments(1);
  int depth = 0;
  bool quoted = false;
  for (size_t i = open; i < text.size(); ++i) {
    const char c = text[i];
    quoted = c == '"' && text[i - 1] != '\\' ? !quoted : quoted;
    const bool opens = !quoted && (c == '(' || c == '{' || c == '[');
    const bool closes = !quoted && (c == ')' || c == '}' || c == ']');
    depth += opens ? 1 : (closes ? -1 : 0);
    if (depth == 0) {
      break;
    }
    if (depth == 1 && c == ',' && !quoted) {
      arguments.emplace_back();
    } else if ((depth > 1 || !opens) && (!arguments.back().empty() || std::isspace(c) == 0)) {
      arguments.back() += c;
    }
  }
  return arguments;
}

// What stands for an object in a call where its kind is not said on the spot: a function or a
// variable, and the text that says which kinds those can be.
std::string Resolve(const std::string& argument, const std::string& text) {
  if (!TypesIn(argument).empty()) {
    return argument;
  }
  const std::string name = argument.substr(0, argument.find('('));
  // `ObjectRef Ref() const { return {&resource::Leases(), ...`
  const std::regex definition("ObjectRef " + name + R"(\([^)]*\)(?: const)? \{\s*return([^;]*);)");
  std::smatch found;
  if (std::regex_search(text, found, definition)) {
    return found[1];
  }
  const std::regex variable("ObjectRef " + name + R"( = ([^;]*);)");
  return std::regex_search(text, found, variable) ? found[1].str() : argument;
}

std::string VerbOf(const std::string& method) {
  std::string verb = method;
  verb.front() = static_cast<char>(std::tolower(static_cast<unsigned char>(verb.front())));
  return verb;
}

void Insert(const std::vector<std::string>& types, const std::string& subresource,
            const std::string& verb, std::set<Right>& rights) {
  for (const std::string& name : types) {
    INFO(name);
    REQUIRE_MESSAGE(Types().contains(name), "a new kind: add it to the table of source_calls.cc");
    const ResourceType& type = Types().at(name)();
    rights.insert({type.group, type.plural + (subresource.empty() ? "" : "/" + subresource), verb});
  }
}

// `client.Get(...)` and its like.
void AddClientCalls(const std::string& file, const std::string& text, SourceCalls& calls) {
  static const std::regex kCall(R"(client_?\.(Get|Create|Patch|Update|Delete|Raw|OpenStream)\()");
  for (std::sregex_iterator it(text.begin(), text.end(), kCall), end; it != end; ++it) {
    const std::string method = (*it)[1];
    const size_t open = static_cast<size_t>(it->position() + it->length()) - 1;
    const std::vector<std::string> arguments = Arguments(text, open);
    if (method == "Raw") {
      // Raw(request, "verb", resource::KINDS().kind, ...), perhaps below a member's path.
      const bool member = text.find("MemberPath(") != std::string::npos;
      const std::string& verb = arguments.at(1);
      Insert(TypesIn(arguments.at(2)), "", verb.substr(1, verb.size() - 2),
             member ? calls.members : calls.karmada);
      continue;
    }
    const std::string object = Resolve(arguments.front(), text);
    // WhereIs (references.cc) gives one of the kinds that a job can refer to, ParentRef
    // (dispatcher_patches.cc) a Job or a HyperJob.
    const std::vector<std::string> types =
        object.starts_with("WhereIs(")
            ? std::vector<std::string>{"ConfigMaps", "Secrets", "ServiceAccounts",
                                       "PriorityClasses", "PersistentVolumeClaims"}
        : object.starts_with("ParentRef(") ? std::vector<std::string>{"Jobs", "HyperJobs"}
                                           : TypesIn(object);
    if (types.empty()) {
      calls.unclear.push_back(file + ": " + method + "(" + arguments.front() + ", ...)");
      continue;
    }
    std::string subresource;
    if (method == "Patch") {
      const std::string& text_of = arguments.at(3);
      if (text_of.size() < 2 || text_of.front() != '"') {
        calls.unclear.push_back(file + ": Patch of subresource " + text_of);
        continue;
      }
      subresource = text_of.substr(1, text_of.size() - 2);
    }
    Insert(types, subresource, VerbOf(method), calls.karmada);
  }
}

// Each kind that informers.cc names is listed and watched; those of MakeMember in members.
void AddInformers(const std::string& text, SourceCalls& calls) {
  static const std::regex kMember(R"(MakeMember\(cluster, member, resource::(\w+)\(\))");
  std::set<std::string> members;
  for (std::sregex_iterator it(text.begin(), text.end(), kMember), end; it != end; ++it) {
    members.insert((*it)[1]);
  }
  for (const std::string& name : TypesIn(text)) {
    for (const std::string verb : {"list", "watch"}) {
      Insert({name}, "", verb, members.contains(name) ? calls.members : calls.karmada);
    }
  }
}

}  // namespace

void AddCalls(const std::string& file, const std::string& text, SourceCalls& calls) {
  AddClientCalls(file, text, calls);
  static const std::regex kProxy(R"re(resource::Clusters\(\)\.Path\("", \w+, "(\w+)"\))re");
  std::smatch proxy;
  if (std::regex_search(text, proxy, kProxy)) {
    // Of a member, the proxy's user reads only.
    Insert({"Clusters"}, proxy[1], "get", calls.karmada);
  }
  if (text.find("Reflector") == std::string::npos) {
    return;
  }
  if (file == "informers.cc") {
    AddInformers(text, calls);
  } else {
    calls.unclear.push_back(file + ": a Reflector outside of informers.cc");
  }
}

SourceCalls ReadSourceCalls(const std::string& folder) {
  SourceCalls calls;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".cc") {
      std::ifstream file(entry.path(), std::ios::binary);
      const std::string text((std::istreambuf_iterator<char>(file)),
                             std::istreambuf_iterator<char>());
      AddCalls(entry.path().filename(), text, calls);
    }
  }
  return calls;
}

}  // namespace caldera::testing
