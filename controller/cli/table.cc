#include "controller/cli/table.h"

#include <algorithm>

namespace caldera {
namespace {

constexpr size_t kGap = 2;
constexpr size_t kNarrowestWrap = 24;

std::string Padded(const Terminal& terminal, const Cell& cell, size_t width, bool right) {
  const size_t used = DisplayWidth(cell.text);
  const std::string pad(width > used ? width - used : 0, ' ');
  std::string text = terminal.Painted(cell.text, cell.paint);
  return right ? pad + text : text + pad;
}

void TrimRight(std::string& line) {
  while (!line.empty() && line.back() == ' ') {
    line.pop_back();
  }
}

// One row: every column but the last padded, the last wrapped under itself.
void AppendRow(std::string& out, const Terminal& terminal, const std::vector<Column>& columns,
               const std::vector<size_t>& widths, const std::vector<Cell>& row) {
  const size_t indent = widths.back();
  size_t used = indent;
  std::string line(indent, ' ');
  for (size_t i = 0; i + 1 < columns.size(); ++i) {
    line += Padded(terminal, row[i], widths[i], columns[i].right) + std::string(kGap, ' ');
    used += widths[i] + kGap;
  }
  const size_t last = columns.size() - 1;
  if (columns[last].right) {
    line += Padded(terminal, row[last], widths[last], true);
    out += line + "\n";
    return;
  }
  const bool wrap = terminal.width >= used + kNarrowestWrap;
  const std::vector<std::string> parts = Wrap(row[last].text, wrap ? terminal.width - used : 0);
  for (size_t i = 0; i < parts.size(); ++i) {
    line = i == 0 ? line : std::string(used, ' ');
    line += terminal.Painted(parts[i], row[last].paint);
    TrimRight(line);
    out += line + "\n";
  }
}

}  // namespace

void Table::Add(std::vector<Cell> row) {
  row.resize(columns_.size(), Cell(""));
  for (Cell& cell : row) {
    cell.text = Harmless(cell.text);
  }
  rows_.push_back(std::move(row));
}

std::string Table::Text(const Terminal& terminal, size_t indent) const {
  std::vector<size_t> widths;
  std::vector<Cell> headings;
  for (size_t i = 0; i < columns_.size(); ++i) {
    size_t width = DisplayWidth(columns_[i].heading);
    for (const auto& row : rows_) {
      width = std::max(width, DisplayWidth(row[i].text));
    }
    widths.push_back(width);
    headings.emplace_back(columns_[i].heading, Paint::kDim);
  }
  widths.push_back(indent);
  std::string out;
  AppendRow(out, terminal, columns_, widths, headings);
  for (const auto& row : rows_) {
    AppendRow(out, terminal, columns_, widths, row);
  }
  return out;
}

std::vector<std::string> Wrap(std::string_view text, size_t width) {
  std::vector<std::string> lines;
  if (width == 0 || DisplayWidth(text) <= width) {
    lines.emplace_back(text);
    return lines;
  }
  std::string line;
  size_t at = 0;
  while (at < text.size()) {
    const size_t end = std::min(text.find(' ', at), text.size());
    const std::string_view word = text.substr(at, end - at);
    if (!line.empty() && DisplayWidth(line) + 1 + DisplayWidth(word) > width) {
      lines.push_back(std::move(line));
      line.clear();
    }
    if (!line.empty()) {
      line += ' ';
    }
    line += word;
    at = end + 1;
  }
  lines.push_back(std::move(line));
  return lines;
}

}  // namespace caldera
