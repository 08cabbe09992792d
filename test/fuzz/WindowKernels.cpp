#include "test/fuzz/Kernels.h"

namespace calque::fuzz {

namespace {

// How a window slides along one dimension of images.
struct Along {
  std::int64_t input, taps, stride, dilation, before;
};

// That of the dimensions of images of this shape. The attributes of a call from number `first` on are strides, padding
// and pads.
std::vector<Along> slidesOf(const Call &call, std::size_t first, const Shape &image, const Ints &taps,
                            const Ints &dilations) {
  const Ints &strides = call.ints(first), &pads = call.ints(first + 2);
  std::vector<Along> all;
  for (std::size_t i = 0; i < strides.size(); ++i) {
    Along along{image[i + 1], taps[i], strides[i], dilations.empty() ? 1 : dilations[i],
                pads.empty() ? 0 : pads[2 * i]};
    std::int64_t window = (along.taps - 1) * along.dilation + 1;
    std::int64_t windows = (along.input + along.stride - 1) / along.stride;
    if (call.attribute<std::string>(first + 1) == "same" && along.input > 0)
      along.before = std::max<std::int64_t>((windows - 1) * along.stride + window - along.input, 0) / 2;
    all.push_back(along);
  }
  return all;
}

// For each place of the result and each place in the window that is inside of the image: f(place, tap, place in the
// image), each of which has a number for each dimension.
void eachWindow(const std::vector<Along> &slides, const Shape &result,
                const std::function<void(const Shape &, const Shape &, const Shape &)> &f) {
  Shape places(result.begin() + 1, result.end() - 1), taps;
  for (const Along &along : slides)
    taps.push_back(along.taps);
  for (std::int64_t p = 0; p < productOf(places); ++p)
    for (std::int64_t t = 0; t < productOf(taps); ++t) {
      Shape place = unravel(p, places), tap = unravel(t, taps), at;
      bool isInside = true;
      for (std::size_t i = 0; i < slides.size(); ++i) {
        at.push_back(place[i] * slides[i].stride + tap[i] * slides[i].dilation - slides[i].before);
        isInside &= at[i] >= 0 && at[i] < slides[i].input;
      }
      if (isInside)
        f(place, tap, at);
    }
}

Shape with(std::int64_t first, Shape index, std::int64_t last) {
  index.insert(index.begin(), first);
  index.push_back(last);
  return index;
}

// result[n,place,f] += image[n,at,c] filter[tap,c in its group,f], of which the image, the filter or the result is
// asked for.
void convolution(const Call &call, const Shape &image, const Shape &filter, const Shape &output, int asked) {
  const std::size_t rank = filter.size() - 2;
  const std::int64_t taken = filter[rank], filters = filter[rank + 1], each = filters / call.attribute<std::int64_t>(4);
  std::vector<Sum> sums(static_cast<std::size_t>(call.count()), Sum(call));
  auto slides = slidesOf(call, 0, image, Shape(filter.begin(), filter.end() - 2), call.ints(3));
  eachWindow(slides, output, [&](const Shape &place, const Shape &tap, const Shape &at) {
    for (std::int64_t n = 0; n < image[0]; ++n)
      for (std::int64_t f = 0; f < filters; ++f)
        for (std::int64_t c = 0; c < taken; ++c) {
          Shape ofFilter = tap;
          ofFilter.push_back(c);
          ofFilter.push_back(f);
          std::int64_t in = ravel(with(n, at, f / each * taken + c), image), k = ravel(ofFilter, filter),
                       out = ravel(with(n, place, f), output);
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
std::vector<std::vector<std::int64_t>> windowPositions(const Call &call, const Shape &image, const Shape &output) {
  std::vector<std::vector<std::int64_t>> positions(static_cast<std::size_t>(productOf(output)));
  eachWindow(slidesOf(call, 1, image, call.ints(0), {}), output,
             [&](const Shape &place, const Shape &, const Shape &at) {
               for (std::int64_t n = 0; n < image.front(); ++n)
                 for (std::int64_t c = 0; c < image.back(); ++c)
                   positions[ravel(with(n, place, c), output)].push_back(ravel(with(n, at, c), image));
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
  auto positions = windowPositions(call, call.shape(0), call.shape());
  for (std::int64_t i = 0; i < call.count(); ++i)
    call.out(i) = through(call, elementsAt(call, 0, positions[i]), largestValue, 0);
}

void maxPoolGrad(const Call &call) {
  auto positions = windowPositions(call, call.shape(0), call.shape(1));
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
  auto positions = windowPositions(call, call.shape(0), call.shape());
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

void sumPool(const Call &call) {
  auto positions = windowPositions(call, call.shape(0), call.shape());
  for (std::int64_t i = 0; i < call.count(); ++i) {
    Sum sum(call);
    for (std::int64_t position : positions[i])
      sum.add(call.in(0, position));
    call.out(i) = sum.finish();
  }
}

void sumPoolGrad(const Call &call) {
  auto positions = windowPositions(call, call.shape(), call.shape(0));
  std::vector<Sum> sums(static_cast<std::size_t>(call.count()), Sum(call));
  for (std::size_t i = 0; i < positions.size(); ++i)
    for (std::int64_t position : positions[i])
      sums[position].add(call.in(0, static_cast<std::int64_t>(i)));
  for (std::int64_t i = 0; i < call.count(); ++i)
    call.out(i) = sums[i].finish();
}

} // namespace

const KernelTable &windowKernels() {
  static const auto *table = new KernelTable{
      {"conv", conv},        {"conv_input_grad", convInputGrad}, {"conv_filter_grad", convFilterGrad},
      {"max_pool", maxPool}, {"max_pool_grad", maxPoolGrad},     {"max_pool_pick", maxPoolPick},
      {"sum_pool", sumPool}, {"sum_pool_grad", sumPoolGrad},
  };
  return *table;
}

} // namespace calque::fuzz
