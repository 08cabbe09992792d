// Reading and writing slices at indices: values against plain loops, equal indices, derivatives against central
// differences, many examples at once against one after the other, unknown sizes, threads.
#include "calque/threads.h"
#include "test/operations/Structured.h"

using namespace calque;
using namespace calque::testing;

namespace {

using Scatter = Tensor (*)(const Operand &, const Operand &, const Operand &);
using ScatterAlong = Tensor (*)(const Operand &, const Operand &, const Operand &, std::int64_t);
using Combine = double (*)(double old, double update);

struct Way {
  const char *name;
  Scatter function;
  ScatterAlong along;
  Combine combine;
};
const Way kWays[] = {
    {"set", scatter_nd_set, scatter_set, [](double, double update) { return update; }},
    {"add", scatter_nd_add, scatter_add, [](double old, double update) { return old + update; }},
    {"max", scatter_nd_max, scatter_max, [](double old, double update) { return std::max(old, update); }},
};

// Shapes of x and of the indices, and the indices, of which each may stand in the place of any other: many examples
// have them in another order.
struct Case {
  Shape x, indices;
  std::vector<std::int64_t> values;

  std::int64_t named() const { return indices.back(); }
  std::ptrdiff_t indexRank() const { return static_cast<std::ptrdiff_t>(indices.size()) - 1; }
  Shape slices() const {
    Shape shape(indices.begin(), indices.end() - 1);
    shape.insert(shape.end(), x.begin() + named(), x.end());
    return shape;
  }
  // The place in x of an element of the slices.
  std::int64_t place(const Shape &at) const {
    Shape whole;
    for (std::int64_t k = 0; k < named(); ++k) {
      Shape read(at.begin(), at.begin() + indexRank());
      read.push_back(k);
      whole.push_back(values[static_cast<std::size_t>(ravel(read, indices))]);
    }
    whole.insert(whole.end(), at.begin() + indexRank(), at.end());
    return ravel(whole, x);
  }
  Tensor tensorOf(DType dtype = DType::Int64) const { return cast(tensor(values, indices), dtype); }
  std::string name() const { return x.str() + " at " + indices.str(); }
};

const std::vector<Case> kCases = {
    {{5}, {3, 1}, {4, 0, 2}},
    {{5}, {1}, {3}},
    {{}, {2, 0}, {}}, // no index: all of a scalar, twice
    {{2, 3}, {0}, {}},
    {{4, 3}, {2, 1}, {3, 1}},
    {{4, 3}, {2, 2, 2}, {2, 1, 0, 0, 2, 2, 1, 1}},
    {{2, 3, 4}, {2, 2}, {1, 1, 0, 1}},
    {{2, 3, 4}, {1, 2, 3}, {1, 0, 1, 0, 0, 0}},
    {{3, 1, 2}, {0, 1}, {}},
    {{4}, {6, 1}, {1, 3, 1, 1, 0, 3}}, // equal ones
    {{2, 2, 3}, {4, 2}, {0, 1, 1, 0, 0, 1, 0, 1}},
};

// The same with all sizes open but that of the last dimension of indices that name several.
void expectOpen(const Body &f, const std::vector<std::vector<Tensor>> &calls, bool namesSeveral = true) {
  std::vector<TensorSpec<>> signature;
  for (std::size_t i = 0; i < calls[0].size(); ++i) {
    Shape shape(calls[0][i].shape().size(), kDynamic);
    if (i == 1 && namesSeveral)
      shape.back() = calls[0][1].shape().back();
    signature.push_back(TensorSpec<>(calls[0][i].dtype(), shape));
  }
  auto both = [f](const std::vector<Tensor> &x) {
    std::vector<Tensor> primals{x[0]};
    primals.insert(primals.end(), x.begin() + 2, x.end());
    std::vector<Tensor> results = gradients(
        [&](const std::vector<Tensor> &y) {
          std::vector<Tensor> operands{y[0], x[1]};
          operands.insert(operands.end(), y.begin() + 1, y.end());
          return sum(square(f(operands)));
        },
        primals);
    results.push_back(f(x));
    return results;
  };
  auto open =
      function<std::vector<Tensor>(const std::vector<Tensor> &)>(ManyBody(both), {.input_signature = signature});
  for (const std::vector<Tensor> &inputs : calls) {
    std::vector<Tensor> found = open(inputs), expected = both(inputs);
    for (std::size_t i = 0; i < found.size(); ++i)
      expectSameBits(found[i], expected[i]);
  }
}

} // namespace

TEST(Scatter, GatherNd) {
  std::mt19937 random(61);
  for (const Case &c : kCases)
    for (DType dtype : {DType::Int64, DType::Int32}) {
      SCOPED_TRACE(c.name());
      Tensor x = randomTensor(random, c.x), indices = c.tensorOf(dtype);
      std::vector<double> xs = valuesOf(x);
      Body f = [](const std::vector<Tensor> &in) { return gather_nd(in[0], in[1]); };
      expectValues(f, {x, indices}, c.slices(), generate(c.slices(), [&](const Shape &at) { return xs[c.place(at)]; }));
      if (dtype == DType::Int32)
        continue;
      expectBatched({batched(f, {cast(x, DType::Int32), indices}, true), batched(f, {x > 0, indices}, true)});
      expectAllDerivatives([&](const std::vector<Tensor> &in) { return square(f({in[0], indices})); }, {x}, 2, true);
      expectOpen(f, {{x, indices}});
    }
}

TEST(Scatter, WritesWhatGatherNdReads) {
  std::mt19937 random(62);
  for (const Way &way : kWays)
    for (const Case &c : kCases) {
      SCOPED_TRACE(std::string(way.name) + " " + c.name());
      Tensor x = randomTensor(random, c.x), updates = randomTensor(random, c.slices()), indices = c.tensorOf();
      std::vector<double> expected = valuesOf(x), us = valuesOf(updates);
      for (std::int64_t i = 0; i < sizeOf(c.slices()); ++i) {
        double &element = expected[c.place(unravel(i, c.slices()))];
        element = way.combine(element, us[static_cast<std::size_t>(i)]);
      }
      Body f = [&](const std::vector<Tensor> &in) { return way.function(in[0], in[1], in[2]); };
      expectValues(f, {x, indices, updates}, c.x, expected);
      expectValues(f, {x, c.tensorOf(DType::Int32), updates}, c.x, expected, false);
      expectBatched({batched(f, {cast(x, DType::Int32), indices, cast(updates, DType::Int32)}, true)});
      expectAllDerivatives([&](const std::vector<Tensor> &in) { return square(f({in[0], indices, in[1]})); },
                           {x, updates}, 2, true);
      expectOpen(f, {{x, indices, updates}});
    }
}

TEST(Scatter, AlongAnAxis) {
  std::mt19937 random(63);
  for (const Way &way : kWays)
    for (std::int64_t axis : {0, 1, -1, -3})
      for (const Shape &indexShape : {Shape{}, Shape{4}, Shape{2, 2}}) {
        SCOPED_TRACE(std::string(way.name) + " along " + std::to_string(axis) + " at " + indexShape.str());
        const Shape shape = {3, 2, 4};
        const std::size_t dim = dimensionOf(axis, 3), indexRank = indexShape.size();
        std::vector<std::int64_t> values;
        for (std::int64_t i = 0; i < sizeOf(indexShape); ++i)
          values.push_back(i % shape[dim]);
        Tensor x = randomTensor(random, shape), indices = tensor(values, indexShape);
        Tensor updates = randomTensor(random, gather(x, indices, axis).shape());
        std::vector<double> expected = valuesOf(x), us = valuesOf(updates);
        for (std::int64_t i = 0; i < sizeOf(updates.shape()); ++i) {
          Shape at = unravel(i, updates.shape());
          auto first = at.begin() + static_cast<std::ptrdiff_t>(dim),
               last = first + static_cast<std::ptrdiff_t>(indexRank);
          std::int64_t index = values[static_cast<std::size_t>(ravel(Shape(first, last), indexShape))];
          at.erase(first, last);
          at.insert(at.begin() + static_cast<std::ptrdiff_t>(dim), index);
          double &element = expected[ravel(at, shape)];
          element = way.combine(element, us[static_cast<std::size_t>(i)]);
        }
        Body f = [&](const std::vector<Tensor> &in) { return way.along(in[0], in[1], in[2], axis); };
        expectValues(f, {x, indices, updates}, shape, expected, indexRank == 1);
        expectAllDerivatives([&](const std::vector<Tensor> &in) { return square(f({in[0], indices, in[1]})); },
                             {x, updates}, 1, false);
        expectOpen(f, {{x, indices, updates}}, false);
      }
}

// Of equal indices the last one sets, and only it has a gradient; sums are in order; the largest share the gradient.
TEST(Scatter, EqualIndices) {
  Tensor x = tensor<double>({1, 2, 3}), i = tensor<std::int64_t>({1, 1, 0, 1}), u = tensor<double>({5, 6, 7, 6});
  auto slopes = [&](ScatterAlong f) {
    return gradients(
        [&](const std::vector<Tensor> &in) { return sum(f(in[0], i, in[1], 0) * tensor<double>({10, 100, 1000})); },
        {x, u});
  };
  EXPECT_EQ(valuesOf(scatter_set(x, i, u)), (std::vector<double>{7, 6, 3}));
  EXPECT_EQ(valuesOf(slopes(scatter_set)[0]), (std::vector<double>{0, 0, 1000}));
  EXPECT_EQ(valuesOf(slopes(scatter_set)[1]), (std::vector<double>{0, 0, 10, 100}));
  EXPECT_EQ(valuesOf(scatter_add(x, i, u)), (std::vector<double>{8, 19, 3}));
  EXPECT_EQ(valuesOf(slopes(scatter_add)[0]), (std::vector<double>{10, 100, 1000}));
  EXPECT_EQ(valuesOf(slopes(scatter_add)[1]), (std::vector<double>{100, 100, 10, 100}));
  EXPECT_EQ(valuesOf(scatter_max(x, i, u)), (std::vector<double>{7, 6, 3}));
  EXPECT_EQ(valuesOf(slopes(scatter_max)[0]), (std::vector<double>{0, 0, 1000}));
  EXPECT_EQ(valuesOf(slopes(scatter_max)[1]), (std::vector<double>{0, 50, 10, 50}));
  // x has its share, too.
  EXPECT_EQ(valuesOf(grad([&](const Tensor &a) {
              return sum(scatter_max(a, tensor<std::int64_t>({2, 2}), tensor<double>({3, 3})));
            })(x)),
            (std::vector<double>{1, 1, 1. / 3}));
  // In this order 1 is lost in 1e16, and in another one it would not be.
  Tensor large = tensor<double>({1e16, 1, -1e16, 1}), zero = tensor<double>({0});
  EXPECT_EQ(valuesOf(scatter_add(zero, zeros({4}, DType::Int64), large)), std::vector<double>{1});
}

TEST(Scatter, EdgesOfTypes) {
  const auto least = std::numeric_limits<std::int32_t>::min(), most = std::numeric_limits<std::int32_t>::max();
  Tensor x = tensor<std::int32_t>({most, least, 0}), i = tensor<std::int32_t>({0, 1, 2}),
         u = tensor<std::int32_t>({1, -1, least});
  EXPECT_EQ(scatter_add(x, i, u).to_vector<std::int32_t>(), (std::vector<std::int32_t>{least, most, least}));
  EXPECT_EQ(scatter_max(x, i, u).to_vector<std::int32_t>(), (std::vector<std::int32_t>{most, -1, 0}));
  EXPECT_EQ(valuesOf(scatter_set(tensor<bool>({true, false, true}), i, tensor<bool>({false, true, true}))),
            (std::vector<double>{0, 1, 1}));
  const double nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();
  Tensor special = tensor<double>({nan, 1, -infinity}), updates = tensor<double>({1, nan, -infinity});
  auto largest = [&](const std::vector<Tensor> &in) { return scatter_max(in[0], i, in[1]); };
  expectValues(largest, {special, updates}, {3}, {nan, nan, -infinity});
  for (const Tensor &slope :
       gradients([&](const std::vector<Tensor> &in) { return sum(largest(in)); }, {special, updates})) {
    EXPECT_TRUE(std::isnan(valuesOf(slope)[0]) && std::isnan(valuesOf(slope)[1]));
    EXPECT_EQ(valuesOf(slope)[2], 0.5);
  }
  // A number adopts the type of x, and an index keeps its own.
  EXPECT_EQ(valuesOf(scatter_add(tensor<float>({1, 2}), 1, 3)), (std::vector<double>{1, 5}));
}

TEST(Scatter, IntoNothing) {
  for (const Way &way : kWays) {
    auto f = [&](const Tensor &x, const Tensor &i, const Tensor &u) { return way.along(x, i, u, 0); };
    Tensor none = zeros({0}, DType::Int64), one = zeros({1}, DType::Int64);
    EXPECT_EQ(both(f, ones({0, 2}), none, ones({0, 2})).shape(), (Shape{0, 2}));
    EXPECT_EQ(both(f, ones({2, 0}), one, ones({1, 0})).shape(), (Shape{2, 0}));
    EXPECT_THROW(f(ones({0, 2}), one, ones({1, 2})), IndexError);
    auto open =
        function(f, {.input_signature = {TensorSpec<float>({kDynamic, kDynamic}), TensorSpec<std::int64_t>({kDynamic}),
                                         TensorSpec<float>({kDynamic, kDynamic})}});
    EXPECT_EQ(open(ones({0, 2}), none, ones({0, 2})).shape(), (Shape{0, 2}));
    EXPECT_EQ(open(ones({2, 0}), one, ones({1, 0})).shape(), (Shape{2, 0}));
    EXPECT_THROW(open(ones({0, 2}), one, ones({1, 2})), IndexError);
    EXPECT_THROW(open(ones({2, 2}), one, ones({1, 3})), ShapeError);
  }
  auto read = [](const Tensor &x, const Tensor &i) { return gather_nd(x, i); };
  auto open = function(
      read, {.input_signature = {TensorSpec<float>({kDynamic, kDynamic}), TensorSpec<std::int64_t>({kDynamic, 2})}});
  EXPECT_EQ(open(ones({0, 2}), zeros({0, 2}, DType::Int64)).shape(), (Shape{0}));
  EXPECT_THROW(open(ones({0, 2}), zeros({1, 2}, DType::Int64)), IndexError);
  EXPECT_THROW(open(ones({2, 0}), zeros({1, 2}, DType::Int64)), IndexError);
}

// An index outside fails the call, and variables keep what they had.
TEST(Scatter, IndicesOutside) {
  Variable kept(zeros({2, 3}));
  auto step = function([&](const Tensor &i) {
    kept.assign(scatter_nd_add(kept, i, ones({1})));
    return gather_nd(kept, i);
  });
  EXPECT_EQ(valuesOf(step(tensor<std::int64_t>({1, 2}, {1, 2}))), std::vector<double>{1});
  for (const auto &[indices, message] : std::vector<std::pair<std::vector<std::int64_t>, std::string>>{
           {{2, 0}, "index 2 is out of range [0, 2)"},
           {{0, 3}, "index 3 is out of range [0, 3)"},
           {{-1, 0}, "index -1 is out of range [0, 2)"},
           {{0, std::numeric_limits<std::int64_t>::min()}, "index -9223372036854775808 is out of range [0, 3)"}})
    try {
      step(tensor(indices, {1, 2}));
      FAIL() << message;
    } catch (const IndexError &error) {
      EXPECT_NE(std::string(error.what()).find("scatter_nd_add: " + message), std::string::npos) << error.what();
      EXPECT_EQ(valuesOf(kept.value()), (std::vector<double>{0, 0, 0, 0, 0, 1}));
    }
}

// A kernel of each writes one slice after the other: 1 thread and several give the same bits.
TEST(Scatter, DoesNotDependOnThreads) {
  std::mt19937 random(64);
  const std::int64_t count = 20000;
  std::vector<std::int64_t> values;
  for (std::int64_t i = 0; i < count; ++i)
    values.push_back(std::uniform_int_distribution<std::int64_t>(0, 99)(random));
  Tensor x = randomTensor(random, {100, 4}), i = tensor(values, {count}), u = randomTensor(random, {count, 4});
  for (const Way &way : kWays) {
    auto f = [&](const Tensor &a, const Tensor &b) {
      return gradients([&](const std::vector<Tensor> &in) { return sum(square(way.along(in[0], i, in[1], 0))); },
                       {a, b});
    };
    auto compiled = function(f);
    const int before = num_threads();
    set_num_threads(1);
    std::vector<Tensor> alone = compiled(x, u);
    set_num_threads(7);
    std::vector<Tensor> together = compiled(x, u);
    set_num_threads(before);
    for (std::size_t k = 0; k < alone.size(); ++k)
      expectSameBits(alone[k], together[k]);
  }
}
