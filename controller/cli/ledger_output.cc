#include "controller/cli/ledger_output.h"

#include <algorithm>
#include <cctype>
#include <iterator>

#include "controller/cli/amounts_text.h"
#include "controller/cli/csv.h"
#include "controller/cli/ledger_json.h"
#include "controller/cli/table.h"
#include "storage/json_text.h"

namespace caldera {
namespace {

/// All of it, also entries of 0: in a limit, 0 is none.
std::string AllAmounts(const ResourceList& amounts, const char* between, const char* after) {
  std::string text;
  for (const auto& [resource, amount] : amounts) {
    text += text.empty() ? "" : after;
    text += resource + between + FormatAmount(resource, amount);
  }
  return text;
}

std::string TasksBrief(const std::vector<TaskGrant>& tasks) {
  std::string text;
  for (const TaskGrant& task : tasks) {
    text += (text.empty() ? "" : ", ") + task.name + " " + std::to_string(task.replicas);
  }
  return text;
}

std::string FigureText(const Figure& figure) {
  const auto amount = [&figure](int64_t n) {
    return figure.resource.empty() ? std::to_string(n) : FormatAmount(figure.resource, n);
  };
  std::string text = figure.object;
  text += figure.resource.empty() ? "" : " " + figure.resource;
  return text + ": requested " + amount(figure.requested) + ", used " + amount(figure.used) +
         ", limit " + amount(figure.limit);
}

std::string FiguresBrief(const std::vector<Figure>& figures) {
  std::string text;
  for (const Figure& figure : figures) {
    text += (text.empty() ? "" : "; ") + FigureText(figure);
  }
  return text;
}

bool IsLimit(const std::string& column) {
  return column == "capability" || column == "quota" || column == "used";
}

std::string CellText(const Datum& datum, const std::string& column) {
  struct Visitor {
    const std::string& column;
    std::string operator()(std::monostate /*none*/) const { return ""; }
    std::string operator()(int64_t value) const { return std::to_string(value); }
    std::string operator()(bool value) const { return value ? "true" : "false"; }
    std::string operator()(const std::string& text) const { return text; }
    std::string operator()(Time time) const { return FormatTime(time); }
    std::string operator()(const ResourceList& amounts) const {
      return IsLimit(column) ? AllAmounts(amounts, " ", ", ") : BriefAmounts(amounts);
    }
    std::string operator()(const std::vector<TaskGrant>& tasks) const { return TasksBrief(tasks); }
    std::string operator()(const std::vector<Figure>& figures) const {
      return FiguresBrief(figures);
    }
  };
  const std::string text = std::visit(Visitor{column}, datum);
  return text.empty() ? "-" : Harmless(text);
}

/// `minAvailable` -> `MIN-AVAILABLE`.
std::string HeadingOf(const std::string& column) {
  std::string heading;
  for (const char c : column) {
    if (std::isupper(static_cast<unsigned char>(c)) != 0 && !heading.empty()) {
      heading += '-';
    }
    heading += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  }
  return heading;
}

std::string AsTable(const Listing& listing, const Terminal& terminal, size_t indent) {
  std::vector<Column> columns;
  for (size_t i = 0; i < listing.columns.size(); ++i) {
    const auto all_are = [&listing, i](auto... kinds) {
      return std::all_of(listing.rows.begin(), listing.rows.end(), [&](const auto& row) {
        return (std::holds_alternative<decltype(kinds)>(row[i]) || ...);
      });
    };
    const bool numbers = all_are(int64_t{}, std::monostate{}) && !all_are(std::monostate{});
    columns.push_back({Harmless(HeadingOf(listing.columns[i])), numbers});
  }
  Table table(std::move(columns));
  for (const auto& row : listing.rows) {
    std::vector<Cell> cells;
    for (size_t i = 0; i < row.size(); ++i) {
      cells.emplace_back(CellText(row[i], listing.columns[i]));
    }
    table.Add(std::move(cells));
  }
  return table.Text(terminal, indent);
}

std::string CsvText(const Datum& datum) {
  struct Visitor {
    std::string operator()(std::monostate /*none*/) const { return ""; }
    std::string operator()(int64_t value) const { return std::to_string(value); }
    std::string operator()(bool value) const { return value ? "true" : "false"; }
    std::string operator()(const std::string& text) const { return text; }
    std::string operator()(Time time) const { return FormatTime(time); }
    std::string operator()(const ResourceList& amounts) const {
      return AllAmounts(amounts, "=", " ");
    }
    std::string operator()(const std::vector<TaskGrant>& tasks) const { return TasksText(tasks); }
    std::string operator()(const std::vector<Figure>& figures) const { return JsonOf(figures); }
  };
  return std::visit(Visitor(), datum);
}

std::string AsCsv(const Listing& listing) {
  std::string out = CsvRow(listing.columns);
  for (const auto& row : listing.rows) {
    std::vector<std::string> cells;
    cells.reserve(row.size());
    std::transform(row.begin(), row.end(), std::back_inserter(cells), CsvText);
    out += CsvRow(cells);
  }
  return out;
}

std::string Section(const std::string& title, const Listing& listing, const Terminal& terminal) {
  if (listing.rows.empty()) {
    return "";
  }
  return "\n" + terminal.Painted(title, Paint::kBold) + "\n" + AsTable(listing, terminal, 2);
}

/// The one row of a listing, a column a line.
std::string Upright(const Listing& listing, const Terminal& terminal) {
  std::string text;
  size_t width = 0;
  for (const std::string& column : listing.columns) {
    width = std::max(width, column.size());
  }
  for (size_t i = 0; i < listing.columns.size(); ++i) {
    const std::string value = CellText(listing.rows.front()[i], listing.columns[i]);
    if (value == "-") {
      continue;
    }
    const std::string& column = listing.columns[i];
    text += terminal.Painted(column, Paint::kDim) + std::string(width + 2 - column.size(), ' ') +
            value + "\n";
  }
  return text;
}

}  // namespace

std::string PrintListing(const Listing& listing, LedgerFormat format, const Terminal& terminal) {
  switch (format) {
    case LedgerFormat::kJson:
      return JsonRows(listing, "  ") + "\n";
    case LedgerFormat::kCsv:
      return AsCsv(listing);
    case LedgerFormat::kTable:
      break;
  }
  return AsTable(listing, terminal, 0);
}

std::string PrintJob(const JobAnswer& answer, LedgerFormat format, const Terminal& terminal) {
  if (format == LedgerFormat::kCsv) {
    return AsCsv(answer.job);
  }
  if (format == LedgerFormat::kJson) {
    return "{" + JsonMembers(answer.job, 0) + ",\n  \"shards\":" + JsonRows(answer.shards, "    ") +
           ",\n  \"intents\":" + JsonRows(answer.intents, "    ") +
           ",\n  \"verdicts\":" + JsonRows(answer.verdicts, "    ") + "}\n";
  }
  return Upright(answer.job, terminal) + Section("SHARDS", answer.shards, terminal) +
         Section("INTENTS", answer.intents, terminal) +
         Section("VERDICTS", answer.verdicts, terminal);
}

std::string PrintExplanation(const Explanation& answer, LedgerFormat format,
                             const Terminal& terminal) {
  if (format == LedgerFormat::kCsv) {
    Listing with_reason = answer.job;
    with_reason.columns.emplace_back("reason");
    with_reason.rows.front().emplace_back(answer.reason);
    return AsCsv(with_reason);
  }
  if (format == LedgerFormat::kJson) {
    return "{" + JsonMembers(answer.job, 0) + ",\"reason\":" + JsonString(answer.reason) +
           ",\n  \"figures\":" + JsonOf(answer.figures) +
           ",\n  \"clusters\":" + JsonRows(answer.clusters, "    ") +
           ",\n  \"shards\":" + JsonRows(answer.shards, "    ") + "}\n";
  }
  std::string text = Upright(answer.job, terminal);
  if (!answer.reason.empty()) {
    text += "\n" + terminal.Painted("WHY THERE", Paint::kBold) + "\n  " + Harmless(answer.reason) +
            "\n";
  }
  for (size_t i = 0; i < answer.figures.size(); ++i) {
    text += i == 0 ? "\n" + terminal.Painted("FIGURES", Paint::kBold) + "\n" : "";
    text += "  " + Harmless(FigureText(answer.figures[i])) + "\n";
  }
  // The messages say it; the figures of every cluster are for programs.
  Listing clusters = answer.clusters;
  clusters.columns.pop_back();
  for (auto& row : clusters.rows) {
    row.pop_back();
  }
  return text + Section("CLUSTERS", clusters, terminal) +
         Section("SHARDS", answer.shards, terminal);
}

}  // namespace caldera
