// JSON to documents: the same trees as the YAML reader builds. Numbers that are no int64 keep their
// text. Several objects may follow one another (JSON lines). Marks count lines from 1 and columns
// in bytes from 1. Any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "controller/kube/reading.h"
#include "federation/result.h"

namespace caldera {

/// Reads every document in `text` and hands it to `visit` as soon as it is complete. What is wrong
/// goes to `report` with line, column, field and what would be right; a syntax error ends reading.
void ReadJson(std::string_view text, const std::string& file, const DocumentVisitor& visit,
              ReadReport& report);

enum class JsonKeep : uint8_t {
  kAll,
  /// Without `metadata.managedFields` and the annotation of `kubectl apply`, which nobody reads and
  /// which are most of many an object: they are never built.
  kWhatIsRead,
};

/// One JSON value, as an API server answers: nothing may follow it, and a list stays a list.
/// Error: kInvalid with line, column and what is wrong.
Result<Value> ParseJson(std::string_view text, JsonKeep keep = JsonKeep::kAll);

}  // namespace caldera
