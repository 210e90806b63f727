#include "storage/balances.h"

#include <algorithm>
#include <limits>

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

Result<Balances::Map> Balances::Recompute(Database& database) {
  CALDERA_TRY(Statement rows,
              database.Prepare("SELECT queue, tenant, cluster, resource, amount FROM usage "
                               "WHERE until IS NULL"));
  Map amounts;
  while (true) {
    CALDERA_TRY(const bool row, rows.Step());
    if (!row) {
      break;
    }
    amounts[{rows.Text(0), rows.Text(1), rows.Text(2), rows.Text(3)}] += rows.Integer(4);
  }
  std::erase_if(amounts, [](const auto& entry) { return entry.second == 0; });
  return amounts;
}

Result<Balances> Balances::Open(Database& database) {
  CALDERA_TRY(Map amounts, Recompute(database));
  CALDERA_TRY(
      Statement put,
      database.Prepare("INSERT INTO balances(queue, tenant, cluster, resource, amount) "
                       "VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT DO UPDATE SET amount = ?5"));
  CALDERA_TRY(Statement remove,
              database.Prepare("DELETE FROM balances WHERE queue = ?1 AND tenant = ?2 "
                               "AND cluster = ?3 AND resource = ?4"));
  return Balances(std::move(amounts), std::move(put), std::move(remove));
}

void Balances::Stage(const std::string& queue, const std::string& tenant,
                     const std::string& cluster, const ResourceList& requests,
                     Direction direction) {
  for (const auto& [resource, amount] : requests) {
    if (amount != 0) {
      staged_[{queue, tenant, cluster, resource}] +=
          direction == Direction::kCharge ? Int128{amount} : -Int128{amount};
    }
  }
}

Status Balances::Write() {
  for (const auto& [key, change] : staged_) {
    if (change == 0) {
      continue;
    }
    const auto now = amounts_.find(key);
    const Int128 amount = (now == amounts_.end() ? 0 : now->second) + change;
    if (amount == 0) {
      CALDERA_CHECK(remove_.Run(key.queue, key.tenant, key.cluster, key.resource));
    } else {
      CALDERA_CHECK(put_.Run(key.queue, key.tenant, key.cluster, key.resource, Saturate(amount)));
    }
  }
  return {};
}

void Balances::Keep() {
  for (const auto& [key, change] : staged_) {
    Int128& amount = amounts_[key];
    amount += change;
    if (amount == 0) {
      amounts_.erase(key);
    }
  }
  staged_.clear();
}

}  // namespace caldera
