#include "storage/balances.h"

#include <algorithm>
#include <limits>

#include "storage/json_text.h"

namespace caldera {

int64_t Saturate(Int128 value) {
  constexpr Int128 kMost = std::numeric_limits<int64_t>::max();
  constexpr Int128 kLeast = std::numeric_limits<int64_t>::min();
  return static_cast<int64_t>(std::clamp(value, kLeast, kMost));
}

std::string ToText(Int128 value) {
  if (value == 0) {
    return "0";
  }
  std::string digits;
  for (Int128 rest = value; rest != 0; rest /= 10) {
    const auto digit = static_cast<int>(rest % 10);
    digits += static_cast<char>('0' + (digit < 0 ? -digit : digit));
  }
  if (value < 0) {
    digits += '-';
  }
  std::reverse(digits.begin(), digits.end());
  return digits;
}

std::string AmountsText(const ExactAmounts& amounts) {
  ResourceList saturated;
  for (const auto& [resource, amount] : amounts) {
    saturated.emplace_hint(saturated.end(), resource, Saturate(amount));
  }
  return AmountsText(saturated);
}

Result<Balances::Map> Balances::Recompute(Database& database) {
  CALDERA_TRY(Statement rows,
              database.Prepare("SELECT queue, tenant, cluster, resource, amount FROM usage "
                               "WHERE until IS NULL AND amount <> 0"));
  Map amounts;
  while (true) {
    CALDERA_TRY(const bool row, rows.Step());
    if (!row) {
      return amounts;
    }
    amounts[{rows.Text(0), rows.Text(1), rows.Text(2)}][rows.Text(3)] += rows.Integer(4);
  }
}

Result<Balances> Balances::Open(Database& database) {
  CALDERA_TRY(Map amounts, Recompute(database));
  CALDERA_TRY(Statement put,
              database.Prepare("INSERT INTO charges(queue, tenant, cluster, amounts) "
                               "VALUES (?1, ?2, ?3, ?4) ON CONFLICT DO UPDATE SET amounts = ?4"));
  CALDERA_TRY(Statement remove,
              database.Prepare("DELETE FROM charges WHERE queue = ?1 AND tenant = ?2 "
                               "AND cluster = ?3"));
  return Balances(std::move(amounts), std::move(put), std::move(remove));
}

void Balances::Stage(const BalanceKey& key, const ResourceList& requests, Direction direction) {
  const auto [staged, first] = staged_.try_emplace(key);
  if (first) {
    if (const auto now = amounts_.find(key); now != amounts_.end()) {
      staged->second = now->second;
    }
  }
  for (const auto& [resource, amount] : requests) {
    Int128& balance = staged->second[resource];
    balance += direction == Direction::kCharge ? Int128{amount} : -Int128{amount};
    if (balance == 0) {
      staged->second.erase(resource);
    }
  }
}

Status Balances::Write() {
  for (const auto& [key, amounts] : staged_) {
    if (amounts.empty()) {
      CALDERA_CHECK(remove_.Run(key.queue, key.tenant, key.cluster));
    } else {
      CALDERA_CHECK(put_.Run(key.queue, key.tenant, key.cluster, AmountsText(amounts)));
    }
  }
  return {};
}

void Balances::Keep() {
  for (auto& [key, amounts] : staged_) {
    if (amounts.empty()) {
      amounts_.erase(key);
    } else {
      amounts_[key] = std::move(amounts);
    }
  }
  staged_.clear();
}

}  // namespace caldera
