// An Issue for people, in the form that editors and compilers made a habit: FILE:LINE:COLUMN first.
#pragma once

#include <string>

#include "controller/cli/terminal.h"
#include "federation/document.h"

namespace caldera {

/// `jobs.yaml:9:17: Job/team-a/train: spec.minAvailable = 6: what is wrong`, one line, no newline.
/// Parts that the issue does not have are left out.
std::string IssueLine(const Issue& issue);

/// Two lines for a listing: where and what object, then field and message, indented below it.
std::string IssueText(const Issue& issue, const Terminal& terminal, Paint paint);

}  // namespace caldera
