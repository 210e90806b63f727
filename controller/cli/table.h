// Text tables: a heading, columns as wide as their widest cell, two spaces between. Where the width
// is known, the last column is wrapped under itself. A value; one thread.
#pragma once

#include <string>
#include <vector>

#include "controller/cli/terminal.h"

namespace caldera {

struct Cell {
  std::string text;
  Paint paint = Paint::kPlain;

  // NOLINTBEGIN(google-explicit-constructor): a row is written as a list of texts.
  Cell(std::string t, Paint p = Paint::kPlain) : text(std::move(t)), paint(p) {}
  Cell(const char* t, Paint p = Paint::kPlain) : text(t), paint(p) {}
  // NOLINTEND(google-explicit-constructor)
};

struct Column {
  std::string heading;
  bool right = false;  ///< Numbers.
};

class Table {
 public:
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

  /// One cell a column; missing cells are empty, cells beyond the columns are dropped.
  void Add(std::vector<Cell> row);
  [[nodiscard]] bool empty() const { return rows_.empty(); }

  /// The heading and the rows, each line ended by a newline, each begun with `indent` spaces.
  [[nodiscard]] std::string Text(const Terminal& terminal, size_t indent = 0) const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<Cell>> rows_;
};

/// `text` broken at spaces into lines of at most `width` columns (longer words stay whole); one
/// line where `width` is 0.
std::vector<std::string> Wrap(std::string_view text, size_t width);

}  // namespace caldera
