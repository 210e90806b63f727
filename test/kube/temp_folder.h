// A folder of one test, gone with it.
#pragma once

#include <doctest/doctest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace caldera {

class TempFolder {
 public:
  TempFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "caldera-XXXXXX").string();
    REQUIRE(mkdtemp(name.data()) != nullptr);
    root_ = name;
  }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
  ~TempFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(root_, ignored);
  }

  [[nodiscard]] std::string path(const std::string& name) const { return root_ + "/" + name; }
  /// Puts the text there in one step, as whoever rotates files does, and returns the path.
  std::string Write(const std::string& name, const std::string& text) const {
    std::ofstream(path(name) + ".new", std::ios::binary) << text;
    std::filesystem::rename(path(name) + ".new", path(name));
    return path(name);
  }

 private:
  std::string root_;
};

}  // namespace caldera
