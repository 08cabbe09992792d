// The order in which an einsum multiplies several tensors.
#include "frontend/operations/ProductOrder.h"
#include "test/Tensors.h"

#include <functional>
#include <limits>

namespace calque::testing {
namespace {

using detail::ProductOrder;
using Letters = ProductOrder::Letters;

struct Case {
  std::vector<Letters> factors;
  Letters result = 0;
  std::vector<double> sizes;

  double product(Letters letters) const {
    double product = 1;
    for (std::size_t i = 0; i < sizes.size(); ++i)
      product *= letters >> i & 1 ? sizes[i] : 1;
    return product;
  }
  // The multiplications of a pair, which becomes its product.
  double multiply(std::vector<Letters> &live, std::size_t first, std::size_t second) const {
    const Letters both = live[first] | live[second];
    live.erase(live.begin() + static_cast<std::ptrdiff_t>(second));
    Letters others = result;
    for (std::size_t i = 0; i < live.size(); ++i)
      others |= i == first ? 0 : live[i];
    live[first] = both & others;
    return product(both);
  }
  double costOf(const std::vector<ProductOrder::Pair> &pairs) const {
    std::vector<Letters> live = factors;
    double cost = 0;
    for (auto [first, second] : pairs) {
      EXPECT_LT(first, second);
      EXPECT_LT(second, live.size());
      cost += multiply(live, first, second);
    }
    EXPECT_EQ(live.size(), 1u);
    return cost;
  }
  // Of all orders.
  double least(const std::vector<Letters> &live) const {
    if (live.size() == 1)
      return 0;
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < live.size(); ++i)
      for (std::size_t j = i + 1; j < live.size(); ++j) {
        std::vector<Letters> next = live;
        const double own = multiply(next, i, j);
        least = std::min(least, own + this->least(next));
      }
    return least;
  }
};

Case randomCase(std::mt19937 &random, std::size_t factors, std::size_t letters) {
  Case c;
  for (std::size_t i = 0; i < letters; ++i)
    c.sizes.push_back(static_cast<double>(1 + random() % 20));
  for (std::size_t i = 0; i < factors; ++i)
    c.factors.push_back(Letters(random()) & Letters(random()) & ((Letters(1) << letters) - 1));
  c.result = Letters(random()) & Letters(random()) & ((Letters(1) << letters) - 1);
  // An einsum sums over letters that one tensor alone has before it multiplies.
  const std::vector<Letters> all = c.factors;
  for (std::size_t i = 0; i < factors; ++i) {
    Letters others = c.result;
    for (std::size_t k = 0; k < factors; ++k)
      others |= k == i ? 0 : all[k];
    c.factors[i] &= others;
  }
  return c;
}

TEST(ProductOrder, TakesTheFewestMultiplications) {
  std::mt19937 random(1);
  for (int i = 0; i < 300; ++i) {
    const Case c = randomCase(random, 2 + random() % 5, 1 + random() % 8);
    const double found = c.costOf(ProductOrder(c.factors, c.result, c.sizes).pairs());
    EXPECT_LE(found, c.least(c.factors) * (1 + 1e-12)) << "case " << i;
  }
}

TEST(ProductOrder, KeepsTheOrderOfFactorsThatCostTheSame) {
  // a, b, c of one letter: "i,i,i,i->i".
  const std::vector<ProductOrder::Pair> pairs = ProductOrder({1, 1, 1, 1}, 1, {5}).pairs();
  EXPECT_EQ(pairs, (std::vector<ProductOrder::Pair>{{0, 1}, {0, 1}, {0, 1}}));
  EXPECT_TRUE(ProductOrder({1}, 1, {5}).pairs().empty());
  EXPECT_EQ(ProductOrder({1, 2}, 3, {0, 0}).pairs().size(), 1u);
}

TEST(ProductOrder, FindsAChainFromItsSmallEnd) {
  // "ab,bc,cd,...,z->a" of 40 matrices and a vector: from the vector on, each product is one of a matrix and a vector.
  Case chain;
  for (std::size_t i = 0; i < 40; ++i)
    chain.factors.push_back(Letters(3) << i);
  chain.factors.push_back(Letters(1) << 40);
  chain.result = 1;
  chain.sizes.assign(41, 30);
  EXPECT_EQ(chain.costOf(ProductOrder(chain.factors, chain.result, chain.sizes).pairs()), 40 * 30.0 * 30.0);
}

TEST(ProductOrder, IsThatOfEinsum) {
  // The product of the first two would have 4e10 elements.
  const Tensor row = ones({200'000}), column = ones({200'000}), small = full({2}, 3.0f);
  auto f = [](const Tensor &a, const Tensor &b, const Tensor &c) { return einsum("i,j,k,j,i->k", {a, b, c, b, a}); };
  EXPECT_FLOAT_EQ(static_cast<float>(valuesOf(f(row, column, small))[1]), 1.2e11f);
  EXPECT_FLOAT_EQ(static_cast<float>(valuesOf(function(f)(row, column, small))[1]), 1.2e11f);
  std::mt19937 random(3);
  const Tensor x = randomTensor(random, {3, 4}), y = randomTensor(random, {4, 5}), z = randomTensor(random, {5, 2});
  const Tensor w = randomTensor(random, {2}), v = randomTensor(random, {3, 2});
  auto g = [](const std::vector<Tensor> &in) { return sum(einsum("ij,jk,kl,l,il->il", in)); };
  const std::vector<Tensor> inputs = {x, y, z, w, v};
  EXPECT_NEAR(valuesOf(g(inputs))[0], valuesOf(sum(matmul(matmul(x, y), z) * w * v))[0], 1e-12);
  expectGradients(g, inputs);
}

} // namespace
} // namespace calque::testing
