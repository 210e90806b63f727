// Random numbers that are the same on every machine and with every library: SplitMix64 (Steele, Lea
// and Flood, 2014) and, from it, spans of time in integer arithmetic alone. Used by the workload
// generator of `caldera simulate`. Values.
#pragma once

#include <cstdint>

namespace caldera {

class Random {
 public:
  /// Streams of one seed have nothing to do with each other.
  Random(uint64_t seed, uint64_t stream);
  uint64_t Next();
  /// Uniform in [0, n); n > 0.
  uint64_t Below(uint64_t n);

 private:
  uint64_t state_;
};

/// log2(x) in fixed point of 32 fraction bits, x > 0; off by less than 2^-31.
int64_t Log2Q32(uint64_t x);
/// amount * 2^(exponent / 2^32), saturating; amount >= 0.
int64_t TimesExp2Q32(int64_t amount, int64_t exponent);

/// How long something takes, in nanoseconds: always the same, or drawn.
class SpanLaw {
 public:
  enum class Kind : uint8_t { kFixed, kUniform, kExponential, kLognormal };

  static SpanLaw Fixed(int64_t nanos) { return {Kind::kFixed, nanos, 0}; }
  /// In [least, most].
  static SpanLaw Uniform(int64_t least, int64_t most) { return {Kind::kUniform, least, most}; }
  static SpanLaw Exponential(int64_t mean) { return {Kind::kExponential, mean, 0}; }
  /// exp of a normal variable, for which the sum of twelve uniform ones is taken: never beyond six
  /// times `sigma_milli` / 1000 on either side.
  static SpanLaw Lognormal(int64_t median, int64_t sigma_milli) {
    return {Kind::kLognormal, median, sigma_milli};
  }

  /// At least 0.
  [[nodiscard]] int64_t Draw(Random& random) const;

 private:
  SpanLaw(Kind kind, int64_t a, int64_t b) : kind_(kind), a_(a), b_(b) {}
  Kind kind_;
  int64_t a_;
  int64_t b_;
};

}  // namespace caldera
