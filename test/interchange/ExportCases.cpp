#include "test/interchange/ExportCases.h"

#include "calque/arrays.h"
#include "calque/training.h"
#include "test/operations/Testing.h"

namespace calque::testing {

namespace {

std::mt19937 &random() {
  static std::mt19937 engine(1);
  return engine;
}
Tensor drawn(const Shape &shape, double low = -2, double high = 2) {
  return cast(randomTensor(random(), shape, low, high), DType::Float32);
}
Tensor integers(const Shape &shape, int below, DType dtype = DType::Int64) {
  std::vector<double> values;
  for (std::int64_t i = 0; i < sizeOf(shape); ++i)
    values.push_back(static_cast<double>(random()() % static_cast<unsigned>(below)));
  return makeTensor(dtype, values, shape);
}
TensorSpec<> floats(Shape shape) { return {DType::Float32, std::move(shape)}; }

ExportCase of(std::string name, ManyBody body, Tensors inputs, std::vector<TensorSpec<>> specs = {},
              bool sameBits = true) {
  return {name, Function<Tensors(const Tensors &)>(std::move(body), {.name = name}), std::move(inputs),
          std::move(specs), sameBits};
}
// A layer, whose variables an eager call makes. Their values are moved away from their initial ones.
ExportCase layer(const std::string &name, const layers::Layer &made, const Tensor &x,
                 std::vector<TensorSpec<>> specs = {}, bool sameBits = true) {
  made(x);
  for (const Variable &each : made.variables())
    if (is_floating(each.dtype()))
      Variable(each).assign(each + abs(drawn(each.shape(), -0.25, 0.25)));
  return of(name, [made](const Tensors &x) { return Tensors{made(x[0])}; }, {x}, std::move(specs), sameBits);
}

void addMovement(std::vector<ExportCase> &cases) {
  const Tensor x = drawn({2, 3, 4});
  const std::vector<TensorSpec<>> open{floats({kDynamic, 3, kDynamic})};
  auto add = [&](const char *name, auto f, bool isOpen = true) {
    auto body = [f](const Tensors &x) { return Tensors{f(x[0])}; };
    cases.push_back(of(name, body, {x}));
    if (isOpen)
      cases.push_back(of(std::string(name) + "_open", body, {x}, open));
  };
  add("reshape", [](const Tensor &x) { return reshape(x, {-1, 6}); }, false);
  add("flatten", [](const Tensor &x) { return reshape(x, {x.shape()[0], -1}); });
  add("swap_sizes", [](const Tensor &x) { return reshape(x, {x.shape()[2], x.shape()[0], 3}); });
  add("expand_dims", [](const Tensor &x) { return expand_dims(x, {0, -1}); });
  add("squeeze", [](const Tensor &x) { return squeeze(expand_dims(x, {1}), {1}); });
  add("broadcast", [](const Tensor &x) { return x + broadcast_to(sum(x, {1}, true), x.shape()); });
  add("transpose", [](const Tensor &x) { return transpose(x, {1, 2, 0}); });
  add("transpose_all", [](const Tensor &x) { return transpose(x); });
  add("reverse", [](const Tensor &x) { return reverse(x, {1}); });
  add("concat", [](const Tensor &x) { return concat({x, 2 * x, x}, -1); });
  add("split", [](const Tensor &x) {
    auto parts = split(x, {1, 2}, 1);
    return parts[0] * parts[1];
  });
  add("slice", [](const Tensor &x) { return slice(x, {0, 1, 0}, {2, 3, 3}, {1, 1, 2}); }, false);
  add("pad", [](const Tensor &x) { return pad(x, {0, 1, 2}, {1, 0, 3}, 1.5); });
  add("iota", [](const Tensor &x) { return x + cast(iota(x.shape(), DType::Int32, 1), DType::Float32); });
  add("size", [](const Tensor &x) { return x / x.shape()[0]; });
  add(
      "constants",
      [](const Tensor &x) {
        return x * tensor<float>({1, 2, 3, 4}) + ones({3, 1}) + full({1, 1}, 0.5f, DType::Float32);
      },
      false);
}

void addIndices(std::vector<ExportCase> &cases) {
  const Tensor x = drawn({4, 5}), i = integers({3}, 4), j = integers({2, 5}, 4, DType::Int32);
  cases.push_back(
      of("gather", [](const Tensors &x) { return Tensors{gather(x[0], x[1]), gather(x[0], x[1], 1)}; }, {x, i}));
  cases.push_back(of("gather_small", [](const Tensors &x) { return Tensors{gather(x[0], x[1], 1)}; },
                     {x, cast(i, DType::UInt8)}, {floats({kDynamic, 5}), {DType::UInt8, Shape{kDynamic}}}));
  cases.push_back(
      of("take_along_axis", [](const Tensors &x) { return Tensors{take_along_axis(x[0], x[1], 0)}; }, {x, j}));
  const Tensor at = tensor<std::int64_t>({{1, 2}, {3, 0}, {1, 4}}), updates = drawn({3});
  cases.push_back(of("gather_nd", [](const Tensors &x) { return Tensors{gather_nd(x[0], x[1])}; }, {x, at}));
  cases.push_back(of("scatter_nd",
                     [](const Tensors &x) {
                       return Tensors{scatter_nd_set(x[0], x[1], x[2]), scatter_nd_add(x[0], x[1], x[2]),
                                      scatter_nd_max(x[0], x[1], x[2])};
                     },
                     {x, at, updates}));
  cases.push_back(of("one_hot", [](const Tensors &x) { return Tensors{one_hot(x[0], 3, DType::Float32)}; },
                     {tensor<std::int32_t>({-1, 0, 2, 3})}, {{DType::Int32, Shape{kDynamic}}}));
  cases.push_back(of("argsort", [](const Tensors &x) { return Tensors{argsort(x[0]), argsort(x[0], 0, true)}; }, {x},
                     {floats({kDynamic, 5})}));
  cases.push_back(of("embedding_gradient",
                     [](const Tensors &x) {
                       return Tensors{
                           grad([&](const Tensor &table) { return sum(square(gather(table, x[1], 1))); })(x[0])};
                     },
                     {x, i}));
}

void addReductions(std::vector<ExportCase> &cases) {
  const Tensor x = drawn({2, 3, 4});
  for (bool isOpen : {false, true}) {
    auto add = [&](const char *name, const ManyBody &body, const Tensor &x, DType dtype, bool sameBits = true) {
      const TensorSpec<> spec(dtype, isOpen ? Shape{kDynamic, 3, kDynamic} : x.shape());
      cases.push_back(of(std::string(name) + (isOpen ? "_open" : ""), body, {x}, {spec}, sameBits));
    };
    add(
        "reductions",
        [](const Tensors &x) {
          return Tensors{sum(x[0]),       max(x[0], {1}),     min(x[0], {0, 2}, true),
                         prod(x[0], {1}), mean(x[0], {0, 1}), logsumexp(x[0], {1})};
        },
        x, DType::Float32);
    add(
        "integers", [](const Tensors &x) { return Tensors{sum(x[0], {1}), max(x[0], {0}), prod(x[0], {2})}; },
        integers({2, 3, 4}, 5, DType::Int8), DType::Int8);
    add(
        "bools", [](const Tensors &x) { return Tensors{any(x[0], {1}), all(x[0], {0, 1})}; },
        integers({2, 3, 4}, 2, DType::Bool), DType::Bool);
    add("softmax", [](const Tensors &x) { return Tensors{softmax(x[0]), log_softmax(x[0], 1)}; }, x, DType::Float32);
    add("places", [](const Tensors &x) { return Tensors{argmax(x[0]), argmin(x[0], 0)}; }, x, DType::Float32);
    add(
        "running",
        [](const Tensors &x) {
          return Tensors{cumsum(x[0], 1), cumsum(x[0], 2, true, true), cumprod(x[0], 0), cumprod(x[0], 1, true, true)};
        },
        x, DType::Float32, false);
    add(
        "variance",
        [](const Tensors &x) { return Tensors{var(x[0], {1}), mean(square(x[0] - mean(x[0], {0}, true)))}; }, x,
        DType::Float32);
  }
}

void addContractions(std::vector<ExportCase> &cases) {
  auto add = [&](const char *name, const ManyBody &body, Tensors inputs, std::vector<TensorSpec<>> specs = {}) {
    cases.push_back(of(name, body, std::move(inputs), std::move(specs), false));
  };
  add("matmul", [](const Tensors &x) { return Tensors{matmul(x[0], x[1])}; }, {drawn({3, 4}), drawn({4, 5})},
      {floats({kDynamic, 4}), floats({4, 5})});
  add("matmul_examples", [](const Tensors &x) { return Tensors{matmul(x[0], x[1], {.transpose_b = true})}; },
      {drawn({2, 3, 4}), drawn({2, 5, 4})});
  add("matmul_rows", [](const Tensors &x) { return Tensors{matmul(x[0], x[1])}; }, {drawn({2, 3, 4}), drawn({4, 5})},
      {floats({kDynamic, kDynamic, 4}), floats({4, 5})});
  add("matvec",
      [](const Tensors &x) {
        return Tensors{contract(x[0], x[1], {}, {}, {1}, {0}), contract(x[1], x[1], {}, {}, {0}, {0})};
      },
      {drawn({3, 4}), drawn({4})});
  add("outer", [](const Tensors &x) { return Tensors{einsum("i,jk->kji", {x[0], x[1]})}; },
      {drawn({3}), drawn({4, 2})});
  add("einsum", [](const Tensors &x) { return Tensors{einsum("bij,jbk->ikb", {x[0], x[1]})}; },
      {drawn({2, 3, 4}), drawn({4, 2, 5})});
  add("matmul_int8", [](const Tensors &x) { return Tensors{matmul(x[0], x[1])}; },
      {integers({3, 4}, 9, DType::Int8), integers({4, 2}, 9, DType::Int8)});
}

void addControlFlow(std::vector<ExportCase> &cases) {
  const Tensor x = drawn({3, 4});
  cases.push_back(of("cond",
                     [](const Tensors &x) {
                       Tensor y = 2 * x[0];
                       return Tensors{cond(
                                          sum(x[0]) > 0, [&] { return y + 1; }, [&] { return x[0]; }),
                                      cond(sum(x[0]) < 0, [&] { return y + 1; }, [&] { return x[0]; })};
                     },
                     {x}, {floats({kDynamic, 4})}));
  cases.push_back(of("while",
                     [](const Tensors &x) {
                       const auto [i, y] = while_loop(
                           [](const Tensor &i, const Tensor &y) { return logical_and(i < 20, max(abs(y)) < 100); },
                           [&](const Tensor &i, const Tensor &y) { return std::tuple(i + 1, y * 1.5f + x[0]); },
                           std::tuple(scalar<std::int32_t>(0), x[0]));
                       return Tensors{i, y};
                     },
                     {x}));
  cases.push_back(of("for_range",
                     [](const Tensors &x) {
                       return Tensors{for_range(0, x[1], x[0], [](const Tensor &i, const Tensor &y) {
                         return y * 0.5f + cast(i, DType::Float32);
                       })};
                     },
                     {x, scalar<std::int64_t>(5)}));
  cases.push_back(of("nested",
                     [](const Tensors &x) {
                       return Tensors{for_range(0, 3, x[0], [&](const Tensor &, const Tensor &y) {
                         return for_range(0, 2, y, [&](const Tensor &, const Tensor &z) {
                           return cond(sum(z) > 0, [&] { return z - x[0]; }, [&] { return z + 1; });
                         });
                       })};
                     },
                     {x}));
  cases.push_back(of("scan",
                     [](const Tensors &x) {
                       auto [total, sums] =
                           scan([](const Tensor &sum, const Tensor &x) { return std::pair(sum + x, sum * x); },
                                zeros({4}), x[0]);
                       return Tensors{total, sums};
                     },
                     {x}));
  cases.push_back(
      of("checkpoint",
         [](const Tensors &x) { return Tensors{checkpoint([](const Tensor &y) { return sin(y) * y; })(x[0])}; }, {x}));
  cases.push_back(of("same_values", [](const Tensors &x) { return Tensors{x[0], x[0], x[0] + 1, zeros({2})}; }, {x}));
}

void addGradients(std::vector<ExportCase> &cases) {
  const Tensor x = drawn({3, 4}), w = drawn({4, 2});
  cases.push_back(of(
      "gradient",
      [](const Tensors &x) {
        return Tensors{
            grad([&](const Tensor &w) { return sum(tanh(matmul(x[0], w)) + sigmoid(matmul(x[0], w))); })(x[1])};
      },
      {x, w}, {floats({kDynamic, 4}), floats({4, 2})}, false));
  cases.push_back(of("movement_gradient",
                     [](const Tensors &x) {
                       return Tensors{grad([&](const Tensor &x) {
                         Tensor y = concat({slice(x, {0, 1}, {3, 4}, {1, 2}), pad(x, {0, 1}, {0, 0})}, 1);
                         return sum(square(transpose(reverse(y, {0})))) + sum(max(x, {1})) + sum(cumsum(x)) +
                                sum(broadcast_to(x, {2, 3, 4}));
                       })(x[0])};
                     },
                     {x}));
  cases.push_back(of(
      "cumprod_gradient",
      [](const Tensors &x) { return Tensors{grad([](const Tensor &x) { return sum(square(cumprod(x, 1))); })(x[0])}; },
      {x}, {}, false));
  cases.push_back(of(
      "complex_products",
      [](const Tensors &x) {
        const Tensor z = complex(x[0], 1 - x[0]), products = cumprod(z, 1, false, true), before = cumprod(z, 0, true);
        auto size = [](const Tensor &x) { return real(prod(complex(x, 2 * x))); };
        return Tensors{real(products), imag(before), abs(prod(z, {0})), grad(size)(x[0])};
      },
      {x}, {}, false));
  cases.push_back(of(
      "vmap",
      [](const Tensors &x) {
        return Tensors{vmap([&](const Tensor &row) { return softmax(matmul(expand_dims(row, {0}), x[1])); })(x[0])};
      },
      {x, w}, {}, false));
  const Tensor images = drawn({2, 6, 6, 4}), filters = drawn({3, 3, 2, 6});
  for (const char *padding : {"same", "valid"})
    for (std::int64_t stride : {1, 2})
      cases.push_back(of(
          "conv_gradient_" + std::string(padding) + std::to_string(stride),
          [=](const Tensors &x) {
            auto loss = [&](const Tensor &images, const Tensor &filters) {
              return sum(square(conv(images, filters, {.strides = {stride, stride}, .padding = padding, .groups = 2})));
            };
            return Tensors{grad([&](const Tensor &y) { return loss(y, x[1]); })(x[0]),
                           grad([&](const Tensor &y) { return loss(x[0], y); })(x[1])};
          },
          {images, filters}, {}, false));
  cases.push_back(of(
      "pool_gradient",
      [](const Tensors &x) {
        return Tensors{
            grad([](const Tensor &y) { return sum(square(max_pool2d(y, {2, 2}, {1, 1}, "same"))); })(x[0]),
            grad([](const Tensor &y) { return sum(square(average_pool(y, {2, 2}, {.strides = {2, 2}}))); })(x[0])};
      },
      {images}, {}, false));
}

void addLayers(std::vector<ExportCase> &cases) {
  using namespace layers;
  const Tensor rows = drawn({3, 5}), images = drawn({2, 8, 8, 4}), steps = drawn({2, 6, 5}), ids = integers({2, 6}, 9);
  const std::vector<TensorSpec<>> openRows{floats({kDynamic, 5})}, openImages{floats({kDynamic, 8, 8, 4})},
      anyImages{floats({kDynamic, kDynamic, kDynamic, 4})}, openSteps{floats({kDynamic, 6, 5})};
  auto add = [&](const std::string &name, const Layer &made, const Tensor &x, const std::vector<TensorSpec<>> &specs) {
    cases.push_back(layer(name, made, x, specs, false));
  };
  for (const char *activation :
       {"relu", "sigmoid", "tanh", "softmax", "elu", "selu", "gelu", "softplus", "swish", "leaky_relu"})
    add(std::string("dense_") + activation, Dense(3, {.activation = activation}), rows, openRows);
  add("conv", Conv2D(6, 3, {.strides = 2, .padding = "same", .activation = "relu"}), images, openImages);
  add("conv_any", Conv2D(6, 3, {.padding = "same"}), images, anyImages);
  add("conv_dilated", Conv2D(6, 3, {.dilation_rate = 2, .groups = 2}), images, openImages);
  add("conv1d", Conv1D(4, 3, {.padding = "causal"}), steps, openSteps);
  add("conv_transpose", Conv2DTranspose(3, 3, {.strides = 2, .padding = "same"}), images, openImages);
  add("depthwise", DepthwiseConv2D(3, {.padding = "same"}), images, openImages);
  add("separable", SeparableConv2D(5, 3), images, openImages);
  add("batch_norm", BatchNormalization(), images, openImages);
  add("layer_norm", LayerNormalization(), steps, openSteps);
  add("group_norm", GroupNormalization({.groups = 2}), images, openImages);
  add("max_pool", MaxPool2D(2), images, openImages);
  add("max_pool_same", MaxPool2D(3, {.strides = 2, .padding = "same"}), images, openImages);
  add("average_pool", AveragePooling2D(2), images, openImages);
  add("average_pool_same", AveragePooling2D(3, {.strides = 2, .padding = "same"}), images, openImages);
  add("global_pool", GlobalAveragePooling2D(), images, anyImages);
  add("embedding", Embedding(9, 4), ids, {{DType::Int64, Shape{kDynamic, kDynamic}}});
  add("simple_rnn", SimpleRNN(4), steps, openSteps);
  add("lstm", LSTM(4, {.return_sequences = true}), steps, openSteps);
  add("gru", GRU(4), steps, openSteps);
  add("bidirectional", Bidirectional(LSTM(3, {.return_sequences = true})), steps, openSteps);
  add("attention", MultiHeadAttention(2, 4), steps, openSteps);
  add("attention_causal", MultiHeadAttention(2, 4, {.use_causal_mask = true}), steps, openSteps);
  add("dropout", Sequential({Dense(4), Dropout(0.5), Dense(2)}), rows, openRows);
  add("network",
      Sequential({Conv2D(8, 3, {.padding = "same"}), BatchNormalization(), ReLU(), MaxPool2D(2), Flatten(), Dense(10)}),
      images, openImages);
}

} // namespace

std::vector<ExportCase> exportCases() {
  std::vector<ExportCase> cases;
  addMovement(cases);
  addIndices(cases);
  addReductions(cases);
  addContractions(cases);
  addControlFlow(cases);
  addGradients(cases);
  addLayers(cases);
  for (ExportCase &each : cases)
    each.compiles = each.name != "argsort" && each.name != "running_open" && each.name != "conv_any";
  return cases;
}

std::vector<ExportCase> elementwiseExportCases() {
  std::vector<ExportCase> cases;
  for (const ElementwiseCase &op : elementwiseCases()) {
    for (const DTypeInfo &info : kDTypes) {
      if (is_complex(info.dtype))
        continue;
      std::vector<DType> operands(static_cast<std::size_t>(op.schema().numOperands), info.dtype);
      if (op.schema().selecting & 1)
        operands[0] = DType::Bool;
      std::vector<schema::TensorType> types;
      for (DType dtype : operands)
        types.push_back({dtype, {24}});
      if (schema::inferTypes(op.id, types, {}).fault)
        continue;
      Tensors inputs;
      for (DType dtype : operands) {
        std::vector<double> values = randomValues(random(), 24, op.low, op.high, op.kinks, true);
        if (is_integer(dtype) || dtype == DType::Bool)
          for (double &value : values)
            value = std::max(1.0, std::round(std::fabs(value))); // no division by zero
        if (dtype == DType::Bool)
          for (double &value : values)
            value = value > 1.5;
        inputs.push_back(makeTensor(dtype, values, {24}));
      }
      const Body &f = op.function;
      cases.push_back(of(
          op.name() + "_" + info.name, [f](const Tensors &x) { return Tensors{f(x)}; }, std::move(inputs), {}, false));
    }
  }
  return cases;
}

} // namespace calque::testing
