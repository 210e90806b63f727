// The open watches of a sandbox API server: what each has yet to be told, bookmarks and timeouts.
// Lines are handed over in steps of their own, never from inside a write. One thread.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "controller/kube/executor.h"
#include "controller/kube/http.h"
#include "test/sandbox/selectors.h"
#include "test/sandbox/store.h"

namespace caldera::sandbox {

struct WatchOptions {
  const Kind* kind = nullptr;
  ObjectKey key;  ///< As in a Route: what is empty matches all.
  Selector selector;
  uint64_t from = 0;        ///< Changes after this version.
  bool from_start = false;  ///< What is there now comes first, as ADDED.
  bool bookmarks = false;
  bool mark_initial = false;  ///< A bookmark says where what was there ends (sendInitialEvents).
  bool table = false;         ///< Objects as one-row Tables.
  Millis timeout{};
};

class Watches {
 public:
  using Id = HttpTransport::StreamId;

  /// Both must outlive this.
  Watches(Store& store, Executor& executor, Millis bookmark_every);
  Watches(const Watches&) = delete;
  Watches& operator=(const Watches&) = delete;
  ~Watches();

  /// From a step. Where the changes are no longer known the watch gets an ERROR event and ends.
  void Open(Id id, WatchOptions options, StreamHandlers handlers);
  void Close(Id id);
  /// To be told of each change in the store.
  void OnChange(const Change& change);
  /// Ends every watch with this error.
  void EndAll(const Error& error);
  void CloseAll();

 private:
  struct Watch {
    WatchOptions options;
    std::shared_ptr<StreamHandlers> handlers;
    std::vector<std::string> pending;
    bool ending = false;  // After what is pending.
    bool columns_sent = false;
    Executor::TimerId bookmark = 0;
    Executor::TimerId timeout = 0;
  };

  void Queue(Id id, Watch& watch, std::string_view type, const StoredObject& object);
  void QueueChange(Id id, Watch& watch, const Change& change);
  void QueueLine(Id id, Watch& watch, std::string line);
  void QueueBookmark(Id id, Watch& watch, bool initial_end);
  void SetBookmarkTimer(Id id, Watch& watch);
  void Finish(Id id);
  void Flush();
  void FlushOne(Id id);
  void Erase(Id id);

  Store& store_;
  Executor& executor_;
  const Millis bookmark_every_;
  std::map<Id, Watch> watches_;
  std::map<const Kind*, std::set<Id>> by_kind_;
  std::set<Id> dirty_;
  bool posted_ = false;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace caldera::sandbox
