// What is charged now, per queue, tenant, cluster and resource: the sum over the open rows of
// `shards`. Kept in memory in 128 bits, so that a balance returns exactly to 0 whatever amounts
// came and went; the table `charges` holds them saturated to int64. Changes are staged, and become
// true only once their transaction was committed.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>

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
  void Stage(const BalanceKey& key, const ResourceList& requests, Direction direction);
  /// Writes the rows of what was staged, inside the caller's transaction.
  Status Write();
  /// After the commit: what was staged is true. After a rollback: it never was.
  void Keep();
  void Drop() { staged_.clear(); }

 private:
  Balances(Map amounts, Statement put, Statement remove)
      : amounts_(std::move(amounts)), put_(std::move(put)), remove_(std::move(remove)) {}

  Map amounts_;
  Map staged_;  ///< What the keys that the cycle touched come to.
  Statement put_;
  Statement remove_;
};

}  // namespace caldera
