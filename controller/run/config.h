// How the controller is set: one file, overrides from the command line on top, checked as a whole
// before anything starts. Every knob stands once, in the table of config.cc, with its default and
// what it does; `caldera-controller --help-config` prints that table.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "controller/kube/client.h"
#include "federation/change.h"
#include "federation/document.h"
#include "federation/result.h"
#include "federation/time.h"

namespace caldera {

/// What is read of a member beside its Cluster object.
enum class MemberView : uint8_t {
  kSummary,  ///< Nothing: resourceSummary alone.
  kNodes,    ///< Nodes, Pods and HyperNodes, through the cluster proxy.
};

/// Who is answered about the ledger, which names jobs and tenants.
enum class LedgerAccess : uint8_t {
  kOff,
  kLoopback,  ///< Connections from this machine or pod, port-forwards included.
  kAny,
};

struct LogConfig {
  std::string level = "info";
  bool json = false;
  friend bool operator==(const LogConfig&, const LogConfig&) = default;
};

struct LeaderConfig {
  bool enabled = true;
  std::string ns = "caldera-system";
  std::string name = "caldera-controller";
  std::string identity;  ///< Empty: host name and process id.
  Millis lease{15'000};
  Millis renew_deadline{10'000};
  Millis retry{2'000};
  friend bool operator==(const LeaderConfig&, const LeaderConfig&) = default;
};

struct TimingConfig {
  Millis batch{5};  ///< From the first change of an idle controller to its cycle.
  Millis summary_period{10'000};
  Millis ready_debounce{10'000};
  Millis cluster_lost_after{300'000};
  Millis release_margin{10'000};
  Millis cluster_backoff{300'000};
  Millis unscheduled_after{300'000};
  Millis pending_too_long{1'800'000};
  Millis queued_event_after{2'000};
  Millis queue_status_every{1'000};
  friend bool operator==(const TimingConfig&, const TimingConfig&) = default;
};

struct ControllerConfig {
  std::string kubeconfig;  ///< Empty: the pod's service account.
  std::string context;
  int requests_per_second = 200;
  int burst = 400;
  int in_flight = 12;
  std::string ledger = "/var/lib/caldera/ledger.db";
  std::string address = "127.0.0.1";
  uint16_t port = 8080;  ///< 0: any free one.
  LedgerAccess ledger_access = LedgerAccess::kLoopback;
  bool observe = false;
  std::set<std::string> namespaces;
  std::set<std::string> queues;
  MemberView members = MemberView::kSummary;
  std::map<std::string, MemberView> member_views;  ///< By cluster, before `members`.
  /// Clusters that are watched node by node get what `reader` needs there.
  bool deliver_access = false;
  std::string reader = "system:serviceaccount:caldera-system:caldera";
  LeaderConfig leader;
  TimingConfig timing;
  Settings sharing;  ///< But for what `timing` says of clusters.
  LogConfig log;
  friend bool operator==(const ControllerConfig&, const ControllerConfig&) = default;
};

/// `text` is the file's content (YAML; empty: all defaults), `file` its name for messages,
/// `overrides` are KEY=VALUE pairs, key as in the table, that win over the file. Error: kInvalid,
/// every complaint on a line of its own with file, line, key, value and what would be right;
/// unknown keys are complaints.
Result<ControllerConfig> ReadConfig(std::string_view text, const std::string& file,
                                    const std::vector<std::pair<std::string, Value>>& overrides);

/// `KEY=VALUE` as typed, for ReadConfig. Error: kInvalid.
Result<std::pair<std::string, Value>> ParseOverride(std::string_view text);

/// The table for people: key, default, meaning.
std::string DescribeConfig();

}  // namespace caldera
