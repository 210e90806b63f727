// The index of jobs by key, and what most entries have not.
#include "federation/hash_index.h"

#include <doctest/doctest.h>

#include <map>
#include <random>
#include <string>
#include <vector>

#include "federation/rare.h"

namespace caldera {
namespace {

TEST_CASE("hash index: it finds what a map finds, whatever came and went") {
  for (const size_t spread : {size_t{1}, size_t{3}, size_t{1'000'000}}) {  // All hashes alike, too.
    CAPTURE(spread);
    std::mt19937 random(7);
    HashIndex index;
    std::map<uint32_t, size_t> there;  // Entry to hash.
    const auto find = [&](uint32_t entry, size_t hash) {
      return index.Find(hash, [&](uint32_t other) { return other == entry; });
    };
    for (int step = 0; step < 5'000; ++step) {
      const auto entry = static_cast<uint32_t>(random() % 300);
      const size_t hash = size_t{entry} * 2'654'435'761U % spread;
      if (there.contains(entry)) {
        index.Erase(hash, entry);
        there.erase(entry);
        CHECK(find(entry, hash) == HashIndex::kNone);
      } else {
        index.Insert(hash, entry);
        there.emplace(entry, hash);
      }
      const auto other = static_cast<uint32_t>(random() % 300);
      const size_t other_hash = size_t{other} * 2'654'435'761U % spread;
      CHECK(find(other, other_hash) == (there.contains(other) ? other : HashIndex::kNone));
    }
    for (const auto& [entry, hash] : there) {
      CHECK(find(entry, hash) == entry);
    }
  }
}

TEST_CASE("rare: a copy is its own, and nothing is nothing") {
  Rare<std::string> one(std::string("a"));
  Rare<std::string> two = one;
  *two += "b";
  CHECK(*one == "a");
  CHECK(*two == "ab");
  one.reset();
  two = one;
  CHECK_FALSE(two.has_value());
}

}  // namespace
}  // namespace caldera
