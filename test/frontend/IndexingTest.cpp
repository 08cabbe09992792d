// Entries and rows of tensors, compound assignment and the operators of bool tensors.
#include "Testing.h"

namespace calque {
namespace {

using namespace testing;

Tensor numbers(const Shape &shape) {
  std::vector<float> values(static_cast<std::size_t>(std::int64_t(ones(shape).size())));
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<float>(i);
  return tensor(values, shape);
}

TEST(Indexing, EntriesCountFromBothEnds) {
  Tensor x = numbers({3, 2, 5});
  EXPECT_EQ(x[1].shape(), (Shape{2, 5}));
  EXPECT_EQ(x[1][0].to_vector<float>(), (std::vector<float>{10, 11, 12, 13, 14}));
  EXPECT_EQ(x[-1][-2][-5].item<float>(), 20);
  EXPECT_EQ(x[std::size_t(2)][std::int64_t(1)][4].item<float>(), 29);
  EXPECT_EQ(tensor({true, false})[0].item<bool>(), true);
  auto f = function([](const Tensor &y) { return y[0] + y[-1]; });
  EXPECT_EQ(f(numbers({4, 3})).to_vector<float>(), (std::vector<float>{9, 11, 13}));
}

TEST(Indexing, TensorsAreIndicesToo) {
  Tensor x = numbers({3, 2});
  EXPECT_EQ(x[scalar(2)].to_vector<float>(), (std::vector<float>{4, 5}));
  EXPECT_EQ(x[tensor({{2, 0}})].shape(), (Shape{1, 2, 2}));
  EXPECT_EQ(x[Variable(1)].to_vector<float>(), (std::vector<float>{2, 3}));
}

TEST(Indexing, EntriesOfOpenSizes) {
  auto ends =
      function([](const Tensor &y) { return y[-1] - y[1]; }, {.input_signature = {TensorSpec<float>({kDynamic, 2})}});
  EXPECT_EQ(ends(numbers({3, 2})).to_vector<float>(), (std::vector<float>{2, 2}));
  EXPECT_EQ(ends(numbers({7, 2})).to_vector<float>(), (std::vector<float>{10, 10}));
  EXPECT_EQ(ends.trace_count(), 1);
  errorOf<IndexError>([&] { ends(numbers({1, 2})); });
}

TEST(Indexing, EntriesHaveGradients) {
  auto f = [](const Tensor &y) { return y[1] * y[-1] * 2; };
  EXPECT_EQ(grad(f)(tensor({1.0, 2, 3})).to_vector<float>(), (std::vector<float>{0, 6, 4}));
  EXPECT_EQ(function(grad(f))(tensor({1.0, 2, 3})).to_vector<float>(), (std::vector<float>{0, 6, 4}));
}

TEST(Indexing, NoSuchEntry) {
  Tensor x = numbers({3, 2});
  EXPECT_CONTAINS(errorOf<IndexError>([&] { x[3]; }), "x[i]: there is no entry 3 in a tensor of shape [3,2]");
  EXPECT_CONTAINS(errorOf<IndexError>([&] { x[-4]; }), "there is no entry -4");
  EXPECT_CONTAINS(errorOf<IndexError>([&] { x[3]; }), "IndexingTest.cpp");
  EXPECT_CONTAINS(errorOf<ShapeError>([] { scalar(1)[0]; }), "x[i]: a scalar has no entries");
  EXPECT_CONTAINS(errorOf<DTypeError>([&] { x[1.0]; }), "x[i]: an index is an integer");
  errorOf<DTypeError>([&] { x[scalar(1.0f)]; });
  errorOf<StateError>([] { Tensor()[0]; });
}

TEST(Indexing, RowsAreThoseOfPython) {
  Tensor x = numbers({5, 2});
  auto rows = [&](std::int64_t start, std::int64_t end) { return x.rows(start, end).to_vector<float>(); };
  EXPECT_EQ(rows(1, 3), (std::vector<float>{2, 3, 4, 5}));
  EXPECT_EQ(rows(-2, 5), (std::vector<float>{6, 7, 8, 9}));
  EXPECT_EQ(rows(0, -4), (std::vector<float>{0, 1}));
  EXPECT_EQ(rows(4, 100), (std::vector<float>{8, 9}));
  EXPECT_EQ(x.rows(-100, 100).shape(), (Shape{5, 2}));
  EXPECT_EQ(x.rows(3, 2).shape(), (Shape{0, 2}));
  EXPECT_EQ(x.rows(9, 12).shape(), (Shape{0, 2}));
  auto f = function([](const Tensor &y) { return y.rows(1, 3); });
  EXPECT_EQ(f(x).to_vector<float>(), rows(1, 3));
  // Sizes behind the first may be open.
  auto g =
      function([](const Tensor &y) { return y.rows(1, 3); }, {.input_signature = {TensorSpec<float>({5, kDynamic})}});
  EXPECT_EQ(g(x).to_vector<float>(), rows(1, 3));
  EXPECT_EQ(g(x).shape(), (Shape{2, 2}));
}

TEST(Indexing, NoSuchRows) {
  EXPECT_CONTAINS(errorOf<ShapeError>([] { scalar(1).rows(0, 1); }), "rows: a scalar has no entries");
  auto open =
      function([](const Tensor &y) { return y.rows(1, 3); }, {.input_signature = {TensorSpec<float>({kDynamic})}});
  EXPECT_CONTAINS(errorOf<StateError>([&] { open(numbers({5})); }),
                  "rows: the number of entries is not known while tracing");
}

TEST(Indexing, CompoundAssignment) {
  Tensor x = tensor({1.0, 2.0}), before = x;
  x += 1;
  x *= tensor({3.0, 4.0});
  x -= Variable(2.0);
  x /= 2;
  EXPECT_EQ(x.to_vector<float>(), (std::vector<float>{2, 5}));
  EXPECT_EQ(before.to_vector<float>(), (std::vector<float>{1, 2}));
  Tensor n = tensor({7, -7});
  n %= 4;
  EXPECT_EQ(n.to_vector<int>(), (std::vector<int>{3, -3}));
  // As the operator it is: the shape may change, and derivatives go through.
  auto f = function([](const Tensor &y) {
    Tensor s = scalar(1.0f);
    for (int i = 0; i < 3; ++i)
      s *= y;
    return s;
  });
  EXPECT_EQ(grad(f)(scalar(2.0f)).item<float>(), 12);
  EXPECT_CONTAINS(errorOf<DTypeError>([&] { x += n; }), "float32");
  EXPECT_EQ(x.to_vector<float>(), (std::vector<float>{2, 5}));
}

TEST(Indexing, OperatorsOfBools) {
  Tensor a = tensor({true, true, false, false}), b = tensor({true, false, true, false});
  EXPECT_EQ((a & b).to_vector<bool>(), (std::vector<bool>{true, false, false, false}));
  EXPECT_EQ((a | b).to_vector<bool>(), (std::vector<bool>{true, true, true, false}));
  EXPECT_EQ((~a).to_vector<bool>(), (std::vector<bool>{false, false, true, true}));
  EXPECT_EQ((a & true).to_vector<bool>(), a.to_vector<bool>());
  a &= b;
  b |= a;
  EXPECT_EQ(a.to_vector<bool>(), (std::vector<bool>{true, false, false, false}));
  Variable v(tensor({true, false}));
  EXPECT_EQ((!v).to_vector<bool>(), (std::vector<bool>{false, true}));
  EXPECT_EQ((tensor({3}) & tensor({6})).to_vector<int>(), std::vector<int>{2}); // the bits of integers
  errorOf<DTypeError>([] { tensor({1}) & tensor({true}); });
  errorOf<DTypeError>([] { ~tensor({1.0}); });
}

TEST(Indexing, Representation) {
  EXPECT_EQ(tensor({1.0, 2.5}).repr(), "Tensor([1.  2.5], shape=[2], dtype=float32)");
  EXPECT_EQ(scalar(6).repr(), "Tensor(6, shape=[], dtype=int32)");
  EXPECT_EQ(Tensor().repr(), "<empty tensor>");
  std::ostringstream text;
  text << std::optional<Tensor>() << ' ' << std::optional<Tensor>(scalar(2));
  EXPECT_EQ(text.str(), "none 2");
}

} // namespace
} // namespace calque
