// Convolutions and pooling. Images have their channels last here and second in ONNX.
#include "onnx/export/Emit.h"

#include <numeric>

namespace calque::onnx {

namespace {

Ints counted(std::int64_t from, std::int64_t to) {
  Ints numbers;
  for (std::int64_t i = from; i < to; ++i)
    numbers.push_back(i);
  return numbers;
}
Ints joined(std::initializer_list<Ints> lists) {
  Ints all;
  for (const Ints &each : lists)
    all.insert(all.end(), each.begin(), each.end());
  return all;
}

std::string toSecond(Emit &e, const std::string &x, std::int64_t rank) {
  return e.transpose(x, joined({{0, rank - 1}, counted(1, rank - 1)}));
}
std::string toLast(Emit &e, const std::string &x, std::int64_t rank) {
  return e.transpose(x, joined({{0}, counted(2, rank), {1}}));
}
// Filters [...,C/groups,F] as [F,C/groups,...].
std::string filters(Emit &e, const std::string &x, std::int64_t rank) {
  return e.transpose(x, joined({{rank - 1, rank - 2}, counted(0, rank - 2)}));
}

// How a window slides over images of a type.
struct Sliding {
  Ints strides, dilations, window, low, high;
  bool isSame = false; // with sizes that only the call knows, on which the padding depends

  Sliding(Emit &e, const ProgramType &images, Ints sizes, Ints spread)
      : strides(e.list("strides")), dilations(std::move(spread)), window(std::move(sizes)) {
    const std::size_t rank = strides.size();
    if (dilations.empty())
      dilations.assign(rank, 1);
    low.assign(rank, 0);
    high.assign(rank, 0);
    const Ints &pads = e.list("pads");
    for (std::size_t i = 0; i < pads.size(); ++i)
      (i % 2 ? high : low)[i / 2] = pads[i];
    if (e.attribute<std::string>("padding") != "same")
      return;
    for (std::size_t i = 0; i < rank; ++i) {
      const std::int64_t size = images.sizes[i + 1], reach = (window[i] - 1) * dilations[i] + 1;
      if (size == kUnknownSize) {
        isSame = true;
        continue;
      }
      const std::int64_t output = size ? (size - 1) / strides[i] + 1 : 0;
      const std::int64_t padding = std::max<std::int64_t>((output - 1) * strides[i] - size + reach, 0);
      low[i] = padding / 2;
      high[i] = padding - padding / 2;
    }
  }

  std::vector<Attribute> attributes(bool dilates) const {
    std::vector<Attribute> all{attribute("kernel_shape", window), attribute("strides", strides)};
    if (dilates)
      all.push_back(attribute("dilations", dilations));
    if (isSame)
      all.push_back(attribute("auto_pad", "SAME_UPPER"));
    else
      all.push_back(attribute("pads", joined({low, high})));
    return all;
  }
};

Ints windowOf(const ProgramType &filter) { return {filter.sizes.begin(), filter.sizes.end() - 2}; }

// bfloat16 is computed in float32.
DType taken(DType dtype) { return dtype == DType::BFloat16 ? DType::Float32 : dtype; }
std::string operand(Emit &e, std::size_t i) { return e.cast(e.in(i), e.dtype(i), taken(e.dtype(i))); }
Names result(Emit &e, const std::string &x) {
  const DType dtype = *e.result().dtype;
  return {e.cast(x, taken(dtype), dtype)};
}

Names conv(Emit &e) {
  const std::int64_t rank = e.rank();
  const Sliding sliding(e, e.type(), windowOf(e.type(1)), e.list("dilations"));
  std::vector<Attribute> attributes = sliding.attributes(true);
  attributes.push_back(attribute("group", e.integer("groups")));
  const Names inputs{toSecond(e, operand(e, 0), rank), filters(e, operand(e, 1), rank)};
  return result(e, toLast(e, e.node("Conv", inputs, std::move(attributes)), rank));
}

void requireSizes(Emit &e, const ProgramType &type) {
  for (std::size_t i = 1; i < type.sizes.size(); ++i)
    if (type.sizes[i] == kUnknownSize)
      e.refuse("its derivative is written for images of known sizes alone, and they are " + type.str());
}

// A transposed convolution, padded behind so that it has the sizes of `images`.
std::string transposed(Emit &e, const std::string &x, const std::string &filter, const Sliding &sliding,
                       const ProgramType &images, const ProgramType &cotangent, std::int64_t groups) {
  requireSizes(e, images);
  Ints behind;
  for (std::size_t i = 0; i < sliding.strides.size(); ++i)
    behind.push_back(images.sizes[i + 1] -
                     ((cotangent.sizes[i + 1] - 1) * sliding.strides[i] +
                      (sliding.window[i] - 1) * sliding.dilations[i] + 1 - sliding.low[i] - sliding.high[i]));
  std::vector<Attribute> attributes = sliding.attributes(true);
  attributes.push_back(attribute("group", groups));
  attributes.push_back(attribute("output_padding", behind));
  return e.node("ConvTranspose", {x, filter}, std::move(attributes));
}

Names convInputGrad(Emit &e) {
  const std::int64_t rank = e.rank();
  const Sliding sliding(e, e.type(2), windowOf(e.type(1)), e.list("dilations"));
  const std::string x = transposed(e, toSecond(e, operand(e, 0), rank), filters(e, operand(e, 1), rank), sliding,
                                   e.type(2), e.type(0), e.integer("groups"));
  return result(e, toLast(e, x, rank));
}

// A convolution of the images with the cotangent, in which examples take the place of channels.
Names convFilterGrad(Emit &e) {
  const std::int64_t rank = e.rank(), groups = e.integer("groups"), channels = e.type().sizes.back();
  requireSizes(e, e.type());
  Sliding sliding(e, e.type(), windowOf(e.type(2)), e.list("dilations"));
  const Ints window = sliding.window;
  // [N,...,groups,C/groups] to [C/groups,groups*N,...]
  Dims split = e.dims(0);
  split.back() = {groups};
  split.push_back({channels / groups});
  std::string x = e.reshape(operand(e, 0), split);
  x = e.transpose(x, joined({{rank, rank - 1, 0}, counted(1, rank - 1)}));
  Ints merged{channels / groups, -1};
  merged.insert(merged.end(), e.type().sizes.begin() + 1, e.type().sizes.end() - 1);
  x = e.reshape(x, merged);
  const std::string cotangent = e.transpose(operand(e, 1), joined({{rank - 1, 0}, counted(1, rank - 1)}));
  std::swap(sliding.strides, sliding.dilations);
  sliding.window = Ints(e.type(1).sizes.begin() + 1, e.type(1).sizes.end() - 1);
  std::vector<Attribute> attributes = sliding.attributes(true);
  attributes.push_back(attribute("group", groups));
  std::string made = e.node("Conv", {x, cotangent}, std::move(attributes));
  // Strides leave elements behind the window's.
  made = e.node("Slice", {made, e.ints(Ints(window.size(), 0)), e.ints(window), e.ints(counted(2, rank))});
  return result(e, e.transpose(made, joined({counted(2, rank), {0, 1}})));
}

Sliding pooling(Emit &e, const ProgramType &images) { return {e, images, e.list("window"), {}}; }

Names maxPool(Emit &e) {
  const std::int64_t rank = e.rank();
  const std::string x = toSecond(e, operand(e, 0), rank);
  return result(e, toLast(e, e.node("MaxPool", {x}, pooling(e, e.type()).attributes(false)), rank));
}

// The places of the largest elements in the images [N,C,...], counted through.
std::string places(Emit &e) {
  const std::string x = toSecond(e, operand(e, 0), e.rank());
  return e.nodes("MaxPool", {x}, 2, pooling(e, e.type()).attributes(false))[1];
}
Names maxPoolGrad(Emit &e) {
  const std::int64_t rank = e.rank();
  const DType dtype = taken(e.dtype());
  Dims sizes = e.dims(0);
  sizes.insert(sizes.begin() + 1, sizes.back());
  sizes.pop_back();
  const std::string zeros = e.reshape(e.zeros(dtype, sizes), Ints{-1});
  const std::string sum = e.node(
      "ScatterElements", {zeros, e.reshape(places(e), Ints{-1}), e.reshape(toSecond(e, operand(e, 1), rank), Ints{-1})},
      {attribute("axis", 0), attribute("reduction", "add")});
  return result(e, toLast(e, e.reshape(sum, sizes), rank));
}
Names maxPoolPick(Emit &e) {
  const std::int64_t rank = e.rank();
  const std::string values = e.reshape(toSecond(e, operand(e, 1), rank), Ints{-1});
  return result(e, toLast(e, e.node("Gather", {values, places(e)}), rank));
}

std::int64_t product(const Ints &numbers) {
  return std::accumulate(numbers.begin(), numbers.end(), std::int64_t(1), std::multiplies<>());
}

Names sumPool(Emit &e) {
  const std::int64_t rank = e.rank();
  std::vector<Attribute> attributes = pooling(e, e.type()).attributes(false);
  attributes.push_back(attribute("count_include_pad", 1));
  const std::string mean = e.node("AveragePool", {toSecond(e, operand(e, 0), rank)}, std::move(attributes));
  const std::string count = e.number(static_cast<double>(product(e.list("window"))), taken(e.dtype()));
  return result(e, toLast(e, e.node("Mul", {mean, count}), rank));
}
Names sumPoolGrad(Emit &e) {
  const std::int64_t rank = e.rank(), channels = e.type(1).sizes.back();
  requireSizes(e, e.type(1));
  Ints ones{channels, 1};
  ones.insert(ones.end(), e.list("window").begin(), e.list("window").end());
  const std::string filter = e.expand(e.number(1.0, taken(e.dtype())), Emit::known(ones));
  const std::string x =
      transposed(e, toSecond(e, operand(e, 0), rank), filter, pooling(e, e.type(1)), e.type(1), e.type(0), channels);
  return result(e, toLast(e, x, rank));
}

constexpr Rule kRules[] = {
    {"conv", conv},        {"conv_input_grad", convInputGrad}, {"conv_filter_grad", convFilterGrad},
    {"max_pool", maxPool}, {"max_pool_grad", maxPoolGrad},     {"max_pool_pick", maxPoolPick},
    {"sum_pool", sumPool}, {"sum_pool_grad", sumPoolGrad},
};

} // namespace

Rules windowRules() { return kRules; }

} // namespace calque::onnx
