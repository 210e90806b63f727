// Usage over a window, exactly.
#include <algorithm>
#include <map>
#include <utility>

#include "storage/balances.h"
#include "storage/queries.h"
#include "storage/schema.h"

namespace caldera {
namespace {

struct Used {
  Int128 amount_ms = 0;
  Int128 now = 0;
};
using UsedBy = std::map<std::pair<std::string, std::string>, Used>;

int64_t Count(Time time) { return time.time_since_epoch().count(); }

/// `amount_ms` over `span` in cores, devices or Gi, three places, rounded down.
std::string DecimalText(const std::string& resource, Int128 amount_ms, int64_t span) {
  const bool bytes = IsBytes(resource);
  const Int128 unit = IsMilli(resource) ? 1000 : bytes ? Int128{1} << 30U : 1;
  const Int128 whole = unit * span;
  // The rest is below 2^30 * 2^63, times 1000 below 2^103.
  std::string rest = ToText(amount_ms % whole * 1000 / whole);
  rest.insert(0, 3 - rest.size(), '0');
  return ToText(amount_ms / whole) + "." + rest + (bytes ? "Gi" : "");
}

Status AddShards(Database& database, const std::string& by, int64_t start, int64_t end,
                 UsedBy& used) {
  CALDERA_TRY(Statement rows,
              database.Prepare("SELECT " + by + ", resource, amount, since, until FROM usage " +
                               "WHERE (until IS NULL OR until > ?1) AND since < ?2"));
  rows.Start(start, end);
  while (true) {
    CALDERA_TRY(const bool row, rows.Step());
    if (!row) {
      return {};
    }
    const int64_t until = rows.IsNull(4) ? end : std::min(rows.Integer(4), end);
    const int64_t since = std::max(rows.Integer(3), start);
    const Int128 amount = rows.Integer(2);
    Used& entry = used[{rows.Text(0), rows.Text(1)}];
    entry.amount_ms += amount * (until - since);
    if (rows.IsNull(4) || rows.Integer(4) > end) {
      entry.now += amount;
    }
  }
}

/// What was folded to hours; an hour that the window cuts counts in proportion.
Status AddHours(Database& database, const std::string& by, int64_t start, int64_t end,
                UsedBy& used) {
  CALDERA_TRY(Statement rows, database.Prepare("SELECT " + by + ", resource, average, rest, hour " +
                                               "FROM usage_hours WHERE hour > ?1 AND hour < ?2"));
  rows.Start(start - kUsageHour, end);
  while (true) {
    CALDERA_TRY(const bool row, rows.Step());
    if (!row) {
      return {};
    }
    const int64_t hour = rows.Integer(4);
    const int64_t overlap = std::min(hour + kUsageHour, end) - std::max(hour, start);
    const Int128 rest = overlap == kUsageHour ? Int128{rows.Integer(3)} : 0;
    used[{rows.Text(0), rows.Text(1)}].amount_ms += Int128{rows.Integer(2)} * overlap + rest;
  }
}

}  // namespace

Result<Listing> ListUsage(const LedgerReader& reader, const UsageQuery& query) {
  if (query.by != "queue" && query.by != "tenant" && query.by != "cluster") {
    return Fail(ErrorCode::kInvalid,
                "usage by `" + query.by + "`: it can be by queue, tenant or cluster");
  }
  if (query.window <= Millis(0)) {
    return Fail(ErrorCode::kInvalid, "usage window " + FormatDuration(query.window) +
                                         ": it must be longer than nothing, as in 24h");
  }
  Database& database = reader.database();
  CALDERA_TRY(const ReadTransaction view, ReadTransaction::Begin(database));
  CALDERA_TRY(const JournalEnd last, ReadJournalEnd(database));
  const int64_t end = Count(query.until.value_or(last.time));
  const int64_t start = end - query.window.count();
  UsedBy used;
  CALDERA_CHECK(AddShards(database, query.by, start, end, used));
  CALDERA_CHECK(AddHours(database, query.by, start, end, used));
  // What was charged at one moment is not known from hours.
  CALDERA_TRY(const int64_t folded,
              database.QueryInteger("SELECT coalesce(max(hour), -1) FROM usage_hours"));
  const bool known = folded < 0 || end >= folded + kUsageHour;

  Listing listing{{query.by, "resource", "hours", "average", "now", "amountMilliseconds"}, {}};
  for (const auto& [key, amounts] : used) {
    const auto& [name, resource] = key;
    listing.rows.push_back({name, resource, DecimalText(resource, amounts.amount_ms, kUsageHour),
                            DecimalText(resource, amounts.amount_ms, query.window.count()),
                            known ? Datum(FormatAmount(resource, Saturate(amounts.now))) : Datum(),
                            ToText(amounts.amount_ms)});
  }
  return listing;
}

}  // namespace caldera
