// Functions written as ONNX: what is read again computes the same, and what can't be written is refused.
#include "calque/onnx.h"

#include "calque/program.h"
#include "calque/training.h"
#include "test/interchange/ExportCases.h"
#include "test/interchange/Models.h"

#include "test/Tensors.h"
#include "test/frontend/Testing.h"

#include <cmath>
#include <complex>
#include <fstream>
#include <map>
#include <sys/mman.h>

namespace calque::testing {
namespace {

using onnx::Folder;

void expectClose(const Tensor &a, const Tensor &b) {
  ASSERT_EQ(a.dtype(), b.dtype());
  ASSERT_EQ(a.shape(), b.shape());
  if (!is_floating(a.dtype()))
    return expectSameBits(a, b);
  const double unit = a.dtype() == DType::Float64   ? 1e-12
                      : a.dtype() == DType::Float32 ? 2e-5
                      : a.dtype() == DType::Float16 ? 2e-3
                                                    : 2e-2;
  const std::vector<double> x = valuesOf(a), y = valuesOf(b);
  for (std::size_t i = 0; i < x.size(); ++i)
    EXPECT_TRUE(std::fabs(x[i] - y[i]) <= unit * (1 + std::fabs(x[i])) || x[i] == y[i] ||
                (x[i] != x[i] && y[i] != y[i]))
        << "element " << i << ": " << x[i] << " and " << y[i];
}

// Writes a function, reads it, and compares the results, with the operator sets that there are.
void expectSame(const ExportCase &each, std::int64_t opset) {
  SCOPED_TRACE(each.name + " with operator set " + std::to_string(opset));
  const Folder folder;
  const std::string path = folder.file("model.onnx");
  const auto concrete = each.concrete();
  OnnxExportOptions options = each.options;
  options.opset = opset;
  save_onnx(path, concrete, options);
  const Tensors expected = concrete(each.inputs);
  const OnnxModel model = load_onnx(path);
  EXPECT_EQ(model.opset(), opset);
  ASSERT_EQ(model.inputs().size(), each.inputs.size());
  std::vector<Tensors> ways{model(each.inputs)};
  if (each.compiles)
    ways.push_back(model.function()(each.inputs));
  for (const Tensors &made : ways) {
    ASSERT_EQ(made.size(), expected.size());
    for (std::size_t i = 0; i < made.size(); ++i)
      each.sameBits ? expectSameBits(made[i], expected[i]) : expectClose(made[i], expected[i]);
  }
}

class Exported : public ::testing::TestWithParam<ExportCase> {};
TEST_P(Exported, ComputesTheSame) {
  for (std::int64_t opset : {kFirstOnnxOpset, std::int64_t(21), kLastOnnxOpset})
    expectSame(GetParam(), opset);
}
INSTANTIATE_TEST_SUITE_P(Onnx, Exported, ::testing::ValuesIn(exportCases()),
                         [](const auto &info) { return info.param.name; });

// The table of what is written and what is refused is made by the records.
TEST(OnnxExport, ElementwiseOperationsAreWrittenOrRefusedByName) {
  std::map<std::string, int> written, refused;
  for (const ExportCase &each : elementwiseExportCases()) {
    const std::string operation = each.name.substr(0, each.name.rfind('_'));
    try {
      const Folder folder;
      save_onnx(folder.file("model.onnx"), each.concrete());
      ++written[operation];
    } catch (const ValueError &error) {
      EXPECT_CONTAINS(error.what(), "save_onnx: ");
      EXPECT_CONTAINS(error.what(), "Testing.h:"); // the line where the operation is called
      ++refused[operation];
      continue;
    }
    expectSame(each, 21);
  }
  EXPECT_GE(written.size(), 74u);
  for (const auto &[name, count] : refused)
    std::cout << "refused: " << name << ", element types: " << count
              << (written.contains(name) ? " (others are written)" : "") << '\n';
  EXPECT_LE(refused.size(), 25u);
}

std::string bytesOf(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(OnnxExport, NamesAndSizesAreThoseOfTheFunction) {
  const Folder folder;
  struct Output {
    Tensor logits, loss;
  };
  auto f = function(
      [](const Tensor &image, const std::vector<Tensor> &more) {
        return std::map<std::string, Tensor>{{"logits", image * 2}, {"loss", sum(more[0]) + sum(more[1])}};
      },
      {.name = "net", .argument_names = {"image", "more"}});
  const Tensor row(TensorSpec<float>({kDynamic, 3}));
  save_onnx(folder.file("a.onnx"), f.get_concrete_function(row, std::vector<Tensor>{row, row}),
            {.description = "a net", .metadata = {{"author", "me"}}});
  const OnnxModel model = load_onnx(folder.file("a.onnx"));
  ASSERT_EQ(model.inputs().size(), 3u);
  EXPECT_EQ(model.inputs()[0].name, "image");
  EXPECT_EQ(model.inputs()[0].type, "float32[?,3]");
  EXPECT_EQ(model.inputs()[2].name, "more_1");
  EXPECT_EQ(model.outputs()[0].name, "logits");
  EXPECT_EQ(model.outputs()[1].name, "loss");
  EXPECT_TRUE(model.producer().starts_with("calque ")) << model.producer();
  EXPECT_EQ(load_onnx(folder.file("a.onnx"), {.sizes = {{"image_0", 4}}}).inputs()[0].type, "float32[4,3]");

  save_onnx(folder.file("b.onnx"), f, {.inputs = {"x", "y", "z"}, .outputs = {"p", "q"}});
  EXPECT_EQ(load_onnx(folder.file("b.onnx")).inputs()[1].name, "y");
  EXPECT_EQ(load_onnx(folder.file("b.onnx")).outputs()[1].name, "q");
  EXPECT_CONTAINS(errorOf<ValueError>([&] { save_onnx(folder.file("c.onnx"), f, {.inputs = {"x"}}); }),
                  "the options name 1 inputs, and function 'net' has 3");
  EXPECT_CONTAINS(errorOf<ValueError>([&] { save_onnx(folder.file("c.onnx"), f, {.outputs = {"x", "x"}}); }),
                  "the name 'x' is given to two of the outputs");
  EXPECT_CONTAINS(errorOf<ValueError>([&] { save_onnx(folder.file("c.onnx"), f, {.outputs = {"x", ""}}); }),
                  "a name among the outputs is empty");
  EXPECT_CONTAINS(errorOf<ValueError>([&] { save_onnx(folder.file("c.onnx"), f, {.outputs = {"x", "image"}}); }),
                  "the name 'image' of an output is that of an input");
  EXPECT_FALSE(std::filesystem::exists(folder.file("c.onnx")));
}

TEST(OnnxExport, AStepOfTrainingHasItsVariablesAsInputsAndOutputs) {
  const Folder folder;
  const layers::Dense dense(2, {.name = "dense"});
  const Tensor x = tensor<float>({{1, 2, 3}, {4, 5, 6}}), y = tensor<float>({{1, 0}, {0, 1}});
  dense(x);
  optimizers::SGD sgd(0.1);
  auto step = function([&](const Tensor &x, const Tensor &y) {
    return sgd.minimize([&] { return mean(square(dense(x) - y)); }, dense.trainable_variables());
  });
  auto concrete = step.get_concrete_function(x, y);
  save_onnx(folder.file("step.onnx"), concrete);
  const OnnxModel model = load_onnx(folder.file("step.onnx"), {.weights = OnnxWeights::Trainable});
  std::map<std::string, Variable> variables = model.variables();
  for (int i = 0; i < 3; ++i) {
    const std::map<std::string, Tensor> made = model.call({{"input_0", x}, {"input_1", y}});
    expectClose(made.at("result"), concrete(x, y));
    for (auto &[name, variable] : variables)
      if (made.contains("new_" + name)) // the learning rate stays
        variable.assign(made.at("new_" + name));
  }
  ASSERT_TRUE(variables.contains("dense/kernel"));
  expectClose(variables.at("dense/kernel"), dense.kernel());
}

TEST(OnnxExport, ComplexNumbersArePairs) {
  const Folder folder;
  const Tensor turn = tensor({std::complex<float>(0, 1), std::complex<float>(1, 1)});
  auto f = function([=](const Tensor &x) { return x * x * turn; });
  const Tensor x = tensor({std::complex<float>(1, 2), std::complex<float>(3, -1)});
  const Tensor y = f(x);
  save_onnx(folder.file("f.onnx"), f);
  const OnnxModel model = load_onnx(folder.file("f.onnx"));
  EXPECT_EQ(model.inputs()[0].type, "float32[2,2]");
  auto pairs = [](const Tensor &x) { return stack({real(x), imag(x)}, -1); };
  expectSameBits(model(Operand(pairs(x))), pairs(y));
}

TEST(OnnxExport, WeightsMayBeInAFileBeside) {
  const Folder folder;
  const Variable w(ones({64, 8}), {.name = "w"});
  const Variable b(ones({8}), {.name = "b"});
  auto f = function([=](const Tensor &x) { return matmul(x, w) + b; });
  auto concrete = f.get_concrete_function(TensorSpec<float>({kDynamic, 64}));
  const std::string path = folder.file("net.onnx");
  save_onnx(path, concrete, {.weights = OnnxStorage::External});
  EXPECT_EQ(std::filesystem::file_size(path + ".data"), 64u * 8 * 4);
  EXPECT_LT(std::filesystem::file_size(path), 1000u);
  const Tensor x = ones({2, 64});
  expectSameBits(load_onnx(path)(Tensors{x})[0], f(x));
  const OnnxModel tuned = load_onnx(path, {.weights = OnnxWeights::Trainable});
  EXPECT_TRUE(tuned.variables().contains("w"));
  EXPECT_TRUE(tuned.variables().contains("b"));
}

TEST(OnnxExport, WeightsThatAFileCanNotHoldGoBeside) {
  const Folder folder;
  // Nobody reads the bytes: only their number counts.
  constexpr std::size_t kBytes = std::size_t(1) << 31;
  void *memory = ::mmap(nullptr, kBytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  const std::shared_ptr<void> owner(memory, [](void *bytes) { ::munmap(bytes, kBytes); });
  const Tensor table = tensor_from_memory(DType::UInt8, std::span(static_cast<const std::byte *>(memory), kBytes),
                                          {std::int64_t(kBytes)}, owner);
  auto f = function([=](const Tensor &i) { return gather(table, i); });
  f(tensor<std::int64_t>({1}));
  EXPECT_CONTAINS(errorOf<ValueError>([&] { save_onnx(folder.file("f.onnx"), f, {.weights = OnnxStorage::Inside}); }),
                  "bytes, and a file of ONNX holds less than 2^31: its weights can be in a file beside it, with "
                  "{.weights = OnnxStorage::External}");
}

TEST(OnnxExport, AFailureLeavesTheFileThatWasThere) {
  const Folder folder;
  const std::string path = folder.file("net.onnx");
  auto good = function([](const Tensor &x) { return 2 * x; });
  good(ones({3}));
  save_onnx(path, good);
  const std::string before = bytesOf(path);
  auto bad = function([](const Tensor &x) { return lgamma(x); });
  bad(ones({3}));
  const std::string error = errorOf<ValueError>([&] { save_onnx(path, bad); });
  EXPECT_CONTAINS(error, "save_onnx: lgamma: ONNX has no operator for operation 'lgamma', and its function 'lgamma' is "
                         "not composed of others");
  EXPECT_CONTAINS(error, "OnnxExportTest.cpp:");
  EXPECT_EQ(bytesOf(path), before);
  errorOf<DataError>([&] { save_onnx(folder.file("none/net.onnx"), good); });
}

TEST(OnnxExport, WhatCanNotBeWrittenIsRefusedByName) {
  const Folder folder;
  const std::string path = folder.file("net.onnx");
  auto refused = [&](auto f, const auto &...args) {
    auto made = function(f);
    return errorOf<ValueError>([&] { save_onnx(path, made.get_concrete_function(args...)); });
  };
  const TensorSpec<float> matrix({3, 3});
  EXPECT_CONTAINS(refused([](const Tensor &x) { return linalg::cholesky(x); }, matrix),
                  "ONNX has no operator for operation 'cholesky', and it is not composed of others");
  auto loop = [](const Tensor &x) {
    return while_loop([](const Tensor &y) { return sum(y) < 100; }, [](const Tensor &y) { return y * y; }, x);
  };
  EXPECT_CONTAINS(
      refused([=](const Tensor &x) { return grad([=](const Tensor &x) { return sum(loop(x)); })(x); }, matrix),
      "its derivative keeps values on a stack, which ONNX has not (operation '");
  auto images = [](const Tensor &x) {
    return grad([](const Tensor &x) { return sum(square(conv2d(x, ones({2, 2, 3, 1})))); })(x);
  };
  EXPECT_CONTAINS(refused(images, TensorSpec<float>({1, kDynamic, 8, 3})),
                  "its derivative is written for images of known sizes alone, and they are float32[1,?,8,3]");
  EXPECT_CONTAINS(
      refused([](const Tensor &x) { return x + random::stateless_uniform(x.shape(), random::state(1, 0)); }, matrix),
      "ONNX has no operator for operation 'random_uniform'");
  EXPECT_CONTAINS(refused([](const Tensor &x) { return pow(x, x); }, TensorSpec<std::int32_t>({3})),
                  "the power of integers");
  const Variable phase(tensor({std::complex<float>(0, 1)}), {.name = "phase"});
  EXPECT_CONTAINS(refused([&](const Tensor &x) { return real(phase * complex(x, x)); }, matrix),
                  "is complex64[1], an element type that the operators of ONNX do not take");
  auto asserted = [](const Tensor &x) {
    assert_true(x > 0, "positive");
    return 2 * x;
  };
  EXPECT_CONTAINS(refused(asserted, matrix),
                  "ONNX has no operator for operation 'assert', which is there for its effect");
  auto made = function(asserted);
  save_onnx(path, made.get_concrete_function(matrix), {.leave_out_effects = true});
  expectValues(load_onnx(path)(Tensors{ones({3, 3})})[0], std::vector<float>(9, 2));
  auto f = function([](const Tensor &x) { return 2 * x; });
  EXPECT_CONTAINS(errorOf<StateError>([&] { save_onnx(path, f); }),
                  "has no trace yet, and one is to be taken: give what get_concrete_function returns");
  f(ones({2}));
  f(ones({2, 2}));
  EXPECT_CONTAINS(errorOf<StateError>([&] { save_onnx(path, f); }), "has 2 traces, and one is to be taken");
  EXPECT_CONTAINS(errorOf<ValueError>([&] { save_onnx(path, f.get_concrete_function(ones({2})), {.opset = 17}); }),
                  "operator set 17 is none of those from 18 to 24");
  auto outer = function([&](const Tensor &x) {
    save_onnx(path, f);
    return x;
  });
  EXPECT_CONTAINS(errorOf<StateError>([&] { outer(ones({2})); }),
                  "program_of is called while a function is traced: its variables have no values then");
  f.clear();
  f(ones({2}));
  EXPECT_CONTAINS(errorOf<LookupError>([&] { program_of(f).program->operations[0].attribute<bool>("none"); }),
                  "has no such attribute 'none'");
}

TEST(OnnxExport, SavedFunctionsAndImportedModelsAreWrittenAgain) {
  const Folder folder;
  auto f = function([](const Tensor &x) { return tanh(x) * 2; });
  save_functions(folder.file("f.calque"), {{"f", f.get_concrete_function(TensorSpec<float>({kDynamic}))}});
  const auto loaded = load_functions(folder.file("f.calque")).function<Tensor(const Tensor &)>("f");
  save_onnx(folder.file("f.onnx"), loaded);
  const Tensor x = tensor<float>({1, 2, 3});
  const OnnxModel model = load_onnx(folder.file("f.onnx"));
  expectSameBits(model(Operand(x)), f(x));
  save_onnx(folder.file("g.onnx"), model.function().get_concrete_function({Tensor(TensorSpec<float>({kDynamic}))}));
  expectSameBits(load_onnx(folder.file("g.onnx"))(Operand(x)), f(x));
}

} // namespace
} // namespace calque::testing
