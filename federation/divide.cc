#include "federation/divide.h"

#include <algorithm>

#include "federation/quantity.h"

namespace caldera {

namespace {

/// One by one, to the largest weight / (2 * given + 1).
void GiveOneByOne(int64_t left, const std::vector<Claim>& parts, std::vector<int64_t>& given) {
  for (; left > 0; --left) {
    size_t best = parts.size();
    for (size_t i = 0; i < parts.size(); ++i) {
      if (parts[i].weight <= 0 || given[i] >= parts[i].most) {
        continue;
      }
      if (best == parts.size()) {
        best = i;
        continue;
      }
      const Int128 mine = Int128{parts[i].weight} * (2 * Int128{given[best]} + 1);
      const Int128 theirs = Int128{parts[best].weight} * (2 * Int128{given[i]} + 1);
      if (mine > theirs || (mine == theirs && given[i] < given[best])) {
        best = i;
      }
    }
    if (best == parts.size()) {
      return;
    }
    ++given[best];
  }
}

}  // namespace

std::vector<int64_t> DivideByWeight(int64_t total, const std::vector<Claim>& parts) {
  std::vector<int64_t> given(parts.size(), 0);
  std::vector<bool> full(parts.size(), false);
  int64_t left = total;
  // All claims above one average at once, which leaves no more than one for each part; again where
  // somebody is full by then.
  for (bool again = true; again;) {
    again = false;
    Int128 weights = 0;
    int64_t open = 0;
    int64_t rest = total;
    for (size_t i = 0; i < parts.size(); ++i) {
      if (full[i]) {
        rest -= parts[i].most;
      } else if (parts[i].weight > 0) {
        weights += parts[i].weight;
        ++open;
      }
    }
    const int64_t sure = rest - (open + 1) / 2;
    left = rest;
    for (size_t i = 0; i < parts.size(); ++i) {
      if (full[i]) {
        given[i] = parts[i].most;
        continue;
      }
      given[i] = 0;
      if (parts[i].weight > 0 && sure > 0) {
        const Int128 seats = (2 * Int128{parts[i].weight} * sure + weights) / (2 * weights);
        if (seats >= parts[i].most) {
          full[i] = true;
          again = true;
        }
        given[i] = static_cast<int64_t>(std::min<Int128>(seats, parts[i].most));
      }
      left -= given[i];
    }
  }
  GiveOneByOne(left, parts, given);
  return given;
}

}  // namespace caldera
