#include "federation/lane_fifo.h"

namespace caldera {

LaneFifo::Cursor LaneFifo::Next(Cursor at) const {
  ++at.offset;
  if (at.offset >= chunks_[at.chunk].size()) {
    return {at.chunk + 1, 0};
  }
  return at;
}

void LaneFifo::Split(size_t chunk) {
  // Jobs mostly come at the end: a full last chunk stays full and a new one begins.
  const size_t keep = chunk + 1 == chunks_.size() ? kChunk : kChunk / 2;
  const auto middle = chunks_[chunk].begin() + static_cast<std::ptrdiff_t>(keep);
  std::vector<Item> tail(middle, chunks_[chunk].end());
  chunks_[chunk].erase(middle, chunks_[chunk].end());
  chunks_.insert(chunks_.begin() + static_cast<std::ptrdiff_t>(chunk) + 1, std::move(tail));
}

}  // namespace caldera
