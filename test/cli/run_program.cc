#include "test/cli/run_program.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "controller/kube/input.h"

namespace caldera::test {
namespace {

std::string ReadFile(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

// The environment without what steers the program: a test must not depend on who runs it.
std::vector<char*> Environment() {
  std::vector<char*> variables;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view text(*variable);
    if (!text.starts_with("COLUMNS=") && !text.starts_with("CALDERA_")) {
      variables.push_back(*variable);
    }
  }
  variables.push_back(nullptr);
  return variables;
}

}  // namespace

Said RunCaldera(const std::vector<std::string>& arguments, const std::string& input) {
  const TempFolder folder;
  const std::string in = folder.Write("in", input);
  const std::string out = folder.Path("out");
  const std::string err = folder.Path("err");
  std::vector<std::string> command{CALDERA_PROGRAM};
  command.insert(command.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  argv.reserve(command.size() + 1);
  for (std::string& word : command) {
    argv.push_back(word.data());
  }
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addchdir_np(&actions, CALDERA_ROOT);
  constexpr int kWrite = O_WRONLY | O_CREAT | O_TRUNC;
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, in.c_str(), O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, out.c_str(), kWrite, 0600);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, err.c_str(), kWrite, 0600);
  pid_t child = 0;
  const int failed =
      posix_spawn(&child, CALDERA_PROGRAM, &actions, nullptr, argv.data(), Environment().data());
  posix_spawn_file_actions_destroy(&actions);
  Said said;
  int status = 0;
  if (failed == 0 && waitpid(child, &status, 0) == child && WIFEXITED(status)) {
    said.exit_code = WEXITSTATUS(status);
  }
  said.out = ReadFile(out);
  said.err = ReadFile(err);
  return said;
}

Value ParseJson(const std::string& text) {
  std::vector<Document> documents;
  ReadReport report;
  ReadText(
      text, "out.json", [&documents](Document d) { documents.push_back(std::move(d)); }, report);
  REQUIRE(report.errors.empty());
  REQUIRE(documents.size() == 1);
  return documents.front().root;
}

Value ItemOf(const Value& list, const std::string& key, const std::string& name) {
  REQUIRE(list.IsList());
  for (const Value& item : list.AsList()) {
    if (TextAt(item, {key}) == name) {
      return item;
    }
  }
  return {};
}

std::string TextAt(const Value& value, std::initializer_list<std::string_view> path) {
  const Value* found = value.At(path);
  return found != nullptr && found->IsString() ? found->AsString() : "(absent)";
}

void CheckGolden(const std::string& name, const std::string& text) {
  const std::filesystem::path path = std::filesystem::path(CALDERA_TEST_DATA) / "cli/golden" / name;
  if (std::getenv("CALDERA_UPDATE_GOLDEN") != nullptr) {  // NOLINT(concurrency-mt-unsafe)
    std::ofstream(path, std::ios::binary) << text;
  }
  CHECK_MESSAGE(ReadFile(path) == text, name);
}

TempFolder::TempFolder() {
  std::string pattern = (std::filesystem::temp_directory_path() / "caldera-cli-XXXXXX").string();
  REQUIRE(mkdtemp(pattern.data()) != nullptr);
  path_ = pattern;
}

TempFolder::~TempFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string TempFolder::Path(const std::string& name) const { return (path_ / name).string(); }

std::string TempFolder::Write(const std::string& name, const std::string& text) const {
  std::ofstream(path_ / name, std::ios::binary) << text;
  return Path(name);
}

std::string ClusterYaml(const std::string& name, int cpu, int allocated) {
  return "---\napiVersion: cluster.karmada.io/v1alpha1\nkind: Cluster\nmetadata: {name: " + name +
         "}\nspec: {syncMode: Push}\nstatus:\n"
         "  conditions: [{type: Ready, status: \"True\", reason: r}]\n"
         "  resourceSummary: {allocatable: {cpu: \"" +
         std::to_string(cpu) + R"(", memory: 1Ti, pods: "500"}, allocated: {cpu: ")" +
         std::to_string(allocated) + "\"}}\n";
}

std::string QueueYaml(const std::string& name, const std::string& spec) {
  return "---\napiVersion: scheduling.volcano.sh/v1beta1\nkind: Queue\nmetadata: {name: " + name +
         "}\nspec: {" + spec + "}\n";
}

std::string JobYaml(const std::string& name, const std::string& queue, int replicas, int cpu) {
  return "---\napiVersion: batch.volcano.sh/v1alpha1\nkind: Job\nmetadata: {name: " + name +
         ", namespace: team, creationTimestamp: \"2026-12-01T07:00:00Z\"}\nspec:\n  queue: " +
         queue + "\n  tasks:\n  - name: main\n    replicas: " + std::to_string(replicas) +
         "\n    template:\n      spec:\n        containers:\n        - name: c\n          image: "
         "x\n"
         "          resources: {requests: {cpu: \"" +
         std::to_string(cpu) + "\"}}\n";
}

}  // namespace caldera::test
