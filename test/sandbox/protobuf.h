// The protobuf bodies that `kubectl create` sends for compiled-in kinds, as objects. Sources: the
// protobuf wire format; generated.proto of k8s.io/api and k8s.io/apimachinery 0.36; the envelope
// runtime.Unknown. Pure.
#pragma once

#include <string_view>

#include "federation/document.h"
#include "test/sandbox/answer.h"

namespace caldera::sandbox {

/// Takes Namespace, ConfigMap, Secret, ServiceAccount, PriorityClass and the four kinds of RBAC.
/// Refused: 415 for other kinds, 400 for what is malformed or has a field that is not known here.
Answer<Value> ParseProtobuf(std::string_view body);

}  // namespace caldera::sandbox
