#include "controller/kube/json_writer.h"

#include <string_view>

#include "controller/kube/plain_scalar.h"

namespace caldera {
namespace {

void AppendEscape(std::string& out, unsigned char c) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  switch (c) {
    case '"':
      out += "\\\"";
      return;
    case '\\':
      out += "\\\\";
      return;
    case '\n':
      out += "\\n";
      return;
    case '\r':
      out += "\\r";
      return;
    case '\t':
      out += "\\t";
      return;
    default:
      out += "\\u00";
      out += kDigits[c >> 4U];
      out += kDigits[c & 15U];
  }
}

void AppendString(std::string& out, std::string_view text) {
  out += '"';
  size_t from = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (c >= 0x20U && c != '"' && c != '\\' && c != 0x7FU) {
      continue;
    }
    out += text.substr(from, i - from);
    AppendEscape(out, c);
    from = i + 1;
  }
  out += text.substr(from);
  out += '"';
}

// Depth is bounded: readers and intake keep trees within kMaxDepth.
class Writer {
 public:
  explicit Writer(bool pretty) : pretty_(pretty) {}

  void Write(const Value& value) {
    if (value.IsString()) {
      AppendString(out_, value.AsString());
    } else if (value.IsList()) {
      WriteList(value.AsList());
    } else if (value.IsMap()) {
      WriteMap(value.AsMap());
    } else {
      AppendPlainScalar(out_, value);
    }
  }
  [[nodiscard]] std::string Take() { return std::move(out_); }

 private:
  void WriteList(const Value::List& list) {
    Begin('[');
    for (const Value& item : list) {
      Separate(&item == list.data());
      Write(item);
    }
    End(']', list.empty());
  }

  void WriteMap(const Value::Map& map) {
    Begin('{');
    for (const Member& member : map) {
      Separate(&member == map.data());
      AppendString(out_, member.key);
      out_ += pretty_ ? ": " : ":";
      Write(member.value);
    }
    End('}', map.empty());
  }

  void Begin(char bracket) {
    out_ += bracket;
    ++depth_;
  }

  void Separate(bool first) {
    if (!first) {
      out_ += ',';
    }
    Break();
  }

  void End(char bracket, bool empty) {
    --depth_;
    if (!empty) {
      Break();
    }
    out_ += bracket;
  }

  void Break() {
    if (pretty_) {
      out_ += '\n';
      out_.append(2 * depth_, ' ');
    }
  }

  std::string out_;
  size_t depth_ = 0;
  bool pretty_;
};

}  // namespace

std::string WriteJson(const Value& value) {
  Writer writer(false);
  writer.Write(value);
  return writer.Take();
}

std::string WritePrettyJson(const Value& value) {
  Writer writer(true);
  writer.Write(value);
  return writer.Take() + "\n";
}

}  // namespace caldera
