#include "controller/run/references.h"

#include <doctest/doctest.h>

#include "controller/kube/json_reader.h"
#include "controller/run/queue_works.h"

namespace caldera {
namespace {

Value Json(const std::string& text) {
  Result<Value> value = ParseJson(text);
  REQUIRE_MESSAGE(value.has_value(), text);
  return *std::move(value);
}

std::vector<std::string> NamesIn(const std::vector<Reference>& references) {
  std::vector<std::string> names;
  for (const Reference& reference : references) {
    names.push_back(reference.ToString() + (reference.optional ? "?" : ""));
  }
  return names;
}

Value JobOf(const std::string& pod, const std::string& spec = "") {
  return Json(R"({"metadata":{"name":"j","namespace":"ns"},"spec":{)" + spec +
              R"("tasks":[{"template":{"spec":)" + pod + "}}]}}");
}

std::vector<std::string> Of(const std::string& pod, const std::string& spec = "") {
  return NamesIn(ReferencesOf(JobOf(pod, spec)));
}

using Names = std::vector<std::string>;

TEST_CASE("references: every way of a pod to name a Secret or a ConfigMap") {
  CHECK(Of(R"({"volumes":[{"configMap":{"name":"a"}},{"secret":{"secretName":"b"}},
      {"projected":{"sources":[{"secret":{"name":"c"}},{"configMap":{"name":"d"}},
                               {"serviceAccountToken":{"path":"t"}}]}},
      {"csi":{"nodePublishSecretRef":{"name":"e"}}},{"azureFile":{"secretName":"f"}},
      {"rbd":{"secretRef":{"name":"g"}}},{"emptyDir":{}}]})") ==
        Names{"ConfigMap/ns/a", "ConfigMap/ns/d", "Secret/ns/b", "Secret/ns/c", "Secret/ns/e",
              "Secret/ns/f", "Secret/ns/g"});
  CHECK(Of(R"({"containers":[{"env":[{"valueFrom":{"secretKeyRef":{"name":"a"}}},
      {"valueFrom":{"configMapKeyRef":{"name":"b"}}},{"valueFrom":{"fieldRef":{}}},{"value":"x"}],
      "envFrom":[{"secretRef":{"name":"c"}},{"configMapRef":{"name":"d"}}]}],
      "initContainers":[{"envFrom":[{"secretRef":{"name":"e"}}]}],
      "imagePullSecrets":[{"name":"f"}]})") == Names{"ConfigMap/ns/b", "ConfigMap/ns/d",
                                                     "Secret/ns/a", "Secret/ns/c", "Secret/ns/e",
                                                     "Secret/ns/f"});
}

TEST_CASE("references: accounts, classes and claims") {
  CHECK(Of(R"({"serviceAccountName":"robot","priorityClassName":"high",
      "volumes":[{"persistentVolumeClaim":{"claimName":"data"}}]})",
           R"("priorityClassName":"low","volumes":[{"mountPath":"/a","volumeClaimName":"old"},
      {"mountPath":"/b","volumeClaimName":"new","volumeClaim":{}},{"mountPath":"/c"}],)") ==
        Names{"PersistentVolumeClaim/ns/data", "PersistentVolumeClaim/ns/old", "PriorityClass/high",
              "PriorityClass/low", "ServiceAccount/ns/robot"});
  CHECK(Of(R"({"serviceAccount":"old-field"})") == Names{"ServiceAccount/ns/old-field"});
}

TEST_CASE("references: what every member has of its own is left out") {
  CHECK(Of(R"({"serviceAccountName":"default","priorityClassName":"system-node-critical",
      "volumes":[{"configMap":{"name":"kube-root-ca.crt"}}]})")
            .empty());
  CHECK(Of("{}").empty());
  CHECK(Of(R"({"volumes":"wrong","containers":[7]})").empty());
}

TEST_CASE("references: needed once is needed") {
  CHECK(Of(R"({"volumes":[{"secret":{"secretName":"a","optional":true}},
      {"configMap":{"name":"b","optional":true}}],
      "containers":[{"envFrom":[{"secretRef":{"name":"a"}}]}]})") ==
        Names{"ConfigMap/ns/b?", "Secret/ns/a"});
  CHECK(NamesIn(Merged({{"Secret", "ns", "a", true}, {"Secret", "ns", "b", true}},
                       {{"Secret", "ns", "b", false}})) == Names{"Secret/ns/a?", "Secret/ns/b"});
  CHECK(NamesIn(ReferencesOfAccount(
            Json(R"({"metadata":{"namespace":"ns"},"imagePullSecrets":[{"name":"p"}],
      "secrets":[{"name":"s"}]})"))) == Names{"Secret/ns/p?", "Secret/ns/s?"});
}

TEST_CASE("references: who brings an object to a cluster") {
  const Reference secret{"Secret", "ns", "s", false};
  CHECK(CarriageOf(secret, Json(R"({"metadata":{}})")) == Carriage::kSend);
  CHECK(CarriageOf(secret, Json(R"({"type":"kubernetes.io/service-account-token"})")) ==
        Carriage::kOwn);
  CHECK(CarriageOf(secret, Json(R"({"metadata":{"labels":
      {"clusterpropagationpolicy.karmada.io/permanent-id":"x"}}})")) == Carriage::kOthers);
  CHECK(CarriageOf({"PersistentVolumeClaim", "ns", "c", false}, Json("{}")) == Carriage::kUsers);
}

TEST_CASE("references: a carrier has the object and nothing of the server that keeps it") {
  const Value object = Json(R"({"metadata":{"name":"robot","namespace":"ns","uid":"u",
      "resourceVersion":"9","labels":{"a":"b"}},"secrets":[{"name":"t"}],
      "imagePullSecrets":[{"name":"p"}]})");
  const Carrier carrier =
      MakeReferenceCarrier({"ServiceAccount", "ns", "robot", false}, object, "east");
  CHECK(carrier.Use() == "ServiceAccount/ns/robot");
  CHECK(carrier.manifest ==
        Json(R"({"apiVersion":"v1","kind":"ServiceAccount","imagePullSecrets":[{"name":"p"}],
      "metadata":{"name":"robot","namespace":"ns",
      "labels":{"a":"b","karmada.io/managed":"true"},
      "annotations":{"work.karmada.io/name":"caldera-serviceaccount.ns.robot",
                     "work.karmada.io/namespace":"karmada-es-east"}}})"));
  const Value work = RenderCarrier(carrier);
  CHECK(*work.At({"metadata", "finalizers"}) ==
        Value(Value::List{Value("karmada.io/execution-controller")}));
  CHECK(*work.At({"metadata", "labels", "federation.caldera.sh/work"}) == Value("reference"));
  CHECK(*work.At({"metadata", "annotations", "federation.caldera.sh/digest"}) ==
        Value(carrier.digest));
  // What changes at the server alone changes no digest.
  Value later = object;
  later.Find("metadata")->Set("resourceVersion", "10");
  CHECK(MakeReferenceCarrier({"ServiceAccount", "ns", "robot", false}, later, "east").digest ==
        carrier.digest);
}

TEST_CASE("references: names of carriers are told apart and can be had from a use") {
  CHECK(CarrierName("Secret", "a-b", "c") != CarrierName("Secret", "a", "b-c"));
  CHECK(CarrierName("Secret", "a", "b.c") == "caldera-secret.a.b.c");
  CHECK(CarrierNameOfUse("Secret/a/b.c") == "caldera-secret.a.b.c");
  CHECK(CarrierNameOfUse("Queue/gold") == CarrierName("Queue", "", "gold"));
  CHECK(CarrierNameOfUse("nonsense").empty());
  const std::string long_name(250, 'x');
  CHECK(CarrierName("Secret", "a", long_name).size() == 253);
  CHECK(CarrierName("Secret", "a", long_name) != CarrierName("Secret", "a", long_name + "y"));
}

TEST_CASE("queue works: flat, not reclaimable, never the member's own") {
  Queue queue;
  queue.name = "gold";
  queue.parent = "research";
  queue.weight = 7;
  queue.capability = {{"cpu", 1000}};
  const auto carrier = MakeQueueCarrier(queue, "east");
  REQUIRE(carrier.has_value());
  CHECK(*carrier->manifest.Find("spec") ==
        Json(R"({"parent":"root","weight":7,"reclaimable":false})"));
  CHECK(carrier->Use() == QueueUse("gold"));
  CHECK(*RenderCarrier(*carrier).At({"metadata", "labels", "federation.caldera.sh/work"}) ==
        Value("queue"));
  queue.name = "root";
  CHECK(!MakeQueueCarrier(queue, "east").has_value());
  queue.name = "default";
  CHECK(!MakeQueueCarrier(queue, "east").has_value());
}

}  // namespace
}  // namespace caldera
