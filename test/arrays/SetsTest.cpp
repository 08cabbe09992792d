// calque/arrays/sets.h, against NumPy.
#include "Testing.h"

using namespace calque;
using namespace calque::testing;
using Tensors = std::vector<Tensor>;

namespace {
// The number of results depends on elements: eagerly it is found, and else it is given.
const Checks eagerly{.derivatives = 0, .unknownSizes = false, .vmap = false, .float32 = false, .compiled = false};
} // namespace

TEST(ArraysSets, Conditions) {
  check("count_nonzero",
        [](const Tensors &x) {
          return Tensors{count_nonzero(x[0], 0), count_nonzero(x[0], {0, 1}, true), count_nonzero(x[1], 0)};
        },
        {.derivatives = 0, .float32 = false});
  check(
      "nonzero",
      [](const Tensors &x) {
        Tensors all = nonzero(x[0]);
        all.push_back(flatnonzero(x[0]));
        all.push_back(argwhere(x[0]));
        return all;
      },
      eagerly);
  check("nonzero",
        [](const Tensors &x) {
          Tensors all = nonzero(x[0], {.size = 6});
          all.push_back(flatnonzero(x[0], {.size = 6}));
          all.push_back(argwhere(x[0], {.size = 6}));
          return all;
        },
        {.derivatives = 0, .float32 = false});
  check("compress", [](const Tensors &x) {
    return Tensors{compress(tensor({true, false, true}), x[0], 0, {.size = 2}),
                   compress(tensor({false, true}), x[0], 1, {.size = 1}),
                   compress(tensor({true, true, false, false, true}), x[0], {}, {.size = 3})};
  });
  const Tensor x = tensor({0, 5, 0, 6});
  auto values = [](const Tensor &t) { return t.to_vector<std::int64_t>(); };
  EXPECT_EQ(values(flatnonzero(x, {.size = 1})), (std::vector<std::int64_t>{1})) << "further ones are left out";
  EXPECT_EQ(values(flatnonzero(x, {.size = 4, .fill_value = -1})), (std::vector<std::int64_t>{1, 3, -1, -1}));
  EXPECT_EQ(values(flatnonzero(zeros({0}), {.size = 2})), (std::vector<std::int64_t>{0, 0}));
  EXPECT_EQ(nonzero(zeros({0, 3}))[1].shape(), (Shape{0}));
  EXPECT_EQ(compress(ones({2}, DType::Bool), ones({2, 0}), 0).shape(), (Shape{2, 0}));
  EXPECT_EQ(compress(x > 0, x, {}, {.size = 3, .fill_value = 9}).to_vector<std::int32_t>(),
            (std::vector<std::int32_t>{5, 6, 9}));
  EXPECT_CONTAINS(errorOf<StateError>([&] { function([](const Tensor &x) { return flatnonzero(x); })(x); }),
                  "flatnonzero: the number of results is known at the call only; give it as {.size = ...}");
  EXPECT_CONTAINS(errorOf<ValueError>([&] { unique(x, {.size = -1}); }), "unique: the size must not be negative: -1");
  EXPECT_CONTAINS(errorOf<ShapeError>([] { nonzero(1); }), "nonzero: a scalar has no places");
  EXPECT_CONTAINS(errorOf<DTypeError>([&] { compress(x, x); }), "compress: the condition must be bool, not int32[4]");
  EXPECT_CONTAINS(errorOf<ShapeError>([&] { compress(x > 0, ones({2}), 0); }),
                  "compress: the condition must be a vector of at most as many elements as axis 0 of float32[2], not "
                  "bool[4]");
}

TEST(ArraysSets, DifferentElements) {
  check("unique", [](const Tensors &x) { return Tensors{unique(x[0]), unique(x[1])}; }, eagerly);
  check("unique", [](const Tensors &x) { return Tensors{unique(x[0], {.size = 4}), unique(x[1], {.size = 5})}; },
        {.derivatives = 0, .vmap = false, .float32 = false});
  for (const char *name : {"unique_all", "unique_all floats"}) {
    auto all = [](const SizeOptions &options) {
      return [options](const Tensors &x) {
        UniqueAll all = unique_all(x[0], options);
        return Tensors{all.values, all.indices, all.inverse, all.counts};
      };
    };
    check(name, all({}), eagerly);
    check(name, all({.size = expected(name).outputs[0].size()}), {.derivatives = 0, .vmap = false, .float32 = false});
  }
  const Tensor x = tensor({7, 3, 7, 9});
  auto values = [](const Tensor &t) { return t.to_vector<std::int32_t>(); };
  EXPECT_EQ(values(unique(x, {.size = 5})), (std::vector<std::int32_t>{3, 7, 9, 3, 3})) << "the smallest fills up";
  EXPECT_EQ(values(unique(x, {.size = 2})), (std::vector<std::int32_t>{3, 7}));
  EXPECT_EQ(values(unique_counts(x, {.size = 4, .fill_value = 0}).values), (std::vector<std::int32_t>{3, 7, 9, 0}));
  EXPECT_EQ(unique_counts(x, {.size = 4}).counts.to_vector<std::int64_t>(), (std::vector<std::int64_t>{1, 2, 1, 0}));
  EXPECT_EQ(unique_inverse(x).inverse.to_vector<std::int64_t>(), (std::vector<std::int64_t>{1, 0, 1, 2}));
  EXPECT_EQ(unique(zeros({0})).shape(), (Shape{0}));
  EXPECT_EQ(unique(tensor({true, false, true})).to_vector<bool>(), (std::vector<bool>{false, true}));
}

TEST(ArraysSets, Sets) {
  check(
      "sets",
      [](const Tensors &x) {
        return Tensors{isin(x[0], x[1]), intersect1d(x[0], x[1]), union1d(x[0], x[1]), setdiff1d(x[0], x[1]),
                       setdiff1d(x[1], x[0])};
      },
      eagerly);
  check("sets",
        [](const Tensors &x) {
          return Tensors{isin(x[0], x[1]), intersect1d(x[0], x[1], {.size = 3}), union1d(x[0], x[1], {.size = 5}),
                         setdiff1d(x[0], x[1], {.size = 1}), setdiff1d(x[1], x[0], {.size = 1})};
        },
        {.derivatives = 0, .float32 = false});
  check("sets floats", [](const Tensors &x) { return Tensors{isin(x[0], x[1]), intersect1d(x[0], x[1])}; }, eagerly);
  EXPECT_EQ(isin(tensor({1, 2}), zeros({0}, DType::Int32)).to_vector<bool>(), (std::vector<bool>{false, false}));
  EXPECT_EQ(intersect1d(zeros({0}), ones({2})).shape(), (Shape{0}));
  EXPECT_CONTAINS(
      errorOf<DTypeError>([] { isin(tensor({1}), ones({1})); }),
      "isin: takes tensors of one type, not int32[1] and float32[1]; there is no implicit conversion, use cast");
}

TEST(ArraysSets, Searches) {
  const Checks places{.derivatives = 0, .vmap = false, .float32 = false};
  for (const char *name : {"searchsorted", "searchsorted int"})
    check(
        name, [](const Tensors &x) { return Tensors{searchsorted(x[0], x[1]), searchsorted(x[0], x[1], "right")}; },
        places);
  check("digitize", [](const Tensors &x) { return Tensors{digitize(x[0], x[1]), digitize(x[0], x[1], true)}; }, places);
  // Each size, each place.
  for (std::int64_t n = 0; n < 20; ++n) {
    const Tensor sorted = arange(std::int64_t(0), 2 * n, 2), v = arange(std::int64_t(-1), 2 * n + 2);
    const std::vector<std::int64_t> left = searchsorted(sorted, v).to_vector<std::int64_t>(),
                                    right = searchsorted(sorted, v, "right").to_vector<std::int64_t>();
    for (std::size_t i = 0; i < left.size(); ++i) {
      const std::int64_t x = static_cast<std::int64_t>(i) - 1;
      EXPECT_EQ(left[i], std::clamp<std::int64_t>((x + 1) / 2, 0, n)) << n << ' ' << x;
      EXPECT_EQ(right[i], x < 0 ? 0 : std::min<std::int64_t>(x / 2 + 1, n)) << n << ' ' << x;
    }
  }
  const Tensor lists = tensor({{1.0f, 3.0f}, {2.0f, 4.0f}}), v = tensor({2.0f, 2.0f});
  EXPECT_EQ(vmap([](const Tensor &a, const Tensor &v) { return searchsorted(a, v, "right"); })(lists, v)
                .to_vector<std::int64_t>(),
            (std::vector<std::int64_t>{1, 1}));
  EXPECT_CONTAINS(errorOf<ValueError>([&] { searchsorted(v, v, "middle"); }),
                  "searchsorted: the side is 'left' or 'right', not 'middle'");
  EXPECT_CONTAINS(errorOf<ShapeError>([&] { searchsorted(lists, v); }),
                  "searchsorted: what is searched must be a vector, not float32[2,2]");
  EXPECT_CONTAINS(errorOf<AssertionError>([&] { digitize(v, tensor({2.0f, 1.0f})); }),
                  "digitize: the bins must increase");
}
