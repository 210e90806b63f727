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
  std::string text;
  for (const auto& [resource, amount] : amounts) {
    AppendAmount(text, resource, Saturate(amount));
  }
  CloseAmounts(text);
  return text;
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
  CALDERA_TRY(const Map amounts, Recompute(database));
  CALDERA_TRY(Statement put,
              database.Prepare("INSERT INTO charges(queue, tenant, cluster, amounts) "
                               "VALUES (?1, ?2, ?3, ?4) ON CONFLICT DO UPDATE SET amounts = ?4"));
  CALDERA_TRY(Statement remove,
              database.Prepare("DELETE FROM charges WHERE queue = ?1 AND tenant = ?2 "
                               "AND cluster = ?3"));
  return Balances(amounts, std::move(put), std::move(remove));
}

Balances::Balances(const Map& amounts, Statement put, Statement remove)
    : put_(std::move(put)), remove_(std::move(remove)) {
  for (const auto& [key, by_resource] : amounts) {
    std::vector<Sum>& sums = rows_[key].sums;
    for (const auto& [resource, amount] : by_resource) {
      sums.push_back({resource, amount, amount});
    }
  }
}

Balances::Rows::iterator Balances::Touch(const BalanceKeyView& key) {
  auto row = rows_.lower_bound(key);
  if (row == rows_.end() || ByKey()(key, row->first)) {
    BalanceKey owned{std::string(key.queue), std::string(key.tenant), std::string(key.cluster)};
    row = rows_.emplace_hint(row, std::move(owned), Row());
  }
  if (!row->second.touched) {
    row->second.touched = true;
    touched_.push_back(row);
  }
  return row;
}

void Balances::Stage(const BalanceKeyView& key, const ResourceList& requests, Direction direction) {
  std::vector<Sum>& sums = Touch(key)->second.sums;
  auto sum = sums.begin();
  for (const auto& [resource, amount] : requests) {  // Sorted, as they are.
    sum = std::find_if(sum, sums.end(),
                       [&name = resource](const Sum& s) { return s.resource >= name; });
    if (sum == sums.end() || sum->resource != resource) {
      sum = sums.insert(sum, {resource, 0, 0});
    }
    sum->staged += direction == Direction::kCharge ? Int128{amount} : -Int128{amount};
  }
}

Status Balances::Write() {
  std::string text;
  for (const auto& row : touched_) {
    const BalanceKey& key = row->first;
    text.clear();
    for (const Sum& sum : row->second.sums) {
      if (sum.staged != 0) {
        AppendAmount(text, sum.resource, Saturate(sum.staged));
      }
    }
    if (text.empty()) {
      CALDERA_CHECK(remove_.Run(key.queue, key.tenant, key.cluster));
    } else {
      CloseAmounts(text);
      CALDERA_CHECK(put_.Run(key.queue, key.tenant, key.cluster, text));
    }
  }
  return {};
}

void Balances::Keep() {
  for (const auto& row : touched_) {
    for (Sum& sum : row->second.sums) {
      sum.kept = sum.staged;
    }
  }
  Settle();
}

void Balances::Drop() {
  for (const auto& row : touched_) {
    for (Sum& sum : row->second.sums) {
      sum.staged = sum.kept;
    }
  }
  Settle();
}

void Balances::Settle() {
  for (const auto& row : touched_) {
    std::vector<Sum>& sums = row->second.sums;
    std::erase_if(sums, [](const Sum& sum) { return sum.kept == 0; });
    if (sums.empty()) {
      rows_.erase(row);
    } else {
      row->second.touched = false;
    }
  }
  touched_.clear();
}

}  // namespace caldera
