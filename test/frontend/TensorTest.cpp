#include "Testing.h"
#include "calque/training.h"

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
  EXPECT_EQ(scalar<double>(3.0).item<double>(), 3.0);
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

TEST(Tensor, IsMadeOfAnyContiguousRange) {
  std::vector<float> values{1, 2, 3, 4};
  const std::vector<double> doubles{1, 2};
  std::array<std::int64_t, 2> integers{5, 6};
  const bool truths[] = {true, false};
  expectValues(tensor(std::span(values), {2, 2}), {1, 2, 3, 4});
  expectValues(tensor(std::span(values).subspan(1)), {2, 3, 4});
  expectValues(tensor<float>(std::span(values), {4, 1}), {1, 2, 3, 4});
  EXPECT_EQ(tensor(std::span<float, 4>(values)).shape(), Shape{4});
  EXPECT_EQ(tensor(std::span(doubles), {2}).dtype(), DType::Float64);
  EXPECT_EQ(tensor(integers).to_vector<std::int64_t>(), (std::vector<std::int64_t>{5, 6}));
  EXPECT_EQ(tensor(integers, {2, 1}).shape(), (Shape{2, 1}));
  EXPECT_EQ(tensor(truths, {2}).to_vector<bool>(), (std::vector<bool>{true, false}));
  EXPECT_EQ(tensor(std::span<float>()).shape(), Shape{0});
  EXPECT_CONTAINS(errorOf<ValueError>([&] { tensor(std::span(values), {3}); }), "TensorTest.cpp");
}

TEST(Tensor, EmptyBracesAreTheShapeOfAScalar) {
  std::vector<float> one{7};
  for (const Tensor &x : {tensor(one, {}), tensor<float>({7}, {}), tensor({7.0f}, {}), tensor(std::span(one), {}),
                          tensor(std::span<const float>(one), {}), tensor(std::vector<bool>{true}, {})}) {
    EXPECT_EQ(x.rank(), 0);
    EXPECT_EQ(x.size(), 1);
  }
  EXPECT_EQ(tensor(one, SourceLocation::at("here.cpp", 3)).shape(), Shape{1});
}

TEST(Print, ShowsNamesOfTypesAndEnumerators) {
  auto text = [](const auto &x) {
    std::ostringstream os;
    os << x;
    return os.str();
  };
  EXPECT_EQ(text(DType::Float32), "float32");
  EXPECT_EQ(text(ones({2}, DType::Int64).dtype()), "int64");
  EXPECT_EQ(text(static_cast<DType>(77)), "unknown");
  EXPECT_EQ(text(DTypeKind::Bool) + text(DTypeKind::Integer) + text(DTypeKind::Float), "boolintegerfloat");
  EXPECT_EQ(text(static_cast<DTypeKind>(9)), "unknown");
  EXPECT_EQ(text(UnconnectedGradients::None) + text(UnconnectedGradients::Zero), "NoneZero");
  EXPECT_EQ(text(static_cast<UnconnectedGradients>(9)), "9");
  EXPECT_EQ(text(losses::Reduction::Mean) + text(losses::Reduction::Sum) + text(losses::Reduction::None),
            "MeanSumNone");
  EXPECT_EQ(text(static_cast<losses::Reduction>(9)), "9");
  EXPECT_EQ(text(TensorSpec<float>({kDynamic, 3})), "float32[?,3]");
  EXPECT_EQ(text(TensorSpec(DType::Bool, kAnyShape)), "bool[...]");
  EXPECT_EQ(text(Shape{2, kDynamic}) + text(Size(4)), "[2,?]4");
}

TEST(Tensor, FullRepeatsItsElementToTheEnd) {
  for (std::int64_t count : {0, 1, 2, 3, 5, 511, 512, 1023, 1024, 1025, 3000, 10001}) {
    EXPECT_EQ(full({count}, 1.5f).to_vector<float>(), std::vector<float>(static_cast<std::size_t>(count), 1.5f));
    EXPECT_EQ(full({count}, -7, DType::Int64).to_vector<std::int64_t>(),
              std::vector<std::int64_t>(static_cast<std::size_t>(count), -7));
    EXPECT_EQ(ones({count}, DType::Bool).to_vector<bool>(), std::vector<bool>(static_cast<std::size_t>(count), true));
  }
}
