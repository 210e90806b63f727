#include "federation/resources.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace caldera {
namespace {

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
constexpr int64_t kMin = std::numeric_limits<int64_t>::min();

TEST_CASE("amounts: arithmetic stops at the ends") {
  CHECK(SaturatingAdd(1, 2) == 3);
  CHECK(SaturatingAdd(kMax - 1, 5) == kMax);
  CHECK(SaturatingAdd(kMin, -1) == kMin);
  CHECK(SaturatingAdd(kUnlimited, -5) == kUnlimited);
  CHECK(SaturatingSub(kUnlimited, 5) == kUnlimited);
  CHECK(SaturatingSub(5, kMin) == kMax);
  CHECK(SaturatingSub(-2, kMax) == kMin);
  CHECK(SaturatingMul(kMax / 2, 3) == kMax);
  CHECK(SaturatingMul(kMin, 2) == kMin);
  CHECK(SaturatingMul(kUnlimited, 7) == kUnlimited);
  CHECK(SaturatingMul(7, 0) == 0);
}

TEST_CASE("amounts: each resource has one unit") {
  const auto amount = [](const std::string& resource, const std::string& text) {
    return RequestAmount(resource, *Quantity::Parse(text));
  };
  CHECK(amount("cpu", "1500m") == 1500);
  CHECK(amount("requests.cpu", "2") == 2000);
  CHECK(amount("limits.cpu", "0.0001") == 1);
  CHECK(amount("memory", "1Gi") == 1'073'741'824);
  CHECK(amount("memory", "100m") == 1);
  CHECK(amount("nvidia.com/gpu", "8") == 8);
  CHECK(amount("example.com/cpu", "8") == 8);
  CHECK(CapacityAmount("cpu", *Quantity::Parse("0.0019")) == 1);
  CHECK(CapacityAmount("memory", *Quantity::Parse("1.9")) == 1);
}

TEST_CASE("amounts: canonical text") {
  struct Row {
    std::string resource;
    int64_t amount;
    std::string text;
  };
  for (const Row& row : std::vector<Row>{{"cpu", 1500, "1500m"},
                                         {"cpu", 2000, "2"},
                                         {"cpu", 0, "0"},
                                         {"cpu", -500, "-500m"},
                                         {"memory", 1'073'741'824, "1Gi"},
                                         {"memory", 1'610'612'736, "1536Mi"},
                                         {"memory", 1000, "1k"},
                                         {"hugepages-2Mi", 4'194'304, "4Mi"},
                                         {"requests.memory", 1024, "1Ki"},
                                         {"nvidia.com/gpu", 8, "8"},
                                         {"volcano.sh/vgpu-memory", 24'000, "24k"},
                                         {"pods", 110, "110"},
                                         {"cpu", kUnlimited, "unlimited"},
                                         {"memory", kMin, "-8Ei"}}) {
    CAPTURE(row.resource);
    CHECK(FormatAmount(row.resource, row.amount) == row.text);
  }
}

TEST_CASE("resources: kinds by name") {
  CHECK(IsMilli("cpu"));
  CHECK(!IsMilli("nvidia.com/gpu"));
  for (const std::string name : {"memory", "ephemeral-storage", "storage", "hugepages-1Gi"}) {
    CHECK(IsBytes(name));
    CHECK(!IsDevice(name));
  }
  CHECK(!IsBytes("pods"));
  CHECK(IsDevice("nvidia.com/mig-1g.5gb"));
  CHECK(IsDevice("requests.nvidia.com/gpu"));
  CHECK(!IsDevice("count/jobs.batch"));
  CHECK(!IsDevice("cpu"));
}

TEST_CASE("resource lists: sums and multiples") {
  ResourceList list{{"cpu", 1000}, {"memory", kMax - 1}};
  AddTo(list, {{"cpu", 500}, {"memory", 10}, {"pods", 1}});
  CHECK(list == ResourceList{{"cpu", 1500}, {"memory", kMax}, {"pods", 1}});
  CHECK(Times({{"cpu", 1500}, {"pods", 1}}, 3) == ResourceList{{"cpu", 4500}, {"pods", 3}});
}

TEST_CASE("catalogue: indexes stay, names sort") {
  ResourceCatalog catalog;
  const ResourceIndex memory = catalog.Intern("memory");
  const ResourceIndex cpu = catalog.Intern("cpu");
  CHECK(catalog.Intern("memory") == memory);
  CHECK(catalog.Find("cpu") == cpu);
  CHECK(catalog.Find("pods") == ResourceCatalog::kNone);
  CHECK(catalog.size() == 2);
  CHECK(catalog.Name(memory) == "memory");
  CHECK(catalog.ByName() == std::vector<ResourceIndex>{cpu, memory});
}

TEST_CASE("vectors: missing entries count as 0") {
  ResourceCatalog catalog;
  ResourceVector a = ToVector(catalog, {{"cpu", 1000}});
  const ResourceVector b = ToVector(catalog, {{"cpu", 500}, {"memory", 7}});
  CHECK(!b.FitsIn(a));
  CHECK(ToVector(catalog, {{"cpu", 500}}).FitsIn(b));
  CHECK(ToVector(catalog, {{"cpu", 0}, {"memory", 0}}) == ResourceVector());
  CHECK(ResourceVector().FitsIn(ResourceVector()));
  a.Add(b);
  CHECK(ToList(catalog, a) == ResourceList{{"cpu", 1500}, {"memory", 7}});
  a.Subtract(b);
  CHECK(ToList(catalog, a) == ResourceList{{"cpu", 1000}});
  a.AddTimes(b, 3);
  CHECK(ToList(catalog, a) == ResourceList{{"cpu", 2500}, {"memory", 21}});
  a.AddTimes(a, -1);
  CHECK(a.IsZero());
  ResourceVector negative;
  negative.Subtract(b);
  CHECK(negative.FitsIn(ResourceVector()));
  CHECK(!ResourceVector().FitsIn(negative));
}

TEST_CASE("limits: absent is no limit and 0 is none") {
  ResourceCatalog catalog;
  ResourceLimits limits = ToLimits(catalog, {{"cpu", 1000}, {"nvidia.com/gpu", 0}});
  const ResourceIndex memory = catalog.Intern("memory");
  CHECK(limits[memory] == kUnlimited);
  CHECK(limits[catalog.Find("nvidia.com/gpu")] == 0);
  limits.Tighten(ToLimits(catalog, {{"cpu", 2000}, {"memory", 5}}));
  CHECK(limits[catalog.Find("cpu")] == 1000);
  CHECK(limits[memory] == 5);
  limits.Tighten(ResourceLimits());
  CHECK(limits[memory] == 5);
}

}  // namespace
}  // namespace caldera
