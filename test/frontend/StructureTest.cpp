#include "Testing.h"

using namespace calque;
using namespace calque::testing;

namespace {
struct Pair {
  Tensor first, second;
};
struct Batch {
  Pair inputs;
  std::vector<Tensor> more;
  int repeat;
};
struct Wrapped { // no aggregate
  explicit Wrapped(Tensor x) : hidden(std::move(x)) {}
  Tensor hidden;
};
enum class Mode { Plain, Doubled };
} // namespace

template <> struct calque::Structure<Wrapped> {
  template <typename V> static void visit(const Wrapped &x, V &v) { visit_structure(x.hidden, v); }
  template <typename M> static Wrapped map(const Wrapped &x, M &m) { return Wrapped(map_structure(x.hidden, m)); }
};

TEST(Structure, CountsTheFieldsOfAggregates) {
  EXPECT_EQ(detail::countFields<Pair>(), 2u);
  EXPECT_EQ(detail::countFields<Batch>(), 3u);
}

TEST(Structure, ContainersGoInAndComeOut) {
  auto f = function([](const std::vector<Tensor> &xs, const std::map<std::string, Tensor> &named) {
    return std::tuple<Tensor, std::vector<Tensor>, std::map<std::string, Tensor>>(xs[0] + xs[1], {xs[1], xs[0]},
                                                                                  {{"twice", named.at("a") * 2}});
  });
  for (int call = 0; call < 2; ++call) {
    auto [sum, swapped, named] = f({scalar(1.0f), scalar(2.0f)}, {{"a", scalar(3.0f)}});
    EXPECT_EQ(sum.item<float>(), 3);
    ASSERT_EQ(swapped.size(), 2u);
    EXPECT_EQ(swapped[0].item<float>(), 2);
    EXPECT_EQ(swapped[1].item<float>(), 1);
    EXPECT_EQ(named.at("twice").item<float>(), 6);
  }
  EXPECT_EQ(f.trace_count(), 1);
}

TEST(Structure, AggregatesNest) {
  auto f = function([](const Batch &batch) {
    Tensor y = batch.inputs.first - batch.inputs.second;
    for (int i = 0; i < batch.repeat; ++i)
      y = y * batch.more.at(0);
    return Pair{y, batch.inputs.first};
  });
  Pair result = f(Batch{{scalar(5.0f), scalar(3.0f)}, {scalar(2.0f)}, 2});
  EXPECT_EQ(result.first.item<float>(), 8);
  EXPECT_EQ(result.second.item<float>(), 5);
  f(Batch{{scalar(5.0f), scalar(3.0f)}, {scalar(2.0f)}, 3});
  EXPECT_EQ(f.trace_count(), 2);
}

TEST(Structure, HostValuesAreTheKey) {
  auto f = function([](const Tensor &x, Mode mode, const std::string &text, bool flag) {
    return mode == Mode::Doubled && text == "yes" && flag ? x * 2 : x;
  });
  EXPECT_EQ(f(scalar(1.0f), Mode::Plain, "yes", true).item<float>(), 1);
  EXPECT_EQ(f(scalar(1.0f), Mode::Doubled, "yes", true).item<float>(), 2);
  EXPECT_EQ(f(scalar(1.0f), Mode::Doubled, "a longer text than a word", true).item<float>(), 1);
  EXPECT_EQ(f(scalar(1.0f), Mode::Doubled, "yes", false).item<float>(), 1);
  EXPECT_EQ(f.trace_count(), 4);
  EXPECT_EQ(f(scalar(3.0f), Mode::Doubled, "yes", true).item<float>(), 6);
  EXPECT_EQ(f.trace_count(), 4);
}

TEST(Structure, OptionalsPairsAndArrays) {
  auto f =
      function([](const std::optional<Tensor> &x, const std::pair<Tensor, int> &y, const std::array<Tensor, 2> &z) {
        Tensor sum = y.first * y.second + z[0] * z[1];
        return x ? sum + *x : sum;
      });
  EXPECT_EQ(f(std::nullopt, {scalar(2.0f), 3}, {scalar(4.0f), scalar(5.0f)}).item<float>(), 26);
  EXPECT_EQ(f(scalar(1.0f), {scalar(2.0f), 3}, {scalar(4.0f), scalar(5.0f)}).item<float>(), 27);
  EXPECT_EQ(f.trace_count(), 2);
}

TEST(Structure, UsersTypesHaveACustomisationPoint) {
  auto f = function([](const Wrapped &x) { return Wrapped(x.hidden + 1); });
  EXPECT_EQ(f(Wrapped(scalar(1.0f))).hidden.item<float>(), 2);
}
