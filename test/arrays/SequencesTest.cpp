// calque/arrays/sequences.h, and top_k along any axis, against NumPy and SciPy.
#include "Testing.h"

using namespace calque;
using namespace calque::testing;
using Tensors = std::vector<Tensor>;

TEST(ArraysSequences, RunningExtrema) {
  check("cummax", [](const Tensors &x) { return Tensors{cummax(x[0]), cummax(x[0], 1), cummin(x[0], -1)}; });
  check("cummax nan", [](const Tensors &x) { return Tensors{cummax(x[0]), cummin(x[0])}; }, {.derivatives = 0});
  check("logcumsumexp", [](const Tensors &x) { return Tensors{logcumsumexp(x[0]), logcumsumexp(x[0] * 300, 1)}; });
  check("logcumsumexp inf", [](const Tensors &x) { return logcumsumexp(x[0]); }, {.derivatives = 0});
  // Where terms are equal, the second derivative is there too.
  const Tensor second = hessian([](const Tensor &x) { return logcumsumexp(x)[1]; })(tensor<double>({1, 1}));
  EXPECT_NEAR(second.to_vector<double>()[0], 0.25, 1e-12);
  for (std::int64_t n : {0, 1, 2, 3, 17})
    EXPECT_EQ(cummax(arange(std::int64_t(n))).to_vector<std::int64_t>(),
              arange(std::int64_t(n)).to_vector<std::int64_t>());
  EXPECT_EQ(cummin(tensor({true, false, true})).to_vector<bool>(), (std::vector<bool>{true, false, false}));
  EXPECT_CONTAINS(errorOf<DTypeError>([] { logcumsumexp(tensor({1})); }),
                  "logcumsumexp: takes floating-point numbers, not int32[1]; use cast(x, DType::Float32)");
}

TEST(ArraysSequences, Differences) {
  check("diff",
        [](const Tensors &x) {
          return Tensors{diff(x[0]), diff(x[0], 1, 0), diff(x[0], 3), diff(x[0], 0), diff(x[0], 9)};
        },
        {.unknownSizes = false});
  check("diff int", [](const Tensors &x) { return Tensors{diff(x[0]), diff(x[1])}; },
        {.derivatives = 0, .float32 = false});
  check("gradient",
        [](const Tensors &y) { return Tensors{gradient(y[0]), gradient(y[0], 0.5, 0), gradient(y[0], 2, 1, 2)}; });
  check("gradient places",
        [](const Tensors &x) {
          const Tensor places = cumsum(exp(x[1]));
          return Tensors{gradient(x[0], places, 1), gradient(x[0], places, 1, 2)};
        },
        {.tolerance = 1e-13, .tolerance32 = 1e-5});
  check("cumulative_trapezoid", [](const Tensors &x) {
    return Tensors{cumulative_trapezoid(x[0]), cumulative_trapezoid(x[0], 0.5, 0),
                   cumulative_trapezoid(x[0], x[1], -1, true)};
  });
  EXPECT_EQ(diff(zeros({1})).shape(), (Shape{0}));
  EXPECT_EQ(cumulative_trapezoid(ones({1}), 1, 0, true).to_vector<float>(), (std::vector<float>{0}));
  const Tensor y = ones({2, 3});
  EXPECT_CONTAINS(errorOf<ValueError>([&] { diff(y, -1); }),
                  "diff: the number of differences must not be negative: -1");
  EXPECT_CONTAINS(errorOf<ValueError>([&] { gradient(y, 1, 0, 3); }),
                  "gradient: the order at the ends is 1 or 2, not 3");
  EXPECT_CONTAINS(errorOf<ShapeError>([&] { gradient(y, 1, 0, 2); }),
                  "gradient: there must be 3 samples at least along axis 0 of float32[2,3]");
  EXPECT_CONTAINS(
      errorOf<ShapeError>([&] { gradient(y, ones({4})); }),
      "gradient: the spacing is a scalar or a place for each sample along axis 1 of float32[2,3], not float32[4]");
}

TEST(ArraysSequences, Interpolation) {
  check("interp",
        [](const Tensors &x) {
          const Tensor places = cumsum(exp(x[1]));
          return Tensors{interp(x[0], places, x[2]), interp(x[0], places, x[2], {.left = -7, .right = 9})};
        },
        {.tolerance32 = 1e-5});
  check("interp edges", [](const Tensors &x) { return interp(x[0], x[1], x[2]); }, {.derivatives = 0});
  EXPECT_EQ(interp(tensor({0.0f, 2.0f}), tensor({1.0f}), tensor({5.0f})).to_vector<float>(),
            (std::vector<float>{5, 5}));
  EXPECT_EQ(interp(0.5, tensor({0.0f, 1.0f}), tensor({1.0f, 2.0f})).item<float>(), 1.5f);
  EXPECT_CONTAINS(errorOf<ShapeError>([] { interp(0.5, ones({2}), ones({3})); }),
                  "interp: the points must be two vectors of one size above 0, not float32[2] and float32[3]");
  errorOf<ShapeError>([] { interp(0.5, zeros({0}), zeros({0})); });
}

TEST(ArraysSequences, Convolutions) {
  auto modes = [](Tensor (*f)(const Operand &, const Operand &, const std::string &)) {
    return
        [f](const Tensors &x) { return Tensors{f(x[0], x[1], "full"), f(x[0], x[1], "same"), f(x[0], x[1], "valid")}; };
  };
  const Checks known{.unknownSizes = false, .tolerance32 = 1e-5};
  for (const char *name : {"convolve", "convolve even"})
    check(name, modes(convolve), known);
  for (const char *name : {"correlate", "correlate long"})
    check(name, modes(correlate), known);
  const Tensor x = ones({3});
  EXPECT_CONTAINS(errorOf<ValueError>([&] { convolve(x, x, "wrap"); }),
                  "convolve: the mode is 'full', 'same' or 'valid', not 'wrap'");
  EXPECT_CONTAINS(errorOf<ShapeError>([&] { correlate(x, ones({0})); }),
                  "correlate: takes vectors with elements, not float32[0]");
  EXPECT_CONTAINS(errorOf<StateError>([&] {
                    function([](const Tensor &x) { return convolve(x, x); },
                             {.input_signature = {TensorSpec<float>({kDynamic})}})(ones({3}));
                  }),
                  "convolve: the sizes must be known while tracing, unlike that of float32[?]");
}

TEST(ArraysSequences, Polynomials) {
  check("polyval", [](const Tensors &x) { return polyval(x[0], x[1]); }, {.unknownSizes = false});
  EXPECT_EQ(polyval(tensor({1, 2, 3}), 2).item<std::int32_t>(), 11);
  EXPECT_EQ(polyval(zeros({0}), ones({2})).to_vector<float>(), (std::vector<float>{0, 0}));
  EXPECT_CONTAINS(errorOf<ShapeError>([] { polyval(ones({2, 2}), 1); }),
                  "polyval: the coefficients must be a vector, not float32[2,2]");
  EXPECT_CONTAINS(errorOf<StateError>([&] {
                    function([](const Tensor &p) { return polyval(p, 2); },
                             {.input_signature = {TensorSpec<float>({kDynamic})}})(ones({3}));
                  }),
                  "polyval: the number of coefficients must be known while tracing");
}

// NumPy's order of the elements beside the one at kth is another one, so that these are compared with what is promised.
TEST(ArraysSequences, Partitions) {
  const Tensor x = tensor({5.0f, 2.0f, 9.0f, 2.0f, -1.0f, 7.0f}, {2, 3});
  for (bool compiled : {false, true})
    for (std::int64_t kth : {0, 1, -1}) {
      auto both = [=](const Tensor &x) { return std::pair(partition(x, kth), argpartition(x, kth)); };
      const auto [values, indices] = compiled ? function(both)(x) : both(x);
      EXPECT_EQ(take_along_axis(x, indices, -1).to_vector<float>(), values.to_vector<float>());
      for (std::int64_t row = 0; row < 2; ++row)
        for (std::int64_t k = 0; k < 3; ++k) {
          const float element = values[row][k].item<float>(), middle = values[row][kth].item<float>();
          EXPECT_TRUE(k < (kth + 3) % 3 ? element <= middle : element >= middle);
        }
    }
  EXPECT_EQ(partition(tensor({3, 1, 2}), 1)[1].item<std::int32_t>(), 2);
  EXPECT_CONTAINS(errorOf<ValueError>([&] { partition(x, 3); }),
                  "partition: there is no place 3 along axis -1 of float32[2,3]");
  EXPECT_CONTAINS(errorOf<ValueError>([&] { argpartition(x, 0, 2); }), "argpartition: axis 2 is out of range");
}

TEST(ArraysSequences, LargestAlongAnAxis) {
  check("top_k", [](const Tensors &x) {
    const TopK found = top_k(x[0], 2, 0);
    return Tensors{found.values, found.indices};
  });
}
