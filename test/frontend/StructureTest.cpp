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

TEST(Structure, MapsOfAnyKeys) {
  auto f = function([](const std::unordered_map<std::string, Tensor> &x) { return x.at("a") - x.at("b"); });
  EXPECT_EQ(f({{"a", scalar(5)}, {"b", scalar(3)}}).item<int>(), 2);
  // Equal maps are equal arguments, in whatever order they were filled.
  std::unordered_map<std::string, Tensor> many;
  for (const char *key : {"z", "y", "x", "b", "a"})
    many[key] = scalar(key[0] - 'a');
  EXPECT_EQ(f(many).item<int>(), -1);
  std::unordered_map<std::string, Tensor> again(100);
  for (const char *key : {"a", "b", "x", "y", "z"})
    again[key] = scalar(key[0] - 'a');
  EXPECT_EQ(f(again).item<int>(), -1);
  EXPECT_EQ(f.trace_count(), 2);

  auto g = function([](const std::map<int, Tensor> &x) {
    std::map<int, Tensor, std::greater<>> reversed;
    for (const auto &[key, value] : x)
      reversed[10 * key] = value * key;
    return reversed;
  });
  auto result = g({{1, scalar(7)}, {-2, scalar(3)}});
  EXPECT_EQ(result.begin()->first, 10);
  EXPECT_EQ(result.at(-20).item<int>(), -6);
  g({{1, scalar(8)}, {-2, scalar(4)}});
  EXPECT_EQ(g.trace_count(), 1);
  g({{1, scalar(8)}, {-3, scalar(4)}});
  EXPECT_EQ(g.trace_count(), 2);
}

TEST(Structure, TextOfOthersIsAnArgument) {
  auto f = function([](const Tensor &x, std::string_view word) { return x * static_cast<int>(word.size()); });
  EXPECT_EQ(f(scalar(2), "four").item<int>(), 8);
  EXPECT_EQ(f(scalar(3), std::string("four")).item<int>(), 12);
  EXPECT_EQ(f.trace_count(), 1);
  EXPECT_EQ(f(scalar(2), "three").item<int>(), 10);
  EXPECT_EQ(f.trace_count(), 2);
}
