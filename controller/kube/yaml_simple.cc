#include "controller/kube/yaml_simple.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "controller/kube/reading.h"
#include "controller/kube/yaml_scalar.h"

namespace caldera {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

bool IsKeyCharacter(char c) {
  return IsLetter(c) || IsDigit(c) || c == '_' || c == '.' || c == '/' || c == '-';
}

bool HasDuplicate(const Value::Map& map) {
  constexpr size_t kFewMembers = 16;
  if (map.size() <= kFewMembers) {
    for (size_t i = 1; i < map.size(); ++i) {
      for (size_t j = 0; j < i; ++j) {
        if (map[i].key == map[j].key) {
          return true;
        }
      }
    }
    return false;
  }
  std::vector<std::string_view> keys;
  keys.reserve(map.size());
  for (const Member& member : map) {
    keys.push_back(member.key);
  }
  std::sort(keys.begin(), keys.end());
  return std::adjacent_find(keys.begin(), keys.end()) != keys.end();
}

// A text that may be a plain scalar as a whole: nothing in it starts anything else.
bool IsPlain(std::string_view text) {
  if (text.empty()) {
    return false;
  }
  const char first = text.front();
  const bool starts = IsLetter(first) || IsDigit(first) || first == '_' || first == '/' ||
                      first == '.' || first == '~' || first == '$' || first == '(' ||
                      first == '+' ||
                      (first == '-' && text.size() > 1 && text[1] != ' ' && text[1] != '\t');
  return starts && text.back() != ':' && text.find(": ") == std::string_view::npos &&
         text.find('\t') == std::string_view::npos && text.find(" #") == std::string_view::npos;
}

// Any step may find what it does not know: it sets bad_, and the whole is given up.
class Reader {
 public:
  explicit Reader(const YamlChunk& chunk) : text_(chunk.text), line_(chunk.first_line) {}

  std::optional<Value> Read() {
    if (text_.starts_with("---")) {
      const std::string_view rest = Line().substr(3);
      if (rest.find_first_not_of(' ') != std::string_view::npos) {
        return std::nullopt;
      }
      NextLine();
    }
    if (!SkipToContent() || indent_ != 0 || AtItem()) {
      return std::nullopt;
    }
    Value root = ReadMap(0, 0);
    // What ends the map but not the text is a second document, or no YAML.
    if (bad_ || SkipToContent()) {
      return std::nullopt;
    }
    return root;
  }

 private:
  // The line from the cursor's line start on, without its line feed.
  [[nodiscard]] std::string_view Line() const {
    return text_.substr(line_start_, text_.find('\n', line_start_) - line_start_);
  }

  void NextLine() {
    const size_t newline = text_.find('\n', line_start_);
    line_start_ = newline == std::string_view::npos ? text_.size() : newline + 1;
    at_ = line_start_;
    ++line_;
  }

  // Moves over blank lines and comments to the next content: true, with indent_ and at_ set; false
  // at the end of the text. A cursor inside a line stays: the content after `- ` counts.
  bool SkipToContent() {
    while (line_start_ < text_.size()) {
      const std::string_view line = Line();
      const size_t first = line.find_first_not_of(' ');
      if (first != std::string_view::npos && line[first] != '#') {
        if (line[first] == '\t' || line[first] == '\r' || line.starts_with("...") ||
            line.starts_with("---")) {
          Give();
          return false;
        }
        indent_ = first;
        at_ = line_start_ + first;
        return true;
      }
      NextLine();
    }
    return false;
  }

  void Give() {
    bad_ = true;
    line_start_ = text_.size();
    at_ = text_.size();
  }

  [[nodiscard]] std::string_view Rest() const {
    return text_.substr(at_, text_.find('\n', at_) - at_);
  }
  [[nodiscard]] bool AtItem() const {
    const std::string_view rest = Rest();
    return rest == "-" || rest.starts_with("- ");
  }
  [[nodiscard]] Mark Here() const {
    return {line_ + 1, static_cast<uint32_t>(at_ - line_start_ + 1)};
  }
  void SkipBlanks() {
    while (at_ < text_.size() && text_[at_] == ' ') {
      ++at_;
    }
  }

  // The cursor stands on the first key, in column `indent`.
  Value ReadMap(size_t indent, size_t depth) {
    Value map(Value::Map{}, Here());
    if (depth >= kMaxDepth) {
      Give();
    }
    bool more = !bad_;
    while (more) {
      ReadMember(map.AsMap(), indent, depth);
      more = !bad_ && SkipToContent() && indent_ == indent && !AtItem();
    }
    // Deeper content after a complete value is an error, which the whole reader explains.
    if (!bad_ && line_start_ < text_.size() && indent_ > indent) {
      Give();
    }
    if (!bad_ && HasDuplicate(map.AsMap())) {
      Give();
    }
    return map;
  }

  void ReadMember(Value::Map& map, size_t indent, size_t depth) {
    const Mark mark = Here();
    const std::string_view line = Rest();
    size_t end = 0;
    while (end < line.size() && IsKeyCharacter(line[end])) {
      ++end;
    }
    const std::string_view key = line.substr(0, end);
    const bool ends =
        end < line.size() && line[end] == ':' && (end + 1 == line.size() || line[end + 1] == ' ');
    if (!ends || !IsLetter(key.front())) {
      Give();
      return;
    }
    const Scalar scalar = ResolvePlain(key);
    if (!scalar.value.IsString() || !scalar.warning.empty()) {
      Give();
      return;
    }
    at_ += end + 1;
    map.push_back(Member{std::string(key), ReadMemberValue(mark, indent, depth), mark});
  }

  Value ReadMemberValue(Mark key, size_t indent, size_t depth) {
    SkipBlanks();
    const std::string_view rest = Rest();
    if (!rest.empty() && rest.front() != '#') {
      return ReadInline(indent, depth);
    }
    NextLine();
    if (SkipToContent() && (indent_ > indent || (indent_ == indent && AtItem()))) {
      return AtItem() ? ReadList(indent_, depth + 1) : ReadMap(indent_, depth + 1);
    }
    Value null;
    null.set_mark(key);
    return null;
  }

  // The cursor stands on the first `-`, in column `indent`.
  Value ReadList(size_t indent, size_t depth) {
    Value list(Value::List{}, Here());
    if (depth >= kMaxDepth) {
      Give();
    }
    bool more = !bad_;
    while (more) {
      ++at_;
      SkipBlanks();
      list.AsList().push_back(ReadItem(depth));
      more = !bad_ && SkipToContent() && indent_ == indent && AtItem();
    }
    if (!bad_ && line_start_ < text_.size() && indent_ > indent) {
      Give();
    }
    return list;
  }

  // The cursor stands behind `- `. An item without content on this line is left to the whole
  // reader.
  Value ReadItem(size_t depth) {
    const std::string_view rest = Rest();
    if (rest.empty() || rest.front() == '#' || rest == "-" || rest.starts_with("- ")) {
      Give();
      return {};
    }
    size_t end = 0;
    while (end < rest.size() && IsKeyCharacter(rest[end])) {
      ++end;
    }
    const size_t column = at_ - line_start_;
    if (end < rest.size() && rest[end] == ':' && (end + 1 == rest.size() || rest[end + 1] == ' ')) {
      return ReadMap(column, depth + 1);
    }
    return ReadInline(column - 1, depth);
  }

  // A value on the rest of the line. `indent`: what belongs to it would be indented deeper.
  Value ReadInline(size_t indent, size_t depth) {
    const Mark mark = Here();
    const char first = Rest().front();
    Value value;
    if (first == '|') {
      return ReadLiteral(indent, mark);
    }
    if (first == '"' || first == '\'') {
      value = ReadQuoted();
    } else if (first == '[' || first == '{') {
      value = ReadBrackets(depth);
    } else {
      value = ReadPlain(PlainRest());
    }
    value.set_mark(mark);
    if (!bad_) {
      EndLine(indent);
    }
    return value;
  }

  // Behind a value: blanks or a comment, and no line that goes on with it.
  void EndLine(size_t indent) {
    const std::string_view rest = Rest();
    const size_t first = rest.find_first_not_of(' ');
    if (first != std::string_view::npos && (rest[first] != '#' || first == 0)) {
      Give();
      return;
    }
    NextLine();
    if (SkipToContent() && indent_ > indent) {
      Give();
    }
  }

  std::string_view PlainRest() {
    std::string_view rest = Rest();
    rest = rest.substr(0, rest.find(" #"));
    const size_t last = rest.find_last_not_of(' ');
    rest = rest.substr(0, last == std::string_view::npos ? 0 : last + 1);
    if (!IsPlain(rest)) {
      Give();
      return {};
    }
    at_ += rest.size();
    return rest;
  }

  Value ReadPlain(std::string_view text) {
    Scalar scalar = ResolvePlain(text);
    if (!scalar.warning.empty() || !scalar.error.empty()) {
      Give();
    }
    return std::move(scalar.value);
  }

  // One line, without escapes.
  Value ReadQuoted() {
    const std::string_view rest = Rest();
    const char quote = rest.front();
    const size_t end = rest.find(quote, 1);
    const bool escaped = quote == '"' && rest.substr(0, end).find('\\') != std::string_view::npos;
    const bool doubled = quote == '\'' && rest.substr(end + 1).starts_with('\'');
    if (end == std::string_view::npos || escaped || doubled) {
      Give();
      return {};
    }
    at_ += end + 1;
    return {std::string(rest.substr(1, end - 1))};
  }

  // `{}`, or a list of scalars on one line.
  Value ReadBrackets(size_t depth) {
    const std::string_view rest = Rest();
    if (depth + 1 >= kMaxDepth) {
      Give();
      return {};
    }
    if (rest.starts_with("{}")) {
      at_ += 2;
      return {Value::Map{}};
    }
    Value::List list;
    if (rest.front() != '[') {
      Give();
    }
    ++at_;
    SkipBlanks();
    while (!bad_ && !Rest().starts_with(']')) {
      list.push_back(ReadBracketItem());
      SkipBlanks();
      const bool comma = Rest().starts_with(',');
      if (!comma && !Rest().starts_with(']')) {
        Give();
      } else if (comma) {
        ++at_;
        SkipBlanks();
      }
    }
    if (bad_) {
      return {};
    }
    ++at_;
    return {std::move(list)};
  }

  Value ReadBracketItem() {
    const Mark mark = Here();
    std::string_view rest = Rest();
    Value value;
    if (rest.starts_with('"') || rest.starts_with('\'')) {
      value = ReadQuoted();
    } else {
      rest = rest.substr(0, rest.find_first_of(",]"));
      rest = rest.substr(0, rest.find_last_not_of(' ') + 1);
      if (!IsPlain(rest) || rest.find_first_of("[]{}:#&*!|>?%@`'\"") != std::string_view::npos) {
        Give();
        return {};
      }
      at_ += rest.size();
      value = ReadPlain(rest);
    }
    value.set_mark(mark);
    return value;
  }

  // `|` and `|-`: the lines that are indented deeper than `indent`, by as much as the first.
  Value ReadLiteral(size_t indent, Mark mark) {
    const std::string_view header = Rest();
    if (header != "|" && header != "|-") {
      Give();
      return {};
    }
    NextLine();
    const size_t inner = Line().find_first_not_of(' ');
    if (inner == std::string_view::npos || inner <= indent || Line()[inner] == '\t') {
      Give();
      return {};
    }
    std::string content;
    size_t end = 0;  // Of the last line that is not empty.
    while (line_start_ < text_.size()) {
      const std::string_view line = Line();
      const size_t first = line.find_first_not_of(' ');
      if (first == std::string_view::npos && !line.empty()) {
        Give();
        return {};
      }
      if (!line.empty() && first < inner) {
        break;
      }
      if (!line.empty()) {
        content += line.substr(inner);
        end = content.size();
      }
      content += '\n';
      NextLine();
    }
    content.resize(header == "|" ? end + 1 : end);
    // A comment or deeper line here is another reader's matter.
    if (SkipToContent() && indent_ > indent) {
      Give();
    }
    return {std::move(content), mark};
  }

  std::string_view text_;
  size_t line_start_ = 0;
  size_t at_ = 0;
  size_t indent_ = 0;
  uint32_t line_ = 0;
  bool bad_ = false;
};

}  // namespace

std::optional<Value> ReadSimpleYaml(const YamlChunk& chunk) {
  if (chunk.stray_directive != std::string_view::npos ||
      chunk.text.find('\r') != std::string_view::npos) {
    return std::nullopt;
  }
  return Reader(chunk).Read();
}

}  // namespace caldera
