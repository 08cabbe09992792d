// Products of small integers, whose terms are packed into words, against plain loops modulo 2^32.
#include "test/codegen/Testing.h"

#include <limits>

using namespace calque;
using namespace calque::testing;

namespace {

enum class Numbers { Random, Least, Most, Extremes };
// No zero points; one of the left operand; one for each row and column.
enum class Zeros { None, One, Each };

struct Sizes {
  std::int64_t batch, rows, columns, terms;
};

template <typename T> std::vector<T> numbers(std::mt19937 &random, std::int64_t count, Numbers kind) {
  constexpr T kLeast = std::numeric_limits<T>::min(), kMost = std::numeric_limits<T>::max();
  std::vector<T> values(static_cast<std::size_t>(count));
  for (T &value : values) {
    const auto bits = random();
    value = kind == Numbers::Random                                             ? static_cast<T>(bits >> 8)
            : kind == Numbers::Least || (kind == Numbers::Extremes && bits % 2) ? kLeast
                                                                                : kMost;
  }
  return values;
}

Tensor wide(const Tensor &x) { return cast(x, DType::Int32); }

template <typename A, typename B> class Case {
public:
  Case(const Sizes &sizes, bool transposesLeft, bool transposesRight, Numbers kind, Zeros zeros)
      : sizes(sizes), left(transposesLeft), right(transposesRight), zeros(zeros), random(11),
        a(numbers<A>(random, sizes.batch * sizes.rows * sizes.terms, kind)),
        b(numbers<B>(random, sizes.batch * sizes.terms * sizes.columns, kind)),
        zerosOfA(numbers<A>(random, sizes.rows, kind)), zerosOfB(numbers<B>(random, sizes.columns, kind)) {}

  // `isOpen`: all sizes but the number of terms are known at the call alone.
  void run(bool isOpen) {
    const Shape ofA = left ? Shape{sizes.batch, sizes.terms, sizes.rows} : Shape{sizes.batch, sizes.rows, sizes.terms},
                ofB = right ? Shape{sizes.batch, sizes.columns, sizes.terms}
                            : Shape{sizes.batch, sizes.terms, sizes.columns};
    auto opened = [&](Shape shape) {
      for (auto &size : shape)
        if (isOpen && size != sizes.terms)
          size = kDynamic;
      return shape;
    };
    auto product = function(
        [&](const Tensor &x, const Tensor &y, const Tensor &ofRows, const Tensor &ofColumns) {
          Tensor p = wide(x), q = wide(y);
          if (zeros == Zeros::One)
            p = p - wide(ofRows[0]);
          if (zeros == Zeros::Each) {
            p = p - wide(left ? ofRows : expand_dims(ofRows, {1}));
            q = q - wide(right ? expand_dims(ofColumns, {1}) : ofColumns);
          }
          return matmul(p, q, {.transpose_a = left, .transpose_b = right});
        },
        {.input_signature = {TensorSpec<>(dtype_of<A>, opened(ofA)), TensorSpec<>(dtype_of<B>, opened(ofB)),
                             TensorSpec<>(dtype_of<A>, {sizes.rows}), TensorSpec<>(dtype_of<B>, {sizes.columns})}});
    const Tensor found = product(tensor(a, ofA), tensor(b, ofB), tensor(zerosOfA, Shape{sizes.rows}),
                                 tensor(zerosOfB, Shape{sizes.columns}));
    ASSERT_EQ(found.shape(), (Shape{sizes.batch, sizes.rows, sizes.columns}));
    const std::vector<std::int32_t> values = found.to_vector<std::int32_t>();
    std::size_t at = 0;
    int wrong = 0;
    for (std::int64_t batch = 0; batch < sizes.batch; ++batch)
      for (std::int64_t row = 0; row < sizes.rows; ++row)
        for (std::int64_t column = 0; column < sizes.columns; ++column, ++at)
          if (const std::int32_t expected = sum(batch, row, column); values[at] != expected && wrong++ < 3)
            ADD_FAILURE() << "row " << row << ", column " << column << ": " << values[at] << ", not " << expected;
  }

private:
  std::int32_t sum(std::int64_t batch, std::int64_t row, std::int64_t column) const {
    std::uint32_t result = 0;
    for (std::int64_t term = 0; term < sizes.terms; ++term) {
      const std::int64_t ofLeft = left ? term * sizes.rows + row : row * sizes.terms + term,
                         ofRight = right ? column * sizes.terms + term : term * sizes.columns + column;
      std::int32_t x = a[static_cast<std::size_t>(batch * sizes.rows * sizes.terms + ofLeft)],
                   y = b[static_cast<std::size_t>(batch * sizes.columns * sizes.terms + ofRight)];
      if (zeros == Zeros::One)
        x -= zerosOfA[0];
      if (zeros == Zeros::Each) {
        x -= zerosOfA[static_cast<std::size_t>(row)];
        y -= zerosOfB[static_cast<std::size_t>(column)];
      }
      result += static_cast<std::uint32_t>(x) * static_cast<std::uint32_t>(y);
    }
    return static_cast<std::int32_t>(result);
  }

  Sizes sizes;
  bool left, right;
  Zeros zeros;
  std::mt19937 random;
  std::vector<A> a;
  std::vector<B> b;
  std::vector<A> zerosOfA;
  std::vector<B> zerosOfB;
};

template <typename A, typename B>
void expectProducts(const Sizes &sizes, Numbers kind = Numbers::Random, Zeros zeros = Zeros::None,
                    bool isOpen = false) {
  for (bool left : {false, true})
    for (bool right : {false, true}) {
      SCOPED_TRACE(std::string(name_of(dtype_of<A>)) + " x " + std::string(name_of(dtype_of<B>)) + ", " +
                   std::to_string(sizes.batch) + " of " + std::to_string(sizes.rows) + " x " +
                   std::to_string(sizes.columns) + " x " + std::to_string(sizes.terms) + (left ? ", left" : "") +
                   (right ? ", right" : "") + " transposed, numbers " + std::to_string(static_cast<int>(kind)) +
                   ", zeros " + std::to_string(static_cast<int>(zeros)));
      Case<A, B>(sizes, left, right, kind, zeros).run(isOpen);
    }
}

template <typename A, typename B> void expectAll(const Sizes &sizes, bool isOpen = false) {
  expectProducts<A, B>(sizes, Numbers::Random, Zeros::None, isOpen);
  expectProducts<A, B>(sizes, Numbers::Extremes, Zeros::One, isOpen);
  expectProducts<A, B>(sizes, Numbers::Random, Zeros::Each, isOpen);
}

template <typename A, typename B> void expectSizes() {
  for (const Sizes &sizes : {Sizes{1, 1, 1, 1},
                             {1, 7, 63, 129},
                             {1, 63, 129, 63},
                             {1, 129, 7, 130},
                             {1, 33, 65, 9},
                             {2, 20, 50, 8},
                             {1, 30, 40, 7},
                             {1, 64, 64, 0}})
    expectAll<A, B>(sizes);
}

} // namespace

TEST(SmallProducts, OfEachPairOfTypes) {
  expectSizes<std::int8_t, std::int8_t>();
  expectSizes<std::uint8_t, std::int8_t>();
  expectSizes<std::int8_t, std::uint8_t>();
  expectSizes<std::uint8_t, std::uint8_t>();
  expectAll<std::int16_t, std::int16_t>({1, 21, 35, 67});
  expectAll<std::int16_t, std::int8_t>({1, 21, 35, 67});
  // Their numbers need more bits.
  expectAll<std::uint16_t, std::int8_t>({1, 21, 35, 67});
}

TEST(SmallProducts, OfVectors) {
  expectAll<std::int8_t, std::int8_t>({1, 1, 300, 257});
  expectAll<std::uint8_t, std::int8_t>({1, 257, 1, 300});
  expectAll<std::uint8_t, std::int8_t>({1, 1, 1, 5000});
}

// No sum saturates on the way, and those that need more than 32 bits wrap.
TEST(SmallProducts, OfTheLargestNumbers) {
  for (Numbers kind : {Numbers::Least, Numbers::Most, Numbers::Extremes}) {
    expectProducts<std::int8_t, std::int8_t>({1, 14, 40, 4099}, kind);
    expectProducts<std::uint8_t, std::int8_t>({1, 14, 40, 4099}, kind);
    expectProducts<std::uint8_t, std::uint8_t>({1, 14, 40, 4099}, kind);
    expectProducts<std::int16_t, std::int16_t>({1, 14, 40, 4099}, kind);
    expectProducts<std::uint8_t, std::uint8_t>({1, 14, 40, 1023}, kind, Zeros::Each);
  }
}

TEST(SmallProducts, OfManyTermsAndPieces) {
  expectAll<std::int8_t, std::int8_t>({1, 130, 200, 1023});
  expectAll<std::uint8_t, std::int8_t>({1, 12, 24, 30'001});
}

TEST(SmallProducts, OfUnknownSizes) {
  expectAll<std::int8_t, std::int8_t>({3, 31, 70, 77}, true);
  expectAll<std::uint8_t, std::int8_t>({1, 130, 65, 256}, true);
}

// What is known of an operand's numbers follows from what computes them, and ends where they may wrap.
TEST(SmallProducts, OfComputedOperands) {
  std::mt19937 random(5);
  const auto a = numbers<std::int8_t>(random, 40 * 33, Numbers::Random),
             b = numbers<std::int8_t>(random, 33 * 50, Numbers::Random);
  const Tensor x = tensor(a, Shape{40, 33}), y = tensor(b, Shape{33, 50});
  auto expectOf = [&](const char *what, auto left, auto right, auto ofTerm) {
    SCOPED_TRACE(what);
    auto product = function([&](const Tensor &p, const Tensor &q) { return matmul(left(wide(p)), right(wide(q))); });
    const std::vector<std::int32_t> found = product(x, y).template to_vector<std::int32_t>();
    for (std::int64_t row = 0; row < 40; ++row)
      for (std::int64_t column = 0; column < 50; ++column) {
        std::uint32_t expected = 0;
        for (std::int64_t term = 0; term < 33; ++term)
          expected += ofTerm(a[static_cast<std::size_t>(row * 33 + term)],
                             b[static_cast<std::size_t>(term * 50 + column)], term);
        ASSERT_EQ(static_cast<std::uint32_t>(found[static_cast<std::size_t>(row * 50 + column)]), expected);
      }
  };
  auto same = [](const Tensor &t) { return t; };
  auto bits = [](int x) { return static_cast<std::uint32_t>(x); };
  expectOf(
      "relu", [](const Tensor &t) { return relu(t); }, same,
      [&](int p, int q, std::int64_t) { return bits(std::max(p, 0)) * bits(q); });
  expectOf(
      "255 times", [](const Tensor &t) { return t * 255; }, same,
      [&](int p, int q, std::int64_t) { return bits(p * 255) * bits(q); });
  expectOf(
      "257 times", [](const Tensor &t) { return t * 257; }, same,
      [&](int p, int q, std::int64_t) { return bits(p * 257) * bits(q); });
  expectOf(
      "2^30 times", [](const Tensor &t) { return t * (1 << 30); }, [](const Tensor &t) { return t * t; },
      [&](int p, int q, std::int64_t) { return bits(p) * bits(1 << 30) * bits(q * q); });
  expectOf(
      "a constant", same, [&](const Tensor &t) { return t + 32'640; },
      [&](int p, int q, std::int64_t) { return bits(p) * bits(q + 32'640); });
  // What is subtracted differs from term to term.
  expectOf(
      "less a row", [](const Tensor &t) { return t - relu(t[0]); }, same,
      [&](int p, int q, std::int64_t term) {
        return bits(p - std::max<int>(a[static_cast<std::size_t>(term)], 0)) * bits(q);
      });
  // A byte less a number that is computed.
  expectOf(
      "less a maximum", [](const Tensor &t) { return t - maximum(max(t), 3) * 2; },
      [](const Tensor &t) { return t - relu(t[7][3]); },
      [&](int p, int q, std::int64_t) {
        const int most = std::max<int>(*std::max_element(a.begin(), a.end()), 3);
        return bits(p - most * 2) * bits(q - std::max<int>(b[7 * 50 + 3], 0));
      });
}
