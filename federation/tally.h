// Sums of amounts that come back to exactly what they were: 128 bits inside, saturated only when
// read. What is charged and released again leaves no trace, however large it was. A value.
#pragma once

#include <cstdint>
#include <vector>

#include "federation/resources.h"

namespace caldera {

class Tally {
 public:
  void Add(const ResourceVector& amounts);
  /// Takes away what was added before.
  void Subtract(const ResourceVector& amounts);
  /// Saturated to [0, kUnlimited].
  [[nodiscard]] int64_t operator[](ResourceIndex r) const;
  [[nodiscard]] size_t size() const { return sums_.size(); }
  [[nodiscard]] ResourceVector ToVector() const;
  [[nodiscard]] bool IsZero() const;

 private:
  std::vector<Int128> sums_;
};

}  // namespace caldera
