// Functions with dimensions that only a call knows: part of the contract of functions, of which docs/contract.md names
// the tests.
#include "Testing.h"
#include "test/Tensors.h"

using namespace calque;
using namespace calque::testing;

TEST(FunctionContract, UnknownDimensionsShareOneTraceAndOneBody) {
  auto f = function(
      [](const Tensor &x, const Tensor &w) { return sum(relu(matmul(x, w)) * 2, {0}); },
      {.name = "f", .input_signature = {TensorSpec<float>({kDynamic, 3}, "x"), TensorSpec<float>({3, kDynamic})}});
  for (std::int64_t rows : {1, 2, 7, 100})
    for (std::int64_t columns : {1, 5}) {
      Tensor x = full({rows, 3}, 0.25f), w = full({3, columns}, 0.5f);
      // Equal rows: the sum is `rows` times one of them.
      expectValues(f(x, w), std::vector<float>(static_cast<std::size_t>(columns), static_cast<float>(rows) * 0.75f));
    }
  EXPECT_EQ(f.trace_count(), 1);
  EXPECT_EQ(f.pretty_printed_concrete_signatures(),
            "f\n  argument 0 'x': float32[?,3]\n  argument 1: float32[3,?]\n  result: float32[?]\n");
  EXPECT_CONTAINS(errorOf<SignatureError>([&] { f(ones({2, 4}), ones({3, 1})); }),
                  "argument 0 'x' must be float32[?,3], not float32[2,4]");
  EXPECT_EQ(f(ones({0, 3}), ones({3, 2})).to_vector<float>(), (std::vector<float>{0, 0}));
}

TEST(FunctionContract, UnknownDimensionsThatMustAgreeAreCheckedAtTheCall) {
  Variable calls(scalar(0));
  auto f = function(
      [&](const Tensor &x, const Tensor &y) {
        calls.assign_add(1);
        return x + y;
      },
      {.input_signature = {TensorSpec<float>({kDynamic}), TensorSpec<float>({kDynamic})}});
  expectValues(f(ones({3}), ones({3})), {2, 2, 2});
  std::string message = errorOf<ShapeError>([&] { f(ones({3}), ones({4})); });
  EXPECT_CONTAINS(message, "dimension 0 of argument 0 is 3 and dimension 0 of argument 1 is 4");
  EXPECT_THROW(f(ones({3}), ones({1})), ShapeError) << "an unknown dimension is never broadcast";
  EXPECT_EQ(calls.value().item<int>(), 1);
}

namespace {
struct Sides {
  Tensor left, right;
};
const TensorSpec<float> anyLength({kDynamic});
} // namespace

TEST(UnknownDimensions, ErrorsOfSizesNumberArgumentsNotTensors) {
  auto scaled = function([](int n, const Tensor &x, float by, const Tensor &y) { return x * n + y * by; },
                         {.argument_names = {"n", "x"}, .input_signature = {anyLength, anyLength}});
  EXPECT_CONTAINS(errorOf<ShapeError>([&] { scaled(2, ones({3}), 1, ones({4})); }),
                  "add: dimension 0 of argument 1 'x' is 3 and dimension 0 of argument 3 is 4");

  auto added = function([](const Sides &sides, const Tensor &x) { return (sides.left + sides.right) * x; },
                        {.input_signature = {anyLength, anyLength, anyLength}});
  EXPECT_CONTAINS(errorOf<ShapeError>([&] { added({ones({3}), ones({4})}, ones({3})); }),
                  "add: dimension 0 of argument 0[0] is 3 and dimension 0 of argument 0[1] is 4");
  EXPECT_CONTAINS(errorOf<ShapeError>([&] { added({ones({3}), ones({3})}, ones({4})); }),
                  "mul: dimension 0 of argument 0[0] is 3 and dimension 0 of argument 1 is 4");

  auto named = function([](const Tensor &x, const Tensor &y) { return x + y; },
                        {.input_signature = {TensorSpec<float>({kDynamic}, "x"), TensorSpec<float>({kDynamic}, "y")}});
  EXPECT_CONTAINS(errorOf<ShapeError>([&] { named(ones({3}), ones({4})); }),
                  "add: dimension 0 of argument 0 'x' is 3 and dimension 0 of argument 1 'y' is 4");

  Tensor capture = ones({20});
  auto captures = function([&](const Tensor &x) { return x + capture; }, {.input_signature = {anyLength}});
  EXPECT_CONTAINS(errorOf<ShapeError>([&] { captures(ones({3})); }),
                  "add: dimension 0 of argument 0 is 3 and dimension 0 of a captured tensor is 20");

  // The trace that leaves sizes open is tried first, and its refusal is part of what explains the next one.
  auto reduced = function([](bool, const Tensor &x, const Tensor &y) { return x + y; }, {.reduce_retracing = true});
  reduced(true, ones({2}), ones({2}));
  reduced(true, ones({3}), ones({3}));
  reduced(true, ones({4}), ones({1}));
  EXPECT_CONTAINS(reduced.explain_retraces().back().note,
                  "dimension 0 of argument 1 is 4 and dimension 0 of argument 2 is 1");
}

TEST(UnknownDimensions, ErrorsOfOpenSizesNumberArgumentsNotTensors) {
  auto asked = function([](int n, const Tensor &x) { return x * float(std::int64_t(x.shape()[0])) * n; },
                        {.argument_names = {"n", "x"}, .input_signature = {anyLength}});
  EXPECT_CONTAINS(errorOf<StateError>([&] { asked(2, ones({3})); }),
                  "dimension 0 of argument 1 'x', float32[?], is not known while tracing");
  auto compared =
      function([](const Sides &sides) { return sides.left.shape() == sides.right.shape() ? sides.left : sides.right; },
               {.input_signature = {anyLength, anyLength}});
  EXPECT_CONTAINS(errorOf<StateError>([&] { compared({ones({3}), ones({3})}); }),
                  "dimension 0 of argument 0[0], float32[?], is not known while tracing, nor is whether it equals "
                  "dimension 0 of argument 0[1], float32[?]");
  // A pullback's parameters are no arguments of the function.
  auto pulled = function(
      [](const Tensor &x) {
        auto square = custom_gradient([](const Tensor &x) {
          return std::pair(x * x, [=](const Tensor &g) { return g * x * float(std::int64_t(g.shape()[0])); });
        });
        return square(x);
      },
      {.input_signature = {anyLength}});
  std::string text = errorOf<StateError>([&] { pulled(ones({3})); });
  EXPECT_EQ(text.find("argument 0"), std::string::npos) << text;
  EXPECT_CONTAINS(text, "dimension 0 of float32[?], made at");
}

TEST(UnknownDimensions, ErrorsOfAssignmentsNameTheVariable) {
  Variable w(ones({2}), {.name = "w"}), flat(ones({6}), {.name = "flat"}), other(ones({6}), {.name = "other"});
  auto f = function(
      [&](int n, const Tensor &x) {
        if (n == 0)
          w.assign(x);
        else if (n == 1)
          flat.assign(reshape(concat({x, x, x}), {-1}));
        else if (n == 2)
          other.assign(broadcast_to(x, {6}));
        else
          w.assign_add(x);
      },
      {.input_signature = {anyLength}});
  const int line = __LINE__;
  std::string text = errorOf<ShapeError>([&] { f(0, ones({3})); });
  EXPECT_CONTAINS(text, "variable 'w' is float32[2] and can't be assigned float32[?]: dimension 0 of argument 1 is 3, "
                        "and it must be 2");
  EXPECT_CONTAINS(text, "Test.cpp:" + std::to_string(line - 9));
  EXPECT_CONTAINS(
      errorOf<ShapeError>([&] { f(1, ones({3})); }),
      "variable 'flat' is float32[6] and can't be assigned float32[?]: dimension 0 of the value is 9, and it "
      "must be 6");
  EXPECT_CONTAINS(errorOf<ShapeError>([&] { f(2, ones({3})); }), "broadcast_to: dimension 0 of argument 1 is 3")
      << "which the user has asked for";
  EXPECT_CONTAINS(errorOf<ShapeError>([&] { f(3, ones({3})); }),
                  "assign_add: dimension 0 of variable 'w' is 2 and dimension 0 of argument 1 is 3");
  EXPECT_CONTAINS(errorOf<ShapeError>([&] { w.assign_add(ones({3})); }), "assign_add: ");
  EXPECT_CONTAINS(errorOf<ShapeError>([&] { w.assign_sub(ones({3})); }), "assign_sub: ");
  expectValues(w.value(), {1, 1});
}

TEST(FunctionContract, AnyShapeTracesOnceForEachRank) {
  auto f = function([](const Tensor &x) { return x * 2; }, {.input_signature = {TensorSpec<float>(kAnyShape)}});
  expectValues(f(ones({2})), {2, 2});
  expectValues(f(ones({3})), {2, 2, 2});
  expectValues(f(ones({1, 2})), {2, 2});
  expectValues(f(ones({2, 1})), {2, 2});
  EXPECT_EQ(f(scalar(1.0f)).item<float>(), 2);
  EXPECT_EQ(f.trace_count(), 3);
  EXPECT_THROW(f(ones({2}, DType::Int32)), SignatureError);
  auto g =
      function([](const Tensor &x, int n) { return x * n; }).get_concrete_function(TensorSpec<float>(kAnyShape), 2);
  for (int i = 0; i < 2; ++i) {
    expectValues(g(ones({2}), 2), {2, 2});
    expectValues(g(ones({2, 1})), {2, 2});
  }
}

TEST(FunctionContract, DispatchPrefersKnownSizesAndThenTheFirstMade) {
  // Each trace tells which one it is.
  int traced = 0;
  auto f = function([&](const Tensor &x) { return x * 0 + static_cast<float>(traced++); });
  auto of = [&](Shape shape) { return f(zeros(std::move(shape))).to_vector<float>()[0]; };
  f.get_concrete_function(TensorSpec<float>({kDynamic, kDynamic})); // 0
  EXPECT_EQ(of({2, 3}), 0);
  f.get_concrete_function(TensorSpec<float>({kDynamic, 3})); // 1
  f.get_concrete_function(TensorSpec<float>({2, kDynamic})); // 2
  EXPECT_EQ(of({2, 3}), 1) << "of two that are equally specific, the one made first";
  EXPECT_EQ(of({2, 4}), 2);
  EXPECT_EQ(of({4, 4}), 0);
  f.get_concrete_function(TensorSpec<float>({2, 3})); // 3
  EXPECT_EQ(of({2, 3}), 3);
  EXPECT_EQ(of({5, 3}), 1);
  EXPECT_EQ(f.trace_count(), 4);
}

TEST(FunctionContract, RelaxedRetracingLeavesOpenWhatDiffers) {
  auto f = function([](const Tensor &x) { return x * 2; }, {.name = "f", .reduce_retracing = true});
  f(ones({1, 2}));
  expectValues(f(ones({2, 2})), {2, 2, 2, 2});
  EXPECT_EQ(f.trace_count(), 2);
  expectValues(f(ones({3, 2})), std::vector<float>(6, 2));
  EXPECT_EQ(f.trace_count(), 2);
  EXPECT_EQ(
      f.pretty_printed_concrete_signatures(),
      "f\n  argument 0: float32[1,2]\n  result: float32[1,2]\nf\n  argument 0: float32[?,2]\n  result: float32[?,2]\n");
  f(ones({3, 4}));
  f(ones({7, 9}));
  EXPECT_EQ(f.trace_count(), 3);
  f(ones({2}));
  EXPECT_EQ(f.trace_count(), 4) << "another rank has nothing in common";
  std::vector<Retrace> all = f.explain_retraces();
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].note, "the sizes that differ are left open, for other sizes as well");
  EXPECT_EQ(all[0].changes[0].before, "float32[1,2]");
  EXPECT_EQ(all[0].changes[0].now, "float32[?,2]");
}

TEST(FunctionContract, RelaxedRetracingFallsBackWhereSizesDisagree) {
  Variable calls(scalar(0));
  auto f = function(
      [&](const Tensor &x, const Tensor &y) {
        calls.assign_add(1);
        return x + y;
      },
      {.reduce_retracing = true});
  f(ones({2}), ones({2}));
  f(ones({3}), ones({3}));
  expectValues(f(ones({4}), ones({4})), {2, 2, 2, 2});
  EXPECT_EQ(f.trace_count(), 2);
  for (int i = 0; i < 2; ++i)
    expectValues(f(ones({4}), ones({1})), {2, 2, 2, 2}); // a broadcast, which an unknown dimension has none of
  EXPECT_EQ(f.trace_count(), 3);
  EXPECT_CONTAINS(f.explain_retraces().back().note, "the trace that leaves them open has refused them");
  EXPECT_EQ(calls.value().item<int>(), 5);
  EXPECT_THROW(f(ones({4}), ones({5})), ShapeError);
  EXPECT_EQ(calls.value().item<int>(), 5);
}

TEST(FunctionContract, UnknownDimensionsHaveGradients) {
  auto body = [](const Tensor &x) { return sum(x * x * 3); };
  auto f = function(body, {.input_signature = {TensorSpec<float>({kDynamic})}});
  auto inside = function(
      [&](const Tensor &x) {
        GradientTape tape;
        tape.watch(x);
        return *tape.gradient(body(x), x);
      },
      {.input_signature = {TensorSpec<float>({kDynamic})}});
  for (std::int64_t size : {2, 3}) {
    Tensor x = full({size}, 2);
    GradientTape tape;
    tape.watch(x);
    Tensor y = f(x);
    std::vector<float> expected(static_cast<std::size_t>(size), 12);
    expectValues(*tape.gradient(y, x), expected);
    expectValues(inside(x), expected);
  }
  EXPECT_EQ(f.trace_count(), 1);
  EXPECT_EQ(inside.trace_count(), 1);
}

TEST(FunctionContract, SizesThatAreNotKnownAreNoNumbersOfCpp) {
  TensorSpec<float> rows({kDynamic, 2});
  auto size = function([](const Tensor &x) { return x * static_cast<float>(x.size()); });
  EXPECT_CONTAINS(errorOf<StateError>([&] { size.get_concrete_function(rows); }),
                  "the number of elements of argument 0, float32[?,2], is not known while tracing");
  auto number = function([](const Tensor &x) { return x * (x.shape()[0] + 1); });
  EXPECT_CONTAINS(errorOf<StateError>([&] { number.get_concrete_function(rows); }), "is used as a C++ number");
}

// A loop without iterations gives what it begins with, as it does eagerly, whatever its body would do with these sizes.
TEST(FunctionContract, SizesInLoopsAreComparedWhenAnIterationRuns) {
  const std::vector<TensorSpec<>> specs{TensorSpec<float>({kDynamic, 3}), TensorSpec<float>({kDynamic, 3}),
                                        TensorSpec<std::int32_t>({})};
  Variable v(zeros({2, 3}));
  auto grown = [](const Tensor &x, const Tensor &, const Tensor &n) {
    return for_range(0, n, x, [](const Tensor &, const Tensor &rows) { return concat({rows, rows}); });
  };
  auto multiplied = [](const Tensor &x, const Tensor &y, const Tensor &n) {
    return for_range(0, n, x, [&](const Tensor &, const Tensor &rows) { return rows + sum(x * y); });
  };
  auto assigned = [&](const Tensor &x, const Tensor &y, const Tensor &n) {
    v.assign_add(ones({2, 3}));
    Tensor i = scalar(0), rows = x;
    while (i < n) {
      rows = rows * y;
      i = i + 1;
    }
    return rows;
  };
  const Tensor x = ones({2, 3}), y = ones({4, 3});
  auto check = [&](const auto &lambda, const std::string &error) {
    auto f = function(lambda, {.input_signature = specs});
    auto slope = function([&](const Tensor &x, const Tensor &y,
                              const Tensor &n) { return grad([&](const Tensor &x) { return sum(f(x, y, n)); })(x); },
                          {.input_signature = specs});
    expectValues(f(x, y, scalar(0)), std::vector<float>(6, 1));
    expectValues(slope(x, y, scalar(0)), std::vector<float>(6, 1));
    const std::vector<float> before = v.value().to_vector<float>();
    for (int n : {1, 2}) {
      EXPECT_CONTAINS(errorOf<ShapeError>([&] { f(x, y, scalar(n)); }), error);
      EXPECT_CONTAINS(errorOf<ShapeError>([&] { slope(x, y, scalar(n)); }), error);
    }
    expectValues(v.value(), before);
  };
  check(grown, "for_range: dimension 0 of operand 1 is 4, and it must be 2");
  check(multiplied, "and they must be equal");
  check(assigned, "and they must be equal");
}

TEST(FunctionContract, VariablesTakeValuesWhoseSizesAreComparedAtTheCall) {
  Variable v(zeros({2, 3}));
  auto f = function(
      [&](const Tensor &x) {
        v.assign(x);
        v.assign_add(x);
        return sum(x);
      },
      {.input_signature = {TensorSpec<float>({kDynamic, 3})}});
  f(full({2, 3}, 2));
  expectValues(v.value(), std::vector<float>(6, 4));
  EXPECT_CONTAINS(errorOf<ShapeError>([&] { f(ones({4, 3})); }),
                  "is float32[2,3] and can't be assigned float32[?,3]: dimension 0 of argument 0 is 4, and "
                  "it must be 2");
  EXPECT_CONTAINS(errorOf<ShapeError>([&] { f(ones({1, 3})); }), "is 1, and it must be 2");
  expectValues(v.value(), std::vector<float>(6, 4));
  // What is reshaped has as many elements as the variable. Found by the fuzzer, seed 1236835893, program 13019.
  Variable flat(ones({16}));
  auto reshaped = function(
      [&](const Tensor &x) {
        Tensor y = reshape(x, {-1});
        flat.assign_add(y);
        return y;
      },
      {.input_signature = {TensorSpec<float>({kDynamic, kDynamic})}});
  for (const Shape &shape : {Shape{4, 4}, Shape{2, 8}})
    expectValues(reshaped(full(shape, 2)), std::vector<float>(16, 2));
  expectValues(flat.value(), std::vector<float>(16, 5));
  EXPECT_CONTAINS(errorOf<ShapeError>([&] { reshaped(ones({3, 5})); }),
                  "is 16 and dimension 0 of operand 1 is 15, and they must be equal");
  auto other = function([&](const Tensor &x) { v.assign(x); }, {.input_signature = {TensorSpec<float>({kDynamic, 4})}});
  EXPECT_CONTAINS(errorOf<ShapeError>([&] { other(ones({2, 4})); }),
                  "is float32[2,3] and can't be assigned float32[?,4]");
}

TEST(FunctionContract, DerivativesFitKnownAndOpenSizesTogether) {
  auto cube = [](const Tensor &x) { return x * x * x; };
  TensorSpec<float> open({kDynamic}, "x");
  Tensor known = tensor<float>({1, 10, 100});
  auto f = function(
      [&](const Tensor &x) {
        GradientTape tape({.persistent = true});
        tape.watch(x);
        Tensor y = cube(x), counted = reshape(x, {3}) * 2;
        Tensor unused = *tape.gradient(known, x, GradientOptions{.unconnected_gradients = UnconnectedGradients::Zero});
        Tensor seeded = *tape.gradient(y, x, GradientOptions{.output_gradients = {known}}),
               back = *tape.gradient(counted, x, GradientOptions{.output_gradients = {x}});
        auto [value, tangent] = jvp(cube, x, known);
        auto [index, none] = jvp([](const Tensor &z) { return cast(z, DType::Int32); }, x, x);
        auto scaled =
            custom_gradient([&](const Tensor &z) { return std::pair(z * 1, [&](const Tensor &) { return known; }); });
        Tensor custom = *tape.gradient(checkpoint(cube)(x), x),
               replaced = grad([&](const Tensor &z) { return sum(scaled(z)); })(x);
        return std::vector<Tensor>{unused, seeded, back, tangent, none, custom, replaced};
      },
      {.input_signature = {open}});
  std::vector<Tensor> all = f(tensor<float>({1, 2, 3}));
  expectValues(all[0], {0, 0, 0});
  expectValues(all[1], {3, 120, 2700});
  expectValues(all[2], {2, 4, 6});
  expectValues(all[3], {3, 120, 2700});
  EXPECT_EQ(all[4].to_vector<std::int32_t>(), (std::vector<std::int32_t>{0, 0, 0}));
  expectValues(all[5], {3, 12, 27});
  expectValues(all[6], {1, 10, 100});
  EXPECT_CONTAINS(errorOf<ShapeError>([&] { f(ones({4})); }),
                  "the number of elements of argument 0 'x' is 4, and it must be 3");
}

// Each against the same body traced for the sizes of the call.
TEST(FunctionContract, VmapOfConvolutionsAndPoolingTakesUnknownDimensions) {
  using Tensors = std::vector<Tensor>;
  auto layer = [](const Tensor &images, const Tensor &filter, const char *padding) {
    return max_pool2d(tanh(conv2d(images, filter, {2, 1}, padding)), {2, 2}, {1, 2}, "same");
  };
  auto gradients = [](const Tensor &y, const Tensors &sources, GradientTape &tape) {
    Tensors all{y};
    for (const std::optional<Tensor> &each : tape.gradient(sum(square(y)), sources))
      all.push_back(*each);
    return all;
  };
  // Examples of the images, of the filters, of both; then the gradients for each example of the images.
  std::vector<std::function<Tensors(const Tensors &)>> bodies;
  for (const char *padding : {"same", "valid"}) {
    for (auto [ofImages, ofFilters] : {std::pair(true, false), std::pair(false, true), std::pair(true, true)})
      bodies.push_back([=](const Tensors &in) {
        GradientTape tape;
        tape.watch(in[0]);
        tape.watch(in[1]);
        using Axis = std::optional<std::int64_t>;
        Tensor y = vmap([&](const Tensors &one) { return layer(one[0], one[1], padding); },
                        {.in_axes = {ofImages ? Axis(0) : Axis(), ofFilters ? Axis(0) : Axis()}})(in);
        return gradients(y, in, tape);
      });
    bodies.push_back([=](const Tensors &in) {
      return vmap([&](const Tensor &images) {
        GradientTape tape;
        tape.watch(images);
        tape.watch(in[1]);
        return gradients(layer(images, in[1], padding), {images, in[1]}, tape);
      })(in[0]);
    });
  }
  for (std::size_t b = 0; b < bodies.size(); ++b) {
    SCOPED_TRACE("body " + std::to_string(b));
    bool imagesHaveExamples = b % 4 != 1, filtersHaveExamples = b % 4 == 1 || b % 4 == 2;
    // Where both operands of a convolution have examples their number must be known: they are groups of channels.
    Size count = b % 4 >= 2 ? Size(2) : kDynamic;
    Shape images{kDynamic, kDynamic, kDynamic, 2}, filters{2, 3, 2, kDynamic};
    if (imagesHaveExamples)
      images.insert(images.begin(), count);
    if (filtersHaveExamples)
      filters.insert(filters.begin(), count);
    auto open = function<Tensors(const Tensors &)>(
        bodies[b], {.input_signature = {TensorSpec<double>(images), TensorSpec<double>(filters)}});
    auto exact = function<Tensors(const Tensors &)>(bodies[b]);
    for (const Shape &sizes : {Shape{2, 3, 5, 4, 3}, Shape{2, 1, 2, 3, 1}, Shape{2, 2, 7, 9, 8}}) {
      std::mt19937 random(11);
      auto known = [&](Shape shape, std::vector<std::int64_t> values) {
        for (std::size_t i = 0, next = 0; i < shape.size(); ++i)
          if (!shape[i].is_known())
            shape[i] = values[next++];
        return randomTensor(random, shape);
      };
      std::vector<std::int64_t> own{sizes[1], sizes[2], sizes[3]}, channels{sizes[4]};
      if (imagesHaveExamples && !count.is_known())
        own.insert(own.begin(), sizes[0]);
      if (filtersHaveExamples && !count.is_known())
        channels.insert(channels.begin(), sizes[0]);
      Tensors in{known(images, own), known(filters, channels)}, found = open(in), expected = exact(in);
      ASSERT_EQ(found.size(), expected.size());
      for (std::size_t i = 0; i < found.size(); ++i) {
        ASSERT_EQ(found[i].shape(), expected[i].shape());
        std::vector<double> a = valuesOf(found[i]), e = valuesOf(expected[i]);
        for (std::size_t k = 0; k < a.size(); ++k)
          ASSERT_NEAR(a[k], e[k], 1e-10 * (1 + std::fabs(e[k]))) << "result " << i << ", element " << k;
      }
    }
    EXPECT_EQ(open.trace_count(), 1);
  }
}

// How many examples there are is known of one tensor, or of none; it is checked even where one tensor's are not read.
TEST(FunctionContract, ExamplesOfOpenTensorsAreAsManyAsOfTheOthers) {
  using Tensors = std::vector<Tensor>;
  auto first = [](const Tensors &in) { return Tensors{in[0]}; };
  std::mt19937 random(12);
  Tensor known = randomTensor(random, {3, 2});
  TensorSpec<double> matrix({kDynamic, kDynamic}), solid({kDynamic, kDynamic, kDynamic});
  auto withKnown = function([=](const Tensor &x) { return vmap(first, {.in_axes = {-2, 1}})(Tensors{x, known}); },
                            {.input_signature = {solid}});
  Tensor x = randomTensor(random, {3, 2, 4});
  EXPECT_EQ(withKnown(x)[0].shape(), (Shape{2, 3, 4}));
  EXPECT_EQ(valuesOf(withKnown(x)[0]), valuesOf(transpose(x, {1, 0, 2})));
  EXPECT_CONTAINS(errorOf<ShapeError>([&] { withKnown(randomTensor(random, {2, 4, 3})); }),
                  "vmap: dimension 1 of argument 0 is 4, and it must be 2");

  auto open = function([=](const Tensor &a, const Tensor &b) { return vmap(first)(Tensors{a, b}); },
                       {.input_signature = {matrix, matrix}});
  EXPECT_EQ(valuesOf(open(known, randomTensor(random, {3, 5}))[0]), valuesOf(known));
  EXPECT_CONTAINS(errorOf<ShapeError>([&] { open(known, randomTensor(random, {2, 2})); }),
                  "vmap: dimension 0 of argument 1 is 2, and it must be 3");

  auto unread =
      function([=](const Tensor &a) { return vmap(first)(Tensors{known, a}); }, {.input_signature = {matrix}});
  EXPECT_EQ(valuesOf(unread(randomTensor(random, {3, 1}))[0]), valuesOf(known));
  EXPECT_CONTAINS(errorOf<ShapeError>([&] { unread(randomTensor(random, {1, 2})); }),
                  "vmap: dimension 0 of argument 0 is 1, and it must be 3");

  auto nested = function(
      [=](const Tensor &a, const Tensor &b) {
        return vmap([&](const Tensors &outer) {
          return vmap([](const Tensor &p, const Tensor &q) { return p * q; })(outer[0], outer[1]);
        })(Tensors{a, b});
      },
      {.input_signature = {solid, matrix}});
  Tensor factors = randomTensor(random, {3, 4}), cube = randomTensor(random, {3, 4, 5});
  EXPECT_EQ(valuesOf(nested(cube, factors)), valuesOf(cube * expand_dims(factors, {2})));
  EXPECT_CONTAINS(errorOf<ShapeError>([&] { nested(cube, randomTensor(random, {3, 5})); }),
                  "dimension 1 of argument 1 is 5, and it must be 4");
  EXPECT_CONTAINS(errorOf<ShapeError>([&] { nested(cube, randomTensor(random, {2, 4})); }),
                  "vmap: dimension 0 of argument 1 is 2, and it must be 3");
}
