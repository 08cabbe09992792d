#include "calque/layers/reshaping.h"

#include "Described.h"
#include "calque/functions.h"

#include <cmath>
#include <numbers>
#include <optional>

namespace calque::layers {

namespace {

using Numbers = std::vector<std::int64_t>;

// Each dimension between the batch and the channels has a number, or two: one before and one behind.
template <typename Body, std::size_t rank> class WindowedBody : public Described<Body> {
public:
  WindowedBody(const char *kind, Numbers numbers) : Described<Body>(kind, false), numbers(std::move(numbers)) {}

protected:
  void checkInput(const Shape &input) const { checkRank(this->title(), input, rank + 2); }
  void checkNumbers(std::size_t count, std::int64_t least, SourceLocation where) const {
    if (numbers.size() != count)
      fail<ValueError>(absl::StrCat(this->LayerBody::kind(), ": takes ", count, " numbers, not ", numbers.size()),
                       where);
    for (std::int64_t number : numbers)
      if (number < least)
        fail<ValueError>(absl::StrCat(this->LayerBody::kind(), ": a size is at least ", least, ", unlike ", number),
                         where);
  }
  Numbers numbers;
};

template <typename Body, std::size_t rank> struct UpSamplingBody : WindowedBody<Body, rank> {
  using WindowedBody<Body, rank>::WindowedBody;
  void check(SourceLocation where) const { this->checkNumbers(rank, 1, where); }
  template <typename A> void describe(A &a) { a("size", this->numbers); }
  Tensor call(const Tensor &input, const CallOptions &) override {
    this->checkInput(input.shape());
    Tensor x = input;
    for (std::size_t i = 0; i < rank; ++i) {
      const std::int64_t times = this->numbers[i];
      const auto axis = static_cast<std::int64_t>(i) + 1;
      Shape repeated = x.shape(), shape = x.shape();
      repeated.insert(repeated.begin() + axis + 1, times);
      Size &size = shape[i + 1];
      size = size.is_known() ? Size(std::int64_t(size) * times) : Size(-1);
      x = reshape(broadcast_to(expand_dims(x, {axis + 1}), repeated), shape);
    }
    return x;
  }
};
struct UpSampling1DBody : UpSamplingBody<UpSampling1DBody, 1> {
  explicit UpSampling1DBody(Numbers numbers = {2}) : UpSamplingBody("up_sampling1d", std::move(numbers)) {}
};
struct UpSampling2DBody : UpSamplingBody<UpSampling2DBody, 2> {
  explicit UpSampling2DBody(Numbers numbers = {2, 2}, std::string interpolation = "nearest")
      : UpSamplingBody("up_sampling2d", std::move(numbers)), interpolation(std::move(interpolation)) {}
  void check(SourceLocation where) const {
    UpSamplingBody::check(where);
    if (interpolation != "nearest" && interpolation != "bilinear" && !kernelOf(interpolation).at)
      fail<ValueError>(absl::StrCat("up_sampling2d: there is no interpolation '", interpolation,
                                    "'; it is 'nearest', 'bilinear', 'bicubic', 'lanczos3' or 'lanczos5'"),
                       where);
  }
  template <typename A> void describe(A &a) {
    UpSamplingBody::describe(a);
    a("interpolation", interpolation);
  }
  Tensor call(const Tensor &x, const CallOptions &options) override {
    if (interpolation == "nearest")
      return UpSamplingBody::call(x, options);
    checkInput(x.shape());
    checkFloating(title(), x.shape(), x.dtype());
    Tensor result = x;
    for (std::int64_t axis : {1, 2}) {
      const std::int64_t times = numbers[static_cast<std::size_t>(axis - 1)];
      if (times > 1)
        result = interpolation == "bilinear" ? interpolated(result, axis, times)
                                             : weighed(result, axis, times, kernelOf(interpolation));
    }
    return result;
  }

private:
  // The weight of a pixel at a distance, which is 0 from the radius on.
  struct Kernel {
    int radius = 0;
    double (*at)(double distance, int radius) = nullptr;
  };
  static Kernel kernelOf(const std::string &interpolation) {
    // R. G. Keys, Cubic convolution interpolation for digital image processing, 1981, with a = -0.5.
    if (interpolation == "bicubic")
      return {2,
              [](double x, int) { return x < 1 ? (1.5 * x - 2.5) * x * x + 1 : ((-0.5 * x + 2.5) * x - 4) * x + 2; }};
    // C. E. Duchon, Lanczos filtering in one and two dimensions, 1979: sinc(x) sinc(x / radius).
    auto lanczos = [](double x, int radius) {
      const double angle = std::numbers::pi * x;
      return x == 0 ? 1 : radius * std::sin(angle) * std::sin(angle / radius) / (angle * angle);
    };
    return interpolation == "lanczos3"   ? Kernel{3, lanczos}
           : interpolation == "lanczos5" ? Kernel{5, lanczos}
                                         : Kernel();
  }
  // As the centres of the small pixels lie between those of the others, with weights whose sum is 1 for those that are
  // in the image.
  static Tensor weighed(const Tensor &x, std::int64_t axis, std::int64_t times, const Kernel &kernel) {
    const Tensor one = onesAlong(x, axis);
    std::vector<Tensor> parts;
    for (std::int64_t i = 0; i < times; ++i) {
      const double distance = (static_cast<double>(i) + 0.5) / static_cast<double>(times) - 0.5;
      parts.push_back(distance == 0 ? x : around(x, axis, distance, kernel) / around(one, axis, distance, kernel));
    }
    return joined(x, axis, parts);
  }
  // The weighed sum of the pixels around each.
  static Tensor around(const Tensor &x, std::int64_t axis, double distance, const Kernel &kernel) {
    const auto at = static_cast<std::size_t>(axis);
    const int radius = kernel.radius;
    Numbers border(x.shape().size(), 0);
    border[at] = radius;
    const Tensor padded = pad(x, border, border);
    std::optional<Tensor> total;
    for (int offset = -radius; offset <= radius; ++offset) {
      const double far = std::abs(distance - offset);
      const double weight = far < radius ? kernel.at(far, radius) : 0;
      if (weight == 0)
        continue;
      const int before = radius + offset, behind = radius - offset;
      Tensor part = padded;
      if (before > 0)
        part = split(part, {before, -1}, axis)[1];
      if (behind > 0)
        part = split(part, {-1, behind}, axis)[0];
      total = total ? *total + part * weight : part * weight;
    }
    return *total;
  }
  // Ones of x's size along an axis, and of size one along the others.
  static Tensor onesAlong(const Tensor &x, std::int64_t axis) {
    Numbers others;
    for (std::int64_t i = 0; i < std::ssize(x.shape()); ++i)
      if (i != axis)
        others.push_back(i);
    const Size size = x.shape()[static_cast<std::size_t>(axis)];
    if (!size.is_known())
      return cast(any(x != x, others, /*keepdims=*/true), x.dtype()) * 0 + 1;
    Shape shape(x.shape().size(), 1);
    shape[static_cast<std::size_t>(axis)] = size;
    return ones(shape, x.dtype());
  }
  // Interleaves the parts.
  static Tensor joined(const Tensor &x, std::int64_t axis, const std::vector<Tensor> &parts) {
    Shape shape = x.shape();
    Size &size = shape[static_cast<std::size_t>(axis)];
    size = size.is_known() ? Size(std::int64_t(size) * std::ssize(parts)) : Size(-1);
    return reshape(stack(parts, axis + 1), shape);
  }
  // The centres of the small pixels lie between those of two pixels; beyond the outermost centre is the outermost
  // pixel.
  static Tensor interpolated(const Tensor &x, std::int64_t axis, std::int64_t times) {
    std::vector<Tensor> first = split(x, {1, -1}, axis), last = split(x, {-1, 1}, axis), parts;
    Tensor before = concat({first[0], last[0]}, axis), behind = concat({first[1], last[1]}, axis);
    for (std::int64_t i = 0; i < times; ++i) {
      const double distance = (static_cast<double>(i) + 0.5) / static_cast<double>(times) - 0.5;
      parts.push_back(distance < 0   ? x * (1 + distance) - before * distance
                      : distance > 0 ? x * (1 - distance) + behind * distance
                                     : x);
    }
    return joined(x, axis, parts);
  }
  std::string interpolation;
};
struct UpSampling3DBody : UpSamplingBody<UpSampling3DBody, 3> {
  explicit UpSampling3DBody(Numbers numbers = {2, 2, 2}) : UpSamplingBody("up_sampling3d", std::move(numbers)) {}
};

template <typename Body, std::size_t rank> struct ZeroPaddingBody : WindowedBody<Body, rank> {
  using WindowedBody<Body, rank>::WindowedBody;
  void check(SourceLocation where) const { this->checkNumbers(2 * rank, 0, where); }
  template <typename A> void describe(A &a) { a("padding", this->numbers); }
  Tensor call(const Tensor &x, const CallOptions &) override {
    this->checkInput(x.shape());
    Numbers low(rank + 2, 0), high(rank + 2, 0);
    for (std::size_t i = 0; i < rank; ++i) {
      low[i + 1] = this->numbers[2 * i];
      high[i + 1] = this->numbers[2 * i + 1];
    }
    return pad(x, low, high);
  }
};
struct ZeroPadding1DBody : ZeroPaddingBody<ZeroPadding1DBody, 1> {
  explicit ZeroPadding1DBody(Numbers numbers = {1, 1}) : ZeroPaddingBody("zero_padding1d", std::move(numbers)) {}
};
struct ZeroPadding2DBody : ZeroPaddingBody<ZeroPadding2DBody, 2> {
  explicit ZeroPadding2DBody(Numbers numbers = {1, 1, 1, 1}) : ZeroPaddingBody("zero_padding2d", std::move(numbers)) {}
};
struct ZeroPadding3DBody : ZeroPaddingBody<ZeroPadding3DBody, 3> {
  explicit ZeroPadding3DBody(Numbers numbers = {1, 1, 1, 1, 1, 1})
      : ZeroPaddingBody("zero_padding3d", std::move(numbers)) {}
};

template <typename Body, std::size_t rank> struct CroppingBody : WindowedBody<Body, rank> {
  using WindowedBody<Body, rank>::WindowedBody;
  void check(SourceLocation where) const { this->checkNumbers(2 * rank, 0, where); }
  template <typename A> void describe(A &a) { a("cropping", this->numbers); }
  Tensor call(const Tensor &input, const CallOptions &) override {
    this->checkInput(input.shape());
    Tensor x = input;
    for (std::size_t i = 0; i < rank; ++i) {
      const std::int64_t before = this->numbers[2 * i], behind = this->numbers[2 * i + 1];
      if (before == 0 && behind == 0)
        continue;
      const Size size = input.shape()[i + 1];
      if (size.is_known() && (before >= size || behind >= std::int64_t(size) - before))
        fail<ShapeError>(absl::StrCat(this->title(), ": cuts ", before, " and ", behind, " off axis ", i + 1,
                                      " of an input of shape ", input.shape().str(), ", which is not larger"));
      x = split(x, {before, -1, behind}, static_cast<std::int64_t>(i) + 1)[1];
    }
    return x;
  }
};
struct Cropping1DBody : CroppingBody<Cropping1DBody, 1> {
  explicit Cropping1DBody(Numbers numbers = {1, 1}) : CroppingBody("cropping1d", std::move(numbers)) {}
};
struct Cropping2DBody : CroppingBody<Cropping2DBody, 2> {
  explicit Cropping2DBody(Numbers numbers = {0, 0, 0, 0}) : CroppingBody("cropping2d", std::move(numbers)) {}
};
struct Cropping3DBody : CroppingBody<Cropping3DBody, 3> {
  explicit Cropping3DBody(Numbers numbers = {1, 1, 1, 1, 1, 1}) : CroppingBody("cropping3d", std::move(numbers)) {}
};

template <std::size_t rank> Numbers numbersOf(const Borders<rank> &borders) {
  Numbers numbers;
  for (auto [before, behind] : borders.pairs) {
    numbers.push_back(before);
    numbers.push_back(behind);
  }
  return numbers;
}

} // namespace

UpSampling1D::UpSampling1D(std::int64_t size, LayerOptions options, SourceLocation where)
    : Layer(made<UpSampling1DBody>(options.name, where, Numbers{size})) {}
UpSampling2D::UpSampling2D(Extent size, UpSampling2DOptions options, SourceLocation where)
    : Layer(made<UpSampling2DBody>(options.name, where, sizesOf(size), options.interpolation)) {}
UpSampling3D::UpSampling3D(Extents<3> size, LayerOptions options, SourceLocation where)
    : Layer(made<UpSampling3DBody>(options.name, where, sizesOf(size))) {}
ZeroPadding1D::ZeroPadding1D(std::int64_t padding, LayerOptions options, SourceLocation where)
    : ZeroPadding1D(padding, padding, options, where) {}
ZeroPadding1D::ZeroPadding1D(std::int64_t before, std::int64_t behind, LayerOptions options, SourceLocation where)
    : Layer(made<ZeroPadding1DBody>(options.name, where, Numbers{before, behind})) {}
ZeroPadding2D::ZeroPadding2D(Border padding, LayerOptions options, SourceLocation where)
    : Layer(made<ZeroPadding2DBody>(options.name, where, numbersOf(padding))) {}
ZeroPadding3D::ZeroPadding3D(Borders<3> padding, LayerOptions options, SourceLocation where)
    : Layer(made<ZeroPadding3DBody>(options.name, where, numbersOf(padding))) {}
Cropping1D::Cropping1D(std::int64_t cropping, LayerOptions options, SourceLocation where)
    : Cropping1D(cropping, cropping, options, where) {}
Cropping1D::Cropping1D(std::int64_t before, std::int64_t behind, LayerOptions options, SourceLocation where)
    : Layer(made<Cropping1DBody>(options.name, where, Numbers{before, behind})) {}
Cropping2D::Cropping2D(Border cropping, LayerOptions options, SourceLocation where)
    : Layer(made<Cropping2DBody>(options.name, where, numbersOf(cropping))) {}
Cropping3D::Cropping3D(Borders<3> cropping, LayerOptions options, SourceLocation where)
    : Layer(made<Cropping3DBody>(options.name, where, numbersOf(cropping))) {}

void registerReshaping() {
  registerDescribed<UpSampling1DBody>("UpSampling1D");
  registerDescribed<UpSampling2DBody>("UpSampling2D");
  registerDescribed<UpSampling3DBody>("UpSampling3D");
  registerDescribed<ZeroPadding1DBody>("ZeroPadding1D");
  registerDescribed<ZeroPadding2DBody>("ZeroPadding2D");
  registerDescribed<ZeroPadding3DBody>("ZeroPadding3D");
  registerDescribed<Cropping1DBody>("Cropping1D");
  registerDescribed<Cropping2DBody>("Cropping2D");
  registerDescribed<Cropping3DBody>("Cropping3D");
}

} // namespace calque::layers
