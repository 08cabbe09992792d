#include "Testing.h"

using namespace calque;
using namespace calque::testing;

TEST(Tensors, AreMadeOfOneOrSeveral) {
  Tensor x = ones({3}), y = zeros({2, 1}, DType::Float64);
  Tensors one = x, several = {x, y}, named = {{"x", x}, {"y", y}};
  EXPECT_EQ(one.size(), 1u);
  EXPECT_EQ(Tensor(one).shape(), Shape{3});
  EXPECT_EQ(several[1].dtype(), DType::Float64);
  EXPECT_EQ(named["y"].shape(), (Shape{2, 1}));
  EXPECT_EQ(named.names(), (std::vector<std::string>{"x", "y"}));
  EXPECT_TRUE(named.contains("x"));
  EXPECT_FALSE(several.contains(""));
  Variable v(full({2}, 7));
  expectValues(Tensor(Tensors(v)), {7, 7});
  auto [first, second] = several.unpack<2>();
  EXPECT_EQ(second.shape(), y.shape());
  std::size_t seen = 0;
  for (const auto &[name, tensor] : named)
    seen += name.size() + tensor.shape().size();
  EXPECT_EQ(seen, 5u);
}

TEST(Tensors, MisuseNamesWhatThereIs) {
  Tensors named = {{"x", ones({1})}, {"y", ones({2})}};
  EXPECT_MISUSE(LookupError, named.at("z"), "tensors: there is no 'z'; there are 'x', 'y'");
  EXPECT_MISUSE(IndexError, named.at(2), "tensors: there is no number 2 of 2");
  EXPECT_CONTAINS(errorOf<IndexError>([&] { named[-1]; }), "there is no number -1 of 2");
  EXPECT_MISUSE(LookupError, Tensors(ones({1})).at("z"), "there are 1 without names");
  EXPECT_MISUSE(ValueError, named.single(), "tensors: 1 asked for, and there are 2");
  EXPECT_MISUSE(ValueError, named.unpack<3>(), "tensors: 3 asked for, and there are 2");
  EXPECT_MISUSE(ValueError, named.push_back(ones({1}), "x"), "tensors: the name 'x' is given twice");
}

TEST(Tensors, GoThroughFunctions) {
  auto f = function([](const Tensors &x) { return Tensors{{"sum", x["a"] + x["b"]}, {"product", x["a"] * x["b"]}}; });
  Tensors y = f({{"a", full({2}, 3)}, {"b", full({2}, 5)}});
  expectValues(y["sum"], {8, 8});
  expectValues(y["product"], {15, 15});
  f({{"a", full({2}, 1)}, {"b", full({2}, 2)}});
  EXPECT_EQ(f.trace_count(), 1);
  f({{"b", full({2}, 1)}, {"a", full({2}, 2)}}); // other names are another structure
  EXPECT_EQ(f.trace_count(), 2);
}
