#include "controller/kube/input.h"

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "test/controller/reading.h"

namespace caldera {
namespace {

namespace fs = std::filesystem;
using testing::Has;
using testing::Read;

class Folder {
 public:
  Folder() {
    std::string name = (fs::temp_directory_path() / "caldera-input-XXXXXX").string();
    REQUIRE(mkdtemp(name.data()) != nullptr);
    path_ = name;
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  Folder(Folder&&) = delete;
  Folder& operator=(Folder&&) = delete;
  ~Folder() { fs::remove_all(path_); }

  std::string Write(const std::string& name, const std::string& text) const {
    fs::create_directories((path_ / name).parent_path());
    std::ofstream(path_ / name, std::ios::binary) << text;
    return (path_ / name).string();
  }
  [[nodiscard]] std::string operator/(const std::string& name) const {
    return (path_ / name).string();
  }
  [[nodiscard]] std::string path() const { return path_.string(); }

 private:
  fs::path path_;
};

Read Load(const std::vector<std::string>& paths, const std::string& standard_input = "") {
  Read read;
  std::istringstream stream(standard_input);
  read.report =
      ReadInput(paths, stream, [&](Document d) { read.documents.push_back(std::move(d)); });
  CHECK(read.report.documents == read.documents.size());
  return read;
}

std::string OnlyError(const std::vector<std::string>& paths) {
  const Read read = Load(paths);
  REQUIRE(read.report.errors.size() == 1);
  return read.error().file + " | " + read.error().message;
}

TEST_CASE("a folder is read in the order of names without hidden entries") {
  const Folder folder;
  folder.Write("b.yaml", "n: 1\n---\nn: 2\n");
  folder.Write("a/z.yml", "n: 0\n");
  folder.Write("c.json", "{\"n\":3}");
  folder.Write("d/e/f.yaml", "n: 4\n");
  folder.Write("notes.txt", "x: [");
  folder.Write(".hidden.yaml", "x: [");
  folder.Write(".git/x.yaml", "x: [");
  folder.Write("empty.yaml", "# nothing yet\n");
  const Read read = Load({folder.path()});
  REQUIRE(read.report.errors.empty());
  REQUIRE(read.documents.size() == 5);
  for (int i = 0; i < 5; ++i) {
    CHECK(*read.root(static_cast<size_t>(i)).Find("n") == Value(i));
  }
  CHECK(read.documents[2].file == folder / "b.yaml");
  CHECK(read.documents[2].index == 1);
}

TEST_CASE("paths are read in the order given and one file of any name") {
  const Folder folder;
  const std::string odd = folder.Write("manifest", "n: 1\n");
  const Read read = Load({"-", odd}, "n: 0\n");
  REQUIRE(read.documents.size() == 2);
  CHECK(read.documents[0].file == "-");
  CHECK(*read.root(1).Find("n") == Value(1));
}

TEST_CASE("JSON is known by its name or its look") {
  CHECK(Load({"-"}, "{\"a\": \"\\ud83d\\ude00\"} {\"b\": 1}").documents.size() == 2);
  const Read flow = Load({"-"}, "{\"a\": 1, b: 2}\n");
  CHECK(flow.report.errors.empty());
  CHECK(flow.documents.size() == 1);
  const Read bare = Load({"-"}, "{a: 1}\n");
  CHECK(bare.documents.size() == 1);
  const Read broken = Load({"-"}, "{\"a\": 1,,}\n");
  REQUIRE(broken.report.errors.size() == 1);
  CHECK(Has(broken.error().message, "not valid JSON"));
  CHECK(broken.documents.empty());
  const Folder folder;
  CHECK(Has(OnlyError({folder.Write("x.json", "a: 1\n")}), "not valid JSON"));
}

TEST_CASE("what cannot be read is an error that names it") {
  const Folder folder;
  CHECK(OnlyError({folder / "none.yaml"}) ==
        (folder / "none.yaml") + " | there is no such file or folder");
  CHECK(Has(OnlyError({folder.path()}), "there are no objects in it"));
  CHECK(Has(OnlyError({folder.Write("empty.yaml", "")}), "empty.yaml | there are no objects"));
  CHECK(Has(OnlyError({folder.Write("comment.yaml", "# x\n---\n")}), "there are no objects"));
  CHECK(Has(OnlyError({"-"}), "- | standard input holds no objects"));
  CHECK(Has(OnlyError({"https://example.com/x.yaml"}), "addresses are not read"));
  REQUIRE(mkfifo((folder / "pipe.yaml").c_str(), 0600) == 0);
  CHECK(Has(OnlyError({folder / "pipe.yaml"}), "not a regular file"));
  const Read twice = Load({"-", "-"}, "a: 1\n");
  CHECK(Has(twice.error().message, "once only"));
  if (geteuid() != 0) {
    const std::string locked = folder.Write("locked.yaml", "a: 1\n");
    fs::permissions(locked, fs::perms::none);
    CHECK(Has(OnlyError({locked}), "Permission denied"));
  }
}

TEST_CASE("links are followed, but not in a circle") {
  const Folder folder;
  folder.Write("real/a.yaml", "n: 1\n");
  fs::create_symlink(folder / "real/a.yaml", folder / "link.yaml");
  fs::create_directory_symlink(folder / "real", folder / "linked");
  CHECK(Load({folder.path()}).documents.size() == 3);
  fs::create_directory_symlink(folder.path(), folder / "real/up");
  const Read read = Load({folder.path()});
  REQUIRE_FALSE(read.report.errors.empty());
  CHECK(Has(read.error().message, "leads back"));
  fs::remove(folder / "real/up");
  fs::create_symlink(folder / "self.yaml", folder / "self.yaml");
  CHECK(Has(OnlyError({folder.path()}), "self.yaml"));
  fs::remove(folder / "self.yaml");
  fs::create_symlink(folder / "gone", folder / "dead.yaml");
  CHECK(Has(OnlyError({folder.path()}), "the link leads nowhere"));
}

TEST_CASE("a file beyond the bound is refused unread") {
  const Folder folder;
  const std::string path = folder.Write("huge.yaml", "a: 1\n");
  fs::resize_file(path, kMaxInputBytes + 1);
  CHECK(Has(OnlyError({path}), "larger than 64 MiB"));
}

TEST_CASE("an error in one file does not hide those in others") {
  const Folder folder;
  folder.Write("a.yaml", "n: 1\n---\nx: [\n");
  folder.Write("b.yaml", "y: {\n");
  const Read read = Load({folder.path()});
  REQUIRE(read.report.errors.size() == 2);
  CHECK(read.error(0).file == folder / "a.yaml");
  CHECK(read.error(0).mark.line == 4);
  CHECK(read.error(1).file == folder / "b.yaml");
}

}  // namespace
}  // namespace caldera
