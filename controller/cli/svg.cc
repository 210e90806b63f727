#include "controller/cli/svg.h"

#include "controller/cli/terminal.h"

namespace caldera {
namespace {

constexpr int64_t kTenths = 10;
constexpr int64_t kCharacterWidth = 64;

// Colours that colour-blind readers can tell apart (after Okabe and Ito), and that stand out from
// white as from black.
constexpr const char* kStyle = R"(<style>
.paper{fill:#ffffff}
text{font:11px system-ui,-apple-system,"Segoe UI",Helvetica,Arial,sans-serif;fill:#24292f}
.dim{fill:#6e7781}
.head{font-weight:600;font-size:12px}
.title{font-weight:600;font-size:14px}
.grid{stroke:#d0d7de;stroke-width:.5;fill:none}
.axis{stroke:#8c959f;stroke-width:1;fill:none}
.total{stroke:#57606a;stroke-width:1.2;stroke-dasharray:4 3;fill:none}
.band{fill:#cf222e;fill-opacity:.12}
.mark{stroke:#cf222e;stroke-width:1;stroke-dasharray:2 3}
.frame{fill:#8c959f;fill-opacity:.12}
.c0{fill:#0072b2}.c1{fill:#e69f00}.c2{fill:#009e73}.c3{fill:#cc79a7}.c4{fill:#56b4e9}
.c5{fill:#d55e00}.c6{fill:#8f7ee7}.c7{fill:#b5a500}.c8{fill:#8c959f}
@media (prefers-color-scheme:dark){
.paper{fill:#0d1117}
text{fill:#e6edf3}
.dim{fill:#9198a1}
.grid{stroke:#30363d}
.axis{stroke:#6e7681}
.total{stroke:#c9d1d9}
.band{fill:#ff7b72;fill-opacity:.18}
.mark{stroke:#ff7b72}
}
</style>
)";

std::string Escaped(std::string_view text) {
  std::string escaped;
  for (const char c : Harmless(text)) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      default:
        escaped += c;
    }
  }
  return escaped;
}

/// `12.5`.
std::string Pixels(int64_t tenths) {
  const std::string sign = tenths < 0 ? "-" : "";
  const int64_t size = tenths < 0 ? -tenths : tenths;
  std::string text = sign + std::to_string(size / kTenths);
  return size % kTenths == 0 ? text : text + "." + std::to_string(size % kTenths);
}

std::string Attribute(const char* name, int64_t tenths) {
  return std::string(" ") + name + "=\"" + Pixels(tenths) + "\"";
}

std::string Class(std::string_view style) { return " class=\"" + std::string(style) + "\""; }

}  // namespace

Svg::Svg(int64_t width, int64_t height, std::string_view title) {
  const std::string size = Pixels(width) + " " + Pixels(height);
  out_ = R"(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 )" + size + "\"" +
         Attribute("width", width) + Attribute("height", height) + " role=\"img\">\n<title>" +
         Escaped(title) + "</title>\n" + kStyle;
  Rect({0, 0}, {width, height}, "paper");
}

void Svg::Line(Point from, Point to, std::string_view style) {
  out_ += "<line" + Attribute("x1", from.x) + Attribute("y1", from.y) + Attribute("x2", to.x) +
          Attribute("y2", to.y) + Class(style) + "/>\n";
}

void Svg::Rect(Point corner, Point size, std::string_view style, std::string_view hint) {
  out_ += "<rect" + Attribute("x", corner.x) + Attribute("y", corner.y) +
          Attribute("width", size.x) + Attribute("height", size.y) + Class(style);
  out_ += hint.empty() ? "/>\n" : "><title>" + Escaped(hint) + "</title></rect>\n";
}

void Svg::Shade(Point corner, Point size, std::string_view style, int64_t percent) {
  out_ += "<rect" + Attribute("x", corner.x) + Attribute("y", corner.y) +
          Attribute("width", size.x) + Attribute("height", size.y) + Class(style) +
          " fill-opacity=\"" +
          (percent >= 100 ? "1"
                          : "." + std::string(percent < 10 ? "0" : "") + std::to_string(percent)) +
          "\"/>\n";
}

void Svg::Points(const std::vector<Point>& points) {
  out_ += " d=\"";
  Point last;
  for (size_t k = 0; k < points.size(); ++k) {
    const Point at = points[k];
    // Steps are horizontal or vertical: one number each.
    if (k > 0 && at.y == last.y) {
      out_ += "H" + Pixels(at.x);
    } else if (k > 0 && at.x == last.x) {
      out_ += "V" + Pixels(at.y);
    } else {
      out_ += (k == 0 ? "M" : "L") + Pixels(at.x) + " " + Pixels(at.y);
    }
    last = at;
  }
}

void Svg::Area(const std::vector<Point>& points, std::string_view style, std::string_view hint) {
  out_ += "<path" + Class(style);
  Points(points);
  out_ += "Z\"><title>" + Escaped(hint) + "</title></path>\n";
}

void Svg::Path(const std::vector<Point>& points, std::string_view style) {
  out_ += "<path" + Class(style);
  Points(points);
  out_ += "\"/>\n";
}

void Svg::Text(Point at, std::string_view text, std::string_view style, Anchor anchor) {
  out_ += "<text" + Attribute("x", at.x) + Attribute("y", at.y) + Class(style);
  if (anchor != Anchor::kStart) {
    out_ += anchor == Anchor::kMiddle ? " text-anchor=\"middle\"" : " text-anchor=\"end\"";
  }
  out_ += ">" + Escaped(text) + "</text>\n";
}

std::string Svg::Finish() { return std::move(out_) + "</svg>\n"; }

int64_t LabelWidth(std::string_view text) {
  return static_cast<int64_t>(DisplayWidth(text)) * kCharacterWidth;
}

}  // namespace caldera
