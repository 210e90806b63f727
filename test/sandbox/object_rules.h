// What the API machinery does to an object on its way into the store, whatever its kind: checks,
// defaults, the fields that only the server writes, and what belongs to the status subresource.
// Source: k8s.io/apiserver pkg/registry/rest (BeforeCreate, BeforeUpdate). Pure.
#pragma once

#include <string>

#include "federation/time.h"
#include "test/sandbox/answer.h"
#include "test/sandbox/store.h"

namespace caldera::sandbox {

/// Names that a create sets and nothing changes later.
struct Birth {
  std::string uid;
  std::string name_suffix;  ///< For generateName.
  Time now;
};

/// A time as metadata has it: whole seconds.
std::string MetaTime(Time time);

/// Refuses a body whose apiVersion, kind, metadata or namespace do not fit the path, and gives it
/// those it lacks.
Answer<void> FitToPath(const Kind& kind, const std::string& ns, Value& object);

/// Metadata that every object must have right: name, labels, annotations, finalizers, owners.
Answer<void> CheckObject(const Kind& kind, const Value& object);

/// Turns what a client posted into what is stored. `object` passed FitToPath.
Answer<void> PrepareCreate(const Kind& kind, const Birth& birth, Value& object);

/// `object` is the wished state, `old` the stored one; `status`: the write goes to the status
/// subresource. Afterwards `object` is what to store but for its resourceVersion.
void PrepareUpdate(const Kind& kind, const Value& old, bool status, Value& object);

/// True where the two differ in more than metadata.resourceVersion.
bool Differs(const Value& old, const Value& object);

}  // namespace caldera::sandbox
