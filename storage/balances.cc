#include "storage/balances.h"

#include <algorithm>
#include <functional>
#include <limits>

#include "storage/json_text.h"

namespace caldera {
namespace {

BalanceKeyView ViewOf(const BalanceKey& key) { return {key.queue, key.tenant, key.cluster}; }

size_t HashOf(const BalanceKeyView& key) {
  constexpr size_t kOdd = 0x9E3779B97F4A7C15ULL;
  const std::hash<std::string_view> hash;
  return (hash(key.queue) * kOdd + hash(key.tenant)) * kOdd + hash(key.cluster);
}

}  // namespace

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
    std::vector<Sum>& sums = rows_[NewRow(ViewOf(key), HashOf(ViewOf(key)))].sums;
    for (const auto& [resource, amount] : by_resource) {
      sums.push_back({resource, amount, amount});
    }
  }
}

Balances::Row& Balances::Touch(const BalanceKeyView& key) {
  const size_t hash = HashOf(key);
  uint32_t at = by_key_.Find(hash, [&](uint32_t row) { return ViewOf(rows_[row].key) == key; });
  if (at == HashIndex::kNone) {
    at = NewRow(key, hash);
  }
  if (!rows_[at].touched) {
    rows_[at].touched = true;
    touched_.push_back(at);
  }
  return rows_[at];
}

uint32_t Balances::NewRow(const BalanceKeyView& key, size_t hash) {
  if (free_.empty()) {
    free_.push_back(static_cast<uint32_t>(rows_.size()));
    rows_.emplace_back();
  }
  const uint32_t at = free_.back();
  free_.pop_back();
  rows_[at].key = {std::string(key.queue), std::string(key.tenant), std::string(key.cluster)};
  by_key_.Insert(hash, at);
  return at;
}

void Balances::Stage(const BalanceKeyView& key, const ResourceList& requests, Direction direction) {
  std::vector<Sum>& sums = Touch(key).sums;
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
  for (const uint32_t row : touched_) {
    const BalanceKey& key = rows_[row].key;
    text.clear();
    for (const Sum& sum : rows_[row].sums) {
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
  for (const uint32_t row : touched_) {
    for (Sum& sum : rows_[row].sums) {
      sum.kept = sum.staged;
    }
  }
  Settle();
}

void Balances::Drop() {
  for (const uint32_t row : touched_) {
    for (Sum& sum : rows_[row].sums) {
      sum.staged = sum.kept;
    }
  }
  Settle();
}

void Balances::Settle() {
  for (const uint32_t at : touched_) {
    Row& row = rows_[at];
    std::erase_if(row.sums, [](const Sum& sum) { return sum.kept == 0; });
    if (row.sums.empty()) {
      by_key_.Erase(HashOf(ViewOf(row.key)), at);
      free_.push_back(at);
    }
    row.touched = false;
  }
  touched_.clear();
}

}  // namespace caldera
