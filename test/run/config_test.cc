#include "controller/run/config.h"

#include <doctest/doctest.h>

#include <sstream>
#include <string>
#include <utility>
#include <vector>

using namespace caldera;

namespace {

std::string ErrorOf(const std::string& text) {
  const auto config = ReadConfig(text, "caldera.yaml", {});
  return config.has_value() ? "" : config.error().message;
}

}  // namespace

TEST_CASE("an empty file leaves every default") {
  const auto config = ReadConfig("", "caldera.yaml", {});
  REQUIRE(config.has_value());
  CHECK(config->address == "127.0.0.1");
  CHECK(config->timing.batch == Millis(5));
  CHECK(config->leader.enabled);
  CHECK(config->members == MemberView::kSummary);
}

TEST_CASE("a file sets what it names and overrides win over it") {
  const std::string text = R"(
apiVersion: caldera.config/v1
karmada: {kubeconfig: /etc/karmada.config, inFlight: 16}
namespaces: [team-a, team-b]
members: {view: nodes, clusters: {east: summary}}
timing: {batch: 10ms, clusterLostAfter: 1m30s}
log: {level: debug, format: json}
)";
  const auto override_pair = ParseOverride("timing.batch=1ms");
  REQUIRE(override_pair.has_value());
  const auto config = ReadConfig(text, "caldera.yaml", {*override_pair});
  REQUIRE(config.has_value());
  CHECK(config->kubeconfig == "/etc/karmada.config");
  CHECK(config->in_flight == 16);
  CHECK(config->namespaces == std::set<std::string>{"team-a", "team-b"});
  CHECK(config->members == MemberView::kNodes);
  CHECK(config->member_views.at("east") == MemberView::kSummary);
  CHECK(config->timing.batch == Millis(1));
  CHECK(config->timing.cluster_lost_after == Millis(90'000));
  CHECK(config->log.json);
}

TEST_CASE("every complaint names file, line, key, value and what would be right") {
  const std::string error =
      ErrorOf("karmada:\n  inFlight: 0\n  kubeconfg: x\ntiming:\n  batch: 5\n");
  CHECK(error.find("caldera.yaml:2:") != std::string::npos);
  CHECK(error.find("karmada.inFlight = 0: ") != std::string::npos);
  CHECK(error.find("karmada.kubeconfg = x: there is no such setting") != std::string::npos);
  CHECK(error.find("timing.batch = 5: ") != std::string::npos);
}

TEST_CASE("the access to members has an owner") {
  const auto config = ReadConfig("members: {deliverAccess: true}", "caldera.yaml", {});
  REQUIRE(config.has_value());
  CHECK(config->deliver_access);
  CHECK(config->reader == "system:serviceaccount:caldera-system:caldera");
  CHECK(ErrorOf("members: {deliverAccess: true, reader: \"\"}").find("members.reader") !=
        std::string::npos);
}

TEST_CASE("what is put over a mistake in the file does not hide it") {
  const auto port = ParseOverride("listen.port=0");
  REQUIRE(port.has_value());
  for (const std::string text : {"listen: 5", "listen: {port: none}", "listen: {prt: 1}"}) {
    const auto config = ReadConfig(text, "caldera.yaml", {*port});
    REQUIRE_MESSAGE(!config.has_value(), text);
    CHECK(config.error().message.find("caldera.yaml:1:") != std::string::npos);
    CHECK(config.error().message.find("listen") != std::string::npos);
  }
  // What a setting asks of another holds of both together.
  const auto deadline = ParseOverride("leader.leaseDuration=30s");
  REQUIRE(deadline.has_value());
  CHECK(ReadConfig("leader: {renewDeadline: 20s}", "caldera.yaml", {*deadline}).has_value());
}

TEST_CASE("what does not go together is refused") {
  CHECK(ErrorOf("leader: {renewDeadline: 20s}").find("leader.renewDeadline") != std::string::npos);
  CHECK(ErrorOf("leader: {retryPeriod: 10s}").find("leader.retryPeriod") != std::string::npos);
  CHECK(ErrorOf("ledger: {path: ''}").find("ledger.path") != std::string::npos);
  CHECK(ErrorOf("members: {view: pods}").find("must be summary or nodes") != std::string::npos);
  CHECK(ErrorOf("listen: {ledger: all}").find("off, loopback or any") != std::string::npos);
  CHECK(ErrorOf("log: {level: loud}").find("debug, info, warn or error") != std::string::npos);
}

TEST_CASE("what is no setting at all is refused") {
  CHECK(!ErrorOf("- a\n").empty());
  CHECK(!ErrorOf("a: [\n").empty());
  CHECK(!ErrorOf("karmada: 3\n").empty());
  CHECK(!ErrorOf("observe: true\n---\nobserve: false\n").empty());
  CHECK(!ParseOverride("timing.batch").has_value());
  CHECK(!ParseOverride("=1").has_value());
  const auto absent = ParseOverride("ledger.path=");
  REQUIRE(!absent.has_value());
  CHECK(absent.error().message.find("--set ledger.path=: has no value") != std::string::npos);
  CHECK(ParseOverride("karmada.kubeconfig=\"\"").has_value());
  CHECK(!ParseOverride("a=[").has_value());
}

TEST_CASE("a complaint about --set names it and no file") {
  const auto error = [](const std::string& text) {
    const auto pair = ParseOverride(text);
    if (!pair.has_value()) {
      return pair.error().message;
    }
    const auto config = ReadConfig("log: {level: warn}", "caldera.yaml", {*pair});
    return config.has_value() ? std::string() : config.error().message;
  };
  CHECK(error("timing.batch=zz").starts_with("--set: timing.batch = zz: must be a duration"));
  CHECK(error("foo=bar").starts_with("--set: foo = bar: there is no such setting"));
  CHECK(error("leader.renewDeadline=20s").starts_with("--set: leader.renewDeadline = 20s: must"));
  CHECK(error("log.level={a: 1}").starts_with("--set: log.level = "));
  CHECK(error("namespaces=[a").starts_with("--set namespaces=[a: the value is no YAML; a list"));
}

TEST_CASE("names that no object can have are refused") {
  CHECK(ErrorOf("namespaces: [UPPER, '', ok]")
            .find("namespaces[0] = UPPER: is no name of a "
                  "namespace: it takes lower-case") != std::string::npos);
  CHECK(ErrorOf("namespaces: [UPPER, '', ok]").find("namespaces[1]") != std::string::npos);
  CHECK(ErrorOf("namespaces: [~]").find("namespaces[0]: must be a name") != std::string::npos);
  CHECK(!ErrorOf("queues: [a_b]").empty());
  CHECK(ErrorOf("queues: [a.b, c]").empty());
  CHECK(!ErrorOf("members: {clusters: {East: nodes}}").empty());
  CHECK(!ErrorOf("leader: {namespace: ''}").empty());
  CHECK(!ErrorOf("leader: {name: 'a b'}").empty());
}

TEST_CASE("settings that are no map are told so, and not of manifests") {
  for (const std::string text : {"- a\n- b\n", "text\n"}) {
    CHECK(ErrorOf(text).starts_with("caldera.yaml:1:1: must be a map of settings, as in "));
  }
}

TEST_CASE("the table lists the knobs with the defaults that hold") {
  const std::string table = DescribeConfig();
  const auto config = ReadConfig("", "caldera.yaml", {});
  REQUIRE(config.has_value());
  std::istringstream lines(table);
  std::vector<std::pair<std::string, Value>> written;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string key;
    std::string fallback;
    words >> key >> fallback;
    const auto pair = ParseOverride(key + "=" + fallback);
    REQUIRE_MESSAGE(pair.has_value(), line);
    written.push_back(*pair);
  }
  CHECK(written.size() > 30);
  const auto spelt_out = ReadConfig("", "caldera.yaml", written);
  REQUIRE(spelt_out.has_value());
  CHECK(*spelt_out == *config);
  for (const auto& knob : written) {
    const auto alone = ReadConfig("", "caldera.yaml", {knob});
    CHECK_MESSAGE((alone.has_value() && *alone == *config), knob.first);
  }
}
