#include "controller/cli/issue_text.h"

#include "controller/cli/table.h"

namespace caldera {
namespace {

constexpr size_t kIndent = 6;

std::string PlaceOf(const Issue& issue) {
  std::string place = issue.file;
  if (issue.mark.line != 0) {
    place += ":" + std::to_string(issue.mark.line);
    place += issue.mark.column == 0 ? "" : ":" + std::to_string(issue.mark.column);
  }
  return place;
}

// `spec.minAvailable = 6`
std::string FieldAndValue(const Issue& issue) {
  return issue.value.empty() ? issue.field : issue.field + " = " + issue.value;
}

std::string Joined(std::initializer_list<std::string_view> parts) {
  std::string text;
  for (const std::string_view part : parts) {
    if (!part.empty()) {
      text.append(text.empty() ? "" : ": ").append(part);
    }
  }
  return text;
}

}  // namespace

std::string IssueLine(const Issue& issue) {
  return Harmless(Joined({PlaceOf(issue), issue.object, FieldAndValue(issue), issue.message}));
}

std::string IssueText(const Issue& issue, const Terminal& terminal, Paint paint) {
  std::string text = "  " + terminal.Painted(Harmless(issue.object), paint);
  const std::string place = PlaceOf(issue);
  if (!place.empty()) {
    text += (issue.object.empty() ? "" : "  ") + terminal.Painted(Harmless(place), Paint::kDim);
  }
  text += "\n";
  const std::string what = Harmless(Joined({FieldAndValue(issue), issue.message}));
  const size_t width = terminal.width > kIndent ? terminal.width - kIndent : 0;
  for (const std::string& line : Wrap(what, width)) {
    text += std::string(kIndent, ' ') + line + "\n";
  }
  return text;
}

}  // namespace caldera
