#include "test/sandbox/apply.h"

#include <algorithm>
#include <iostream>
#include <iterator>
#include <memory>
#include <set>
#include <sstream>
#include <utility>

#include "controller/kube/input.h"
#include "controller/kube/rest_transport.h"
#include "test/sandbox/api_index.h"
#include "test/sandbox/tree.h"

namespace caldera::sandbox {
namespace {

class Applier {
 public:
  Applier(Client& client, Executor& executor, std::vector<Value> objects)
      : client_(client), executor_(executor), index_(client), objects_(std::move(objects)) {}

  void Next() {
    if (at_ == objects_.size()) {
      return executor_.Stop();
    }
    const Value& object = objects_[at_];
    index_.Resolve(TextAt(object, {"apiVersion"}), TextAt(object, {"kind"}),
                   [this](Result<const ResourceType*> type) {
                     if (!type) {
                       return End(type.error());
                     }
                     Create(**type);
                   });
  }

  [[nodiscard]] const Status& status() const { return status_; }

 private:
  void Create(const ResourceType& type) {
    const Value& object = objects_[at_];
    ObjectKey key = KeyOf(object);
    if (type.namespaced && key.ns.empty()) {
      key.ns = "default";
    }
    client_.Create(type, key.ns, object, [this, &type, key](const Result<Value>& created) {
      if (created) {
        return Say(type, key, "created");
      }
      if (created.error().code != ErrorCode::kConflict) {
        return End(created.error());
      }
      client_.Patch({&type, key.ns, key.name}, PatchKind::kMerge, objects_[at_], "",
                    [this, &type, key](const Result<Value>& patched) {
                      patched ? Say(type, key, "configured") : End(patched.error());
                    });
    });
  }

  void Say(const ResourceType& type, const ObjectKey& key, const std::string& what) {
    std::string kind = type.kind;
    std::transform(kind.begin(), kind.end(), kind.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    std::cout << kind << "/" << (key.ns.empty() ? "" : key.ns + "/") << key.name << " " << what
              << '\n';
    ++at_;
    Next();
  }

  void End(const Error& error) {
    const Value& object = objects_[at_];
    status_ =
        tl::unexpected<Error>(error.Within(TextAt(object, {"kind"}) + "/" + KeyOf(object).name));
    executor_.Stop();
  }

  Client& client_;
  Executor& executor_;
  ApiIndex index_;
  std::vector<Value> objects_;
  size_t at_ = 0;
  Status status_;
};

Result<std::vector<Value>> ReadObjects(const ApplyOptions& options) {
  std::vector<Value> objects;
  std::set<std::string> namespaces;
  std::istringstream none;
  const ReadReport report = ReadInput(options.paths, none, [&](Document document) {
    const std::string kind = TextAt(document.root, {"kind"});
    if (std::find(options.skip.begin(), options.skip.end(), kind) == options.skip.end()) {
      namespaces.insert(KeyOf(document.root).ns);
      objects.push_back(std::move(document.root));
    }
  });
  if (!report.errors.empty()) {
    const Issue& first = report.errors.front();
    return Fail(ErrorCode::kInvalid, first.file + ": " + first.message);
  }
  namespaces.erase("");
  if (options.create_namespaces) {
    std::vector<Value> first;
    first.reserve(namespaces.size() + objects.size());
    for (const std::string& ns : namespaces) {
      first.push_back(MakeMap(
          {{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", MakeMap({{"name", ns}})}}));
    }
    std::move(objects.begin(), objects.end(), std::back_inserter(first));
    objects = std::move(first);
  }
  return objects;
}

}  // namespace

Status Apply(const RestConfig& config, const ApplyOptions& options) {
  CALDERA_TRY(std::vector<Value> objects, ReadObjects(options));
  const SystemClock clock;
  Executor executor(clock);
  CALDERA_TRY(const auto transport, RestTransport::Create(config, executor, {}));
  Client client(*transport, executor, {});
  Applier applier(client, executor, std::move(objects));
  executor.Post([&] { applier.Next(); });
  executor.Run();
  return applier.status();
}

}  // namespace caldera::sandbox
