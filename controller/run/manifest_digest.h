// Digests by which the controller tells whether somebody else changed what it wrote. Pure.
#pragma once

#include <string>

#include "federation/document.h"

namespace caldera {

/// Of an object that a Work carries, without what Karmada's own webhook and its API server add or
/// take away: status, metadata but for name, namespace and the labels and annotations outside of
/// karmada.io, a Job's ttlSecondsAfterFinished, and fields that are null. SHA-256, lower-case hex.
std::string ManifestDigest(const Value& manifest);

/// A digest of a status: the same for any order of keys, and whether a field is null or absent;
/// empty for null and for an empty map.
std::string StatusDigest(const Value& status);

}  // namespace caldera
