// What the ledger answers: the questions of `caldera ledger`, from the file alone. Each function
// names its columns; they are listed in order, sorted by the first columns, and only ever added to.
// Times are the ledger's: "now" is the time of the last cycle. Errors as LedgerReader's.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "storage/listing.h"
#include "storage/reader.h"

namespace caldera {

/// queue parent state weight priority capability guarantee demand deserved allocated share running
/// pending: by the State of the last cycle, children included. share is that of the entitlement in
/// thousandths.
Result<Listing> ListQueues(const LedgerReader& reader);

/// tenant cluster quota used running pending: cluster is empty in a tenant's overall row, the
/// others are its assignments by cluster.
Result<Listing> ListTenants(const LedgerReader& reader);

/// kNotFound where the ledger has never had a queue of that name, nor a job that names it; empty is
/// fine. The lists below that take a queue check it.
Status CheckQueue(const LedgerReader& reader, const std::string& queue);

struct JobFilter {
  std::string queue;   ///< Empty: all.
  std::string tenant;  ///< Empty: all.
  std::string state;   ///< pending, running, finished, released; empty: all.
  bool gone = false;   ///< Also jobs whose object was deleted.
};
/// job kind queue priority state verdict since created placed clusters message
Result<Listing> ListJobs(const LedgerReader& reader, const JobFilter& filter);

struct PlacementFilter {
  std::string queue;    ///< Empty: all.
  std::string cluster;  ///< Empty: all.
  bool ended = false;   ///< Also charges that ended.
};
/// job kind queue cluster epoch child minAvailable tasks requests intent placed since until
Result<Listing> ListPlacements(const LedgerReader& reader, const PlacementFilter& filter);

struct UsageQuery {
  std::string by = "queue";  ///< queue, tenant, cluster.
  Millis window{86'400'000};
  std::optional<Time> until;  ///< Absent: the ledger's now.
};
/// BY resource hours average now amountMilliseconds: what was charged in the window, exactly.
/// amountMilliseconds is the sum of amount x duration (cpu in thousandths), which may pass 64 bits
/// and is therefore text; hours is the same in cores, devices or Gi times hours, average that over
/// the whole window, both with three places, rounded down; now is what is charged at its end. Of
/// what was pruned the hours are known: one that the window cuts counts in proportion, and there is
/// no `now` of a window that ends in it.
Result<Listing> ListUsage(const LedgerReader& reader, const UsageQuery& query);

struct HistoryFilter {
  std::string job;      ///< NAME or NAMESPACE/NAME; empty: all.
  std::string queue;    ///< Empty: all.
  int64_t limit = 100;  ///< The newest so many; 0: all.
};
/// intent cycle at action job kind queue clusters outcome closed reason: oldest first.
Result<Listing> ListIntents(const LedgerReader& reader, const HistoryFilter& filter);
/// cycle time changes actions firstIntent digest: oldest first; only `limit` of the filter holds.
Result<Listing> ListCycles(const LedgerReader& reader, int64_t limit);

/// The row of the job called NAME, NAMESPACE/NAME or KIND/NAMESPACE/NAME, or of that uid: one that
/// is there before one that is gone, the latest of those. A job that waits for its name has none
/// yet (DescribeJob and ExplainJob are about it all the same). Errors: kNotFound, kInvalid (several
/// namespaces have one: the message names them).
Result<int64_t> FindJobRow(const LedgerReader& reader, const std::string& name);

/// Everything about one job.
struct JobAnswer {
  Listing job;       ///< One row, as ListJobs, with uid, priorityClass, checkpoint and gone.
  Listing shards;    ///< As ListPlacements without job, kind and queue; also what ended.
  Listing intents;   ///< As ListIntents without job and kind.
  Listing verdicts;  ///< verdict since until message: the last one is current (no `until`).
};
Result<JobAnswer> DescribeJob(const LedgerReader& reader, const std::string& name);

/// Why a job waits, or why it runs where it runs.
struct Explanation {
  Listing job;  ///< job kind queue state verdict since message: one row.
  std::vector<Figure> figures;
  Listing clusters;  ///< cluster verdict message figures
  Listing shards;    ///< cluster epoch child tasks requests placed, where it runs.
  /// The reason of the intent that placed it; empty where it was not placed by an intent.
  std::string reason;
};
Result<Explanation> ExplainJob(const LedgerReader& reader, const std::string& name);

/// One statement that only reads; columns as it names them, the second of a name as `NAME:1` and so
/// on. Anything else is refused (kInvalid), as is an answer beyond the limits.
Result<Listing> RunSql(const std::string& path, const std::string& sql,
                       const ReadLimits& limits = {});

}  // namespace caldera
