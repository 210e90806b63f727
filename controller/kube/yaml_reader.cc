#include "controller/kube/yaml_reader.h"

#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <array>
#include <exception>
#include <istream>
#include <optional>
#include <streambuf>
#include <utility>

#include "controller/kube/text_check.h"
#include "controller/kube/yaml_chunks.h"
#include "controller/kube/yaml_events.h"
#include "controller/kube/yaml_simple.h"

namespace caldera {
namespace {

// Reads a string_view in place: an istringstream would copy every document.
class ViewBuffer final : public std::streambuf {
 public:
  explicit ViewBuffer(std::string_view text) {
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-const-cast): setg wants it; nothing is written.
    char* begin = const_cast<char*>(text.data());
    setg(begin, begin, begin + text.size());
  }
};

struct Advice {
  std::string_view from;  ///< yaml-cpp's words.
  std::string_view text;  ///< Ours.
};

constexpr std::string_view kIllegalMapValue = "illegal map value";

constexpr std::array<Advice, 12> kAdvice = {{
    {kIllegalMapValue,
     "a `:` is not allowed here; check the indentation, or put the text in quotes"},
    {"end of map not found",
     "this does not belong to the map above; check the indentation and quotes"},
    {"end of sequence not found",
     "this does not belong to the list above; check the indentation and quotes"},
    {"end of map flow not found", "a `,` or the closing `}` of the map is missing"},
    {"end of sequence flow not found", "a `,` or the closing `]` of the list is missing"},
    {"illegal tab when looking for indentation", "a tab cannot indent; use spaces"},
    {"illegal block entry", "a list item `- ` cannot start here; put it on a line of its own"},
    {"illegal flow end", "this `]` or `}` closes nothing"},
    {"illegal EOF in scalar", "the closing quote of the text is missing"},
    {"illegal document indicator in scalar", "the closing quote of the text is missing"},
    {"unknown token", "a text cannot start with this character; put it in quotes"},
    {"bad file", "maps and lists are nested too deeply"},
}};

// The line is indented by a tab.
bool HasTabIndent(std::string_view text, size_t line) {
  size_t at = 0;
  for (size_t i = 0; i < line; ++i) {
    const size_t newline = text.find('\n', at);
    if (newline == std::string_view::npos) {
      return false;
    }
    at = newline + 1;
  }
  const size_t content = text.find_first_not_of(" \t", at);
  return text.substr(at, content - at).find('\t') != std::string_view::npos;
}

// The line before the one at `offset`, where it looks like a key that lacks its colon: as deep as
// the line at `offset`, and without any colon. Empty where it does not.
std::string LineWithoutColon(std::string_view text, size_t offset) {
  const size_t newline = text.rfind('\n', offset);
  if (offset == 0 || newline == std::string_view::npos) {
    return "";
  }
  const size_t start = newline == 0 ? 0 : text.rfind('\n', newline - 1) + 1;
  const std::string_view before = text.substr(start, newline - start);
  const std::string_view line = text.substr(newline + 1);
  const bool as_deep = before.find_first_not_of(' ') == line.find_first_not_of(' ');
  if (!as_deep || before.find(": ") != std::string_view::npos || before.ends_with(':') ||
      before.find_first_of("#-\"'[]{}") != std::string_view::npos) {
    return "";
  }
  return LineAt(text, start);
}

std::string Explain(const YAML::Exception& error, const YamlChunk& chunk,
                    const YamlEvents& events) {
  if (!error.mark.is_null() && HasTabIndent(chunk.text, static_cast<size_t>(error.mark.line))) {
    return "not valid YAML: a tab cannot indent; use spaces";
  }
  std::string text = error.msg;
  for (const Advice& advice : kAdvice) {
    if (error.msg == advice.from) {
      text = advice.text;
    }
  }
  text = "not valid YAML: " + text;
  const size_t offset = error.mark.is_null() ? 0 : static_cast<size_t>(error.mark.pos);
  if (const std::string line = LineWithoutColon(chunk.text, std::min(offset, chunk.text.size()));
      !line.empty() && error.msg == kIllegalMapValue) {
    text += " (the line before it, `" + line + "`, has no `: ` behind its key)";
  }
  if (const auto quoted = events.last_quoted()) {
    const Mark start = MarkOf(chunk.text, *quoted);
    if (start.line + chunk.first_line < events.Convert(error.mark).line) {
      text += " (the text before it began in line " +
              std::to_string(start.line + chunk.first_line) + ")";
    }
  }
  if (const auto open = events.OpenFlow()) {
    text += " (it opened in line " + std::to_string(open->line) + ", column " +
            std::to_string(open->column) + ")";
  }
  return text;
}

// A scalar starts at `text` behind its tags and anchors: if it is quoted, does the quote close?
// yaml-cpp takes one that the end of input cuts off.
bool QuoteCloses(std::string_view text) {
  while (!text.empty() && (text.front() == '!' || text.front() == '&')) {
    const size_t end = text.find_first_of(" \t\r\n");
    text.remove_prefix(end == std::string_view::npos ? text.size() : end);
    const size_t next = text.find_first_not_of(" \t\r\n");
    text.remove_prefix(next == std::string_view::npos ? text.size() : next);
  }
  if (text.starts_with('\'')) {
    size_t i = text.find('\'', 1);
    while (i != std::string_view::npos && text.substr(i + 1).starts_with('\'')) {
      i = text.find('\'', i + 2);
    }
    return i != std::string_view::npos;
  }
  for (size_t i = 1; text.starts_with('"'); i += 2) {
    i = text.find_first_of("\\\"", i);
    if (i == std::string_view::npos || text[i] == '"') {
      return i != std::string_view::npos;
    }
  }
  return true;
}

class ChunkReader {
 public:
  ChunkReader(const std::string& file, ReadReport& report, DocumentEmitter& emitter)
      : file_(file), report_(report), emitter_(emitter), builder_(file, report) {}

  void Read(const YamlChunk& chunk) {
    if (chunk.stray_directive != std::string_view::npos) {
      RefuseAt(chunk, chunk.stray_directive,
               "a line cannot start with % here; put the text in quotes");
      return;
    }
    YamlEvents events(chunk, builder_);
    try {
      Parse(chunk, events);
    } catch (const YAML::Exception& error) {
      const auto offset = static_cast<size_t>(error.mark.is_null() ? 0 : error.mark.pos);
      Refuse(events.Convert(error.mark), LineAt(chunk.text, offset), Explain(error, chunk, events));
    } catch (const std::exception& error) {
      Refuse(events.document_start(), "", std::string("cannot be read: ") + error.what());
    }
  }

 private:
  void Parse(const YamlChunk& chunk, YamlEvents& events) {
    ViewBuffer buffer(chunk.text);
    std::istream stream(&buffer);
    YAML::Parser parser(stream);
    if (!parser.HandleNextDocument(events)) {
      return;
    }
    std::optional<Value> root;
    if (!builder_.refused()) {
      root = builder_.TakeRoot();
    }
    const std::optional<size_t> quoted = events.last_quoted();
    if (quoted && !QuoteCloses(chunk.text.substr(*quoted))) {
      RefuseAt(chunk, *quoted, "the closing quote of the text is missing");
      return;
    }
    if (parser.HandleNextDocument(events)) {
      Refuse(events.document_start(), "",
             "a second document starts here without a line of --- before it; check the "
             "indentation");
      return;
    }
    if (root) {
      emitter_.Emit(*std::move(root));
    }
  }

  void RefuseAt(const YamlChunk& chunk, size_t offset, const std::string& message) {
    const Mark mark = MarkOf(chunk.text, offset);
    Refuse({mark.line + chunk.first_line, mark.column}, LineAt(chunk.text, offset),
           "not valid YAML: " + message);
  }

  void Refuse(Mark mark, std::string value, std::string message) {
    report_.Refuse(InputIssue(file_, mark, "", std::move(value), std::move(message)));
  }

  const std::string& file_;
  ReadReport& report_;
  DocumentEmitter& emitter_;
  TreeBuilder builder_;
};

void ReadChunks(std::string_view text, bool simple, ChunkReader& reader, DocumentEmitter& emitter) {
  for (const YamlChunk& chunk : SplitYaml(text)) {
    std::optional<Value> root = simple ? ReadSimpleYaml(chunk) : std::nullopt;
    if (root) {
      emitter.Emit(*std::move(root));
    } else {
      reader.Read(chunk);
    }
  }
}

struct Target {
  const std::string& file;
  const DocumentVisitor& visit;
  ReadReport& report;
};

void ReadAll(std::string_view text, const Target& to, bool simple) {
  text = WithoutBom(text);
  if (const auto fault = FindTextFault(text)) {
    to.report.Refuse(
        InputIssue(to.file, MarkOf(text, fault->offset), "", fault->value, fault->message));
    return;
  }
  DocumentEmitter emitter(to.file, to.visit, to.report);
  ChunkReader reader(to.file, to.report, emitter);
  ReadChunks(text, simple, reader, emitter);
}

}  // namespace

void ReadYaml(std::string_view text, const std::string& file, const DocumentVisitor& visit,
              ReadReport& report) {
  ReadAll(text, {file, visit, report}, true);
}

void ReadYamlWhole(std::string_view text, const std::string& file, const DocumentVisitor& visit,
                   ReadReport& report) {
  ReadAll(text, {file, visit, report}, false);
}

}  // namespace caldera
