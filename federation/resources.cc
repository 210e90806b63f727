#include "federation/resources.h"

#include <algorithm>

#include "federation/assert.h"

namespace caldera {
namespace {

constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
constexpr Int128 kNanoPerUnit = 1'000'000'000;
constexpr Int128 kNanoPerMilli = 1'000'000;

int64_t Saturated(Int128 value) {
  return static_cast<int64_t>(std::clamp<Int128>(value, kMin, kMax));
}

bool StartsWith(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}

// `requests.memory` and `limits.memory` are amounts of `memory`.
std::string_view WithoutQuotaPrefix(std::string_view resource) {
  for (const std::string_view prefix : {"requests.", "limits."}) {
    if (StartsWith(resource, prefix)) {
      return resource.substr(prefix.size());
    }
  }
  return resource;
}

}  // namespace

int64_t SaturatingMul(int64_t a, int64_t n) { return Saturated(Int128{a} * n); }

bool IsMilli(std::string_view resource) { return WithoutQuotaPrefix(resource) == "cpu"; }

bool IsBytes(std::string_view resource) {
  const std::string_view name = WithoutQuotaPrefix(resource);
  return name == "memory" || name == "ephemeral-storage" || name == "storage" ||
         StartsWith(name, "hugepages-");
}

bool IsDevice(std::string_view resource) {
  const std::string_view name = WithoutQuotaPrefix(resource);
  return name.find('/') != std::string_view::npos && !StartsWith(name, "count/") &&
         name.find("kubernetes.io/") == std::string_view::npos;
}

int64_t RequestAmount(std::string_view resource, const Quantity& quantity) {
  return IsMilli(resource) ? quantity.MilliValue() : quantity.Value();
}

int64_t CapacityAmount(std::string_view resource, const Quantity& quantity) {
  return IsMilli(resource) ? quantity.MilliFloor() : quantity.ValueFloor();
}

std::string FormatAmount(std::string_view resource, int64_t amount) {
  if (amount == kUnlimited) {
    return "unlimited";
  }
  if (IsMilli(resource)) {
    return Quantity(amount * kNanoPerMilli, Quantity::Format::kDecimalSI).Canonical();
  }
  const auto format =
      IsBytes(resource) ? Quantity::Format::kBinarySI : Quantity::Format::kDecimalSI;
  return Quantity(amount * kNanoPerUnit, format).Canonical();
}

void AddTo(ResourceList& into, const ResourceList& from) {
  for (const auto& [name, amount] : from) {
    int64_t& sum = into[name];
    sum = SaturatingAdd(sum, amount);
  }
}

ResourceList Times(const ResourceList& list, int64_t n) {
  ResourceList out = list;
  for (auto& [name, amount] : out) {
    amount = SaturatingMul(amount, n);
  }
  return out;
}

ResourceIndex ResourceCatalog::Intern(std::string_view name) {
  if (const auto known = index_.find(name); known != index_.end()) {
    return known->second;
  }
  CALDERA_ASSERT(names_.size() < kNone);
  const auto index = static_cast<ResourceIndex>(names_.size());
  names_.emplace_back(name);
  index_.emplace(name, index);
  const auto place =
      std::lower_bound(by_name_.begin(), by_name_.end(), name,
                       [&](ResourceIndex r, std::string_view key) { return names_[r] < key; });
  by_name_.insert(place, index);
  return index;
}

ResourceIndex ResourceCatalog::Find(std::string_view name) const {
  const auto known = index_.find(name);
  return known == index_.end() ? kNone : known->second;
}

void ResourceVector::Add(const ResourceVector& other) {
  Widen(other.size());
  for (ResourceIndex r = 0; r < other.size(); ++r) {
    At(r) = SaturatingAdd(At(r), other[r]);
  }
}

void ResourceVector::Subtract(const ResourceVector& other) {
  Widen(other.size());
  for (ResourceIndex r = 0; r < other.size(); ++r) {
    At(r) = SaturatingSub(At(r), other[r]);
  }
}

void ResourceVector::AddTimes(const ResourceVector& other, int64_t n) {
  Widen(other.size());
  for (ResourceIndex r = 0; r < other.size(); ++r) {
    At(r) = SaturatingAdd(At(r), SaturatingMul(other[r], n));
  }
}

bool ResourceVector::FitsIn(const ResourceVector& other) const {
  const size_t count = std::max(size(), other.size());
  for (ResourceIndex r = 0; r < count; ++r) {
    if ((*this)[r] > other[r]) {
      return false;
    }
  }
  return true;
}

bool ResourceVector::IsZero() const {
  for (ResourceIndex r = 0; r < size(); ++r) {
    if ((*this)[r] != 0) {
      return false;
    }
  }
  return true;
}

bool operator==(const ResourceVector& a, const ResourceVector& b) {
  const size_t count = std::max(a.size(), b.size());
  for (ResourceIndex r = 0; r < count; ++r) {
    if (a[r] != b[r]) {
      return false;
    }
  }
  return true;
}

void ResourceLimits::Tighten(const ResourceLimits& other) {
  Widen(other.size());
  for (ResourceIndex r = 0; r < other.size(); ++r) {
    At(r) = std::min(At(r), other[r]);
  }
}

ResourceVector ToVector(ResourceCatalog& catalog, const ResourceList& list) {
  ResourceVector vector;
  for (const auto& [name, amount] : list) {
    vector.Set(catalog.Intern(name), amount);
  }
  return vector;
}

ResourceLimits ToLimits(ResourceCatalog& catalog, const ResourceList& list) {
  ResourceLimits limits;
  for (const auto& [name, amount] : list) {
    limits.Set(catalog.Intern(name), amount);
  }
  return limits;
}

ResourceList ToList(const ResourceCatalog& catalog, const ResourceVector& vector) {
  ResourceList list;
  for (const ResourceIndex r : catalog.ByName()) {
    if (vector[r] != 0) {
      list.emplace(catalog.Name(r), vector[r]);
    }
  }
  return list;
}

}  // namespace caldera
