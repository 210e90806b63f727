// Where text goes: whether it may be coloured, and how wide it is. Decided once for each stream;
// everything that prints takes a Terminal, so that tests choose one.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

namespace caldera {

enum class Paint : uint8_t { kPlain, kBold, kDim, kGreen, kYellow, kRed, kCyan };

struct Terminal {
  bool colour = false;
  size_t width = 0;  ///< Columns; 0: not known, nothing is wrapped.

  /// Colours only on a terminal that can show them and where NO_COLOR is not set (no-color.org).
  /// The width is the terminal's, else that of the environment variable COLUMNS.
  static Terminal Of(std::FILE* stream);

  /// `text` in this colour, or as it is.
  [[nodiscard]] std::string Painted(std::string_view text, Paint paint) const;
};

/// Columns that a UTF-8 text takes: one for each code point, which holds for all that we print.
size_t DisplayWidth(std::string_view text);

/// `text` for a terminal: what a hostile manifest could steer it with, or show other than it is, is
/// written as `\u001b`: control characters, marks of bidirectional text and separators that have no
/// width. Bytes that are no UTF-8 become `\xNN`, newline and tab a space.
std::string Harmless(std::string_view text);

}  // namespace caldera
