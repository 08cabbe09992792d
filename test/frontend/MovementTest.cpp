// Eager operations that move elements, and attributes that vary from call to call: nothing is compiled for each.
#include "Testing.h"

#include "frontend/compiled/CompilationCount.h"

#include <numeric>

using namespace calque;
using namespace calque::testing;
using detail::compilationCount;

namespace {

Tensor counting(Shape shape) {
  std::vector<float> values(static_cast<std::size_t>(
      std::accumulate(shape.begin(), shape.end(), std::int64_t(1), std::multiplies<std::int64_t>())));
  std::iota(values.begin(), values.end(), 0.0f);
  return reshape(tensor(values), shape);
}

std::vector<float> valuesFrom(int first, int end) {
  std::vector<float> values;
  for (int i = first; i < end; ++i)
    values.push_back(static_cast<float>(i));
  return values;
}

// What a call compiles when it was not met before, and how often it is asked.
template <typename F> std::uint64_t compiledBy(F call) {
  std::uint64_t before = compilationCount();
  call();
  return compilationCount() - before;
}

// Eager and compiled: two implementations, one result.
template <typename F> void expectSame(F body, const Tensor &x) {
  Tensor eager = body(x), compiled = function(body)(x);
  EXPECT_EQ(eager.shape(), compiled.shape());
  EXPECT_EQ(eager.to_vector<float>(), compiled.to_vector<float>());
}

} // namespace

// As numpy.split and tf.split with a number.
TEST(Movement, SplitsIntoSoManyParts) {
  Tensor x = counting({4, 6});
  std::vector<Tensor> columns = split(x, 3, 1), rows = split(x, 2);
  ASSERT_EQ(columns.size(), 3u);
  EXPECT_EQ(columns[1].to_vector<float>(), (std::vector<float>{2, 3, 8, 9, 14, 15, 20, 21}));
  EXPECT_EQ(columns[2].shape(), (Shape{4, 2}));
  EXPECT_EQ(rows[1].to_vector<float>(), valuesFrom(12, 24));
  EXPECT_EQ(split(x, std::size_t(6), -1)[5].shape(), (Shape{4, 1}));
  EXPECT_EQ(split(zeros({0, 2}), 3)[2].shape(), (Shape{0, 2}));
  EXPECT_EQ(split(x, {4}).size(), 1u) << "braces are sizes";
  for (int part : {0, 2})
    expectSame([part](const Tensor &t) { return split(t, 3, 1)[part]; }, x);
  EXPECT_EQ(grad([](const Tensor &t) { return sum(split(t, 2, 1)[1] * 3); })(counting({1, 4})).to_vector<float>(),
            (std::vector<float>{0, 0, 3, 3}));
  // Of sizes that the call knows.
  auto open = function([](const Tensor &t) { return split(t, 2, 1); },
                       {.input_signature = {TensorSpec<float>({kDynamic, kDynamic})}});
  EXPECT_EQ(open(x)[1].to_vector<float>(), split(x, 2, 1)[1].to_vector<float>());
  EXPECT_EQ(open(counting({1, 2}))[0].to_vector<float>(), (std::vector<float>{0}));
  EXPECT_EQ(open.trace_count(), 1);
  errorOf<ShapeError>([&] { open(counting({2, 3})); });
  EXPECT_CONTAINS(errorOf<ValueError>([&] { split(x, 5, 1); }),
                  "split: float32[4,6] has no 5 parts of one size along axis 1; a list of sizes makes others");
  EXPECT_CONTAINS(errorOf<ValueError>([&] { split(x, 5, 1); }), "MovementTest.cpp");
  EXPECT_CONTAINS(errorOf<ValueError>([&] { split(x, 0); }), "split: the number of parts is at least 1, unlike 0");
  errorOf<ValueError>([&] { split(x, 2, 2); });
  errorOf<ValueError>([&] { split(scalar(1), 1); });
}

TEST(Movement, GivesWhatCompiledCodeGives) {
  Tensor x = counting({3, 4, 5}), big = counting({96, 65, 33});
  expectSame([](const Tensor &t) { return slice(t, {1, 0, 2}, {3, 4, 5}); }, x);
  expectSame([](const Tensor &t) { return slice(t, {0, 1, 0}, {3, 4, 5}, {2, 3, 4}); }, x);
  expectSame([](const Tensor &t) { return slice(t, {1, 1, 1}, {1, 4, 5}); }, x);
  expectSame([](const Tensor &t) { return transpose(t); }, x);
  expectSame([](const Tensor &t) { return transpose(t, {1, -1, 0}); }, x);
  for (std::vector<std::int64_t> order :
       std::vector<std::vector<std::int64_t>>{{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}})
    expectSame([order](const Tensor &t) { return transpose(t, order); }, big);
  expectSame([](const Tensor &t) { return broadcast_to(t, {2, 3, 4, 5}); }, x);
  expectSame([](const Tensor &t) { return broadcast_to(expand_dims(t, {0, 2}), {7, 3, 6, 4, 5}); }, x);
  expectSame([](const Tensor &t) { return concat({t, t * 2, slice(t, {0, 1, 0}, {3, 2, 5})}, 1); }, x);
  expectSame([](const Tensor &t) { return concat({t, t}, -1); }, x);
  expectSame([](const Tensor &t) { return pad(t, {1, 0, 2}, {0, 3, 1}, -1.5); }, x);
  expectSame([](const Tensor &t) { return expand_dims(t, {0, -1}); }, x);
  expectSame([](const Tensor &t) { return reshape(t, {-1, 2}); }, x);
  expectSame([](const Tensor &t) { return stop_gradient(t); }, x);
}

TEST(Movement, OfEveryElementType) {
  for (DType dtype : {DType::Bool, DType::Int32, DType::Int64, DType::Float32, DType::Float64}) {
    Tensor x = cast(counting({4, 6}), dtype);
    Tensor back = cast(pad(transpose(slice(x, {1, 1}, {4, 5})), {1, 0}, {0, 1}), DType::Float32);
    Tensor expected =
        function([](const Tensor &t) { return pad(transpose(slice(t, {1, 1}, {4, 5})), {1, 0}, {0, 1}); })(x);
    EXPECT_EQ(back.to_vector<float>(), cast(expected, DType::Float32).to_vector<float>());
  }
  Tensor padded = pad(cast(counting({2}), DType::Int32), {1}, {1}, 7);
  EXPECT_EQ(padded.to_vector<std::int32_t>(), (std::vector<std::int32_t>{7, 0, 1, 7}));
}

TEST(Movement, CompilesNothing) {
  Tensor x = counting({300, 4});
  EXPECT_EQ(compiledBy([&] {
              for (std::int64_t i = 0; i < 300; ++i)
                EXPECT_EQ(slice(x, {i, 0}, {i + 1, 4}).to_vector<float>()[1], static_cast<float>(4 * i + 1));
              for (std::int64_t i = 1; i < 300; ++i) {
                slice(x, {0, 0}, {i, 2});
                pad(x, {i, 0}, {0, i});
                broadcast_to(scalar(1.0f), {i});
                concat({x, slice(x, {0, 0}, {i, 4})});
                reshape(slice(x, {0, 0}, {i, 4}), {4, i});
                transpose(slice(x, {0, 0}, {i, 4}));
              }
            }),
            0u);
}

TEST(Movement, SharesMemoryWhereElementsStayInTheirOrder) {
  Tensor x = counting({4, 6});
  auto data = [](const Tensor &t) { return t.data<float>(); };
  EXPECT_EQ(data(reshape(x, {3, 8})), data(x));
  EXPECT_EQ(data(expand_dims(x, {0})), data(x));
  EXPECT_EQ(data(stop_gradient(x)), data(x));
  EXPECT_EQ(data(slice(x, {0, 0}, {4, 6})), data(x));
  EXPECT_NE(data(slice(x, {1, 0}, {4, 6})), data(x));
  EXPECT_NE(data(transpose(x)), data(x));
  // A variable that is assigned in place leaves what shares its old value as it was.
  Variable v(x);
  Tensor before = reshape(v.value(), {24});
  auto add = function([&] { v.assign_add(ones({4, 6})); });
  add();
  add();
  EXPECT_EQ(before.to_vector<float>()[23], 23.0f);
  EXPECT_EQ(v.value().to_vector<float>()[23], 25.0f);
}

TEST(Movement, OfNothingGivesNothing) {
  Tensor none = zeros({0, 3});
  EXPECT_EQ(transpose(none).shape(), (Shape{3, 0}));
  EXPECT_EQ(reshape(none, {3, 0, 2}).shape(), (Shape{3, 0, 2}));
  EXPECT_EQ(concat({none, ones({1, 3})}).to_vector<float>(), (std::vector<float>{1, 1, 1}));
  EXPECT_EQ(pad(none, {1, 0}, {0, 0}, 2).to_vector<float>(), (std::vector<float>{2, 2, 2}));
  EXPECT_EQ(slice(ones({2, 3}), {1, 1}, {1, 3}).shape(), (Shape{0, 2}));
}

TEST(Movement, IsRefusedAsCompiledCodeIs) {
  Tensor x = counting({2, 3});
  EXPECT_THROW(slice(x, {0, 0}, {2, 4}), ShapeError);
  EXPECT_THROW(slice(x, {0, 2}, {2, 1}), ValueError);
  EXPECT_THROW(reshape(x, {4}), ShapeError);
  EXPECT_THROW(broadcast_to(x, {3, 3}), ShapeError);
  EXPECT_THROW(concat({x, ones({2, 2})}, 0), ShapeError);
}

TEST(Positions, AreNoPartOfTheCodeOfGradients) {
  Tensor x = counting({300, 4});
  auto gradientAt = [&](std::int64_t row) {
    GradientTape tape;
    tape.watch(x);
    Tensor y = sum(square(slice(x, {row, 1}, {row + 1, 3})));
    return *tape.gradient(y, x);
  };
  EXPECT_LE(compiledBy([&] {
              for (std::int64_t row = 0; row < 300; ++row) {
                std::vector<float> expected(1200), values = gradientAt(row).to_vector<float>();
                for (std::int64_t column : {1, 2})
                  expected[static_cast<std::size_t>(4 * row + column)] = static_cast<float>(2 * (4 * row + column));
                ASSERT_EQ(values, expected) << row;
              }
            }),
            8u); // square and sum, their derivatives, two positions, and one code for all others
}

TEST(Positions, OfStridesAndPaddingMayVaryToo) {
  Tensor x = counting({12}), weights = counting({20});
  std::vector<Tensor> gradients;
  EXPECT_LE(compiledBy([&] {
              for (std::int64_t low = 0; low < 9; ++low) {
                GradientTape tape;
                tape.watch(x);
                Tensor padded = pad(slice(x, {low % 3}, {low % 3 + 7}, {2}), {low}, {16 - low});
                gradients.push_back(*tape.gradient(sum(padded * weights), x));
              }
            }),
            10u); // a product, a sum and their derivatives; of slice and pad two positions and one code for all others
  for (std::int64_t low = 0; low < 9; ++low) {
    std::vector<float> expected(12);
    for (std::int64_t i = 0; i < 4; ++i)
      expected[static_cast<std::size_t>(low % 3 + 2 * i)] = static_cast<float>(low + i);
    EXPECT_EQ(gradients[static_cast<std::size_t>(low)].to_vector<float>(), expected) << low;
  }
}

TEST(Positions, VaryUnderTransforms) {
  Tensor x = counting({8, 3});
  auto row = [](std::int64_t i) { return [i](const Tensor &t) { return sum(square(slice(t, {i, 0}, {i + 1, 3}))); }; };
  for (std::int64_t i = 0; i < 8; ++i) {
    Tensor gradient = grad(row(i))(x);
    EXPECT_EQ(gradient.to_vector<float>()[static_cast<std::size_t>(3 * i)], static_cast<float>(6 * i));
    Tensor second = grad([&](const Tensor &t) { return sum(grad(row(i))(t) * t); })(x);
    EXPECT_EQ(second.to_vector<float>()[static_cast<std::size_t>(3 * i + 2)], static_cast<float>(4 * (3 * i + 2)));
    Tensor mapped = vmap([i](const Tensor &t) { return slice(t, {i % 3}, {i % 3 + 1}); })(x);
    EXPECT_EQ(mapped.to_vector<float>()[1], static_cast<float>(3 + i % 3));
  }
}

TEST(Texts, AreNoPartOfEagerCode) {
  Tensor x = scalar(1.0f);
  print("warm up", x);
  assert_true(x > 0, "warm up");
  ::testing::internal::CaptureStdout();
  EXPECT_EQ(compiledBy([&] {
              for (int i = 0; i < 20; ++i)
                print("step " + std::to_string(i), x);
            }),
            0u);
  std::string printed = ::testing::internal::GetCapturedStdout();
  EXPECT_NE(printed.find("step 0 "), std::string::npos);
  EXPECT_NE(printed.find("step 19 "), std::string::npos);
  x > 2;
  EXPECT_EQ(compiledBy([&] {
              for (int i = 0; i < 20; ++i)
                try {
                  assert_true(x > 2, "message " + std::to_string(i));
                  ADD_FAILURE();
                } catch (const AssertionError &error) {
                  EXPECT_NE(std::string(error.what()).find("message " + std::to_string(i)), std::string::npos);
                }
            }),
            0u);
}
