// What models that are read do: they run, are compiled, differentiated, trained and saved.
#include "calque/onnx.h"

#include "calque/calque.h"
#include "calque/saved_functions.h"
#include "test/Sanitizer.h"
#include "test/Tensors.h"
#include "test/frontend/Testing.h"
#include "test/interchange/Models.h"

#include <set>
#include <sstream>

namespace calque::testing {
namespace {

using namespace onnx;

// y = relu(x w + b), with any number of rows.
Message layer() {
  return model(
      graph({.nodes = {node("MatMul", {"x", "w"}, {"p"}), node("Add", {"p", "b"}, {"s"}), node("Relu", {"s"}, {"y"})},
             .inputs = {port("x", kFloat, {"batch", 2})},
             .outputs = {port("y", kFloat, {"batch", 3})},
             .initializers = {floats("w", {2, 3}, {1, 2, 3, 4, 5, 6}), floats("b", {3}, {-6, 0, 1})}}));
}

// The results node by node, which a function must give, too.
std::vector<Tensor> bothWays(const OnnxModel &model, const std::vector<Tensor> &inputs) {
  const std::vector<Tensor> eager = model(inputs), compiled = model.function()(inputs);
  EXPECT_EQ(eager.size(), compiled.size());
  for (std::size_t i = 0; i < eager.size(); ++i)
    expectSameBits(eager[i], compiled[i]);
  return eager;
}

TEST(Onnx, RunsEagerlyAndCompiledForAllSizes) {
  const Folder folder;
  const OnnxModel net = load_onnx(folder.write(layer()));
  EXPECT_EQ(net.inputs()[0].type, "float32[?,2]");
  EXPECT_EQ(net.outputs()[0].name, "y");
  EXPECT_EQ(net.opset(), 17);
  EXPECT_EQ(net.producer(), "test");
  expectValues(net(tensor<float>({{1, 0}, {0, 1}})), {0, 2, 4, 0, 5, 7});
  auto f = net.function();
  expectValues(f({tensor<float>({{1, 0}, {0, 1}})})[0], {0, 2, 4, 0, 5, 7});
  expectValues(f({tensor<float>({{1, 1}})})[0], {0, 7, 10});
  EXPECT_EQ(f.trace_count(), 1);
  expectValues(net.call({{"x", tensor<float>({{1, 1}})}}).at("y"), {0, 7, 10});
}

// What pipelines of scikit-learn begin and end with. The numbers follow from the definitions.
TEST(Onnx, TablesAreScaledNormalizedAndRegressed) {
  const Folder folder;
  auto of = [&](const Message &made) {
    return load_onnx(folder.write(model(
        graph(
            {.nodes = {made}, .inputs = {port("x", kFloat, {"rows", 2})}, .outputs = {port("y", kFloat, {"rows", 2})}}),
        17, {}, {opset("ai.onnx.ml", 1)})));
  };
  using Floats = std::vector<float>;
  const Tensor x = tensor<float>({{3, 4}, {0, 0}});
  const std::string ml = "ai.onnx.ml";
  expectValues(
      bothWays(of(node("Scaler", {"x"}, {"y"},
                       {floatsAttribute("offset", Floats{1, 2}), floatsAttribute("scale", Floats{2, 0.5f})}, "", ml)),
               {x})[0],
      {4, 1, -2, -1});
  expectValues(bothWays(of(node("Scaler", {"x"}, {"y"}, {floatsAttribute("scale", Floats{2})}, "", ml)), {x})[0],
               {6, 8, 0, 0});
  expectValues(bothWays(of(node("Normalizer", {"x"}, {"y"}, {attribute("norm", "L2")}, "", ml)), {x})[0],
               {0.6f, 0.8f, 0, 0});
  expectValues(bothWays(of(node("Normalizer", {"x"}, {"y"}, {attribute("norm", "L1")}, "", ml)), {x})[0],
               {3.f / 7, 4.f / 7, 0, 0});
  expectValues(bothWays(of(node("Normalizer", {"x"}, {"y"}, {}, "", ml)), {x})[0], {0.75f, 1, 0, 0});
  expectValues(bothWays(of(node("LinearRegressor", {"x"}, {"y"},
                                {floatsAttribute("coefficients", Floats{1, 2, 3, -1}),
                                 floatsAttribute("intercepts", Floats{10, 20}), attribute("targets", 2)},
                                "", ml)),
                        {x})[0],
               {21, 25, 10, 20});
}

// Three outputs of 40 inputs: each row is a block of 32 and a part of another one. Scales and codes are exact numbers.
TEST(Onnx, MultipliesByWeightsOfFourBits) {
  const Folder folder;
  std::vector<std::uint8_t> codes, points = {0x38, 0xf0, 0x07};
  std::vector<float> scales = {0.5f, 2, 1, 0.25f, 4, 1}, x, expected;
  for (int i = 0; i < 3 * 2 * 16; ++i)
    codes.push_back(static_cast<std::uint8_t>(i * 37 + 11));
  for (int i = 0; i < 5 * 40; ++i)
    x.push_back(static_cast<float>(i * 7 % 16 - 8));
  for (bool hasPoints : {false, true})
    for (int rows : {1, 5}) {
      const Message packed = tensorOf("w", 2, {3, 2, 16}, codes);
      std::vector<Message> given = {packed, floats("s", {6}, scales), floats("b", {3}, {1, 2, 3})};
      if (hasPoints)
        given.push_back(tensorOf("z", 2, {3}, points));
      const OnnxModel net = load_onnx(
          folder.write(model(graph({.nodes = {node("MatMulNBits", {"x", "w", "s", hasPoints ? "z" : "", "", "b"}, {"y"},
                                                   {attribute("K", 40), attribute("N", 3), attribute("bits", 4),
                                                    attribute("block_size", 32)},
                                                   "", "com.microsoft")},
                                    .inputs = {port("x", kFloat, {"rows", 40})},
                                    .outputs = {port("y", kFloat, {"rows", 3})},
                                    .initializers = given}),
                             17, {}, {opset("com.microsoft", 1)})));
      std::vector<double> wanted;
      for (int row = 0; row < rows; ++row)
        for (int n = 0; n < 3; ++n) {
          double total = n + 1;
          for (int k = 0; k < 40; ++k) {
            const int byte = codes[static_cast<std::size_t>(n * 32 + k / 2)], code = k % 2 ? byte >> 4 : byte & 15;
            const int pair = points[static_cast<std::size_t>(n)], point = !hasPoints ? 8
                                                                          : k / 32   ? pair >> 4
                                                                                     : pair & 15;
            total += x[static_cast<std::size_t>(row * 40 + k)] * (code - point) *
                     scales[static_cast<std::size_t>(2 * n + k / 32)];
          }
          wanted.push_back(total);
        }
      const Tensor given32 = slice(tensor(x, {5, 40}), {0, 0}, {rows, 40});
      EXPECT_EQ(valuesOf(net(given32)), wanted);
      EXPECT_EQ(valuesOf(net.function()({given32})[0]), wanted);
    }
}

TEST(Onnx, SizesHaveNames) {
  const Folder folder;
  const OnnxModel net = load_onnx(folder.write(layer()), {.sizes = {{"batch", 4}}});
  EXPECT_EQ(net.inputs()[0].type, "float32[4,2]");
}

TEST(Onnx, WeightsAreConstantsOrVariables) {
  const Folder folder;
  const std::string path = folder.write(layer());
  EXPECT_TRUE(load_onnx(path).variables().empty());
  const OnnxModel frozen = load_onnx(path, {.weights = OnnxWeights::Frozen});
  EXPECT_EQ(frozen.variables().size(), 2u);
  EXPECT_TRUE(frozen.trainable_variables().empty());
  EXPECT_EQ(load_onnx(path, {.weights = OnnxWeights::Trainable}).trainable_variables().size(), 2u);
}

TEST(Onnx, GradientsAreThoseOfTheModel) {
  const Folder folder;
  const OnnxModel net = load_onnx(folder.write(layer()), {.weights = OnnxWeights::Trainable});
  const Tensor x = tensor<float>({{1, 2}, {3, 4}});
  auto gradients = [&](const Tensor &x) {
    GradientTape tape;
    tape.watch(x);
    const Tensor loss = sum(square(net(x)));
    const auto made = tape.gradient(loss, {x, net.variables().at("w")});
    return std::vector<Tensor>{*made[0], *made[1]};
  };
  // y is positive everywhere.
  const Tensor w = net.variables().at("w");
  const Tensor y = net(x), dy = 2 * y;
  const std::vector<Tensor> eager = gradients(x), compiled = function(gradients)(x);
  expectSameBits(eager[0], matmul(dy, w, {.transpose_b = true}));
  expectSameBits(eager[1], matmul(x, dy, {.transpose_a = true}));
  for (std::size_t i = 0; i < 2; ++i)
    expectValues(compiled[i], eager[i].to_vector<float>());
}

TEST(Onnx, IsTunedSavedAndLoaded) {
  const Folder folder;
  const OnnxModel net = load_onnx(folder.write(layer()), {.weights = OnnxWeights::Trainable});
  const Tensor x = tensor<float>({{1, 2}, {3, 4}}), target = tensor<float>({{1, 1, 1}, {2, 2, 2}});
  auto step = function([&](const Tensor &x, const Tensor &y) {
    GradientTape tape;
    const Tensor loss = mean(square(net(x) - y));
    std::vector<Variable> variables = net.trainable_variables();
    const auto gradients = tape.gradient(loss, variables);
    for (std::size_t i = 0; i < variables.size(); ++i)
      variables[i].assign_sub(0.01f * *gradients[i]);
    return loss;
  });
  const float before = step(x, target).item<float>();
  for (int i = 0; i < 100; ++i)
    step(x, target);
  const float after = step(x, target).item<float>();
  EXPECT_LT(after, before / 10);
  const std::string path = (folder.path() / "tuned.calque").string();
  save_functions(path, {{"predict", net.function().get_concrete_function({TensorSpec<float>({kDynamic, 2})})}});
  auto saved = load_functions(path)["predict"];
  expectSameBits(saved({x})[0], net.function()({x})[0]);
}

TEST(Onnx, IsMapped) {
  const Folder folder;
  const OnnxModel net = load_onnx(folder.write(layer()));
  const Tensor x = tensor<float>({{{1, 0}, {0, 1}}, {{1, 1}, {2, 2}}});
  expectValues(vmap([&](const Tensor &each) { return net(each); })(x), {0, 2, 4, 0, 5, 7, 0, 7, 10, 4, 14, 19});
}

TEST(Onnx, ShapesFollowSizesThatOnlyTheCallKnows) {
  const Folder folder;
  // reshape(x, [batch, -1]) and a sum over what expands to the shape of x.
  const OnnxModel net = load_onnx(folder.write(model(graph(
      {.nodes = {node("Shape", {"x"}, {"shape"}), node("Gather", {"shape", "zero"}, {"batch"}),
                 node("Unsqueeze", {"batch", "zero1"}, {"rows"}),
                 node("Concat", {"rows", "rest"}, {"wanted"}, {attribute("axis", 0)}),
                 node("Reshape", {"x", "wanted"}, {"flat"}),
                 node("ConstantOfShape", {"shape"}, {"ones"}, {tensorAttribute("value", floats("", {1}, {1}))}),
                 node("Reshape", {"ones", "wanted"}, {"flatOnes"}), node("Add", {"flat", "flatOnes"}, {"y"})},
       .inputs = {port("x", kFloat, {"n", 2, 2})},
       .outputs = {port("y", kFloat, {"n", 4})},
       .initializers = {tensorOf<std::int64_t>("zero", kInt64, {}, {0}), ints("zero1", {0}), ints("rest", {-1})}}))));
  auto f = net.function();
  for (std::int64_t n : {1, 3}) {
    const Tensor x = random::normal({n, 2, 2});
    expectSameBits(f({x})[0], reshape(x, {n, 4}) + 1);
    expectSameBits(net(x), reshape(x, {n, 4}) + 1);
  }
  EXPECT_EQ(f.trace_count(), 1);
}

TEST(Onnx, ASizeThatIsComputedIsTheRestOfAReshape) {
  const Folder folder;
  // reshape(x, [2, n * 2]) of [n, 4]
  const OnnxModel net = load_onnx(folder.write(
      model(graph({.nodes = {node("Shape", {"x"}, {"n"}, {attribute("end", 1)}), node("Mul", {"n", "two"}, {"double"}),
                             node("Concat", {"two", "double"}, {"wanted"}, {attribute("axis", 0)}),
                             node("Reshape", {"x", "wanted"}, {"y"})},
                   .inputs = {port("x", kFloat, {"n", 4})},
                   .outputs = {port("y", kFloat, {2, "m"})},
                   .initializers = {ints("two", {2})}}))));
  const Tensor x = random::normal({3, 4});
  expectSameBits(bothWays(net, {x})[0], reshape(x, {2, 6}));
}

TEST(Onnx, ImagesKeepTheirChannelsLastFromOneConvolutionToTheNext) {
  const Folder folder;
  const OnnxModel net = load_onnx(folder.write(model(
      graph({.nodes = {node("Conv", {"x", "k"}, {"a"}, {attribute("pads", {1, 1, 1, 1})}), node("Relu", {"a"}, {"b"}),
                       node("MaxPool", {"b"}, {"c"}, {attribute("kernel_shape", {2, 2}), attribute("strides", {2, 2})}),
                       node("Conv", {"c", "l"}, {"d"}), node("GlobalAveragePool", {"d"}, {"y"})},
             .inputs = {port("x", kFloat, {1, 2, 4, 4})},
             .outputs = {port("y", kFloat, {1, 2, 1, 1})},
             .initializers = {floats("k", {3, 2, 3, 3}, std::vector<float>(54, 0.5f)),
                              floats("l", {2, 3, 1, 1}, {1, 2, 3, 4, 5, 6})}}))));
  const Tensor x = random::normal({1, 2, 4, 4});
  const Tensor last = transpose(x, {0, 2, 3, 1});
  const Tensor pooled = max_pool(relu(conv(last, full({3, 3, 2, 3}, 0.5f), {.padding = "same"})), {2, 2});
  const Tensor filters = reshape(transpose(tensor<float>({{1, 2, 3}, {4, 5, 6}})), {1, 1, 3, 2});
  const Tensor expected = mean(conv(pooled, filters), {1, 2});
  // Products are summed in another order than by the operations alone.
  for (const Tensor &given : {net(x), net.function()({x})[0]})
    for (std::size_t i = 0; i < 2; ++i)
      EXPECT_NEAR(given.to_vector<float>()[i], expected.to_vector<float>()[i], 1e-4);
  // Filters are constants, which are transposed while tracing. What is left is the input, and the result of size 1.
  const std::string ir = net.function().ir("traced", std::vector<Tensor>{x});
  std::size_t transposes = 0;
  for (std::size_t at = 0; (at = ir.find("calque.transpose", at)) != std::string::npos; ++at)
    ++transposes;
  EXPECT_EQ(transposes, 2u) << ir;
}

//===-- Control flow -----------------------------------------------------------------------------===//

TEST(Onnx, BranchesAreChosenAtTheCall) {
  const Folder folder;
  auto scaled = [](const std::string &by) {
    return graph({.nodes = {node("Mul", {"x", by}, {"r"})}, .inputs = {}, .outputs = {port("r", kFloat, {2})}});
  };
  const OnnxModel net = load_onnx(folder.write(model(graph(
      {.nodes = {node("If", {"c"}, {"y"},
                      {graphAttribute("then_branch", scaled("two")), graphAttribute("else_branch", scaled("three"))})},
       .inputs = {port("c", kBool, {}), port("x", kFloat, {2})},
       .outputs = {port("y", kFloat, {2})},
       .initializers = {floats("two", {}, {2}), floats("three", {}, {3})}}))));
  const Tensor x = tensor<float>({1, 2});
  auto f = net.function();
  expectValues(f({scalar<bool>(true), x})[0], {2, 4});
  expectValues(f({scalar<bool>(false), x})[0], {3, 6});
  EXPECT_EQ(f.trace_count(), 1);
  expectValues(net({scalar<bool>(false), x})[0], {3, 6});
}

// Doubles x as long as its sum is below a limit, at most `count` times; gives the last x, and all of them.
Message doubling() {
  const Message body = graph(
      {.nodes = {node("Add", {"at", "at"}, {"next"}), node("ReduceSum", {"next"}, {"sum"}, {attribute("keepdims", 0)}),
                 node("Less", {"sum", "limit"}, {"on"}), node("Identity", {"next"}, {"kept"})},
       .inputs = {port("i", kInt64, {}), port("go", kBool, {}), port("at", kFloat, {2})},
       .outputs = {port("on", kBool, {}), port("next", kFloat, {2}), port("kept", kFloat, {2})}});
  return model(graph({.nodes = {node("Loop", {"count", "yes", "x"}, {"last", "all"}, {graphAttribute("body", body)})},
                      .inputs = {port("count", kInt64, {}), port("x", kFloat, {2})},
                      .outputs = {port("last", kFloat, {2}), port("all", kFloat, {"n", 2})},
                      .initializers = {tensorOf<char>("yes", kBool, {}, {1}), floats("limit", {}, {20})}}));
}

TEST(Onnx, LoopsEndWhereTheCallSaysSo) {
  const Folder folder;
  const OnnxModel net = load_onnx(folder.write(doubling()));
  const Tensor x = tensor<float>({1, 2});
  for (std::int64_t count : {10, 2}) {
    const std::vector<Tensor> given = bothWays(net, {scalar<std::int64_t>(count), x});
    expectValues(given[0], count == 10 ? std::vector<float>{8, 16} : std::vector<float>{4, 8});
    EXPECT_EQ(given[1].shape(), (Shape{count == 10 ? 3 : 2, 2}));
  }
  EXPECT_EQ(net({scalar<std::int64_t>(0), x})[1].shape(), (Shape{0, 2}));
}

TEST(Onnx, ScansStackTheirResults) {
  const Folder folder;
  const Message body = graph({.nodes = {node("Add", {"sum", "e"}, {"next"}), node("Identity", {"next"}, {"shown"})},
                              .inputs = {port("sum", kFloat, {}), port("e", kFloat, {})},
                              .outputs = {port("next", kFloat, {}), port("shown", kFloat, {})}});
  const OnnxModel net = load_onnx(
      folder.write(model(graph({.nodes = {node("Scan", {"zero", "x"}, {"total", "sums"},
                                               {graphAttribute("body", body), attribute("num_scan_inputs", 1),
                                                attribute("scan_input_directions", std::vector<std::int64_t>{1})})},
                                .inputs = {port("x", kFloat, {"n"})},
                                .outputs = {port("total", kFloat, {}), port("sums", kFloat, {"n"})},
                                .initializers = {floats("zero", {}, {0})}}))));
  const std::vector<Tensor> given = bothWays(net, {tensor<float>({1, 2, 3})});
  EXPECT_EQ(given[0].item<float>(), 6);
  expectValues(given[1], {3, 5, 6});
}

//===-- Functions --------------------------------------------------------------------------------===//

// scaled(x) = x * alpha, whose alpha is 2 unless the node has another.
Message scaledFunction() {
  Message message;
  message.text(1, "scaled").text(4, "x").text(5, "y");
  message.message(7, node("Constant", {}, {"alpha"}, {reference("value_float", "alpha")}));
  message.message(7, node("Mul", {"x", "alpha"}, {"y"}));
  return message.message(9, opset("", 17)).text(10, "own").message(11, attribute("alpha", 2.0f));
}

TEST(Onnx, FunctionsTakeAttributes) {
  const Folder folder;
  const OnnxModel net = load_onnx(
      folder.write(model(graph({.nodes = {node("scaled", {"x"}, {"a"}, {}, "", "own"),
                                          node("scaled", {"a"}, {"y"}, {attribute("alpha", 5.0f)}, "", "own")},
                                .inputs = {port("x", kFloat, {2})},
                                .outputs = {port("y", kFloat, {2})}}),
                         17, {scaledFunction()}, {opset("own", 1)})));
  expectValues(bothWays(net, {tensor<float>({1, 2})})[0], {10, 20});
}

//===-- The page ---------------------------------------------------------------------------------===//

TEST(Onnx, ThePageListsTheOperators) {
  std::set<std::string> listed, known;
  std::ifstream page(CALQUE_ONNX_PAGE);
  ASSERT_TRUE(page);
  for (std::string line; std::getline(page, line);)
    if (line.starts_with("| ") && line.find(" | ") != std::string::npos) {
      const std::size_t end = line.find(" | "), next = line.find(" |", end + 3);
      const std::string versions = line.substr(end + 3, next - end - 3);
      if (!versions.empty() && std::isdigit(static_cast<unsigned char>(versions[0])))
        listed.insert(line.substr(2, end - 2) + ": " + versions);
    }
  for (const std::string &each : onnx_operators()) {
    std::istringstream words(each);
    std::string domain, name, version, versions;
    words >> domain >> name;
    while (words >> version)
      versions += (versions.empty() ? "" : ", ") + version;
    known.insert((domain == "ai.onnx" ? name : domain + "." + name) + ": " + versions);
  }
  EXPECT_EQ(listed, known);
}

//===-- External data ----------------------------------------------------------------------------===//

Message withExternal(const Message &w) {
  return model(graph({.nodes = {node("Add", {"x", "w"}, {"y"})},
                      .inputs = {port("x", kFloat, {2})},
                      .outputs = {port("y", kFloat, {2})},
                      .initializers = {w}}));
}

TEST(Onnx, ReadsExternalDataInItsFolder) {
  const Folder folder;
  const float elements[] = {0, 3, 4};
  folder.write("weights.bin", std::string(reinterpret_cast<const char *>(elements), sizeof elements));
  const std::string path = folder.write(withExternal(external("w", {2}, "weights.bin", "4", "8")));
  expectValues(load_onnx(path)(tensor<float>({1, 1})), {4, 5});
}

TEST(Onnx, RefusesExternalDataElsewhere) {
  const Folder folder;
  folder.write("weights.bin", std::string(8, '\0'));
  std::filesystem::create_directory(folder.path() / "inner");
  std::filesystem::create_symlink(folder.path() / "weights.bin", folder.path() / "inner" / "link.bin");
  auto refused = [&](const Message &w, const std::string &message) {
    const std::string path = folder.write("inner/model.onnx", withExternal(w).bytes);
    EXPECT_CONTAINS(errorOf<DataError>([&] { load_onnx(path); }), path + ": tensor 'w' has external data " + message);
  };
  refused(external("w", {2}, "../weights.bin"), "in '../weights.bin', outside of the model's folder");
  refused(external("w", {2}, "link.bin"), "in 'link.bin', outside of the model's folder");
  refused(external("w", {2}, (folder.path() / "weights.bin").string()),
          "in '" + (folder.path() / "weights.bin").string() + "', outside of the model's folder");
  std::ofstream(folder.path() / "inner" / "short.bin") << "1234";
  refused(external("w", {2}, "short.bin"), "of 8 bytes from 0, but 'short.bin' has 4");
  refused(external("w", {2}, "short.bin", "x"), "at the offset 'x', which is no number");
  Message nowhere;
  nowhere.integer(1, 2).integer(2, kFloat).text(8, "w").integer(14, 1);
  refused(nowhere, "without a location");
}

// Of a model with its weights inside, few tensors are at addresses that suit their elements: the others are copied.
TEST(Onnx, TakesTheMemoryOfItsFileOnce) {
  if (isSanitized())
    GTEST_SKIP() << "the sanitizer keeps memory of its own";
  constexpr std::int64_t kWeights = 16;
  constexpr int kElements = 1 << 20;
  std::vector<Message> weights, nodes;
  std::string value = "x";
  for (std::int64_t i = 0; i < kWeights; ++i) {
    const std::string name(static_cast<std::size_t>(i + 1), 'w'); // so that each begins elsewhere
    weights.push_back(floats(name, {kElements}, std::vector<float>(kElements, float(i))));
    nodes.push_back(node("Add", {value, name}, {"y" + std::to_string(i)}));
    value = "y" + std::to_string(i);
  }
  const Folder folder;
  const std::string path = folder.write(model(graph({.nodes = nodes,
                                                     .inputs = {port("x", kFloat, {kElements})},
                                                     .outputs = {port(value, kFloat, {kElements})},
                                                     .initializers = weights})));
  const auto residentBytes = [] {
    std::ifstream file("/proc/self/statm");
    std::int64_t all = 0, resident = 0;
    file >> all >> resident;
    return resident * ::sysconf(_SC_PAGESIZE);
  };
  constexpr std::int64_t kSize = kWeights * kElements * 4;
  const std::int64_t before = residentBytes();
  const OnnxModel net = load_onnx(path);
  const std::int64_t taken = residentBytes() - before;
  EXPECT_LT(taken, kSize * 12 / 10);
  EXPECT_GT(taken, kSize / 2); // copies, at most addresses
  EXPECT_EQ(net(zeros({kElements})).to_vector<float>(), std::vector<float>(kElements, 120));
}

} // namespace
} // namespace calque::testing
