#include "controller/kube/json_reader.h"

// Before any header of RapidJSON.
#include <rapidjson/error/en.h>
#include <rapidjson/memorystream.h>
#include <rapidjson/reader.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <exception>
#include <utility>

#include "controller/kube/rapidjson.h"
#include "controller/kube/text_check.h"
#include "controller/kube/tree_builder.h"

namespace caldera {
namespace {

constexpr unsigned kParseFlags =
    rapidjson::kParseIterativeFlag | rapidjson::kParseValidateEncodingFlag |
    rapidjson::kParseNumbersAsStringsFlag | rapidjson::kParseStopWhenDoneFlag;

// RapidJSON's SAX events into a TreeBuilder. A token's mark is found by going on from the end of
// the token before it: only blanks, commas and colons lie between.
class JsonEvents {
 public:
  using Ch = char;

  JsonEvents(std::string_view text, const rapidjson::MemoryStream& stream, TreeBuilder& builder,
             JsonKeep keep)
      : text_(text), stream_(stream), builder_(builder), keep_(keep) {}

  bool Null() {
    if (SkipsScalar()) {
      return true;
    }
    Value null;
    null.set_mark(Advance());
    return Add(std::move(null));
  }
  bool Bool(bool value) { return SkipsScalar() || Add(Value(value, Advance())); }
  // Numbers come as text (kParseNumbersAsStringsFlag); RapidJSON's Writer interface wants these.
  bool Int(int /*value*/) { return false; }
  bool Uint(unsigned /*value*/) { return false; }
  bool Int64(int64_t /*value*/) { return false; }
  bool Uint64(uint64_t /*value*/) { return false; }
  bool Double(double /*value*/) { return false; }
  bool RawNumber(const char* text, rapidjson::SizeType length, bool /*copy*/) {
    if (SkipsScalar()) {
      return true;
    }
    const Mark mark = Advance();
    int64_t integer = 0;
    const auto [stop, error] = std::from_chars(text, text + length, integer);
    if (error == std::errc() && stop == text + length) {
      return Add(Value(integer, mark));
    }
    const std::string number(text, length);
    if (!IsInRange(number)) {
      builder_.Refuse(mark, number, "the number is too large or too small for an object");
    }
    return Add(Value(Value::Decimal{number}, mark));
  }
  bool String(const char* text, rapidjson::SizeType length, bool /*copy*/) {
    if (SkipsScalar()) {
      return true;
    }
    const Mark mark = Advance();
    return Add(Value(Checked({text, length}, mark), mark));
  }
  bool Key(const char* text, rapidjson::SizeType length, bool /*copy*/) {
    const Mark mark = Advance();
    skipping_ = skipping_ || IsNoise({text, length});
    if (!skipping_) {
      builder_.Key(Checked({text, length}, mark), mark);
    }
    return true;
  }
  bool StartObject() { return Open(Value(Value::Map{}, Advance())); }
  bool StartArray() { return Open(Value(Value::List{}, Advance())); }
  bool EndObject(rapidjson::SizeType /*members*/) { return Close(); }
  bool EndArray(rapidjson::SizeType /*items*/) { return Close(); }

 private:
  [[nodiscard]] bool IsNoise(std::string_view key) const {
    return keep_ == JsonKeep::kWhatIsRead &&
           ((key == "managedFields" && builder_.InnermostKey() == "metadata") ||
            (key == "kubectl.kubernetes.io/last-applied-configuration" &&
             builder_.InnermostKey() == "annotations"));
  }
  // Of a value that is left out `skipped_` containers are open.
  bool SkipsScalar() {
    if (skipping_) {
      Advance();
      skipping_ = skipped_ > 0;
      return true;
    }
    return false;
  }
  // RapidJSON writes a lone low surrogate out as if it were a character.
  std::string Checked(std::string_view text, Mark mark) {
    if (!IsUtf8(text)) {
      builder_.Refuse(mark, text, "an escape \\uDC00 to \\uDFFF needs its first half before it");
    }
    return std::string(text);
  }
  bool Add(Value value) {
    builder_.Add(std::move(value));
    return true;
  }
  bool Open(Value empty) {
    if (skipping_) {
      ++skipped_;
      return true;
    }
    builder_.Open(std::move(empty));
    return !builder_.failed();
  }
  bool Close() {
    Advance();
    if (skipping_) {
      skipping_ = --skipped_ > 0;
    } else {
      builder_.Close();
    }
    return true;
  }

  // The mark of the token that just ended; moves on to its end.
  Mark Advance() {
    const size_t start = text_.find_first_not_of(" \t\r\n,:", offset_);
    MoveTo(start == std::string_view::npos ? offset_ : start);
    const Mark mark{line_, static_cast<uint32_t>(offset_ - line_start_ + 1)};
    // RapidJSON tells of a bracket before it takes it.
    MoveTo(std::max(stream_.Tell(), offset_ + 1));
    return mark;
  }

  void MoveTo(size_t offset) {
    for (; offset_ < std::min(offset, text_.size()); ++offset_) {
      if (text_[offset_] == '\n') {
        ++line_;
        line_start_ = offset_ + 1;
      }
    }
  }

  std::string_view text_;
  const rapidjson::MemoryStream& stream_;
  TreeBuilder& builder_;
  const JsonKeep keep_;
  bool skipping_ = false;
  size_t skipped_ = 0;
  size_t offset_ = 0;
  size_t line_start_ = 0;
  uint32_t line_ = 1;
};

// RapidJSON's words, but where they mislead.
std::string Explain(const rapidjson::ParseResult& result, std::string_view text) {
  std::string message = rapidjson::GetParseError_En(result.Code());
  const size_t at = result.Offset();
  const bool control = at < text.size() && static_cast<unsigned char>(text[at]) < 0x20U;
  if (result.Code() == rapidjson::kParseErrorDocumentEmpty) {
    message = "a value is needed here";
  } else if (result.Code() == rapidjson::kParseErrorStringEscapeInvalid && control) {
    message = "a line end or control character in a string must be an escape, such as \\n";
  }
  return "not valid JSON: " + message;
}

// A document may be followed by another one, or by blanks; anything else is caught by its parse.
bool SkipBlanks(rapidjson::MemoryStream& stream, size_t size) {
  rapidjson::SkipWhitespace(stream);
  return stream.Tell() < size;
}

// Parses value after value and hands each to `take`, which says whether to go on.
template <typename Take>
void ParseValues(std::string_view text, const std::string& file, JsonKeep keep, ReadReport& report,
                 Take take) {
  TreeBuilder builder(file, report);
  rapidjson::MemoryStream stream(text.data(), text.size());
  JsonEvents events(text, stream, builder, keep);
  rapidjson::Reader reader;
  while (SkipBlanks(stream, text.size())) {
    builder.Start();
    const rapidjson::ParseResult result = reader.Parse<kParseFlags>(stream, events);
    if (builder.failed()) {
      return;
    }
    if (result.IsError()) {
      const size_t at = result.Offset();
      report.Refuse(
          InputIssue(file, MarkOf(text, at), "", LineAt(text, at), Explain(result, text)));
      return;
    }
    if (!builder.refused()) {
      take(builder.TakeRoot());
    }
  }
}

// What both entries share: the text is checked first, and faults in the use of RapidJSON end here.
template <typename Take>
void ReadValues(std::string_view text, const std::string& file, JsonKeep keep, ReadReport& report,
                Take take) {
  text = WithoutBom(text);
  if (const auto fault = FindTextFault(text)) {
    report.Refuse(InputIssue(file, MarkOf(text, fault->offset), "", fault->value, fault->message));
    return;
  }
  try {
    ParseValues(text, file, keep, report, take);
  } catch (const std::logic_error& error) {
    report.Refuse(InputIssue(file, {}, "", "", std::string("cannot be read: ") + error.what()));
  }
}

}  // namespace

void ReadJson(std::string_view text, const std::string& file, const DocumentVisitor& visit,
              ReadReport& report) {
  DocumentEmitter emitter(file, visit, report);
  ReadValues(text, file, JsonKeep::kAll, report,
             [&emitter](Value root) { emitter.Emit(std::move(root)); });
}

Result<Value> ParseJson(std::string_view text, JsonKeep keep) {
  ReadReport report;
  Value first;
  int count = 0;
  ReadValues(text, "", keep, report, [&](Value root) {
    first = std::move(root);
    ++count;
  });
  if (!report.errors.empty()) {
    const Issue& issue = report.errors.front();
    return Fail(ErrorCode::kInvalid, "line " + std::to_string(issue.mark.line) + ", column " +
                                         std::to_string(issue.mark.column) + ": " + issue.message);
  }
  if (count != 1) {
    return Fail(ErrorCode::kInvalid, "expected one JSON value, found " + std::to_string(count));
  }
  return first;
}

}  // namespace caldera
