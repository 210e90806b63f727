// Where in a table the entry with some key is: the table keeps entries and keys, this keeps hashes
// and indexes, eight bytes each. Open addressing; never walked, so the order of hashes is seen by
// nobody. A value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace caldera {

class HashIndex {
 public:
  static constexpr uint32_t kNone = std::numeric_limits<uint32_t>::max();

  /// Of the entries inserted with that hash, the one for which `equal(index)`; else kNone.
  template <typename Equal>
  [[nodiscard]] uint32_t Find(size_t hash, const Equal& equal) const {
    if (slots_.empty()) {
      return kNone;
    }
    const uint32_t mark = Fold(hash);
    for (size_t k = Home(mark); slots_[k].index != kNone; k = Next(k)) {
      if (slots_[k].hash == mark && equal(slots_[k].index)) {
        return slots_[k].index;
      }
    }
    return kNone;
  }
  /// The entry must not be in it.
  void Insert(size_t hash, uint32_t index);
  /// The entry must be in it, with that hash.
  void Erase(size_t hash, uint32_t index);

 private:
  struct Slot {
    uint32_t hash = 0;
    uint32_t index = kNone;
  };

  static uint32_t Fold(size_t hash) {
    return static_cast<uint32_t>((hash * 0x9E3779B97F4A7C15ULL) >> 32U);
  }
  [[nodiscard]] size_t Home(uint32_t hash) const { return hash & (slots_.size() - 1); }
  [[nodiscard]] size_t Next(size_t slot) const { return (slot + 1) & (slots_.size() - 1); }
  void Put(Slot slot);

  std::vector<Slot> slots_;  ///< A power of two, at least a quarter of them empty.
  size_t size_ = 0;
};

}  // namespace caldera
