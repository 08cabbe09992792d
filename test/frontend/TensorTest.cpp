#include "Testing.h"

using namespace calque;
using namespace calque::testing;

TEST(Tensor, HoldsItsElements) {
  Tensor x = tensor<float>({1, 2, 3, 4, 5, 6}, {2, 3});
  EXPECT_EQ(x.dtype(), DType::Float32);
  EXPECT_EQ(x.shape(), Shape({2, 3}));
  EXPECT_EQ(x.rank(), 2);
  EXPECT_EQ(x.size(), 6);
  expectValues(x, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(x.data<float>()) % 64, 0u);
}

TEST(Tensor, FactoriesFillEveryDType) {
  for (const DTypeInfo &info : kDTypes) {
    DType dtype = info.dtype;
    EXPECT_EQ(zeros({2}, dtype).dtype(), dtype);
    EXPECT_EQ(ones({3}, dtype).size(), 3);
  }
  expectValues(ones({2}), {1, 1});
  expectValues(full({2}, 2.5), {2.5, 2.5});
  expectValues(eye(2), {1, 0, 0, 1});
  EXPECT_EQ(full({2}, 7, DType::Int64).to_vector<std::int64_t>(), std::vector<std::int64_t>({7, 7}));
  EXPECT_EQ(tensor<bool>({true, false}).to_vector<bool>(), std::vector<bool>({true, false}));
  EXPECT_EQ(zeros({0, 3}).size(), 0);
  EXPECT_EQ(scalar(3.0).item<double>(), 3.0);
}

TEST(Tensor, PrintsLikeNumPy) {
  std::ostringstream os;
  os << tensor<float>({1, 2, 3, 4}, {2, 2});
  EXPECT_EQ(os.str(), "[[1. 2.]\n [3. 4.]]");
}

TEST(Tensor, RefusesWrongElementTypesAndCounts) {
  Tensor x = tensor<float>({1, 2});
  EXPECT_CONTAINS(errorOf<DTypeError>([&] { x.data<int>(); }), "float32");
  EXPECT_CONTAINS(errorOf<ShapeError>([&] { x.item<float>(); }), "[2]");
  EXPECT_CONTAINS(errorOf<ValueError>([] { tensor<float>({1, 2, 3}, {2, 2}); }), "[2,2]");
  EXPECT_CONTAINS(errorOf<ValueError>([] { zeros({-1}); }), "negative");
  EXPECT_CONTAINS(errorOf<ShapeError>([] { zeros({1LL << 40, 1LL << 40}); }), "addressed");
  EXPECT_CONTAINS(errorOf<StateError>([] { Tensor().shape(); }), "empty");
  EXPECT_THROW((void)static_cast<bool>(x), ShapeError);
}

TEST(Tensor, ABoolOfAScalarIsItsTruth) {
  EXPECT_TRUE(static_cast<bool>(scalar(2.0f)));
  EXPECT_FALSE(static_cast<bool>(scalar(0)));
  EXPECT_TRUE(static_cast<bool>(scalar(true)));
}

TEST(Operand, NumbersAdoptTheTensorsType) {
  EXPECT_EQ((tensor<std::int64_t>({1, 2}) + 1).to_vector<std::int64_t>(), std::vector<std::int64_t>({2, 3}));
  EXPECT_EQ((2 * tensor<double>({1.5})).item<double>(), 3.0);
  expectValues(where(tensor<bool>({true, false}), 1.0, 2.0), {1, 2});
  EXPECT_CONTAINS(errorOf<DTypeError>([] { tensor<int>({1}) + 0.5; }), "int32");
  EXPECT_CONTAINS(errorOf<ValueError>([] { tensor<int>({1}) + (1LL << 40); }), "int32");
}

TEST(Matmul, MultipliesTransposesAndBroadcasts) {
  Tensor a = tensor<float>({1, 2, 3, 4}, {2, 2}), b = tensor<float>({5, 6, 7, 8}, {2, 2});
  expectValues(matmul(a, b), {19, 22, 43, 50});
  expectValues(matmul(a, b, {.transpose_a = true}), {26, 30, 38, 44});
  expectValues(matmul(a, b, {.transpose_b = true}), {17, 23, 39, 53});
  Tensor batch = tensor<float>({1, 0, 0, 1, 2, 0, 0, 2}, {2, 2, 2});
  Tensor product = matmul(batch, b);
  EXPECT_EQ(product.shape(), Shape({2, 2, 2}));
  expectValues(product, {5, 6, 7, 8, 10, 12, 14, 16});
}
