// Elements of images at places between pixels, and boxes.
#include "onnx/Windows.h"

#include "calque/image.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace calque::onnx {

namespace {

using detail::Place;

// Coordinates from -1 to 1 of a grid: the middles of pixels, or of corner pixels with align_corners.
std::vector<double> gridLine(std::int64_t size, bool alignCorners) {
  std::vector<double> line;
  for (std::int64_t i = 0; i < size; ++i) {
    const auto at = static_cast<double>(i), n = static_cast<double>(size);
    line.push_back(alignCorners ? (size == 1 ? 0 : -1 + 2 * at / (n - 1)) : (2 * at + 1) / n - 1);
  }
  return line;
}

Results affineGrid(const Call &call) {
  const Tensor theta = call.tensor(0);
  const std::vector<std::int64_t> size = call.integers(1);
  const bool align = call.flag("align_corners", false);
  if (size.size() != 4 && size.size() != 5)
    call.refuse("a size of " + std::to_string(size.size()) + " numbers, expected 4 or 5");
  const std::size_t rank = size.size() - 2;
  const std::vector<std::int64_t> space(size.begin() + 2, size.end());
  std::int64_t count = 1;
  for (std::int64_t each : space)
    count *= each;
  // Rows (x, y, 1): the last dimension of space is x.
  std::vector<double> rows;
  std::vector<std::vector<double>> lines;
  for (std::int64_t each : space)
    lines.push_back(gridLine(each, align));
  for (std::int64_t i = 0; i < count; ++i) {
    std::int64_t rest = i;
    for (std::size_t d = rank; d-- > 0;) {
      rows.push_back(lines[d][static_cast<std::size_t>(rest % space[d])]);
      rest /= space[d];
    }
    rows.push_back(1);
  }
  const DType dtype = theta.dtype();
  const Tensor base = ofNumbers(rows, dtype, {count, static_cast<std::int64_t>(rank) + 1});
  Shape shape{theta.shape()[0]};
  shape.insert(shape.end(), space.begin(), space.end());
  shape.push_back(static_cast<std::int64_t>(rank));
  return reshape(matmul(base, theta, {.transpose_b = true}), shape);
}

// [N, C, ...] as [N, P, C].
Tensor pixelsOf(const Tensor &x) {
  const Shape shape = x.shape();
  return transpose(reshape(x, {shape[0], shape[1], -1}), {0, 2, 1});
}

Results gridSample(const Call &call) {
  const Value &x = call.value(0);
  const Tensor grid = call.tensor(1);
  std::string mode = call.text("mode", call.version() < 20 ? "bilinear" : "linear");
  const std::string padding = call.text("padding_mode", "zeros");
  if (mode == "bilinear")
    mode = "linear";
  if (mode == "bicubic")
    mode = "cubic";
  if ((mode != "linear" && mode != "nearest" && mode != "cubic") ||
      (padding != "zeros" && padding != "border" && padding != "reflection"))
    call.refuse("mode '" + mode + "', padding_mode '" + padding + "'");
  const Shape shape = call.tensor(0).shape();
  const auto rank = std::ssize(shape) - 2;
  if (rank < 1 || grid.rank() != rank + 2 || grid.shape()[static_cast<std::size_t>(rank + 1)] != rank)
    call.refuse("a grid of shape " + grid.shape().str() + " for images of shape " + shape.str());
  return Value::ofImages(image::grid_sample(
      x.images(), grid, {.method = mode, .padding = padding, .align_corners = call.flag("align_corners", false)}));
}

// The points of a box's bins, for boxes [R]: R * bins * ratio coordinates along one dimension, as [R, bins * ratio].
Tensor pointsOf(const Tensor &start, const Tensor &bin, std::int64_t bins, std::int64_t ratio) {
  std::vector<double> offsets;
  for (std::int64_t i = 0; i < bins; ++i)
    for (std::int64_t k = 0; k < ratio; ++k)
      offsets.push_back(static_cast<double>(i) + (static_cast<double>(k) + 0.5) / static_cast<double>(ratio));
  return expand_dims(start, {1}) + expand_dims(bin, {1}) * ofNumbers(offsets, start.dtype(), Shape{bins * ratio});
}

Results roiAlign(const Call &call) {
  const Tensor x = call.tensor(0), rois = call.tensor(1), batch = cast(call.tensor(2), DType::Int64);
  const std::int64_t height = call.integer("output_height", 1), width = call.integer("output_width", 1);
  const std::int64_t ratio = call.integer("sampling_ratio", 0);
  const double scale = call.number("spatial_scale", 1);
  const std::string mode = call.text("mode", "avg");
  const std::string coordinates =
      call.text("coordinate_transformation_mode", call.version() < 16 ? "output_half_pixel" : "half_pixel");
  if ((mode != "avg" && mode != "max") || (coordinates != "half_pixel" && coordinates != "output_half_pixel"))
    call.refuse("mode '" + mode + "', coordinate_transformation_mode '" + coordinates + "'");
  const bool isHalf = coordinates == "half_pixel";
  const std::int64_t h = x.shape()[2], w = x.shape()[3];
  const DType dtype = rois.dtype();
  const std::vector<Tensor> corners = unstack(rois * scalarOf(scale, dtype) - scalarOf(isHalf ? 0.5 : 0, dtype), 1);
  Tensor wide = corners[2] - corners[0], high = corners[3] - corners[1];
  if (!isHalf) {
    wide = maximum(wide, scalarOf(1, dtype));
    high = maximum(high, scalarOf(1, dtype));
  }
  const Tensor pixels = pixelsOf(x);
  // Boxes [from, to) with this number of points in each bin.
  auto pool = [&](std::int64_t from, std::int64_t to, std::int64_t rows, std::int64_t columns) {
    auto part = [&](const Tensor &all) { return sliceAlong(all, 0, from, to); };
    const Tensor ys =
        pointsOf(part(corners[1]), part(high) / scalarOf(static_cast<double>(height), dtype), height, rows);
    const Tensor xs =
        pointsOf(part(corners[0]), part(wide) / scalarOf(static_cast<double>(width), dtype), width, columns);
    auto n = [&](double value) { return scalarOf(value, dtype); };
    auto inside = [&](const Tensor &at, std::int64_t size) {
      return logical_and(at >= n(-1), at <= n(static_cast<double>(size)));
    };
    const Shape grid{to - from, height * rows, width * columns};
    auto onGrid = [&](const Tensor &at, std::int64_t axis) { return broadcast_to(expand_dims(at, {axis}), grid); };
    const Tensor is = logical_and(onGrid(inside(ys, h), 2), onGrid(inside(xs, w), 1));
    auto split = [&](const Tensor &at, std::int64_t size) {
      const Tensor near = clip(at, n(0), n(static_cast<double>(size - 1)));
      const Tensor low = floor(near);
      return std::array<Tensor, 3>{low, minimum(low + 1, n(static_cast<double>(size - 1))), near - low};
    };
    const auto [y0, y1, fy] = split(ys, h);
    const auto [x0, x1, fx] = split(xs, w);
    const Tensor image = broadcast_to(expand_dims(part(batch), {1, 2}), grid);
    Tensor sum, largest;
    for (int corner = 0; corner < 4; ++corner) {
      const Tensor py = corner & 2 ? y1 : y0, px = corner & 1 ? x1 : x0;
      const Tensor index = cast(onGrid(py, 2), DType::Int64) * w + cast(onGrid(px, 1), DType::Int64);
      const Tensor weight = onGrid(corner & 2 ? fy : 1 - fy, 2) * onGrid(corner & 1 ? fx : 1 - fx, 1);
      const Tensor value = At(pixels, {Place(image), Place(index)}).get() * expand_dims(where(is, weight, n(0)), {3});
      sum = sum.defined() ? sum + value : value;
      largest = largest.defined() ? maximum(largest, value) : value;
    }
    const Tensor &points = mode == "avg" ? sum : largest;
    const Tensor bins = reshape(points, {to - from, height, rows, width, columns, x.shape()[1]});
    const Tensor y = mode == "avg" ? mean(bins, {2, 4}) : calque::max(Operand(bins), AxisList({2, 4}));
    return transpose(y, {0, 3, 1, 2});
  };
  const std::int64_t count = rois.shape()[0];
  if (ratio > 0)
    return pool(0, count, ratio, ratio);
  // As many points as a bin has pixels: that depends on the boxes.
  call.requireKnown(1, "and sampling_ratio=0 takes as many points as they say");
  const std::vector<double> highs = hostNumbers(high), wides = hostNumbers(wide);
  std::vector<Tensor> all;
  for (std::int64_t i = 0; i < count; ++i) {
    auto points = [](double size, std::int64_t bins) {
      return std::max<std::int64_t>(static_cast<std::int64_t>(std::ceil(size / static_cast<double>(bins))), 1);
    };
    all.push_back(pool(i, i + 1, points(highs[static_cast<std::size_t>(i)], height),
                       points(wides[static_cast<std::size_t>(i)], width)));
  }
  return concat(all, 0);
}

struct Box {
  double y0, x0, y1, x1;
  double area() const { return (y1 - y0) * (x1 - x0); }
};
double overlap(const Box &a, const Box &b) {
  const double height = std::min(a.y1, b.y1) - std::max(a.y0, b.y0),
               width = std::min(a.x1, b.x1) - std::max(a.x0, b.x0);
  if (height <= 0 || width <= 0)
    return 0;
  return height * width / (a.area() + b.area() - height * width);
}

Results nonMaxSuppression(const Call &call) {
  for (std::size_t i : {0, 1})
    call.requireKnown(i, "and the number of results depends on them");
  const Tensor boxes = call.tensor(0), scores = call.tensor(1);
  const std::int64_t batches = scores.shape()[0], classes = scores.shape()[1], count = scores.shape()[2];
  if (boxes.rank() != 3 || boxes.shape()[0] != batches || boxes.shape()[1] != count || boxes.shape()[2] != 4)
    call.refuse("boxes of shape " + boxes.shape().str() + " for scores of shape " + scores.shape().str());
  const std::int64_t most = call.has(2) ? call.integer(2) : 0;
  const double threshold = call.has(3) ? call.number(3) : 0;
  const bool isCentred = call.flag("center_point_box", false);
  const std::vector<double> b = hostNumbers(boxes), s = hostNumbers(scores);
  std::vector<std::int64_t> chosen;
  for (std::int64_t batch = 0; batch < batches; ++batch)
    for (std::int64_t kind = 0; kind < classes; ++kind) {
      std::vector<std::int64_t> order(static_cast<std::size_t>(count));
      std::iota(order.begin(), order.end(), 0);
      auto score = [&](std::int64_t i) { return s[static_cast<std::size_t>((batch * classes + kind) * count + i)]; };
      auto box = [&](std::int64_t i) {
        const double *at = b.data() + (batch * count + i) * 4;
        if (isCentred)
          return Box{at[1] - at[3] / 2, at[0] - at[2] / 2, at[1] + at[3] / 2, at[0] + at[2] / 2};
        return Box{std::min(at[0], at[2]), std::min(at[1], at[3]), std::max(at[0], at[2]), std::max(at[1], at[3])};
      };
      if (call.has(4))
        std::erase_if(order, [&, least = call.number(4)](std::int64_t i) { return !(score(i) > least); });
      std::ranges::stable_sort(order, std::greater(), score);
      std::vector<std::int64_t> kept;
      for (std::int64_t i : order) {
        if (static_cast<std::int64_t>(kept.size()) >= most)
          break;
        if (std::ranges::none_of(kept, [&](std::int64_t k) { return overlap(box(i), box(k)) > threshold; })) {
          kept.push_back(i);
          chosen.insert(chosen.end(), {batch, kind, i});
        }
      }
    }
  return ofIntegers(chosen, {static_cast<std::int64_t>(chosen.size()) / 3, 3});
}

// A convolution whose windows read at places that are moved by an offset for each element of the window.
Results deformableConvolution(const Call &call) {
  const Tensor x = call.tensor(0), filters = call.tensor(1), offsets = call.tensor(2);
  if (x.rank() != 4)
    call.refuse("images of rank " + std::to_string(x.rank()) + ", expected 4");
  const Window window = windowOf(call, x.shape(), {filters.shape()[2], filters.shape()[3]});
  const std::int64_t groups = call.integer("group", 1), offsetGroups = call.integer("offset_group", 1);
  const std::int64_t channels = x.shape()[1], taps = window.sizes[0] * window.sizes[1];
  const std::int64_t results = filters.shape()[0];
  const Size batch = x.shape()[0];
  const std::vector<std::int64_t> places = outputSizes(window, x.shape());
  const std::int64_t count = places[0] * places[1];
  const DType dtype = x.dtype();
  // [N, offset groups, taps, 2, places]
  const Tensor moved = reshape(offsets, {batch, offsetGroups, taps, 2, count});
  const Tensor masks = call.has(4) ? reshape(call.tensor(4), {batch, offsetGroups, taps, count}) : Tensor();
  std::vector<Tensor> columns; // of each tap: [N, places, C]
  for (std::int64_t tap = 0; tap < taps; ++tap) {
    std::vector<Tensor> parts;
    for (std::int64_t group = 0; group < offsetGroups; ++group) {
      const std::int64_t width = channels / offsetGroups;
      const Tensor own = transpose(sliceAlong(x, 1, group * width, (group + 1) * width), {0, 2, 3, 1});
      std::vector<Tensor> at;
      for (std::int64_t d = 0; d < 2; ++d) {
        const auto k = static_cast<std::size_t>(d);
        const std::int64_t element = d == 0 ? tap / window.sizes[1] : tap % window.sizes[1];
        std::vector<double> origins;
        for (std::int64_t i = 0; i < count; ++i) {
          const std::int64_t place = d == 0 ? i / places[1] : i % places[1];
          origins.push_back(
              static_cast<double>(place * window.strides[k] - window.low[k] + element * window.dilations[k]));
        }
        const Tensor offset =
            reshape(slice(moved, {0, group, tap, d, 0}, {batch, group + 1, tap + 1, d + 1, count}), {batch, count});
        at.push_back(offset + ofNumbers(origins, dtype, Shape{count}));
      }
      Tensor part = image::sample(own, stack(at, -1));
      if (masks.defined())
        part = part * reshape(slice(masks, {0, group, tap, 0}, {batch, group + 1, tap + 1, count}), {batch, count, 1});
      parts.push_back(part);
    }
    columns.push_back(parts.size() == 1 ? parts[0] : concat(parts, 2));
  }
  const Tensor all = stack(columns, 3); // [N, places, C, taps]
  std::vector<Tensor> made;
  const std::int64_t width = channels / groups, rows = results / groups;
  for (std::int64_t group = 0; group < groups; ++group)
    made.push_back(matmul(reshape(sliceAlong(all, 2, group * width, (group + 1) * width), {batch, count, width * taps}),
                          reshape(sliceAlong(filters, 0, group * rows, (group + 1) * rows), {rows, width * taps}),
                          {.transpose_b = true}));
  Tensor y = made.size() == 1 ? made[0] : concat(made, 2);
  if (call.has(3))
    y = y + call.tensor(3);
  return reshape(transpose(y, {0, 2, 1}), {batch, results, places[0], places[1]});
}

constexpr Operator kTable[] = {
    {"AffineGrid", {20}, 2, 2, 0b10, affineGrid},
    {"DeformConv", {19, 22}, 3, 5, 0, deformableConvolution},
    {"GridSample", {16, 20, 22}, 2, 2, 0, gridSample},
    {"NonMaxSuppression", {10, 11}, 2, 5, 0b11111, nonMaxSuppression},
    {"RoiAlign", {10, 16, 22}, 3, 3, 0, roiAlign},
};

} // namespace

Table imageOperators() { return kTable; }

} // namespace calque::onnx
