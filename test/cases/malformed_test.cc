// Every manifest in malformed/ gets the error that malformed/expected.tsv gives, through the loader
// and the intake: the same way that `caldera validate -f` goes.
#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "controller/kube/input.h"
#include "federation/intake.h"

namespace caldera {
namespace {

namespace fs = std::filesystem;

const fs::path& Corpus() {
  static const fs::path kPath = fs::path(CALDERA_TEST_DATA) / "cases" / "malformed";
  return kPath;
}

// Everything that is wrong with what `-f path` names.
std::vector<Issue> ErrorsOf(const std::string& path) {
  std::vector<Document> documents;
  std::istringstream none;
  const ReadReport report = ReadInput(
      {path}, none, [&documents](Document document) { documents.push_back(std::move(document)); });
  std::vector<Issue> errors = report.errors;
  std::vector<QueueSource> queues;
  const Time now{Millis{1'800'000'000'000}};
  for (const Document& document : documents) {
    const Intake intake = TakeObject(document, Strictness::kNew, now);
    errors.insert(errors.end(), intake.errors.begin(), intake.errors.end());
    CHECK(intake.change.has_value() == (intake.known && intake.errors.empty()));
    if (intake.change && std::holds_alternative<QueueUpsert>(*intake.change)) {
      queues.push_back({std::get<QueueUpsert>(*intake.change).queue, &document});
    }
  }
  const QueueTreeIssues tree = CheckQueueTree(queues, Strictness::kNew);
  errors.insert(errors.end(), tree.errors.begin(), tree.errors.end());
  return errors;
}

struct Expected {
  std::string file;
  uint32_t line = 0;
  std::string field;
  std::string value;
  std::string message;  ///< A piece of it.
};

std::vector<Expected> ReadTable() {
  std::ifstream in(Corpus() / "expected.tsv");
  std::vector<Expected> rows;
  std::string line;
  while (std::getline(in, line)) {
    if (line.empty() || line.front() == '#') {
      continue;
    }
    std::vector<std::string> cells(1);
    for (const char c : line) {
      if (c == '\t') {
        cells.emplace_back();
      } else {
        cells.back() += c;
      }
    }
    REQUIRE_MESSAGE(cells.size() == 5, line);
    rows.push_back(
        {cells[0], static_cast<uint32_t>(std::stoul(cells[1])), cells[2], cells[3], cells[4]});
  }
  return rows;
}

std::string Print(const std::vector<Issue>& issues) {
  std::string text;
  for (const Issue& issue : issues) {
    text += "\n  " + std::to_string(issue.mark.line) + ":" + std::to_string(issue.mark.column) +
            " | " + issue.field + " | " + issue.value + " | " + issue.message;
  }
  return text;
}

bool Matches(const Issue& issue, const Expected& expected) {
  return issue.mark.line == expected.line && issue.field == expected.field &&
         issue.value == expected.value && issue.message.find(expected.message) != std::string::npos;
}

TEST_CASE("every malformed manifest gets the error that is expected") {
  std::map<std::string, std::vector<Expected>> by_file;
  for (Expected& row : ReadTable()) {
    by_file[row.file].push_back(std::move(row));
  }
  CHECK(by_file.size() >= 100);
  size_t files = 0;
  for (const auto& entry : fs::directory_iterator(Corpus())) {
    const std::string name = entry.path().filename().string();
    if (name == "expected.tsv") {
      continue;
    }
    ++files;
    CAPTURE(name);
    const std::vector<Issue> errors = ErrorsOf(entry.path().string());
    const std::string found = Print(errors);
    CAPTURE(found);
    CHECK_FALSE(errors.empty());
    for (const Issue& issue : errors) {
      CHECK(issue.file == entry.path().string());
      CHECK_FALSE(issue.message.empty());
      CHECK(issue.value.size() <= 4 * 64);
    }
    REQUIRE(by_file.contains(name));
    for (const Expected& expected : by_file.at(name)) {
      CAPTURE(expected.message);
      CHECK(std::any_of(errors.begin(), errors.end(),
                        [&](const Issue& issue) { return Matches(issue, expected); }));
    }
  }
  CHECK(files == by_file.size());
}

// Too large to store.
TEST_CASE("huge names and texts are refused briefly") {
  const std::string huge(size_t{1} << 20U, 'n');
  const fs::path path = fs::temp_directory_path() / ("caldera-huge-" + std::to_string(getpid()));
  struct Row {
    std::string text;
    std::string field;
  };
  const std::string queue = "apiVersion: scheduling.volcano.sh/v1beta1\nkind: Queue\n";
  const std::vector<Row> rows = {
      {queue + "metadata:\n  name: " + huge + "\n", "metadata.name"},
      {queue + "metadata:\n  name: \"" + huge + "\"\n", "metadata.name"},
      {queue + "metadata:\n  name: gold\nspec:\n  weight: " + huge + "\n", "spec.weight"},
      {queue + "metadata:\n  name: gold\nspec:\n  parent: " + huge + "\n", "spec.parent"},
      {"apiVersion: batch.volcano.sh/v1alpha1\nkind: Job\nmetadata:\n  name: a\n  namespace: " +
           huge + "\n",
       "metadata.namespace"},
  };
  for (const Row& row : rows) {
    std::ofstream(path) << row.text;
    const std::vector<Issue> errors = ErrorsOf(path.string());
    const std::string found = Print(errors);
    CAPTURE(found);
    CHECK(std::any_of(errors.begin(), errors.end(),
                      [&](const Issue& issue) { return issue.field == row.field; }));
    for (const Issue& issue : errors) {
      CHECK(issue.object.size() + issue.field.size() + issue.value.size() + issue.message.size() <
            1000);
    }
  }
  fs::remove(path);
}

}  // namespace
}  // namespace caldera
