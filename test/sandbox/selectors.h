// Label and field selectors of a list or a watch. Source of the grammar: k8s.io/apimachinery
// pkg/labels and pkg/fields. Values; pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "test/sandbox/answer.h"
#include "test/sandbox/store.h"

namespace caldera::sandbox {

struct Requirement {
  enum class Operator { kEquals, kNotEquals, kIn, kNotIn, kExists, kNotExists };
  std::string key;
  Operator op = Operator::kExists;
  std::vector<std::string> values;
};

class Selector {
 public:
  /// Either text may be empty. Refused: bad grammar, and fields that the kind cannot be selected
  /// by.
  static Answer<Selector> Parse(const Kind& kind, std::string_view labels, std::string_view fields);

  [[nodiscard]] bool Matches(const StoredObject& object) const;

 private:
  std::vector<Requirement> labels_;
  std::vector<Requirement> fields_;
};

}  // namespace caldera::sandbox
