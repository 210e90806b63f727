// manifests/ against the program: rights, settings, and that its parts fit together.
#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <iostream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "controller/kube/input.h"
#include "controller/run/config.h"
#include "controller/run/member_access.h"
#include "federation/value_at.h"
#include "test/manifests/source_calls.h"

using namespace caldera;
using namespace caldera::testing;

namespace {

std::string PathOf(const std::string& name) { return std::string(CALDERA_ROOT) + "/" + name; }

const Value::List& TheListAt(const Value& value, std::initializer_list<std::string_view> path) {
  const Value* const list = value.At(path);
  REQUIRE(list != nullptr);
  REQUIRE(list->IsList());
  return list->AsList();
}

std::vector<Value> ReadFolder(const std::string& folder) {
  std::vector<Value> objects;
  const ReadReport report =
      ReadInput({PathOf("manifests/" + folder)}, std::cin,
                [&](Document document) { objects.push_back(std::move(document.root)); });
  REQUIRE(report.errors.empty());
  return objects;
}

const Value& Find(const std::vector<Value>& objects, const std::string& kind,
                  const std::string& name) {
  const auto found = std::find_if(objects.begin(), objects.end(), [&](const Value& object) {
    return TextAt(object, {"kind"}) == kind && TextAt(object, {"metadata", "name"}) == name;
  });
  INFO(kind, " ", name);
  REQUIRE(found != objects.end());
  return *found;
}

void AddRights(const Value& role, std::set<Right>& rights) {
  for (const Value& rule : TheListAt(role, {"rules"})) {
    for (const Value& group : TheListAt(rule, {"apiGroups"})) {
      for (const Value& resource : TheListAt(rule, {"resources"})) {
        for (const Value& verb : TheListAt(rule, {"verbs"})) {
          rights.insert({group.AsString(), resource.AsString(), verb.AsString()});
        }
      }
    }
  }
}

std::set<Right> RightsIn(const std::string& folder) {
  std::set<Right> rights;
  for (const Value& object : ReadFolder(folder)) {
    if (TextAt(object, {"kind"}) == "ClusterRole" || TextAt(object, {"kind"}) == "Role") {
      AddRights(object, rights);
    }
  }
  return rights;
}

/// A line for each of `a` that is not in `b`.
std::string Beyond(const std::set<Right>& a, const std::set<Right>& b) {
  std::string text;
  for (const Right& right : a) {
    if (!b.contains(right)) {
      text += right.verb + " " + right.resource + " (" + right.group + ")\n";
    }
  }
  return text;
}

ControllerConfig ShippedConfig() {
  const std::vector<Value> host = ReadFolder("host");
  const std::string text =
      TextAt(Find(host, "ConfigMap", "caldera-config"), {"data", "caldera.yaml"});
  REQUIRE(!text.empty());
  const auto config = ReadConfig(text, "caldera.yaml", {});
  INFO((config.has_value() ? "" : config.error().message));
  REQUIRE(config.has_value());
  return *config;
}

const Value& Container() {
  static const std::vector<Value> kHost = ReadFolder("host");
  return TheListAt(Find(kHost, "StatefulSet", "caldera"),
                   {"spec", "template", "spec", "containers"})
      .front();
}

std::string MountOf(const std::string& volume) {
  for (const Value& mount : TheListAt(Container(), {"volumeMounts"})) {
    if (TextAt(mount, {"name"}) == volume) {
      return TextAt(mount, {"mountPath"}) + "/";
    }
  }
  return "no such mount";
}

}  // namespace

TEST_CASE("the roles at the Karmada API hold what the source uses and nothing else") {
  const SourceCalls used = ReadSourceCalls(PathOf("controller/run"));
  for (const std::string& call : used.unclear) {
    FAIL_CHECK("the kind cannot be told, see source_calls.h: " << call);
  }
  const std::set<Right> granted = RightsIn("karmada");
  CHECK(Beyond(used.karmada, granted) == "");
  CHECK(Beyond(granted, used.karmada) == "");
}

TEST_CASE("the role in members holds what is read through the proxy and nothing else") {
  const SourceCalls used = ReadSourceCalls(PathOf("controller/run"));
  const std::set<Right> granted = RightsIn("members");
  CHECK(granted == used.members);
  CHECK(granted.contains({"topology.volcano.sh", "hypernodes", "watch"}));
}

TEST_CASE("what the controller delivers to members is what manifests/members holds") {
  std::vector<Value> delivered;
  for (const Carrier& carrier : MakeAccessCarriers(ShippedConfig().reader, "east")) {
    Value manifest = carrier.manifest;
    Value& metadata = *manifest.Find("metadata");
    metadata.Erase("annotations");  // Karmada's, as its label.
    metadata.Find("labels")->Erase("karmada.io/managed");
    delivered.push_back(std::move(manifest));
  }
  std::vector<Value> shipped = ReadFolder("members");
  std::erase_if(shipped,
                [](const Value& object) { return TextAt(object, {"kind"}) == "Kustomization"; });
  CHECK(delivered == shipped);
}

TEST_CASE("the source is read as it is written") {
  SourceCalls calls;
  AddCalls("a.cc",
           R"(ObjectRef Ref() const { return {&resource::Leases(), ns, "x"}; }
  client_.Get(Ref(), [](Result<Value> v) { f(v, 1); });
  context_.client.Patch(
      {&resource::Jobs(), key.ns, key.name}, PatchKind::kJson, F(uid_, {1, 2}), "status", G());
  context_.client.Get(WhereIs(reference), H());
  const ObjectRef ref = WhereIs(Parse(name));
  context_.client.Get(ref, H());
  client_.Delete(unknown, options, H());
  lease_client.Patch({&resource::Works(), "a,b", c}, PatchKind::kMerge, P(), sub, H());
)",
           calls);
  CHECK(calls.karmada.contains({"coordination.k8s.io", "leases", "get"}));
  CHECK(calls.karmada.contains({"batch.volcano.sh", "jobs/status", "patch"}));
  CHECK(calls.karmada.contains({"", "secrets", "get"}));
  CHECK(calls.unclear ==
        std::vector<std::string>{"a.cc: Delete(unknown, ...)", "a.cc: Patch of subresource sub"});
  CHECK(calls.members.empty());
}

TEST_CASE("bindings name the account that is there and the user that the proxy shows members") {
  const std::vector<Value> karmada = ReadFolder("karmada");
  const std::string ns = "caldera-system";
  const Value& account = Find(karmada, "ServiceAccount", "caldera");
  CHECK(TextAt(account, {"metadata", "namespace"}) == ns);
  const Value& space = Find(karmada, "Namespace", ns);
  CHECK(TextAt(space, {"metadata", "labels", "namespace.karmada.io/skip-auto-propagation"}) ==
        "true");
  const Value& token = Find(karmada, "Secret", "caldera-token");
  CHECK(TextAt(token, {"type"}) == "kubernetes.io/service-account-token");
  CHECK(TextAt(token, {"metadata", "annotations", "kubernetes.io/service-account.name"}) ==
        "caldera");
  for (const Value& object : karmada) {
    if (!TextAt(object, {"kind"}).ends_with("RoleBinding")) {
      continue;
    }
    Find(karmada, TextAt(object, {"roleRef", "kind"}), TextAt(object, {"roleRef", "name"}));
    const Value& subject = TheListAt(object, {"subjects"}).front();
    CHECK(TextAt(subject, {"kind"}) == "ServiceAccount");
    CHECK(TextAt(subject, {"name"}) == "caldera");
    CHECK(TextAt(subject, {"namespace"}) == ns);
  }
  const std::vector<Value> members = ReadFolder("members");
  const Value& binding = Find(members, "ClusterRoleBinding", "caldera-reader");
  Find(members, "ClusterRole", TextAt(binding, {"roleRef", "name"}));
  const Value& subject = TheListAt(binding, {"subjects"}).front();
  CHECK(TextAt(subject, {"kind"}) == "User");
  CHECK(TextAt(subject, {"name"}) == "system:serviceaccount:" + ns + ":caldera");
}

TEST_CASE("the shipped settings are read and what is commented out is a default") {
  const ControllerConfig config = ShippedConfig();
  CHECK(config.leader.enabled);
  const std::vector<Value> karmada = ReadFolder("karmada");
  const Value& role = Find(karmada, "Role", "caldera-leader");
  CHECK(TextAt(role, {"metadata", "namespace"}) == config.leader.ns);
  bool named = false;
  for (const Value& rule : TheListAt(role, {"rules"})) {
    if (const Value* const names = rule.Find("resourceNames"); names != nullptr) {
      named =
          names->AsList().size() == 1 && names->AsList().front().AsString() == config.leader.name;
    }
  }
  CHECK(named);

  std::ifstream file(PathOf("manifests/host/config.yaml"));
  const std::string table = DescribeConfig();
  std::string section;
  int defaults = 0;
  for (std::string line; std::getline(file, line);) {
    const size_t start = line.find_first_not_of(' ');
    if (start == std::string::npos || start < 4) {
      continue;
    }
    const bool comment = line.compare(start, 2, "# ") == 0;
    std::string text = line.substr(comment ? start + 2 : start);
    const size_t colon = text.find(':');
    if (!comment && colon + 1 == text.size()) {
      section = text.substr(0, colon) + ".";
    }
    // A setting, not prose: one word before the colon.
    if (!comment || colon == std::string::npos || text.find(' ') < colon ||
        text.compare(0, 6, "nodes:") == 0) {
      continue;
    }
    const std::string key = (start > 4 ? section : "") + text.substr(0, colon);
    INFO(key);
    CHECK(table.find(key + " ") != std::string::npos);
    ++defaults;
  }
  CHECK(defaults >= 5);
}

TEST_CASE("the pod has what its settings name") {
  const ControllerConfig config = ShippedConfig();
  CHECK(config.kubeconfig.starts_with(MountOf("karmada")));
  CHECK(config.ledger.starts_with(MountOf("ledger")));
  CHECK(TheListAt(Container(), {"args"}).front().AsString() ==
        "--config=" + MountOf("config") + "caldera.yaml");
  const Value& port = TheListAt(Container(), {"ports"}).front();
  CHECK(port.Find("containerPort")->AsInteger() == config.port);
  for (const std::string_view probe : {"startupProbe", "livenessProbe", "readinessProbe"}) {
    CHECK(TextAt(Container(), {probe, "httpGet", "port"}) == TextAt(port, {"name"}));
  }
  CHECK(TextAt(TheListAt(Container(), {"env"}).front(), {"value"}) ==
        "http://127.0.0.1:" + std::to_string(config.port));
  const std::vector<Value> host = ReadFolder("host");
  const Value& service = Find(host, "Service", "caldera");
  CHECK(TheListAt(service, {"spec", "ports"}).front().Find("port")->AsInteger() == config.port);
}
