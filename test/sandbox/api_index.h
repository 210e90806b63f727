// What kinds a server has, by discovery: from the apiVersion and kind of a manifest to the path of
// its objects, and the list that a Cluster's status shows. Answers are kept; a kind that was not
// there is asked for again. One thread (the executor's).
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "controller/kube/client.h"

namespace caldera::sandbox {

class ApiIndex {
 public:
  using TypeHandler = std::function<void(Result<const ResourceType*>)>;
  using DoneHandler = std::function<void(Status)>;

  /// `client` must outlive this.
  explicit ApiIndex(Client& client);
  ApiIndex(const ApiIndex&) = delete;
  ApiIndex& operator=(const ApiIndex&) = delete;
  ~ApiIndex();

  /// Calls `done` soon or at once with a type that lives as long as this. Errors: kNotFound where
  /// the server has no such kind, and those of the client.
  void Resolve(const std::string& api_version, const std::string& kind, TypeHandler done);
  /// Reads all groups anew.
  void Refresh(DoneHandler done);
  /// Of what Refresh read; nullptr: there is none.
  [[nodiscard]] const ResourceType* FindPlural(const std::string& plural) const;
  /// As `status.apiEnablements` has them: a list by group and version, sorted.
  [[nodiscard]] Value Enablements() const;

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;  // Shared with callbacks in flight, which find it stopped.
};

}  // namespace caldera::sandbox
