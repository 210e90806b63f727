// The kinds that a sandbox API server serves and what sets each apart: names, status subresource,
// what may be selected on, what `kubectl get` prints. Facts of the kinds are those of Kubernetes
// 1.36 and of the CRDs of Volcano and Karmada. Immutable once made.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "controller/kube/client.h"

namespace caldera::sandbox {

/// A column of `kubectl get`. `path` is that of a CRD's printer column (table.h), or a name with a
/// leading `@` that table.cc computes.
struct Column {
  std::string name;
  std::string type;
  std::string path;
  int priority = 0;  ///< 1: only with `-o wide`.
};

struct Kind {
  ResourceType type;
  std::string singular;
  std::vector<std::string> short_names;
  bool builtin = false;    ///< Compiled into the real server: strategic merge patches, updates
                           ///< without a resourceVersion, list items without apiVersion and kind.
  bool has_status = true;  ///< `status` is written through its subresource only.
  bool generation = true;  ///< metadata.generation counts changes beside metadata and status.
  bool born_with_status = false;    ///< A create may bring a status.
  std::vector<std::string> fields;  ///< Selectable beside metadata.name and .namespace.
  std::vector<Column> columns;      ///< Beside Name and Age.

  /// `jobs.batch.volcano.sh`, `pods`: as messages name it.
  [[nodiscard]] std::string Resource() const {
    return type.group.empty() ? type.plural : type.plural + "." + type.group;
  }
};

class Catalog {
 public:
  /// The core kinds, and `types`; what is known of one of these by its group and plural is added to
  /// it, any other gets a status subresource and the columns Name and Age.
  explicit Catalog(const std::vector<ResourceType>& types);
  Catalog(const Catalog&) = delete;
  Catalog& operator=(const Catalog&) = delete;
  ~Catalog() = default;

  [[nodiscard]] const Kind* Find(std::string_view group, std::string_view version,
                                 std::string_view plural) const;
  [[nodiscard]] bool HasGroupVersion(std::string_view group, std::string_view version) const;
  [[nodiscard]] const std::vector<Kind>& kinds() const { return kinds_; }

 private:
  std::vector<Kind> kinds_;  // Kinds are pointed to: complete after the constructor.
};

}  // namespace caldera::sandbox
