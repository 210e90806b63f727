// Kubernetes quantities, exactly: never through a double. Source of the contract:
// k8s.io/apimachinery pkg/api/resource (grammar, canonical form, rounding).
// Value type, any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "federation/result.h"

namespace caldera {

__extension__ using Int128 = __int128;

/// An exact decimal number of nano-units with the suffix family it was written in.
/// Bounds: |value| <= 10^27, enough for every amount that a cluster can hold; beyond is refused.
class Quantity {
 public:
  enum class Format { kDecimalSI, kBinarySI, kDecimalExponent };

  Quantity() = default;
  /// `nano` = value * 10^9.
  Quantity(Int128 nano, Format format) : nano_(nano), format_(format) {}

  /// Parses one quantity as the API server does: finer than 1n rounds away from zero, exponents are
  /// bounded, "", ".", "1 Gi", "1e1.5", "NaN" are refused. Error: kInvalid with the text (cut to 64
  /// characters) and what would be right.
  static Result<Quantity> Parse(std::string_view text);

  [[nodiscard]] Int128 Nano() const { return nano_; }
  [[nodiscard]] Format format() const { return format_; }
  [[nodiscard]] bool Negative() const { return nano_ < 0; }
  /// True for a whole number of units.
  [[nodiscard]] bool Whole() const;

  /// Units, rounded away from zero (requests round up), saturating at the ends of int64.
  [[nodiscard]] int64_t Value() const;
  /// Thousandths, rounded away from zero, saturating.
  [[nodiscard]] int64_t MilliValue() const;
  /// Units / thousandths rounded towards zero: for capacities, which round down.
  [[nodiscard]] int64_t ValueFloor() const;
  [[nodiscard]] int64_t MilliFloor() const;

  /// The canonical text: no fraction, the largest suffix that keeps it whole. `1.5Gi` -> `1536Mi`.
  [[nodiscard]] std::string Canonical() const;

  /// Keeps the left format unless the left is zero. Saturates at the bounds.
  friend Quantity operator+(const Quantity& a, const Quantity& b);
  /// By value: `1000m` == `1`.
  friend bool operator==(const Quantity& a, const Quantity& b) { return a.nano_ == b.nano_; }
  friend bool operator<(const Quantity& a, const Quantity& b) { return a.nano_ < b.nano_; }

 private:
  Int128 nano_ = 0;
  Format format_ = Format::kDecimalSI;
};

}  // namespace caldera
