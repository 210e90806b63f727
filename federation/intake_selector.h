// The text forms in which annotations name clusters: a Kubernetes label selector, and tolerations.
#pragma once

#include <string_view>
#include <vector>

#include "federation/model.h"
#include "federation/result.h"

namespace caldera {

/// A label selector as kubectl takes it: requirements joined by `,`, each `key`, `!key`,
/// `key=value`, `key==value`, `key!=value`, `key in (a,b)` or `key notin (a,b)`. Source of the
/// grammar: k8s.io/apimachinery pkg/labels. Error: kInvalid, naming the requirement and what would
/// be right.
Result<std::vector<LabelRequirement>> ParseLabelSelector(std::string_view text);

/// Tolerations joined by `,`, written as kubectl writes taints: `key` (any value, any effect),
/// `key:Effect`, `key=value`, `key=value:Effect`, and `*` (everything). Error: kInvalid.
Result<std::vector<Toleration>> ParseTolerations(std::string_view text);

/// The parts of a comma-separated list, without blanks around them; commas in parentheses do not
/// separate.
std::vector<std::string_view> SplitList(std::string_view text);

}  // namespace caldera
