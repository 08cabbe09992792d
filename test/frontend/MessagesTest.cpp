// The front end's messages as docs/messages.md has them, where no other test does.
#include "Testing.h"

#include "frontend/compiled/CompilerSettings.h"

#include <cmath>

using namespace calque;
using namespace calque::testing;

namespace {

// As many tensors as there are, and nothing that says how many.
struct Bag {
  std::vector<Tensor> parts;
  explicit Bag(std::vector<Tensor> parts) : parts(std::move(parts)) {}
};

Tensor twice(const Tensor &x) { return x + x; }
const TensorSpec<float> anyRows({kDynamic, 2});

} // namespace

template <> struct calque::Structure<Bag> {
  template <typename V> static void visit(const Bag &x, V &v) {
    for (const Tensor &part : x.parts)
      visit_structure(part, v);
  }
  template <typename M> static Bag map(const Bag &x, M &m) { return Bag(map_structure(x.parts, m)); }
};

TEST(Messages, OfMatmulSayWhatIsTransposed) {
  Tensor a = ones({2, 3}), b = ones({4, 5});
  auto message = [&](const Tensor &x, const Tensor &y, MatmulOptions options = {}) {
    return errorOf<ShapeError>([&] { matmul(x, y, options); });
  };
  EXPECT_CONTAINS(message(a, b),
                  "matmul: the inner dimensions are 3 and 4 and must be equal; the shapes are [2,3] and [4,5]\n  at ");
  EXPECT_CONTAINS(message(a, b, {.transpose_a = true}), "matmul: the inner dimensions are 2 and 4 and must be equal; "
                                                        "the shapes are [2,3] and [4,5], the first transposed");
  EXPECT_CONTAINS(message(a, b, {.transpose_b = true}), "matmul: the inner dimensions are 3 and 5 and must be equal; "
                                                        "the shapes are [2,3] and [4,5], the second transposed");
  EXPECT_CONTAINS(message(a, b, {.transpose_a = true, .transpose_b = true}),
                  "the inner dimensions are 2 and 5 and must be equal; the shapes are [2,3] and [4,5], the first "
                  "transposed, the second transposed");
  EXPECT_CONTAINS(message(a, ones({})), "matmul: a scalar is no matrix and no vector; the shapes are [2,3] and []; "
                                        "a * b multiplies by a scalar");
  EXPECT_CONTAINS(message(ones({2}), a, {.transpose_a = true}),
                  "matmul: a vector has no two dimensions to transpose; the shapes are [2] and [2,3]");
  EXPECT_CONTAINS(message(ones({3}), b),
                  "matmul: the inner dimensions are 3 and 4 and must be equal; the shapes are [3] and [4,5]");
  EXPECT_CONTAINS(message(ones({2, 1, 1}), ones({3, 1, 1})),
                  "matmul: the batch dimensions of [2,1,1] and [3,1,1] don't broadcast: sizes 2 and 3 must be equal, "
                  "or one of them 1");
}

TEST(Messages, OfTargetsSayWhatTheCpuRuns) {
  using runtime::Cpu;
  EXPECT_EQ(detail::targetOf("avx2", Cpu::Avx2), Cpu::Avx2);
  EXPECT_EQ(detail::targetOf("baseline", Cpu::Avx512), Cpu::Baseline);
  EXPECT_CONTAINS(errorOf<ValueError>([] { detail::targetOf("avx512", Cpu::Avx2); }),
                  "CALQUE_TARGET is 'avx512', whose code this CPU can't run; it runs that of baseline and avx2");
  EXPECT_CONTAINS(errorOf<ValueError>([] { detail::targetOf("AVX2", Cpu::Avx2); }),
                  "CALQUE_TARGET is 'AVX2' and must be one of baseline, avx2, avx512 and avx512vnni");
  // Another instruction set has other targets: none of them runs here, whatever its place in the list.
  EXPECT_EQ(detail::targetOf("aarch64", Cpu::Aarch64), Cpu::Aarch64);
  for (const char *other : {"baseline", "avx2", "avx512", "avx512vnni"})
    EXPECT_CONTAINS(errorOf<ValueError>([&] { detail::targetOf(other, Cpu::Aarch64); }),
                    "whose code this CPU can't run; it runs that of aarch64");
  EXPECT_CONTAINS(
      errorOf<ValueError>([] { detail::targetOf("aarch64", Cpu::Avx512); }),
      "CALQUE_TARGET is 'aarch64', whose code this CPU can't run; it runs that of baseline, avx2 and avx512");
  EXPECT_CONTAINS(errorOf<ValueError>([] { detail::targetOf("neon", Cpu::Aarch64); }),
                  "CALQUE_TARGET is 'neon' and must be one of aarch64");
}

TEST(Messages, OfTensorsNameShapesAndTypes) {
  Tensor x = tensor<float>({1, 2});
  EXPECT_CONTAINS(errorOf<DTypeError>([&] { x.data<int>(); }), "the elements are float32, not int32");
  EXPECT_CONTAINS(errorOf<ShapeError>([&] { x.item<float>(); }),
                  "item() needs a tensor of one element; this one has shape [2]");
  EXPECT_CONTAINS(errorOf<ValueError>([] { tensor<float>({1, 2, 3}, {2, 2}); }),
                  "a tensor of shape [2,2] has 4 elements, not 3");
  EXPECT_CONTAINS(errorOf<ValueError>([] { zeros({-1}); }), "a shape has no negative sizes; this one is [-1]");
  EXPECT_CONTAINS(errorOf<ShapeError>([] { zeros({1LL << 40, 1LL << 40}); }),
                  "a tensor of shape [1099511627776,1099511627776] has more bytes than can be addressed");
  EXPECT_CONTAINS(errorOf<StateError>([] { Tensor().shape(); }), "an empty tensor is used; it was never given a value");
  EXPECT_CONTAINS(errorOf<DivisionError>([] { tensor<int>({1}) / tensor<int>({0}); }),
                  "div: an integer is divided by zero");
}

TEST(Messages, OfNumbersNameTheTypeThatTheyCanNotHave) {
  EXPECT_CONTAINS(errorOf<DTypeError>([] { tensor<int>({1}) + 0.5; }),
                  "the number 0.5 can't become int32: a floating-point number needs a floating-point tensor beside it, "
                  "which cast(x, DType::Float32) makes of an integer one");
  auto byIndex = [](const Tensor &x) {
    Tensor y = x;
    for (Tensor i : range(3))
      y = y + i * 0.1;
    return y;
  };
  EXPECT_CONTAINS(errorOf<DTypeError>([&] { function(byIndex)(scalar(1.0f)); }),
                  "the number 0.1 can't become int64: a floating-point number needs a floating-point tensor beside it, "
                  "which cast(x, DType::Float32) makes of an integer one");
  EXPECT_CONTAINS(errorOf<ValueError>([] { tensor<int>({1}) + (1LL << 40); }),
                  "the number 1099511627776 does not fit int32");
  EXPECT_CONTAINS(errorOf<DTypeError>([] { full({2}, 2, DType::Bool); }), "the number 2 can't become bool");
}

TEST(Messages, OfTracedTensorsSayWhatToDoInstead) {
  auto message = [](auto body) { return errorOf<StateError>([&] { function<Tensor(Tensor)>(body)(scalar(1.0f)); }); };
  std::string text = message([](const Tensor &x) { return exp(x) * exp(x).item<float>(); });
  EXPECT_CONTAINS(
      text, "the elements of a traced tensor are not known while tracing; print() shows them when the function runs. "
            "The tensor is made at ");
  EXPECT_CONTAINS(text, "MessagesTest.cpp");

  Tensor leaked;
  function([&](const Tensor &x) { return leaked = x + 1; })(scalar(1.0f));
  text = errorOf<LeakedTensorError>([&] { leaked + 1; });
  EXPECT_CONTAINS(text, "a traced tensor is used outside of the trace that made it, at ");
  EXPECT_CONTAINS(text, "; return it instead of storing it, and collect what a loop");
}

TEST(Messages, OfTensorsAsConditionsSayWhatTakesTheirPlace) {
  Tensor a = tensor<float>({1, 2});
  EXPECT_CONTAINS(
      errorOf<ShapeError>([&] { where(a > 0 && a < 1, a, 0.0); }),
      "a tensor of shape [2] is used as a condition (bool), which needs one element; use where(condition, x, "
      "y), and logical_and and logical_or for && and ||\n  at ");
}

TEST(Messages, OfFloatingPointOperationsSayHowToGetThere) {
  EXPECT_CONTAINS(errorOf<DTypeError>([] { sqrt(scalar(4)); }),
                  "sqrt: takes floating-point numbers, not int32[]; use cast(x, DType::Float32)");
}

TEST(Messages, CountOneAsOne) {
  auto f = function([](const Tensor &x) { return x; }, {.name = "f", .input_signature = {anyRows, anyRows}});
  EXPECT_CONTAINS(errorOf<SignatureError>([&] { f(ones({2, 2})); }), "f is declared with 2 tensors and called with 1");
  auto g = function([](const std::vector<Tensor> &x) { return x[0]; }, {.name = "g", .input_signature = {anyRows}});
  EXPECT_CONTAINS(errorOf<SignatureError>([&] { g({ones({2, 2}), ones({2, 2})}); }),
                  "g is declared with 1 tensor and called with 2");
  EXPECT_CONTAINS(errorOf<ShapeError>([] { reshape(ones({1}), {2}); }),
                  "float32[1] has 1 element, which can't fill [2]");
}

TEST(Messages, OfReshapesSayWhatDividesTheNumberOfElements) {
  auto rows = [](const Tensor &x) { return reshape(x, {-1, 4}); };
  const std::string known = "float32[2,5] has 10 elements, which can't fill [-1,4]; the number must be divisible by 4";
  EXPECT_CONTAINS(errorOf<ShapeError>([&] { rows(ones({2, 5})); }), known);
  EXPECT_CONTAINS(errorOf<ShapeError>([&] { function(rows)(ones({2, 5})); }), known);
  auto open = function(rows, {.input_signature = {TensorSpec(DType::Float32, {kDynamic, 5})}});
  EXPECT_CONTAINS(errorOf<ShapeError>([&] { open(ones({2, 5})); }),
                  "reshape: the number of elements of argument 0 is 10, and it must be divisible by 4");
  EXPECT_EQ(open(ones({4, 5})).shape(), Shape({5, 4}));
  // The divisor is a size of another argument.
  auto beside = function(
      [](const Tensor &x, const Tensor &y) { return reshape(x, {-1, y.shape()[0]}); },
      {.input_signature = {TensorSpec(DType::Float32, {kDynamic, 5}), TensorSpec(DType::Float32, {kDynamic})}});
  EXPECT_CONTAINS(errorOf<ShapeError>([&] { beside(ones({2, 5}), ones({3})); }),
                  "reshape: the number of elements of argument 0 is 10, and it must be divisible by 3");
  EXPECT_EQ(beside(ones({3, 5}), ones({3})).shape(), Shape({5, 3}));
  // Nothing divides by 0 elements.
  EXPECT_CONTAINS(errorOf<ShapeError>([&] { beside(ones({2, 5}), ones({0})); }), "is 10, and it must be 0");
}

// The remedies that the messages name.
TEST(Messages, OfOpenSizesNameWhatWorks) {
  auto f = function(
      [](const Tensor &x) {
        Size n = x.shape()[0];
        Tensor reciprocal = 1.0f / Operand(n), isThree = Operand(n) == 3;
        Tensor differences = split(x, {1, -1})[1] - split(x, {-1, 1})[0];
        return std::tuple(reciprocal, cast(isThree, DType::Float32), differences);
      },
      {.input_signature = {TensorSpec<float>({kDynamic})}});
  auto [reciprocal, isThree, differences] = f(tensor<float>({1, 3, 6}));
  expectValues(reciprocal, {1.0f / 3});
  expectValues(isThree, {1});
  expectValues(differences, {2, 3});
  expectValues(std::get<1>(f(tensor<float>({1, 3}))), {0});
}

TEST(Messages, OfOpenSizesSayWhatIsNotKnown) {
  auto size = function([](const Tensor &x) { return x * static_cast<float>(x.size()); });
  EXPECT_CONTAINS(
      errorOf<StateError>([&] { size.get_concrete_function(anyRows); }),
      "the number of elements of argument 0, float32[?,2], is not known while tracing and is used as a C++ "
      "number; operations on tensors take it as Operand(size), split cuts parts of known sizes off, and is_known() "
      "asks");
  auto compared = function([](const Tensor &x) { return x.shape()[0] == 2 ? x : x * 2; });
  EXPECT_CONTAINS(errorOf<StateError>([&] { compared.get_concrete_function(anyRows); }),
                  "dimension 0 of argument 0, float32[?,2], is not known while tracing and is used as a C++ number");
  EXPECT_CONTAINS(errorOf<ValueError>([&] { ones({2}) + kDynamic; }),
                  "kDynamic is used as a number; it stands for any size in a TensorSpec only");
  EXPECT_CONTAINS(errorOf<ValueError>([&] { zeros({kDynamic, 2}); }),
                  "kDynamic is the size of a tensor; it stands for any size in a TensorSpec only");
}

TEST(Messages, OfSpecsSayWhatTheyAreNot) {
  EXPECT_CONTAINS(errorOf<ValueError>([] { TensorSpec<float>({-1}); }),
                  "a TensorSpec has no negative sizes; kDynamic is one that is not known, and -1 is none");
  EXPECT_CONTAINS(errorOf<StateError>([] { TensorSpec<float>(kAnyShape).shape(); }),
                  "a TensorSpec of any shape has no shape to ask for");
  EXPECT_CONTAINS(
      errorOf<StateError>([] { Tensor(TensorSpec<float>(kAnyShape)) + 1; }),
      "a TensorSpec, float32[...], stands for the tensors that a function takes; it has no elements to compute with");
  auto f = function(twice, {.name = "f"});
  EXPECT_CONTAINS(errorOf<StateError>([&] { f.ir("traced", TensorSpec<float>(kAnyShape)); }),
                  "f has a trace for each rank; ask for one with a TensorSpec that has a rank");
  auto any = f.get_concrete_function(TensorSpec<float>(kAnyShape));
  EXPECT_CONTAINS(errorOf<StateError>([&] { any.ir("traced"); }),
                  "f is of any rank and has a trace for each; ask for one with a TensorSpec that has a rank");
}

TEST(Messages, OfConcreteFunctionsSayWhatDiffers) {
  auto f = function([](const Bag &bag) { return bag.parts[0] + 1; }, {.name = "f"});
  auto two = f.get_concrete_function(Bag({ones({2}), ones({2})}));
  EXPECT_CONTAINS(errorOf<SignatureError>([&] { two(Bag({ones({2})})); }), " must be float32[2], and nothing is given");
  EXPECT_CONTAINS(errorOf<SignatureError>([&] { two(Bag({ones({2}), ones({2}), ones({3})})); }),
                  " is float32[3], and nothing is expected there");

  Variable v(ones({2})), w(ones({2}));
  auto captures = function([&](Variable a) { return a + v; }, {.name = "f"});
  auto same = captures.get_concrete_function(v);
  EXPECT_CONTAINS(errorOf<SignatureError>([&] { same(w); }),
                  "f: a variable is both an argument and captured, or another one than when it was traced");
  // Two NaNs read the same.
  auto bound = function([](const Tensor &x, double by) { return x * by; }, {.name = "f"})
                   .get_concrete_function(ones({2}), std::nan("1"));
  EXPECT_CONTAINS(errorOf<SignatureError>([&] { bound(ones({2}), std::nan("2")); }),
                  "f: the call is another than that which the concrete function was made for");
}

TEST(Messages, OfRecursionSayHowDeep) {
  std::function<Tensor(const Tensor &)> endless;
  auto f = function([&](const Tensor &x) { return endless(x + 1); });
  endless = f;
  EXPECT_CONTAINS(errorOf<RecursionError>([&] { f(scalar(1.0f)); }),
                  "functions, branches and loops nest 200 deep; a recursion that depends on tensors alone has no end "
                  "while tracing");
}

// So do branches and loops that stand in each other.
TEST(Messages, OfNestingSayHowDeep) {
  std::function<Tensor(const Tensor &)> endless = [&](const Tensor &x) {
    return for_range(0, 2, x, [&](const Tensor &, const Tensor &y) { return endless(y); });
  };
  auto f = function([&](const Tensor &x) { return endless(x); });
  EXPECT_CONTAINS(errorOf<RecursionError>([&] { f(scalar(1.0f)); }), "functions, branches and loops nest 200 deep;");
}

TEST(Messages, OfVariablesNameThem) {
  Variable v(zeros({2}), {.name = "weights"}), none{nullptr};
  EXPECT_CONTAINS(errorOf<ShapeError>([&] { v.assign(zeros({3})); }),
                  "variable 'weights' is float32[2] and can't be assigned float32[3]");
  EXPECT_CONTAINS(errorOf<DTypeError>([&] { v.assign(zeros({2}, DType::Float64)); }),
                  "variable 'weights' is float32[2] and can't be assigned float64[2]");
  EXPECT_CONTAINS(errorOf<StateError>([&] { none.value(); }), "an empty variable is used");
  EXPECT_CONTAINS(errorOf<StateError>([&] { none.assign_add(1); }), "an empty variable is used");
  EXPECT_CONTAINS(errorOf<StateError>([&] { function([](Variable x) { return x + 1; })(none); }),
                  "an empty variable is an argument");

  std::optional<Variable> kept;
  function([&](Variable x) { return *(kept = x) + 1; })(v);
  const char *text = "a variable that was an argument of a traced function is used outside of the trace";
  EXPECT_CONTAINS(errorOf<LeakedTensorError>([&] { kept->value(); }), text);
  EXPECT_CONTAINS(errorOf<LeakedTensorError>([&] { kept->assign(ones({2})); }), text);

  auto dependent = function([](const Tensor &x) { return x + Variable(x * 2); });
  EXPECT_CONTAINS(
      errorOf<StateError>([&] { dependent(scalar(1.0f)); }),
      "a variable that is made while tracing has an initial value that does not depend on the function's arguments");
}

TEST(Messages, OfTapesSayWhyTheyAreNotAsked) {
  Tensor x = ones({2});
  GradientTape tape;
  tape.watch(x);
  Tensor y = x * x;
  EXPECT_TRUE(tape.gradient(y, x));
  std::string text = errorOf<StateError>([&] { tape.gradient(y, x); });
  EXPECT_CONTAINS(text, "a tape serves one gradient() unless it is persistent; this one, made at ");
  EXPECT_CONTAINS(text, ", has served it");
  Variable v(x);
  EXPECT_CONTAINS(errorOf<StateError>([&] { tape.watch(x); }), "watch: the tape does not record any more");
  EXPECT_CONTAINS(errorOf<StateError>([&] { tape.watch(v); }), "watch: the tape does not record any more");
  EXPECT_CONTAINS(errorOf<StateError>([&] { (void)tape.stop_recording(); }),
                  "stop_recording: the tape does not record any more");
  EXPECT_CONTAINS(errorOf<StateError>([&] { tape.reset(); }), "reset: the tape does not record any more");

  std::unique_ptr<GradientTape> kept;
  Tensor inside;
  function([&](const Tensor &x) {
    kept = std::make_unique<GradientTape>();
    kept->watch(x);
    return inside = x * x;
  })(x);
  EXPECT_CONTAINS(errorOf<StateError>([&] { kept->gradient(inside, inside); }),
                  "a tape of a trace is asked outside of the trace");
  kept = nullptr;
  GradientTape outer;
  outer.watch(x);
  auto asks = function([&](const Tensor &x) { return outer.gradient(x * x, x).value(); });
  EXPECT_CONTAINS(errorOf<StateError>([&] { asks(x); }), "a tape from outside of a trace is asked inside");
  GradientTape before;
  auto watches = function([&](const Tensor &y) {
    before.watch(y);
    return y * y;
  });
  EXPECT_CONTAINS(errorOf<StateError>([&] { watches(x); }), "a tape from outside of a trace is asked inside");
}

TEST(Messages, OfOutputGradientsNameBothTypes) {
  Tensor x = ones({2});
  GradientTape tape({.persistent = true});
  tape.watch(x);
  Tensor y = x * x;
  EXPECT_CONTAINS(errorOf<ShapeError>([&] { tape.gradient(y, x, {ones({3})}); }),
                  "gradient: output gradient 0 is float32[3] and its target float32[2]");
  EXPECT_CONTAINS(errorOf<DTypeError>([&] { tape.gradient(y, x, {ones({2}, DType::Float64)}); }),
                  "gradient: output gradient 0 is float64[2] and its target float32[2]");
  EXPECT_CONTAINS(errorOf<ValueError>([&] { tape.gradient(y, x, {ones({2}), ones({2})}); }),
                  "gradient: output_gradients has 2 tensors, and the gradient is of 1 target");
}

TEST(Messages, OfCheckGradientsNameWhatIsNoUse) {
  auto f = [](const std::vector<Tensor> &x) { return square(x[0]); };
  EXPECT_CONTAINS(errorOf<DTypeError>([&] { check_gradients(f, {ones({2})}); }),
                  "check_gradients: input 0 is float32; differences need float64");
  EXPECT_CONTAINS(errorOf<ValueError>([&] { check_gradients(f, {ones({2}, DType::Float64)}, {.eps = 0}); }),
                  "check_gradients: eps is 0 and must be above zero");
}

TEST(Messages, OfRetracesSayWhyThereIsAnother) {
  Variable v(ones({2})), w(ones({2}));
  auto f = function([&](Variable a) { return a + v; });
  f(v);
  f(w);
  ASSERT_EQ(f.explain_retraces().size(), 1u);
  EXPECT_EQ(f.explain_retraces()[0].note,
            "the signature is the same; other variables are captured, or other modes hold");
  auto open = function(twice, {.reduce_retracing = true});
  open(ones({2}));
  open(ones({3}));
  ASSERT_EQ(open.explain_retraces().size(), 1u);
  EXPECT_EQ(open.explain_retraces()[0].note, "the sizes that differ are left open, for other sizes as well");
  auto asks =
      function([](const Tensor &x) { return x * static_cast<float>(x.shape()[0]); }, {.reduce_retracing = true});
  asks(ones({2}));
  asks(ones({3}));
  asks(ones({4}));
  ASSERT_EQ(asks.explain_retraces().size(), 2u);
  EXPECT_EQ(asks.explain_retraces()[0].note, asks.explain_retraces()[1].note) << "each time";
  EXPECT_CONTAINS(
      asks.explain_retraces()[0].note,
      "has failed: the lambda asks for a size that would not be known, dimension 0 of argument 0, float32[?]");
}
