// What an operator gets wrong: each is told what is wrong, and nothing is done by halves.
#include <doctest/doctest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "test/cli/run_program.h"

namespace caldera::test {
namespace {

bool Has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

Said Plan(const std::vector<std::string>& more) {
  std::vector<std::string> arguments = {"plan", "-f", "-"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return RunCaldera(arguments, ClusterYaml("east", 8) + QueueYaml("gold", "weight: 1") +
                                   JobYaml("a", "gold", 1, 1));
}

void Refused(const Said& said, const std::string& why) {
  CAPTURE(said.err);
  CHECK(said.exit_code == 2);
  CHECK(said.out.empty());
  CHECK(Has(said.err, why));
}

TEST_CASE("an empty option is an unset variable, not an absent option") {
  for (const std::string option : {"--ledger", "--render", "--render-works", "--at"}) {
    CAPTURE(option);
    Refused(Plan({option, ""}), "must not be empty");
  }
  for (const std::string option : {"--ledger", "--server"}) {
    CAPTURE(option);
    Refused(RunCaldera({"explain", "a", option, ""}), option + ": must not be empty");
    Refused(RunCaldera({"ledger", "queues", option, ""}), option + ": must not be empty");
  }
}

TEST_CASE("a plan that cannot be explained or rendered is not recorded") {
  const TempFolder folder;
  const std::string ledger = folder.Path("l.db");
  const std::string file = folder.Write("file", "text");
  Refused(Plan({"--ledger", ledger, "--render", file}), file);
  Refused(Plan({"--ledger", ledger, "--render", folder.Path("a"), "--render-works",
                folder.Path("b/../a")}),
          "the same folder");
  CHECK_FALSE(std::filesystem::exists(ledger));
  Refused(Plan({"--ledger", ledger, "--explain", "nobody"}), "nobody");
  const Said cycles =
      RunCaldera({"ledger", "history", "--cycles", "-o", "json", "--ledger", ledger});
  CHECK(cycles.exit_code == 0);
  CHECK(cycles.out == "[]\n");
}

TEST_CASE("a time that cannot be planned for is refused, one that is past is told") {
  const TempFolder folder;
  const std::string ledger = folder.Path("l.db");
  Refused(Plan({"--at", "1969-07-20T20:17:00Z"}), "before 1970");
  const Said first = Plan({"--ledger", ledger, "--at", "2026-12-01T08:00:00Z"});
  CHECK(first.exit_code == 0);
  CHECK(first.err.empty());
  const Said second = Plan({"--ledger", ledger, "--at", "2020-01-01T00:00:00Z"});
  CHECK(second.exit_code == 0);
  CHECK(Has(second.err, "planned as of 2026-12-01T08:00:00Z"));
}

TEST_CASE("a ledger is a regular file, and so is its backup") {
  const TempFolder folder;
  const std::string ledger = folder.Path("l.db");
  const std::string pipe = folder.Path("pipe");
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  REQUIRE(Plan({"--ledger", ledger}).exit_code == 0);
  Refused(Plan({"--ledger", pipe}), "no regular file");
  CHECK_FALSE(std::filesystem::exists(pipe + ".lock"));
  Refused(RunCaldera({"ledger", "jobs", "--ledger", pipe}), "no regular file");
  const auto backup = [&ledger](const std::string& target) {
    return RunCaldera({"ledger", "backup", "--force", "--ledger", ledger, target});
  };
  Refused(backup(pipe), "no regular file");
  CHECK(std::filesystem::is_fifo(pipe));
  Refused(backup(ledger + "-wal"), "part of the ledger");
  Refused(backup(ledger + ".lock"), "part of the ledger");
  static_cast<void>(folder.Write("copy.db-wal", "changes of another"));
  Refused(backup(folder.Path("copy.db")), "copy.db-wal");
  CHECK(backup(folder.Path("other.db")).exit_code == 0);
  Refused(RunCaldera({"ledger", "history", "--limit", "-1", "--ledger", ledger}),
          "must be 0 or more");
}

TEST_CASE("a queue that is not there is told, in the lists that take one") {
  const TempFolder folder;
  const std::string ledger = folder.Path("l.db");
  REQUIRE(Plan({"--ledger", ledger}).exit_code == 0);
  for (const std::string list : {"history", "jobs", "placements"}) {
    Refused(RunCaldera({"ledger", list, "--queue", "nope", "--ledger", ledger}), "no queue `nope`");
    CHECK(RunCaldera({"ledger", list, "--queue", "gold", "--ledger", ledger}).exit_code == 0);
  }
}

TEST_CASE("a statement without end is ended") {
  const TempFolder folder;
  const std::string ledger = folder.Path("l.db");
  REQUIRE(Plan({"--ledger", ledger}).exit_code == 0);
  const std::string endless =
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n";
  const auto sql = [&](const std::string& timeout) {
    return RunCaldera({"ledger", "sql", "--timeout", timeout, "--ledger", ledger, endless});
  };
  Refused(sql("50ms"), "took longer than 50ms");
  Refused(sql("0s"), "--timeout: must be more than nothing");
  Refused(sql("soon"), "--timeout: ");
}

TEST_CASE("the job of a queue that was refused is told so") {
  const Said said = RunCaldera(
      {"plan", "-f", "-", "-o", "json"},
      ClusterYaml("east", 8) + QueueYaml("gold", "weight: -5") + JobYaml("a", "gold", 1, 1));
  CHECK(said.exit_code == 0);
  CHECK(Has(said.out, "Queue gold was refused: spec.weight = -5: must be an integer from"));
  CHECK_FALSE(Has(said.out, "there is no Queue"));
}

TEST_CASE("beside a file that is no ledger nothing is left") {
  const TempFolder folder;
  const std::string text = folder.Write("notes.txt", "this is no database, it is a text file");
  Refused(Plan({"--ledger", text}), "not a SQLite file");
  CHECK_FALSE(std::filesystem::exists(text + ".lock"));
}

TEST_CASE("a damaged ledger is what the check is for") {
  const TempFolder folder;
  const std::string ledger = folder.Path("l.db");
  REQUIRE(Plan({"--ledger", ledger}).exit_code == 0);
  constexpr size_t kPage = 4096;  // The second page is the journal's root.
  {
    std::fstream file(ledger, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(kPage));
    file << std::string(kPage, '\xA5');
  }
  const Said said = RunCaldera({"ledger", "check", "--ledger", ledger});
  CAPTURE(said.err);
  CHECK(said.exit_code == 1);
  CHECK(Has(said.out, "wrong: "));
  CHECK_FALSE(Has(said.out, "all is well"));
  Refused(Plan({"--ledger", ledger}), "damaged");
  {
    // The schema: nothing can be asked any more.
    std::fstream file(ledger, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(110);
    file << std::string(64, '\xA5');
  }
  Refused(RunCaldera({"ledger", "check", "--ledger", ledger}),
          "the file is damaged: restore a backup, or start a new ledger");
}

}  // namespace
}  // namespace caldera::test
