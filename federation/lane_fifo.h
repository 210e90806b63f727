// The candidates of one lane, oldest first (creation, then uid). A list of sorted chunks: jobs
// usually come at the end, and a relist may bring them in any order; both cost a short move. An
// intrusive list would need them in order, a std::set costs three times the memory and time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "federation/time.h"

namespace caldera {

class LaneFifo {
 public:
  struct Item {
    Time creation;
    uint32_t job = 0;
    uint32_t job_class = 0;  ///< A round passes over many of a class without a look at the job.
  };
  /// A place in the list; valid until the list changes.
  struct Cursor {
    uint32_t chunk = 0;
    uint32_t offset = 0;
  };

  /// `settle(a, b)`, true where job a goes before job b, settles equal creation times. The job must
  /// not be in the list.
  template <typename Settle>
  void Insert(Item item, const Settle& settle) {
    const auto before = [&](const Item& a, const Item& b) { return Before(a, b, settle); };
    const size_t c = ChunkFor(item, before);
    auto& chunk = chunks_[c];
    chunk.insert(std::upper_bound(chunk.begin(), chunk.end(), item, before), item);
    ++size_;
    if (chunk.size() > kChunk) {
      Split(c);
    }
  }
  /// Takes the job out; it must be in the list.
  template <typename Settle>
  void Erase(Item item, const Settle& settle) {
    const auto before = [&](const Item& a, const Item& b) { return Before(a, b, settle); };
    const size_t c = ChunkFor(item, before);
    auto& chunk = chunks_[c];
    chunk.erase(std::lower_bound(chunk.begin(), chunk.end(), item, before));
    --size_;
    if (chunk.empty()) {
      chunks_.erase(chunks_.begin() + static_cast<std::ptrdiff_t>(c));
    }
  }

  [[nodiscard]] size_t size() const { return size_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] bool AtEnd(Cursor at) const { return at.chunk >= chunks_.size(); }
  [[nodiscard]] const Item& At(Cursor at) const { return chunks_[at.chunk][at.offset]; }
  [[nodiscard]] Cursor Next(Cursor at) const;

 private:
  static constexpr size_t kChunk = 1024;

  template <typename Settle>
  static bool Before(const Item& a, const Item& b, const Settle& settle) {
    if (a.creation != b.creation) {
      return a.creation < b.creation;
    }
    return settle(a.job, b.job);
  }
  /// The last chunk whose first item is not after `item`, else the first; there is always one.
  template <typename Less>
  size_t ChunkFor(const Item& item, const Less& before) {
    if (chunks_.empty()) {
      chunks_.emplace_back();
      return 0;
    }
    const auto after = std::upper_bound(chunks_.begin(), chunks_.end(), item,
                                        [&](const Item& a, const std::vector<Item>& b) {
                                          return !b.empty() && before(a, b.front());
                                        });
    const auto index = after - chunks_.begin();
    return index == 0 ? 0 : static_cast<size_t>(index - 1);
  }
  void Split(size_t chunk);

  std::vector<std::vector<Item>> chunks_;  ///< None empty, between calls.
  size_t size_ = 0;
};

}  // namespace caldera
