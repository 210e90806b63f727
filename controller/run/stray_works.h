// Works of ours that lost the labels by which the watch selects them: without these nobody follows
// them, and what they hold in a member is counted nowhere. They get their labels back, and the
// watch shows them again. One thread.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "controller/kube/client.h"
#include "controller/run/work_view.h"
#include "federation/document.h"

namespace caldera {

/// The labels of every Work of ours.
Value WorkLabels(WorkRole role);

/// The merge patch that gives such a Work its labels back; nullopt for one that has them, and for
/// one that is none of ours: its name and its annotations `job-uid` or `object` must fit together,
/// since Karmada calls a Work of a user's `caldera` much the same.
std::optional<Value> LabelsBack(const Value& work);

class StrayWorks : public std::enable_shared_from_this<StrayWorks> {
 public:
  /// `client` must outlive this. `on_error`: a list or a patch that failed, after its retries.
  StrayWorks(Client& client, std::function<void(const Error&)> on_error)
      : client_(client), on_error_(std::move(on_error)) {}

  /// Lists the Works without our label, metadata alone, and mends those of ours. Once, at the
  /// start of a term: of what loses its labels later the watch shows that it goes.
  void Sweep() { ListPage(""); }
  void Stop() { stopped_ = true; }

 private:
  void ListPage(const std::string& token);
  void TakePage(const Result<HttpResponse>& response);
  void Mend(const Value& work);

  Client& client_;
  const std::function<void(const Error&)> on_error_;
  bool stopped_ = false;
};

}  // namespace caldera
