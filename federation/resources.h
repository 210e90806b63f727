// Amounts of resources. Outside State they are a ResourceList (name -> amount); inside State, where
// every pass adds and compares them, a dense ResourceVector indexed by a ResourceCatalog.
// Amounts are int64: cpu (and requests.cpu, limits.cpu) in thousandths, all else in base units
// (bytes, devices, pods). All arithmetic saturates. Values, any thread.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "federation/quantity.h"

namespace caldera {

inline constexpr int64_t kUnlimited = std::numeric_limits<int64_t>::max();

/// Name -> amount, sorted by name. An explicit 0 is kept: in a limit, absent is unlimited and 0 is
/// none.
using ResourceList = std::map<std::string, int64_t, std::less<>>;

/// a + b, a - b, a * n without wrapping: they stop at the ends of int64. kUnlimited stays
/// kUnlimited.
inline int64_t SaturatingAdd(int64_t a, int64_t b) {
  int64_t sum = 0;
  if (a == kUnlimited || b == kUnlimited) {
    return kUnlimited;
  }
  if (__builtin_add_overflow(a, b, &sum)) {
    return a < 0 ? std::numeric_limits<int64_t>::min() : kUnlimited;
  }
  return sum;
}
inline int64_t SaturatingSub(int64_t a, int64_t b) {
  int64_t difference = 0;
  if (a == kUnlimited) {
    return kUnlimited;
  }
  if (__builtin_sub_overflow(a, b, &difference)) {
    return a < 0 ? std::numeric_limits<int64_t>::min() : kUnlimited;
  }
  return difference;
}
int64_t SaturatingMul(int64_t a, int64_t n);

/// True where amounts of this resource are thousandths (cpu).
bool IsMilli(std::string_view resource);
/// Bytes: memory, ephemeral-storage, storage, hugepages-*: printed with binary suffixes.
bool IsBytes(std::string_view resource);
/// A thing that is handed out whole: an extended resource such as nvidia.com/gpu.
bool IsDevice(std::string_view resource);

/// The amount of a parsed quantity, in this resource's unit, rounded up (requests) or down
/// (capacity).
int64_t RequestAmount(std::string_view resource, const Quantity& quantity);
int64_t CapacityAmount(std::string_view resource, const Quantity& quantity);
/// The canonical quantity text of an amount: cpu 1500 -> `1500m`, memory 1073741824 -> `1Gi`,
/// kUnlimited -> `unlimited`.
std::string FormatAmount(std::string_view resource, int64_t amount);

/// into += from, per name, saturating.
void AddTo(ResourceList& into, const ResourceList& from);
/// list * n, saturating.
ResourceList Times(const ResourceList& list, int64_t n);

/// Position of a resource in every ResourceVector of one State. Assigned in order of first sight,
/// so nothing that is seen outside may depend on it: order by name instead.
using ResourceIndex = uint32_t;

class ResourceCatalog {
 public:
  /// The index of `name`, new if it was not there. Never fails; indexes are never reused.
  ResourceIndex Intern(std::string_view name);
  /// The index of `name`, or nullopt-like kNone.
  static constexpr ResourceIndex kNone = std::numeric_limits<ResourceIndex>::max();
  [[nodiscard]] ResourceIndex Find(std::string_view name) const;
  [[nodiscard]] const std::string& Name(ResourceIndex index) const { return names_[index]; }
  [[nodiscard]] size_t size() const { return names_.size(); }
  /// All indexes, by name: the order for anything that is printed or decides a tie.
  [[nodiscard]] const std::vector<ResourceIndex>& ByName() const { return by_name_; }

 private:
  std::vector<std::string> names_;
  std::vector<ResourceIndex> by_name_;
  std::map<std::string, ResourceIndex, std::less<>> index_;
};

/// int64 by ResourceIndex; entries beyond size() are kAbsent, so that values made before a resource
/// was interned stay valid. The first eight need no allocation: a round makes and copies millions.
template <int64_t kAbsent>
class DenseAmounts {
 public:
  DenseAmounts() { few_.fill(kAbsent); }
  [[nodiscard]] int64_t operator[](ResourceIndex r) const {
    return r < kFew ? few_[r] : r - kFew < more_.size() ? more_[r - kFew] : kAbsent;
  }
  void Set(ResourceIndex r, int64_t amount) {
    Widen(size_t{r} + 1);
    At(r) = amount;
  }
  [[nodiscard]] size_t size() const { return size_; }

 protected:
  [[nodiscard]] int64_t& At(ResourceIndex r) { return r < kFew ? few_[r] : more_[r - kFew]; }
  /// At least that size.
  void Widen(size_t size) {
    if (size > size_) {
      size_ = size;
      if (size > kFew) {
        more_.resize(size - kFew, kAbsent);
      }
    }
  }

 private:
  static constexpr size_t kFew = 8;

  std::array<int64_t, kFew> few_;
  size_t size_ = 0;
  std::vector<int64_t> more_;
};

/// Dense amounts; what is absent is 0.
class ResourceVector : public DenseAmounts<0> {
 public:
  void Add(const ResourceVector& other);
  void Subtract(const ResourceVector& other);
  void AddTimes(const ResourceVector& other, int64_t n);
  /// Elementwise this <= other. Not an order: two vectors can each fail to fit in the other.
  [[nodiscard]] bool FitsIn(const ResourceVector& other) const;
  [[nodiscard]] bool IsZero() const;
  /// By value: trailing zeros do not matter.
  friend bool operator==(const ResourceVector& a, const ResourceVector& b);
};

/// Dense limits: what is absent and entries of kUnlimited are no limit; 0 is none.
class ResourceLimits : public DenseAmounts<kUnlimited> {
 public:
  /// Keeps the smaller of both, per resource.
  void Tighten(const ResourceLimits& other);
};

ResourceVector ToVector(ResourceCatalog& catalog, const ResourceList& list);
ResourceLimits ToLimits(ResourceCatalog& catalog, const ResourceList& list);
/// Only the entries that are not 0.
ResourceList ToList(const ResourceCatalog& catalog, const ResourceVector& vector);

}  // namespace caldera
