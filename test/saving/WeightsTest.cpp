// save_weights and load_weights: names, files of others, all or nothing.
#include "calque/checkpoint.h"
#include "calque/safetensors.h"
#include "test/training/Idx.h"
#include "test/training/Testing.h"

#include <fstream>

using namespace calque;
using namespace calque::testing;

namespace {

Sequential net() {
  return Sequential({Input({2}), layers::Dense(3, {.activation = "tanh", .name = "fc"}),
                     layers::BatchNormalization({.name = "bn"}), layers::Dropout(0.5), layers::Dense(1)});
}

std::vector<std::vector<double>> valuesOfAll(const Sequential &model) {
  std::vector<std::vector<double>> values;
  for (const Tensor &value : model.get_weights())
    values.push_back(valuesOf(value));
  return values;
}

} // namespace

TEST(Weights, AreSavedByTheirPaths) {
  TemporaryDirectory directory;
  Sequential model = net(), other = net();
  ASSERT_NE(valuesOfAll(model), valuesOfAll(other));
  model.save_weights(directory.file("a/b/w")); // the folder is made
  std::vector<std::string> names;
  for (const auto &[name, tensor] : load_safetensors(directory.file("a/b/w.safetensors")))
    names.push_back(name);
  EXPECT_EQ(names, (std::vector<std::string>{"bn/beta", "bn/gamma", "bn/moving_mean", "bn/moving_variance",
                                             "dense/bias", "dense/kernel", "fc/bias", "fc/kernel"}));
  LoadedWeights loaded = other.load_weights(directory.file("a/b/w.safetensors"));
  EXPECT_EQ(valuesOfAll(model), valuesOfAll(other));
  EXPECT_TRUE(loaded.missing.empty() && loaded.unused.empty() && loaded.mismatched.empty());
}

TEST(Weights, MissingUnusedAndMisfittingOnesAreListed) {
  TemporaryDirectory directory;
  Sequential model = net();
  const auto before = valuesOfAll(model);
  const std::string file = directory.file("w.safetensors");
  std::map<std::string, Tensor> tensors;
  for (const auto &[name, variable] : model.named_variables())
    if (name != "dropout/generator")
      tensors.emplace(name, zeros(variable.shape()));
  auto write = [&](auto change) {
    std::map<std::string, Tensor> changed = tensors;
    change(changed);
    save_safetensors(file, changed);
  };
  write([](auto &all) {
    all.erase("fc/bias");
    all.erase("bn/beta");
    all.emplace("old/kernel", ones({1}));
  });
  EXPECT_MISUSE(LookupError, model.load_weights(file),
                "load_weights: " + file +
                    " is not of this model: the file has not 'fc/bias', 'bn/beta', and the model has not 'old/kernel'");
  EXPECT_EQ(valuesOfAll(model), before);
  write([](auto &all) {
    all["fc/kernel"] = zeros({3, 2});
    all["fc/bias"] = zeros({4});
  });
  EXPECT_MISUSE(ShapeError, model.load_weights(file),
                " has weights of other shapes: 'fc/kernel' is float32[2,3], and 'fc/kernel' float32[3,2]; 'fc/bias' is "
                "float32[3], and 'fc/bias' "
                "float32[4]");
  EXPECT_EQ(valuesOfAll(model), before);
  write([](auto &all) { all["dense/bias"] = zeros({1}, DType::Float64); });
  EXPECT_MISUSE(DTypeError, model.load_weights(file),
                " has weights of other types: 'dense/bias' is float32[1], and 'dense/bias' float64[1]");
  EXPECT_EQ(valuesOfAll(model), before);

  // What is asked for is loaded, and the rest is said.
  write([](auto &all) {
    all.erase("fc/bias");
    all["fc/kernel"] = zeros({3, 2});
    all.emplace("old/kernel", ones({1}));
  });
  LoadedWeights loaded = model.load_weights(file, {.skip_mismatch = true, .strict = false});
  EXPECT_EQ(loaded.missing, std::vector<std::string>{"fc/bias"});
  EXPECT_EQ(loaded.unused, std::vector<std::string>{"old/kernel"});
  EXPECT_EQ(loaded.mismatched, std::vector<std::string>{"fc/kernel"});
  const auto after = valuesOfAll(model);
  EXPECT_EQ(after[0], before[0]); // fc/kernel
  EXPECT_EQ(after[2], (std::vector<double>{0, 0, 0}));
}

TEST(Weights, LayersThatAreNotBuiltAreRefused) {
  TemporaryDirectory directory;
  net().save_weights(directory.file("w"));
  Sequential model({layers::Dense(3)});
  EXPECT_MISUSE(StateError, model.load_weights(directory.file("w")), "dense 'dense': its variables are not made yet");
  EXPECT_MISUSE(StateError, model.save_weights(directory.file("x")), "dense 'dense': its variables are not made yet");
  EXPECT_FALSE(std::filesystem::exists(directory.file("x.safetensors")));
}

TEST(Weights, HaveTheNamesOfOthers) {
  TemporaryDirectory directory;
  const std::string file = directory.file("w.safetensors");
  Sequential model({Input({2}), layers::Dense(1, {.name = "out"})});
  save_safetensors(file, {{"sequential/out/kernel", tensor<float>({1, 2}, {2, 1})},
                          {"sequential/out/bias", tensor<float>({3}, {1})}});
  model.load_weights(file, {.prefix = "sequential/"}); // Keras: {v.path: v.numpy() for v in model.weights}
  expectNear(model(tensor<float>({1, 10}, {1, 2})), {24});
  save_safetensors(file, {{"a", tensor<float>({2, 4}, {2, 1})}, {"b", tensor<float>({1}, {1})}});
  const std::map<std::string, std::string> names = {{"a", "out/kernel"}, {"b", "out/bias"}};
  model.load_weights(file, {.names = names});
  expectNear(model(tensor<float>({1, 10}, {1, 2})), {43});

  EXPECT_MISUSE(LookupError, model.load_weights(file, {.names = {{"c", "out/bias"}}}),
                "load_weights: names has 'c', which " + file + " has not");
  EXPECT_MISUSE(LookupError, model.load_weights(file, {.names = {{"b", "in/bias"}}}),
                "load_weights: names has 'in/bias' for 'b', and the model 'sequential' has no such weight");
  EXPECT_MISUSE(ValueError, model.load_weights(file, {.names = {{"a", "out/bias"}, {"b", "out/bias"}}}),
                "load_weights: 'a' and 'b' of " + file + " are both for the weight 'out/bias'");
  EXPECT_MISUSE(ValueError, model.load_weights(file, {.layout = "jax"}),
                "load_weights: there is no layout 'jax'; it is 'keras' or 'torch'");
}

TEST(Weights, HaveTheOrderOfPyTorch) {
  TemporaryDirectory directory;
  const std::string file = directory.file("w.safetensors");
  Sequential model(
      {Input({5, 5, 2}), layers::Conv2D(3, {2, 3}, {.name = "conv1"}), layers::BatchNormalization({.name = "bn1"}),
       layers::DepthwiseConv2D(2, {.depth_multiplier = 2, .name = "each"}),
       layers::Conv2DTranspose(2, 2, {.name = "up"}), layers::Flatten(), layers::Dense(4, {.name = "fc"})});
  Sequential other(
      {Input({5, 5, 2}), layers::Conv2D(3, {2, 3}, {.name = "conv1"}), layers::BatchNormalization({.name = "bn1"}),
       layers::DepthwiseConv2D(2, {.depth_multiplier = 2, .name = "each"}),
       layers::Conv2DTranspose(2, 2, {.name = "up"}), layers::Flatten(), layers::Dense(4, {.name = "fc"})});
  std::map<std::string, Tensor> tensors;
  for (const auto &[name, variable] : model.named_variables()) {
    const Shape shape = variable.shape();
    const Tensor value = variable.value();
    auto at = [&](std::initializer_list<std::int64_t> index) {
      std::int64_t flat = 0;
      std::size_t i = 0;
      for (std::int64_t each : index)
        flat = flat * std::int64_t(shape[i++]) + each;
      return value.data<float>()[flat];
    };
    std::vector<float> elements;
    if (name == "fc/kernel") { // weight[out][in]
      for (std::int64_t out = 0; out < shape[1]; ++out)
        for (std::int64_t in = 0; in < shape[0]; ++in)
          elements.push_back(at({in, out}));
      tensors["fc.weight"] = tensor(elements, {shape[1], shape[0]});
    } else if (name == "conv1/kernel" || name == "up/kernel") {
      // Conv2d: weight[out][in][y][x]; ConvTranspose2d: weight[in][out][y][x], where a kernel is [y][x][out][in].
      for (std::int64_t last = 0; last < shape[3]; ++last)
        for (std::int64_t third = 0; third < shape[2]; ++third)
          for (std::int64_t y = 0; y < shape[0]; ++y)
            for (std::int64_t x = 0; x < shape[1]; ++x)
              elements.push_back(at({y, x, third, last}));
      tensors[name.substr(0, name.find('/')) + ".weight"] = tensor(elements, {shape[3], shape[2], shape[0], shape[1]});
    } else if (name == "each/kernel") { // Conv2d with groups: weight[channel * multiplier + i][0][y][x]
      for (std::int64_t channel = 0; channel < shape[2]; ++channel)
        for (std::int64_t i = 0; i < shape[3]; ++i)
          for (std::int64_t y = 0; y < shape[0]; ++y)
            for (std::int64_t x = 0; x < shape[1]; ++x)
              elements.push_back(at({y, x, channel, i}));
      tensors["each.weight"] = tensor(elements, {shape[2] * shape[3], 1, shape[0], shape[1]});
    } else if (name.starts_with("bn1/")) {
      const char *ofTorch = name == "bn1/gamma"         ? "bn1.weight"
                            : name == "bn1/beta"        ? "bn1.bias"
                            : name == "bn1/moving_mean" ? "bn1.running_mean"
                                                        : "bn1.running_var";
      tensors[ofTorch] = value;
    } else {
      tensors[name.substr(0, name.find('/')) + ".bias"] = value;
    }
  }
  tensors["bn1.num_batches_tracked"] = scalar(std::int64_t(7));
  save_safetensors(file, tensors);
  LoadedWeights loaded = other.load_weights(file, {.layout = "torch"});
  EXPECT_TRUE(loaded.unused.empty());
  EXPECT_EQ(valuesOfAll(other), valuesOfAll(model));
  // Names that are given go before those of PyTorch, and what they name is transposed all the same.
  tensors["head.weight"] = tensors["fc.weight"];
  tensors.erase("fc.weight");
  save_safetensors(file, tensors);
  other.load_weights(file, {.names = {{"head.weight", "fc/kernel"}}, .layout = "torch"});
  EXPECT_EQ(valuesOfAll(other), valuesOfAll(model));
}

TEST(Weights, AreNotWrittenWhereTheyMustNotBe) {
  TemporaryDirectory directory;
  Sequential model = net();
  model.save_weights(directory.file("w"));
  EXPECT_MISUSE(ValueError, model.save_weights(directory.file("w"), {.overwrite = false}),
                "save_weights: " + directory.file("w.safetensors") + " is there already, and overwrite is off");
  EXPECT_MISUSE(DataError, model.save_weights(directory.file("w.safetensors/x")), "the directory can't be made: ");
  EXPECT_MISUSE(DataError, model.load_weights(directory.file("none")), directory.file("none.safetensors") + ": ");
}

TEST(Weights, EveryByteAndEveryLengthIsFound) {
  TemporaryDirectory directory;
  Sequential model({Input({1}), layers::Dense(2)}), other({Input({1}), layers::Dense(2)});
  const std::string file = directory.file("w.safetensors");
  model.save_weights(file);
  const std::string whole = readFile(file);
  const auto before = valuesOfAll(other);
  auto expectRefused = [&](const std::string &bytes) {
    std::filesystem::remove(file); // to cut a file and write it anew takes a disk milliseconds
    writeFile(file, bytes);
    EXPECT_TRUE(errorOf<DataError>([&] { other.load_weights(file); }).starts_with(file + ": "));
    EXPECT_EQ(valuesOfAll(other), before);
  };
  for (std::size_t at = 0; at < whole.size(); ++at) {
    SCOPED_TRACE(at);
    std::string bytes = whole;
    bytes[at] = static_cast<char>(bytes[at] ^ (1 << at % 8));
    expectRefused(bytes);
    expectRefused(whole.substr(0, at));
  }
}

// {v.path: v.numpy() for v in model.weights} of Keras 3.15.1, where recurrent layers have a cell, attention has layers,
// and what wraps a layer with a name that is counted counts too.
TEST(Weights, HaveThePathsOfKeras) {
  TemporaryDirectory directory;
  Sequential model{Input({4, 3}), layers::LSTM(2, {.return_sequences = true}),
                   layers::Bidirectional(layers::GRU(2, {.return_sequences = true})),
                   layers::SimpleRNN(3, {.return_sequences = true}), layers::Normalization()};
  std::map<std::string, Tensor> tensors;
  const std::pair<const char *, const char *> cells[] = {
      {"lstm/", "lstm/lstm_cell/"},
      {"bidirectional/forward_gru/", "bidirectional/forward_gru_7/gru_cell/"},
      {"bidirectional/backward_gru/", "bidirectional/backward_gru_7/gru_cell/"},
      {"simple_rnn/", "simple_rnn/simple_rnn_cell/"},
      {"normalization/", "normalization/"}};
  int next = 0;
  for (const auto &[path, variable] : model.named_variables())
    for (const auto &[own, keras] : cells)
      if (path.starts_with(own)) // Keras' counts are int32 on JAX
        tensors.emplace(
            keras + path.substr(std::string(own).size()),
            full(variable.shape(), ++next, variable.dtype() == DType::Int64 ? DType::Int32 : variable.dtype()));
  ASSERT_EQ(tensors.size(), model.weights().size());
  save_safetensors(directory.file("keras.safetensors"), tensors);
  LoadedWeights loaded = model.load_weights(directory.file("keras"));
  EXPECT_TRUE(loaded.missing.empty() && loaded.unused.empty());
  std::set<double> found;
  for (const Variable &weight : model.weights())
    found.insert(valuesOf(weight.value())[0]);
  EXPECT_EQ(found.size(), tensors.size());
  // An adapted layer's weights come without a count of examples, and are taken all the same.
  layers::Normalization adapted;
  adapted.build({kDynamic, 2});
  EXPECT_CONTAINS(errorOf<AssertionError>([&] { adapted(ones({1, 2})); }), "adapt() has not been called");
  adapted.set_weights({tensor<float>({1, 2}), tensor<float>({4, 1}), scalar<int>(0)});
  expectValues(adapted(tensor<float>({{3, 3}})), {1, 1});

  SymbolicTensor x = Input({4, 3});
  models::Functional attending(x, layers::MultiHeadAttention(2, 3)({x, x}));
  tensors.clear();
  for (const auto &[path, variable] : attending.named_variables()) {
    std::string keras = path;
    keras[keras.rfind('_')] = '/';
    tensors.emplace(keras, full(variable.shape(), ++next));
  }
  EXPECT_TRUE(tensors.contains("multi_head_attention/attention_output/bias"));
  save_safetensors(directory.file("attention.safetensors"), tensors);
  attending.load_weights(directory.file("attention"));
  EXPECT_EQ(valuesOf(attending.weights().back().value())[0], next);
}

TEST(Weights, APathNamesAFile) {
  Sequential model{Input({1}), layers::Dense(1)};
  for (const char *path : {"", "somewhere/"}) {
    const std::string text = "the path '" + std::string(path) + "' names no file";
    EXPECT_MISUSE(ValueError, model.save(path), text);
    EXPECT_MISUSE(ValueError, model.save_weights(path), text);
    EXPECT_MISUSE(ValueError, model.load_weights(path), text);
    EXPECT_MISUSE(ValueError, load_model(path), text);
    EXPECT_MISUSE(ValueError, callbacks::ModelCheckpoint{path}, text);
  }
}

TEST(Weights, OfAPrefixAreThoseBelowIt) {
  TemporaryDirectory directory;
  const std::string file = directory.file("w.safetensors");
  Sequential model = net(), other = net();
  Variable step(scalar(1));
  Checkpoint checkpoint{{"net", model}, {"step", step}};
  checkpoint.write(file);
  // States of generators are no weights, and what does not begin so is not asked for.
  LoadedWeights loaded = other.load_weights(file, {.prefix = "net/"});
  EXPECT_EQ(valuesOfAll(model), valuesOfAll(other));
  EXPECT_EQ(loaded.unused, std::vector<std::string>{"step"});
  Sequential less({Input({2}), layers::Dense(3, {.activation = "tanh", .name = "fc"})});
  EXPECT_MISUSE(LookupError, less.load_weights(file, {.prefix = "net/"}),
                "load_weights: " + file +
                    " is not of this model: the model has not 'net/bn/beta', 'net/bn/gamma', 'net/bn/moving_mean', "
                    "'net/bn/moving_variance', 'net/dense/bias' and 1 other");
  EXPECT_MISUSE(LookupError, other.load_weights(file, {.prefix = "model/"}),
                "load_weights: " + file +
                    " is not of this model: none of its names begins with 'model/'; they are "
                    "'net/bn/beta', 'net/bn/gamma'");
}

TEST(Weights, OfAWholeModelHaveTheNamesOfTheFileOrTheModel) {
  TemporaryDirectory directory;
  const std::string file = directory.file("m.safetensors");
  Sequential model = net(), other = net();
  model.save(file);
  other.load_weights(file, {.prefix = "model/"});
  EXPECT_EQ(valuesOfAll(model), valuesOfAll(other));
  Sequential third = net();
  third.load_weights(file, {.names = {{"model/fc/bias", "fc/bias"}, {"fc/kernel", "fc/kernel"}}});
  EXPECT_EQ(valuesOfAll(model), valuesOfAll(third));
  // A model without the layer that draws.
  Sequential plain({Input({2}), layers::Dense(3, {.activation = "tanh", .name = "fc"}),
                    layers::BatchNormalization({.name = "bn"}), layers::Dense(1)});
  EXPECT_TRUE(plain.load_weights(file).unused.empty());
  EXPECT_EQ(valuesOfAll(model), valuesOfAll(plain));
}

TEST(Weights, OfHalfPrecisionAreWidened) {
  TemporaryDirectory directory;
  const std::string file = directory.file("w.safetensors");
  const std::string header = R"({"out.weight":{"dtype":"F16","shape":[1,2],"data_offsets":[0,4]},)"
                             R"("out.bias":{"dtype":"BF16","shape":[1],"data_offsets":[4,6]}})";
  std::string bytes(8, '\0');
  bytes[0] = static_cast<char>(header.size());
  std::ofstream(file) << bytes << header << std::string("\x00\x3c\x00\x40\x40\x40", 6); // 1, 2 and 3
  Sequential model({Input({2}), layers::Dense(1, {.name = "out"})});
  model.load_weights(file, {.layout = "torch"});
  expectNear(model(tensor<float>({1, 10}, {1, 2})), {24});
}

TEST(Weights, OfPReLUSpreadOverSharedAxes) {
  TemporaryDirectory directory;
  const std::string file = directory.file("w.safetensors");
  save_safetensors(file, {{"p.weight", tensor<float>({1, 2, 3})}});
  Sequential model({Input({4, 4, 3}), layers::PReLU({.shared_axes = {1, 2}, .name = "p"})});
  model.load_weights(file, {.layout = "torch"});
  EXPECT_EQ(valuesOf(model.get_weights()[0]), (std::vector<double>{1, 2, 3}));
}
