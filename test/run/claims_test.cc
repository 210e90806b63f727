// PersistentVolumeClaims hold a job until they are where it goes.
#include <algorithm>

#include "test/run/control_plane.h"

namespace caldera::testing {
namespace {

constexpr Millis kAWhile{20'000};
const std::string kClaims = "/api/v1/namespaces/team-a/persistentvolumeclaims";
const std::string kUsesData =
    R"(,"volumes":[{"name":"v","persistentVolumeClaim":{"claimName":"data"}}])";
const std::string kData =
    R"({"metadata":{"name":"data"},"spec":{"accessModes":["ReadWriteMany"]}})";

// Members east and west; a controller that reads those of `read`.
struct Claims {
  explicit Claims(const std::set<std::string>& read = {"east", "west"}) {
    for (const std::string name : {"east", "west"}) {
      members[name] =
          std::make_unique<sandbox::ApiServer>(plane.executor, sandbox::ApiServerOptions{name, {}});
      plane.server.AddMember(name, *members[name]);
      plane.VirtualTime::Create(*members[name], "/api/v1/namespaces",
                                R"({"metadata":{"name":"team-a"}})");
    }
    plane.Fleet({"east", "west"});
    DispatcherOptions options;
    options.member_path = [read](const std::string& cluster) {
      return read.contains(cluster) ? resource::Clusters().Path("", cluster, "proxy") : "";
    };
    controller = std::make_unique<Controller>(plane.server, plane.executor, plane.ledger, options);
  }

  [[nodiscard]] int Reads() const {
    int reads = 0;
    for (const auto& [cluster, count] : controller->wire.claim_reads) {
      reads += count;
    }
    return reads;
  }
  /// Messages of Events of that reason.
  std::vector<std::string> Messages(const std::string& reason) {
    std::vector<std::string> messages;
    for (const Value& event : plane.List("/api/v1/namespaces/team-a/events")) {
      if (TextAt(event, {"reason"}) == reason) {
        messages.push_back(TextAt(event, {"message"}));
      }
    }
    return messages;
  }

  ControlPlane plane;
  std::map<std::string, std::unique_ptr<sandbox::ApiServer>> members;
  std::unique_ptr<Controller> controller;
};

TEST_CASE("claims: a job goes where its claim is") {
  Claims c;
  c.plane.VirtualTime::Create(*c.members["west"], kClaims, kData);
  const std::string uid = c.plane.Submit("train", 2, kUsesData);
  c.plane.Advance(kAWhile);
  CHECK(c.plane.Phase("train") == "Running");
  CHECK(c.plane.Work("east", "caldera-" + uid).IsNull());
  CHECK(!c.plane.Work("west", "caldera-" + uid).IsNull());
  CHECK(c.controller->errors.empty());
}

TEST_CASE("claims: one that is nowhere holds the job until it is somewhere") {
  Claims c;
  const std::string uid = c.plane.Submit("train", 2, kUsesData);
  c.plane.Advance(Millis(1'800'000));
  CHECK(c.plane.Works().empty());
  const std::vector<std::string> told = c.Messages("Queued");
  REQUIRE(!told.empty());
  CHECK(told.front() ==
        "MissingReference: cluster east could not take it: cluster east lacks "
        "PersistentVolumeClaim/team-a/data; it is looked for again and again");
  // Looked for about once a minute and cluster, and never placed in vain again.
  CHECK(c.Reads() > 30);
  CHECK(c.Reads() < 90);
  CHECK(c.controller->wire.counts["PATCH jobs"] <= 5);
  c.plane.VirtualTime::Create(*c.members["west"], kClaims, kData);
  c.plane.Advance(Millis(90'000));
  CHECK(c.plane.Phase("train") == "Running");
  CHECK(!c.plane.Work("west", "caldera-" + uid).IsNull());
}

TEST_CASE("claims: an edit that names another one is followed at once") {
  Claims c;
  c.plane.VirtualTime::Create(*c.members["east"], kClaims, R"({"metadata":{"name":"other"}})");
  c.plane.Submit("train", 2, kUsesData);
  c.plane.Advance(kAWhile);
  REQUIRE(c.plane.Works().empty());
  Value spec = *c.plane.Job("train").Find("spec");
  Value& volume = spec.Find("tasks")
                      ->AsList()
                      .front()
                      .Find("template")
                      ->Find("spec")
                      ->Find("volumes")
                      ->AsList()
                      .front();
  volume.Find("persistentVolumeClaim")->Set("claimName", "other");
  c.plane.Merge(ControlPlane::kJobs + "/train", R"({"spec":)" + WriteJson(spec) + "}");
  c.plane.Advance(Millis(3'000));
  CHECK(c.plane.Phase("train") == "Running");
}

TEST_CASE("claims: where members are not read the Karmada API must have it") {
  const std::set<std::string> none;
  Claims c(none);
  c.plane.Submit("train", 2, kUsesData);
  c.plane.Advance(kAWhile);
  CHECK(c.plane.Works().empty());
  REQUIRE(!c.Messages("Queued").empty());
  CHECK(c.Messages("Queued").front().find("PersistentVolumeClaim/team-a/data") !=
        std::string::npos);
  c.plane.Create(kClaims, kData);
  c.plane.Advance(Millis(90'000));
  CHECK(c.plane.Phase("train") == "Running");
  // It is looked for, never sent.
  CHECK(c.plane.Works().size() == 2);
}

TEST_CASE("claims: a member that does not let us look is taken at the Karmada API's word") {
  Claims c({"east"});
  c.controller->wire.forbidden = "/clusters/east/proxy/";
  c.plane.Create(kClaims, kData);
  c.plane.Submit("train", 2, kUsesData);
  c.plane.Advance(kAWhile);
  CHECK(c.plane.Phase("train") == "Running");
}

TEST_CASE("claims: of a HyperJob's children each is to have its own") {
  Claims c;
  c.plane.VirtualTime::Create(*c.members["east"], kClaims, kData);
  const auto replicated = [](const std::string& name, int pods, const std::string& mode,
                             const std::string& pod) {
    return R"({"name":")" + name + R"(","splitPolicy":{"mode":")" + mode +
           R"("},"templateSpec":{"queue":"gold","tasks":[{"name":"w","replicas":)" +
           std::to_string(pods) +
           R"(,"template":{"spec":{"containers":[{"name":"c","image":"i","resources":)"
           R"({"requests":{"cpu":"1"}}}])" +
           pod + "}}}]}}";
  };
  const Value job = c.plane.Create(
      ControlPlane::kHyperJobs,
      R"({"apiVersion":"training.volcano.sh/v1alpha1","kind":"HyperJob","metadata":)"
      R"({"name":"big","namespace":"team-a"},"spec":{"replicatedJobs":[)" +
          replicated("a", 2, "static", kUsesData) + "," + replicated("b", 10, "auto", "") + "]}}");
  const std::string uid = TextAt(job, {"metadata", "uid"});
  c.plane.Advance(kAWhile);
  CHECK(!c.plane.Work("east", "caldera-" + uid + "-a-0").IsNull());
  const std::vector<std::string> works = c.plane.Works();
  CHECK(std::any_of(works.begin(), works.end(), [&](const std::string& work) {
    return work.starts_with("karmada-es-west/caldera-" + uid + "-b-");
  }));
  CHECK(c.Reads() == 1);
  CHECK(c.plane.Reasons().count("Recalled") == 0);
}

}  // namespace
}  // namespace caldera::testing
