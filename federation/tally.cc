#include "federation/tally.h"

#include <algorithm>

namespace caldera {

void Tally::Add(const ResourceVector& amounts) {
  if (amounts.size() > sums_.size()) {
    sums_.resize(amounts.size(), 0);
  }
  for (ResourceIndex r = 0; r < amounts.size(); ++r) {
    sums_[r] += amounts[r];
  }
}

void Tally::Subtract(const ResourceVector& amounts) {
  if (amounts.size() > sums_.size()) {
    sums_.resize(amounts.size(), 0);
  }
  for (ResourceIndex r = 0; r < amounts.size(); ++r) {
    sums_[r] -= amounts[r];
  }
}

int64_t Tally::operator[](ResourceIndex r) const {
  if (r >= sums_.size()) {
    return 0;
  }
  return static_cast<int64_t>(std::clamp<Int128>(sums_[r], 0, kUnlimited));
}

ResourceVector Tally::ToVector() const {
  ResourceVector amounts;
  for (ResourceIndex r = 0; r < sums_.size(); ++r) {
    if (const int64_t amount = (*this)[r]; amount != 0) {
      amounts.Set(r, amount);
    }
  }
  return amounts;
}

bool Tally::IsZero() const {
  return std::all_of(sums_.begin(), sums_.end(), [](Int128 sum) { return sum == 0; });
}

}  // namespace caldera
