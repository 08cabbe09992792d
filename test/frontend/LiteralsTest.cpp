// Tensors from numbers in braces, from ranges and from memory.
#include "Testing.h"

#include <list>
#include <numeric>

namespace calque {
namespace {

using namespace testing;

// Restores the default element type.
struct DefaultDtype {
  explicit DefaultDtype(DType dtype) { set_default_dtype(dtype); }
  ~DefaultDtype() { set_default_dtype(before); }
  DType before = default_dtype();
};

TEST(Literals, DoublesAreOfTheDefaultType) {
  EXPECT_EQ(scalar(3.0).dtype(), DType::Float32);
  EXPECT_EQ(tensor({3.0, 1}).dtype(), DType::Float32);
  EXPECT_EQ((Variable(3.0) * scalar(3.0)).item<float>(), 9);
  EXPECT_EQ(scalar<double>(3).dtype(), DType::Float64);
  EXPECT_EQ(tensor<double>({3, 0.1}).to_vector<double>(), (std::vector<double>{3, 0.1}));
  EXPECT_EQ(tensor<float>({3, 0.1}).to_vector<float>(), (std::vector<float>{3, 0.1f}));
  double given = 0.1;
  EXPECT_EQ(scalar(given).item<float>(), 0.1f);
}

TEST(Literals, OtherNumbersKeepTheirType) {
  EXPECT_EQ(scalar(3.0f).dtype(), DType::Float32);
  EXPECT_EQ(tensor({1, 2}).dtype(), DType::Int32);
  EXPECT_EQ(tensor({1, std::int64_t(2)}).dtype(), DType::Int64);
  EXPECT_EQ(tensor({1LL, 2LL}).dtype(), DType::Int64);
  EXPECT_EQ(tensor({1u}).dtype(), DType::Int64);
  EXPECT_EQ(tensor({'a'}).dtype(), DType::Int32);
  EXPECT_EQ(tensor({true, false}).dtype(), DType::Bool);
  EXPECT_EQ(tensor({true, false}).to_vector<bool>(), (std::vector<bool>{true, false}));
  EXPECT_EQ(tensor({1, 2.5f}).dtype(), DType::Float32);
  EXPECT_EQ(tensor({1, true}).to_vector<int>(), (std::vector<int>{1, 1}));
  EXPECT_EQ(scalar(std::numeric_limits<std::int64_t>::min()).item<std::int64_t>(),
            std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(scalar(7LL).item<long long>(), 7);
  EXPECT_EQ(tensor<long long>({1, 2}).to_vector<long long>(), (std::vector<long long>{1, 2}));
}

TEST(Literals, TheDefaultTypeCanBeSet) {
  DefaultDtype doubles(DType::Float64);
  EXPECT_EQ(scalar(3.0).dtype(), DType::Float64);
  EXPECT_EQ(Variable(3.0).dtype(), DType::Float64);
  EXPECT_EQ(ones({2}).dtype(), DType::Float64);
  EXPECT_EQ(random::uniform({2}).dtype(), DType::Float64);
  EXPECT_EQ(scalar(3.0f).dtype(), DType::Float32);
  EXPECT_EQ(tensor({1}).dtype(), DType::Int32);
  // Beside a tensor nothing changes.
  EXPECT_EQ((scalar(3.0f) * 2.0).dtype(), DType::Float32);
  EXPECT_CONTAINS(errorOf<ValueError>([] { set_default_dtype(DType::Int32); }),
                  "set_default_dtype: takes floating-point numbers, not int32");
  EXPECT_EQ(default_dtype(), DType::Float64);
}

TEST(Literals, BracesNest) {
  Tensor matrix = tensor({{1, 2, 3}, {4, 5, 6}});
  EXPECT_EQ(matrix.shape(), (Shape{2, 3}));
  EXPECT_EQ(matrix.to_vector<int>(), (std::vector<int>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(tensor<float>({{1., 2., 3.}}).shape(), (Shape{1, 3}));
  EXPECT_EQ(tensor<float>({{1}, {2}}).shape(), (Shape{2, 1}));
  EXPECT_EQ(tensor({{{1.5, 2}, {3, 4}, {5, 6}}}).shape(), (Shape{1, 3, 2}));
  EXPECT_EQ(tensor({{{{1}}}}).shape(), (Shape{1, 1, 1, 1}));
  EXPECT_EQ(tensor<float>({}).shape(), (Shape{0}));
  EXPECT_EQ(tensor<float>({{}, {}}).shape(), (Shape{2, 0}));
  EXPECT_EQ(tensor(2.5).shape(), Shape{});
  EXPECT_EQ(tensor({1, 2, 3, 4}, {2, 2}).shape(), (Shape{2, 2}));
  EXPECT_EQ(tensor<double>({{1, 2}, {3, 4}}, {4}).shape(), (Shape{4}));
  EXPECT_EQ(tensor({5}, {}).shape(), Shape{});
}

TEST(Literals, WhatIsNoTensorIsRefused) {
  EXPECT_CONTAINS(errorOf<ValueError>([] { tensor({{1, 2}, {3}}); }),
                  "rows of different lengths, 2 and 1, in dimension 1");
  EXPECT_CONTAINS(errorOf<ValueError>([] { tensor({{1, 2}, {3}}); }), "LiteralsTest.cpp");
  EXPECT_CONTAINS(errorOf<ValueError>([] { tensor<float>({{{1}, {2}}, {{3}}}); }),
                  "rows of different lengths, 2 and 1, in dimension 1");
  EXPECT_CONTAINS(errorOf<ValueError>([] { tensor({1, {2}}); }), "a number stands beside a list of numbers");
  EXPECT_CONTAINS(errorOf<ValueError>([] { tensor({{1}, 2}); }), "a number stands beside a list of numbers");
  EXPECT_CONTAINS(errorOf<ValueError>([] { tensor({{{1}}, {2}}); }), "a number stands beside a list of numbers");
  EXPECT_CONTAINS(errorOf<DTypeError>([] { tensor<int>({1, 2.0}); }), "LiteralsTest.cpp");
  EXPECT_CONTAINS(errorOf<ValueError>([] { tensor<int>({1, 3'000'000'000}); }), "3000000000");
  EXPECT_CONTAINS(errorOf<DTypeError>([] { tensor<bool>({1, 0}); }), "bool");
  EXPECT_CONTAINS(errorOf<ValueError>([] { tensor({~std::uint64_t(0)}); }), "18446744073709551615");
  EXPECT_CONTAINS(errorOf<ValueError>([] { tensor({1, 2, 3}, {2, 2}); }), "has 4 elements, not 3");
}

TEST(Literals, RangesKeepTheirElementType) {
  EXPECT_EQ(tensor(std::vector<double>{1, 2}).dtype(), DType::Float64);
  EXPECT_EQ(tensor<double>(std::vector<double>{1, 2}).dtype(), DType::Float64);
  std::vector<std::vector<float>> rows = {{1, 2}, {3, 4}, {5, 6}};
  EXPECT_EQ(tensor(rows).shape(), (Shape{3, 2}));
  EXPECT_EQ(tensor(rows).to_vector<float>(), (std::vector<float>{1, 2, 3, 4, 5, 6}));
  int grid[2][3] = {{1, 2, 3}, {4, 5, 6}};
  EXPECT_EQ(tensor(grid).shape(), (Shape{2, 3}));
  EXPECT_EQ(tensor(std::vector<std::vector<bool>>{{true, false}}).to_vector<bool>(), (std::vector<bool>{true, false}));
  EXPECT_EQ(tensor(std::list<int>{1, 2}).to_vector<int>(), (std::vector<int>{1, 2}));
  EXPECT_EQ(tensor(std::vector<std::array<double, 2>>{{1, 2}, {3, 4}}, {4}).shape(), (Shape{4}));
  rows[1].pop_back();
  EXPECT_CONTAINS(errorOf<ValueError>([&] { tensor(rows); }), "rows of different lengths, 2 and 1, in dimension 1");
}

TEST(Literals, ManyLiterals) {
  Tensor x = tensor({0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26});
  std::vector<int> expected(27);
  std::iota(expected.begin(), expected.end(), 0);
  EXPECT_EQ(x.to_vector<int>(), expected);
}

TEST(Literals, MemoryOfOthersIsCopiedOrShared) {
  auto owner = std::make_shared<std::vector<double>>(std::vector<double>{1, 2, 3, 4, 5, 6});
  std::span<const std::byte> bytes = std::as_bytes(std::span(*owner));
  Tensor copied = tensor_from_bytes(DType::Float64, bytes, {2, 3});
  std::weak_ptr<std::vector<double>> alive = owner;
  {
    Tensor shared = tensor_from_memory(DType::Float64, bytes, {3, 2}, owner);
    EXPECT_EQ(shared.data<double>(), owner->data());
    EXPECT_NE(copied.data<double>(), owner->data());
    owner.reset();
    EXPECT_FALSE(alive.expired());
    EXPECT_EQ((shared * 2).to_vector<double>(), (std::vector<double>{2, 4, 6, 8, 10, 12}));
    EXPECT_EQ(function([](const Tensor &x) { return sum(x); })(shared).item<double>(), 21);
  }
  EXPECT_TRUE(alive.expired());
  EXPECT_EQ(copied.bytes().size(), 48u);
  EXPECT_EQ(tensor_from_bytes(copied.dtype(), copied.bytes(), copied.shape()).to_vector<double>(),
            copied.to_vector<double>());
}

TEST(Literals, MemoryThatHoldsNoSuchTensorIsRefused) {
  alignas(8) std::byte memory[24] = {};
  std::span<const std::byte> bytes(memory);
  EXPECT_CONTAINS(errorOf<ValueError>([&] { tensor_from_bytes(DType::Float32, bytes, {5}); }),
                  "tensor_from_bytes: float32[5] has 20 bytes, not 24");
  EXPECT_CONTAINS(errorOf<ValueError>([&] { tensor_from_memory(DType::Float32, bytes, {2, -3}, nullptr); }),
                  "a shape has no negative sizes");
  EXPECT_CONTAINS(errorOf<ValueError>([&] { tensor_from_memory(DType::Int64, bytes.subspan(4, 16), {2}, nullptr); }),
                  "the memory is not aligned to the 8 bytes of an element of int64");
}

TEST(Literals, WhetherElementsAreKnown) {
  EXPECT_TRUE(ones({2}).is_known());
  bool isKnown = true;
  function([&](const Tensor &x) {
    isKnown = x.is_known();
    return x;
  })(ones({2}));
  EXPECT_FALSE(isKnown);
}

} // namespace
} // namespace calque
