// The example Jobs of the Volcano project, and what Volcano's own code answers to them
// (manifests/answers.jsonl).
#include <doctest/doctest.h>

#include <map>

#include "federation/intake.h"
#include "test/golden/compare.h"

using namespace caldera;

TEST_CASE("example manifests: every Job is answered as by Volcano") {
  std::map<std::string, std::vector<Document>> files;
  size_t jobs = 0;
  for (const Document& answer : GoldenDocuments("manifests/answers.jsonl")) {
    const Value& entry = answer.root;
    const std::string file = Text(entry, "file");
    if (!files.contains(file)) {
      files[file] = GoldenDocuments("manifests/" + file);
    }
    for (const Document& document : files[file]) {
      const Value* const name = document.root.At({"metadata", "name"});
      if (Text(document.root, "kind") != "Job" || name->AsString() != Text(entry, "name")) {
        continue;
      }
      ++jobs;
      const Intake intake = TakeObject(document, Strictness::kNew, Time{});
      INFO(file, Said(intake));
      const bool accepted = entry.Find("accepted")->AsBool();
      CHECK(intake.errors.empty() == accepted);
      CHECK(NamesAll(intake));
      if (accepted) {
        CHECK(SpecDifferences(intake, *entry.Find("spec")) == std::vector<std::string>{});
        CHECK(intake.job.has_value());
      }
    }
  }
  CHECK(jobs == 15);
}
