#include "test/sandbox/member_life_queues.h"

#include <array>
#include <set>
#include <utility>

namespace caldera::sandbox {
namespace {

Value OwnQueue(const std::string& name) {
  Value spec = MakeMap({{"weight", int64_t{1}}, {"reclaimable", name != "root"}});
  if (name != "root") {
    spec.Set("parent", "root");
  }
  return MakeMap({{"apiVersion", resource::Queues().ApiVersion()},
                  {"kind", "Queue"},
                  {"metadata", MakeMap({{"name", name}})},
                  {"spec", std::move(spec)}});
}

std::string NextState(const std::string& state, const QueueLoad& load) {
  if (state.empty()) {
    return "Open";
  }
  int64_t groups = 0;
  for (const auto& [phase, count] : load.groups) {
    groups += count;
  }
  return state == "Closing" && groups == 0 ? "Closed" : state;
}

}  // namespace

class QueueLife::Impl : public std::enable_shared_from_this<QueueLife::Impl> {
 public:
  explicit Impl(Client& client) : client_(client) {}

  void Create(const std::string& name) {
    client_.Create(
        resource::Queues(), "", OwnQueue(name),
        [self = std::weak_ptr<Impl>(weak_from_this()), name](const Result<Value>& created) {
          const auto alive = self.lock();
          if (alive && !created && created.error().code == ErrorCode::kUnavailable) {
            alive->Create(name);
          }
        });
  }

  void Obey(const Mirror& queues, const std::string& name, const std::string& action) {
    const Value* const queue = queues.Find({"", name});
    if (queue == nullptr || name == "root") {
      return;
    }
    if (action == "OpenQueue") {
      PatchStatus(name, MakeMap({{"state", "Open"}}));
    } else if (action == "CloseQueue") {
      PatchStatus(name, MakeMap({{"state", "Closing"}}));
    }
  }

  void Write(const Mirror& queues, const std::map<std::string, QueueLoad>& loads) {
    for (const auto& [key, queue] : queues.objects()) {
      if (busy_.contains(key.name) || IsDeleting(queue)) {
        continue;
      }
      if (key.name != "root" && TextAt(queue, {"spec", "parent"}).empty()) {
        Patch(key.name, MakeMap({{"spec", MakeMap({{"parent", "root"}})}}), "");
      }
      const auto load = loads.find(key.name);
      WriteOne(key.name, queue, load == loads.end() ? QueueLoad() : load->second);
    }
  }

 private:
  void WriteOne(const std::string& name, const Value& queue, const QueueLoad& load) {
    const Value none{Value::Map{}};
    const Value* const there = queue.Find("status");
    const Value& status = there != nullptr && there->IsMap() ? *there : none;
    Value wanted = status;
    wanted.Set("state", NextState(TextAt(status, {"state"}), load));
    constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kCounters = {
        {{"pending", "Pending"},
         {"running", "Running"},
         {"inqueue", "Inqueue"},
         {"completed", "Completed"},
         {"unknown", "Unknown"}}};
    for (const auto& [field, phase] : kCounters) {
      const auto found = load.groups.find(std::string(phase));
      if (found == load.groups.end()) {
        wanted.Erase(field);
      } else {
        wanted.Set(field, found->second);
      }
    }
    wanted.Set("allocated", load.allocated.IsMap() ? load.allocated : Value(Value::Map{}));
    if (auto change = MergeDiff(status, wanted)) {
      PatchStatus(name, *std::move(change));
    }
  }

  void PatchStatus(const std::string& name, Value change) {
    Patch(name, MakeMap({{"status", std::move(change)}}), "status");
  }

  void Patch(const std::string& name, const Value& patch, std::string_view subresource) {
    busy_.insert(name);
    client_.Patch({&resource::Queues(), "", name}, PatchKind::kMerge, patch, subresource,
                  [self = std::weak_ptr<Impl>(weak_from_this()), name](const Result<Value>&) {
                    if (const auto alive = self.lock()) {
                      alive->busy_.erase(alive->busy_.find(name));
                    }
                  });
  }

  Client& client_;
  std::multiset<std::string> busy_;
};

QueueLife::QueueLife(Client& client) : impl_(std::make_shared<Impl>(client)) {}
QueueLife::~QueueLife() = default;
void QueueLife::CreateOwn() {
  impl_->Create("root");
  impl_->Create("default");
}
void QueueLife::Obey(const Mirror& queues, const std::string& name, const std::string& action) {
  impl_->Obey(queues, name, action);
}
void QueueLife::Write(const Mirror& queues, const std::map<std::string, QueueLoad>& loads) {
  impl_->Write(queues, loads);
}

}  // namespace caldera::sandbox
