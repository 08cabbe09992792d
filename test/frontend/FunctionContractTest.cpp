// The rows of the contract of functions: docs/contract.md names the tests of each. Those of retraces are in
// RetracesTest.cpp.
#include "Testing.h"

using namespace calque;
using namespace calque::testing;

namespace {

Tensor twice(const Tensor &x) { return x + x; }

} // namespace

//===-- TensorSpec ------------------------------------------------------------------------------===//

TEST(FunctionContract, TensorSpecsReadAsTypes) {
  EXPECT_EQ(TensorSpec<float>({kDynamic, 3}).str(), "float32[?,3]");
  EXPECT_EQ(TensorSpec<double>({}).str(), "float64[]");
  EXPECT_EQ(TensorSpec<bool>(kAnyShape).str(), "bool[...]");
  EXPECT_EQ(TensorSpec(DType::Int64, {2}, "ids").str(), "int64[2]");
  EXPECT_EQ(TensorSpec(DType::Int64, {2}, "ids").name(), "ids");
  EXPECT_EQ(TensorSpec(DType::Float32, {2}), TensorSpec<float>({2}));
  EXPECT_FALSE(TensorSpec<>(DType::Float32, kAnyShape) == TensorSpec<float>({2}));
  EXPECT_CONTAINS(errorOf<ValueError>([] { TensorSpec<float>({-1}); }), "FunctionContractTest.cpp");
  EXPECT_THROW(TensorSpec<float>(kAnyShape).shape(), StateError);
}

TEST(FunctionContract, ATensorSpecIsNoTensorToComputeWith) {
  Tensor spec = TensorSpec<float>({kDynamic});
  EXPECT_CONTAINS(errorOf<StateError>([&] { spec + 1; }), "float32[?]");
  EXPECT_THROW(spec.to_vector<float>(), StateError);
  auto f = function(twice);
  EXPECT_THROW(f(spec), StateError);
  std::ostringstream text;
  text << spec;
  EXPECT_EQ(text.str(), "<any float32[?]>");
}

//===-- Input signature -------------------------------------------------------------------------===//

TEST(FunctionContract, InputSignatureRefusesOtherCalls) {
  auto f = function(twice, {.name = "f", .input_signature = {TensorSpec<float>({2}, "x")}});
  expectValues(f(ones({2})), {2, 2});
  std::string message = errorOf<SignatureError>([&] { f(ones({3})); });
  EXPECT_CONTAINS(message, "f: argument 0 'x' must be float32[2], not float32[3]");
  EXPECT_CONTAINS(message, "FunctionContractTest.cpp:" + std::to_string(__LINE__ - 2));
  EXPECT_THROW(f(ones({2, 1})), SignatureError);
  EXPECT_CONTAINS(errorOf<SignatureError>([&] { f(ones({2}, DType::Float64)); }), "not float64[2]");
  EXPECT_EQ(f.trace_count(), 1);
  // Inlined into another trace, and run eagerly, it refuses the same.
  auto g = function([&](const Tensor &x) { return f(x); });
  EXPECT_THROW(g(ones({3})), SignatureError);
  config::run_functions_eagerly(true);
  EXPECT_THROW(f(ones({3})), SignatureError);
  config::run_functions_eagerly(false);
}

TEST(FunctionContract, InputSignatureCountsTheTensors) {
  auto f = function([](const std::vector<Tensor> &all) { return all[0]; },
                    {.name = "f", .input_signature = {TensorSpec<float>({2}), TensorSpec<float>({3})}});
  expectValues(f({ones({2}), ones({3})}), {1, 1});
  EXPECT_CONTAINS(errorOf<SignatureError>([&] { f({ones({2})}); }), "f is declared with 2 tensors and called with 1");
  EXPECT_CONTAINS(errorOf<SignatureError>([&] { f({ones({2}), ones({2})}); }),
                  "argument 0[1] must be float32[3], not float32[2]");
}

//===-- Concrete functions ----------------------------------------------------------------------===//

TEST(FunctionContract, ConcreteFunctionsBindHostValues) {
  auto f = function([](const Tensor &x, int n, const std::string &how) { return how == "add" ? x + n : x * n; },
                    {.name = "f", .argument_names = {"x", "n"}});
  auto add = f.get_concrete_function(TensorSpec<float>({2}), 3, "add");
  EXPECT_EQ(f.trace_count(), 1);
  expectValues(add(ones({2}), 3, "add"), {4, 4});
  expectValues(add(ones({2})), {4, 4});
  EXPECT_EQ(f.trace_count(), 1);
  std::string message = errorOf<SignatureError>([&] { add(ones({2}), 4, "add"); });
  EXPECT_CONTAINS(message, "f: argument 1 'n' is bound to int 3, not int 4");
  EXPECT_CONTAINS(message, "FunctionContractTest.cpp:" + std::to_string(__LINE__ - 2));
  EXPECT_CONTAINS(errorOf<SignatureError>([&] { add(ones({2}), 3, "mul"); }),
                  "argument 2 is bound to string \"add\", not string \"mul\"");
  EXPECT_CONTAINS(errorOf<SignatureError>([&] { add(ones({3}), 3, "add"); }),
                  "argument 0 'x' must be float32[2], not float32[3]");
  EXPECT_CONTAINS(errorOf<SignatureError>([&] { add(ones({2}, DType::Int32)); }), "not int32[2]");
  EXPECT_EQ(f.trace_count(), 1);
  // A call of the function finds the same trace.
  expectValues(f(ones({2}), 3, "add"), {4, 4});
  EXPECT_EQ(f.trace_count(), 1);
}

TEST(FunctionContract, ConcreteFunctionsOfInputSignaturesNeedNoArguments) {
  auto body = [](const Tensor &x, const Tensor &y) { return x + y; };
  auto f = function(body, {.name = "f", .input_signature = {TensorSpec<float>({2}, "x"), TensorSpec<float>({2})}});
  auto g = f.get_concrete_function();
  expectValues(g(ones({2}), ones({2})), {2, 2});
  EXPECT_EQ(g.str(), "f\n  argument 0 'x': float32[2]\n  argument 1: float32[2]\n  result: float32[2]\n");
  EXPECT_CONTAINS(errorOf<SignatureError>([&] { function(body).get_concrete_function(); }),
                  "has 2 arguments and an input signature of 0 tensors");
  EXPECT_CONTAINS(
      errorOf<SignatureError>([&] { f.get_concrete_function(TensorSpec<float>({3}), TensorSpec<float>({2})); }),
      "argument 0 'x' must be float32[2], not float32[3]");
}

TEST(FunctionContract, ConcreteFunctionsShowThemselves) {
  auto f = function([](const Tensor &x, double by) { return std::pair(x * by, sum(x)); }, {.name = "scale"});
  auto g = f.get_concrete_function(TensorSpec<float>({2, 3}), 0.5);
  EXPECT_EQ(g.str(), "scale\n  argument 0: float32[2,3]\n  argument 1: double 0.5\n  result[0]: float32[2,3]\n  "
                     "result[1]: float32[]\n");
  EXPECT_EQ(g.argument_specs(), std::vector<TensorSpec<>>{TensorSpec<float>({2, 3})});
  EXPECT_EQ(g.result_specs(), (std::vector<TensorSpec<>>{TensorSpec<float>({2, 3}), TensorSpec<float>({})}));
  EXPECT_CONTAINS(g.ir("traced"), "func.func @scale(%arg0: tensor<2x3xf32>");
  EXPECT_CONTAINS(f.ir("traced", TensorSpec<float>({4, 4}), 0.5), "tensor<4x4xf32>");
}

TEST(FunctionContract, HostValuesAreNamedByTheirTypes) {
  enum class Kind : char { First, Second };
  auto textOf = [](const auto &value) {
    using T = std::decay_t<decltype(value)>;
    std::string text = function<Tensor(const T &)>([](const T &) { return ones({}); }, {.name = "f"})
                           .get_concrete_function(value)
                           .str();
    return text.substr(0, text.find("\n  result"));
  };
  EXPECT_EQ(textOf(0.01), "f\n  argument 0: double 0.01");
  EXPECT_EQ(textOf(0.1f), "f\n  argument 0: float 0.1");
  EXPECT_EQ(textOf(0.5L), "f\n  argument 0: long double 0.5");
  EXPECT_EQ(textOf(true), "f\n  argument 0: bool true");
  EXPECT_EQ(textOf(-3), "f\n  argument 0: int -3");
  EXPECT_EQ(textOf(3u), "f\n  argument 0: unsigned 3");
  EXPECT_EQ(textOf(std::int64_t(1) << 40), "f\n  argument 0: int64_t 1099511627776");
  EXPECT_EQ(textOf(~std::uint64_t(0)), "f\n  argument 0: uint64_t 18446744073709551615");
  EXPECT_EQ(textOf(static_cast<long long>(-5)), "f\n  argument 0: int64_t -5");
  EXPECT_EQ(textOf(std::int8_t(-7)), "f\n  argument 0: int8_t -7");
  EXPECT_EQ(textOf(std::uint16_t(9)), "f\n  argument 0: uint16_t 9");
  EXPECT_EQ(textOf('a'), "f\n  argument 0: char 97");
  EXPECT_EQ(textOf(Kind::Second), "f\n  argument 0: enum 1");
  EXPECT_EQ(textOf(std::string("sum")), "f\n  argument 0: string \"sum\"");
  EXPECT_EQ(textOf(std::vector<bool>{true, false}), "f\n  argument 0[0]: bool true\n  argument 0[1]: bool false");
  EXPECT_EQ(textOf(std::pair(1.5, 2)), "f\n  argument 0[0]: double 1.5\n  argument 0[1]: int 2");
  EXPECT_EQ(textOf(Shape{2, 3}), "f\n  argument 0[0]: size 2\n  argument 0[1]: size 3");
}

TEST(FunctionContract, ConcreteFunctionsAreInlinedAndChecked) {
  auto f = function([](const Tensor &x, int n) { return x * n; });
  auto three = f.get_concrete_function(TensorSpec<float>({2}), 3);
  auto g = function([&](const Tensor &x) { return three(x) + 1; });
  expectValues(g(ones({2})), {4, 4});
  EXPECT_THROW(g(ones({4})), SignatureError);
}

TEST(FunctionContract, ConcreteFunctionsOutliveEvictionAndClear) {
  auto f = function(twice, {.max_traces = 1});
  auto g = f.get_concrete_function(TensorSpec<float>({2}));
  f(ones({3}));
  f.clear();
  expectValues(g(ones({2})), {2, 2});
  EXPECT_EQ(f.trace_count(), 2);
}

TEST(FunctionContract, ConcreteFunctionsOfAnyRankTraceOncePerRank) {
  auto f = function([](const Tensor &x, int n) { return x * n; }, {.name = "f"});
  auto g = f.get_concrete_function(TensorSpec<float>(kAnyShape), 2);
  EXPECT_EQ(f.trace_count(), 0);
  EXPECT_EQ(g.str(), "f\n  argument 0: float32[...]\n  argument 1: int 2\n");
  EXPECT_CONTAINS(errorOf<StateError>([&] { g.ir("traced"); }), "has a trace for each");
  EXPECT_THROW(g.result_specs(), StateError);
  EXPECT_CONTAINS(errorOf<SignatureError>([&] { g(ones({2}), 3); }), "argument 1 is bound to int 2, not int 3");
  EXPECT_CONTAINS(errorOf<SignatureError>([&] { g(ones({2}, DType::Float64)); }),
                  "argument 0 must be float32[...], not float64[2]");
  EXPECT_EQ(f.trace_count(), 0);
}

TEST(FunctionContract, AVariableOfAConcreteFunctionCountsByItsType) {
  auto f = function([](Variable v, const Tensor &x) { return v * x; });
  Variable v(ones({2})), other(full({2}, 3)), wide(ones({3}));
  auto g = f.get_concrete_function(v, TensorSpec<float>({2}));
  expectValues(g(other, ones({2})), {3, 3});
  EXPECT_CONTAINS(errorOf<SignatureError>([&] { g(wide, ones({2})); }),
                  "argument 0 must be Variable float32[2], not Variable float32[3]");
}

//===-- Listing ---------------------------------------------------------------------------------===//

TEST(FunctionContract, ListingIsReadableAndStable) {
  enum class Mode { A, B };
  struct Options {
    Tensor weight;
    bool train;
  };
  auto f = function(
      [](const Tensor &x, Mode mode, const std::map<std::string, Tensor> &more, const Options &options, Variable v) {
        return std::map<std::string, Tensor>{{"sum", x + more.at("bias")}, {"weight", options.weight * v}};
      },
      {.name = "step", .argument_names = {"x"}});
  Variable v(scalar(1.0f), {.name = "v"});
  f(ones({2}), Mode::B, {{"bias", ones({2})}}, {scalar(1.0f), true}, v);
  f(ones({3}), Mode::A, {{"bias", ones({3})}}, {scalar(1.0f), false}, v);
  EXPECT_EQ(f.pretty_printed_concrete_signatures(), "step\n"
                                                    "  argument 0 'x': float32[2]\n"
                                                    "  argument 1: enum 1\n"
                                                    "  argument 2[\"bias\"]: float32[2]\n"
                                                    "  argument 3[0]: float32[]\n"
                                                    "  argument 3[1]: bool true\n"
                                                    "  argument 4: Variable float32[]\n"
                                                    "  result[\"sum\"]: float32[2]\n"
                                                    "  result[\"weight\"]: float32[]\n"
                                                    "step\n"
                                                    "  argument 0 'x': float32[3]\n"
                                                    "  argument 1: enum 0\n"
                                                    "  argument 2[\"bias\"]: float32[3]\n"
                                                    "  argument 3[0]: float32[]\n"
                                                    "  argument 3[1]: bool false\n"
                                                    "  argument 4: Variable float32[]\n"
                                                    "  result[\"sum\"]: float32[3]\n"
                                                    "  result[\"weight\"]: float32[]\n");
  auto none = function([](Variable a, Variable b) { a.assign(b); }, {.name = "none"});
  none(v, v);
  EXPECT_EQ(none.pretty_printed_concrete_signatures(), "none\n"
                                                       "  argument 0: Variable float32[]\n"
                                                       "  argument 1: Variable float32[], the same as argument 0\n"
                                                       "  no result\n");
}

//===-- Caps ------------------------------------------------------------------------------------===//

TEST(FunctionContract, MaxTracesEvictsTheLeastRecentlyUsed) {
  auto f = function(twice, {.name = "f", .max_traces = 2});
  f(ones({1}));
  f(ones({2}));
  f(ones({1}));
  f(ones({3})); // evicts [2]
  EXPECT_EQ(f.trace_count(), 3);
  f(ones({1}));
  f(ones({3}));
  EXPECT_EQ(f.trace_count(), 3);
  f(ones({2})); // evicts [1]
  EXPECT_EQ(f.trace_count(), 4);
  EXPECT_EQ(f.explain_retraces().back().note, "the trace for this signature was evicted or cleared");
  f(ones({3}));
  EXPECT_EQ(f.trace_count(), 4);
  std::string list = f.pretty_printed_concrete_signatures();
  EXPECT_EQ(list,
            "f\n  argument 0: float32[3]\n  result: float32[3]\nf\n  argument 0: float32[2]\n  result: float32[2]\n");
}

//===-- Methods ---------------------------------------------------------------------------------===//

namespace {
struct Model {
  explicit Model(float weight) : w(weight) {}
  Tensor forward(const Tensor &x) {
    ++runs;
    return x * w;
  }
  Tensor constant(const Tensor &x) const { return x + 1; }

  int runs = 0;
  Variable w;
  Method<Tensor(const Tensor &)> predict{this, &Model::forward, {.name = "predict"}};
  Method<Tensor(const Tensor &)> next{this, &Model::constant};
};
struct Derived : Model {
  using Model::Model;
};
// What a copy of a Function does, and a Method does not.
struct Copied {
  Tensor forward(const Tensor &x) { return x * factor; }
  float factor = 2;
  Function<Tensor(const Tensor &)> predict = function(this, &Copied::forward);
};
} // namespace

TEST(FunctionContract, MethodsHaveTheirObjectsCache) {
  Model a(2), b(3);
  EXPECT_EQ(a.predict(scalar(5.0f)).item<float>(), 10);
  EXPECT_EQ(a.predict(scalar(6.0f)).item<float>(), 12);
  EXPECT_EQ(a.runs, 1);
  EXPECT_EQ(b.predict.trace_count(), 0);
  EXPECT_EQ(b.predict(scalar(5.0f)).item<float>(), 15);
  EXPECT_EQ(a.next(scalar(1.0f)).item<float>(), 2);
  Derived d(4);
  auto f = function(&d, &Model::forward);
  EXPECT_EQ(f(scalar(5.0f)).item<float>(), 20);
  const Model &constant = a;
  EXPECT_EQ(function(&constant, &Model::constant)(scalar(5.0f)).item<float>(), 6);
}

TEST(FunctionContract, MethodsKeepTheirClassFromBeingCopied) {
  static_assert(!std::is_copy_constructible_v<Model> && !std::is_move_constructible_v<Model> &&
                !std::is_copy_assignable_v<Model>);
  static_assert(std::is_copy_constructible_v<Copied>);
  // The pitfall: the copy's function is the original's.
  Copied original, copy = original;
  copy.factor = 100;
  EXPECT_EQ(copy.predict(scalar(1.0f)).item<float>(), 2);
}

//===-- Tracing ---------------------------------------------------------------------------------===//

TEST(FunctionContract, TraceOnceCountsWithVariablesMadeInTheFirstTrace) {
  std::optional<Variable> w;
  int runs = 0;
  auto f = function([&](const Tensor &x) {
    ++runs;
    if (!w)
      w.emplace(ones({2}) * 3);
    w->assign_add(1);
    return x * *w;
  });
  expectValues(f(ones({2})), {4, 4});
  expectValues(f(ones({2})), {5, 5}); // the initial value is not assigned again
  EXPECT_EQ(runs, 1);
  EXPECT_EQ(f.trace_count(), 1);
  expectValues(f(ones({1})), {6, 6}); // a later trace uses the variable that is there
  EXPECT_EQ(f.trace_count(), 2);
  f.clear();
  expectValues(f(ones({1})), {7, 7});
  EXPECT_EQ(f.trace_count(), 3);
}

TEST(FunctionContract, HostValuesAreStaticAndTensorsAreNot) {
  auto f = function([](const Tensor &x, int n) { return x * n; });
  auto g = function([](const Tensor &x, const Tensor &n) { return x * n; });
  for (int n : {1, 2, 1, 2}) {
    EXPECT_EQ(f(scalar(3), n).item<int>(), 3 * n);
    EXPECT_EQ(g(scalar(3), scalar(n)).item<int>(), 3 * n);
  }
  EXPECT_EQ(f.trace_count(), 2);
  EXPECT_EQ(g.trace_count(), 1);
}

TEST(FunctionContract, VariableArgumentsMayChangeTheirValues) {
  auto f = function([](Variable v) { return v * 2; });
  Variable v(scalar(1.0f));
  EXPECT_EQ(f(v).item<float>(), 2);
  v.assign(5);
  EXPECT_EQ(f(v).item<float>(), 10);
  EXPECT_EQ(f.trace_count(), 1);
}

TEST(FunctionContract, OnlyWhatIsNeededRuns) {
  Variable v(scalar(0.0f));
  random::Generator dice(1);
  Tensor before = dice.state().value();
  auto f = function([&](const Tensor &x, const Tensor &i) {
    gather(x, i);                      // not used: dropped, though the index may be out of range
    scalar(1) / cast(i, DType::Int32); // nor is a division by zero one
    dice.uniform({2});                 // moves its state on
    print("x", x);
    v.assign(sum(x));
    return x + 1;
  });
  ::testing::internal::CaptureStdout();
  expectValues(f(ones({2}), scalar<std::int64_t>(7)), {2, 2});
  expectValues(f(ones({2}), scalar<std::int64_t>(0)), {2, 2});
  EXPECT_EQ(::testing::internal::GetCapturedStdout(), "x [1. 1.]\nx [1. 1.]\n");
  EXPECT_EQ(v.value().item<float>(), 2);
  EXPECT_NE(dice.state().value().to_vector<std::int64_t>(), before.to_vector<std::int64_t>());
  // Used, it fails.
  auto g = function([&](const Tensor &x, const Tensor &i) { return gather(x, i); });
  EXPECT_THROW(g(ones({2}), scalar<std::int64_t>(7)), IndexError);
}

TEST(FunctionContract, ManyOutputsComeFromOneCall) {
  Variable w(tensor<float>({1, 2}));
  auto f = function([&](const Tensor &x) {
    GradientTape tape;
    Tensor hidden = x * w, loss = sum(square(hidden));
    return std::tuple(loss, hidden, tape.gradient(loss, std::vector<Variable>{w}));
  });
  auto [loss, hidden, gradients] = f(tensor<float>({3, 4}));
  EXPECT_EQ(loss.item<float>(), 73); // 3^2 + 8^2
  expectValues(hidden, {3, 8});
  expectValues(*gradients[0], {18, 64}); // 2 w x^2
  EXPECT_EQ(f.trace_count(), 1);
}

// More of them than native code takes as arguments one by one.
TEST(FunctionContract, ManyArgumentsResultsAndVariables) {
  constexpr int kMany = 70;
  std::vector<Variable> variables;
  std::vector<Tensor> arguments;
  for (int i = 0; i < kMany; ++i) {
    variables.emplace_back(full({2, 3}, static_cast<float>(i)));
    arguments.push_back(full({i % 2 + 1, 3}, static_cast<float>(100 * i)));
  }
  auto body = [&](const std::vector<Tensor> &x) {
    std::vector<Tensor> results;
    for (int i = 0; i < kMany; ++i) {
      results.push_back(x[kMany - 1 - i] + variables[i]);
      if (i % 3 == 0)
        variables[i].assign_add(x[i]);
    }
    results.push_back(gather(x[1], tensor<std::int32_t>({0}))); // a check, and loops
    return results;
  };
  auto known = function(body);
  auto open = function(body, {.reduce_retracing = true});
  open(std::vector<Tensor>(kMany, ones({1, 3})));
  for (int i = 0; i < kMany; ++i)
    variables[i].assign(full({2, 3}, static_cast<float>(i)));
  for (int round = 0; round < 2; ++round) {
    std::vector<Tensor> results = round ? open(arguments) : known(arguments);
    for (int i = 0; i < kMany; ++i) {
      float before = static_cast<float>(i + (round && i % 3 == 0 ? 100 * i : 0));
      expectValues(results[i], std::vector<float>(6, static_cast<float>(100 * (kMany - 1 - i)) + before));
    }
    expectValues(results[kMany], {100, 100, 100});
  }
  for (int i = 0; i < kMany; ++i)
    expectValues(variables[i].value(), std::vector<float>(6, static_cast<float>(i + (i % 3 == 0 ? 200 * i : 0))));
}

TEST(FunctionContract, CallsPassFromNestedFunctionsWithTheirGradients) {
  auto cube = function([](const Tensor &x) { return x * x * x; });
  auto f = function([&](const Tensor &x) {
    GradientTape tape;
    tape.watch(x);
    return *tape.gradient(cube(x), x);
  });
  EXPECT_EQ(f(scalar(2.0f)).item<float>(), 12);
}

TEST(FunctionContract, LookingInsideAsAPicture) {
  Variable v(ones({2}), {.name = "v"});
  Tensor large = ones({20});
  auto f = function([&](const Tensor &x) { return std::pair(x * v, sum(large)); }, {.name = "picture"});
  std::string text = f.graph(ones({2}));
  EXPECT_TRUE(text.starts_with("digraph \"picture\" {\n  node [shape=box];\n  p0 [label=\"tensor 0\", shape=ellipse];\n"
                               "  p1 [label=\"capture 0\", shape=ellipse];\n"))
      << text;
  EXPECT_CONTAINS(text, "[label=\"variable_read v ");
  EXPECT_CONTAINS(text, "FunctionContractTest.cpp:");
  EXPECT_CONTAINS(text, " -> r0 [label=\"float32[2]\"];\n");
  EXPECT_CONTAINS(text, " -> r1 [label=\"float32[]\"];\n}\n");
  EXPECT_EQ(f.get_concrete_function(TensorSpec<float>({2})).graph(), text);
  EXPECT_EQ(f.trace_count(), 1);
}
