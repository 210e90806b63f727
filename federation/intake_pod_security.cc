#include <algorithm>
#include <limits>
#include <set>

#include "federation/intake_pod.h"
#include "federation/intake_pod_paths.h"
#include "federation/intake_read.h"
#include "federation/names.h"

namespace caldera {
namespace {

constexpr int64_t kIdMax = std::numeric_limits<int32_t>::max();
constexpr size_t kProfileMax = 4095;

// A seccomp or AppArmor profile: `localhostProfile` goes with type Localhost and with no other.
void CheckProfile(const Field& profile, bool path) {
  if (!IsMap(profile)) {
    return;
  }
  CheckChoice(profile["type"], {"Localhost", "RuntimeDefault", "Unconfined"}, true);
  const Field name = profile["localhostProfile"];
  if (TextOf(profile["type"]) != "Localhost") {
    if (name.Present()) {
      name.Refuse("is only for type Localhost");
    }
    return;
  }
  const std::string_view text = TextOf(name);
  if (!name.Present() || (!path && text.empty())) {
    name.Refuse("is required with type Localhost");
  } else if (path) {
    CheckDescendingPath(name);
  } else if (text.front() == ' ' || text.back() == ' ' || text.size() > kProfileMax) {
    name.Refuse("must be at most 4095 characters, without spaces around it");
  }
}

void CheckIds(const Field& context) {
  CheckRange(context["runAsUser"], 0, kIdMax);
  CheckRange(context["runAsGroup"], 0, kIdMax);
  CheckRange(context["fsGroup"], 0, kIdMax);
  for (const Field& group : ItemsOf(context["supplementalGroups"])) {
    CheckRange(group, 0, kIdMax);
  }
}

void CheckWindows(const Field& options) {
  constexpr size_t kSpecMax = size_t{64} * 1024;
  constexpr size_t kUserMax = 104;
  const Field name = options["gmsaCredentialSpecName"];
  if (name.Present() && !IsDnsSubdomain(TextOf(name))) {
    name.Refuse("must be the name of an object: " + std::string(kDnsSubdomainRule));
  }
  const Field spec = options["gmsaCredentialSpec"];
  if (spec.Present() && (TextOf(spec).empty() || TextOf(spec).size() > kSpecMax)) {
    spec.Refuse("must not be empty, and at most 64 KiB");
  }
  const Field field = options["runAsUserName"];
  if (!field.Present()) {
    return;
  }
  std::string_view user = TextOf(field);
  if (const size_t slash = user.find('\\'); slash != std::string_view::npos) {
    user.remove_prefix(slash + 1);
  }
  if (user.empty() || user.size() > kUserMax ||
      user.find_first_of("\"/\\:;|=,+*?<>@[]") != std::string_view::npos ||
      user.find_first_not_of(". ") == std::string_view::npos) {
    field.Refuse("must be USER or DOMAIN\\USER");
  }
}

// Parts of lower-case letters, digits, `-` and `_`, joined by `.` or `/`.
bool IsSysctlName(std::string_view name) {
  const auto alnum = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  if (name.empty() || name.size() > 253) {
    return false;
  }
  bool start = true;
  for (size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    const bool last = i + 1 == name.size() || name[i + 1] == '.' || name[i + 1] == '/';
    if (c == '.' || c == '/') {
      if (start) {
        return false;
      }
      start = true;
      continue;
    }
    if (!(alnum(c) || (!start && !last && (c == '-' || c == '_')))) {
      return false;
    }
    start = false;
  }
  return !start;
}

// Kernel settings of a namespace that the pod shares with its host cannot be set.
bool IsNetSysctl(std::string_view name) { return name.starts_with("net."); }
bool IsIpcSysctl(std::string_view name) {
  return name.starts_with("kernel.shm") || name.starts_with("kernel.msg") ||
         name.starts_with("fs.mqueue.") || name == "kernel.sem";
}

void CheckSysctls(const Field& pod_spec) {
  std::set<std::string_view> names;
  for (const Field& sysctl : ItemsOf(pod_spec["securityContext"]["sysctls"])) {
    const Field field = sysctl["name"];
    const std::string_view name = TextOf(field);
    if (!IsSysctlName(name)) {
      field.Refuse("must be the name of a kernel setting, such as net.core.somaxconn");
    } else if (!names.insert(name).second) {
      field.Refuse("is set already");
    }
    std::string dotted(name);
    std::replace(dotted.begin(), dotted.end(), '/', '.');
    if ((FlagOf(pod_spec["hostNetwork"]) && IsNetSysctl(dotted)) ||
        (FlagOf(pod_spec["hostIPC"]) && IsIpcSysctl(dotted))) {
      field.Refuse("must not be set where the pod shares that namespace with its host");
    }
  }
}

bool IsIpv4(std::string_view text) {
  int parts = 0;
  while (true) {
    const size_t dot = text.find('.');
    const std::string_view part = text.substr(0, dot);
    int value = 0;
    for (const char c : part) {
      if (c < '0' || c > '9') {
        return false;
      }
      value = std::min(value * 10 + (c - '0'), 256);
    }
    ++parts;
    const bool padded = part.size() > 1 && part.front() == '0';
    if (part.empty() || padded || value > 255 || parts > 4) {
      return false;
    }
    if (dot == std::string_view::npos) {
      return parts == 4;
    }
    text.remove_prefix(dot + 1);
  }
}

// The number of 16-bit groups in a run of `:`-separated ones; nullopt where one is none. The last
// may be an IPv4 address, which is two.
std::optional<int> Groups(std::string_view text) {
  int groups = 0;
  while (!text.empty()) {
    const size_t colon = text.find(':');
    const std::string_view group = text.substr(0, colon);
    const bool hex = !group.empty() && group.size() <= 4 &&
                     group.find_first_not_of("0123456789abcdefABCDEF") == std::string_view::npos;
    const bool last = colon == std::string_view::npos;
    if (!hex && !(last && IsIpv4(group))) {
      return std::nullopt;
    }
    groups += hex ? 1 : 2;
    if (last) {
      break;
    }
    text.remove_prefix(colon + 1);
    if (text.empty()) {
      return std::nullopt;
    }
  }
  return groups;
}

bool IsIpv6(std::string_view text) {
  const size_t gap = text.find("::");
  if (gap == std::string_view::npos) {
    return Groups(text) == 8;
  }
  const auto before = Groups(text.substr(0, gap));
  const auto after = Groups(text.substr(gap + 2));
  return before.has_value() && after.has_value() && *before + *after <= 7;
}

void CheckIp(const Field& field) {
  const std::string_view text = TextOf(field);
  // An IPv4 address in IPv6 form is not taken.
  const bool mapped = text.find('.') != std::string_view::npos && text.starts_with("::");
  if (mapped || (!IsIpv4(text) && !IsIpv6(text))) {
    field.Refuse("must be an IP address, such as 10.9.8.7 or 2001:db8::1");
  }
}

void CheckDnsConfig(const Field& config) {
  constexpr size_t kServersMax = 3;
  constexpr size_t kSearchesMax = 32;
  constexpr size_t kSearchCharactersMax = 2048;
  const std::vector<Field> servers = ItemsOf(config["nameservers"]);
  if (servers.size() > kServersMax) {
    config["nameservers"].Refuse("must not be more than 3");
  }
  std::for_each(servers.begin(), servers.end(), CheckIp);
  const std::vector<Field> searches = ItemsOf(config["searches"]);
  size_t characters = searches.empty() ? 0 : searches.size() - 1;
  for (const Field& search : searches) {
    std::string_view domain = TextOf(search);
    characters += domain.size();
    if (domain.ends_with('.')) {
      domain.remove_suffix(1);
    }
    if (!IsDnsSubdomain(domain)) {
      search.Refuse("must be a DNS name: " + std::string(kDnsSubdomainRule));
    }
  }
  if (searches.size() > kSearchesMax || characters > kSearchCharactersMax) {
    config["searches"].Refuse("must not be more than 32, with 2048 characters in all");
  }
  for (const Field& option : ItemsOf(config["options"])) {
    CheckGiven(option["name"], "the name of the option");
  }
}

}  // namespace

void CheckSecurity(const Field& pod_spec) {
  const Field context = pod_spec["securityContext"];
  if (FlagOf(pod_spec["hostPID"]) && FlagOf(pod_spec["shareProcessNamespace"])) {
    pod_spec["shareProcessNamespace"].Refuse("must not stand beside hostPID");
  }
  if (!IsMap(context)) {
    return;
  }
  CheckIds(context);
  CheckSysctls(pod_spec);
  CheckChoice(context["fsGroupChangePolicy"], {"OnRootMismatch", "Always"},
              context["fsGroupChangePolicy"].Present());
  CheckChoice(context["supplementalGroupsPolicy"], {"Merge", "Strict"},
              context["supplementalGroupsPolicy"].Present());
  CheckChoice(context["seLinuxChangePolicy"], {"Recursive", "MountOption"},
              context["seLinuxChangePolicy"].Present());
  CheckProfile(context["seccompProfile"], true);
  CheckProfile(context["appArmorProfile"], false);
  CheckWindows(context["windowsOptions"]);
}

void CheckContainerSecurity(const Field& context) {
  if (!IsMap(context)) {
    return;
  }
  CheckIds(context);
  CheckChoice(context["procMount"], {"Default", "Unmasked"}, context["procMount"].Present());
  const Field escalation = context["allowPrivilegeEscalation"];
  if (escalation.Present() && !FlagOf(escalation)) {
    if (FlagOf(context["privileged"])) {
      escalation.Refuse("must not be false where privileged is true");
    }
    for (const Field& capability : ItemsOf(context["capabilities"]["add"])) {
      if (TextOf(capability) == "CAP_SYS_ADMIN") {
        capability.Refuse("must not be added where allowPrivilegeEscalation is false");
      }
    }
  }
  CheckProfile(context["seccompProfile"], true);
  CheckProfile(context["appArmorProfile"], false);
  CheckWindows(context["windowsOptions"]);
}

void CheckDns(const Field& pod_spec) {
  const Field policy = pod_spec["dnsPolicy"];
  const Field config = pod_spec["dnsConfig"];
  CheckChoice(policy, {"ClusterFirst", "ClusterFirstWithHostNet", "Default", "None"});
  if (TextOf(policy) == "None" && ItemsOf(config["nameservers"]).empty()) {
    config["nameservers"].Refuse("is required with dnsPolicy None: at least one");
  }
  CheckDnsConfig(config);
  for (const Field& alias : ItemsOf(pod_spec["hostAliases"])) {
    CheckIp(alias["ip"]);
    for (const Field& name : ItemsOf(alias["hostnames"])) {
      if (!IsDnsSubdomain(TextOf(name))) {
        name.Refuse("must be a DNS name: " + std::string(kDnsSubdomainRule));
      }
    }
  }
}

}  // namespace caldera
