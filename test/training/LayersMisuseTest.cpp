// What layers refuse, and what is special of single ones.
#include "Testing.h"

#include <algorithm>

using namespace calque;
using namespace calque::testing;

namespace {
layers::Layer from(const std::string &json) { return layers::deserialize(Config::parse(json)); }
} // namespace

TEST(LayersMisuse, OfOptionsNamesTheValue) {
  EXPECT_MISUSE(DTypeError, layers::Embedding(3, 2, {.dtype = DType::Int32}),
                "embedding: its vectors are of floating-point numbers, not int32");
  EXPECT_MISUSE(ValueError, layers::Reshape({-1, -1}),
                "reshape: [-1,-1] is no shape; a size is not negative, but one that is -1");
  EXPECT_MISUSE(ValueError, layers::Permute({0, 1}), "permute: [0,1] is no permutation of the dimensions");
  EXPECT_MISUSE(ValueError, layers::ReLU({.max_value = -1}), "re_lu: the largest value is not below 0, unlike -1");
  EXPECT_MISUSE(ValueError, layers::GaussianNoise(-1),
                "gaussian_noise: a standard deviation is finite and not below 0, unlike -1");
  EXPECT_MISUSE(ValueError, layers::LSTM(2, {.dropout = 1}), "lstm: a rate of dropout is in [0, 1), unlike 1");
  EXPECT_MISUSE(ValueError, layers::MultiHeadAttention(2, 2, {.dropout = 1}),
                "multi_head_attention: a rate of dropout is in [0, 1), unlike 1");
  EXPECT_MISUSE(ValueError, layers::Bidirectional(layers::GRU(2), {.merge_mode = "add"}),
                "bidirectional: there is no mode 'add'; it is 'concat', 'sum', 'mul', 'ave' or 'none'");
  EXPECT_MISUSE(ValueError, layers::Bidirectional(layers::Dense(2)),
                "bidirectional: the layer 'dense' is not recurrent");
  EXPECT_MISUSE(ValueError, layers::ZeroPadding1D(-1), "zero_padding1d: a size is at least 0, unlike -1");
  EXPECT_MISUSE(ValueError, layers::UpSampling1D(0), "up_sampling1d: a size is at least 1, unlike 0");
}

TEST(LayersMisuse, OfInputsNamesTheShape) {
  EXPECT_MISUSE(DTypeError, layers::Embedding(3, 2)(ones({2})), "embedding: takes inputs of integers, not float32[2]");
  EXPECT_MISUSE(ShapeError, layers::Reshape({2, 2})(ones({2, 3})),
                "reshape: an example of 3 elements, of an input of shape [2,3], can't fill [2,2]");
  EXPECT_MISUSE(ShapeError, layers::Permute({2, 1})(ones({2, 3})),
                "permute: permutes 2 dimensions behind the batch; the input has shape [2,3]");
  EXPECT_MISUSE(ShapeError, layers::RepeatVector(2)(ones({3})),
                "repeat_vector: takes vectors [N,features]; the input has shape [3]");
  EXPECT_MISUSE(ValueError, layers::PReLU({.shared_axes = {2}})(ones({2, 3})),
                "p_re_lu: there is no axis 2 behind the batch in [2,3]");
  EXPECT_MISUSE(ShapeError, layers::PReLU().build({2, kDynamic, 3}),
                "p_re_lu: its variables are made by the sizes of the input, which are not known in [2,?,3]");
  EXPECT_MISUSE(ValueError, layers::Add()(ones({2})), "add: takes at least 2 inputs, and there are 1");
  EXPECT_MISUSE(ValueError, layers::Subtract()({ones({2}), ones({2}), ones({2})}),
                "subtract: takes 2 inputs, and there are 3");
  EXPECT_MISUSE(ShapeError, layers::BatchNormalization({.axis = 3})(ones({2, 3})),
                "batch_normalization: there is no axis 3 behind the batch in an input of shape [2,3]");
  EXPECT_MISUSE(ShapeError, layers::BatchNormalization({.axis = 1}).build({2, kDynamic, 3}),
                "batch_normalization: its variables are made by the size of axis 1 of the input, which is not known");
  layers::BatchNormalization first({.axis = 1});
  first.build({2, 4, 3});
  EXPECT_MISUSE(ShapeError, first(ones({2, 5, 3})),
                "was built for inputs whose size along axis 1 is 4; this one has shape [2,5,3]");
  EXPECT_MISUSE(ValueError, layers::LayerNormalization({.axes = {1, -1}})(ones({2, 3})),
                "layer_normalization: the axes [1,-1] of an input of shape [2,3] have one twice");
  EXPECT_MISUSE(ShapeError, layers::GroupNormalization({.groups = 2})(ones({2, 3})),
                "group_normalization: 2 groups don't divide the 3 channels of an input of shape [2,3]");
  EXPECT_MISUSE(ShapeError, layers::SpatialDropout2D(0.5)(ones({2, 3})),
                "spatial_dropout2d: takes inputs of rank 4, channels last; this one has shape [2,3]");
  EXPECT_MISUSE(ShapeError, layers::UpSampling2D()(ones({2, 3})),
                "up_sampling2d: takes inputs of rank 4, channels last; this one has shape [2,3]");
  EXPECT_MISUSE(ShapeError, layers::Cropping1D(2)(ones({1, 4, 1})),
                "cropping1d: cuts 2 and 2 off axis 1 of an input of shape [1,4,1], which is not larger");
  EXPECT_MISUSE(ShapeError, layers::Cropping1D(INT64_MAX)(ones({1, 4, 1})),
                "cropping1d: cuts 9223372036854775807 and 9223372036854775807 off axis 1");
  EXPECT_MISUSE(
      ValueError, layers::Conv2DTranspose(2, 3, {.strides = 2, .output_padding = 2}),
      "conv2d_transpose: output_padding is at least 0 and less than the stride or the dilation, unlike 2 and 2 and 1");
  EXPECT_MISUSE(ShapeError, layers::Conv3D(2, 2)(ones({1, 4, 4, 1})),
                "conv3d: takes inputs of rank 5, channels last; this one has shape [1,4,4,1]");
  EXPECT_MISUSE(ShapeError, layers::Conv1D(4, 2, {.groups = 2})(ones({1, 4, 3})),
                "conv1d: the channels of an input of shape [1,4,3] can't be divided into 2 groups of one size");
  EXPECT_MISUSE(ValueError, layers::Conv2D(3, 2, {.groups = 2}),
                "conv2d: 3 filters can't be divided into 2 groups of one size");
  EXPECT_MISUSE(ValueError, layers::Conv3D(3, {2, 0, 1}), "conv3d: the kernel's size is 0 and must be at least 1");
  EXPECT_MISUSE(ValueError, layers::Conv2D(1, 2, {.dilation_rate = 0}), "conv2d: the dilation rate is 0");
  EXPECT_MISUSE(ValueError, layers::Conv2DTranspose(1, 2, {.padding = "causal"}), "there is no padding 'causal'");
  EXPECT_MISUSE(ValueError, layers::DepthwiseConv1D(2, {.depth_multiplier = 0}), "the depth multiplier is 0");
  layers::DepthwiseConv2D depthwise(2);
  depthwise.build({1, 4, 4, 3});
  EXPECT_MISUSE(ShapeError, depthwise(ones({1, 4, 4, 2})),
                "depthwise_conv2d: was built for inputs whose last dimension is 3; this one has shape [1,4,4,2]");
  EXPECT_MISUSE(ShapeError, layers::Conv2DTranspose(1, 2)(ones({1, 4, 4})), "conv2d_transpose: takes inputs of rank 4");
  EXPECT_MISUSE(ShapeError, layers::SeparableConv1D(1, 2)(ones({1, 4})), "separable_conv1d: takes inputs of rank 3");
  EXPECT_MISUSE(ShapeError, layers::AveragePooling3D()(ones({1, 4, 4, 1})),
                "average_pooling3d: takes inputs of rank 5, channels last; this one has shape [1,4,4,1]");
  EXPECT_MISUSE(
      ShapeError, layers::Conv2D(3, {2, 3})(ones({1, 4, 2, 1})),
      "conv2d: its window takes 3 along axis 2 of an input, and this one has shape [1,4,2,1]; padding 'same'");
  EXPECT_MISUSE(ShapeError, layers::Conv1D(1, 3, {.dilation_rate = 2})(ones({1, 4, 2})), "its window takes 5 along");
  EXPECT_MISUSE(ShapeError, layers::SeparableConv2D(1, 3)(ones({1, 2, 4, 1})), "its window takes 3 along axis 1");
  EXPECT_MISUSE(ShapeError, layers::AveragePooling3D(2)(ones({1, 2, 2, 1, 1})), "its window takes 2 along axis 3");
  EXPECT_EQ(layers::Conv2D(3, 3)(ones({2, 3, 3, 1})).shape(), (Shape{2, 1, 1, 3})); // which just fits
  EXPECT_EQ(layers::MaxPool2D(3, {.padding = "same"})(ones({1, 2, 2, 1})).shape(), (Shape{1, 1, 1, 1}));
  EXPECT_EQ(layers::Conv2DTranspose(3, 3)(ones({1, 1, 1, 1})).shape(), (Shape{1, 3, 3, 3}));
  EXPECT_EQ(layers::Conv1D(1, 3, {.padding = "causal"})(ones({1, 1, 2})).shape(), (Shape{1, 1, 1}));
  EXPECT_MISUSE(ShapeError, layers::LSTM(2)(ones({2, 3})),
                "lstm: takes sequences [N,T,features]; the input has shape [2,3]");
  layers::LSTM lstm(2);
  layers::GRU gru(2);
  lstm.build({1, 3, 4});
  gru.build({1, 3, 4});
  Tensor x = ones({1, 3, 4}), h = ones({1, 2});
  EXPECT_MISUSE(ValueError, lstm({x, h}), "lstm: takes a sequence, alone or with 2 states, and there are 2 inputs");
  EXPECT_MISUSE(ValueError, gru({x, h, h}), "gru: takes a sequence, alone or with 1 state, and there are 3 inputs");
  EXPECT_MISUSE(ShapeError, gru({x, ones({1, 3})}), "gru: a state is [1,3], not [1,2]");
  EXPECT_MISUSE(DTypeError, gru({x, ones({1, 2}, DType::Float64)}),
                "gru: a state is float64[1,2], and the sequence has float32");
  EXPECT_MISUSE(
      ValueError, layers::Bidirectional(layers::GRU(2))({x, h}),
      "bidirectional: takes a sequence, alone or with the 2 states of both directions, and there are 2 inputs");
  EXPECT_MISUSE(
      ValueError, layers::Bidirectional(layers::LSTM(2))({x, h, h}),
      "bidirectional: takes a sequence, alone or with the 4 states of both directions, and there are 3 inputs");
  EXPECT_MISUSE(ValueError, layers::TimeDistributed(layers::LSTM(2, {.return_state = true})).apply(ones({1, 2, 2, 2})),
                "time_distributed: takes a layer of one result, and lstm gives 3");
  EXPECT_MISUSE(ShapeError, layers::TimeDistributed(layers::Dense(2))(h),
                "time_distributed: takes sequences [N,T,...]; the input has shape [1,2]");
  EXPECT_MISUSE(ShapeError, layers::MultiHeadAttention(1, 2)(h),
                "multi_head_attention: takes sequences [N,T,features]; the input has shape [1,2]");
  EXPECT_MISUSE(ValueError, layers::MultiHeadAttention(1, 2)({x, x, x, x}),
                "takes a query, a value, a key and an 'attention_mask', and there are 4 inputs");
  EXPECT_MISUSE(ShapeError, layers::Normalization().adapt(zeros({0, 2})),
                "normalization: adapt() takes examples, and there are none in an input of shape [0,2]");
  EXPECT_MISUSE(LookupError, lstm.variable("kernels"), "lstm: there is no variable 'kernels'; there are 'kernel'");
}

// What is known before a call is told before; what only the call knows, then.
TEST(LayersMisuse, OfWindowsThatDoNotFitIsToldAtTheCall) {
  layers::Conv1D conv(1, 5);
  layers::AveragePooling1D pool(5);
  layers::MaxPool1D overlapping(3, {.strides = 1});
  conv.build({1, 7, 1});
  auto open = [](const layers::Layer &layer) {
    return function([=](const Tensor &x) { return layer(x); },
                    {.input_signature = {TensorSpec<float>({kDynamic, kDynamic, 1})}});
  };
  for (const layers::Layer &layer : {layers::Layer(conv), layers::Layer(pool), layers::Layer(overlapping)}) {
    auto f = open(layer);
    EXPECT_EQ(f(ones({2, 5, 1})).shape()[0], 2);
    EXPECT_CONTAINS(errorOf<AssertionError>([&] { f(ones({1, 2, 1})); }),
                    " along axis 1 of an input, and this one is smaller; padding 'same' gives as many as there are");
  }
  auto same = open(layers::AveragePooling1D(5, {.padding = "same"}));
  EXPECT_EQ(same(ones({1, 3, 1})).shape(), (Shape{1, 1, 1}));
}

TEST(LayersMisuse, OfMasksNamesTheLayer) {
  layers::LSTM lstm(2, {.name = "reader"});
  EXPECT_MISUSE(DTypeError, lstm(ones({2, 1, 3}), {.mask = ones({2, 1})}),
                "lstm 'reader': a mask is bool, unlike float32[2,1]");
}

TEST(LayersMisuse, OfMasksNamesTheirShapes) {
  const Tensor x = ones({2, 3, 4});
  auto mask = [](const Shape &shape) { return ones(shape, DType::Bool); };
  const std::vector<layers::Layer> ofSteps = {layers::LSTM(2),
                                              layers::GRU(2),
                                              layers::SimpleRNN(2),
                                              layers::Bidirectional(layers::GRU(2)),
                                              layers::TimeDistributed(layers::Dense(1)),
                                              layers::GlobalAveragePooling1D(),
                                              layers::MultiHeadAttention(1, 2)};
  for (const layers::Layer &layer : ofSteps) {
    layer(x, {.mask = mask({2, 3})});
    for (const Shape &shape : std::vector<Shape>{{2, 4}, {2, 2}, {2}, {2, 3, 1}, {3, 3}, {1, 3}, {2, 1}})
      EXPECT_MISUSE(ShapeError, layer(x, {.mask = mask(shape)}),
                    layer.body()->kind() +
                        ": a mask is bool[2,3] for an input of shape [2,3,4], one for each step; "
                        "this one is bool" +
                        shape.str());
  }
  layers::MultiHeadAttention attention(1, 2);
  EXPECT_MISUSE(ShapeError, attention({x, ones({2, 5, 4})}, {.masks = {std::nullopt, mask({2, 3})}}),
                "multi_head_attention: a mask is bool[2,5] for an input of shape [2,5,4], one for each step");
  // Others heed none, or pass it on.
  for (const layers::Layer &layer : std::vector<layers::Layer>{layers::Activation("relu"), layers::Dense(2),
                                                               layers::BatchNormalization(), layers::Conv1D(1, 1)})
    EXPECT_MISUSE(ShapeError, layer(x, {.mask = mask({2, 4})}),
                  layer.body()->kind() +
                      ": a mask has the first dimensions of its input, whose shape is [2,3,4]; this one is bool[2,4]");
  EXPECT_MISUSE(ShapeError, layers::Softmax()(x, {.mask = mask({2, 3})}),
                "softmax: a mask broadcasts to its input, whose shape is [2,3,4]; this one is bool[2,3]");
  EXPECT_EQ(layers::Softmax()(x, {.mask = mask({3, 1})}).shape(), x.shape());
  EXPECT_MISUSE(ValueError, layers::Concatenate()({x, x}, {.masks = {std::nullopt}}),
                "concatenate: takes a mask of each input, which may be none; there are 1 masks and 2 inputs");
  // Where the sizes are not known, when it runs.
  layers::LSTM lstm(2);
  auto open = function(
      [&](const Tensor &of, const Tensor &with) { return lstm(of, {.mask = with}); },
      {.input_signature = {TensorSpec<float>({kDynamic, kDynamic, 4}), TensorSpec<bool>({kDynamic, kDynamic})}});
  EXPECT_EQ(open(x, mask({2, 3})).shape(), (Shape{2, 2}));
  for (std::int64_t steps : {2, 4})
    EXPECT_CONTAINS(errorOf<AssertionError>([&] { open(x, mask({2, steps})); }),
                    "lstm: a mask has another number of steps than its input");
}

TEST(LayersMisuse, OfNormalizationNamesTheNumbers) {
  using layers::Normalization;
  EXPECT_MISUSE(ValueError, Normalization({.mean = {{1}}}), "normalization: takes as many variances as means, and");
  EXPECT_MISUSE(ValueError, Normalization({.mean = {{1, 2}}, .variance = {{1}}}), "there are 1 and 2");
  EXPECT_MISUSE(ValueError, Normalization({.axis = std::nullopt, .mean = {{1, 2}}, .variance = {{1, 2}}}),
                "normalization: without an axis there is one mean for all elements, and not 2");
  Normalization given({.mean = {{1, 2}}, .variance = {{1, 4}}});
  EXPECT_MISUSE(ShapeError, given(ones({2, 3})), "normalization: has 2 means, and there are 3 features");
  EXPECT_MISUSE(StateError, given.adapt(ones({2, 2})),
                "normalization: adapt() is called, and the mean and the variance are given");
  EXPECT_MISUSE(
      ValueError, layers::UpSampling2D(2, {.interpolation = "cubic"}),
      "up_sampling2d: there is no interpolation 'cubic'; it is 'nearest', 'bilinear', 'bicubic', 'lanczos3' or "
      "'lanczos5'");
  EXPECT_MISUSE(DTypeError, layers::UpSampling2D(2, {.interpolation = "bicubic"})(ones({1, 2, 2, 1}, DType::Int32)),
                "int32");
}

// The layer that does not take them, not the model.
TEST(LayersMisuse, OfElementTypesNamesTheLayer) {
  Sequential model{Input({2}), layers::Flatten(), Sequential{layers::Dense(3, {.name = "inner"}), layers::LeakyReLU()}};
  EXPECT_MISUSE(DTypeError, model(ones({4, 2}, DType::Int32)),
                "dense 'inner': was built for inputs of float32, and this one is int32[4,2]; use cast");
  EXPECT_MISUSE(DTypeError, model.predict(ones({4, 2}, DType::Float64)),
                "dense 'inner': was built for inputs of float32, and this one is float64[4,2]; use cast");
  expectNear(model(zeros({1, 2})), {0, 0, 0});
}

TEST(LayersMisuse, OfConfigsNamesWhatIsWrong) {
  EXPECT_CONTAINS(errorOf<ValueError>(
                      [] { from(R"({"class_name": "Conv2D", "config": {"filters": 1, "kernel_size": [1, 2, 3]}})"); }),
                  "config: [1,2,3] is no number and no list of 2");
  EXPECT_CONTAINS(errorOf<ValueError>([] { from(R"({"class_name": "UpSampling2D", "config": {"size": [1, 2, 3]}})"); }),
                  "up_sampling2d: takes 2 numbers, not 3");
  EXPECT_CONTAINS(errorOf<ValueError>([] { from(R"({"class_name": "Dot", "config": {"axes": [1]}})"); }),
                  "dot: takes an axis of each of two inputs");
  EXPECT_CONTAINS(
      errorOf<ValueError>([] {
        from(R"({"class_name": "Embedding", "config": {"input_dim": 1, "output_dim": 1, "dtype": "float"}})");
      }),
      "config: there is no element type 'float'");
  EXPECT_CONTAINS(errorOf<ValueError>([] { from(R"({"class_name": "Arithmetic", "config": {"operation": "pow"}})"); }),
                  "arithmetic: there is no operation 'pow'; it is 'add', 'subtract', 'multiply' or 'divide'");
  auto functional = [](const char *parts) {
    return [parts] {
      from(std::string(R"({"class_name": "Functional", "config": {"name": "", "trainable": true, )") + parts + "}}");
    };
  };
  const char *input = R"("inputs": [{"name": "x", "dtype": "float32", "shape": [null, 2]}], "layers": [], )";
  EXPECT_CONTAINS(
      errorOf<ValueError>(functional((std::string(input) + R"("calls": [], "outputs": [[3, 0, ""]])").c_str())),
      R"(functional: its config asks for [3,0,""], and there is no such result)");
  EXPECT_CONTAINS(errorOf<ValueError>(functional((std::string(input) + R"("calls": [], "outputs": [[3]])").c_str())),
                  "functional: its config has [3] in place of a call, a result and a name");
  EXPECT_CONTAINS(errorOf<ValueError>(functional(
                      (std::string(input) + R"("calls": [{"layer": "d", "inputs": []}], "outputs": [])").c_str())),
                  R"(functional: its config calls the layer "d", which it lacks)");
  EXPECT_CONTAINS(errorOf<ValueError>(functional(R"("inputs": [{"name": "x", "dtype": "float32", "shape": []}])")),
                  "functional: an input in its config has no batch");
  EXPECT_CONTAINS(errorOf<ValueError>([] {
                    from(R"({"class_name": "Sequential", "config": {"name": "", "trainable": true, "layers": [0]}})");
                  }),
                  "sequential: its config has layer 0 again, which does not come before");
  EXPECT_CONTAINS(errorOf<ValueError>([] {
                    from(R"({"class_name": "Sequential", "config": {"name": "", "trainable": true, "layers": [],
                             "input": {"name": "", "dtype": "float32", "shape": []}}})");
                  }),
                  "sequential: the input in its config has no batch");
  EXPECT_MISUSE(ValueError, models::Functional(SymbolicTensors(), Input({2})), "functional: there are no inputs");
}

//===-- Layers that draw, or adapt --------------------------------------------------------------===//
TEST(SpatialDropout, DropsWholeChannels) {
  layers::SpatialDropout1D dropout(0.5, {.seed = 2});
  Tensor y = dropout(ones({20, 7, 3}), {.training = true});
  std::vector<double> sums = valuesOf(sum(y, {1}));
  std::size_t dropped = 0;
  for (double value : sums) {
    EXPECT_TRUE(value == 0 || value == 14) << value;
    dropped += value == 0;
  }
  EXPECT_NEAR(static_cast<double>(dropped) / 60, 0.5, 0.2);
  expectValues(dropout(ones({1, 1, 2})), {1, 1});
}

TEST(GaussianNoise, HasItsDeviationInTrainingAlone) {
  Tensor x = zeros({100, 50});
  auto deviationOf = [](const Tensor &y) { return std::sqrt(mean(square(y)).item<float>()); };
  EXPECT_NEAR(deviationOf(layers::GaussianNoise(2, {.seed = 1})(x, {.training = true})), 2, 0.1);
  EXPECT_NEAR(deviationOf(layers::GaussianDropout(0.2, {.seed = 1})(x + 1, {.training = true}) - 1), 0.5, 0.03);
  expectSameBits(layers::GaussianNoise(2)(x), x);
}

TEST(RecurrentDropout, DrawsOnceForAllSteps) {
  layers::SimpleRNN rnn(40, {.activation = "linear",
                             .use_bias = false,
                             .kernel_initializer = "identity",
                             .recurrent_initializer = "zeros",
                             .dropout = 0.5,
                             .seed = 3,
                             .return_sequences = true});
  Tensor y = rnn(ones({1, 2, 40}), {.training = true});
  std::vector<double> all = valuesOf(y), first(all.begin(), all.begin() + 40), second(all.begin() + 40, all.end());
  EXPECT_EQ(first, second);
  EXPECT_GT(std::count(first.begin(), first.end(), 0), 8);
  EXPECT_GT(std::count(first.begin(), first.end(), 2), 8);
  layers::LSTM lstm(3, {.recurrent_dropout = 0.5, .seed = 1});
  Tensor x = random::normal({2, 4, 3});
  EXPECT_NE(valuesOf(lstm(x, {.training = true})), valuesOf(lstm(x, {.training = true})));
  EXPECT_EQ(valuesOf(lstm(x)), valuesOf(lstm(x)));
}

TEST(Recurrent, HasStepsThatOnlyTheCallKnows) {
  layers::GRU gru(3, {.return_sequences = true});
  gru.build({1, 2, 2});
  auto f = function([&](const Tensor &x) { return gru(x); },
                    {.input_signature = {TensorSpec<float>({kDynamic, kDynamic, 2})}});
  for (const Shape &shape : {Shape{2, 5, 2}, Shape{1, 1, 2}, Shape{3, 8, 2}}) {
    Tensor x = random::normal(shape);
    expectNear(f(x), valuesOf(gru(x)), 1e-5);
  }
  EXPECT_EQ(f.trace_count(), 1);
}

TEST(Normalization, TakesTheStatisticsOfExamples) {
  layers::Normalization scale, back({.invert = true});
  Tensor x = tensor<float>({1, 10, 3, 30}, {2, 2});
  EXPECT_CONTAINS(errorOf<AssertionError>([&] { scale(x); }), "normalization: adapt() has not been called");
  scale.adapt(x);
  back.adapt(x);
  expectValues(scale.mean().value(), {2, 20});
  expectValues(scale.variance().value(), {1, 100});
  expectValues(scale(x), {-1, -1, 1, 1});
  expectValues(back(scale(x)), {1, 10, 3, 30});
  expectValues(scale(tensor<int>({2, 40}, {1, 2})), {0, 2});
}

TEST(Attention, SeesWhatMasksLetItSee) {
  layers::MultiHeadAttention attention(2, 3);
  Tensor x = random::normal({1, 4, 5});
  attention(x);
  Tensor first = slice(x, {0, 0, 0}, {1, 2, 5}), keep = tensor<bool>({true, true, false, false}, {1, 4});
  std::vector<double> expected = valuesOf(attention({x, first}));
  expectNear(attention({x, x}, {.masks = {std::nullopt, keep}}), expected, 1e-5);
  Tensor seen = broadcast_to(expand_dims(keep, {1}), {1, 4, 4});
  expectNear(attention(Tensors{{"query", x}, {"value", x}, {"attention_mask", seen}}), expected, 1e-5);
}

// In reference/edges.py a query may see nothing; and a step that is not seen counts for nothing, whatever its score.
TEST(Attention, HasNoScoresOfWhatIsNotSeen) {
  layers::MultiHeadAttention attention(1, 1, {.return_attention_scores = true});
  const Tensor q = ones({1, 1, 1}), k = tensor<float>({1, 2, 1e5}, {1, 3, 1}), v = ones({1, 3, 1});
  attention.apply({q, v, k});
  std::vector<Tensor> weights = attention.get_weights();
  for (Tensor &each : weights)
    each = ones(each.shape());
  weights[0] = weights[0] * 1e5;
  attention.set_weights(weights);
  const Tensor seen = tensor<bool>({true, true, false}, {1, 3});
  expectValues(attention.apply({q, v, k}, {.masks = {std::nullopt, seen, std::nullopt}})[1], {0, 1, 0});
}

// A unit of the query's product has the features as inputs, and all heads are outputs; of the last one it is the other
// way round. Taken for a filter, the first dimension would be a window.
TEST(Attention, DrawsItsKernelsByTheInputsAndOutputsOfAUnit) {
  auto largest = [](const layers::Layer &layer, const char *name) {
    return max(abs(layer.variable(name).value())).item<float>();
  };
  auto expectWithin = [](double found, double bound) {
    EXPECT_LE(found, bound * (1 + 1e-6));
    EXPECT_GT(found, 0.97 * bound);
  };
  struct Rule {
    Initializer initializer;
    std::function<double(double, double)> bound;
  };
  auto glorot = [](double in, double out) { return std::sqrt(6 / (in + out)); };
  auto he = [](double in, double) { return std::sqrt(6 / in); };
  const std::vector<Rule> rules = {
      {"glorot_uniform", glorot},
      {glorot_uniform, glorot},
      {initializers::HeUniform({.seed = 3}), he},
      {he_uniform, he},
      {initializers::VarianceScaling({.mode = "fan_out", .distribution = "uniform"}),
       [](double, double out) { return std::sqrt(3 / out); }},
      {initializers::RandomUniform({.minval = -0.5, .maxval = 0.5}), [](double, double) { return 0.5; }},
      {[](const Shape &shape, DType dtype) { return full(shape, 0.25, dtype); }, [](double, double) { return 0.25; }},
  };
  for (const Rule &rule : rules) {
    layers::MultiHeadAttention attention(8, 16, {.kernel_initializer = rule.initializer});
    attention({ones({1, 2, 64}), ones({1, 3, 32})});
    expectWithin(largest(attention, "query_kernel"), rule.bound(64, 128));
    expectWithin(largest(attention, "key_kernel"), rule.bound(32, 128));
    expectWithin(largest(attention, "value_kernel"), rule.bound(32, 128));
    expectWithin(largest(attention, "attention_output_kernel"), rule.bound(128, 64));
  }
}

TEST(Attention, OfNoStepsIsOfNone) {
  layers::MultiHeadAttention attention(2, 3);
  EXPECT_EQ(attention({ones({2, 0, 4}), ones({2, 0, 4})}).shape(), (Shape{2, 0, 4}));
  expectValues(attention({ones({1, 1, 4}), ones({1, 0, 4})}), {0, 0, 0, 0}); // the bias
}

TEST(Pooling, TakesOptionsWithoutAWindow) {
  Tensor x = reshape(iota({25}, DType::Float32), {1, 5, 5, 1});
  expectSameBits(layers::MaxPooling2D({.padding = "same"})(x), layers::MaxPooling2D(2, {.padding = "same"})(x));
  expectSameBits(layers::MaxPooling2D({.pool_size = {3, 2}, .strides = 1})(x),
                 layers::MaxPooling2D({3, 2}, {.strides = 1})(x));
  expectSameBits(layers::AveragePooling2D({.strides = 3})(x), layers::AveragePooling2D(2, {.strides = 3})(x));
  EXPECT_EQ(layers::AvgPool1D({.name = "halve"}).name(), "halve");
  EXPECT_MISUSE(ValueError, layers::MaxPooling1D({.padding = "full"}), "max_pool1d: ");
}

TEST(Lambda, IsAFunctionOfTheUsers) {
  layers::Lambda twice([](const Tensor &x) { return x * 2; });
  layers::Lambda difference([](const Tensors &x) { return Tensors(x[0] - x[1]); });
  SymbolicTensor x = Input({2});
  models::Functional model(x, difference({twice(x), x}));
  expectValues(model(tensor<float>({3, 4}, {1, 2})), {3, 4});
  // What it makes of steps is not known, so that no mask passes, as in Keras.
  EXPECT_FALSE(twice.compute_mask(ones({1, 2}), ones({1, 2}, DType::Bool)));
}

TEST(Layer, IsBuiltWhenTheLayersInsideAre) {
  const std::vector<layers::Layer> outer = {layers::TimeDistributed(layers::Dense(2)),
                                            layers::Bidirectional(layers::LSTM(2)),
                                            Sequential{layers::TimeDistributed(layers::Dense(2)), layers::Dense(1)}};
  for (const layers::Layer &layer : outer) {
    EXPECT_FALSE(layer.built()) << layer.body()->kind();
    layer.build({kDynamic, 3, 4});
    EXPECT_TRUE(layer.built()) << layer.body()->kind();
    layer.set_weights(layer.get_weights());
  }
  EXPECT_TRUE(layers::Activation("relu").built());
}

// Each result has a mask, or none.
TEST(Bidirectional, HasNoMasksOfStates) {
  layers::Bidirectional both(layers::LSTM(2, {.return_sequences = true, .return_state = true}));
  const Tensor mask = tensor<bool>({true, true, false}, {1, 3});
  layers::LayerBody::Masked results = both.body()->apply_masked(ones({1, 3, 2}), {.mask = mask});
  ASSERT_EQ(results.results.size(), 5u);
  ASSERT_EQ(results.masks.size(), 5u);
  EXPECT_TRUE(results.masks[0]);
  for (std::size_t i = 1; i < 5; ++i)
    EXPECT_FALSE(results.masks[i]);
}

// In a graph, of a batch of any size, as in Keras; reference/edges.py has the numbers.
TEST(Merging, MeetsEachStepWithItsExample) {
  SymbolicTensor gate = Input({1}), sequence = Input({3, 2});
  models::Functional model({gate, sequence}, layers::Multiply()({gate, sequence}));
  for (std::int64_t n : {2, 3}) {
    Tensor gates = reshape(iota({n}, DType::Float32), {n, 1});
    expectSameBits(model({gates, ones({n, 3, 2})}), broadcast_to(expand_dims(gates, {1}), {n, 3, 2}));
  }
}

// The losses of merged branches are of the steps that count in one of them, and of all where one has no mask: the
// numbers are Keras'.
TEST(Merging, CountsStepsOfEitherBranch) {
  auto embedding = [] { return layers::Embedding(5, 1, {.embeddings_initializer = "zeros", .mask_zero = true}); };
  SymbolicTensor i = Input({4}, {.dtype = DType::Int32}), j = Input({4}, {.dtype = DType::Int32}), q = Input({4, 1});
  const Tensor y = tensor<float>({1, 2, 3, 4}, {1, 4, 1}), first = tensor<int>({1, 1, 0, 0}, {1, 4}),
               second = tensor<int>({1, 0, 1, 0}, {1, 4});
  models::Functional both({i, j}, layers::Add()({embedding()(i), embedding()(j)}));
  both.compile({.optimizer = "sgd", .loss = "mse"});
  EXPECT_NEAR(both.evaluate({first, second}, y)["loss"], 14.0 / 3, 1e-6);
  models::Functional one({i, q}, layers::Add()({embedding()(i), q}));
  one.compile({.optimizer = "sgd", .loss = "mse"});
  EXPECT_NEAR(one.evaluate({first, zeros({1, 4, 1})}, y)["loss"], 7.5, 1e-6);
}

// A layer that mixes examples goes step by step: where the batch and the steps are open, too.
TEST(TimeDistributed, MixesExamplesInOpenSizes) {
  const Tensor x = random::normal({4, 5, 3});
  auto made = [] { return layers::TimeDistributed(layers::BatchNormalization()); };
  layers::TimeDistributed known = made();
  const Tensor expected = known(x, {.training = true});
  auto gradient = [](const layers::Layer &layer, const Tensor &of) {
    return grad([&](const Tensor &at) { return sum(cos(layer(at, {.training = true}))); })(of);
  };
  const Tensor slopes = gradient(known, x);
  for (const Shape &shape : std::vector<Shape>{{kDynamic, kDynamic, 3}, {kDynamic, 5, 3}, {4, kDynamic, 3}}) {
    SCOPED_TRACE(shape.str());
    layers::TimeDistributed open = made();
    open(x);
    auto f = function([&](const Tensor &of) { return open(of, {.training = true}); },
                      {.input_signature = {TensorSpec<float>(shape)}});
    expectNear(f(x), valuesOf(expected), 1e-5);
    auto g =
        function([&](const Tensor &of) { return gradient(open, of); }, {.input_signature = {TensorSpec<float>(shape)}});
    expectNear(g(x), valuesOf(slopes), 1e-4);
  }
  // The moving statistics are of all steps.
  layers::TimeDistributed open = made();
  open(x);
  auto f = function([&](const Tensor &of) { return open(of, {.training = true}); },
                    {.input_signature = {TensorSpec<float>({kDynamic, kDynamic, 3})}});
  f(x);
  EXPECT_CONTAINS(errorOf<AssertionError>([&] { f(zeros({4, 0, 3})); }), "time_distributed: takes at least one step");
  layers::TimeDistributed once = made();
  once(x, {.training = true});
  for (std::size_t i = 0; i < once.get_weights().size(); ++i)
    expectNear(open.get_weights()[i], valuesOf(once.get_weights()[i]), 1e-5);
}

// TimeDistributed(Dense) in Keras forgets the losses of the layer that it wraps.
TEST(TimeDistributed, HasTheLossesOfItsLayer) {
  layers::TimeDistributed layer{
      layers::Dense(3, {.kernel_regularizer = regularizers::l2(0.1), .activity_regularizer = regularizers::l1(0.1)})};
  layer(ones({2, 4, 3}));
  EXPECT_EQ(layer.losses().size(), 2u);
}
