// Why something may not go, as far as one pass knows it: a verdict, a sentence, the figures. What
// every pass answers when explain asks; the planner itself only needs yes or no.
#pragma once

#include <string>
#include <vector>

#include "federation/verdict.h"

namespace caldera {

struct Reason {
  Verdict verdict = Verdict::kNone;  ///< kNone: nothing is in the way.
  std::string message;
  std::vector<Figure> figures;
};

}  // namespace caldera
