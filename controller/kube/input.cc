#include "controller/kube/input.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <istream>
#include <system_error>
#include <utility>

#include "controller/kube/json_reader.h"
#include "controller/kube/text_check.h"
#include "controller/kube/yaml_reader.h"

namespace caldera {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMaxFolderDepth = 64;
// Links between folders can make a small tree look endless.
constexpr size_t kMaxFolders = 100'000;

std::string TooLarge() {
  return "larger than " + std::to_string(kMaxInputBytes >> 20U) + " MiB; split it";
}

std::string ErrorText(int error) { return std::generic_category().message(error); }

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  Descriptor(Descriptor&&) = delete;
  Descriptor& operator=(Descriptor&&) = delete;
  ~Descriptor() {
    if (fd_ >= 0) {
      close(fd_);
    }
  }
  [[nodiscard]] int get() const { return fd_; }

 private:
  int fd_;
};

// Empty: `text` has the file's content. Else what is wrong with it.
std::string ReadFile(const std::string& path, std::string& text) {
  // Without O_NONBLOCK, opening a pipe that took the file's place would wait for ever.
  const Descriptor file(
      open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));  // NOLINT(*-vararg): open() is one.
  if (file.get() < 0) {
    return "cannot be opened: " + ErrorText(errno);
  }
  struct stat info = {};
  if (fstat(file.get(), &info) != 0) {
    return "cannot be read: " + ErrorText(errno);
  }
  if (!S_ISREG(info.st_mode)) {
    return "not a regular file; use -f - to read from a pipe";
  }
  text.resize(static_cast<size_t>(std::min<off_t>(info.st_size, kMaxInputBytes)) + 1);
  size_t size = 0;
  while (true) {
    const ssize_t got = read(file.get(), text.data() + size, text.size() - size);
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got < 0) {
      return "cannot be read: " + ErrorText(errno);
    }
    if (got == 0) {
      break;
    }
    size += static_cast<size_t>(got);
    if (size > kMaxInputBytes) {
      return TooLarge();
    }
    if (size == text.size()) {
      text.resize(std::min(2 * size, kMaxInputBytes + 1));
    }
  }
  text.resize(size);
  return "";
}

bool IsManifestName(const fs::path& path) {
  const std::string extension = path.extension().string();
  return extension == ".yaml" || extension == ".yml" || extension == ".json";
}

// `{` and then a quote or the end of the map.
bool LooksLikeJson(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  text = WithoutBom(text);
  const size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos || text[first] != '{') {
    return false;
  }
  const size_t second = text.find_first_not_of(kBlanks, first + 1);
  return second != std::string_view::npos && (text[second] == '"' || text[second] == '}');
}

class Loader {
 public:
  Loader(std::istream& standard_input, const DocumentVisitor& visit, ReadReport& report)
      : standard_input_(standard_input), visit_(visit), report_(report) {}

  void Load(const std::string& path) {
    const uint32_t documents = report_.documents;
    const size_t errors = report_.errors.size();
    if (path == "-") {
      LoadStandardInput();
    } else {
      LoadPath(path);
    }
    if (report_.documents == documents && report_.errors.size() == errors) {
      Refuse(path, path == "-" ? "standard input holds no objects"
                               : "there are no objects in it (YAML or JSON manifests)");
    }
  }

 private:
  void Refuse(const std::string& path, std::string message) {
    report_.Refuse(InputIssue(path, {}, "", "", std::move(message)));
  }

  void LoadStandardInput() {
    if (std::exchange(standard_input_read_, true)) {
      Refuse("-", "standard input can be read once only");
      return;
    }
    std::string text;
    std::string buffer(size_t{64} << 10U, '\0');
    while (standard_input_) {
      standard_input_.read(buffer.data(), static_cast<std::streamsize>(buffer.size()));
      text.append(buffer, 0, static_cast<size_t>(standard_input_.gcount()));
      if (text.size() > kMaxInputBytes) {
        Refuse("-", TooLarge());
        return;
      }
    }
    ReadText(text, "-", visit_, report_);
  }

  void LoadPath(const std::string& path) {
    std::error_code error;
    const fs::file_status status = fs::status(path, error);
    if (status.type() == fs::file_type::not_found) {
      const bool url = path.starts_with("http://") || path.starts_with("https://");
      Refuse(path, url ? "addresses are not read; fetch it and use -f FILE or -f -"
                       : "there is no such file or folder");
    } else if (error) {
      Refuse(path, "cannot be read: " + error.message());
    } else if (fs::is_directory(status)) {
      LoadFolder(path);
    } else {
      LoadFile(path);
    }
  }

  void LoadFile(const std::string& path) {
    if (std::string problem = ReadFile(path, text_); !problem.empty()) {
      Refuse(path, std::move(problem));
      return;
    }
    ReadText(text_, path, visit_, report_);
  }

  void LoadFolder(const std::string& path) {
    std::error_code error;
    const fs::path real = fs::canonical(path, error);
    if (error) {
      Refuse(path, "cannot be read: " + error.message());
      return;
    }
    if (std::find(open_folders_.begin(), open_folders_.end(), real) != open_folders_.end()) {
      Refuse(path, "a link leads back to a folder above it");
      return;
    }
    if (open_folders_.size() >= kMaxFolderDepth) {
      Refuse(path, "folders are nested more than " + std::to_string(kMaxFolderDepth) + " deep");
      return;
    }
    if (++folders_ > kMaxFolders) {
      if (folders_ == kMaxFolders + 1) {
        Refuse(path, "there are more than " + std::to_string(kMaxFolders) + " folders");
      }
      return;
    }
    open_folders_.push_back(real);
    for (const std::string& entry : Entries(path)) {
      LoadEntry(entry);
    }
    open_folders_.pop_back();
  }

  // What is not hidden, sorted.
  std::vector<std::string> Entries(const std::string& path) {
    std::vector<std::string> entries;
    std::error_code error;
    fs::directory_iterator it(path, error);
    for (; !error && it != fs::directory_iterator(); it.increment(error)) {
      if (!it->path().filename().string().starts_with('.')) {
        entries.push_back(it->path().string());
      }
    }
    if (error) {
      Refuse(path, "cannot be read: " + error.message());
    }
    std::sort(entries.begin(), entries.end());
    return entries;
  }

  void LoadEntry(const std::string& entry) {
    std::error_code error;
    const fs::file_status status = fs::status(entry, error);
    if (fs::is_directory(status)) {
      LoadFolder(entry);
    } else if (IsManifestName(entry) && status.type() == fs::file_type::not_found) {
      Refuse(entry, "the link leads nowhere");
    } else if (IsManifestName(entry) && error) {
      Refuse(entry, "cannot be read: " + error.message());
    } else if (IsManifestName(entry)) {
      LoadFile(entry);
    }
  }

  std::istream& standard_input_;
  const DocumentVisitor& visit_;
  ReadReport& report_;
  bool standard_input_read_ = false;
  std::string text_;  // One buffer for all files.
  std::vector<fs::path> open_folders_;
  size_t folders_ = 0;
};

}  // namespace

ReadReport ReadInput(const std::vector<std::string>& paths, std::istream& standard_input,
                     const DocumentVisitor& visit) {
  ReadReport report;
  Loader loader(standard_input, visit, report);
  for (const std::string& path : paths) {
    loader.Load(path);
  }
  return report;
}

void ReadText(std::string_view text, const std::string& file, const DocumentVisitor& visit,
              ReadReport& report) {
  if (file.ends_with(".json")) {
    ReadJson(text, file, visit, report);
    return;
  }
  if (!LooksLikeJson(text)) {
    ReadYaml(text, file, visit, report);
    return;
  }
  // YAML may begin like JSON (`{"a": 1, b: 2}`): JSON's documents count only if all of it is JSON.
  std::vector<Document> documents;
  ReadReport json;
  ReadJson(
      text, file, [&documents](Document d) { documents.push_back(std::move(d)); }, json);
  if (!json.errors.empty()) {
    std::vector<Document> as_yaml;
    ReadReport yaml;
    ReadYaml(
        text, file, [&as_yaml](Document d) { as_yaml.push_back(std::move(d)); }, yaml);
    if (yaml.errors.empty()) {
      documents = std::move(as_yaml);
      json = std::move(yaml);
    }
  }
  for (Issue& issue : json.errors) {
    report.Refuse(std::move(issue));
  }
  for (Issue& issue : json.warnings) {
    report.Warn(std::move(issue));
  }
  for (Document& document : documents) {
    ++report.documents;
    visit(std::move(document));
  }
}

}  // namespace caldera
