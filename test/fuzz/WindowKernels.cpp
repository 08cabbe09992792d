#include "test/fuzz/Kernels.h"

namespace calque::fuzz {

namespace {

// How many rows or columns of padding stand before the image.
std::int64_t padBefore(std::int64_t input, std::int64_t window, std::int64_t stride, const std::string &padding) {
  if (padding != "same" || input == 0)
    return 0;
  std::int64_t windows = (input + stride - 1) / stride;
  return std::max<std::int64_t>((windows - 1) * stride + window - input, 0) / 2;
}

// For each image n, result row and column, and window row and column inside of the image: the image's row and column.
template <typename F>
void eachWindow(const Shape &image, const Shape &result, std::int64_t height, std::int64_t width, const Ints &strides,
                const std::string &padding, F f) {
  std::int64_t top = padBefore(image[1], height, strides[0], padding),
               left = padBefore(image[2], width, strides[1], padding);
  for (std::int64_t n = 0; n < result[0]; ++n)
    for (std::int64_t oh = 0; oh < result[1]; ++oh)
      for (std::int64_t ow = 0; ow < result[2]; ++ow)
        for (std::int64_t kh = 0; kh < height; ++kh)
          for (std::int64_t kw = 0; kw < width; ++kw) {
            std::int64_t h = oh * strides[0] + kh - top, w = ow * strides[1] + kw - left;
            if (h >= 0 && h < image[1] && w >= 0 && w < image[2])
              f(n, oh, ow, kh, kw, h, w);
          }
}

// result[n,oh,ow,f] += image[n,h,w,c] filter[kh,kw,c,f], of which the image, the filter or the result is asked for.
void convolution(const Call &call, const Shape &image, const Shape &filter, const Shape &output, int asked) {
  const Ints &strides = call.ints(0);
  const std::string &padding = call.attribute<std::string>(1);
  std::vector<Sum> sums(static_cast<std::size_t>(call.count()), Sum(call));
  eachWindow(image, output, filter[0], filter[1], strides, padding,
             [&](auto n, auto oh, auto ow, auto kh, auto kw, auto h, auto w) {
               for (std::int64_t c = 0; c < filter[2]; ++c)
                 for (std::int64_t f = 0; f < filter[3]; ++f) {
                   std::int64_t in = ravel({n, h, w, c}, image), k = ravel({kh, kw, c, f}, filter),
                                out = ravel({n, oh, ow, f}, output);
                   if (asked == 0)
                     sums[out].add(call.in(0, in), call.in(1, k));
                   else if (asked == 1)
                     sums[in].add(call.in(0, out), call.in(1, k));
                   else
                     sums[k].add(call.in(0, in), call.in(1, out));
                 }
             });
  // Whether padding times infinity counts is not promised.
  bool finite = true;
  for (const Array *operand : {call.x[0], call.x[1]})
    for (const Num &element : operand->elements)
      finite &= std::isfinite(element.value) && std::isfinite(element.off);
  for (std::int64_t i = 0; i < call.count(); ++i) {
    call.out(i) = sums[i].finish();
    if (!finite)
      call.out(i).off = call.out(i).apart = kUnknown;
  }
}
void conv(const Call &call) { convolution(call, call.shape(0), call.shape(1), call.shape(), 0); }
void convInputGrad(const Call &call) { convolution(call, call.shape(), call.shape(1), call.shape(0), 1); }
void convFilterGrad(const Call &call) { convolution(call, call.shape(0), call.shape(), call.shape(1), 2); }

// The positions in the images that each window sees, by position of the result.
std::vector<std::vector<std::int64_t>> windowPositions(const Call &call, const Shape &output) {
  const Shape &image = call.shape(0);
  std::vector<std::vector<std::int64_t>> positions(static_cast<std::size_t>(productOf(output)));
  eachWindow(image, output, call.ints(0)[0], call.ints(0)[1], call.ints(1), call.attribute<std::string>(2),
             [&](auto n, auto oh, auto ow, auto, auto, auto h, auto w) {
               for (std::int64_t c = 0; c < image[3]; ++c)
                 positions[ravel({n, oh, ow, c}, output)].push_back(ravel({n, h, w, c}, image));
             });
  return positions;
}
std::vector<Num> elementsAt(const Call &call, std::size_t operand, const std::vector<std::int64_t> &positions) {
  std::vector<Num> elements;
  for (std::int64_t position : positions)
    elements.push_back(call.in(operand, position));
  return elements;
}

void maxPool(const Call &call) {
  auto positions = windowPositions(call, call.shape());
  for (std::int64_t i = 0; i < call.count(); ++i)
    call.out(i) = through(call, elementsAt(call, 0, positions[i]), largestValue, 0);
}

void maxPoolGrad(const Call &call) {
  auto positions = windowPositions(call, call.shape(1));
  std::vector<Sum> sums(static_cast<std::size_t>(call.count()), Sum(call));
  std::vector<std::int64_t> offOpen, apartOpen;
  for (std::size_t i = 0; i < positions.size(); ++i) {
    if (positions[i].empty())
      continue;
    Largest largest = firstLargest(elementsAt(call, 0, positions[i]));
    sums[positions[i][largest.position]].add(call.in(1, static_cast<std::int64_t>(i)));
    if (largest.offOpen)
      offOpen.insert(offOpen.end(), positions[i].begin(), positions[i].end());
    if (largest.apartOpen)
      apartOpen.insert(apartOpen.end(), positions[i].begin(), positions[i].end());
  }
  for (std::int64_t i = 0; i < call.count(); ++i)
    call.out(i) = sums[i].finish();
  if (!call.machine)
    return;
  for (std::int64_t position : offOpen)
    call.out(position).off = kUnknown;
  for (std::int64_t position : apartOpen)
    call.out(position).apart = kUnknown;
}

void maxPoolPick(const Call &call) {
  auto positions = windowPositions(call, call.shape());
  for (std::int64_t i = 0; i < call.count(); ++i) {
    Largest largest = firstLargest(elementsAt(call, 0, positions[i]));
    Num &out = call.out(i);
    out = call.in(1, positions[i][largest.position]);
    if (!call.machine)
      out.off = out.apart = 0;
    else if (largest.offOpen)
      out.off = kUnknown;
    if (call.machine && largest.apartOpen)
      out.apart = kUnknown;
  }
}

} // namespace

const KernelTable &windowKernels() {
  static const auto *table = new KernelTable{
      {"conv2d", conv},        {"conv2d_input_grad", convInputGrad}, {"conv2d_filter_grad", convFilterGrad},
      {"max_pool2d", maxPool}, {"max_pool2d_grad", maxPoolGrad},     {"max_pool2d_pick", maxPoolPick},
  };
  return *table;
}

} // namespace calque::fuzz
