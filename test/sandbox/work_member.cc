#include "test/sandbox/work_member.h"

#include <utility>

#include "controller/kube/json_reader.h"
#include "test/sandbox/cluster_summary.h"
#include "test/sandbox/work_manifest.h"

namespace caldera::sandbox {
namespace {

ClientOptions OnceOnly() {
  ClientOptions options;
  options.max_attempts = 1;
  return options;
}

// What is asked while a member hangs should fail soon: a retry comes from the Work itself.
ClientOptions FewAttempts() {
  ClientOptions options;
  options.requests_per_second = 2'000;
  options.burst = 4'000;
  options.max_attempts = 2;
  return options;
}

std::string NameOf(const Value& manifest) {
  const ObjectKey key = KeyOf(manifest);
  return "kind=" + TextAt(manifest, {"kind"}) + ", " + key.ns + "/" + key.name;
}

Error AlreadyThere(const Value& manifest) {
  const std::string cluster =
      ClusterOfNamespace(AnnotationOf(manifest, "work.karmada.io/namespace"));
  return {ErrorCode::kConflict,
          "resource(" + NameOf(manifest) + ") already exists in the cluster " + cluster +
              " and the work.karmada.io/conflict-resolution strategy value is empty, Karmada will "
              "not manage this resource"};
}

}  // namespace

WorkMember::WorkMember(HttpTransport& transport, Executor& executor, MemberOptions options,
                       Handlers handlers)
    : executor_(executor),
      options_(options),
      handlers_(std::move(handlers)),
      client_(transport, executor, FewAttempts()),
      probe_(transport, executor, OnceOnly()),
      index_(client_),
      nodes_(
          client_, resource::Nodes(), [](const ObjectKey&, const Value*, const Value*) {}, nullptr),
      pods_(
          client_, resource::Pods(), [](const ObjectKey&, const Value*, const Value*) {}, nullptr) {
}

void WorkMember::Start() { Probe(); }

void WorkMember::Probe() {
  HttpRequest request;
  request.path = "/readyz";
  probe_.Raw(std::move(request), "get", "readyz", [this](const Result<HttpResponse>& response) {
    Settle(response && response->status == 200);
    executor_.PostAfter(options_.probe_every, [this, alive = std::weak_ptr<bool>(alive_)] {
      if (!alive.expired()) {
        Probe();
      }
    });
  });
}

void WorkMember::Settle(bool answered) {
  const Time now = executor_.Now();
  if (health_ == Health::kUnknown || answers_ != answered) {
    answers_since_ = now;
  }
  answers_ = answered;
  const Millis held = now - answers_since_;
  if (health_ == Health::kUnknown) {
    health_ = answered ? Health::kReady : Health::kNotReady;
  } else if (answered && held >= options_.success_threshold) {
    health_ = Health::kReady;
  } else if (!answered && held >= options_.failure_threshold) {
    health_ = Health::kNotReady;
  }
  if (answered && !reading_) {
    Read();
  } else {
    handlers_.on_probed();
  }
}

void WorkMember::Read() {
  reading_ = true;
  if (watched_.empty() && !nodes_.Synced()) {
    nodes_.Start();
    pods_.Start();
  }
  HttpRequest request;
  request.path = "/version";
  client_.Raw(std::move(request), "get", "version", [this](const Result<HttpResponse>& response) {
    if (response && response->status == 200) {
      if (const Result<Value> body = ParseJson(response->body)) {
        version_ = TextAt(*body, {"gitVersion"});
      }
    }
    index_.Refresh([this](const Status&) {
      reading_ = false;
      handlers_.on_probed();
    });
  });
}

Value WorkMember::StatusParts() const {
  Value parts = MakeMap({{"kubernetesVersion", version_}});
  if (const Value kinds = index_.Enablements(); !kinds.AsList().empty()) {
    parts.Set("apiEnablements", kinds);
  }
  if (nodes_.Synced() && pods_.Synced()) {
    parts.Set("nodeSummary", NodeSummary(nodes_.objects()));
    parts.Set("resourceSummary", ResourceSummary(nodes_.objects(), pods_.objects()));
  }
  return parts;
}

void WorkMember::Watch(const ResourceType& type) {
  std::unique_ptr<Mirror>& mirror = watched_[type.Path("")];
  if (mirror == nullptr) {
    mirror = std::make_unique<Mirror>(
        client_, type,
        [this](const ObjectKey&, const Value* before, const Value* after) {
          handlers_.on_object(before, after);
        },
        nullptr);
    mirror->Start();
  }
}

void WorkMember::Look(const ResourceType& type, const ObjectKey& key, ObjectHandler done) {
  const auto mirror = watched_.find(type.Path(""));
  if (mirror != watched_.end() && mirror->second->Synced()) {
    if (const Value* const object = mirror->second->Find(key)) {
      return done(*object);
    }
    return done(Fail(ErrorCode::kNotFound, type.kind + " " + key.name + ": not found"));
  }
  client_.Get({&type, key.ns, key.name}, std::move(done));
}

void WorkMember::Apply(const Value& manifest, DoneHandler done) {
  index_.Resolve(TextAt(manifest, {"apiVersion"}), TextAt(manifest, {"kind"}),
                 [this, manifest, done = std::move(done)](Result<const ResourceType*> type) {
                   if (!type) {
                     return done(tl::unexpected<Error>(std::move(type).error()));
                   }
                   Watch(**type);
                   Look(**type, KeyOf(manifest),
                        [this, type = *type, manifest, done](Result<Value> observed) {
                          if (observed) {
                            return UpdateIn(*type, manifest, *observed, done);
                          }
                          if (observed.error().code != ErrorCode::kNotFound) {
                            return done(tl::unexpected<Error>(std::move(observed).error()));
                          }
                          CreateIn(*type, manifest, done);
                        });
                 });
}

void WorkMember::CreateIn(const ResourceType& type, const Value& manifest, DoneHandler done) {
  const ObjectKey key = KeyOf(manifest);
  client_.Create(
      type, key.ns, PrunedManifest(manifest),
      [this, &type, key, manifest, done = std::move(done)](Result<Value> created) {
        if (created || created.error().code != ErrorCode::kConflict) {
          return done(created ? Status() : tl::unexpected<Error>(std::move(created).error()));
        }
        UpdateAgain(type, manifest, done);
      });
}

void WorkMember::UpdateIn(const ResourceType& type, const Value& manifest, const Value& observed,
                          DoneHandler done) {
  const std::string strategy = AnnotationOf(manifest, "work.karmada.io/conflict-resolution");
  if (!IsManaged(observed) && strategy != "overwrite") {
    return done(tl::unexpected<Error>(AlreadyThere(manifest)));
  }
  std::optional<Value> wanted = WantedUpdate(manifest, observed);
  if (!wanted) {
    return done({});
  }
  const ObjectKey key = KeyOf(manifest);
  client_.Update(
      {&type, key.ns, key.name}, *wanted,
      [this, &type, key, manifest, done = std::move(done)](Result<Value> updated) {
        if (updated || updated.error().code != ErrorCode::kConflict) {
          return done(updated ? Status() : tl::unexpected<Error>(std::move(updated).error()));
        }
        UpdateAgain(type, manifest, done);
      });
}

// The mirror was behind, or somebody writes at the same time.
void WorkMember::UpdateAgain(const ResourceType& type, const Value& manifest, DoneHandler done) {
  const ObjectKey key = KeyOf(manifest);
  client_.Get({&type, key.ns, key.name},
              [this, &type, manifest, done = std::move(done)](Result<Value> observed) {
                if (!observed) {
                  return done(tl::unexpected<Error>(std::move(observed).error()));
                }
                UpdateIn(type, manifest, *observed, done);
              });
}

void WorkMember::Remove(const Value& manifest, DoneHandler done) {
  index_.Resolve(
      TextAt(manifest, {"apiVersion"}), TextAt(manifest, {"kind"}),
      [this, manifest, done = std::move(done)](Result<const ResourceType*> type) {
        if (!type) {
          const bool none = type.error().code == ErrorCode::kNotFound;
          return done(none ? Status() : tl::unexpected<Error>(std::move(type).error()));
        }
        const ObjectKey key = KeyOf(manifest);
        // Not the mirror: what it has not seen yet would be left behind.
        client_.Get(
            {*type, key.ns, key.name}, [this, type = *type, key, done](Result<Value> observed) {
              if (!observed || !IsManaged(*observed)) {
                const bool gone = observed || observed.error().code == ErrorCode::kNotFound;
                return done(gone ? Status() : tl::unexpected<Error>(std::move(observed).error()));
              }
              client_.Delete({type, key.ns, key.name}, {}, [done](Status deleted) {
                const bool gone = deleted || deleted.error().code == ErrorCode::kNotFound;
                done(gone ? Status() : std::move(deleted));
              });
            });
      });
}

}  // namespace caldera::sandbox
