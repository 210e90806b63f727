// Reading a Value field by field with exact complaints: every accessor that finds the wrong type or
// range adds an Issue naming object, file, line, field, value and what would be right, and goes on,
// so that one pass reports everything that is wrong. Used by intake only; one thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "federation/document.h"
#include "federation/resources.h"

namespace caldera {

/// Longer lists and maps are refused, and more complaints about one object are not listed: what a
/// stranger sends must not grow without bound.
inline constexpr size_t kListMax = 10'000;
inline constexpr size_t kIssuesMax = 100;

/// Collects the Issues of one object.
struct IssueSink {
  std::string object;
  std::string file;
  std::vector<Issue> errors;
  std::vector<Issue> warnings;
};

/// A place in a document: a value (or its absence) and the path to it. Cheap to copy; borrows the
/// Value and the sink, which must outlive it.
class Field {
 public:
  Field(const Value* value, std::string path, Mark near, IssueSink& sink)
      : value_(value), path_(std::move(path)), near_(near), sink_(&sink) {}

  /// Absent and null are the same, as in the API.
  [[nodiscard]] bool Present() const { return value_ != nullptr && !value_->IsNull(); }
  [[nodiscard]] const Value* value() const { return value_; }
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] IssueSink& sink() const { return *sink_; }

  /// A member of a map. Of an absent field, or of one that is no map (reported by Map()): absent.
  [[nodiscard]] Field operator[](std::string_view key) const;
  /// The same for a map whose keys are the user's (resources, labels): `spec.capability[cpu]`.
  [[nodiscard]] Field Entry(std::string_view key) const;

  // Absent: nullopt / empty, without a complaint. Wrong kind: an error.
  [[nodiscard]] std::optional<std::string> String() const;
  [[nodiscard]] std::optional<bool> Bool() const;
  /// A whole number in [min, max]; a fraction or a number outside is an error that names the range.
  [[nodiscard]] std::optional<int64_t> Integer(int64_t min, int64_t max) const;
  [[nodiscard]] std::vector<Field> Items() const;
  [[nodiscard]] std::vector<std::pair<std::string, Field>> Members() const;
  /// A map of strings to strings (labels, annotations); keys in input order.
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> Strings() const;
  /// A list of strings.
  [[nodiscard]] std::vector<std::string> StringList() const;
  /// An int-or-string quantity.
  [[nodiscard]] std::optional<Quantity> AsQuantity() const;
  /// A map of resource names to quantities: none negative, whole where the resource is handed out
  /// whole (devices, pods).
  [[nodiscard]] std::map<std::string, Quantity, std::less<>> Quantities() const;
  /// Quantities() as amounts; `up` rounds up (requests), else down.
  [[nodiscard]] ResourceList Resources(bool up) const;
  /// An error unless absent or a map. Often called for the complaint alone.
  bool IsMapOrAbsent() const;  // NOLINT(modernize-use-nodiscard)

  /// Adds an error / a warning at this field.
  void Refuse(std::string message) const;
  void Warn(std::string message) const;

 private:
  [[nodiscard]] Field Below(std::string_view key, std::string path) const;
  /// Two checks may look at one field: the same complaint is kept once.
  void AddOnce(std::vector<Issue>& issues, std::string message) const;
  [[nodiscard]] Issue MakeIssue(std::string message) const;

  const Value* value_;
  std::string path_;
  Mark near_;  ///< Where the nearest thing that is there stands, for absent fields.
  IssueSink* sink_;
};

}  // namespace caldera
