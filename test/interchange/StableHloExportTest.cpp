// Functions written as StableHLO: what is read again computes the same, and what can't be written is refused.
#include "calque/stablehlo_export.h"

#include "calque/linalg.h"
#include "calque/stablehlo.h"
#include "calque/training.h"
#include "test/interchange/ExportCases.h"
#include "test/interchange/Models.h"

#include "test/Tensors.h"
#include "test/frontend/Testing.h"

#include <cmath>
#include <map>

namespace calque::testing {
namespace {

using onnx::Folder;

// Complex numbers are pairs in a module.
Tensor pairsOf(const Tensor &x) { return is_complex(x.dtype()) ? stack({real(x), imag(x)}, x.rank()) : x; }
Tensors pairsOf(Tensors all) {
  for (Tensor &x : all)
    x = pairsOf(x);
  return all;
}

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

// Writes a function, reads the text, and compares the results.
void expectSame(const ExportCase &each) {
  SCOPED_TRACE(each.name);
  const auto concrete = each.concrete();
  StableHloExportOptions options;
  options.chlo = each.takesChlo;
  const std::string text = stablehlo_text(concrete, options);
  const Tensors expected = pairsOf(concrete(each.inputs));
  Tensors inputs;
  for (const Variable &variable : stablehlo_variables(concrete, options))
    inputs.push_back(variable.value());
  for (const Tensor &x : each.inputs)
    inputs.push_back(pairsOf(x));
  const StableHlo module = read_stablehlo(text, each.name);
  ASSERT_EQ(module.inputs().size(), inputs.size()) << text;
  for (const Tensors &made : {module(inputs), module.function()(inputs)}) {
    ASSERT_GE(made.size(), expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i)
      expectClose(made[i], expected[i]);
  }
}

class ExportedText : public ::testing::TestWithParam<ExportCase> {};
TEST_P(ExportedText, ComputesTheSame) { expectSame(GetParam()); }
std::vector<ExportCase> structuredCases() {
  std::vector<ExportCase> all = exportCases();
  for (ExportCase &each : stableHloExportCases())
    if (!each.takesChlo)
      all.push_back(std::move(each));
  // Which is refused, see below.
  std::erase_if(all, [](const ExportCase &each) { return each.name == "running_open"; });
  return all;
}
INSTANTIATE_TEST_SUITE_P(StableHlo, ExportedText, ::testing::ValuesIn(structuredCases()),
                         [](const auto &info) { return info.param.name; });

// The table of what is written and what is refused is made by the records.
void expectWrittenOrRefused(bool takesChlo, std::size_t fewest, std::size_t most) {
  std::map<std::string, int> written, refused;
  for (ExportCase &each : elementwiseExportCases()) {
    each.takesChlo = takesChlo;
    const std::string operation = each.name.substr(0, each.name.rfind('_'));
    try {
      (void)stablehlo_text(each.concrete(), {.chlo = takesChlo});
      ++written[operation];
    } catch (const ValueError &error) {
      EXPECT_CONTAINS(error.what(), "save_stablehlo: ");
      EXPECT_CONTAINS(error.what(), "Testing.h:"); // the line where the operation is called
      ++refused[operation];
      continue;
    }
    expectSame(each);
  }
  EXPECT_GE(written.size(), fewest);
  for (const auto &[name, count] : refused)
    std::cout << "refused: " << name << ", element types: " << count
              << (written.contains(name) ? " (others are written)" : "") << '\n';
  EXPECT_LE(refused.size(), most);
}
TEST(StableHloExport, ElementwiseOperationsAreWrittenOrRefusedByName) { expectWrittenOrRefused(false, 74, 25); }
TEST(StableHloExport, ElementwiseOperationsAreWrittenWithChlo) { expectWrittenOrRefused(true, 78, 21); }

//===-- What a module has -------------------------------------------------------------------------===//

TEST(StableHloExport, NamesAndSizesAreThoseOfTheFunction) {
  auto f = function(
      [](const Tensor &image, const std::vector<Tensor> &more) {
        return std::map<std::string, Tensor>{{"logits", image * 2}, {"loss", sum(more[0]) + sum(more[1])}};
      },
      {.name = "net", .argument_names = {"image", "more"}});
  const Tensor row(TensorSpec<float>({kDynamic, 3}));
  const auto concrete = f.get_concrete_function(row, std::vector<Tensor>{row, row});
  const StableHlo module = read_stablehlo(stablehlo_text(concrete));
  EXPECT_EQ(module.name(), "net");
  ASSERT_EQ(module.inputs().size(), 3u);
  EXPECT_EQ(module.inputs()[0].name, "image");
  EXPECT_EQ(module.inputs()[0].spec.str(), "float32[?,3]");
  EXPECT_EQ(module.inputs()[2].name, "more[1]");
  EXPECT_EQ(module.outputs()[0].name, "result[\"logits\"]");
  EXPECT_EQ(module.outputs()[1].spec.str(), "float32[]");

  const StableHlo named =
      read_stablehlo(stablehlo_text(f, {.inputs = {"x", "y", "z"}, .outputs = {"p", "a \"quoted\" name\n"}}));
  EXPECT_EQ(named.inputs()[1].name, "y");
  EXPECT_EQ(named.outputs()[0].name, "p");
  EXPECT_CONTAINS(errorOf<ValueError>([&] { (void)stablehlo_text(f, {.inputs = {"x"}}); }),
                  "save_stablehlo: the options name 1 inputs, and function 'net' has 3");
  EXPECT_CONTAINS(errorOf<ValueError>([&] { (void)stablehlo_text(f, {.outputs = {"x", "x"}}); }),
                  "save_stablehlo: the name 'x' is given to two of the outputs");
  EXPECT_CONTAINS(errorOf<ValueError>([&] { (void)stablehlo_text(f, {.outputs = {"x", ""}}); }),
                  "save_stablehlo: a name among the outputs is empty");
}

TEST(StableHloExport, AStepOfTrainingHasItsVariablesAsArgumentsAndResults) {
  const layers::Dense dense(2, {.name = "dense"});
  const Tensor x = tensor<float>({{1, 2, 3}, {4, 5, 6}}), y = tensor<float>({{1, 0}, {0, 1}});
  dense(x);
  optimizers::Adam adam(0.1);
  auto step = function([&](const Tensor &x, const Tensor &y) {
    return adam.minimize([&] { return mean(square(dense(x) - y)); }, dense.trainable_variables());
  });
  const auto concrete = step.get_concrete_function(x, y);
  const StableHlo module = read_stablehlo(stablehlo_text(concrete));
  EXPECT_EQ(module.inputs()[0].name, "dense/kernel");
  const std::vector<Variable> variables = stablehlo_variables(concrete);
  ASSERT_EQ(module.inputs().size(), variables.size() + 2);
  Tensors state;
  for (const Variable &each : variables)
    state.push_back(each.value());
  auto f = module.function();
  for (int i = 0; i < 3; ++i) {
    Tensors given = state;
    given.insert(given.end(), {x, y});
    const Tensors made = f(given);
    expectClose(made[0], step(x, y));
    // The learning rate is read alone, and stands behind the others.
    ASSERT_EQ(made.size(), variables.size());
    std::copy(made.begin() + 1, made.end(), state.begin());
    for (std::size_t k = 0; k < state.size(); ++k)
      expectClose(state[k], variables[k].value());
  }
}

TEST(StableHloExport, VariablesAreConstantsIfTheOptionsSaySo) {
  const Variable w(tensor<float>({1, 2}), {.name = "w"}), count(scalar<float>(0), {.name = "count"});
  auto f = function([&](const Tensor &x) {
    Variable(count).assign(count + 1);
    return x * w;
  });
  f(ones({2}));
  const StableHloExportOptions options{.variables = StableHloVariables::Constants};
  EXPECT_EQ(stablehlo_variables(f).size(), 2u);
  const std::vector<Variable> left = stablehlo_variables(f, options);
  ASSERT_EQ(left.size(), 1u);
  EXPECT_EQ(left[0].name(), "count");
  const StableHlo module = read_stablehlo(stablehlo_text(f, options));
  const Tensors made = module({scalar<float>(5), ones({2})});
  expectSameBits(made[0], tensor<float>({1, 2}));
  expectSameBits(made[1], scalar<float>(6));
  EXPECT_EQ(module.outputs()[1].name, "new_count");
}

// Numbers at the edges of each element type come back, also those that are no decimal numbers.
TEST(StableHloExport, ConstantsKeepTheirBits) {
  std::vector<Tensor> constants;
  for (const DTypeInfo &info : kDTypes) {
    if (is_complex(info.dtype))
      continue;
    for (std::size_t count : {1, 7, 40}) {
      std::vector<std::byte> bytes(count * size_of(info.dtype));
      for (std::size_t i = 0; i < bytes.size(); ++i)
        bytes[i] = std::byte(info.dtype == DType::Bool ? i % 2 : (i * 197 + count * 31) % 256);
      constants.push_back(tensor_from_bytes(info.dtype, bytes, {Size(count)}));
    }
    if (is_floating(info.dtype))
      for (double each : {0.1, 1.0, -0.0, 1e30, 3e-45, double(INFINITY), double(NAN), 65504.0, 1e22, 123456789.0})
        constants.push_back(cast(scalar<double>(each), info.dtype));
  }
  constants.push_back(zeros({0, 3}));
  auto f = function([&] { return constants; });
  const Tensors made = read_stablehlo(stablehlo_text(f.get_concrete_function()))({});
  ASSERT_EQ(made.size(), constants.size());
  for (std::size_t i = 0; i < made.size(); ++i)
    expectSameBits(made[i], constants[i]);
}

TEST(StableHloExport, LocationsNameTheUsersLine) {
  auto f = function([](const Tensor &x) { return mean(x); }); // this line
  const std::string text = stablehlo_text(f.get_concrete_function(TensorSpec<float>({3})), {.locations = true});
  EXPECT_CONTAINS(text, "loc(\"mean\"(");
  EXPECT_CONTAINS(text, "StableHloExportTest.cpp\":");
  expectClose(read_stablehlo(text)({tensor<float>({1, 2, 6})})[0], scalar<float>(3));
}

//===-- What is refused ---------------------------------------------------------------------------===//

template <typename F>
std::string refusal(const F &f, std::vector<TensorSpec<>> specs, StableHloExportOptions options = {}) {
  const Function<Tensors(const Tensors &)> traced([f](const Tensors &x) { return Tensors{f(x)}; });
  Tensors given;
  for (const TensorSpec<> &each : specs)
    given.emplace_back(each);
  const auto concrete = traced.get_concrete_function(given);
  return errorOf<ValueError>([&] { (void)stablehlo_text(concrete, std::move(options)); });
}

TEST(StableHloExport, WhatStableHloLacksIsRefusedByNameAndLine) {
  const TensorSpec<> matrix(DType::Float32, {3, 3}), open(DType::Float32, {kDynamic, 3});
  std::string error = refusal([](const Tensors &x) { return linalg::det(x[0]); }, {matrix});
  EXPECT_CONTAINS(error, "StableHLO has no operation for operation 'determinant', and it is not composed of others");
  EXPECT_CONTAINS(error, "StableHloExportTest.cpp:");
  EXPECT_CONTAINS(refusal([](const Tensors &x) { return gammainc(x[0], x[0]); }, {matrix}),
                  "gammainc: StableHLO has no operation for operation 'gammainc', and its function 'gammainc' is not "
                  "composed of others");
  EXPECT_CONTAINS(refusal([](const Tensors &x) { return zeta(x[0], x[0]); }, {matrix}),
                  "is not composed of others; with {.chlo = true} it is an operation of CHLO");
  EXPECT_CONTAINS(
      refusal([](const Tensors &x) { return cumsum(x[0]); }, {open}),
      "cumsum: operation 'cumsum' is written for known sizes alone, and they are float32[?,3]: give them in "
      "the types of get_concrete_function");
  EXPECT_CONTAINS(
      refusal([](const Tensors &x) { return conv(x[0], ones({3, 3, 1, 1}), {.strides = {2, 2}, .padding = "same"}); },
              {{DType::Float32, {1, kDynamic, 8, 1}}}),
      "the padding 'same' with a stride depends on a size that only the call knows, float32[1,?,8,1]");
}

TEST(StableHloExport, DerivativesOfLoopsOfUnknownLengthAreRefused) {
  auto body = [](const Tensors &x) {
    return grad([&](const Tensor &x) {
      const auto [i, y] = while_loop([](const Tensor &, const Tensor &y) { return sum(y) < 100; },
                                     [](const Tensor &i, const Tensor &y) { return std::tuple(i + 1, y * sin(y) + 1); },
                                     std::tuple(scalar<std::int32_t>(0), x));
      return sum(y);
    })(x[0]);
  };
  EXPECT_CONTAINS(refusal(body, {{DType::Float32, {2}}}),
                  "its derivative keeps values on a stack, which StableHLO has not (operation 'stack_empty')");
}

TEST(StableHloExport, EffectsAreRefusedOrLeftOut) {
  auto body = [](const Tensors &x) {
    print("x is", x[0]);
    return x[0] + 1;
  };
  const TensorSpec<> spec(DType::Float32, {2});
  EXPECT_CONTAINS(refusal(body, {spec}), "which is there for its effect; with {.leave_out_effects = true} the module "
                                         "is written without it");
  auto f = function([&](const Tensor &x) { return body({x}); });
  const std::string text = stablehlo_text(f.get_concrete_function(TensorSpec<float>({2})), {.leave_out_effects = true});
  expectSameBits(read_stablehlo(text)({ones({2})})[0], full({2}, 2.0F, DType::Float32));
}

TEST(StableHloExport, OperationsOfTheProgramAreRefused) {
  const Operation twice(
      {.name = "test.twice_written",
       .types = [](const std::vector<TensorSpec<>> &in) { return in; },
       .kernel = [](const KernelTensor *, const KernelTensor *, void *) -> std::int32_t { return 0; }});
  EXPECT_CONTAINS(refusal([&](const Tensors &x) { return twice({x[0]})[0]; }, {{DType::Float32, {2}}}),
                  "the operation 'test.twice_written' is the program's own, and no module of StableHLO has its code");
}

TEST(StableHloExport, LoopsWhoseSizesChangeAreRefused) {
  const std::string error = refusal(
      [](const Tensors &x) {
        const auto [i, y] = while_loop(
            [](const Tensor &i, const Tensor &) { return i < 3; },
            [](const Tensor &i, const Tensor &y) { return std::tuple(i + 1, concat({y, y}, 0)); },
            std::tuple(scalar<std::int32_t>(0), x[0]), {.shape_invariants = {std::nullopt, Shape{kDynamic}}});
        return y;
      },
      {{DType::Float32, {2}}});
  EXPECT_CONTAINS(error, "a loop variable has sizes that change, and those of StableHLO keep theirs");
}

TEST(StableHloExport, FunctionsAndFilesAreChecked) {
  auto f = function([](const Tensor &x) { return x + 1; });
  EXPECT_CONTAINS(errorOf<StateError>([&] { (void)stablehlo_text(f); }), "has no trace yet");
  f(ones({2}));
  f(ones({3}));
  EXPECT_CONTAINS(errorOf<StateError>([&] { (void)stablehlo_text(f); }), "has 2 traces, and one is to be taken");
  auto concrete = f.get_concrete_function(TensorSpec<float>({2}));
  auto outer = function([&](const Tensor &x) {
    (void)stablehlo_text(concrete);
    return x;
  });
  EXPECT_CONTAINS(errorOf<StateError>([&] { outer(ones({2})); }), "is called while a function is traced");
  const Folder folder;
  EXPECT_THROW(save_stablehlo(folder.file("no/such/folder.mlir"), concrete), DataError);
  save_stablehlo(folder.file("f.mlir"), concrete);
  expectSameBits(load_stablehlo(folder.file("f.mlir"))({ones({2})})[0], full({2}, 2.0F, DType::Float32));
}

} // namespace
} // namespace calque::testing
