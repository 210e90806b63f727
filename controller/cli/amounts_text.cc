#include "controller/cli/amounts_text.h"

#include <algorithm>

namespace caldera {
namespace {

constexpr int64_t kBarCells = 10;

std::string_view ShortName(std::string_view resource) {
  const size_t slash = resource.rfind('/');
  return slash == std::string_view::npos ? resource : resource.substr(slash + 1);
}

void AppendItem(std::string& text, std::string_view resource, const std::string& amount) {
  text += text.empty() ? "" : ", ";
  text.append(ShortName(resource)).append(" ").append(amount);
}

int64_t AmountOf(const ResourceList& list, const std::string& resource) {
  const auto found = list.find(resource);
  return found == list.end() ? 0 : found->second;
}

}  // namespace

std::string BriefAmounts(const ResourceList& amounts) {
  std::string text;
  for (const auto& [resource, amount] : amounts) {
    if (amount != 0 && resource != "pods") {
      AppendItem(text, resource, FormatAmount(resource, amount));
    }
  }
  if (const int64_t pods = AmountOf(amounts, "pods"); text.empty() && pods != 0) {
    AppendItem(text, "pods", FormatAmount("pods", pods));
  }
  return text.empty() ? "-" : text;
}

std::string BriefUsage(const ResourceList& used, const ResourceList& limits) {
  std::string text;
  for (const auto& [resource, limit] : limits) {
    AppendItem(
        text, resource,
        FormatAmount(resource, AmountOf(used, resource)) + "/" + FormatAmount(resource, limit));
  }
  return text.empty() ? "-" : text;
}

int64_t FullestPercent(const ResourceList& used, const ResourceList& limits) {
  int64_t fullest = 0;
  for (const auto& [resource, limit] : limits) {
    const int64_t amount = AmountOf(used, resource);
    if (limit == kUnlimited || amount <= 0) {
      continue;
    }
    const auto percent = limit <= 0 ? Int128{100} : Int128{amount} * 100 / limit;
    fullest = std::max(fullest, static_cast<int64_t>(std::min(percent, Int128{999})));
  }
  return fullest;
}

std::string Bar(int64_t percent) {
  const int64_t filled = std::clamp<int64_t>((percent + 5) / 10, 0, kBarCells);
  return std::string(static_cast<size_t>(filled), '#') +
         std::string(static_cast<size_t>(kBarCells - filled), '.');
}

}  // namespace caldera
