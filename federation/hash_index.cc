#include "federation/hash_index.h"

#include <algorithm>

namespace caldera {

void HashIndex::Put(Slot slot) {
  size_t k = Home(slot.hash);
  while (slots_[k].index != kNone) {
    k = Next(k);
  }
  slots_[k] = slot;
}

void HashIndex::Insert(size_t hash, uint32_t index) {
  if (4 * (size_ + 1) > 3 * slots_.size()) {
    const std::vector<Slot> before =
        std::exchange(slots_, std::vector<Slot>(std::max<size_t>(2 * slots_.size(), 8)));
    for (const Slot& slot : before) {
      if (slot.index != kNone) {
        Put(slot);
      }
    }
  }
  Put({Fold(hash), index});
  ++size_;
}

void HashIndex::Erase(size_t hash, uint32_t index) {
  size_t hole = Home(Fold(hash));
  while (slots_[hole].index != index) {
    hole = Next(hole);
  }
  --size_;
  // Whatever a search would not find behind the hole moves into it.
  for (size_t k = Next(hole); slots_[k].index != kNone; k = Next(k)) {
    const size_t from_home = (k - Home(slots_[k].hash)) & (slots_.size() - 1);
    const size_t from_hole = (k - hole) & (slots_.size() - 1);
    if (from_home >= from_hole) {
      slots_[hole] = slots_[k];
      hole = k;
    }
  }
  slots_[hole] = {};
}

}  // namespace caldera
