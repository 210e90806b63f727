#include "controller/kube/yaml_writer.h"

#include <string_view>

#include "controller/kube/plain_scalar.h"
#include "controller/kube/yaml_scalar.h"

namespace caldera {
namespace {

// YAML bounds the length of a key on one line with its value (1024); beyond, it needs a `? ` line.
constexpr size_t kLongestPlainKey = 500;

// U+0085, U+2028 and U+2029 end lines in YAML 1.1, U+FEFF is a byte order mark, and C1 controls
// are not printable: escaped, with their length in bytes.
size_t SpecialLength(std::string_view text, size_t i) {
  const std::string_view rest = text.substr(i);
  if (rest.size() >= 2 && rest[0] == '\xC2' && static_cast<unsigned char>(rest[1]) < 0xA0U) {
    return 2;
  }
  if (rest.starts_with("\xE2\x80\xA8") || rest.starts_with("\xE2\x80\xA9") ||
      rest.starts_with("\xEF\xBB\xBF")) {
    return 3;
  }
  return 0;
}

unsigned Decode(std::string_view sequence) {
  const auto byte = [sequence](size_t i) { return static_cast<unsigned char>(sequence[i]); };
  return sequence.size() == 2
             ? ((byte(0) & 0x1FU) << 6U) | (byte(1) & 0x3FU)
             : ((byte(0) & 0x0FU) << 12U) | ((byte(1) & 0x3FU) << 6U) | (byte(2) & 0x3FU);
}

void AppendHex(std::string& out, unsigned code) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  out += "\\u";
  for (unsigned shift = 16; shift > 0; shift -= 4) {
    out += kDigits[(code >> (shift - 4)) & 15U];
  }
}

void AppendQuoted(std::string& out, std::string_view text) {
  out += '"';
  for (size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += text[i];
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (c == '\r') {
      out += "\\r";
    } else if (c < 0x20U || c == 0x7FU) {
      AppendHex(out, c);
    } else if (const size_t length = SpecialLength(text, i); length > 0) {
      AppendHex(out, Decode(text.substr(i, length)));
      i += length - 1;
    } else {
      out += text[i];
    }
  }
  out += '"';
}

// True where a block literal gives back exactly this text: lines of printable characters, none of
// blanks alone, the first one not indented (that would need an indicator), at most one line feed at
// the end (two readers differ about more).
bool FitsLiteral(std::string_view text) {
  if (text.find('\n') == std::string_view::npos || text.front() == ' ' || text.front() == '\t' ||
      text.front() == '\n' || text.ends_with("\n\n")) {
    return false;
  }
  bool only_blanks = true;
  for (size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (c == '\n') {
      const bool empty_line = text[i - 1] == '\n';
      if (only_blanks && !empty_line) {
        return false;
      }
      only_blanks = true;
      continue;
    }
    if ((c < 0x20U && c != '\t') || c == 0x7FU || SpecialLength(text, i) > 0) {
      return false;
    }
    // Readers differ about a tab in the place of indentation.
    if (c == '\t' && only_blanks) {
      return false;
    }
    only_blanks = only_blanks && c == ' ';
  }
  return text.back() == '\n' || !only_blanks;
}

class Writer {
 public:
  void WriteRoot(const Value& value) {
    if (IsBlock(value)) {
      WriteBlock(value, 0);
    } else {
      WriteScalar(value, 0, false);
      out_ += '\n';
    }
  }
  [[nodiscard]] std::string Take() { return std::move(out_); }

 private:
  static bool IsBlock(const Value& value) {
    return (value.IsMap() && !value.AsMap().empty()) || (value.IsList() && !value.AsList().empty());
  }

  // The cursor stands at the column `indent` of a line; ends behind a line feed.
  void WriteBlock(const Value& value, size_t indent) {
    if (value.IsMap()) {
      WriteMap(value.AsMap(), indent);
    } else {
      WriteList(value.AsList(), indent);
    }
  }

  void WriteMap(const Value::Map& map, size_t indent) {
    for (const Member& member : map) {
      if (&member != map.data()) {
        out_.append(indent, ' ');
      }
      WriteKey(member.key, indent);
      WriteMember(member.value, indent);
    }
  }

  void WriteKey(std::string_view key, size_t indent) {
    const size_t start = out_.size();
    if (NeedsQuotes(key)) {
      AppendQuoted(out_, key);
    } else {
      out_ += key;
    }
    if (out_.size() - start > kLongestPlainKey) {
      out_.insert(start, "? ");
      out_ += '\n';
      out_.append(indent, ' ');
    }
    out_ += ':';
  }

  void WriteMember(const Value& value, size_t indent) {
    if (!IsBlock(value)) {
      out_ += ' ';
      WriteScalar(value, indent, true);
      out_ += '\n';
      return;
    }
    out_ += '\n';
    const size_t inner = value.IsMap() ? indent + 2 : indent;
    out_.append(inner, ' ');
    WriteBlock(value, inner);
  }

  void WriteList(const Value::List& list, size_t indent) {
    for (const Value& item : list) {
      if (&item != list.data()) {
        out_.append(indent, ' ');
      }
      out_ += "- ";
      if (IsBlock(item)) {
        WriteBlock(item, indent + 2);
      } else {
        WriteScalar(item, indent, true);
        out_ += '\n';
      }
    }
  }

  // Ends without a line feed.
  void WriteScalar(const Value& value, size_t indent, bool literals) {
    if (value.IsString()) {
      WriteString(value.AsString(), indent, literals);
    } else if (value.IsList()) {
      out_ += "[]";
    } else if (value.IsMap()) {
      out_ += "{}";
    } else {
      AppendPlainScalar(out_, value);
    }
  }

  void WriteString(const std::string& text, size_t indent, bool literals) {
    if (literals && !text.empty() && FitsLiteral(text)) {
      WriteLiteral(text, indent + 2);
    } else if (NeedsQuotes(text)) {
      AppendQuoted(out_, text);
    } else {
      out_ += text;
    }
  }

  void WriteLiteral(std::string_view text, size_t indent) {
    out_ += text.ends_with('\n') ? "|" : "|-";
    if (text.ends_with('\n')) {
      text.remove_suffix(1);
    }
    while (true) {
      const size_t newline = text.find('\n');
      const std::string_view line = text.substr(0, newline);
      out_ += '\n';
      if (!line.empty()) {
        out_.append(indent, ' ');
        out_ += line;
      }
      if (newline == std::string_view::npos) {
        return;
      }
      text.remove_prefix(newline + 1);
    }
  }

  std::string out_;
};

}  // namespace

std::string WriteYaml(const Value& value) {
  Writer writer;
  writer.WriteRoot(value);
  return writer.Take();
}

}  // namespace caldera
