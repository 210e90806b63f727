#include "controller/cli/ledger_json.h"

#include "federation/excerpt.h"
#include "storage/json_text.h"

namespace caldera {
namespace {

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
    const size_t length = Utf8Length(text);
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
