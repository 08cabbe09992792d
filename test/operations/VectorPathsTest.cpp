// Reads by index, checks, extremes, quotients and remainders of so many elements that they take vectors and threads:
// with sizes known and unknown they are what plain loops compute, and errors name the first element that is wrong.
#include "test/operations/Testing.h"

#include <calque/arrays.h>

#include <algorithm>
#include <cstring>

using namespace calque;
using namespace calque::testing;

namespace {

// Eagerly, compiled for the sizes, and for any.
template <typename F> std::vector<Tensor> allWays(F body, const std::vector<Tensor> &inputs) {
  auto f = function<Tensor(const std::vector<Tensor> &)>(body);
  std::vector<TensorSpec<>> specs;
  for (const Tensor &x : inputs)
    specs.push_back(x.shape().size() == 1 ? TensorSpec<>(x.dtype(), {kDynamic})
                                          : TensorSpec<>(x.dtype(), {kDynamic, kDynamic}));
  Tensor open;
  if (inputs.size() == 1)
    open = function([body](const Tensor &x) { return body(std::vector<Tensor>{x}); },
                    {.input_signature = specs})(inputs[0]);
  else
    open = function([body](const Tensor &x, const Tensor &y) { return body(std::vector<Tensor>{x, y}); },
                    {.input_signature = specs})(inputs[0], inputs[1]);
  return {body(inputs), f(inputs), open};
}

template <typename T> std::vector<T> drawn(std::mt19937_64 &random, std::size_t count, T low, T high) {
  std::vector<T> values(count);
  for (T &value : values)
    if constexpr (std::is_floating_point_v<T>)
      value = std::uniform_real_distribution<T>(low, high)(random);
    else
      value = std::uniform_int_distribution<T>(low, high)(random);
  return values;
}

// Bit for bit, since these results are exact.
template <typename T> void expectBits(const std::vector<Tensor> &results, const std::vector<T> &expected) {
  for (const Tensor &result : results) {
    std::vector<T> found = result.to_vector<T>();
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
      bool bothNaN = found[i] != found[i] && expected[i] != expected[i];
      ASSERT_TRUE(bothNaN || std::memcmp(&found[i], &expected[i], sizeof(T)) == 0)
          << "element " << i << ": " << found[i] << " instead of " << expected[i];
    }
  }
}

template <typename T> T floorMod(T x, T y) {
  T left = static_cast<T>(x % y);
  return left != 0 && (left < 0) != (y < 0) ? static_cast<T>(left + y) : left;
}

// Numbers at the edges of the type among ordinary ones.
template <typename T> void testQuotientsOf(std::vector<T> special) {
  std::mt19937_64 random(4);
  using Limits = std::numeric_limits<T>;
  constexpr std::size_t kCount = 3001;
  for (int bits : {8, 30, static_cast<int>(sizeof(T)) * 8 - 1}) {
    T most = static_cast<T>((std::uint64_t(1) << bits) - 1);
    std::vector<T> x = drawn<T>(random, kCount, static_cast<T>(-most), most),
                   y = drawn<T>(random, kCount, static_cast<T>(-most), most);
    if (bits == 8)
      for (T &value : y)
        value = static_cast<T>(value % 4);
    for (std::size_t i = 0; bits > 8 && i < special.size() * special.size(); ++i) {
      x[i] = special[i % special.size()];
      y[i] = special[i / special.size()];
    }
    std::replace(y.begin(), y.end(), T(0), T(3));
    std::vector<T> quotient, floored, truncated, left;
    for (std::size_t i = 0; i < kCount; ++i) {
      bool wraps = y[i] == -1;
      T q = wraps ? static_cast<T>(0 - static_cast<std::make_unsigned_t<T>>(x[i])) : static_cast<T>(x[i] / y[i]);
      T r = wraps ? T(0) : static_cast<T>(x[i] % y[i]);
      quotient.push_back(q);
      truncated.push_back(r);
      floored.push_back(r != 0 && (r < 0) != (y[i] < 0) ? static_cast<T>(q - 1) : q);
      left.push_back(wraps ? T(0) : floorMod(x[i], y[i]));
    }
    std::int64_t n = kCount;
    std::vector<Tensor> inputs = {tensor<T>(x, {n}), tensor<T>(y, {n})};
    SCOPED_TRACE(std::to_string(bits) + " bits");
    expectBits(allWays([](const std::vector<Tensor> &in) { return in[0] / in[1]; }, inputs), quotient);
    expectBits(allWays([](const std::vector<Tensor> &in) { return fmod(in[0], in[1]); }, inputs), truncated);
    expectBits(allWays([](const std::vector<Tensor> &in) { return floor_divide(in[0], in[1]); }, inputs), floored);
    expectBits(allWays([](const std::vector<Tensor> &in) { return mod(in[0], in[1]); }, inputs), left);
  }
  EXPECT_EQ(Limits::min(), special[0]);
}

template <typename T> void testRemaindersOf() {
  std::mt19937_64 random(5);
  constexpr std::size_t kCount = 3001;
  using Limits = std::numeric_limits<T>;
  const T infinity = Limits::infinity(), largest = Limits::max(), least = Limits::denorm_min();
  const std::vector<T> special = {
      0,      -T(0),         1,       -1,       T(0.1),  3,      infinity,  -infinity, Limits::quiet_NaN(), least,
      -least, Limits::min(), largest, -largest, T(1e10), T(7e8), T(0x1p30), T(0x1p52)};
  // The quotients are small, large for vectors, and larger than all digits.
  for (T scale : {T(1), T(1e6), T(1e20)}) {
    std::vector<T> x = drawn<T>(random, kCount, -scale, scale), y = drawn<T>(random, kCount, T(-2), T(2));
    if (scale > 1)
      for (std::size_t i = 0; i < special.size() * special.size(); ++i) {
        x[i] = special[i % special.size()];
        y[i] = special[i / special.size()];
      }
    std::vector<T> left;
    for (std::size_t i = 0; i < kCount; ++i)
      left.push_back(std::fmod(x[i], y[i]));
    std::int64_t n = kCount;
    std::vector<Tensor> inputs = {tensor<T>(x, {n}), tensor<T>(y, {n})};
    SCOPED_TRACE("scale " + std::to_string(scale));
    expectBits(allWays([](const std::vector<Tensor> &in) { return fmod(in[0], in[1]); }, inputs), left);
  }
}

// Vectors of every second, third or fourth element, or backwards: the last element is the buffer's last one.
template <typename T> void testShortStrides() {
  std::mt19937_64 random(7);
  for (std::int64_t stride : {2, 3, 4, 5, -1, -2})
    for (std::int64_t count : {1, 3, 16, 33, 67, 1030}) {
      const std::int64_t span = std::abs(stride) * (count - 1) + 1;
      for (std::int64_t before : {0, 1}) {
        const std::vector<T> x = drawn<T>(random, static_cast<std::size_t>(span + before), T(-50), T(50));
        std::vector<T> expected;
        for (std::int64_t i = 0; i < count; ++i)
          expected.push_back(static_cast<T>(
              x[static_cast<std::size_t>(stride < 0 ? span + before - 1 + stride * i : before + stride * i)] + T(1)));
        auto body = [&](const Tensor &all) {
          return stride < 0 ? at(all, rows({}, before ? std::optional(before - 1) : std::nullopt, stride)).get() + 1
                            : at(all, rows(before, {}, stride)).get() + 1;
        };
        const Tensor all = tensor(x);
        expectBits<T>({body(all), function(body)(all)}, expected);
      }
    }
}

TEST(VectorPaths, ReadShortStrides) {
  testShortStrides<float>();
  testShortStrides<double>();
  testShortStrides<std::int32_t>();
  testShortStrides<std::int16_t>();
}

TEST(VectorPaths, WriteShortStrides) {
  std::mt19937_64 random(8);
  for (std::size_t width : {2, 3, 4, 5})
    for (std::int64_t count : {1, 3, 16, 33, 67, 1030, 40000}) {
      std::vector<Tensor> columns;
      std::vector<double> expected(width * static_cast<std::size_t>(count));
      for (std::size_t column = 0; column < width; ++column) {
        const std::vector<double> x = drawn<double>(random, static_cast<std::size_t>(count), -1, 1);
        for (std::size_t row = 0; row < x.size(); ++row)
          expected[row * width + column] = x[row] * static_cast<double>(column + 1);
        columns.push_back(tensor(x));
      }
      auto body = [](const std::vector<Tensor> &columns) {
        std::vector<Tensor> scaled;
        for (std::size_t column = 0; column < columns.size(); ++column)
          scaled.push_back(columns[column] * static_cast<double>(column + 1));
        return stack(scaled, -1);
      };
      expectBits<double>({body(columns), function(body)(columns)}, expected);
      auto single = [&](const std::vector<Tensor> &columns) {
        std::vector<Tensor> floats;
        for (const Tensor &column : columns)
          floats.push_back(cast(column, DType::Float32));
        return body(floats);
      };
      std::vector<float> rounded;
      for (std::size_t i = 0; i < expected.size(); ++i)
        rounded.push_back(static_cast<float>(columns[i % width].to_vector<double>()[i / width]) *
                          static_cast<float>(i % width + 1));
      if (count < 2000)
        expectBits<float>({single(columns), function(single)(columns)}, rounded);
    }
}

} // namespace

TEST(VectorPaths, QuotientsOfIntegersAreExact) {
  testQuotientsOf<std::int32_t>({std::numeric_limits<std::int32_t>::min(), std::numeric_limits<std::int32_t>::max(), -1,
                                 1, 2, -2, 3, 65536, 46341, -46341});
  testQuotientsOf<std::int64_t>({std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max(), -1,
                                 1, 2, -3, (1LL << 51) - 1, 1LL << 51, (1LL << 53) + 1, -(1LL << 52), 3037000500});
}

TEST(VectorPaths, RemaindersOfFloatsAreTheCLibrarys) {
  testRemaindersOf<float>();
  testRemaindersOf<double>();
}

TEST(VectorPaths, GatherReadsRowsElementsAndParts) {
  std::mt19937_64 random(6);
  constexpr std::int64_t kRows = 301, kColumns = 45, kPicks = 1013;
  std::vector<float> x = drawn<float>(random, kRows * kColumns, -1, 1);
  std::vector<std::int64_t> rows = drawn<std::int64_t>(random, kPicks, 0, kRows - 1),
                            columns = drawn<std::int64_t>(random, kPicks, 0, kColumns - 1);
  std::vector<float> ofRows, ofColumns, ofElements, ofPart;
  for (std::int64_t row : rows)
    ofRows.insert(ofRows.end(), x.begin() + row * kColumns, x.begin() + (row + 1) * kColumns);
  for (std::int64_t row = 0; row < kRows; ++row)
    for (std::int64_t column : columns)
      ofColumns.push_back(x[static_cast<std::size_t>(row * kColumns + column)]);
  for (std::int64_t row : rows) {
    ofElements.push_back(x[static_cast<std::size_t>(row * kColumns)]);
    ofPart.push_back(x[static_cast<std::size_t>(row * kColumns + 2)]);
  }
  Tensor matrix = tensor(x, {kRows, kColumns});
  for (DType dtype : {DType::Int32, DType::Int64}) {
    Tensor byRow = cast(tensor(rows, {kPicks}), dtype), byColumn = cast(tensor(columns, {kPicks}), dtype);
    expectBits(allWays([](const std::vector<Tensor> &in) { return gather(in[0], in[1]); }, {matrix, byRow}), ofRows);
    expectBits(allWays([](const std::vector<Tensor> &in) { return gather(in[0], in[1], 1); }, {matrix, byColumn}),
               ofColumns);
    // Of a column, and of a part that is strided in its buffer.
    auto columnOf = [](std::int64_t column) {
      return
          [column](const std::vector<Tensor> &in) { return gather(reshape(gather(in[0], column, 1), {kRows}), in[1]); };
    };
    expectBits(allWays(columnOf(0), {matrix, byRow}), ofElements);
    expectBits(allWays(columnOf(2), {matrix, byRow}), ofPart);
    Tensor places = stack({byRow, byColumn}, -1);
    std::vector<float> ofPlaces;
    for (std::int64_t i = 0; i < kPicks; ++i)
      ofPlaces.push_back(x[static_cast<std::size_t>(rows[static_cast<std::size_t>(i)] * kColumns +
                                                    columns[static_cast<std::size_t>(i)])]);
    auto f = function([](const Tensor &a, const Tensor &b) { return gather_nd(a, b); });
    expectBits({gather_nd(matrix, places), f(matrix, places)}, ofPlaces);
  }
}

TEST(VectorPaths, ChecksNameTheFirstWrongElement) {
  constexpr std::int64_t kCount = 5000;
  std::vector<std::int64_t> indices(kCount, 3), divisors(kCount, 7);
  Tensor x = zeros({10, 4});
  auto messageOf = [](auto body) {
    try {
      body();
    } catch (const Error &error) {
      return std::string(error.what());
    }
    return std::string("nothing");
  };
  auto compiled = function([](const Tensor &a, const Tensor &i) { return gather(a, i); });
  auto open = function([](const Tensor &a, const Tensor &i) { return gather(a, i); },
                       {.input_signature = {TensorSpec<>(DType::Float32, {kDynamic, kDynamic}),
                                            TensorSpec<>(DType::Int64, {kDynamic})}});
  auto divided = function([](const Tensor &a, const Tensor &b) { return a / b; });
  Tensor good = tensor(indices, {kCount}), ones = tensor(divisors, {kCount});
  for (std::int64_t place : {std::int64_t(0), kCount / 2, kCount - 1}) {
    std::vector<std::int64_t> wrong = indices, zero = divisors;
    wrong[static_cast<std::size_t>(place)] = 11;
    for (std::int64_t after = place + 1; after < kCount; after += 100)
      wrong[static_cast<std::size_t>(after)] = -5;
    zero[static_cast<std::size_t>(place)] = 0;
    Tensor bad = tensor(wrong, {kCount}), none = tensor(zero, {kCount});
    for (const std::string &message :
         {messageOf([&] { gather(x, bad); }), messageOf([&] { compiled(x, bad); }), messageOf([&] { open(x, bad); })})
      EXPECT_NE(message.find("11"), std::string::npos) << message;
    EXPECT_THROW(ones / none, Error);
    EXPECT_THROW(divided(ones, none), Error);
  }
  EXPECT_EQ(messageOf([&] { compiled(x, good), open(x, good), divided(ones, ones); }), "nothing");
}

TEST(VectorPaths, ExtremesAreTheFirst) {
  constexpr std::int64_t kRows = 67, kColumns = 1009;
  std::mt19937_64 random(7);
  const float infinity = std::numeric_limits<float>::infinity(), none = std::numeric_limits<float>::quiet_NaN();
  std::vector<float> x = drawn<float>(random, kRows * kColumns, -1, 1);
  for (float &value : x) // many ties
    value = std::round(value * 50) / 50;
  auto row = [&](std::int64_t i) { return x.begin() + i * kColumns; };
  row(1)[500] = none, row(1)[700] = none;
  row(2)[3] = infinity, row(2)[900] = infinity;
  std::fill(row(3), row(4), -infinity);
  std::fill(row(4), row(5), infinity);
  row(5)[10] = -0.f, row(5)[11] = 0.f;
  std::fill(row(6), row(7), none);
  // The first that no other one is beyond, NaN before all.
  auto places = [&](std::int64_t count, std::int64_t step, std::int64_t begin, auto isBetter) {
    std::int64_t best = 0;
    auto at = [&](std::int64_t i) { return x[static_cast<std::size_t>(begin + i * step)]; };
    for (std::int64_t i = 1; i < count && at(best) == at(best); ++i)
      if (at(i) != at(i) || isBetter(at(i), at(best)))
        best = i;
    return best;
  };
  std::vector<std::int64_t> most, least, mostAcross;
  for (std::int64_t i = 0; i < kRows; ++i) {
    most.push_back(places(kColumns, 1, i * kColumns, std::greater<>()));
    least.push_back(places(kColumns, 1, i * kColumns, std::less<>()));
  }
  for (std::int64_t i = 0; i < kColumns; ++i)
    mostAcross.push_back(places(kRows, kColumns, i, std::greater<>()));
  Tensor matrix = tensor(x, {kRows, kColumns});
  expectBits(allWays([](const std::vector<Tensor> &in) { return argmax(in[0], 1); }, {matrix}), most);
  expectBits(allWays([](const std::vector<Tensor> &in) { return argmin(in[0], -1); }, {matrix}), least);
  expectBits(allWays([](const std::vector<Tensor> &in) { return argmax(in[0], 0); }, {matrix}), mostAcross);
  std::vector<std::int64_t> ofAll = {places(kRows * kColumns, 1, 0, std::greater<>())};
  expectBits(allWays([](const std::vector<Tensor> &in) { return argmax(in[0], 0); }, {reshape(matrix, {-1})}), ofAll);
}
