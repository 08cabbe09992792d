// Modules of StableHLO: those that JAX has lowered give JAX's values, in each way in which functions run.
#include "calque/stablehlo.h"

#include "calque/calque.h"
#include "calque/saved_functions.h"
#include "test/Tensors.h"
#include "test/frontend/Testing.h"
#include "test/interchange/Models.h"

#include <fstream>
#include <set>
#include <sstream>

namespace calque::testing {
namespace {

using onnx::Folder;

// A module of stablehlo_values.py.
StableHlo loaded(const std::string &name) { return load_stablehlo(CALQUE_STABLEHLO_DATA "/" + name + ".mlir"); }

void expectNear(const std::vector<Tensor> &given, const std::vector<Tensor> &wanted, double tolerance = 2e-5) {
  ASSERT_EQ(given.size(), wanted.size());
  for (std::size_t i = 0; i < given.size(); ++i) {
    ASSERT_EQ(given[i].dtype(), wanted[i].dtype()) << "result " << i;
    ASSERT_EQ(given[i].shape(), wanted[i].shape()) << "result " << i;
    if (is_complex(given[i].dtype())) {
      expectNear({real(given[i]), imag(given[i])}, {real(wanted[i]), imag(wanted[i])}, tolerance);
      continue;
    }
    const auto x = valuesOf(given[i]), y = valuesOf(wanted[i]);
    for (std::size_t k = 0; k < x.size(); ++k)
      EXPECT_TRUE((std::isnan(x[k]) && std::isnan(y[k])) || x[k] == y[k] ||
                  std::abs(x[k] - y[k]) <= tolerance * std::max(1.0, std::abs(y[k])))
          << "result " << i << ", element " << k << ": " << x[k] << " and " << y[k];
  }
}

class OfJax : public ::testing::TestWithParam<const char *> {};

TEST_P(OfJax, RunsEagerlyAndCompiled) {
  const StableHlo module = loaded(GetParam());
  const std::vector<Tensor> inputs = module.call("inputs", {}), expected = module.call("expected", {});
  expectNear(module(inputs), expected);
  expectNear(module.function()(inputs), expected);
}

INSTANTIATE_TEST_SUITE_P(StableHlo, OfJax,
                         ::testing::Values("mlp", "mlp-generic", "loss", "train", "open", "convolutions",
                                           "convolutions-gradient", "block", "scan", "loops", "branches", "sort",
                                           "random", "bits", "cumulative", "indices", "algebra", "special"),
                         [](const auto &test) {
                           std::string name = test.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST(StableHlo, GradientsAreThoseOfJax) {
  const StableHlo module = loaded("loss");
  const std::vector<Tensor> inputs = module.call("inputs", {}), expected = module.call("gradients", {});
  auto slopes = [&](const std::vector<Tensor> &at) {
    GradientTape tape;
    for (const Tensor &each : at)
      tape.watch(each);
    const Tensor loss = module(at)[0];
    std::vector<Tensor> all;
    for (const std::optional<Tensor> &each : tape.gradient(loss, at))
      all.push_back(each.value());
    return all;
  };
  expectNear(slopes(inputs), expected);
  expectNear(function(slopes)(inputs), expected);
}

TEST(StableHlo, HasSignatures) {
  const StableHlo module = loaded("loss");
  EXPECT_EQ(module.name(), "jit_loss");
  EXPECT_EQ(module.functions(), (std::vector<std::string>{"main", "inputs", "expected", "gradients"}));
  ASSERT_EQ(module.inputs().size(), 5u);
  EXPECT_EQ(module.inputs()[4].spec.str(), "float32[4,3]");
  ASSERT_EQ(module.outputs().size(), 1u);
  EXPECT_TRUE(module.outputs()[0].spec.shape().empty());
  EXPECT_NE(
      module.str().find("main(tensor<3x5xf32>, tensor<5xf32>, tensor<5x2xf32>, tensor<2xf32>, tensor<4x3xf32>) -> "
                        "(tensor<f32>)"),
      std::string::npos)
      << module.str();
  EXPECT_NE(module.str().find("stablehlo.gather"), std::string::npos);
}

TEST(StableHlo, OneTraceServesOpenSizes) {
  const StableHlo module = loaded("open");
  std::vector<Tensor> inputs = module.call("inputs", {});
  EXPECT_FALSE(module.inputs()[4].spec.shape().is_known());
  auto f = module.function();
  expectNear(f(inputs), module.call("expected", {}));
  const Tensor five = concat({inputs[4], inputs[4]}, 0);
  inputs[4] = slice(five, {0, 0}, {5, 3});
  EXPECT_EQ(f(inputs)[0].shape(), (Shape{5, 2}));
  EXPECT_EQ(f.trace_count(), 1);
}

TEST(StableHlo, IsMappedOverABatch) {
  const StableHlo module = loaded("block");
  std::vector<Tensor> inputs = module.call("inputs", {});
  const Tensor expected = module(inputs)[0];
  const Tensor twice = stack({inputs[0], inputs[0]});
  const Tensor mapped =
      vmap([&](const Tensor &embedding) { return module({embedding, inputs[1], inputs[2], inputs[3]})[0]; })(twice);
  ASSERT_EQ(mapped.shape()[0], 2);
  expectNear({mapped[1]}, {expected});
}

TEST(StableHlo, IsSavedAndLoaded) {
  const StableHlo module = loaded("train");
  const std::vector<Tensor> inputs = module.call("inputs", {});
  const Folder folder;
  const std::string path = folder.file("train.calque");
  save_functions(path, {{"step", module.function().get_concrete_function(inputs)}});
  expectNear(load_functions(path)["step"](inputs), module.call("expected", {}));
}

//===-- Text -------------------------------------------------------------------------------------===//

// The results of a module's main without arguments, eagerly and compiled.
std::vector<Tensor> of(const std::string &body, const std::string &types, const std::string &results) {
  const StableHlo module = read_stablehlo("func.func @main() -> (" + types + ") {\n" + body + "  return " + results +
                                          " : " + types + "\n}\n");
  const std::vector<Tensor> eager = module({}), compiled = module.function()({});
  for (std::size_t i = 0; i < eager.size(); ++i)
    expectSameBits(eager[i], compiled[i]);
  return eager;
}

TEST(StableHlo, ReadsConstantsOfAllForms) {
  const std::vector<Tensor> all = of(R"(
  %0 = stablehlo.constant dense<[[1, -2], [0x7F, 3]]> : tensor<2x2xi8>
  %1 = "stablehlo.constant"() {value = dense<"0x0000803F00000040"> : tensor<2xf32>} : () -> tensor<2xf32>
  %2 = stablehlo.constant dense<(1.0, -2.0)> : tensor<3xcomplex<f32>>
  %3 = stablehlo.constant dense<[0x7FC0, 1.5]> : tensor<2xbf16>
  %4 = stablehlo.constant dense<[true, false]> : tensor<2xi1>
  %5 = stablehlo.constant dense<18446744073709551615> : tensor<ui64>
  %6 = stablehlo.constant dense<> : tensor<0x3xf32>
  %7 = stablehlo.constant dense<7> : tensor<300xi32> // more than are written one by one
)",
                                     "tensor<2x2xi8>, tensor<2xf32>, tensor<3xcomplex<f32>>, tensor<2xbf16>, "
                                     "tensor<2xi1>, tensor<ui64>, tensor<0x3xf32>, tensor<300xi32>",
                                     "%0, %1, %2, %3, %4, %5, %6, %7");
  EXPECT_EQ(all[0].to_vector<std::int8_t>(), (std::vector<std::int8_t>{1, -2, 127, 3}));
  EXPECT_EQ(all[1].to_vector<float>(), (std::vector<float>{1, 2}));
  EXPECT_EQ(all[2].to_vector<complex64>()[2], complex64(1, -2));
  EXPECT_TRUE(std::isnan(float(all[3].to_vector<bfloat16>()[0])));
  EXPECT_EQ(all[5].item<std::uint64_t>(), UINT64_MAX);
  EXPECT_EQ(all[6].shape(), (Shape{0, 3}));
  EXPECT_EQ(all[7].shape(), (Shape{300}));
}

TEST(StableHlo, BodiesOfAnyKindReduceSortAndScatter) {
  const std::vector<Tensor> all = of(R"(
  %x = stablehlo.constant dense<[3, 1, 4, 1, 5]> : tensor<5xi32>
  %c = stablehlo.constant dense<0> : tensor<i32>
  %two = stablehlo.constant dense<2> : tensor<i32>
  // 2 a + b, which takes its elements in their order: pairs first.
  %0 = stablehlo.reduce(%x init: %c) across dimensions = [0] : (tensor<5xi32>, tensor<i32>) -> tensor<i32>
    reducer(%a: tensor<i32>, %b: tensor<i32>) {
      %m = stablehlo.multiply %a, %two : tensor<i32>
      %s = stablehlo.add %m, %b : tensor<i32>
      stablehlo.return %s : tensor<i32>
    }
  // By the remainder of a division by 3, then descending.
  %1 = "stablehlo.sort"(%x) ({
    ^bb0(%a: tensor<i32>, %b: tensor<i32>):
      %three = stablehlo.constant dense<3> : tensor<i32>
      %p = stablehlo.remainder %a, %three : tensor<i32>
      %q = stablehlo.remainder %b, %three : tensor<i32>
      %l = stablehlo.compare LT, %p, %q : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %e = stablehlo.compare EQ, %p, %q : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %g = stablehlo.compare GT, %a, %b : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %and = stablehlo.and %e, %g : tensor<i1>
      %or = stablehlo.or %l, %and : tensor<i1>
      stablehlo.return %or : tensor<i1>
  }) {dimension = 0 : i64, is_stable = true} : (tensor<5xi32>) -> tensor<5xi32>
  %i = stablehlo.constant dense<[[1], [1], [7]]> : tensor<3x1xi32>
  %u = stablehlo.constant dense<[10, 20, 30]> : tensor<3xi32>
  %2 = "stablehlo.scatter"(%x, %i, %u) ({
    ^bb0(%a: tensor<i32>, %b: tensor<i32>):
      %m = stablehlo.multiply %a, %two : tensor<i32>
      %s = stablehlo.add %m, %b : tensor<i32>
      stablehlo.return %s : tensor<i32>
  }) {scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0],
      index_vector_dim = 1>} : (tensor<5xi32>, tensor<3x1xi32>, tensor<3xi32>) -> tensor<5xi32>
)",
                                     "tensor<i32>, tensor<5xi32>, tensor<5xi32>", "%0, %1, %2");
  // ((3 . 1) . (4 . 1)) . 5 with a . b = 2 a + b: (7 . 9) . 5 = 23 . 5 = 51, and 0 . 51.
  EXPECT_EQ(all[0].item<std::int32_t>(), 51);
  EXPECT_EQ(all[1].to_vector<std::int32_t>(), (std::vector<std::int32_t>{3, 4, 1, 1, 5}));
  // (1 . 10) . 20 = 12 . 20 = 44; index 7 is outside.
  EXPECT_EQ(all[2].to_vector<std::int32_t>(), (std::vector<std::int32_t>{3, 44, 4, 1, 5}));
}

TEST(StableHlo, TuplesTokensAndPadding) {
  const std::vector<Tensor> all = of(R"(
  %x = stablehlo.constant dense<[1, 2, 3]> : tensor<3xi64>
  %v = stablehlo.constant dense<9> : tensor<i64>
  %t = stablehlo.after_all : !stablehlo.token
  %0 = stablehlo.pad %x, %v, low = [-1], high = [2], interior = [1] : (tensor<3xi64>, tensor<i64>) -> tensor<6xi64>
  %1 = stablehlo.tuple %0, %t : tuple<tensor<6xi64>, !stablehlo.token>
  %2 = stablehlo.get_tuple_element %1[0] : (tuple<tensor<6xi64>, !stablehlo.token>) -> tensor<6xi64>
)",
                                     "tensor<6xi64>", "%2");
  EXPECT_EQ(all[0].to_vector<std::int64_t>(), (std::vector<std::int64_t>{9, 2, 9, 3, 9, 9}));
}

//===-- Errors -----------------------------------------------------------------------------------===//

std::string readError(const std::string &text) {
  const std::string error = errorOf<DataError>([&] { read_stablehlo(text, "m.mlir"); });
  return error.substr(0, error.find("\n  at"));
}
std::string inMain(const std::string &line) {
  return "func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {\n  " + line + "\n  return %x : tensor<2xf32>\n}\n";
}

TEST(StableHloErrors, TextThatIsNoStableHlo) {
  EXPECT_EQ(readError("module {"), "m.mlir:1: expected '}' at the end of a module, found the end");
  EXPECT_EQ(readError("hello"), "m.mlir:1: 'hello' stands outside of functions");
  EXPECT_EQ(readError(inMain("%y = stablehlo.add %x, %z : tensor<2xf32>")),
            "m.mlir:2: '%z' is read before it is computed");
  EXPECT_EQ(readError(inMain("%x = stablehlo.abs %x : tensor<2xf32>")), "m.mlir:2: a second value '%x'");
  EXPECT_EQ(readError(inMain("%y = stablehlo.constant dense<[1.0]> : tensor<2xf32>")),
            "m.mlir:2: 1 elements in 1 brackets are given, but the type is tensor<2xf32>");
  EXPECT_EQ(readError(inMain("%y = stablehlo.constant dense<300> : tensor<i8>")),
            "m.mlir:2: '300' is no element of the type int8");
  EXPECT_EQ(readError(inMain("%y = stablehlo.constant dense<\"0x00\"> : tensor<2xf32>")),
            "m.mlir:2: elements have 1 bytes, but tensor<2xf32> takes 2 times 4");
  EXPECT_EQ(readError(inMain("%y = stablehlo.constant dense<1> : tensor<9999999999x9999999999xi8>")),
            "m.mlir:2: tensor<9999999999x9999999999xi8> has more elements than memory can hold");
  EXPECT_EQ(readError(inMain("%y = stablehlo.abs %x : " + std::string(500, '('))),
            "m.mlir:2: more than 200 regions, lists or types are inside of each other");
  EXPECT_EQ(readError(std::string("ML\xEFR") + "\x06"), "m.mlir is MLIR's bytecode; text is read");
}

TEST(StableHloErrors, WhatCalqueDoesNotHave) {
  EXPECT_EQ(readError(inMain("%y = stablehlo.send %x : tensor<2xf32>")),
            "m.mlir:2: the operation stablehlo.send, which Calque does not have");
  EXPECT_EQ(readError(inMain("%y = stablehlo.convert %x : (tensor<2xf32>) -> tensor<2xi4>")),
            "m.mlir:2: a result of stablehlo.convert has the element type i4, which Calque does not have");
  EXPECT_EQ(readError(inMain("call @other(%x) : (tensor<2xf32>) -> ()")),
            "m.mlir:2: func.call of the function 'other', which the text does not have");
  EXPECT_EQ(readError("func.func @f(%x: tensor<*xf32>) { return }"),
            "m.mlir:1: a tensor of unknown rank: types with ranks are read");
}

std::string runError(const std::string &line) {
  const StableHlo module = read_stablehlo(inMain(line), "m.mlir");
  const std::string error = errorOf<Error>([&] { module({tensor<float>({1, 2})}); });
  EXPECT_EQ(errorOf<Error>([&] { module.function()({tensor<float>({1, 2})}); }).substr(0, 30), error.substr(0, 30));
  return error.substr(0, error.find("\n  at"));
}

TEST(StableHloErrors, NameTheOperationAndItsLine) {
  EXPECT_EQ(runError("%y = stablehlo.transpose %x, dims = [0, 1] : (tensor<2xf32>) -> tensor<2xf32>"),
            "stablehlo.transpose in line 2 of m.mlir: the permutation has 2 numbers, expected 1");
  EXPECT_EQ(runError("%y = stablehlo.custom_call @mine(%x) : (tensor<2xf32>) -> tensor<2xf32>"),
            "stablehlo.custom_call in line 2 of m.mlir: a custom call of 'mine', which Calque does not have");
  EXPECT_EQ(runError("%y = stablehlo.abs %x : (tensor<2xf32>) -> tensor<3xf32>"),
            "stablehlo.abs in line 2 of m.mlir: result 0 is float32[2], but the text says tensor<3xf32>");
  EXPECT_EQ(runError("%y = stablehlo.slice %x [0:3] : (tensor<2xf32>) -> tensor<3xf32>").substr(0, 36),
            "stablehlo.slice in line 2 of m.mlir:");
}

TEST(StableHloErrors, OfCallers) {
  const StableHlo module = read_stablehlo(inMain(""), "m.mlir");
  auto text = [](const std::string &error) { return error.substr(0, error.find("\n  at")); };
  EXPECT_EQ(text(errorOf<SignatureError>([&] { module({}); })), "'main' of m.mlir has 1 arguments; 0 were given");
  EXPECT_EQ(text(errorOf<SignatureError>([&] { module({tensor<float>({1})}); })),
            "argument 0 of 'main' of m.mlir is float32[2]; float32[1] was given");
  EXPECT_EQ(text(errorOf<LookupError>([&] { module.call("f", {}); })),
            "m.mlir has no public function 'f'; it has 'main'");
  EXPECT_EQ(text(errorOf<StateError>([&] { StableHlo().name(); })), "an empty StableHlo: load_stablehlo() makes one");
}

TEST(StableHloErrors, OfRegionsAndResults) {
  auto error = [](const std::string &text) {
    const StableHlo module = read_stablehlo(text, "m.mlir");
    const std::string what = errorOf<Error>([&] { module({tensor<float>({1, 2})}); });
    return what.substr(0, what.find("\n  at"));
  };
  EXPECT_EQ(error("func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {\n  %y = call @main(%x) : (tensor<2xf32>) -> "
                  "tensor<2xf32>\n  return %y : tensor<2xf32>\n}\n"),
            "m.mlir: more than 100 calls of functions are inside of each other, the last one of 'main'");
  EXPECT_EQ(error(inMain("%y = call @main() : () -> tensor<2xf32>")),
            "m.mlir: a region or function of 1 arguments is given 0");
  EXPECT_EQ(error(inMain("%y:2 = stablehlo.abs %x : (tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>)")),
            "stablehlo.abs in line 2 of m.mlir: 1 results are computed, and the text has 2");
  EXPECT_EQ(error(inMain("%y = stablehlo.tuple %x : tensor<2xf32>")),
            "stablehlo.tuple in line 2 of m.mlir: result 0 is a tuple, but the text says tensor<2xf32>");
  EXPECT_EQ(error(inMain("%y = stablehlo.after_all : tensor<2xf32>")),
            "stablehlo.after_all in line 2 of m.mlir: result 0 is a token, but the text says tensor<2xf32>");
  EXPECT_NE(error(inMain("%y = stablehlo.bitcast_convert %x : (tensor<2xf32>) -> tensor<f64>\n"
                         "  %z = stablehlo.bitcast_convert %y : (tensor<f64>) -> tensor<2xf32>\n"
                         "  %b = stablehlo.convert %x : (tensor<2xf32>) -> tensor<2xi8>\n"
                         "  %c = stablehlo.bitcast_convert %b : (tensor<2xi8>) -> tensor<i32>"))
                .find("elements of int32 take 4 of int8 each, which the last dimension has to have; its shape is [2]"),
            std::string::npos);
}

TEST(StableHloErrors, OfFunctionsWithTokens) {
  auto text = [](const std::string &error) { return error.substr(0, error.find("\n  at")); };
  const StableHlo module = read_stablehlo("func.func @main(%t: !stablehlo.token) -> !stablehlo.token {\n  return %t : "
                                          "!stablehlo.token\n}\nfunc.func @made() -> !stablehlo.token {\n  %t = "
                                          "stablehlo.create_token : !stablehlo.token\n  return %t : "
                                          "!stablehlo.token\n}\n",
                                          "m.mlir");
  EXPECT_EQ(text(errorOf<StateError>([&] { module.inputs(); })),
            "argument 0 of 'main' has the type token, which is no tensor");
  EXPECT_EQ(text(errorOf<StateError>([&] { module.call("made", {}); })),
            "'made' of m.mlir has a result that is no tensor");
  EXPECT_EQ(text(errorOf<LookupError>([&] { read_stablehlo("module {}", "m.mlir").call("main", {}); })),
            "m.mlir has no public function 'main'; it has none");
}

// Each text with a byte less or another one is read or refused; what is read runs or throws.
TEST(StableHloErrors, DamagedTextsAreRefused) {
  std::ostringstream read;
  read << std::ifstream(CALQUE_STABLEHLO_DATA "/mlp-generic.mlir").rdbuf()
       << std::ifstream(CALQUE_STABLEHLO_DATA "/mlp.mlir").rdbuf();
  const std::string text = read.str();
  int refused = 0;
  for (std::size_t i = 0; i < text.size(); i += 7) {
    std::string cut = text;
    cut.erase(i, 1);
    std::string other = text;
    other[i] = "<>(){}[]\"%,:x0"[i % 14];
    for (const std::string &each : {cut, other, text.substr(0, i)})
      try {
        read_stablehlo(each, "m.mlir");
      } catch (const DataError &) {
        ++refused;
      }
  }
  EXPECT_GT(refused, 1000);
}

//===-- The page ---------------------------------------------------------------------------------===//

TEST(StableHlo, ThePageListsTheOperations) {
  std::set<std::string> listed;
  std::ifstream page(CALQUE_STABLEHLO_PAGE);
  ASSERT_TRUE(page);
  for (std::string line; std::getline(page, line);)
    for (std::size_t at = 0; line.starts_with("| ") && (at = line.find('`', at)) != std::string::npos; ++at) {
      const std::size_t end = line.find('`', at + 1);
      const std::string name = line.substr(at + 1, end - at - 1);
      if (name.find('.') != std::string::npos)
        listed.insert(name);
      at = end;
    }
  const std::vector<std::string> known = stablehlo_operations();
  EXPECT_EQ(listed, std::set<std::string>(known.begin(), known.end()));
}

} // namespace
} // namespace calque::testing
