// For tests that cut a controller off at one of its writes and let another one go on: what both
// runs must have in common at the end.
#pragma once

#include <map>
#include <set>
#include <string>

#include "test/run/control_plane.h"

namespace caldera::testing {

// What must be the same however a run came to its end: without times, uids and versions.
inline std::string Normal(const Value& object, const std::map<std::string, std::string>& names) {
  Value copy = object;
  for (const std::string_view field :
       {"uid", "resourceVersion", "creationTimestamp", "managedFields"}) {
    copy.Find("metadata")->Erase(field);
  }
  if (Value* const status = copy.Find("status"); status != nullptr && status->IsMap()) {
    status->Erase("conditions");
  }
  for (const std::string_view field : {"firstTimestamp", "lastTimestamp", "count"}) {
    copy.Erase(field);
  }
  std::string text = WriteJson(copy);
  for (const auto& [uid, name] : names) {
    for (size_t at = text.find(uid); at != std::string::npos; at = text.find(uid)) {
      text.replace(at, uid.size(), name);
    }
  }
  return text;
}

struct Ended {
  std::multiset<std::string> objects;
  std::map<std::string, int> started;
  int writes = 0;
};

/// `names`: uid to what stands for it.
inline void Collect(ControlPlane& plane, const std::map<std::string, std::string>& names,
                    Ended& ended) {
  for (const std::string& path :
       {std::string("/apis/work.karmada.io/v1alpha1/works"), ControlPlane::kJobs,
        ControlPlane::kHyperJobs, ControlPlane::kQueues}) {
    for (const Value& object : plane.List(path)) {
      ended.objects.insert(Normal(object, names));
    }
  }
  for (const auto& [work, count] : plane.started) {
    std::string name = work;
    for (const auto& [uid, as] : names) {
      if (const size_t at = name.find(uid); at != std::string::npos) {
        name.replace(at, uid.size(), as);
      }
    }
    ended.started[name] = count;
  }
}

/// `run(cut, arrives)`: cut off at its write `cut`, which arrives or not. At each of its writes:
/// what is there at the end is what an uncut run leaves, and nothing was started twice.
template <typename RunOf>
void CheckEveryCut(const Ended& whole, const RunOf& run) {
  REQUIRE(whole.writes > 10);
  for (int cut = 0; cut < whole.writes; ++cut) {
    for (const bool arrives : {false, true}) {
      CAPTURE(cut);
      CAPTURE(arrives);
      const Ended ended = run(cut, arrives);
      CHECK(ended.objects == whole.objects);
      for (const auto& started : ended.started) {
        CHECK_MESSAGE(started.second == 1, started.first);
      }
    }
  }
}

}  // namespace caldera::testing
