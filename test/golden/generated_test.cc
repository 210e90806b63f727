// 900 Jobs made at random from the schema (valid and broken values in every field that a Job has),
// with the answer of Volcano's own code to each: its CRD through apiextensions-apiserver, its
// mutating and its validating webhook with the API server's pod template validation (Volcano at
// commit ed72c7c8, Kubernetes 1.36.1). The queue is not looked up there, so the answers are to be
// equal throughout.
#include <doctest/doctest.h>

#include "federation/intake.h"
#include "test/golden/compare.h"

using namespace caldera;

TEST_CASE("generated jobs: accepted, defaulted and refused as by Volcano's own code") {
  const std::vector<Document> cases = GoldenDocuments("generated-admission.jsonl");
  CHECK(cases.size() == 900);
  for (const Document& document : cases) {
    const Value& entry = document.root;
    const Intake intake =
        TakeObject({"generated-admission.jsonl", 0, *entry.Find("job")}, Strictness::kNew, Time{});
    INFO(Text(entry, "id"), " ", Text(entry, "message"), Said(intake));
    const bool accepted = entry.Find("accepted")->AsBool();
    CHECK(intake.errors.empty() == accepted);
    CHECK(NamesAll(intake));
    if (accepted) {
      CHECK(SpecDifferences(intake, *entry.Find("spec")) == std::vector<std::string>{});
    }
  }
}
