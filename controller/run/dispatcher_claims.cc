// PersistentVolumeClaims of a job: they are the user's, who brings them to the clusters. Where a
// member may be read they are looked for in the member that the job goes to, else at the Karmada
// API. A cluster without one of them is left out for the job; it is looked again, less and less
// often, and let in at once when they are there.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "controller/kube/api_status.h"
#include "controller/run/dispatcher_look.h"

namespace caldera {
namespace {

constexpr std::string_view kClaim = "PersistentVolumeClaim";

Result<JobLook::Claim> AnswerOf(const Result<HttpResponse>& response) {
  if (!response) {
    return tl::unexpected<Error>(response.error());
  }
  switch (response->status) {
    case 200:
      return JobLook::Claim::kThere;
    case 404:
      return JobLook::Claim::kAbsent;
    case 401:
    case 403:
      // A member whose role is from before claims were looked for there.
      return JobLook::Claim::kUnknown;
    default:
      return tl::unexpected<Error>(ErrorOf(*response));
  }
}

}  // namespace

std::string JobLook::MemberPath(const std::string& cluster) const {
  return context_.options.member_path ? context_.options.member_path(cluster) : "";
}

void JobLook::AskMember(const ClaimKey& key, std::function<void(Claim)> then) {
  HttpRequest request;
  request.path =
      MemberPath(key.first) + resource::PersistentVolumeClaims().Path(target_.ns, key.second);
  context_.client.Raw(std::move(request), "get", resource::PersistentVolumeClaims().kind,
                      [self = shared_from_this(), key,
                       then = std::move(then)](const Result<HttpResponse>& response) {
                        if (self->stopped_) {
                          return;
                        }
                        const Result<Claim> claim = AnswerOf(response);
                        if (claim) {
                          then(*claim);
                        } else {
                          self->Fail(claim.error().Within("get " + std::string(kClaim) + " " +
                                                          key.second + " in cluster " + key.first));
                        }
                      });
}

bool JobLook::FetchClaims() {
  for (const Shard& shard : charge().shards) {
    if (MemberPath(shard.cluster).empty()) {
      continue;
    }
    for (const Reference& reference : ReferencesOfShard(shard)) {
      const ClaimKey key(shard.cluster, reference.name);
      if (reference.kind == kClaim && !claims_.contains(key)) {
        AskMember(key, [this, key](Claim claim) {
          claims_[key] = claim;
          Step();
        });
        return true;
      }
    }
  }
  return false;
}

// A claim that every member could be asked about need not be at the Karmada API.
bool JobLook::IsForKarmada(const Reference& reference) const {
  const auto asks = [&](const Shard& shard) {
    const std::vector<Reference>& own = ReferencesOfShard(shard);
    if (std::find(own.begin(), own.end(), reference) == own.end()) {
      return false;
    }
    const auto found = claims_.find({shard.cluster, reference.name});
    return found == claims_.end() || found->second == Claim::kUnknown;
  };
  return reference.kind != kClaim ||
         std::any_of(charge().shards.begin(), charge().shards.end(), asks);
}

// The charge is given back; another cluster may have the claims.
bool JobLook::HoldForClaims() {
  std::map<std::string, std::set<std::string>> absent;
  for (const auto& [key, claim] : claims_) {
    if (claim == Claim::kAbsent) {
      absent[key.first].insert(key.second);
    }
  }
  if (absent.empty()) {
    return false;
  }
  memory_.claims = {seen_.parent->generation, 0, {}};
  Postpone(memory_.claims);
  for (const auto& [cluster, names] : absent) {
    KeepOut(cluster, names);
  }
  Recall();
  Again(memory_.claims.at);
  Step();
  return true;
}

void JobLook::KeepOut(const std::string& cluster, const std::set<std::string>& names) {
  std::vector<std::string> claims;
  claims.reserve(names.size());
  for (const std::string& name : names) {
    claims.push_back(Reference{std::string(kClaim), target_.ns, name}.ToString());
  }
  const Time until = Now() + context_.options.cluster_backoff;
  memory_.absent_claims[cluster] = {names, until};
  context_.observer.SetBackoff(
      uid_,
      {cluster, std::string(VerdictName(Verdict::kMissingReference)),
       fmt::format("cluster {} lacks {}", cluster, fmt::join(claims, ", ")), until},
      Now());
}

void JobLook::LetIn(const std::string& cluster) {
  memory_.absent_claims.erase(cluster);
  context_.observer.SetBackoff(
      uid_, {cluster, std::string(VerdictName(Verdict::kMissingReference)), "", Now()}, Now());
  Learnt();
}

// Of a job that waits: do clusters have by now what they lacked?
bool JobLook::RecheckClaims() {
  if (memory_.absent_claims.empty()) {
    return false;
  }
  if (memory_.claims.generation != seen_.parent->generation) {
    // It was edited: what it refers to now is seen at the next dispatch.
    for (const auto& [cluster, absent] : std::map(memory_.absent_claims)) {
      LetIn(cluster);
    }
    return false;
  }
  if (memory_.claims.at > Now()) {
    Again(memory_.claims.at);
    return false;
  }
  std::vector<ClaimKey> left;
  for (const auto& [cluster, absent] : memory_.absent_claims) {
    for (const std::string& name : absent.names) {
      left.emplace_back(cluster, name);
    }
  }
  RecheckClaim(std::move(left), {});
  return true;
}

void JobLook::RecheckClaim(std::vector<ClaimKey> left,
                           std::map<std::string, std::set<std::string>> absent) {
  if (left.empty()) {
    FinishClaims(absent);
    return;
  }
  const ClaimKey key = std::move(left.back());
  left.pop_back();
  if (MemberPath(key.first).empty()) {
    RecheckClaim(std::move(left), std::move(absent));  // It is asked no longer, and not kept out.
    return;
  }
  AskMember(key, [this, key, left = std::move(left), absent = std::move(absent)](Claim claim) {
    auto still = absent;
    if (claim == Claim::kAbsent) {
      still[key.first].insert(key.second);
    }
    RecheckClaim(left, std::move(still));
  });
}

void JobLook::FinishClaims(const std::map<std::string, std::set<std::string>>& absent) {
  const Millis wait = Postpone(memory_.claims);
  for (const auto& [cluster, before] : std::map(memory_.absent_claims)) {
    const auto still = absent.find(cluster);
    if (still == absent.end()) {
      LetIn(cluster);
    } else if (before.until <= memory_.claims.at + wait || before.names != still->second) {
      KeepOut(cluster, still->second);  // Before it ends: a try would place the job in vain.
      Learnt();
    }
  }
  if (!memory_.absent_claims.empty()) {
    Again(memory_.claims.at);
  }
  Finish();
}

}  // namespace caldera
