#include "storage/json_text.h"

#include <array>
#include <charconv>
#include <limits>

namespace caldera {
namespace {

void AppendInteger(std::string& out, int64_t value) {
  std::array<char, std::numeric_limits<int64_t>::digits10 + 2> digits;
  out.append(digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr);
}

void AppendField(std::string& out, std::string_view name, int64_t value) {
  out += ",\"";
  out += name;
  out += "\":";
  AppendInteger(out, value);
}

/// Reads the quoted string at the front of `text` and takes it off. Only what AppendJsonString
/// writes is understood.
bool TakeString(std::string_view& text, std::string& out) {
  if (text.empty() || text.front() != '"') {
    return false;
  }
  size_t at = 1;
  while (at < text.size() && text[at] != '"') {
    if (text[at] != '\\') {
      out += text[at++];
      continue;
    }
    if (at + 1 >= text.size()) {
      return false;
    }
    const char escape = text[at + 1];
    if (escape != 'u') {
      out += escape;
      at += 2;
      continue;
    }
    uint32_t code = 0;
    const std::string_view hex = text.substr(at + 2, 4);
    const auto [end, error] = std::from_chars(hex.data(), hex.data() + hex.size(), code, 16);
    if (error != std::errc() || end != hex.data() + 4 || code > 0x1f) {
      return false;
    }
    out += static_cast<char>(code);
    at += 6;
  }
  if (at >= text.size()) {
    return false;
  }
  text.remove_prefix(at + 1);
  return true;
}

bool TakeText(std::string_view& text, std::string_view wanted) {
  if (!text.starts_with(wanted)) {
    return false;
  }
  text.remove_prefix(wanted.size());
  return true;
}

template <class Integer>
bool TakeInteger(std::string_view& text, Integer& out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error != std::errc()) {
    return false;
  }
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return true;
}

}  // namespace

void AppendJsonString(std::string& out, std::string_view text) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  out += '"';
  size_t done = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const auto byte = static_cast<unsigned char>(c);
    if (c != '"' && c != '\\' && byte >= 0x20) {
      continue;
    }
    out += text.substr(done, i - done);
    done = i + 1;
    if (byte < 0x20) {
      out += "\\u00";
      out += kDigits[byte >> 4U];
      out += kDigits[byte & 15U];
    } else {
      out += '\\';
      out += c;
    }
  }
  out += text.substr(done);
  out += '"';
}

std::string AmountsText(const ResourceList& amounts) {
  std::string out;
  for (const auto& [resource, amount] : amounts) {
    AppendAmount(out, resource, amount);
  }
  CloseAmounts(out);
  return out;
}

void AppendAmount(std::string& out, std::string_view resource, int64_t amount) {
  out += out.empty() ? '{' : ',';
  AppendJsonString(out, resource);
  out += ':';
  AppendInteger(out, amount);
}

void CloseAmounts(std::string& out) { out += out.empty() ? "{}" : "}"; }

Result<ResourceList> ParseAmounts(std::string_view text) {
  const std::string whole(text.substr(0, 64));
  const auto corrupt = [&whole] {
    return Fail(ErrorCode::kCorrupt, "not a list of amounts: " + whole);
  };
  ResourceList amounts;
  if (!TakeText(text, "{")) {
    return corrupt();
  }
  while (!TakeText(text, "}")) {
    std::string resource;
    int64_t amount = 0;
    if ((!amounts.empty() && !TakeText(text, ",")) || !TakeString(text, resource) ||
        !TakeText(text, ":") || !TakeInteger(text, amount)) {
      return corrupt();
    }
    amounts[std::move(resource)] = amount;
  }
  if (!text.empty()) {
    return corrupt();
  }
  return amounts;
}

std::string TasksText(const std::vector<TaskGrant>& tasks) {
  std::string out = "{";
  for (const TaskGrant& task : tasks) {
    out += out.size() > 1 ? "," : "";
    AppendJsonString(out, task.name);
    out += ":{\"replicas\":";
    AppendInteger(out, task.replicas);
    AppendField(out, "minAvailable", task.min_available);
    if (task.at_once.has_value()) {
      AppendField(out, "atOnce", *task.at_once);
    }
    out += '}';
  }
  return out + '}';
}

Result<std::vector<TaskGrant>> ParseTasks(std::string_view text) {
  const std::string whole(text.substr(0, 64));
  const auto corrupt = [&whole] {
    return Fail(ErrorCode::kCorrupt, "not a list of tasks: " + whole);
  };
  std::vector<TaskGrant> tasks;
  if (!TakeText(text, "{")) {
    return corrupt();
  }
  while (!TakeText(text, "}")) {
    TaskGrant task;
    if ((!tasks.empty() && !TakeText(text, ",")) || !TakeString(text, task.name) ||
        !TakeText(text, ":{\"replicas\":") || !TakeInteger(text, task.replicas) ||
        !TakeText(text, ",\"minAvailable\":") || !TakeInteger(text, task.min_available)) {
      return corrupt();
    }
    if (TakeText(text, ",\"atOnce\":") && !TakeInteger(text, task.at_once.emplace())) {
      return corrupt();
    }
    if (!TakeText(text, "}")) {
      return corrupt();
    }
    tasks.push_back(std::move(task));
  }
  if (!text.empty()) {
    return corrupt();
  }
  return tasks;
}

std::string FiguresText(const std::vector<Figure>& figures) {
  std::string out = "[";
  for (const Figure& figure : figures) {
    out += out.size() > 1 ? ",{\"object\":" : "{\"object\":";
    AppendJsonString(out, figure.object);
    out += ",\"resource\":";
    AppendJsonString(out, figure.resource);
    AppendField(out, "requested", figure.requested);
    AppendField(out, "used", figure.used);
    AppendField(out, "limit", figure.limit);
    out += '}';
  }
  return out + ']';
}

std::string ClusterVerdictsText(const std::vector<ClusterVerdict>& clusters) {
  std::string out = "[";
  for (const ClusterVerdict& cluster : clusters) {
    out += out.size() > 1 ? ",{\"cluster\":" : "{\"cluster\":";
    AppendJsonString(out, cluster.cluster);
    out += ",\"verdict\":";
    AppendJsonString(out, VerdictName(cluster.verdict));
    out += ",\"message\":";
    AppendJsonString(out, cluster.message);
    out += ",\"figures\":" + FiguresText(cluster.figures) + '}';
  }
  return out + ']';
}

}  // namespace caldera
