// calque/arrays/moving.h, against NumPy.
#include "Testing.h"

using namespace calque;
using namespace calque::testing;
using Tensors = std::vector<Tensor>;

TEST(ArraysMoving, Roll) {
  check("roll flat", [](const Tensors &x) { return Tensors{roll(x[0], 4), roll(x[0], -1), roll(x[0], 1000)}; });
  check("roll axes", [](const Tensors &x) {
    return Tensors{roll(x[0], 2, 1), roll(x[0], {1, -7}, {0, 2}), roll(x[0], 1, {0, -1})};
  });
  check("roll tensor", [](const Tensors &x) { return Tensors{roll(x[0], x[1], 0), roll(x[0], x[1])}; });
  check("roll tensors", [](const Tensors &x) { return roll(x[0], x[1], {1, 0}); }, {.unknownSizes = false});
  check("roll empty", [](const Tensors &x) { return Tensors{roll(x[0], 3), roll(x[0], 3, 0), roll(x[0], 3, 1)}; },
        {.derivatives = 0});
  const Tensor x = ones({2, 3});
  EXPECT_EQ(roll(tensor({1, 2, 3}), std::numeric_limits<std::int64_t>::min()).to_vector<std::int32_t>(),
            (std::vector<std::int32_t>{3, 1, 2}));
  EXPECT_CONTAINS(errorOf<ValueError>([&] { roll(x, {1, 2}, {0}); }),
                  "roll: there must be one shift, or one for each of the 1 axes, not 2");
  EXPECT_CONTAINS(errorOf<ValueError>([&] { roll(x, tensor({1, 2, 3}), {0, 1}); }),
                  "roll: there must be one shift, or one for each of the 2 axes, not 3");
  EXPECT_CONTAINS(errorOf<DTypeError>([&] { roll(x, scalar(1.5f)); }), "roll: a shift is an integer, not float32[]");
  EXPECT_CONTAINS(errorOf<ShapeError>([&] { roll(x, ones({1, 1}, DType::Int32), 0); }),
                  "roll: the shifts are a scalar or a vector, not int32[1,1]");
  errorOf<ValueError>([&] { roll(x, 1, 2); });
  EXPECT_CONTAINS(errorOf<StateError>([&] {
                    function([](const Tensor &x, const Tensor &s) { return roll(x, s, {0, 1}); },
                             {.input_signature = {TensorSpec<float>({2, 3}), TensorSpec<std::int32_t>({kDynamic})}})(
                        x, tensor({1, 2}));
                  }),
                  "roll: the number of shifts must be known while tracing");
}

TEST(ArraysMoving, Axes) {
  check("rot90", [](const Tensors &x) {
    Tensors all;
    for (std::int64_t k : {1, 2, 3, 4, -1})
      all.push_back(rot90(x[0], k));
    return all;
  });
  check("rot90 axes", [](const Tensors &x) { return Tensors{rot90(x[0], 1, {2, 0}), rot90(x[0], 3, {-1, 1})}; });
  check("moveaxis", [](const Tensors &x) {
    return Tensors{moveaxis(x[0], 0, -1), moveaxis(x[0], -1, 0), moveaxis(x[0], {0, 1}, {-1, -2}),
                   moveaxis(x[0], 2, 1)};
  });
  check("swapaxes", [](const Tensors &x) { return Tensors{swapaxes(x[0], 0, -1), swapaxes(x[0], 1, 1)}; });
  check("ravel", [](const Tensors &x) { return ravel(x[0]); });
  const Tensor x = ones({2, 3});
  EXPECT_EQ(ravel(scalar(2)).shape(), (Shape{1}));
  EXPECT_CONTAINS(errorOf<ValueError>([&] { moveaxis(x, {0, 1}, 0); }),
                  "moveaxis: there are 2 axes and 1 places for them");
  EXPECT_CONTAINS(errorOf<ValueError>([&] { moveaxis(x, {0, -2}, {0, 1}); }), "moveaxis: axis -2 is given twice");
  EXPECT_CONTAINS(errorOf<ValueError>([&] { rot90(x, 1, 0); }), "rot90: a plane has two axes, not 1");
  errorOf<ValueError>([&] { swapaxes(x, 0, 2); });
}

TEST(ArraysMoving, Repeat) {
  check("repeat", [](const Tensors &x) {
    return Tensors{repeat(x[0], 3), repeat(x[0], 2, 0), repeat(x[0], 2, -1), repeat(x[0], 0, 0)};
  });
  check("repeat counts", [](const Tensors &x) { return repeat(x[0], x[1], 1, 6); });
  const Tensor x = tensor({1, 2, 3});
  auto values = [](const Tensor &t) { return t.to_vector<std::int32_t>(); };
  EXPECT_EQ(values(repeat(x, tensor({2, 0, 1}))), (std::vector<std::int32_t>{1, 1, 3}));
  EXPECT_EQ(values(repeat(x, scalar(2))), (std::vector<std::int32_t>{1, 1, 2, 2, 3, 3}));
  EXPECT_EQ(values(repeat(x, tensor({2, 0, 1}), 0, 2)), (std::vector<std::int32_t>{1, 1}))
      << "further ones are left out";
  EXPECT_EQ(values(repeat(x, tensor({2, 1, 0}), 0, 5)), (std::vector<std::int32_t>{1, 1, 2, 3, 3}))
      << "the last fills up";
  EXPECT_EQ(repeat(zeros({0}), zeros({0}, DType::Int64)).shape(), (Shape{0}));
  EXPECT_CONTAINS(errorOf<ValueError>([&] { repeat(x, -1); }),
                  "repeat: the number of repeats must not be negative: -1");
  EXPECT_CONTAINS(errorOf<ValueError>([&] { repeat(x, tensor({1, 1, 1}), 0, -1); }),
                  "repeat: total_repeat_length must not be negative: -1");
  EXPECT_CONTAINS(errorOf<AssertionError>([&] { repeat(x, tensor({1, -1, 1})); }),
                  "repeat: a number of repeats is negative");
  EXPECT_CONTAINS(errorOf<DTypeError>([&] { repeat(x, 1.5); }),
                  "repeat: a number of repeats is an integer, not float32[]");
  EXPECT_CONTAINS(errorOf<ShapeError>([&] { repeat(x, ones({3, 1}, DType::Int32)); }),
                  "repeat: the numbers are a scalar or a vector, not int32[3,1]");
  EXPECT_CONTAINS(errorOf<StateError>([&] { function([](const Tensor &x) { return repeat(x, x); })(x); }),
                  "repeat: the sum of the numbers of repeats is known at the call only; give the size of the result as "
                  "total_repeat_length");
  errorOf<ShapeError>([&] { repeat(x, tensor({1, 2})); });
}

TEST(ArraysMoving, Diagonals) {
  check("diag vector", [](const Tensors &x) { return Tensors{diag(x[0]), diag(x[0], 2), diag(x[0], -3)}; });
  const Checks known{.unknownSizes = false};
  check(
      "diag matrix", [](const Tensors &x) { return Tensors{diag(x[0]), diag(x[0], 2), diag(x[0], -1), diag(x[0], 9)}; },
      known);
  check(
      "diagonal",
      [](const Tensors &x) { return Tensors{diagonal(x[0]), diagonal(x[0], 1, 1, 2), diagonal(x[0], -1, -1, 0)}; },
      known);
  check("trace", [](const Tensors &x) { return Tensors{trace(x[0]), trace(x[0], 1, 1, 2), trace(x[0], -1, -1, 0)}; });
  check("tril", [](const Tensors &x) { return Tensors{tril(x[0]), tril(x[0], 1), tril(x[0], -2)}; });
  check("triu", [](const Tensors &x) { return Tensors{triu(x[0]), triu(x[0], 1), triu(x[0], -2)}; });
  check("tril nan", [](const Tensors &x) { return Tensors{tril(x[0], -1), triu(x[0], 1), trace(tril(x[0], -1))}; },
        {.derivatives = 0});
  check("diag nan", [](const Tensors &x) { return diag(x[0]); }, {.derivatives = 0});
  // A batch of any size.
  auto batch = function([](const Tensor &x) { return diagonal(x, 1, 1, 2); },
                        {.input_signature = {TensorSpec<float>({kDynamic, 2, 3})}});
  const Tensor x = reshape(arange(12.0f), {2, 2, 3});
  expectSameBits(batch(x), diagonal(x, 1, 1, 2));
  // The main diagonal of a matrix of any size, also of a batch, with its derivatives.
  const TensorSpec<float> any({kDynamic, kDynamic});
  auto logarithms = [](const Tensor &x) { return sum(log(diagonal(x))) + sum(diag(x) * diagonal(x)); };
  auto open = function([&](const Tensor &x) { return std::tuple(logarithms(x), grad(logarithms)(x)); },
                       {.input_signature = {any}});
  for (std::int64_t n : {1, 3, 0}) {
    const Tensor square = 1 + reshape(iota({n * n}, DType::Float32), {n, n});
    const auto [value, slope] = open(square);
    EXPECT_FLOAT_EQ(value.item<float>(), logarithms(square).item<float>());
    expectSameBits(slope, grad(logarithms)(square));
  }
  auto moved = function([](const Tensor &x) { return diagonal(x, 0, 2, 0); },
                        {.input_signature = {TensorSpec<float>({kDynamic, kDynamic, kDynamic})}});
  const Tensor cube = reshape(arange(18.0f), {3, 2, 3});
  expectSameBits(moved(cube), diagonal(cube, 0, 2, 0));
  EXPECT_CONTAINS(errorOf<AssertionError>([&] {
                    function([](const Tensor &x) { return diagonal(x); }, {.input_signature = {any}})(ones({2, 3}))
                        .to_vector<float>();
                  }),
                  "diagonal: a matrix whose sizes are unknown while tracing is not square");
  EXPECT_CONTAINS(errorOf<StateError>([&] {
                    function([](const Tensor &x) { return diagonal(x, 1); }, {.input_signature = {any}})(ones({3, 3}));
                  }),
                  "diagonal: the sizes of axes 0 and 1 of float32[?,?] must be known while tracing, but for main");
  EXPECT_EQ(diag(zeros({0})).shape(), (Shape{0, 0}));
  EXPECT_EQ(diagonal(zeros({0, 3})).shape(), (Shape{0}));
  EXPECT_EQ(tril(ones({2, 2}, DType::Bool)).to_vector<bool>(), (std::vector<bool>{true, false, true, true}));
  EXPECT_CONTAINS(errorOf<ShapeError>([] { diag(ones({2, 2, 2})); }),
                  "diag: takes a vector or a matrix, not float32[2,2,2]");
  EXPECT_CONTAINS(errorOf<ShapeError>([] { triu(ones({2})); }),
                  "triu: takes matrices, of rank 2 or more, not float32[2]");
  EXPECT_CONTAINS(errorOf<ValueError>([] { diagonal(ones({2, 2}), 0, 0, -2); }), "diagonal: axis -2 is given twice");
  EXPECT_CONTAINS(errorOf<StateError>([&] {
                    function([](const Tensor &x) { return diagonal(x); },
                             {.input_signature = {TensorSpec<float>({kDynamic, 3})}})(ones({3, 3}));
                  }),
                  "diagonal: the sizes of axes 0 and 1 of float32[?,3] must be known while tracing, but for main "
                  "diagonals of square matrices");
}
