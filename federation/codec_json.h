// How codec.cc and codec_placement.cc read and write JSON: by the field lists of codec_fields.h,
// with complaints that name what and where. The only place in federation/ that sees RapidJSON.
// Nothing here throws; hostile text ends in an Error (depth, types, ranges, duplicate keys).
#pragma once

#include <array>
#include <exception>
#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "federation/assert.h"
#include "federation/codec_fields.h"
#include "federation/result.h"

// RapidJSON's asserts guard against our own mistakes; as an exception they end in an Error at
// Parse() instead of ending the process.
#define RAPIDJSON_ASSERT(condition) \
  (static_cast<bool>(condition) ? static_cast<void>(0) : throw std::logic_error(#condition))
#define RAPIDJSON_HAS_STDSTRING 1
#include <rapidjson/document.h>
#include <rapidjson/error/en.h>
#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

namespace caldera::codec {

using Json = rapidjson::Value;
using Writer = rapidjson::Writer<rapidjson::StringBuffer>;

/// The deepest value there is has 9 levels (a Job's node affinity); the rest is not ours.
constexpr int kDepthMax = 32;

// ------------------------------------------------------------------------------------ writing

inline void WriteString(Writer& writer, std::string_view text) {
  writer.String(text.data(), static_cast<rapidjson::SizeType>(text.size()));
}
inline void WriteKey(Writer& writer, std::string_view text) {
  writer.Key(text.data(), static_cast<rapidjson::SizeType>(text.size()));
}

template <class T>
void Write(Writer& writer, const T& value);

template <class T>
const T& DefaultOf() {
  static const T kDefault{};
  return kDefault;
}

/// The fields of `value` that differ from the defaults of its type.
template <class T>
void WriteFields(Writer& writer, const T& value) {
  const T& defaults = DefaultOf<T>();
  ForEachField<T>([&](const auto& entry) {
    const auto& field = value.*(entry.member);
    if (!Same(field, defaults.*(entry.member))) {
      WriteKey(writer, entry.name);
      Write(writer, field);
    }
  });
}

template <class T>
std::string_view NameOf(T value) {
  for (const auto& [known, name] : NamesOf(static_cast<const T*>(nullptr))) {
    if (known == value) {
      return name;
    }
  }
  CALDERA_ASSERT(false && "an enumerator without a name in codec_fields.h");
  return {};
}

template <class T>
void Write(Writer& writer, const T& value) {
  if constexpr (HasFields<T>) {
    writer.StartObject();
    WriteFields(writer, value);
    writer.EndObject();
  } else if constexpr (HasNames<T>) {
    WriteString(writer, NameOf(value));
  } else if constexpr (kIsVector<T>) {
    writer.StartArray();
    for (const auto& item : value) {
      Write(writer, item);
    }
    writer.EndArray();
  } else if constexpr (kIsMap<T>) {
    writer.StartObject();
    for (const auto& [key, item] : value) {
      WriteKey(writer, key);
      Write(writer, item);
    }
    writer.EndObject();
  } else if constexpr (kIsOptional<T>) {
    Write(writer, *value);  // An empty one equals its default, which is never written.
  } else if constexpr (std::is_same_v<T, std::string>) {
    WriteString(writer, value);
  } else if constexpr (std::is_same_v<T, bool>) {
    writer.Bool(value);
  } else if constexpr (std::is_same_v<T, Time>) {
    writer.Int64(value.time_since_epoch().count());
  } else if constexpr (std::is_same_v<T, Millis>) {
    writer.Int64(value.count());
  } else {
    static_assert(std::is_same_v<T, int32_t> || std::is_same_v<T, int64_t>);
    writer.Int64(value);
  }
}

// ------------------------------------------------------------------------------------ reading

inline std::string_view TextOf(const Json& json) {
  return {json.GetString(), json.GetStringLength()};
}

inline std::string_view TypeName(const Json& json) {
  switch (json.GetType()) {
    case rapidjson::kNullType:
      return "null";
    case rapidjson::kFalseType:
    case rapidjson::kTrueType:
      return "a boolean";
    case rapidjson::kObjectType:
      return "an object";
    case rapidjson::kArrayType:
      return "a list";
    case rapidjson::kStringType:
      return "a string";
    case rapidjson::kNumberType:
      return "a number";
  }
  return "something else";
}

inline std::string Cut(std::string_view text) {
  constexpr size_t kShown = 64;
  return text.size() <= kShown ? std::string(text) : std::string(text.substr(0, kShown)) + "...";
}

/// What is wrong and where. The deepest reader says what; each level above adds its part in front.
class Complaint {
 public:
  bool Expected(std::string_view what, const Json& found) {
    return Say("expected " + std::string(what) + ", found " + std::string(TypeName(found)));
  }
  bool Say(std::string message) {
    message_ = std::move(message);
    return false;
  }
  bool At(std::string_view key) {
    path_ = Cut(key) + (path_.empty() || path_.front() == '[' ? "" : ".") + path_;
    return false;
  }
  bool At(size_t index) {
    const std::string part = "[" + std::to_string(index) + "]";
    path_ = part + (path_.empty() || path_.front() == '[' ? "" : ".") + path_;
    return false;
  }
  [[nodiscard]] std::string Text() const {
    return path_.empty() ? message_ : path_ + ": " + message_;
  }

 private:
  std::string path_;
  std::string message_;
};

template <class T>
bool Read(const Json& json, T& value, Complaint& complaint);

template <class T>
bool ReadInteger(const Json& json, T& value, Complaint& complaint) {
  if (!json.IsInt64()) {
    return json.IsNumber() ? complaint.Say("expected a whole number of 64 bits")
                           : complaint.Expected("a whole number", json);
  }
  const int64_t wide = json.GetInt64();
  if (wide < std::numeric_limits<T>::min() || wide > std::numeric_limits<T>::max()) {
    return complaint.Say(std::to_string(wide) + " is outside of " +
                         std::to_string(std::numeric_limits<T>::min()) + ".." +
                         std::to_string(std::numeric_limits<T>::max()));
  }
  value = static_cast<T>(wide);
  return true;
}

template <class T>
bool ReadName(const Json& json, T& value, Complaint& complaint) {
  if (!json.IsString()) {
    return complaint.Expected("a name", json);
  }
  std::string all;
  for (const auto& [known, name] : NamesOf(static_cast<const T*>(nullptr))) {
    if (name == TextOf(json)) {
      value = known;
      return true;
    }
    all += (all.empty() ? "" : ", ") + std::string(name);
  }
  return complaint.Say("`" + Cut(TextOf(json)) + "` is none of " + all);
}

template <class T>
bool ReadList(const Json& json, std::vector<T>& value, Complaint& complaint) {
  if (!json.IsArray()) {
    return complaint.Expected("a list", json);
  }
  value.clear();
  value.reserve(json.Size());
  for (rapidjson::SizeType i = 0; i < json.Size(); ++i) {
    if (!Read(json[i], value.emplace_back(), complaint)) {
      return complaint.At(size_t{i});
    }
  }
  return true;
}

template <class T>
bool ReadMap(const Json& json, T& value, Complaint& complaint) {
  if (!json.IsObject()) {
    return complaint.Expected("an object", json);
  }
  value.clear();
  for (const auto& member : json.GetObject()) {
    const auto [at, fresh] =
        value.emplace(std::string(TextOf(member.name)), typename T::mapped_type{});
    if (!fresh) {
      return complaint.Say("the key `" + Cut(at->first) + "` stands twice");
    }
    if (!Read(member.value, at->second, complaint)) {
      return complaint.At(at->first);
    }
  }
  return true;
}

/// Reads every member of `json` but one `skip` into the field of that name; the others keep their
/// defaults.
template <class T>
bool ReadFields(const Json& json, T& value, Complaint& complaint, std::string_view skip = {}) {
  if (!json.IsObject()) {
    return complaint.Expected("an object", json);
  }
  uint64_t seen = 0;
  bool skipped = false;
  for (const auto& member : json.GetObject()) {
    const std::string_view key = TextOf(member.name);
    if (!skip.empty() && key == skip && !std::exchange(skipped, true)) {
      continue;
    }
    bool known = false;
    bool good = true;
    uint64_t bit = 1;
    ForEachField<T>([&](const auto& entry) {
      if (!known && entry.name == key) {
        known = true;
        good = (seen & bit) == 0 ? Read(member.value, value.*(entry.member), complaint)
                                 : complaint.Say("the field stands twice");
        seen |= bit;
      }
      bit <<= 1U;
    });
    if (!known) {
      good = complaint.Say("unknown field");
    }
    if (!good) {
      return complaint.At(key);
    }
  }
  return true;
}

template <class T>
bool Read(const Json& json, T& value, Complaint& complaint) {
  if constexpr (HasFields<T>) {
    return ReadFields(json, value, complaint);
  } else if constexpr (HasNames<T>) {
    return ReadName(json, value, complaint);
  } else if constexpr (kIsVector<T>) {
    return ReadList(json, value, complaint);
  } else if constexpr (kIsMap<T>) {
    return ReadMap(json, value, complaint);
  } else if constexpr (kIsOptional<T>) {
    return Read(json, value.emplace(), complaint);
  } else if constexpr (std::is_same_v<T, std::string>) {
    if (!json.IsString()) {
      return complaint.Expected("a string", json);
    }
    value = TextOf(json);
    return true;
  } else if constexpr (std::is_same_v<T, bool>) {
    if (!json.IsBool()) {
      return complaint.Expected("a boolean", json);
    }
    value = json.GetBool();
    return true;
  } else if constexpr (std::is_same_v<T, Time> || std::is_same_v<T, Millis>) {
    int64_t count = 0;
    const bool good = ReadInteger(json, count, complaint);
    value = T(Millis(count));
    return good;
  } else {
    return ReadInteger(json, value, complaint);
  }
}

/// Levels of brackets outside of strings; good enough to bound the parser and all that recurses
/// over its result.
inline bool TooDeep(std::string_view text) {
  int depth = 0;
  bool in_string = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      i += c == '\\' ? 1 : 0;
      in_string = c != '"';
    } else if (c == '"') {
      in_string = true;
    } else if (c == '{' || c == '[') {
      if (++depth > kDepthMax) {
        return true;
      }
    } else if (c == '}' || c == ']') {
      --depth;
    }
  }
  return false;
}

/// Parses `text` and calls read(json, complaint); what either complains of is the Error.
template <class Fn>
Status Parse(std::string_view text, ErrorCode code, Fn&& read) {
  if (TooDeep(text)) {
    return Fail(code, "nested deeper than " + std::to_string(kDepthMax) + " levels");
  }
  try {
    // Most values fit in here, so that reading a journal does not go to the heap for its DOM.
    std::array<char, 16384> room;  // NOLINT(cppcoreguidelines-pro-type-member-init)
    rapidjson::MemoryPoolAllocator<> pool(room.data(), room.size());
    rapidjson::Document document(&pool);
    document.Parse<rapidjson::kParseIterativeFlag | rapidjson::kParseValidateEncodingFlag>(
        text.data(), text.size());
    if (document.HasParseError()) {
      return Fail(code, "no JSON at byte " + std::to_string(document.GetErrorOffset()) + ": " +
                            rapidjson::GetParseError_En(document.GetParseError()));
    }
    Complaint complaint;
    if (!read(document, complaint)) {
      return Fail(code, complaint.Text());
    }
    return {};
  } catch (const std::exception& error) {
    return Fail(ErrorCode::kInternal, std::string("JSON: ") + error.what());
  }
}

inline std::string Take(const rapidjson::StringBuffer& buffer) {
  return {buffer.GetString(), buffer.GetSize()};
}

}  // namespace caldera::codec
