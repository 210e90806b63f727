#include "test/sandbox/writes.h"

#include <algorithm>
#include <utility>

#include "controller/kube/json_reader.h"
#include "controller/kube/json_writer.h"
#include "test/sandbox/body.h"
#include "test/sandbox/object_rules.h"
#include "test/sandbox/patch.h"

namespace caldera::sandbox {
namespace {

constexpr size_t kLargestObject = size_t{1536} << 10U;  // etcd's limit on a request.
constexpr std::string_view kForeground = "foregroundDeletion";
constexpr std::string_view kOrphan = "orphan";
constexpr int64_t kPodGrace = 30;

std::string Precondition(const char* what, const std::string& asked, const std::string& there) {
  return std::string("Precondition failed: ") + what + " in precondition: " + asked + ", " + what +
         " in object meta: " + there;
}

bool IsNamespace(const Kind& kind) {
  return kind.type.group.empty() && kind.type.kind == "Namespace";
}

bool IsPod(const Kind& kind) { return kind.type.group.empty() && kind.type.kind == "Pod"; }

int64_t IntegerAt(const Value& object, std::initializer_list<std::string_view> path,
                  int64_t otherwise) {
  const Value* value = object.At(path);
  return value != nullptr && value->IsInteger() ? value->AsInteger() : otherwise;
}

const Value::List& FinalizersOf(const Value& object) {
  static const Value::List kNone;
  const Value* list = object.At({"metadata", "finalizers"});
  return list != nullptr && list->IsList() ? list->AsList() : kNone;
}

bool AddsFinalizer(const Value& old, const Value& object) {
  const Value::List& before = FinalizersOf(old);
  const Value::List& now = FinalizersOf(object);
  return std::any_of(now.begin(), now.end(), [&](const Value& finalizer) {
    return std::find(before.begin(), before.end(), finalizer) == before.end();
  });
}

// A deleted object goes with its last finalizer; a namespace only when it is empty, which the
// garbage collector sees to, and a pod when its node says that it has stopped.
bool MayGo(const Kind& kind, const Value& object) {
  return object.At({"metadata", "deletionTimestamp"}) != nullptr && FinalizersOf(object).empty() &&
         !IsNamespace(kind) &&
         IntegerAt(object, {"metadata", "deletionGracePeriodSeconds"}, 0) == 0;
}

// How long a pod is left running; 0 where nothing runs.
int64_t GraceOf(const Value& pod, const Value& options) {
  const std::string phase = TextAt(pod, {"status", "phase"});
  if (TextAt(pod, {"spec", "nodeName"}).empty() || phase == "Succeeded" || phase == "Failed") {
    return 0;
  }
  return IntegerAt(options, {"gracePeriodSeconds"},
                   IntegerAt(pod, {"spec", "terminationGracePeriodSeconds"}, kPodGrace));
}

std::string FinalizerFor(const Value& options) {
  const std::string policy = TextAt(options, {"propagationPolicy"});
  const Value* orphan = options.Find("orphanDependents");
  if (policy == "Orphan" || (orphan != nullptr && orphan->IsBool() && orphan->AsBool())) {
    return std::string(kOrphan);
  }
  return policy == "Foreground" ? std::string(kForeground) : std::string();
}

std::string DeletedStatus(const Kind& kind, const StoredObject& object) {
  Value details;
  details.Set("name", object.key.name);
  if (!kind.type.group.empty()) {
    details.Set("group", kind.type.group);
  }
  details.Set("kind", kind.type.plural);
  details.Set("uid", object.uid);
  Value status;
  status.Set("kind", "Status");
  status.Set("apiVersion", "v1");
  status.Set("metadata", Value::Map{});
  status.Set("status", "Success");
  status.Set("details", std::move(details));
  return WriteJson(status);
}

Answer<void> CheckSize(const Value& object) {
  if (WriteJson(object).size() > kLargestObject) {
    return tl::unexpected(OfCode(500, "etcdserver: request is too large"));
  }
  return {};
}

}  // namespace

Writer::Writer(Store& store, Executor& executor, const Catalog& catalog, const std::string& name)
    : store_(store),
      executor_(executor),
      catalog_(catalog),
      random_(static_cast<uint64_t>(executor.Now().time_since_epoch().count())) {
  for (const char c : name) {
    random_ = (random_ ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  }
}

Answer<Written> Writer::Create(const Target& target, Value object) {
  const Kind& kind = *target.kind;
  if (Answer<void> fits = FitToPath(kind, target.key.ns, object); !fits) {
    return tl::unexpected(std::move(fits).error());
  }
  const Birth birth{NewUid(), NewSuffix(), executor_.Now()};
  if (Answer<void> made = PrepareCreate(kind, birth, object); !made) {
    return tl::unexpected(std::move(made).error());
  }
  const ObjectKey key{target.key.ns, TextAt(object, {"metadata", "name"})};
  if (Answer<void> there = CheckNamespace(target, key.name); !there) {
    return tl::unexpected(std::move(there).error());
  }
  if (store_.Find(kind, key) != nullptr) {
    return tl::unexpected(AlreadyExists(kind, key.name));
  }
  if (Answer<void> admitted = Admit(kind, nullptr, object); !admitted) {
    return tl::unexpected(std::move(admitted).error());
  }
  if (Answer<void> sized = CheckSize(object); !sized) {
    return tl::unexpected(std::move(sized).error());
  }
  if (target.dry_run) {
    return Written{201, WriteJson(object)};
  }
  return Written{201, store_.Put(kind, std::move(object))->text};
}

Answer<Written> Writer::Update(const Target& target, Value object) {
  const Kind& kind = *target.kind;
  const ObjectPtr old = store_.Find(kind, target.key);
  if (old == nullptr) {
    return tl::unexpected(NotFound(kind, target.key.name));
  }
  const bool versioned = !kind.builtin || kind.type.kind == "Lease";
  if (versioned && TextAt(object, {"metadata", "resourceVersion"}).empty()) {
    return tl::unexpected(Invalid(kind, target.key.name, "metadata.resourceVersion",
                                  "Invalid value: 0: must be specified for an update"));
  }
  return Change(target, *old, std::move(object));
}

Answer<Written> Writer::Patch(const Target& target, std::string_view media_type,
                              const std::string& body) {
  const Kind& kind = *target.kind;
  const ObjectPtr old = store_.Find(kind, target.key);
  const bool apply = media_type == "application/apply-patch+yaml";
  if (old == nullptr && !apply) {
    return tl::unexpected(NotFound(kind, target.key.name));
  }
  Answer<Value> patch = ParseBody(apply ? "application/yaml" : "application/json", body);
  if (!patch) {
    return tl::unexpected(std::move(patch).error());
  }
  if (old == nullptr) {
    return target.subresource.empty() ? Create(target, *std::move(patch))
                                      : tl::unexpected(NotFound(kind, target.key.name));
  }
  Value object = TreeOf(*old);
  if (apply || media_type == "application/merge-patch+json") {
    ApplyMergePatch(object, *patch);
  } else if (media_type == "application/strategic-merge-patch+json" && kind.builtin) {
    ApplyStrategicPatch(object, *patch);
  } else if (media_type == "application/json-patch+json") {
    if (Answer<void> applied = ApplyJsonPatch(object, *patch); !applied) {
      return tl::unexpected(std::move(applied).error());
    }
  } else {
    return tl::unexpected(UnsupportedMediaType(
        "application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml"));
  }
  return Change(target, *old, std::move(object));
}

Answer<Written> Writer::Change(const Target& target, const StoredObject& old, Value object) {
  const Kind& kind = *target.kind;
  const std::string& name = target.key.name;
  if (Answer<void> fits = FitToPath(kind, target.key.ns, object); !fits) {
    return tl::unexpected(std::move(fits).error());
  }
  const std::string given = TextAt(object, {"metadata", "name"});
  if (given != name) {
    return tl::unexpected(BadRequest("the name of the object (" + given +
                                     ") does not match the name on the URL (" + name + ")"));
  }
  const std::string uid = TextAt(object, {"metadata", "uid"});
  if (!uid.empty() && uid != old.uid) {
    return tl::unexpected(Conflict(kind, name, Precondition("UID", uid, old.uid)));
  }
  const std::string version = TextAt(object, {"metadata", "resourceVersion"});
  if (!version.empty() && version != std::to_string(old.version)) {
    return tl::unexpected(Modified(kind, name));
  }
  const bool status = target.subresource == "status";
  const Value before = TreeOf(old);
  PrepareUpdate(kind, before, status, object);
  if (Answer<void> checked = CheckObject(kind, object); !checked) {
    return tl::unexpected(std::move(checked).error());
  }
  if (old.deleting && AddsFinalizer(before, object)) {
    return tl::unexpected(
        Invalid(kind, name, "metadata.finalizers",
                "Forbidden: no new finalizers can be added if the object is being deleted"));
  }
  if (!status) {
    if (Answer<void> admitted = Admit(kind, &before, object); !admitted) {
      return tl::unexpected(std::move(admitted).error());
    }
  }
  if (Answer<void> sized = CheckSize(object); !sized) {
    return tl::unexpected(std::move(sized).error());
  }
  return Commit(target, old, before, std::move(object));
}

Written Writer::Commit(const Target& target, const StoredObject& old, const Value& before,
                       Value object) {
  if (target.dry_run) {
    return {200, WriteJson(object)};
  }
  if (!Differs(before, object)) {
    return {200, old.text};
  }
  if (!MayGo(*target.kind, object)) {
    return {200, store_.Put(*target.kind, std::move(object))->text};
  }
  std::string text = WriteJson(object);
  store_.Remove(*target.kind, target.key);
  return {200, std::move(text)};
}

Answer<Written> Writer::Delete(const Target& target, const Value& options) {
  const Kind& kind = *target.kind;
  const ObjectPtr old = store_.Find(kind, target.key);
  if (old == nullptr) {
    return tl::unexpected(NotFound(kind, target.key.name));
  }
  const std::string uid = TextAt(options, {"preconditions", "uid"});
  if (!uid.empty() && uid != old->uid) {
    return tl::unexpected(Conflict(kind, old->key.name, Precondition("UID", uid, old->uid)));
  }
  const std::string version = TextAt(options, {"preconditions", "resourceVersion"});
  const std::string there = std::to_string(old->version);
  if (!version.empty() && version != there) {
    return tl::unexpected(
        Conflict(kind, old->key.name, Precondition("ResourceVersion", version, there)));
  }
  if (IsNamespace(kind) && (old->key.name == "default" || old->key.name.starts_with("kube-"))) {
    return tl::unexpected(Forbidden(kind, old->key.name, "this namespace may not be deleted"));
  }
  const std::string finalizer = FinalizerFor(options);
  const int64_t grace = IsPod(kind) ? GraceOf(TreeOf(*old), options) : 0;
  if (IsNamespace(kind) || !finalizer.empty() || old->has_finalizers || grace > 0) {
    return MarkDeleting(target, *old, grace, finalizer);
  }
  if (!target.dry_run) {
    store_.Remove(kind, old->key);
  }
  return Written{200, DeletedStatus(kind, *old)};
}

Written Writer::MarkDeleting(const Target& target, const StoredObject& old, int64_t grace,
                             const std::string& finalizer) {
  const Value before = TreeOf(old);
  Value object = before;
  Value& metadata = *object.Find("metadata");
  if (!old.deleting) {
    metadata.Set("deletionTimestamp", MetaTime(executor_.Now() + std::chrono::seconds(grace)));
    metadata.Set("deletionGracePeriodSeconds", grace);
    if (const Value* generation = metadata.Find("generation")) {
      metadata.Set("generation", generation->AsInteger() + 1);
    }
    if (!finalizer.empty()) {
      Value::List finalizers = FinalizersOf(object);
      finalizers.emplace_back(finalizer);
      metadata.Set("finalizers", std::move(finalizers));
    }
  } else if (grace < IntegerAt(metadata, {"deletionGracePeriodSeconds"}, 0)) {
    metadata.Set("deletionGracePeriodSeconds", grace);
  }
  if (IsNamespace(*target.kind)) {
    object.Set("status", Value::Map{{"phase", "Terminating", {}}});
  }
  return Commit(target, old, before, std::move(object));
}

Answer<Written> Writer::Bind(const Target& target, const Value& binding) {
  const ObjectPtr old = store_.Find(*target.kind, target.key);
  if (old == nullptr) {
    return tl::unexpected(NotFound(*target.kind, target.key.name));
  }
  Value pod = TreeOf(*old);
  const std::string node = TextAt(binding, {"target", "name"});
  const std::string bound = TextAt(pod, {"spec", "nodeName"});
  if (node.empty()) {
    return tl::unexpected(
        Invalid(*target.kind, target.key.name, "target.name", "Required value: a node"));
  }
  if (!bound.empty() || old->deleting) {
    return tl::unexpected(
        Conflict(*target.kind, target.key.name,
                 bound.empty() ? "the pod is being deleted" : "pod is already assigned to node"));
  }
  ApplyMergePatch(pod, Value::Map{{"spec", Value::Map{{"nodeName", node, {}}}, {}}});
  if (!target.dry_run) {
    store_.Put(*target.kind, std::move(pod));
  }
  return Written{
      201, R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Success","code":201})"};
}

void Writer::Edit(const Place& place, const std::function<void(Value& object)>& change) {
  const ObjectPtr old = store_.Find(*place.kind, place.key);
  if (old == nullptr) {
    return;
  }
  const Value before = TreeOf(*old);
  Value object = before;
  change(object);
  Commit({place.kind, place.key, "", false}, *old, before, std::move(object));
}

void Writer::Remove(const Place& place) {
  if (store_.Find(*place.kind, place.key) != nullptr) {
    store_.Remove(*place.kind, place.key);
  }
}

void Writer::EnsureNamespace(const std::string& name) {
  Value object = Value::Map{{"metadata", Value::Map{{"name", name, {}}}, {}}};
  // Refused only where it is there already.
  (void)Create({catalog_.Find("", "v1", "namespaces"), {}, "", false}, std::move(object));
}

Answer<void> Writer::CheckNamespace(const Target& target, const std::string& name) const {
  if (!target.kind->type.namespaced) {
    return {};
  }
  const Kind& namespaces = *catalog_.Find("", "v1", "namespaces");
  const ObjectPtr ns = store_.Find(namespaces, {"", target.key.ns});
  if (ns == nullptr) {
    return tl::unexpected(NotFound(namespaces, target.key.ns));
  }
  if (!ns->deleting) {
    return {};
  }
  Refusal refusal = Forbidden(*target.kind, name,
                              "unable to create new content in namespace " + target.key.ns +
                                  " because it is being terminated");
  Value cause;
  cause.Set("reason", "NamespaceTerminating");
  cause.Set("message", "namespace " + target.key.ns + " is being terminated");
  cause.Set("field", "metadata.namespace");
  refusal.details.Set("causes", Value::List{std::move(cause)});
  return tl::unexpected(std::move(refusal));
}

Answer<void> Writer::Admit(const Kind& kind, const Value* before, Value& object) const {
  if (!admission_) {
    return {};
  }
  if (Status admitted = admission_(kind.type, before, object); !admitted) {
    return tl::unexpected(Refusal{400, "", admitted.error().message, Value()});
  }
  return {};
}

uint64_t Writer::NextRandom() {
  uint64_t bits = (random_ += 0x9e3779b97f4a7c15ULL);  // splitmix64
  bits = (bits ^ (bits >> 30U)) * 0xbf58476d1ce4e5b9ULL;
  bits = (bits ^ (bits >> 27U)) * 0x94d049bb133111ebULL;
  return bits ^ (bits >> 31U);
}

std::string Writer::NewUid() {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string uid = "xxxxxxxx-xxxx-4xxx-8xxx-xxxxxxxxxxxx";
  uint64_t bits = 0;
  unsigned left = 0;
  for (char& c : uid) {
    if (c != 'x') {
      continue;
    }
    if (left == 0) {
      bits = NextRandom();
      left = 16;
    }
    c = kDigits[bits & 15U];
    bits >>= 4U;
    --left;
  }
  return uid;
}

std::string Writer::NewSuffix() {
  constexpr std::string_view kLetters = "bcdfghjklmnpqrstvwxz2456789";
  uint64_t bits = NextRandom();
  std::string suffix;
  for (int i = 0; i < 5; ++i) {
    suffix += kLetters[bits % kLetters.size()];
    bits /= kLetters.size();
  }
  return suffix;
}

}  // namespace caldera::sandbox
