// Curves of what fit() has logged.
#include "Support.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "calque/logs.h"

#include <algorithm>
#include <cmath>

namespace calque {

namespace {

constexpr double kWidth = 640, kHeight = 360, kLeft = 60, kRight = 150, kTop = 20, kBottom = 40;
// Colours that the colour-blind tell apart: Okabe and Ito, "Color Universal Design", 2008.
constexpr const char *kColours[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000"};

// What an axis shows.
struct Interval {
  double low = 0, high = 1;

  // Halves of numbers, so that the difference of two of any size is finite.
  double fraction(double value) const { return (value / 2 - low / 2) / (high / 2 - low / 2); }

  // A round distance between at most six marks: 1, 2 or 5 times a power of ten.
  double step() const {
    const double least = (high / 2 - low / 2) / 2.5, power = std::pow(10, std::floor(std::log10(least)));
    for (double factor : {1., 2., 5.})
      if (factor * power >= least)
        return factor * power;
    return 10 * power;
  }
};

Interval rangeOf(const std::vector<double> &values) {
  Interval range;
  bool isFirst = true;
  for (double value : values)
    if (std::isfinite(value)) {
      range.low = isFirst ? value : std::min(range.low, value);
      range.high = isFirst ? value : std::max(range.high, value);
      isFirst = false;
    }
  // A line in the middle, where all are equal.
  if (!(range.high > range.low)) {
    const double around = std::max(std::abs(range.low) / 2, 0.5);
    range = {range.low - around, range.high + around};
  }
  return range;
}

std::string text(double x, double y, const char *anchor, const std::string &what) {
  return absl::StrFormat("<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">%s</text>\n", x, y, anchor,
                         absl::StrReplaceAll(what, {{"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}}));
}

std::string line(double x1, double y1, double x2, double y2, const char *colour) {
  return absl::StrFormat("<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"%s\"/>\n", x1, y1, x2, y2,
                         colour);
}

} // namespace

std::string History::svg(const std::vector<std::string> &names, SourceLocation where) const {
  std::vector<std::string> shown = names, known;
  for (const auto &[name, values] : history)
    known.push_back(name);
  if (names.empty())
    shown = known;
  std::vector<double> all, epochs(epoch.begin(), epoch.end());
  for (const std::string &name : shown) {
    auto found = history.find(name);
    if (found == history.end())
      training::fail<LookupError>(
          absl::StrCat("history: there is no '", name, "'; there are '", absl::StrJoin(known, "', '"), "'"), where);
    all.insert(all.end(), found->second.begin(), found->second.end());
  }
  const Interval across = rangeOf(epochs), up = rangeOf(all);
  auto xOf = [&](double value) { return kLeft + across.fraction(value) * (kWidth - kLeft - kRight); };
  auto yOf = [&](double value) { return kHeight - kBottom - up.fraction(value) * (kHeight - kTop - kBottom); };

  std::string svg = absl::StrFormat("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" "
                                    "font-family=\"sans-serif\" font-size=\"12\">\n"
                                    "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n",
                                    kWidth, kHeight);
  for (double step = up.step(), i = std::ceil(up.low / step); i * step <= up.high; ++i) {
    svg += line(kLeft, yOf(i * step), kWidth - kRight, yOf(i * step), "#dddddd");
    svg += text(kLeft - 6, yOf(i * step) + 4, "end", absl::StrFormat("%.4g", i == 0 ? 0 : i * step));
  }
  for (double step = std::max(across.step(), 1.), i = std::ceil(across.low / step); i * step <= across.high; ++i)
    svg += text(xOf(i * step), kHeight - kBottom + 16, "middle", absl::StrFormat("%.0f", i * step));
  svg += line(kLeft, kHeight - kBottom, kWidth - kRight, kHeight - kBottom, "black");
  svg += line(kLeft, kTop, kLeft, kHeight - kBottom, "black");
  svg += text((kLeft + kWidth - kRight) / 2, kHeight - 6, "middle", "epoch");

  for (std::size_t i = 0; i < shown.size(); ++i) {
    const char *colour = kColours[i % std::size(kColours)];
    const std::vector<double> &values = history.at(shown[i]);
    std::string points;
    bool isDrawing = false;
    // What is logged every few epochs, as validation_freq says, has fewer numbers.
    const std::size_t every = std::max<std::size_t>(epochs.size() / std::max<std::size_t>(values.size(), 1), 1);
    for (std::size_t k = 0; k < values.size() && (k + 1) * every <= epochs.size(); ++k) {
      if (std::isfinite(values[k])) {
        const double x = xOf(epochs[(k + 1) * every - 1]), y = yOf(values[k]);
        absl::StrAppendFormat(&points, "%s%.1f %.1f", isDrawing ? " L" : " M", x, y);
        svg += absl::StrFormat("<circle cx=\"%.1f\" cy=\"%.1f\" r=\"2.5\" fill=\"%s\"/>\n", x, y, colour);
      }
      isDrawing = std::isfinite(values[k]);
    }
    if (!points.empty())
      svg += absl::StrFormat("<path d=\"%s\" fill=\"none\" stroke=\"%s\" stroke-width=\"1.5\"/>\n", points.substr(1),
                             colour);
    const double y = kTop + 10 + 18 * static_cast<double>(i);
    svg += line(kWidth - kRight + 12, y - 4, kWidth - kRight + 32, y - 4, colour);
    svg += text(kWidth - kRight + 38, y, "start", shown[i]);
  }
  return svg + "</svg>\n";
}

} // namespace calque
