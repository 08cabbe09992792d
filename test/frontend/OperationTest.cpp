// Operations of the user's own: what docs/operations-of-your-own.md says.
#include "Testing.h"

#include <algorithm>

using namespace calque;
using namespace calque::testing;

namespace {

std::int32_t cubeKernel(const KernelTensor *in, const KernelTensor *out, void *) {
  std::int64_t count = 1;
  for (std::int32_t i = 0; i < in[0].rank; ++i)
    count *= in[0].sizes[i];
  const auto *x = static_cast<const float *>(in[0].data);
  auto *y = static_cast<float *>(out[0].data);
  for (std::int64_t i = 0; i < count; ++i)
    y[i] = x[i] * x[i] * x[i];
  return 0;
}
std::int32_t failingKernel(const KernelTensor *, const KernelTensor *, void *data) {
  return *static_cast<std::int32_t *>(data);
}

std::vector<TensorSpec<>> floats(const std::vector<TensorSpec<>> &inputs) {
  if (inputs.size() != 1 || inputs[0].dtype() != DType::Float32)
    throw DTypeError("cube takes one tensor of float32");
  return inputs;
}

const Operation &cube() {
  static const Operation operation(
      {.name = "test_cube",
       .types = floats,
       .kernel = cubeKernel,
       .pullback = [](const std::vector<Tensor> &in, const std::vector<Tensor> &,
                      const std::vector<Tensor> &g) { return std::vector<Tensor>{3 * square(in[0]) * g[0]}; },
       .batching =
           [](const std::vector<Tensor> &in, const std::vector<bool> &batched) {
             EXPECT_TRUE(batched[0]);
             return cube()(in); // it works element by element
           }});
  return operation;
}
const Operation &bare() { // neither gradient nor batching rule
  static const Operation operation({.name = "test_bare", .types = floats, .kernel = cubeKernel});
  return operation;
}

void inBothModes(const std::function<Tensor(const Tensor &)> &body, const Tensor &x,
                 const std::vector<float> &expected) {
  for (bool compiled : {false, true}) {
    SCOPED_TRACE(compiled ? "compiled" : "eager");
    auto f = function<Tensor(const Tensor &)>(body);
    EXPECT_EQ((compiled ? f(x) : f.eager(x)).to_vector<float>(), expected);
  }
}

} // namespace

TEST(Operation, RunsItsKernel) {
  inBothModes([](const Tensor &x) { return cube()({x + 1})[0] * 2; }, tensor({0.0f, 1.0f, 2.0f}), {2, 16, 54});
  inBothModes([](const Tensor &x) { return cube()({x})[0]; }, zeros({0}), {});
  auto f = function<Tensor(const Tensor &)>([](const Tensor &x) { return cube()({x})[0]; });
  EXPECT_CONTAINS(f.ir("traced", ones({2})), "calque.extern");
  EXPECT_CONTAINS(f.ir("traced", ones({2})), "test_cube");
}

TEST(Operation, HasDerivativesOfEveryKind) {
  auto f = [](const Tensor &x) { return cube()({x})[0]; };
  Tensor x = tensor({1.0f, 2.0f});
  inBothModes([&](const Tensor &a) { return grad(f)(a); }, x, {3, 12});
  inBothModes([&](const Tensor &a) { return grad(grad(f))(a); }, x, {6, 12});
  inBothModes([&](const Tensor &a) { return jvp(f, a, tensor({1.0f, 10.0f})).second; }, x, {3, 120});
  inBothModes([&](const Tensor &a) { return jacobian(f)(a); }, x, {3, 0, 0, 12});
}

TEST(Operation, DoesManyExamplesByItsRuleOrOneAfterTheOther) {
  Tensor x = tensor({1.0f, 2.0f, 3.0f, 4.0f}, {2, 2});
  inBothModes([](const Tensor &a) { return vmap([](const Tensor &row) { return cube()({row})[0]; })(a); }, x,
              {1, 8, 27, 64});
  inBothModes([](const Tensor &a) { return vmap([](const Tensor &row) { return bare()({row})[0]; })(a); }, x,
              {1, 8, 27, 64});
  inBothModes([](const Tensor &a) { return vmap(grad([](const Tensor &row) { return cube()({row})[0]; }))(a); }, x,
              {3, 12, 27, 48});
}

// Found by calque-fuzz: an address that is taken once is handed over twice, and what it points to must live as long.
TEST(Operation, InputsLiveUntilTheLastKernelThatReadsThem) {
  inBothModes(
      [](const Tensor &x) {
        Tensor y = x + 1, first = cube()({y})[0], other = exp(x), second = cube()({y})[0];
        return concat({first, other, second, cube()({first})[0]});
      },
      tensor({0.0f}), {1, 1, 1, 1});
  inBothModes(
      [](const Tensor &x) {
        Tensor first = cube()({x})[0], other = sum(x + 1, {0}, true), second = bare()({first})[0];
        return concat({other, second});
      },
      tensor({2.0f}), {3, 512});
}

TEST(Operation, ErrorsOfItsTypeRuleHaveTheLineOfTheCall) {
  auto matrices = [](const std::vector<TensorSpec<>> &in) -> std::vector<TensorSpec<>> {
    if (in[0].shape().size() != 2)
      throw ShapeError("test_matrices: takes a matrix");
    if (in[0].dtype() != DType::Float32)
      throw std::invalid_argument("takes float32");
    return in;
  };
  const Operation operation({.name = "test_matrices", .types = matrices, .kernel = cubeKernel});
  unsigned line = 0;
  auto call = [&](const Tensor &x) {
    line = __LINE__ + 1;
    return operation({x})[0];
  };
  auto expectLine = [&](auto statement) {
    try {
      statement();
      ADD_FAILURE() << "no error";
    } catch (const ShapeError &error) {
      EXPECT_EQ(error.location().line, line);
      EXPECT_CONTAINS(error.what(), "test_matrices: takes a matrix\n  at ");
      EXPECT_STREQ(error.category(), "ShapeError");
    }
  };
  expectLine([&] { call(ones({3})); });
  expectLine([&] { function(call)(ones({3})); });
  expectLine([&] { vmap(call)(ones({2, 3})); });
  expectLine([&] { grad([&](const Tensor &x) { return sum(call(x)); })(ones({3})); });
  EXPECT_THROW(call(ones({2, 2}, DType::Float64)), std::invalid_argument);
}

TEST(Operation, WithoutAGradientIsALookupError) {
  for (bool compiled : {false, true}) {
    SCOPED_TRACE(compiled ? "compiled" : "eager");
    auto f = function<Tensor(const Tensor &)>([](const Tensor &x) {
      GradientTape tape;
      tape.watch(x);
      Tensor y = bare()({x})[0];
      return *tape.gradient(y, x);
    });
    std::string message = errorOf<LookupError>([&] { compiled ? f(ones({2})) : f.eager(ones({2})); });
    EXPECT_CONTAINS(message, "operation 'test_bare' at");
    EXPECT_CONTAINS(message, "has no gradient registered");
    EXPECT_CONTAINS(message, "OperationTest.cpp");
  }
  auto twice = [](const Tensor &x) { return bare()({x})[0] * 2; };
  Tensor two = ones({2});
  EXPECT_CONTAINS(errorOf<LookupError>([&] { grad(twice)(two); }), "grad: operation 'test_bare' at");
  EXPECT_CONTAINS(errorOf<LookupError>([&] { vjp(twice, two).second(two); }), "vjp: operation 'test_bare' at");
  EXPECT_CONTAINS(errorOf<LookupError>([&] { hvp(twice)(two, two); }), "hvp: operation 'test_bare' at");
  EXPECT_CONTAINS(errorOf<LookupError>([&] { hessian(twice)(two); }), "hessian: operation 'test_bare' at");
  EXPECT_CONTAINS(errorOf<LookupError>([&] { jacobian(twice)(two); }), "jacobian: operation 'test_bare' at");
  // Where no gradient would pass, none is missed.
  GradientTape tape;
  Tensor x = ones({2});
  tape.watch(x);
  Tensor y = x * stop_gradient(bare()({x})[0]);
  EXPECT_EQ(tape.gradient(y, x)->to_vector<float>(), (std::vector<float>{1, 1}));
}

// The operand of the operation in the checkpoint was made before the tape, at whose boundary it is.
TEST(Operation, WithoutAGradientMayStandBesideThePathInACheckpoint) {
  inBothModes(
      [](const Tensor &x) {
        Tensor before = x * 2;
        GradientTape tape;
        tape.watch(x);
        Tensor y = checkpoint([](const Tensor &a, const Tensor &b) { return a * bare()({b})[0]; })(x, before);
        return *tape.gradient(y, x);
      },
      tensor({1.0f, 2.0f}), {8, 64});
}

TEST(Operation, OverridesAreRefusedWhereThereIsNone) {
  EXPECT_CONTAINS(errorOf<LookupError>([] { GradientOverride("test_nothing", nullptr); }),
                  "there is no operation 'test_nothing'");
}

TEST(Operation, RefusesMisuse) {
  EXPECT_CONTAINS(errorOf<ValueError>([] { Operation({.name = "", .types = floats, .kernel = cubeKernel}); }),
                  "an operation needs a name");
  EXPECT_CONTAINS(errorOf<ValueError>([] { Operation({.name = "a\x1b", .types = floats, .kernel = cubeKernel}); }),
                  "the name of operation 'a\\x1b' has a control character");
  EXPECT_CONTAINS(errorOf<ValueError>([] { Operation({.name = "test_no_kernel", .types = floats}); }),
                  "'test_no_kernel' needs a type rule and a kernel");
  EXPECT_CONTAINS(errorOf<ValueError>([] { Operation({.name = "exp", .types = floats, .kernel = cubeKernel}); }),
                  "there is an operation 'exp' already");
  cube();
  EXPECT_CONTAINS(errorOf<ValueError>([] { Operation({.name = "test_cube", .types = floats, .kernel = cubeKernel}); }),
                  "'test_cube' already");
  EXPECT_CONTAINS(errorOf<DTypeError>([] { cube()({scalar(1)}); }), "cube takes one tensor of float32");
  Operation none(
      {.name = "test_none", .types = [](auto &) { return std::vector<TensorSpec<>>(); }, .kernel = cubeKernel});
  EXPECT_CONTAINS(errorOf<ValueError>([&] { none({ones({2})}); }), "test_none: the type rule gives no results");
  Operation open({.name = "test_open",
                  .types = [](auto &) { return std::vector<TensorSpec<>>{TensorSpec<float>({kDynamic})}; },
                  .kernel = cubeKernel});
  EXPECT_CONTAINS(errorOf<ShapeError>([&] { open({ones({2})}); }),
                  "test_open: the results' sizes must be known; one is float32[?]");
}

TEST(Operation, AFailingKernelFailsTheCall) {
  static std::int32_t code = 7;
  Operation failing({.name = "test_failing", .types = floats, .kernel = failingKernel, .data = &code});
  Variable w(scalar(1.0f), {.name = "w"});
  auto f = function<Tensor(const Tensor &)>([&](const Tensor &x) {
    w.assign(2.0f);
    return failing({x})[0];
  });
  EXPECT_CONTAINS(errorOf<ValueError>([&] { f(ones({2})); }), "test_failing: its kernel fails with 7");
  EXPECT_EQ(w.value().item<float>(), 1);
  EXPECT_CONTAINS(errorOf<ValueError>([&] { failing({ones({2})}); }), "fails with 7");
  code = 0;
  EXPECT_EQ(f(ones({2})).size(), 2);
  EXPECT_EQ(w.value().item<float>(), 2);
}

TEST(Operation, HostCallsCanNotStandInCheckpoints) {
  auto body = [](const Tensor &x) {
    return host_call([](std::span<const Tensor> in) { return in[0]; }, {x}, {TensorSpec<float>({2})});
  };
  EXPECT_CONTAINS(errorOf<StateError>([&] { checkpoint(body)(ones({2})); }),
                  "a host call can't stand in a pullback or a checkpoint");
  Tensor x = ones({2});
  EXPECT_EQ(jvp(body, x, x).first.to_vector<float>(), (std::vector<float>{1, 1}));
}

TEST(Operation, AFailingBatchingRuleIsACompileError) {
  Operation thrower({.name = "test_thrower",
                     .types = floats,
                     .kernel = cubeKernel,
                     .batching = [](auto &in, auto &) -> std::vector<Tensor> { return {matmul(in[0], in[0])}; }});
  Operation few({.name = "test_few", .types = floats, .kernel = cubeKernel, .batching = [](auto &, auto &) {
                   return std::vector<Tensor>();
                 }});
  Operation narrow({.name = "test_narrow", .types = floats, .kernel = cubeKernel, .batching = [](auto &in, auto &) {
                      return std::vector<Tensor>{sum(in[0], {1})};
                    }});
  Operation wide({.name = "test_wide", .types = floats, .kernel = cubeKernel, .batching = [](auto &in, auto &) {
                    return std::vector<Tensor>{cast(in[0], DType::Float64)};
                  }});
  auto with = [](const Operation &op) { return vmap([&](const Tensor &row) { return op({row})[0]; })(ones({2, 3})); };
  EXPECT_CONTAINS(errorOf<CompileError>([&] { with(thrower); }),
                  "has a batching rule that fails: test_thrower: matmul");
  EXPECT_CONTAINS(errorOf<CompileError>([&] { with(narrow); }),
                  "'test_narrow': result 0 of its batching rule is float32[2], and that of one example is float32[3]");
  EXPECT_CONTAINS(errorOf<CompileError>([&] { with(wide); }),
                  "'test_wide': result 0 of its batching rule is float64[2,3]");
  EXPECT_CONTAINS(errorOf<CompileError>([&] { with(few); }), "'test_few': its batching rule gives 0 results, not 1");
}

//===-- Ordered operations ------------------------------------------------------------------------===//

namespace {
std::vector<std::string> ran; // the ordered kernels that have run

template <int factor> std::int32_t scaleKernel(const KernelTensor *in, const KernelTensor *out, void *data) {
  ran.emplace_back(static_cast<const char *>(data));
  std::int64_t count = 1;
  for (std::int32_t i = 0; i < in[0].rank; ++i)
    count *= in[0].sizes[i];
  for (std::int64_t i = 0; i < count; ++i)
    static_cast<float *>(out[0].data)[i] = factor * static_cast<const float *>(in[0].data)[i];
  return 0;
}
char doubled[] = "doubled", transposed[] = "transposed", once[] = "once";

struct Told : OrderedPrograms {
  void begin(const std::vector<OrderedCall> &calls, SourceLocation) override {
    std::string text;
    for (const OrderedCall &call : calls)
      text += call.operation + "(" + call.inputs[0].str() + ") at line " + std::to_string(call.where.line) + "; ";
    programs.push_back(text);
    if (refuses)
      throw StateError("not now");
  }
  void failed(SourceLocation) override { ++failures; }
  std::vector<std::string> programs;
  int failures = 0;
  bool refuses = false;
};
const std::shared_ptr<Told> &told() {
  static const auto object = std::make_shared<Told>();
  return object;
}

// Linear: twice the operand. The transpose is another operation, so that tests tell the two.
const Operation &ordered() {
  static const Operation operation({.name = "test_ordered",
                                    .types = floats,
                                    .kernel = scaleKernel<2>,
                                    .data = doubled,
                                    .order = CallOrder::Repeatable,
                                    .transpose = "test_ordered_transpose",
                                    .programs = told()});
  static const Operation transpose({.name = "test_ordered_transpose",
                                    .types = floats,
                                    .kernel = scaleKernel<2>,
                                    .data = transposed,
                                    .order = CallOrder::Repeatable,
                                    .transpose = "test_ordered"});
  return operation;
}
const Operation &orderedOnce() {
  static const Operation operation(
      {.name = "test_once", .types = floats, .kernel = scaleKernel<3>, .data = once, .order = CallOrder::Once});
  return operation;
}
// What has run meanwhile.
template <typename F> std::vector<std::string> ranIn(F f) {
  ran.clear();
  f();
  return ran;
}
using Ran = std::vector<std::string>;
} // namespace

TEST(OrderedOperation, RunsInOrderUsedOrNot) {
  for (bool compiled : {false, true}) {
    SCOPED_TRACE(compiled ? "compiled" : "eager");
    auto f = function<Tensor(const Tensor &)>([](const Tensor &x) {
      ordered()({x});
      orderedOnce()({x});
      Tensor y = ordered()({x})[0];
      return y + ordered()({x})[0];
    });
    Tensor result;
    EXPECT_EQ(ranIn([&] { result = compiled ? f(ones({2})) : f.eager(ones({2})); }),
              (Ran{"doubled", "once", "doubled", "doubled"}));
    expectValues(result, {4, 4});
  }
}

TEST(OrderedOperation, RunsWhereTheProgramReachesIt) {
  auto f = function([](const Tensor &x, const Tensor &n) {
    Tensor y = x, i = scalar(0);
    while (i < n) {
      y = orderedOnce()({y})[0];
      i = i + 1;
    }
    if (y[0] > 10.0f)
      y = ordered()({y})[0];
    return y;
  });
  EXPECT_EQ(ranIn([&] { expectValues(f(ones({1}), scalar(2)), {9}); }), (Ran{"once", "once"}));
  EXPECT_EQ(ranIn([&] { expectValues(f(ones({1}), scalar(3)), {54}); }), (Ran{"once", "once", "once", "doubled"}));
}

TEST(OrderedOperation, HasDerivativesByItsTranspose) {
  auto f = [](const Tensor &x) { return ordered()({square(x)})[0]; };
  Tensor x = tensor({1.0f, 3.0f});
  inBothModes([&](const Tensor &a) { return grad(f)(a); }, x, {4, 12});
  inBothModes([&](const Tensor &a) { return grad(grad(f))(a); }, x, {4, 4});
  inBothModes([&](const Tensor &a) { return jvp(f, a, tensor({1.0f, 10.0f})).second; }, x, {4, 120});
  inBothModes([&](const Tensor &a) { return vmap(grad(f))(reshape(a, {2, 1})); }, x, {4, 12});
  auto slope = function(grad(f));
  slope(x);
  EXPECT_EQ(ranIn([&] { slope(x); }), (Ran{"doubled", "transposed"}));
  // The values of a checkpoint and of a branch are computed again where the derivative needs them.
  auto again = function(grad(checkpoint([](const Tensor &a) { return square(ordered()({a})[0]); })));
  again(x);
  EXPECT_EQ(ranIn([&] { again(x); }), (Ran{"doubled", "transposed"})); // the value itself is not asked for
  // A loop keeps them.
  auto loop = function(grad([](const Tensor &a) {
    Tensor y = a;
    for (int i = 0; i < 20; ++i)
      if (Tensor(y[0]) < 100.0f)
        y = square(ordered()({y})[0]);
    return y;
  }));
  loop(x);
  EXPECT_TRUE(std::ranges::count(ranIn([&] { loop(x); }), "transposed") > 0);
}

TEST(OrderedOperation, OfWhichNoneMayRepeatIsRefusedInACheckpointAndAPullback) {
  EXPECT_CONTAINS(
      errorOf<StateError>([] { checkpoint([](const Tensor &x) { return orderedOnce()({x})[0]; })(ones({1})); }),
      "test_once can't stand in a pullback or a checkpoint, which may run any number of times");
  EXPECT_CONTAINS(errorOf<StateError>([] {
                    custom_gradient([](const Tensor &x) {
                      return std::pair(x * 2, [](const Tensor &g) { return orderedOnce()({g})[0]; });
                    })(ones({1}));
                  }),
                  "test_once can't stand in a pullback or a checkpoint, which may run any number of times");
}

TEST(OrderedOperation, OfWhichNoneMayRepeatIsRefusedInABranchOfAGradient) {
  auto f = function([](const Tensor &x) {
    return cond(x[0] > 0.0f, [&] { return x * stop_gradient(orderedOnce()({x})[0]); }, [&] { return x; });
  });
  Tensor x = ones({1});
  GradientTape tape;
  tape.watch(x);
  Tensor y = f(x);
  EXPECT_CONTAINS(errorOf<StateError>([&] { tape.gradient(y, x); }),
                  "can't run again for a gradient that goes through its branch or loop");
}

TEST(OrderedOperation, IsRefusedInBranchesThatExamplesDecide) {
  EXPECT_CONTAINS(errorOf<CompileError>([] {
                    vmap([](const Tensor &x) {
                      return cond(x > 0, [&] { return ordered()({x})[0]; }, [&] { return x; });
                    })(ones({2}));
                  }),
                  "a branch has effects");
}

TEST(OrderedOperation, TellsItsObjectOfProgramsBeforeTheyRun) {
  auto f = function([](const Tensor &x, const Tensor &i) {
    Tensor y = ordered()({x})[0];
    return gather(ordered()({y})[0], i, 0);
  });
  told()->programs.clear();
  told()->refuses = true;
  EXPECT_EQ(ranIn([&] { EXPECT_CONTAINS(errorOf<StateError>([&] { f(ones({2}), scalar(0)); }), "not now"); }), Ran());
  told()->refuses = false;
  for (int call = 0; call < 3; ++call)
    f(ones({2}), scalar(0));
  const std::string line = std::to_string(__LINE__ - 9), next = std::to_string(__LINE__ - 8);
  const std::string text =
      "test_ordered(float32[2]) at line " + line + "; test_ordered(float32[2]) at line " + next + "; ";
  EXPECT_EQ(told()->programs, (std::vector<std::string>{text, text}));
  told()->failures = 0;
  EXPECT_THROW(f(ones({2}), scalar(5)), IndexError);
  EXPECT_EQ(told()->failures, 1);
}

TEST(OrderedOperation, HasTheTextOfItsFailure) {
  const Operation operation(
      {.name = "test_text",
       .types = floats,
       .kernel = [](const KernelTensor *, const KernelTensor *, void *) -> std::int32_t { return 7; },
       .failure = [](std::int32_t number) { return "the number is " + std::to_string(number); }});
  EXPECT_CONTAINS(errorOf<ValueError>([&] { operation({ones({1})}); }),
                  "test_text: its kernel fails: the number is 7\n");
}

TEST(OrderedOperation, IsRefusedWithWhatDoesNotFit) {
  auto define = [](OperationDefinition definition) {
    definition.types = floats;
    definition.kernel = cubeKernel;
    Operation{std::move(definition)};
  };
  const std::string text = "has a transpose, and so must be Repeatable and have no pullback";
  EXPECT_CONTAINS(errorOf<ValueError>([&] { define({.name = "test_wrong", .transpose = "test_ordered"}); }), text);
  EXPECT_CONTAINS(errorOf<ValueError>(
                      [&] { define({.name = "test_wrong", .order = CallOrder::Once, .transpose = "test_ordered"}); }),
                  text);
  // The transpose is asked for when a program runs it.
  const Operation half({.name = "test_half",
                        .types = floats,
                        .kernel = cubeKernel,
                        .order = CallOrder::Repeatable,
                        .transpose = "test_other_half"});
  EXPECT_CONTAINS(errorOf<LookupError>([&] { grad([&](const Tensor &x) { return half({x})[0]; })(ones({1})); }),
                  "operation 'test_other_half' is not registered");
}

TEST(OperationFamily, MakesOperationsByTheirNames) {
  static std::string made;
  registerOperations("test_family", [](const std::string &name) { made = name; });
  EXPECT_CONTAINS(errorOf<ValueError>([] { registerOperations("test_family", [](const std::string &) {}); }),
                  "there are operations 'test_family[...]' already");
  const Operation asks({.name = "test_asks",
                        .types = floats,
                        .kernel = cubeKernel,
                        .order = CallOrder::Repeatable,
                        .transpose = "test_family[a]"});
  EXPECT_THROW(grad([&](const Tensor &x) { return asks({x})[0]; })(ones({1})), LookupError);
  EXPECT_EQ(made, "test_family[a]");
}
