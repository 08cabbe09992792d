// image::resize: along each dimension, a result is a sum of pixels with weights that the sizes say.
#include "calque/image.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "calque/custom_gradient.h"
#include "frontend/operations/ArrayCalls.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <numeric>

namespace calque::image {

using detail::ArrayCall;
using detail::typeOf;

namespace {

//===-- Names -----------------------------------------------------------------------------------===//

// The weight of a pixel at a distance, which is 0 from the radius on. `number` is the kernel's parameter.
struct Kernel {
  double radius = 0;
  double (*at)(double distance, double number) = nullptr;
  double number = 0;
};
double linearWeight(double distance, double) { return std::max(0.0, 1 - distance); }
// R. G. Keys, Cubic convolution interpolation for digital image processing, 1981.
double cubicWeight(double x, double a) {
  if (x <= 1)
    return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
}
// C. E. Duchon, Lanczos filtering in one and two dimensions, 1979: sinc(x) sinc(x / radius).
double lanczosWeight(double x, double radius) {
  if (x >= radius)
    return 0;
  const double angle = std::numbers::pi * x;
  return x == 0 ? 1 : radius * std::sin(angle) * std::sin(angle / radius) / (angle * angle);
}

enum class Rounding : std::uint8_t { PreferCeil, PreferFloor, Floor, Ceil };

double rounded(Rounding rounding, double x) {
  switch (rounding) {
  case Rounding::PreferCeil:
    return std::floor(x + 0.5);
  case Rounding::PreferFloor:
    return std::ceil(x - 0.5);
  case Rounding::Floor:
    return std::floor(x);
  case Rounding::Ceil:
    return std::ceil(x);
  }
  return x;
}

// One dimension that is resized.
struct Dimension {
  std::int64_t axis, from, to;      // of `from` pixels become `to`
  double scale, begin = 0, end = 1; // of the region
};

// Where pixel i of the result is.
using Coordinate = double (*)(const Dimension &, double i);
double centreOf(const Dimension &d, double i) { return (i + 0.5) / d.scale - 0.5; }
double cornersAligned(const Dimension &d, double i) {
  const double width = d.scale * static_cast<double>(d.from);
  return width == 1 ? 0 : i * static_cast<double>(d.from - 1) / (width - 1);
}
double croppedAt(const Dimension &d, double i) {
  const auto last = static_cast<double>(d.from - 1);
  const double width = d.scale * static_cast<double>(d.from), part = (d.end - d.begin) * last;
  return d.begin * last + (width == 1 ? part / 2 : i * part / (width - 1));
}
double symmetricAt(const Dimension &d, double i) {
  const double width = d.scale * static_cast<double>(d.from);
  return static_cast<double>(d.from) / 2 * (1 - static_cast<double>(d.to) / width) + centreOf(d, i);
}

// What a name in an option stands for.
template <typename T> struct Named {
  const char *name;
  T value;
};
template <typename T, std::size_t n>
const T &lookUp(const std::array<Named<T>, n> &all, const std::string &name, const char *what, const ArrayCall &call) {
  for (const Named<T> &each : all)
    if (name == each.name)
      return each.value;
  const std::string names =
      absl::StrJoin(all, "', '", [](std::string *out, const Named<T> &each) { absl::StrAppend(out, each.name); });
  throw ValueError(absl::StrCat(call.function, ": there is no ", what, " '", name, "'; there are '", names, "'"),
                   call.where);
}
constexpr std::array<Named<Kernel>, 5> kKernels{{{"nearest", {}},
                                                 {"linear", {1, linearWeight}},
                                                 {"cubic", {2, cubicWeight}},
                                                 {"lanczos3", {3, lanczosWeight, 3}},
                                                 {"lanczos5", {5, lanczosWeight, 5}}}};
constexpr std::array<Named<Rounding>, 4> kRoundings{{{"round_prefer_ceil", Rounding::PreferCeil},
                                                     {"round_prefer_floor", Rounding::PreferFloor},
                                                     {"floor", Rounding::Floor},
                                                     {"ceil", Rounding::Ceil}}};
constexpr std::array<Named<Coordinate>, 7> kCoordinates{{
    {"half_pixel", centreOf},
    {"align_corners", cornersAligned},
    {"asymmetric", [](const Dimension &d, double i) { return i / d.scale; }},
    {"half_pixel_symmetric", symmetricAt},
    {"pytorch_half_pixel", [](const Dimension &d, double i) { return d.to == 1 ? -0.5 : centreOf(d, i); }},
    {"tf_half_pixel_for_nn", [](const Dimension &d, double i) { return (i + 0.5) / d.scale; }},
    {"tf_crop_and_resize", croppedAt},
}};

//===-- Weights ---------------------------------------------------------------------------------===//

struct Method {
  Kernel kernel;
  Rounding rounding;
  Coordinate coordinate;
  bool antialias, excludesOutside, crops;
  double extrapolation;

  bool isNearest() const { return !kernel.at; }
};

// What the results along a dimension read: for each of them `taps` places and weights, one after the other.
struct Taps {
  std::int64_t taps = 1;
  std::vector<std::int64_t> places;
  std::vector<double> weights;
  std::vector<double> outside; // 1 for a result that is outside of the image
  bool someOutside = false;
};

Taps tapsOf(const Method &method, const Dimension &d) {
  Taps all;
  const auto last = static_cast<double>(d.from - 1);
  // An image that shrinks is smoothed by a wider kernel.
  const double stretch = method.antialias ? std::min(d.scale, 1.0) : 1.0, reach = method.kernel.radius / stretch;
  if (!method.isNearest())
    all.taps = static_cast<std::int64_t>(std::ceil(2 * reach));
  for (std::int64_t i = 0; i < d.to; ++i) {
    const double x = method.coordinate(d, static_cast<double>(i));
    const bool isOutside = method.crops && (x < 0 || x > last);
    all.outside.push_back(isOutside);
    all.someOutside = all.someOutside || isOutside;
    // Also of places that no integer stands for.
    auto clamped = [&](double place) { return static_cast<std::int64_t>(std::clamp(place, 0.0, last)); };
    if (method.isNearest()) {
      all.places.push_back(clamped(rounded(method.rounding, x)));
      continue;
    }
    double sum = 0;
    const double first = std::floor(x - reach) + 1;
    const std::size_t begin = all.weights.size();
    for (std::int64_t tap = 0; tap < all.taps; ++tap) {
      const double place = first + static_cast<double>(tap);
      const bool counts = !method.excludesOutside || (place >= 0 && place <= last);
      const double weight = counts ? method.kernel.at(std::abs(place - x) * stretch, method.kernel.number) : 0;
      all.places.push_back(clamped(place));
      all.weights.push_back(weight);
      sum += weight;
    }
    // No pixel has a weight where the image is far away.
    if ((method.antialias || method.excludesOutside) && sum != 0)
      for (std::size_t at = begin; at < all.weights.size(); ++at)
        all.weights[at] /= sum;
  }
  return all;
}

// Numbers that a trace takes as constants of the program.
Tensor ofNumbers(const std::vector<double> &numbers, DType dtype, const Shape &shape) {
  return dispatch(dtype, [&]<typename T>(std::type_identity<T>) {
    std::vector<T> rounded;
    rounded.reserve(numbers.size());
    for (double number : numbers)
      rounded.push_back(static_cast<T>(number));
    return tensor(rounded, shape);
  });
}
Tensor ofPlaces(const std::vector<std::int64_t> &places, const Shape &shape) { return tensor(places, shape); }

//===-- Sums ------------------------------------------------------------------------------------===//

// Beyond so many pixels, they are a dimension that is summed, so that the program does not grow with their number.
constexpr std::int64_t kMostTerms = 6;

// The type in which sums are computed, before they are rounded once.
DType typeOfSums(DType dtype) {
  if (is_floating(dtype) && !is_half(dtype))
    return dtype;
  return is_integer(dtype) && size_of(dtype) >= 4 ? DType::Float64 : DType::Float32;
}

// The sums along an axis. Without weights there is one pixel for each.
Tensor summed(const Taps &all, std::int64_t axis, const Tensor &x) {
  const auto size = static_cast<std::int64_t>(all.places.size()) / all.taps;
  if (all.weights.empty())
    return gather(x, ofPlaces(all.places, {size}), axis);
  Shape along(static_cast<std::size_t>(x.rank()), 1);
  along[static_cast<std::size_t>(axis)] = size;
  if (all.taps > kMostTerms) {
    along.insert(along.begin() + axis + 1, all.taps);
    const Tensor pixels = gather(x, ofPlaces(all.places, {size, all.taps}), axis);
    return sum(pixels * ofNumbers(all.weights, x.dtype(), along), axis + 1);
  }
  Tensor total;
  for (std::int64_t tap = 0; tap < all.taps; ++tap) {
    std::vector<std::int64_t> places;
    std::vector<double> weights;
    for (auto at = static_cast<std::size_t>(tap); at < all.places.size(); at += static_cast<std::size_t>(all.taps)) {
      places.push_back(all.places[at]);
      weights.push_back(all.weights[at]);
    }
    const Tensor term = gather(x, ofPlaces(places, {size}), axis) * ofNumbers(weights, x.dtype(), along);
    total = total.defined() ? total + term : term;
  }
  return total;
}

// The sums of the opposite direction: each pixel of the image reads the results to which it belongs, by the same
// weights.
Taps transposed(const Taps &all, std::int64_t from) {
  std::vector<std::vector<std::pair<std::int64_t, double>>> readers(static_cast<std::size_t>(from));
  std::size_t most = 1;
  for (std::size_t at = 0; at < all.places.size(); ++at) {
    const double weight = all.weights.empty() ? 1 : all.weights[at];
    if (weight == 0)
      continue;
    auto &own = readers[static_cast<std::size_t>(all.places[at])];
    const auto result = static_cast<std::int64_t>(at) / all.taps;
    if (!own.empty() && own.back().first == result)
      own.back().second += weight;
    else
      own.emplace_back(result, weight);
    most = std::max(most, own.size());
  }
  Taps made;
  made.taps = static_cast<std::int64_t>(most);
  for (auto &own : readers) {
    own.resize(most, {0, 0.0});
    for (auto [place, weight] : own) {
      made.places.push_back(place);
      made.weights.push_back(weight);
    }
  }
  return made;
}

// Of what is read and added, by how much the gradient may be more than the sums themselves.
constexpr std::int64_t kMostWork = 4;

Tensor resizeAlong(const Method &method, const Dimension &d, const Tensor &x) {
  const Taps all = tapsOf(method, d);
  // By itself the gradient would add each element to one place after the other.
  const Taps back = is_floating(x.dtype()) && d.to > 0 ? transposed(all, d.from) : Taps();
  const auto work = static_cast<std::int64_t>(all.places.size()) + d.from;
  Tensor y;
  if (!back.places.empty() && static_cast<std::int64_t>(back.places.size()) <= kMostWork * work)
    y = custom_gradient([&](const Tensor &x) {
      return std::pair(summed(all, d.axis, x),
                       [back, axis = d.axis](const Tensor &g) { return summed(back, axis, g); });
    })(x);
  else
    y = summed(all, d.axis, x);
  if (all.someOutside) {
    Shape along(static_cast<std::size_t>(x.rank()), 1);
    along[static_cast<std::size_t>(d.axis)] = d.to;
    y = where(ofNumbers(all.outside, DType::Bool, along), ofNumbers({method.extrapolation}, x.dtype(), {}), y);
  }
  return y;
}

std::vector<Dimension> dimensionsOf(const Tensor &x, const std::vector<std::int64_t> &sizes,
                                    const ResizeOptions &options, const ArrayCall &call) {
  const std::size_t count = sizes.size();
  std::vector<std::int64_t> axes = options.axes.numbers();
  if (axes.empty()) {
    if (x.rank() <= static_cast<std::int64_t>(count))
      throw ShapeError(absl::StrCat(call.function, ": images of ", count, " dimensions that are resized have rank ",
                                    count + 1, " or more, unlike ", typeOf(x), "; without channels, give the axes"),
                       call.where);
    axes.resize(count);
    std::iota(axes.begin(), axes.end(), x.rank() - 1 - static_cast<std::int64_t>(count));
  }
  axes = call.axes(axes, x);
  auto require = [&](const char *what, std::size_t found, std::size_t expected) {
    if (found != expected)
      throw ValueError(absl::StrCat(call.function, ": there must be ", expected, " ", what, ", not ", found),
                       call.where);
  };
  require("axes", axes.size(), count);
  if (!options.scales.empty())
    require("scales", options.scales.size(), count);
  if (!options.region.empty())
    require("numbers of the region", options.region.size(), 2 * count);
  std::vector<Dimension> all;
  for (std::size_t i = 0; i < count; ++i) {
    const Size size = x.shape()[static_cast<std::size_t>(axes[i])];
    if (!size.is_known())
      throw StateError(absl::StrCat(call.function, ": the size of axis ", axes[i], " of ", typeOf(x),
                                    " is changed, and must be known while tracing"),
                       call.where);
    if (sizes[i] < 0)
      throw ValueError(absl::StrCat(call.function, ": a size must not be negative: ", sizes[i]), call.where);
    if (size == 0 && sizes[i] > 0)
      throw ShapeError(absl::StrCat(call.function, ": there is no pixel along axis ", axes[i], " of ", typeOf(x)),
                       call.where);
    const std::int64_t from = size;
    Dimension d{axes[i], from, sizes[i],
                static_cast<double>(sizes[i]) / static_cast<double>(std::max<std::int64_t>(from, 1))};
    if (!options.scales.empty())
      d.scale = options.scales[i];
    if (sizes[i] > 0 && !(d.scale > 0 && std::isfinite(d.scale)))
      throw ValueError(absl::StrCat(call.function, ": a scale must be a finite number above 0, not ", d.scale),
                       call.where);
    if (!options.region.empty()) {
      d.begin = options.region[i];
      d.end = options.region[i + count];
    }
    all.push_back(d);
  }
  return all;
}

} // namespace

Tensor resize(const Operand &images, const std::vector<std::int64_t> &sizes, ResizeOptions options) {
  ArrayCall call(images, "image::resize");
  const Tensor x = images.toTensor();
  const DType dtype = x.dtype();
  Method method{.kernel = lookUp(kKernels, options.method, "method", call),
                .rounding = lookUp(kRoundings, options.rounding, "rounding", call),
                .coordinate = lookUp(kCoordinates, options.coordinates, "coordinates", call),
                .antialias = options.antialias,
                .excludesOutside = options.exclude_outside.value_or(options.antialias),
                .crops = options.coordinates == "tf_crop_and_resize",
                .extrapolation = options.extrapolation};
  if (method.kernel.at == cubicWeight)
    method.kernel.number = options.cubic_coefficient;
  if (method.kernel.at == lanczosWeight)
    method.excludesOutside = options.exclude_outside.value_or(true);
  if (method.isNearest() && method.antialias)
    throw ValueError("image::resize: the method 'nearest' takes single pixels, and none with antialias", call.where);
  std::vector<Dimension> dimensions = dimensionsOf(x, sizes, options, call);
  if (!method.isNearest() && !is_integer(dtype) && !is_floating(dtype))
    detail::refuseType(call.function, {DTypeKind::Integer, DTypeKind::Float}, x, call.where);
  const DType type = method.isNearest() ? dtype : typeOfSums(dtype);
  // What makes the image smaller comes first.
  std::ranges::stable_sort(dimensions, {}, [](const Dimension &d) {
    return static_cast<double>(d.to) / static_cast<double>(std::max<std::int64_t>(d.from, 1));
  });
  Tensor y = type == dtype ? x : cast(x, type);
  for (const Dimension &d : dimensions)
    if (d.scale != 1 || d.from != d.to || method.crops)
      y = resizeAlong(method, d, y);
  if (type == dtype)
    return y;
  return cast(is_integer(dtype) ? round(y) : y, dtype);
}

} // namespace calque::image
