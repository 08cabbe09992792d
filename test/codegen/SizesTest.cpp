// One native body for all sizes: functions with unknown dimensions against the same ones with known dimensions.
#include "calque/calque.h"
#include "test/codegen/Recordings.h"

#include <cmath>
#include <random>

namespace calque::testing {
namespace {

// A negative size stands for an unknown one: -1 is the first of the call's sizes, -2 the second.
using Symbolic = TensorType;
using Body = std::function<std::vector<ValueId>(Recorder &, const std::vector<ValueId> &)>;

enum class Agree { Bits, Close };

struct Case {
  const char *name;
  std::vector<Symbolic> parameters;
  Body body;
  std::vector<Ints> sizes = {{0}, {1}, {3}, {8}, {17}, {130}};
  Agree agree = Agree::Bits;
};
void PrintTo(const Case &each, std::ostream *os) { *os << each.name; }

TensorType f32(schema::Dims dims) { return {DType::Float32, std::move(dims)}; }
TensorType i32(schema::Dims dims) { return {DType::Int32, std::move(dims)}; }
TensorType i64(schema::Dims dims) { return {DType::Int64, std::move(dims)}; }

TensorType withSizes(Symbolic type, const Ints *sizes) {
  for (std::int64_t &dim : type.dims)
    if (dim < 0)
      dim = sizes ? (*sizes)[static_cast<std::size_t>(-1 - dim)] : schema::kOpenSize;
  return type;
}

schema::Recording record(const Case &each, const Ints *sizes) {
  Recorder recorder;
  std::vector<ValueId> parameters;
  for (const Symbolic &type : each.parameters)
    parameters.push_back(recorder.parameter(withSizes(type, sizes)));
  std::vector<ValueId> results = each.body(recorder, parameters);
  recorder.recording.results = results;
  return std::move(recorder.recording);
}

// Small whole numbers, on which sums and products are exact, whatever their order.
std::vector<Array> arguments(const Case &each, const Ints &sizes) {
  std::mt19937 random(7);
  std::vector<Array> result;
  for (const Symbolic &type : each.parameters) {
    Array array(withSizes(type, &sizes));
    for (std::size_t i = 0; i < array.size(); ++i)
      array.set(i, is_integer(type.dtype) ? static_cast<double>(random() % 3) : static_cast<double>(random() % 9) - 4);
    result.push_back(array);
  }
  return result;
}

class Sizes : public ::testing::TestWithParam<Case> {};

TEST_P(Sizes, AgreeWithKnownOnes) {
  const Case &each = GetParam();
  Native unknown(record(each, nullptr));
  ASSERT_TRUE(unknown.executable);
  ASSERT_TRUE(unknown.executable->plan.hasShapes());
  for (const Ints &sizes : each.sizes) {
    std::string at;
    for (std::int64_t size : sizes)
      at += std::to_string(size) + " ";
    SCOPED_TRACE(at);
    Native known(record(each, &sizes));
    ASSERT_TRUE(known.executable);
    ASSERT_FALSE(known.executable->plan.hasShapes());
    std::vector<Array> given = arguments(each, sizes);
    Outcome expected = known(given), found = unknown(given);
    ASSERT_FALSE(expected.failed);
    ASSERT_FALSE(found.failed) << found.failed->operation << " " << found.values[0] << " " << found.values[1];
    ASSERT_EQ(found.results.size(), expected.results.size());
    for (std::size_t i = 0; i < found.results.size(); ++i) {
      const Array &a = found.results[i], &b = expected.results[i];
      ASSERT_EQ(a.type.str(), b.type.str());
      int wrong = 0;
      for (std::size_t k = 0; k < a.size() && wrong < 4; ++k) {
        bool same = a.at(k) == b.at(k) || (std::isnan(a.at(k)) && std::isnan(b.at(k)));
        if (!same && each.agree == Agree::Close)
          same = std::fabs(a.at(k) - b.at(k)) <= 1e-5 * std::max(1.0, std::fabs(b.at(k)));
        if (!same) {
          ++wrong;
          ADD_FAILURE() << "element " << k << " of result " << i << " is " << a.at(k) << ", not " << b.at(k);
        }
      }
    }
  }
}

// The gradients of a value, and another one.
std::vector<ValueId> gradientsAnd(Recorder &r, ValueId of, const std::vector<ValueId> &sources, ValueId also) {
  std::vector<ValueId> results = r.gradient(of, sources);
  results.push_back(also);
  return results;
}

// Both paddings and their gradients.
std::vector<ValueId> convolved(Recorder &r, const std::vector<ValueId> &x) {
  std::vector<ValueId> results;
  for (const char *padding : {"same", "valid"}) {
    ValueId y = r(OpId::Conv, {x[0], x[1]}, {Ints{1, 2}, std::string(padding), Ints(), Ints(), std::int64_t(1)});
    results.push_back(y);
    for (ValueId each : r.gradient(y, {x[0], x[1]}))
      results.push_back(each);
  }
  return results;
}

ValueId matmul(Recorder &r, ValueId a, ValueId b) {
  return r(OpId::Contract, {a, b}, {Ints{}, Ints{}, Ints{1}, Ints{0}});
}

const std::vector<Ints> kPairs = {{0, 3}, {1, 1}, {3, 0}, {3, 5}, {17, 130}, {64, 10}, {33, 257}};
const std::vector<Ints> kTriples = {{0, 3, 2},    {1, 1, 1},    {3, 0, 5},     {3, 5, 0},      {7, 5, 3},
                                    {17, 130, 9}, {64, 10, 70}, {33, 65, 257}, {130, 128, 131}};

ValueId sumAll(Recorder &r, ValueId x) { return r(OpId::Sum, {x}, {Ints{}, false}); }

const std::vector<Case> kCases = {
    {"add", {f32({-1, 3}), f32({-1, 3})}, [](Recorder &r, auto &x) { return std::vector{r(OpId::Add, {x[0], x[1]})}; }},
    {"chain", {f32({-1, -2}), f32({-2})}, [](Recorder &r, auto &x) {
       return std::vector{r(OpId::Mul, {r(OpId::Relu, {r(OpId::Add, {x[0], x[1]})}), x[0]})}; }, kPairs},
    {"one_is_broadcast", {f32({-1, 1}), f32({1, -2}), f32({})}, [](Recorder &r, auto &x) {
       return std::vector{r(OpId::Add, {r(OpId::Sub, {x[0], x[1]}), x[2]})}; }, kPairs},
    {"known_meets_unknown", {f32({-1, 17}), f32({17, 17})}, [](Recorder &r, auto &x) { return std::vector{r(OpId::Add, {x[0], x[1]})}; }, {{17}}},
    {"comparison", {f32({-1}), f32({-1})}, [](Recorder &r, auto &x) {
       ValueId less = r(OpId::Less, {x[0], x[1]});
       return std::vector{less, r(OpId::Select, {less, x[0], x[1]}), r(OpId::Cast, {less}, {DType::Int32})}; }},
    {"transcendental", {f32({-1, -2})}, [](Recorder &r, auto &x) {
       return std::vector{r(OpId::Exp, {x[0]}), r(OpId::Tanh, {r(OpId::Sin, {x[0]})})}; }, kPairs},
    {"elementwise_gradient", {f32({-1, -2}), f32({-2}), f32({})}, [](Recorder &r, auto &x) {
       ValueId y = r(OpId::Mul, {r(OpId::Mul, {r(OpId::Add, {x[0], x[1]}), x[0]}), x[2]});
       return r.gradient(y, {x[0], x[1], x[2]}); }, kPairs},
    {"integer_division", {i32({-1}), i32({1})}, [](Recorder &r, auto &x) {
       return std::vector{r(OpId::Div, {x[0], r(OpId::Add, {x[1], r.constant(1, DType::Int32)})})}; }},

    {"sum_all", {f32({-1, -2})}, [](Recorder &r, auto &x) { return std::vector{sumAll(r, x[0])}; }, kPairs},
    {"sum_rows", {f32({-1, -2})}, [](Recorder &r, auto &x) { return std::vector{r(OpId::Sum, {x[0]}, {Ints{1}, true})}; }, kPairs},
    {"sum_columns", {f32({-1, -2})}, [](Recorder &r, auto &x) { return std::vector{r(OpId::Sum, {x[0]}, {Ints{0}, false})}; }, kPairs},
    {"sum_middle", {f32({-1, 5, -2})}, [](Recorder &r, auto &x) { return std::vector{r(OpId::Sum, {x[0]}, {Ints{0, 2}, true})}; }, kPairs},
    {"sum_int", {i64({-1, -2})}, [](Recorder &r, auto &x) { return std::vector{r(OpId::Sum, {x[0]}, {Ints{-1}, false})}; }, kPairs},
    {"sum_gradient", {f32({-1, -2})}, [](Recorder &r, auto &x) {
       ValueId sums = r(OpId::Sum, {r(OpId::Mul, {x[0], x[0]})}, {Ints{1}, false});
       return r.gradient(sums, {x[0]}); }, kPairs},
    {"mean", {f32({-1, -2})}, [](Recorder &r, auto &x) { return std::vector{r(OpId::Mean, {x[0]}, {Ints{0}, false})}; }, {{1, 1}, {3, 0}, {4, 5}, {16, 130}}},
    {"max_min", {f32({-1, -2})}, [](Recorder &r, auto &x) {
       return std::vector{r(OpId::ReduceMax, {x[0]}, {Ints{1}, false}), r(OpId::ReduceMin, {x[0]}, {Ints{}, false})}; }, {{1, 1}, {3, 5}, {17, 130}, {257, 9}}},
    {"max_gradient", {f32({-1, -2})}, [](Recorder &r, auto &x) {
       return r.gradient(r(OpId::ReduceMax, {x[0]}, {Ints{1}, false}), {x[0]}); }, {{1, 1}, {3, 5}, {17, 130}}},
    {"argmax", {f32({-1, -2})}, [](Recorder &r, auto &x) {
       return std::vector{r(OpId::ArgMax, {x[0]}, {std::int64_t(1)}), r(OpId::ArgMax, {x[0]}, {std::int64_t(0)})}; }, {{1, 1}, {3, 5}, {17, 130}}},
    {"argmin", {f32({-1, -2})}, [](Recorder &r, auto &x) {
       return std::vector{r(OpId::ArgMin, {x[0]}, {std::int64_t(1)}), r(OpId::ArgMin, {x[0]}, {std::int64_t(0)})}; }, {{1, 1}, {3, 5}, {17, 130}}},
    {"prod", {f32({-1, -2})}, [](Recorder &r, auto &x) {
       ValueId y = r(OpId::Prod, {x[0]}, {Ints{1}, false});
       return gradientsAnd(r, y, {x[0]}, y); }, {{0, 3}, {3, 0}, {1, 1}, {3, 5}, {17, 4}}},
    {"prod_all", {i32({-1, -2})}, [](Recorder &r, auto &x) { return std::vector{r(OpId::Prod, {x[0]}, {Ints{}, true})}; }, kPairs},
    {"prod_all_gradient", {f32({-1, -2})}, [](Recorder &r, auto &x) {
       return r.gradient(r(OpId::Prod, {x[0]}, {Ints{}, false}), {x[0]}); }, {{0, 3}, {1, 1}, {3, 5}}},
    {"any_all", {i32({-1, -2})}, [](Recorder &r, auto &x) {
       ValueId holds = r(OpId::Less, {x[0], r.constant(2, DType::Int32)});
       return std::vector{r(OpId::Any, {holds}, {Ints{1}, false}), r(OpId::All, {holds}, {Ints{0}, true}), r(OpId::All, {holds}, {Ints{}, false})}; }, kPairs},
    {"cumsum", {f32({-1, -2})}, [](Recorder &r, auto &x) {
       ValueId y = r(OpId::CumSum, {x[0]}, {std::int64_t(1), false, false}), z = r(OpId::CumSum, {x[0]}, {std::int64_t(0), true, true});
       return gradientsAnd(r, r(OpId::Mul, {y, z}), {x[0]}, y); }, kPairs},
    {"cumprod", {f32({-1, -2})}, [](Recorder &r, auto &x) {
       ValueId y = r(OpId::CumProd, {x[0]}, {std::int64_t(0), false, true});
       return gradientsAnd(r, y, {x[0]}, y); }, {{0, 3}, {3, 0}, {1, 1}, {3, 5}, {9, 17}}},
    {"remainders", {i32({-1}), i32({1})}, [](Recorder &r, auto &x) {
       ValueId divisor = r(OpId::Add, {x[1], r.constant(1, DType::Int32)});
       return std::vector{r(OpId::Mod, {x[0], divisor}), r(OpId::Fmod, {x[0], divisor}), r(OpId::FloorDivide, {x[0], divisor})}; }},
    {"softmax", {f32({-1, -2})}, [](Recorder &r, auto &x) {
       ValueId y = r(OpId::Softmax, {x[0]}, {std::int64_t(-1)});
       return gradientsAnd(r, r(OpId::Mul, {y, x[0]}), {x[0]}, y); }, {{0, 3}, {1, 1}, {3, 5}, {17, 130}, {64, 10}}, Agree::Close},
    {"log_softmax", {f32({-1, -2})}, [](Recorder &r, auto &x) {
       ValueId y = r(OpId::LogSoftmax, {x[0]}, {std::int64_t(-1)});
       return std::vector{y};
     }, {{1, 1}, {3, 5}, {17, 130}}, Agree::Close},
    {"logsumexp", {f32({-1, -2})}, [](Recorder &r, auto &x) { return std::vector{r(OpId::LogSumExp, {x[0]}, {Ints{0}, false})}; }, {{1, 1}, {3, 5}, {17, 130}}, Agree::Close},
    {"layer_norm", {f32({-1, -2}), f32({-2})}, [](Recorder &r, auto &x) {
       ValueId centred = r(OpId::Sub, {x[0], r(OpId::Mean, {x[0]}, {Ints{1}, true})});
       ValueId variance = r(OpId::Mean, {r(OpId::Mul, {centred, centred})}, {Ints{1}, true});
       ValueId y = r(OpId::Mul, {r(OpId::Mul, {centred, r(OpId::Rsqrt, {r(OpId::Add, {variance, r.constant(1)})})}), x[1]});
       std::vector<ValueId> results = r.gradient(y, {x[0], x[1]}, 2);
       results.push_back(y);
       return results; }, {{0, 3}, {1, 1}, {3, 5}, {17, 130}}, Agree::Close},

    {"matmul", {f32({-1, -2}), f32({-2, -3})}, [](Recorder &r, auto &x) { return std::vector{matmul(r, x[0], x[1])}; }, kTriples},
    {"matmul_rows", {f32({-1, 65}), f32({65, 130})}, [](Recorder &r, auto &x) { return std::vector{matmul(r, x[0], x[1])}; }, {{0}, {1}, {5}, {64}, {300}}},
    {"matmul_columns", {f32({33, 65}), f32({65, -1})}, [](Recorder &r, auto &x) { return std::vector{matmul(r, x[0], x[1])}; }, {{0}, {1}, {5}, {64}, {300}}},
    {"matmul_terms", {f32({33, -1}), f32({-1, 40})}, [](Recorder &r, auto &x) { return std::vector{matmul(r, x[0], x[1])}; }, {{0}, {1}, {5}, {64}, {3000}}},
    {"matmul_transposed", {f32({-2, -1}), f32({-3, -2})}, [](Recorder &r, auto &x) {
       return std::vector{r(OpId::Contract, {x[0], x[1]}, {Ints{}, Ints{}, Ints{0}, Ints{1}})}; }, kTriples},
    {"matmul_int", {i32({-1, -2}), i32({-2, -3})}, [](Recorder &r, auto &x) { return std::vector{matmul(r, x[0], x[1])}; }, kTriples},
    {"matmul_double", {{DType::Float64, {-1, -2}}, {DType::Float64, {-2, -3}}}, [](Recorder &r, auto &x) { return std::vector{matmul(r, x[0], x[1])}; }, kTriples},
    {"matmul_gradient", {f32({-1, -2}), f32({-2, -3})}, [](Recorder &r, auto &x) { return r.gradient(matmul(r, x[0], x[1]), {x[0], x[1]}); }, kTriples},
    {"batched", {f32({-1, -2, 20}), f32({-1, 20, -2})}, [](Recorder &r, auto &x) {
       ValueId y = r(OpId::Contract, {x[0], x[1]}, {Ints{0}, Ints{0}, Ints{2}, Ints{1}});
       return gradientsAnd(r, y, {x[0], x[1]}, y); }, {{0, 3}, {2, 0}, {1, 1}, {3, 17}, {5, 40}}},
    {"vector_matrix", {f32({-1}), f32({-1, -2})}, [](Recorder &r, auto &x) {
       return std::vector{r(OpId::Contract, {x[0], x[1]}, {Ints{}, Ints{}, Ints{0}, Ints{0}})}; }, kPairs},
    {"two_contracting", {f32({-1, 4, -2}), f32({-2, 4, 9})}, [](Recorder &r, auto &x) {
       return std::vector{r(OpId::Contract, {x[0], x[1]}, {Ints{}, Ints{}, Ints{1, 2}, Ints{1, 0}})}; }, kPairs},
    {"dense_step", {f32({-1, 20}), f32({20, 12}), f32({12}), f32({-1, 12})}, [](Recorder &r, auto &x) {
       ValueId y = r(OpId::Relu, {r(OpId::Add, {matmul(r, x[0], x[1]), x[2]})});
       ValueId difference = r(OpId::Sub, {y, x[3]});
       ValueId loss = sumAll(r, r(OpId::Mul, {difference, difference}));
       return gradientsAnd(r, loss, {x[1], x[2]}, loss); }, {{0}, {1}, {7}, {64}, {130}}},

    {"reshape", {f32({-1, 4, 6})}, [](Recorder &r, auto &x) {
       ValueId flat = r(OpId::Reshape, {x[0]}, {Ints{-1, 24}}), all = r(OpId::Reshape, {flat}, {Ints{-1}}), thirds = r(OpId::Reshape, {all}, {Ints{3, -1}});
       std::vector<ValueId> results = r.gradient(r(OpId::Mul, {thirds, thirds}), {x[0]});
       results.insert(results.end(), {flat, all, thirds});
       return results; }},
    {"reshape_like", {f32({1, -1, -2}), f32({-2, 1, -1})}, [](Recorder &r, auto &x) {
       ValueId y = r(OpId::ReshapeLike, {x[0], x[1]});
       return gradientsAnd(r, r(OpId::Mul, {y, x[1]}), {x[0], x[1]}, y); }, kPairs},
    {"merge_and_split", {f32({-1, -2, 3}), f32({-2, 2, -1})}, [](Recorder &r, auto &x) {
       ValueId first = r(OpId::MergeDims, {x[0]}, {std::int64_t(0)}), last = r(OpId::MergeDims, {x[0]}, {std::int64_t(1)});
       ValueId parted = r(OpId::SplitDim, {first, x[1]}, {std::int64_t(0), std::int64_t(-1), std::int64_t(0)});
       std::vector<ValueId> results = r.gradient(r(OpId::Mul, {parted, parted}), {x[0]});
       results.insert(results.end(), {first, last, parted, r(OpId::SplitDim, {last, x[0]}, {std::int64_t(1), std::int64_t(1), std::int64_t(2)})});
       return results; }, kPairs},
    {"constants_take_open_shapes", {f32({-1, -2}), f32({-1, 1})}, [](Recorder &r, auto &x) {
       std::vector<Attribute> sizes{std::int64_t(0), std::int64_t(0), std::int64_t(1)};
       ValueId matrix = r.constant(2, DType::Float32, {3, 4}), flat = r.constant(3, DType::Float32, {12}), six = r.constant(4, DType::Int64, {6});
       return std::vector{r(OpId::ReshapeLike, {matrix, x[0]}), r(OpId::SplitDim, {flat, x[0]}, sizes), r(OpId::SplitDim, {six, x[1]}, sizes)}; },
     {{6, 2}}},
    {"parts_of_nothing", {f32({-1})}, [](Recorder &r, auto &x) {
       ValueId none = r.constant(0, DType::Float32, {0});
       return std::vector{r(OpId::ConcatPart, {none, x[0], x[0], none}, {std::int64_t(0), std::int64_t(0)})}; }, {{0}}},
    {"split_becomes_known", {f32({2, 1, -1, 1})}, [](Recorder &r, auto &x) {
       return std::vector{r(OpId::SplitDim, {x[0], x[0]}, {std::int64_t(0), std::int64_t(-3), std::int64_t(2)})}; }, {{2}}},
    // Sizes that must be equal to known ones, in what MLIR's types still call unknown.
    {"become_known", {f32({-1}), f32({-2, -3}), f32({2, 3})}, [](Recorder &r, auto &x) {
       ValueId six = r(OpId::Reshape, {x[0]}, {Ints{6}});
       ValueId rows = r(OpId::Concat, {x[1], r(OpId::Add, {x[1], x[2]}), x[2], x[1]}, {std::int64_t(0)});
       ValueId part = r(OpId::Slice, {x[1]}, {Ints{1, 0}, Ints{2, 2}, Ints{}});
       std::vector<ValueId> results = r.gradient(r(OpId::Mul, {rows, rows}), {x[1], x[2]});
       results.insert(results.end(), {six, rows, part, r(OpId::ReshapeLike, {x[0], x[1]}), r(OpId::Concat, {x[0], six}, {std::int64_t(0)})});
       return results; }, {{6, 2, 3}}},
    {"reduced_become_known", {f32({-1, -2, -3, 1})}, [](Recorder &r, auto &x) {
       return std::vector{r(OpId::BroadcastTo, {r(OpId::ReduceMax, {x[0]}, {Ints{0, 1, 3}, true})}, {Ints{1, 1, 2, 1}})}; }, {{2, 3, 2}, {1, 1, 2}}},
    {"channels_become_known", {f32({2, 5, 4, -1}), f32({2, 2, 3, 4})}, convolved, {{3}}},
    {"copy", {f32({-1, 3, -2})}, [](Recorder &r, auto &x) {
       ValueId copy = r(OpId::Barrier, {x[0]});
       return std::vector{copy, r(OpId::Mul, {copy, x[0]})}; }, kPairs},
    {"expand_dims", {f32({-1, -2})}, [](Recorder &r, auto &x) {
       ValueId y = r(OpId::ExpandDims, {x[0]}, {Ints{0, 2}});
       return std::vector{y, r(OpId::Reshape, {y}, {Ints{-1}}), r(OpId::ReshapeLike, {y, x[0]})}; }, kPairs},
    {"broadcast", {f32({-1, 1}), f32({-1, 7})}, [](Recorder &r, auto &x) {
       ValueId y = r(OpId::BroadcastLike, {x[0], x[1]}), z = r(OpId::BroadcastTo, {r(OpId::Sum, {x[0]}, {Ints{0}, true})}, {Ints{2, 4, 5}});
       std::vector<ValueId> results = r.gradient(r(OpId::Mul, {y, x[1]}), {x[0], x[1]});
       results.insert(results.end(), {y, z});
       return results; }},
    {"transpose", {f32({-1, 3, -2})}, [](Recorder &r, auto &x) {
       ValueId y = r(OpId::Transpose, {x[0]}, {Ints{}}), z = r(OpId::Transpose, {x[0]}, {Ints{1, 0, 2}});
       std::vector<ValueId> results = r.gradient(r(OpId::Mul, {y, y}), {x[0]});
       results.insert(results.end(), {y, z});
       return results; }, kPairs},
    {"concat", {f32({-1, 3}), f32({-2, 3}), f32({2, 3})}, [](Recorder &r, auto &x) {
       ValueId y = r(OpId::Concat, {x[0], x[1], x[2]}, {std::int64_t(0)});
       return gradientsAnd(r, r(OpId::Mul, {y, y}), {x[0], x[1], x[2]}, y); }, kPairs},
    {"concat_columns", {f32({-1, -2}), f32({-1, 3}), f32({-1, -2})}, [](Recorder &r, auto &x) {
       ValueId y = r(OpId::Concat, {x[0], x[1], x[2]}, {std::int64_t(1)});
       return gradientsAnd(r, r(OpId::Mul, {y, y}), {x[0], x[1], x[2]}, y); }, kPairs},
    {"slice", {f32({-1, -2})}, [](Recorder &r, auto &x) {
       ValueId y = r(OpId::Slice, {x[0]}, {Ints{1, 0}, Ints{4, 3}, Ints{2, 1}});
       return gradientsAnd(r, r(OpId::Mul, {y, y}), {x[0]}, y); }, {{4, 3}, {17, 130}}},
    {"pad", {f32({-1, -2})}, [](Recorder &r, auto &x) {
       ValueId y = r(OpId::Pad, {x[0]}, {Ints{1, 0}, Ints{2, 5}, 1.5});
       return gradientsAnd(r, r(OpId::Mul, {y, y}), {x[0]}, y); }, kPairs},
    {"reverse", {f32({-1, 3, -2})}, [](Recorder &r, auto &x) {
       ValueId y = r(OpId::Reverse, {x[0]}, {Ints{0, -1}}), z = r(OpId::Reverse, {x[0]}, {Ints{1}});
       return gradientsAnd(r, r(OpId::Mul, {y, z}), {x[0]}, y); }, kPairs},
    {"take_along_axis", {f32({3, -1}), i64({3, -2})}, [](Recorder &r, auto &x) {
       ValueId y = r(OpId::TakeAlongAxis, {x[0], x[1]}, {std::int64_t(1)});
       return gradientsAnd(r, r(OpId::Mul, {y, y}), {x[0]}, y); }, {{3, 0}, {3, 4}, {17, 130}}},
    {"argsort", {f32({-1, -2})}, [](Recorder &r, auto &x) {
       return std::vector{r(OpId::ArgSort, {x[0]}, {std::int64_t(1), false}), r(OpId::ArgSort, {x[0]}, {std::int64_t(0), true})}; }, kPairs},
    {"gather", {f32({-1, -2}), i64({-3})}, [](Recorder &r, auto &x) {
       ValueId y = r(OpId::Gather, {x[0], x[1]}, {std::int64_t(0)});
       return gradientsAnd(r, r(OpId::Mul, {y, y}), {x[0]}, y); }, {{3, 0, 5}, {3, 5, 0}, {3, 4, 1}, {17, 130, 9}, {3, 1, 200}}},
    {"one_hot", {i32({-1})}, [](Recorder &r, auto &x) { return std::vector{r(OpId::OneHot, {x[0]}, {std::int64_t(5), DType::Float32})}; }},
    {"iota_of_known_shape", {f32({-1, 9})}, [](Recorder &r, auto &x) {
       return std::vector{r(OpId::Add, {x[0], r(OpId::Iota, {}, {Ints{9}, DType::Float32, std::int64_t(0)})})}; }},
    {"conv_batch", {f32({-1, 7, 6, 3}), f32({3, 2, 3, 8})}, convolved, {{0}, {1}, {3}, {9}}},
    {"conv_images", {f32({2, -1, -2, 3}), f32({3, 2, 3, 8})}, convolved, {{0, 3}, {1, 1}, {3, 2}, {7, 6}, {12, 17}}},
    {"pool", {f32({-1, 7, 6, 3})}, [](Recorder &r, auto &x) {
       std::vector<ValueId> results;
       for (const char *padding : {"same", "valid"})
         for (std::int64_t stride : {1, 2}) {
           ValueId y = r(OpId::MaxPool, {x[0]}, {Ints{2, 2}, Ints{stride, stride}, std::string(padding), Ints()});
           results.push_back(y);
           for (ValueId each : r.gradient(y, {x[0]}))
             results.push_back(each);
         }
       return results; }, {{0}, {1}, {3}, {9}}},
    {"pool_images", {f32({2, -1, -2, 3})}, [](Recorder &r, auto &x) {
       std::vector<ValueId> results;
       for (const char *padding : {"same", "valid"}) {
         ValueId y = r(OpId::MaxPool, {x[0]}, {Ints{2, 2}, Ints{2, 2}, std::string(padding), Ints()});
         results.push_back(y);
         for (ValueId each : r.gradient(y, {x[0]}))
           results.push_back(each);
       }
       return results; }, {{3, 2}, {7, 6}, {12, 17}}},
    {"argument_is_result", {f32({-1, -2})}, [](Recorder &, auto &x) { return std::vector{x[0], x[0]}; }, kPairs},
    {"many_intermediates", {f32({-1, -2}), f32({-2, -1})}, [](Recorder &r, auto &x) {
       ValueId y = x[0];
       for (int i = 0; i < 4; ++i) {
         ValueId z = r(OpId::Transpose, {r(OpId::Tanh, {matmul(r, y, x[1])})}, {Ints{}});
         y = r(OpId::Add, {matmul(r, z, x[0]), r(OpId::Sub, {y, r(OpId::Sum, {y}, {Ints{0}, true})})});
       }
       return std::vector{y}; }, {{1, 1}, {3, 5}, {17, 30}}, Agree::Close},
};

INSTANTIATE_TEST_SUITE_P(All, Sizes, ::testing::ValuesIn(kCases),
                         [](const auto &info) { return std::string(info.param.name); });

// What a call says whose sizes don't fit together.
struct Misfit {
  const char *name;
  std::vector<Symbolic> parameters;
  Body body;
  Ints sizes;
  Site::Kind kind;
  const char *operation;
  std::int64_t values[2];
  Site::Size found = {}, expected = {};
};
void PrintTo(const Misfit &each, std::ostream *os) { *os << each.name; }
class Misfits : public ::testing::TestWithParam<Misfit> {};

TEST_P(Misfits, AreNamed) {
  const Misfit &each = GetParam();
  Case as{each.name, each.parameters, each.body};
  Native native(record(as, nullptr));
  ASSERT_TRUE(native.executable);
  std::vector<Array> given;
  for (const Symbolic &type : each.parameters)
    given.push_back(Array(withSizes(type, &each.sizes), false));
  Outcome outcome = native(given);
  ASSERT_TRUE(outcome.failed);
  EXPECT_EQ(outcome.failed->kind, each.kind);
  EXPECT_EQ(outcome.failed->operation, each.operation);
  EXPECT_EQ(outcome.failed->line.substr(0, 10), "sizes.cpp:");
  EXPECT_EQ(outcome.values[0], each.values[0]);
  EXPECT_EQ(outcome.values[1], each.values[1]);
  for (int i : {0, 1}) {
    const Site::Size &found = outcome.failed->sizes[i], &expected = i ? each.expected : each.found;
    EXPECT_EQ(found.argument, expected.argument) << i;
    EXPECT_EQ(found.operand, expected.operand) << i;
    EXPECT_EQ(found.dimension, expected.dimension) << i;
  }
}

const std::vector<Misfit> kMisfits = {
    {"add",
     {f32({-1, 3}), f32({-2, 3})},
     [](Recorder &r, auto &x) { return std::vector{r(OpId::Add, {x[0], x[1]})}; },
     {3, 4},
     Site::Kind::SizesDiffer,
     "add",
     {3, 4},
     {0, -1, 0},
     {1, -1, 0}},
    // An unknown size is never broadcast.
    {"add_one",
     {f32({3, -1}), f32({-2})},
     [](Recorder &r, auto &x) { return std::vector{r(OpId::Add, {x[0], x[1]})}; },
     {3, 1},
     Site::Kind::SizesDiffer,
     "add",
     {3, 1},
     {0, -1, 1},
     {1, -1, 0}},
    {"known",
     {f32({-1}), f32({3})},
     [](Recorder &r, auto &x) { return std::vector{r(OpId::Mul, {x[0], x[1]})}; },
     {4},
     Site::Kind::SizesDiffer,
     "mul",
     {4, 3},
     {0, -1, 0},
     {1, -1, 0}},
    {"contract",
     {f32({-1, -2}), f32({-3, 3})},
     [](Recorder &r, auto &x) { return std::vector{matmul(r, x[0], x[1])}; },
     {2, 3, 5},
     Site::Kind::SizesDiffer,
     "contract",
     {3, 5},
     {0, -1, 1},
     {1, -1, 0}},
    // The first of two that don't fit.
    {"first",
     {f32({-1}), f32({-2}), f32({-3})},
     [](Recorder &r, auto &x) { return std::vector{r(OpId::Add, {r(OpId::Mul, {x[0], x[1]}), x[2]})}; },
     {2, 3, 4},
     Site::Kind::SizesDiffer,
     "mul",
     {2, 3},
     {0, -1, 0},
     {1, -1, 0}},
    // What has the size of an argument is called by the argument's name, what hasn't by its operand's.
    {"derived",
     {f32({-1}), f32({-2}), f32({-3})},
     [](Recorder &r, auto &x) {
       return std::vector{r(OpId::Add, {r(OpId::Concat, {x[0], x[1]}, {std::int64_t(0)}), r(OpId::Exp, {x[2]})})};
     },
     {2, 3, 4},
     Site::Kind::SizesDiffer,
     "add",
     {5, 4},
     {-1, 0, 0},
     {2, -1, 0}},
    {"reshape",
     {f32({-1, 2})},
     [](Recorder &r, auto &x) { return std::vector{r(OpId::Reshape, {x[0]}, {Ints{3, 4}})}; },
     {5},
     Site::Kind::SizesDiffer,
     "reshape",
     {10, 12},
     {0, -1, -1}},
    {"reshape_rest",
     {f32({-1, 2})},
     [](Recorder &r, auto &x) { return std::vector{r(OpId::Reshape, {x[0]}, {Ints{3, -1}})}; },
     {5},
     Site::Kind::SizeNotDivisible,
     "reshape",
     {10, 3},
     {0, -1, -1}},
    {"slice",
     {f32({-1})},
     [](Recorder &r, auto &x) { return std::vector{r(OpId::Slice, {x[0]}, {Ints{1}, Ints{4}, Ints{}})}; },
     {3},
     Site::Kind::SizeTooSmall,
     "slice",
     {3, 4},
     {0, -1, 0}},
    {"empty_maximum",
     {f32({-1, 2})},
     [](Recorder &r, auto &x) { return std::vector{r(OpId::ReduceMax, {x[0]}, {Ints{0}, false})}; },
     {0},
     Site::Kind::SizeTooSmall,
     "reduce_max",
     {0, 1},
     {0, -1, 0}},
    {"channels",
     {f32({1, 4, 4, -1}), f32({2, 2, 3, 1})},
     [](Recorder &r, auto &x) {
       return std::vector{
           r(OpId::Conv, {x[0], x[1]}, {Ints{1, 1}, std::string("valid"), Ints(), Ints(), std::int64_t(1)})};
     },
     {2},
     Site::Kind::SizesDiffer,
     "conv",
     {2, 3},
     {0, -1, 3},
     {1, -1, 2}},
    {"index",
     {f32({-1, 2}), i64({-2})},
     [](Recorder &r, auto &x) { return std::vector{r(OpId::Gather, {x[0], x[1]}, {std::int64_t(0)})}; },
     {0, 1},
     Site::Kind::IndexOutOfRange,
     "gather",
     {0, 0}},
    {"index_along_axis",
     {f32({2, -1}), i64({2, -2})},
     [](Recorder &r, auto &x) { return std::vector{r(OpId::TakeAlongAxis, {x[0], x[1]}, {std::int64_t(1)})}; },
     {0, 1},
     Site::Kind::IndexOutOfRange,
     "take_along_axis",
     {0, 0}},
    // More bytes than can be addressed, in a result and in between, though no argument has an element.
    {"large_result",
     {f32({-1, 0}), f32({0, -1})},
     [](Recorder &r, auto &x) { return std::vector{matmul(r, x[0], x[1])}; },
     {std::int64_t(1) << 32},
     Site::Kind::TooManyBytes,
     "",
     {0, 0}},
    {"large_between",
     {f32({-1, 0}), f32({0, -1})},
     [](Recorder &r, auto &x) {
       return std::vector{sumAll(r, r(OpId::Softmax, {matmul(r, x[0], x[1])}, {std::int64_t(-1)}))};
     },
     {std::int64_t(1) << 32},
     Site::Kind::TooManyBytes,
     "",
     {0, 0}},
};
INSTANTIATE_TEST_SUITE_P(All, Misfits, ::testing::ValuesIn(kMisfits),
                         [](const auto &info) { return std::string(info.param.name); });

// Work is cut by sizes, never by the number of threads.
TEST(SizesAndThreads, GiveEqualBits) {
  Case step{"step", {f32({-1, -2}), f32({-2, -3}), f32({-3})}, [](Recorder &r, auto &x) {
              ValueId y = r(OpId::Tanh, {r(OpId::Add, {matmul(r, x[0], x[1]), x[2]})});
              ValueId loss = sumAll(r, r(OpId::Softmax, {y}, {std::int64_t(-1)}));
              std::vector<ValueId> results = r.gradient(sumAll(r, r(OpId::Mul, {y, y})), {x[0], x[1], x[2]});
              results.insert(results.end(), {y, loss});
              return results;
            }};
  Native native(record(step, nullptr));
  ASSERT_TRUE(native.executable);
  std::mt19937 random(3);
  for (Ints sizes : {Ints{130, 70, 33}, Ints{257, 300, 129}, Ints{1000, 40, 10}}) {
    std::vector<Array> given = arguments(step, sizes);
    for (Array &array : given)
      for (std::size_t i = 0; i < array.size(); ++i)
        array.set(i, static_cast<double>(random() % (1 << 20)) / (1 << 20) - 0.5);
    set_num_threads(1);
    Outcome one = native(given);
    for (int threads : {2, 3, 7}) {
      set_num_threads(threads);
      Outcome many = native(given);
      for (std::size_t i = 0; i < one.results.size(); ++i)
        EXPECT_TRUE(many.results[i].sameBits(one.results[i])) << threads << " threads, result " << i;
    }
    set_num_threads(0);
  }
}

} // namespace
} // namespace calque::testing
