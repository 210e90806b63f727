// Runs the built program as a shell would, in the project's folder, and gives back all that it
// said. Golden texts are compared whole; CALDERA_UPDATE_GOLDEN=1 writes them anew.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "federation/document.h"

namespace caldera::test {

struct Said {
  int exit_code = -1;  ///< -1: it ended by a signal, or could not be started.
  std::string out;
  std::string err;
};

/// `arguments` without the program's name; `input` is its standard input.
Said RunCaldera(const std::vector<std::string>& arguments, const std::string& input = "");

/// The one document in a JSON text; fails the test where there is not exactly one.
Value ParseJson(const std::string& text);

/// The item of `list` whose member `key` is the string `name`; null where there is none.
Value ItemOf(const Value& list, const std::string& key, const std::string& name);

/// The string at `path`; "(absent)" where there is none.
std::string TextAt(const Value& value, std::initializer_list<std::string_view> path);

/// `text` is the content of test/cli/golden/NAME.
void CheckGolden(const std::string& name, const std::string& text);

/// A folder that is gone with this.
class TempFolder {
 public:
  TempFolder();
  ~TempFolder();
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
  [[nodiscard]] std::string Path(const std::string& name) const;
  /// Writes a file in it and returns its path.
  [[nodiscard]] std::string Write(const std::string& name, const std::string& text) const;

 private:
  std::filesystem::path path_;
};

// A Cluster that is Ready with so many cores (and so many of them taken), a Queue, and a Job of one
// task, as YAML documents.
std::string ClusterYaml(const std::string& name, int cpu, int allocated = 0);
std::string QueueYaml(const std::string& name, const std::string& spec);
std::string JobYaml(const std::string& name, const std::string& queue, int replicas, int cpu);

}  // namespace caldera::test
