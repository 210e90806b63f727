// Writes an SVG picture: shapes by CSS class, coordinates in pixels. Colours of text, grid and
// paper follow the viewer (prefers-color-scheme), so that a picture reads well on light and on
// dark. Used by plots; a value, one thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace caldera {

class Svg {
 public:
  struct Point {
    int64_t x = 0;  ///< Tenths of a pixel, as all coordinates here.
    int64_t y = 0;
  };
  enum class Anchor : uint8_t { kStart, kMiddle, kEnd };

  Svg(int64_t width, int64_t height, std::string_view title);

  /// `style` is one of the classes below: `grid`, `axis`, `total`, `band`, or `cN` for the colour
  /// of series N.
  void Line(Point from, Point to, std::string_view style);
  void Rect(Point corner, Point size, std::string_view style, std::string_view hint = "");
  /// `percent`: opacity.
  void Shade(Point corner, Point size, std::string_view style, int64_t percent);
  /// A closed area, or a line without filling.
  void Area(const std::vector<Point>& points, std::string_view style, std::string_view hint);
  void Path(const std::vector<Point>& points, std::string_view style);
  /// `style`: `label`, `dim`, `head`, `title`.
  void Text(Point at, std::string_view text, std::string_view style,
            Anchor anchor = Anchor::kStart);

  /// How many series have a colour of their own; the last is for all others.
  static constexpr size_t kColours = 9;

  /// The whole picture; call it once.
  std::string Finish();

 private:
  void Points(const std::vector<Point>& points);
  std::string out_;
};

/// About how wide a text of class `label` is, in tenths of a pixel.
int64_t LabelWidth(std::string_view text);

}  // namespace caldera
