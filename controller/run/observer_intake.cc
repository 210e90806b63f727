#include "controller/run/observer_intake.h"

#include <algorithm>
#include <utility>

#include "federation/intake.h"

namespace caldera {

std::string Complaints(const std::vector<Issue>& errors) {
  constexpr size_t kShown = 3;
  std::string text;
  for (size_t i = 0; i < std::min(errors.size(), kShown); ++i) {
    const Issue& error = errors[i];
    text += (text.empty() ? "" : "; ") + error.field +
            (error.value.empty() ? "" : " (" + error.value + ")") + " " + error.message;
  }
  if (errors.size() > kShown) {
    text += "; and " + std::to_string(errors.size() - kShown) + " more";
  }
  return text;
}

Taken TakeStored(Value&& object, Time now) {
  Document document;
  document.root = std::move(object);
  Intake intake = TakeObject(document, Strictness::kStored, now);
  if (intake.change.has_value()) {
    return {std::move(intake.change), {}};
  }
  if (!intake.known) {
    return {std::nullopt, "is of a kind or version that Caldera does not read"};
  }
  return {std::nullopt, Complaints(intake.errors)};
}

}  // namespace caldera
