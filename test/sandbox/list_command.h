// `caldera-sandbox get`: a list as kubectl would print it, for machines without kubectl. One
// thread.
#pragma once

#include <string>

#include "controller/kube/kubeconfig.h"
#include "federation/result.h"

namespace caldera::sandbox {

/// Prints the server's own table of all objects of a kind (`jobs`, `works`), of all namespaces, to
/// standard output. Error: the server has no such kind, or its answer.
Status PrintList(const RestConfig& config, const std::string& plural);

}  // namespace caldera::sandbox
