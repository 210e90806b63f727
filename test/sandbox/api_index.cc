#include "test/sandbox/api_index.h"

#include <utility>

#include "controller/kube/json_reader.h"
#include "test/sandbox/tree.h"

namespace caldera::sandbox {
namespace {

std::string PathOf(const std::string& api_version) {
  return (api_version.find('/') == std::string::npos ? "/api/" : "/apis/") + api_version;
}

Result<Value> BodyOf(const std::string& path, const Result<HttpResponse>& response) {
  if (!response) {
    return tl::unexpected<Error>(response.error());
  }
  if (response->status == 404) {
    return Fail(ErrorCode::kNotFound, path + ": not found");
  }
  if (response->status != 200) {
    return Fail(ErrorCode::kUnavailable, path + ": status " + std::to_string(response->status));
  }
  return ParseJson(response->body);
}

}  // namespace

struct ApiIndex::Impl : std::enable_shared_from_this<ApiIndex::Impl> {
  explicit Impl(Client& used) : client(used) {}

  using Kinds = std::map<std::string, ResourceType>;
  using BodyHandler = std::function<void(Result<Value>)>;

  void Get(const std::string& path, BodyHandler done) {
    HttpRequest request;
    request.path = path;
    client.Raw(std::move(request), "get", "APIResourceList",
               [self = shared_from_this(), path,
                done = std::move(done)](const Result<HttpResponse>& response) {
                 if (!self->stopped) {
                   done(BodyOf(path, response));
                 }
               });
  }

  void Keep(const std::string& api_version, const Value& list) {
    const size_t slash = api_version.find('/');
    Kinds& kinds = by_version[api_version];
    for (const Value& entry : ListAt(list, {"resources"})) {
      const std::string plural = TextAt(entry, {"name"});
      const std::string kind = TextAt(entry, {"kind"});
      if (plural.find('/') == std::string::npos && !kinds.contains(kind)) {
        ResourceType type;
        type.group = slash == std::string::npos ? "" : api_version.substr(0, slash);
        type.version = slash == std::string::npos ? api_version : api_version.substr(slash + 1);
        type.plural = plural;
        type.kind = kind;
        type.namespaced = FlagAt(entry, {"namespaced"});
        kinds.emplace(kind, std::move(type));
      }
    }
  }

  void RefreshVersions(const std::shared_ptr<std::vector<std::string>>& versions,
                       const DoneHandler& done) {
    if (versions->empty()) {
      return done({});
    }
    const std::string version = versions->back();
    versions->pop_back();
    Get(PathOf(version), [this, version, versions, done](const Result<Value>& list) {
      if (list) {
        Keep(version, *list);
      } else if (list.error().code != ErrorCode::kNotFound) {
        return done(tl::unexpected<Error>(list.error()));
      }
      RefreshVersions(versions, done);
    });
  }

  Client& client;
  bool stopped = false;
  std::map<std::string, Kinds> by_version;  // Types are pointed to: never erased.
};

ApiIndex::ApiIndex(Client& client) : impl_(std::make_shared<Impl>(client)) {}
ApiIndex::~ApiIndex() { impl_->stopped = true; }

void ApiIndex::Resolve(const std::string& api_version, const std::string& kind, TypeHandler done) {
  const auto find = [impl = impl_.get(), api_version, kind]() -> const ResourceType* {
    const auto kinds = impl->by_version.find(api_version);
    if (kinds == impl->by_version.end()) {
      return nullptr;
    }
    const auto found = kinds->second.find(kind);
    return found == kinds->second.end() ? nullptr : &found->second;
  };
  if (const ResourceType* const type = find()) {
    return done(type);
  }
  impl_->Get(PathOf(api_version), [impl = impl_.get(), find, api_version, kind,
                                   done = std::move(done)](const Result<Value>& list) {
    if (!list && list.error().code != ErrorCode::kNotFound) {
      return done(tl::unexpected<Error>(list.error()));
    }
    if (list) {
      impl->Keep(api_version, *list);
    }
    const ResourceType* const type = find();
    if (type == nullptr) {
      return done(Fail(ErrorCode::kNotFound,
                       "no matches for kind \"" + kind + "\" in version \"" + api_version + "\""));
    }
    done(type);
  });
}

void ApiIndex::Refresh(DoneHandler done) {
  Impl* const impl = impl_.get();
  impl->Get("/apis", [impl, done = std::move(done)](const Result<Value>& groups) {
    if (!groups) {
      return done(tl::unexpected<Error>(groups.error()));
    }
    auto versions = std::make_shared<std::vector<std::string>>();
    versions->emplace_back("v1");
    for (const Value& group : ListAt(*groups, {"groups"})) {
      versions->push_back(TextAt(group, {"preferredVersion", "groupVersion"}));
    }
    impl->RefreshVersions(versions, done);
  });
}

const ResourceType* ApiIndex::FindPlural(const std::string& plural) const {
  for (const auto& [version, kinds] : impl_->by_version) {
    for (const auto& [kind, type] : kinds) {
      if (type.plural == plural) {
        return &type;
      }
    }
  }
  return nullptr;
}

Value ApiIndex::Enablements() const {
  Value::List list;
  for (const auto& [version, kinds] : impl_->by_version) {
    Value::List resources;
    for (const auto& [kind, type] : kinds) {
      resources.push_back(MakeMap({{"kind", kind}, {"name", type.plural}}));
    }
    list.push_back(MakeMap({{"groupVersion", version}, {"resources", std::move(resources)}}));
  }
  return list;
}

}  // namespace caldera::sandbox
