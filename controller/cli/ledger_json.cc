#include "controller/cli/ledger_json.h"

#include "storage/json_text.h"

namespace caldera {
namespace {

/// Length of the valid UTF-8 character at the front of `text`, 0 where there is none (RFC 3629).
size_t CharacterLength(std::string_view text) {
  const auto byte = [text](size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U;
  };
  const auto follows = [&byte](size_t i) { return (byte(i) & 0xC0U) == 0x80U; };
  const unsigned lead = byte(0);
  if (lead < 0x80) {
    return 1;
  }
  if (lead >= 0xC2 && lead < 0xE0 && follows(1)) {
    return 2;
  }
  if (lead >= 0xE0 && lead < 0xF0 && follows(1) && follows(2)) {
    const bool overlong = lead == 0xE0 && byte(1) < 0xA0;
    const bool surrogate = lead == 0xED && byte(1) >= 0xA0;
    return overlong || surrogate ? 0 : 3;
  }
  if (lead >= 0xF0 && lead < 0xF5 && follows(1) && follows(2) && follows(3)) {
    const bool outside = (lead == 0xF0 && byte(1) < 0x90) || (lead == 0xF4 && byte(1) >= 0x90);
    return outside ? 0 : 4;
  }
  return 0;
}

std::string OfAmounts(const ResourceList& amounts) {
  std::string out = "{";
  for (const auto& [resource, amount] : amounts) {
    out += out.size() > 1 ? "," : "";
    out += JsonString(resource) + ":" + JsonString(FormatAmount(resource, amount));
  }
  return out + "}";
}

std::string OfFigure(const Figure& figure, int64_t amount) {
  return figure.resource.empty() ? std::to_string(amount)
                                 : JsonString(FormatAmount(figure.resource, amount));
}

}  // namespace

std::string JsonString(std::string_view text) {
  std::string valid;
  while (!text.empty()) {
    const size_t length = CharacterLength(text);
    valid += length == 0 ? std::string_view("\xEF\xBF\xBD") : text.substr(0, length);
    text.remove_prefix(length == 0 ? 1 : length);
  }
  std::string out;
  AppendJsonString(out, valid);
  return out;
}

std::string JsonOf(const std::vector<Figure>& figures) {
  std::string out = "[";
  for (const Figure& figure : figures) {
    out += out.size() > 1 ? "," : "";
    out += "{\"object\":" + JsonString(figure.object) +
           ",\"resource\":" + JsonString(figure.resource) +
           ",\"requested\":" + OfFigure(figure, figure.requested) +
           ",\"used\":" + OfFigure(figure, figure.used) +
           ",\"limit\":" + OfFigure(figure, figure.limit) + "}";
  }
  return out + "]";
}

std::string JsonOf(const Datum& datum) {
  struct Visitor {
    std::string operator()(std::monostate /*none*/) const { return "null"; }
    std::string operator()(int64_t value) const { return std::to_string(value); }
    std::string operator()(bool value) const { return value ? "true" : "false"; }
    std::string operator()(const std::string& text) const { return JsonString(text); }
    std::string operator()(Time time) const { return JsonString(FormatTime(time)); }
    std::string operator()(const ResourceList& amounts) const { return OfAmounts(amounts); }
    std::string operator()(const std::vector<TaskGrant>& tasks) const { return TasksText(tasks); }
    std::string operator()(const std::vector<Figure>& figures) const { return JsonOf(figures); }
  };
  return std::visit(Visitor(), datum);
}

std::string JsonMembers(const Listing& listing, size_t row) {
  std::string out;
  for (size_t column = 0; column < listing.columns.size(); ++column) {
    out += column > 0 ? "," : "";
    out += JsonString(listing.columns[column]) + ":" + JsonOf(listing.rows[row][column]);
  }
  return out;
}

std::string JsonRows(const Listing& listing, const std::string& indent) {
  std::string out = "[";
  for (size_t row = 0; row < listing.rows.size(); ++row) {
    out += (row > 0 ? ",\n" : "\n") + indent + "{" + JsonMembers(listing, row) + "}";
  }
  return out + (listing.rows.empty() ? "]" : "\n" + indent.substr(2) + "]");
}

}  // namespace caldera
