// What is charged now, per queue, tenant, cluster and resource: the sum over the open rows of
// `shards`. Kept in memory in 128 bits, so that a balance returns exactly to 0 whatever amounts
// came and went; the table `charges` holds them saturated to int64. Changes are staged, and become
// true only once their transaction was committed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "federation/hash_index.h"
#include "federation/resources.h"
#include "federation/result.h"
#include "storage/database.h"

namespace caldera {

__extension__ using Int128 = __int128;

/// Saturated at the ends of int64.
int64_t Saturate(Int128 value);
/// Decimal text.
std::string ToText(Int128 value);

struct BalanceKey {
  std::string queue;
  std::string tenant;
  std::string cluster;
  friend auto operator<=>(const BalanceKey&, const BalanceKey&) = default;
};

/// A BalanceKey that is looked for: its texts are borrowed.
struct BalanceKeyView {
  std::string_view queue;
  std::string_view tenant;
  std::string_view cluster;
  friend bool operator==(const BalanceKeyView&, const BalanceKeyView&) = default;
};

/// By resource; none of them 0.
using ExactAmounts = std::map<std::string, Int128, std::less<>>;
/// As a column of `charges`: saturated.
std::string AmountsText(const ExactAmounts& amounts);

class Balances {
 public:
  using Map = std::map<BalanceKey, ExactAmounts>;

  /// What the open rows of `shards` sum to.
  static Result<Map> Recompute(Database& database);
  static Result<Balances> Open(Database& database);

  enum class Direction { kCharge, kRelease };
  void Stage(const BalanceKeyView& key, const ResourceList& requests, Direction direction);
  /// Writes the rows of what was staged, inside the caller's transaction.
  Status Write();
  /// After the commit: what was staged is true.
  void Keep();
  /// After a rollback: it never was.
  void Drop();

 private:
  /// Of one resource: as of the last commit, and with what is staged.
  struct Sum {
    std::string resource;
    Int128 kept = 0;
    Int128 staged = 0;
  };
  struct Row {
    BalanceKey key;
    std::vector<Sum> sums;  ///< Sorted by resource; between cycles none of them is 0.
    bool touched = false;
  };

  Balances(const Map& amounts, Statement put, Statement remove);
  /// The row of `key`, made where it is missing.
  Row& Touch(const BalanceKeyView& key);
  uint32_t NewRow(const BalanceKeyView& key, size_t hash);
  /// Takes out what came to nothing, and ends the cycle.
  void Settle();

  std::vector<Row> rows_;
  HashIndex by_key_;
  std::vector<uint32_t> free_;     ///< Rows that nothing is charged to any more.
  std::vector<uint32_t> touched_;  ///< What the cycle under way stages.
  Statement put_;
  Statement remove_;
};

}  // namespace caldera
