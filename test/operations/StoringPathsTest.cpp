// Operations that store where an index says, or one element after the other, of so many elements that they take vectors
// and threads: with sizes known and unknown they are what plain loops compute, bit for bit.
#include "calque/threads.h"
#include "test/operations/Testing.h"

#include <cmath>
#include <cstring>

using namespace calque;
using namespace calque::testing;

namespace {

using Operands = std::vector<Tensor>;
using Body = std::function<Tensor(const Operands &)>;

// Eagerly, compiled for the sizes and for any, on one thread and on two.
template <typename T> void expectEverywhere(const Body &body, const Operands &inputs, const std::vector<T> &expected) {
  std::vector<TensorSpec<>> open;
  for (const Tensor &x : inputs)
    open.push_back(TensorSpec<>(x.dtype(), Shape(x.shape().size(), kDynamic)));
  auto f = function<Tensor(const Operands &)>(body),
       g = function<Tensor(const Operands &)>(body, {.input_signature = open});
  for (int threads : {1, 2})
    for (std::string way : {"eager", "compiled", "unknown sizes"}) {
      SCOPED_TRACE(std::to_string(threads) + " threads, " + way);
      set_num_threads(threads);
      std::vector<T> found = (way == "eager"      ? body(inputs)
                              : way == "compiled" ? f(inputs)
                                                  : g(inputs))
                                 .template to_vector<T>();
      set_num_threads(0);
      ASSERT_EQ(found.size(), expected.size());
      for (std::size_t i = 0; i < found.size(); ++i) {
        T a = found[i], b = expected[i];
        ASSERT_TRUE((a != a && b != b) || std::memcmp(&a, &b, sizeof(T)) == 0)
            << "element " << i << ": " << a << " instead of " << b;
      }
    }
}

template <typename T> std::vector<T> drawn(std::mt19937_64 &random, std::int64_t count) {
  std::vector<T> values(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < values.size(); ++i)
    if constexpr (std::is_floating_point_v<T>)
      values[i] = std::uniform_real_distribution<T>(-1, 1)(random);
    else
      values[i] = static_cast<T>(random() % 2001) - 1000;
  return values;
}
std::vector<std::int64_t> drawnIndices(std::mt19937_64 &random, std::int64_t count, std::int64_t bound) {
  std::vector<std::int64_t> values(static_cast<std::size_t>(count));
  for (std::int64_t &value : values)
    value = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(bound));
  return values;
}

Tensor gradientOf(const std::function<Tensor(const Tensor &)> &f, const Tensor &x) {
  GradientTape tape;
  tape.watch(x);
  return *tape.gradient(f(x), x);
}

template <typename T> void testGatherGradients() {
  std::mt19937_64 random(31);
  struct Case {
    std::int64_t outer, rows, columns, picks;
    bool areEqual = false;
  };
  for (const Case &c :
       {Case{1, 300, 64, 3001}, Case{1, 300, 133, 900}, Case{1, 3, 16, 5000}, Case{1, 40, 5, 700}, Case{1, 501, 1, 900},
        Case{1, 60, 1030, 200, true}, Case{11, 40, 33, 300}, Case{2, 100, 20, 0}, Case{3, 1, 17, 100}}) {
    if (std::is_same_v<T, double> && c.columns % 3 != 1)
      continue;
    SCOPED_TRACE(std::to_string(c.outer) + " x " + std::to_string(c.rows) + " x " + std::to_string(c.columns));
    std::vector<std::int64_t> at = drawnIndices(random, c.picks, c.areEqual ? 1 : c.rows);
    std::vector<T> slices = drawn<T>(random, c.outer * c.picks * c.columns),
                   expected(static_cast<std::size_t>(c.outer * c.rows * c.columns));
    for (std::int64_t o = 0; o < c.outer; ++o)
      for (std::int64_t i = 0; i < c.picks; ++i)
        for (std::int64_t k = 0; k < c.columns; ++k)
          expected[static_cast<std::size_t>((o * c.rows + at[static_cast<std::size_t>(i)]) * c.columns + k)] +=
              slices[static_cast<std::size_t>((o * c.picks + i) * c.columns + k)];
    const bool isFirst = c.outer == 1;
    Shape whole = isFirst ? Shape{c.rows, c.columns} : Shape{c.outer, c.rows, c.columns};
    Shape part = isFirst ? Shape{c.picks, c.columns} : Shape{c.outer, c.picks, c.columns};
    expectEverywhere<T>(
        [isFirst](const Operands &in) {
          return gradientOf([&](const Tensor &x) { return sum(gather(x, in[1], isFirst ? 0 : 1) * in[2]); }, in[0]);
        },
        {zeros(whole, dtype_of<T>), cast(tensor(at, {c.picks}), c.columns % 2 ? DType::Int32 : DType::Int64),
         tensor(slices, part)},
        expected);
  }
}

template <typename T> void testScatters(const std::vector<T> &special) {
  std::mt19937_64 random(32);
  constexpr std::int64_t kFirst = 7, kSecond = 40, kColumns = 37, kPicks = 1500;
  std::vector<std::int64_t> a = drawnIndices(random, kPicks, kFirst), b = drawnIndices(random, kPicks, kSecond), places;
  std::vector<T> x = drawn<T>(random, kFirst * kSecond * kColumns), updates = drawn<T>(random, kPicks * kColumns);
  for (std::size_t i = 0; i < special.size(); ++i)
    updates[i * 1001] = special[i];
  std::vector<T> set = x, sum = x, most = x;
  for (std::size_t i = 0; i < kPicks; ++i) {
    places.push_back(a[i]);
    places.push_back(b[i]);
    for (std::size_t k = 0; k < kColumns; ++k) {
      std::size_t to = static_cast<std::size_t>(a[i] * kSecond + b[i]) * kColumns + k;
      T update = updates[i * kColumns + k];
      set[to] = update;
      if constexpr (std::is_integral_v<T>)
        sum[to] = static_cast<T>(static_cast<std::make_unsigned_t<T>>(sum[to]) +
                                 static_cast<std::make_unsigned_t<T>>(update));
      else
        sum[to] += update;
      most[to] = most[to] != most[to] || update <= most[to] ? most[to] : update; // NaN stays, and is taken
    }
  }
  Operands inputs = {tensor(x, {kFirst, kSecond, kColumns}), tensor(places, {kPicks, 2}),
                     tensor(updates, {kPicks, kColumns})};
  // The last dimension of indices that name several is no unknown size.
  auto with = [&](auto scatter) {
    return [scatter](const Operands &in) { return scatter(in[0], reshape(in[1], {-1, 2}), in[2]); };
  };
  expectEverywhere<T>(with(scatter_nd_set), inputs, set);
  expectEverywhere<T>(with(scatter_nd_add), inputs, sum);
  expectEverywhere<T>(with(scatter_nd_max), inputs, most);
}

// As the operation sums up: float32 as float64, and float64 with what its additions lose.
template <typename T> struct RunningSum {
  std::conditional_t<std::is_same_v<T, float>, double, T> sum = 0, lost = 0;
  T total() const {
    if constexpr (std::is_same_v<T, double>)
      return sum + lost;
    return static_cast<T>(sum);
  }
  void add(T x) {
    auto next = sum + x;
    if constexpr (std::is_same_v<T, double>) {
      double added = next - sum, kept = next - added, ofSum = sum - kept, ofTerm = x - added, error = ofSum + ofTerm;
      lost += error == error ? error : 0;
    }
    sum = next;
  }
};

template <typename T> void testCumulativeSums() {
  std::mt19937_64 random(33);
  std::vector<Shape> shapes = {Shape{37, 45, 70}, Shape{1200, 131}};
  if (std::is_same_v<T, float>)
    shapes.insert(shapes.end(), {Shape{5003}, Shape{3, 9001}, Shape{4, 0, 3}, Shape{9, 2}});
  for (const Shape &shape : shapes)
    for (std::int64_t axis = 0; axis < static_cast<std::int64_t>(shape.size()); ++axis) {
      const bool exclusive = axis == 1, reverse = shape.size() != 2;
      SCOPED_TRACE(shape.str() + " along " + std::to_string(axis));
      std::int64_t count = 1, inner = 1, length = shape[static_cast<std::size_t>(axis)];
      for (std::size_t i = 0; i < shape.size(); ++i) {
        count *= shape[i];
        inner *= static_cast<std::int64_t>(i) > axis ? std::int64_t(shape[i]) : 1;
      }
      std::vector<T> x = drawn<T>(random, count), expected(x.size());
      for (std::int64_t start = 0; start < count; ++start) {
        if (start / inner % length != 0)
          continue;
        RunningSum<T> running;
        for (std::int64_t i = 0; i < length; ++i) {
          auto at = static_cast<std::size_t>(start + (reverse ? length - 1 - i : i) * inner);
          T before = running.total();
          running.add(x[at]);
          expected[at] = exclusive ? before : running.total();
        }
      }
      expectEverywhere<T>([=](const Operands &in) { return cumsum(in[0], axis, exclusive, reverse); },
                          {tensor(x, shape)}, expected);
    }
}

} // namespace

TEST(VectorPaths, GradientsOfGathersAddSlicesInOrder) {
  testGatherGradients<float>();
  testGatherGradients<double>();
}

TEST(VectorPaths, ScattersStoreInOrder) {
  testScatters<float>({std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(),
                       -std::numeric_limits<float>::infinity()});
  testScatters<double>({});
  testScatters<std::int32_t>({std::numeric_limits<std::int32_t>::max(), std::numeric_limits<std::int32_t>::min()});
  std::mt19937_64 random(37);
  std::vector<std::int64_t> at = drawnIndices(random, 900, 50);
  std::vector<std::int32_t> x(50 * 41), updates(900 * 41), expected(50 * 41);
  for (std::int32_t &update : updates)
    update = static_cast<std::int32_t>(random() % 2);
  for (std::size_t i = 0; i < updates.size(); ++i)
    expected[static_cast<std::size_t>(at[i / 41]) * 41 + i % 41] = updates[i];
  expectEverywhere<std::int32_t>(
      [](const Operands &in) {
        return cast(scatter_nd_set(cast(in[0], DType::Bool), reshape(in[1], {-1, 1}), cast(in[2], DType::Bool)),
                    DType::Int32);
      },
      {tensor(x, {50, 41}), tensor(at, {900}), tensor(updates, {900, 41})}, expected);
}

TEST(VectorPaths, GradientsOfTakeAlongAxisAddInOrder) {
  std::mt19937_64 random(34);
  const Shape from{33, 50, 21};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    SCOPED_TRACE("axis " + std::to_string(axis));
    Shape taken = from;
    taken[axis] = 77;
    const std::int64_t count = taken[0] * taken[1] * taken[2];
    std::vector<std::int64_t> at = drawnIndices(random, count, from[axis]);
    std::vector<float> g = drawn<float>(random, count), expected(static_cast<std::size_t>(from[0] * from[1] * from[2]));
    for (std::int64_t i = 0; i < count; ++i) {
      std::int64_t place[] = {i / (taken[1] * taken[2]), i / taken[2] % taken[1], i % taken[2]};
      place[axis] = at[static_cast<std::size_t>(i)];
      expected[static_cast<std::size_t>((place[0] * from[1] + place[1]) * from[2] + place[2])] +=
          g[static_cast<std::size_t>(i)];
    }
    expectEverywhere<float>(
        [axis](const Operands &in) {
          auto taken = [&](const Tensor &x) {
            return sum(take_along_axis(x, in[1], static_cast<std::int64_t>(axis)) * in[2]);
          };
          return gradientOf(taken, in[0]);
        },
        {zeros(from), tensor(at, taken), tensor(g, taken)}, expected);
  }
}

TEST(VectorPaths, CumulativeSumsGoOn) {
  testCumulativeSums<float>();
  testCumulativeSums<double>();
  testCumulativeSums<std::int32_t>();
}

TEST(VectorPaths, CumulativeProductsGoOn) {
  std::mt19937_64 random(35);
  const Shape shape{300, 117};
  std::vector<float> x = drawn<float>(random, 300 * 117), down(x.size()), along(x.size());
  for (float &value : x)
    value += value < 0 ? -0.5f : 0.5f;
  for (bool isAlong : {false, true})
    for (std::size_t i = 0; i < (isAlong ? 300 : 117); ++i) {
      double product = 1;
      for (std::size_t k = 0; k < (isAlong ? 117 : 300); ++k) {
        std::size_t at = isAlong ? i * 117 + k : k * 117 + i;
        product *= static_cast<double>(x[at]);
        (isAlong ? along : down)[at] = static_cast<float>(product);
      }
    }
  expectEverywhere<float>([](const Operands &in) { return cumprod(in[0], 0); }, {tensor(x, shape)}, down);
  expectEverywhere<float>([](const Operands &in) { return cumprod(in[0], 1); }, {tensor(x, shape)}, along);
}

TEST(VectorPaths, BoolsAreBytes) {
  std::mt19937_64 random(36);
  constexpr std::int64_t kRows = 67, kColumns = 83, kCount = kRows * kColumns;
  std::vector<bool> a(kCount), b(kCount);
  std::vector<float> x = drawn<float>(random, kCount), y = drawn<float>(random, kCount);
  std::vector<bool> both, differ, less, turned, odd, rest;
  std::vector<float> chosen, numbers;
  for (std::size_t i = 0; i < kCount; ++i) {
    a[i] = random() % 2;
    b[i] = random() % 2;
    x[i] = i % 100 == 0 ? std::numeric_limits<float>::quiet_NaN() : x[i];
    both.push_back(a[i] && b[i]);
    differ.push_back(a[i] != b[i]);
    less.push_back(x[i] < y[i]);
    chosen.push_back(a[i] ? x[i] : y[i]);
    numbers.push_back(b[i] ? 1.0f : 0.0f);
    if (i % 3 == 1)
      odd.push_back(a[i]);
  }
  for (std::size_t column = 0; column < kColumns; ++column)
    for (std::size_t row = 0; row < kRows; ++row)
      turned.push_back(a[row * kColumns + column]);
  auto flat = [](const std::vector<bool> &values, Shape shape) {
    std::vector<std::int32_t> numbers(values.begin(), values.end());
    return cast(tensor(numbers, shape), DType::Bool);
  };
  Tensor p = flat(a, {kCount}), q = flat(b, {kCount}), u = tensor(x, {kCount}), v = tensor(y, {kCount});
  // As numbers, since std::vector<bool> has no elements to compare.
  auto expectBools = [](const Body &body, const Operands &inputs, const std::vector<bool> &expected) {
    expectEverywhere<std::int32_t>([body](const Operands &in) { return cast(body(in), DType::Int32); }, inputs,
                                   std::vector<std::int32_t>(expected.begin(), expected.end()));
    std::vector<TensorSpec<>> open;
    for (const Tensor &each : inputs)
      open.push_back(TensorSpec<>(each.dtype(), Shape(each.shape().size(), kDynamic)));
    for (const Tensor &result : {function<Tensor(const Operands &)>(body)(inputs),
                                 function<Tensor(const Operands &)>(body, {.input_signature = open})(inputs)})
      EXPECT_EQ(cast(result, DType::Int32).to_vector<std::int32_t>(),
                std::vector<std::int32_t>(expected.begin(), expected.end()));
  };
  expectBools([](const Operands &in) { return logical_and(in[0], in[1]); }, {p, q}, both);
  expectBools([](const Operands &in) { return in[0] != in[1]; }, {p, q}, differ);
  expectBools([](const Operands &in) { return in[0] < in[1]; }, {u, v}, less);
  expectBools([](const Operands &in) { return transpose(in[0]); }, {flat(a, {kRows, kColumns})}, turned);
  expectEverywhere<float>([](const Operands &in) { return where(in[0], in[1], in[2]); }, {p, u, v}, chosen);
  expectEverywhere<float>([](const Operands &in) { return cast(in[0], DType::Float32); }, {q}, numbers);
  Tensor parts = function([](const Tensor &t) { return slice(t, {1}, {kCount}, {3}); })(p);
  EXPECT_EQ(cast(parts, DType::Int32).to_vector<std::int32_t>(), std::vector<std::int32_t>(odd.begin(), odd.end()));
}

// Cotangents of slices, of which zeros and signs of zeros show in which elements they are added.
TEST(VectorPaths, GradientsOfPartsAreAddedInPlace) {
  std::mt19937_64 random(38);
  using Ranges = std::vector<std::array<std::int64_t, 3>>;
  const std::int64_t length = 60;
  for (const Ranges &slices :
       {Ranges{{0, 20, 1}, {20, 60, 1}}, Ranges{{40, 60, 1}, {20, 40, 1}, {0, 20, 1}}, Ranges{{0, 30, 1}, {20, 50, 1}},
        Ranges{{0, 10, 1}, {5, 15, 1}, {12, 60, 1}, {0, 60, 1}}, Ranges{{0, 60, 2}, {1, 60, 2}},
        Ranges{{0, 60, 3}, {1, 60, 3}, {1, 40, 2}}, Ranges{{0, 60, 1}, {0, 60, 1}}, Ranges{{7, 7, 1}, {3, 9, 1}}})
    for (int more : {0, 1, 2, 3}) { // with a gather, and with a term that is no part
      SCOPED_TRACE(std::to_string(slices.size()) + " slices, " + std::to_string(more));
      std::vector<Tensor> inputs = {zeros({length, 3})};
      // Each part times its own cotangents; what is used last is added first.
      std::vector<std::vector<float>> terms;
      auto cotangentsOf = [&](std::int64_t rows) {
        std::vector<float> values(static_cast<std::size_t>(rows * 3));
        for (float &value : values)
          value = random() % 3 == 0 ? -0.0f : static_cast<float>(random() % 9) - 4;
        inputs.push_back(tensor(values, {rows, 3}));
        return values;
      };
      for (auto [first, end, step] : slices) {
        std::vector<float> g = cotangentsOf((end - first + step - 1) / step), term(length * 3);
        for (std::size_t i = 0; i < g.size(); ++i)
          term[static_cast<std::size_t>(first + static_cast<std::int64_t>(i / 3) * step) * 3 + i % 3] = g[i];
        terms.push_back(term);
      }
      std::vector<std::int64_t> at = drawnIndices(random, 40, length);
      if (more & 1) {
        std::vector<float> g = cotangentsOf(40), term(length * 3);
        for (std::size_t i = 0; i < g.size(); ++i)
          term[static_cast<std::size_t>(at[i / 3]) * 3 + i % 3] += g[i];
        terms.push_back(term);
      }
      if (more & 2)
        terms.push_back(cotangentsOf(length));
      std::vector<float> expected = terms.back();
      for (std::size_t k = terms.size() - 1; k-- > 0;)
        for (std::size_t i = 0; i < expected.size(); ++i)
          expected[i] += terms[k][i];
      Tensor picks = tensor(at, {40});
      auto body = [slices, more, picks](const Operands &in) {
        return gradientOf(
            [&](const Tensor &x) {
              std::size_t next = 1;
              Tensor total = scalar(0.0f);
              for (auto [first, end, step] : slices)
                total = total + sum(slice(x, {first, 0}, {end, 3}, {step, 1}) * in[next++]);
              if (more & 1)
                total = total + sum(gather(x, picks) * in[next++]);
              if (more & 2)
                total = total + sum(x * in[next++]);
              return total;
            },
            in[0]);
      };
      auto f = function<Tensor(const Operands &)>(body);
      for (const Tensor &result : {body(inputs), f(inputs)}) {
        std::vector<float> found = result.to_vector<float>();
        ASSERT_EQ(found.size(), expected.size());
        for (std::size_t i = 0; i < found.size(); ++i)
          ASSERT_TRUE(found[i] == expected[i] && std::signbit(found[i]) == std::signbit(expected[i]))
              << "element " << i << ": " << found[i] << " instead of " << expected[i];
      }
    }
}
