// Operations of the user's own: what docs/operations-of-your-own.md says.
#include "Testing.h"

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
