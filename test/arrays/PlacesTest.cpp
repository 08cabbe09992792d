// calque/arrays/places.h, against NumPy.
#include "Testing.h"

using namespace calque;
using namespace calque::testing;
using Tensors = std::vector<Tensor>;

TEST(ArraysPlaces, DynamicSlices) {
  check("dynamic_slice", [](const Tensors &x) {
    return Tensors{dynamic_slice(x[0], {x[1], 0, 0}, {2, 4, 5}), dynamic_slice(x[0], {0, x[1], -9}, {3, 2, 1}),
                   dynamic_slice(x[0], {9, 0, x[1]}, {1, 4, 3}), dynamic_slice(x[0], {0, 0, 0}, {3, 4, 5})};
  });
  check("dynamic_slice outside", [](const Tensors &x) { return dynamic_slice(x[0], {x[1], x[1]}, {2, 3}); });
  check("dynamic_update_slice", [](const Tensors &x) { return dynamic_update_slice(x[0], x[1], {x[2], 0}); },
        {.unknownSizes = false});
  check("dynamic_update_slice 2", [](const Tensors &x) { return dynamic_update_slice(x[0], x[1], {x[2], x[2]}); });
  const Tensor x = ones({3, 4});
  EXPECT_EQ(dynamic_slice(x, {1, 1}, {0, 2}).shape(), (Shape{0, 2}));
  EXPECT_EQ(dynamic_slice(scalar(5), {}, {}).item<std::int32_t>(), 5);
  expectSameBits(dynamic_update_slice(x, x * 2, {5, 5}), x * 2);
  // Rows of a batch of any size.
  auto batch = function([](const Tensor &x, const Tensor &i) { return dynamic_slice(x, {i, 0}, {2, 4}); },
                        {.input_signature = {TensorSpec<float>({kDynamic, 4}), TensorSpec<std::int64_t>({})}});
  expectSameBits(batch(x, scalar<std::int64_t>(2)), ones({2, 4}));
  EXPECT_CONTAINS(errorOf<ValueError>([&] { dynamic_slice(x, {0}, {1, 1}); }),
                  "dynamic_slice: there must be a start and a size for each axis of float32[3,4], not 1 and 2");
  EXPECT_CONTAINS(errorOf<ShapeError>([&] { dynamic_slice(x, {0, 0}, {4, 1}); }),
                  "dynamic_slice: the size 4 is larger than axis 0 of float32[3,4]");
  EXPECT_CONTAINS(errorOf<ValueError>([&] { dynamic_slice(x, {0, 0}, {-1, 1}); }),
                  "dynamic_slice: a size must not be negative: -1");
  EXPECT_CONTAINS(errorOf<DTypeError>([&] { dynamic_slice(x, {0.5, 0}, {1, 1}); }),
                  "dynamic_slice: a start is an integer scalar, not float32[]");
  EXPECT_CONTAINS(errorOf<ShapeError>([&] { dynamic_update_slice(x, ones({2}), {0, 0}); }),
                  "dynamic_update_slice: the update float32[2] must have the rank of float32[3,4]");
  EXPECT_CONTAINS(errorOf<DTypeError>([&] { dynamic_update_slice(x, ones({2, 2}, DType::Int32), {0, 0}); }),
                  "dynamic_update_slice: the update is int32[2,2], and x is float32[3,4]");
}

TEST(ArraysPlaces, Reads) {
  check("at get",
        [](const Tensors &t) {
          const Tensor &x = t[0], &i = t[1];
          return Tensors{at(x, 2).get(),
                         at(x, 1, -1).get(),
                         at(x, i).get(),
                         at(x, rows(), i).get(),
                         at(x, rows(1, {}), i).get(),
                         at(x, rows({}, {}, -2), rows(1, 3)).get(),
                         at(x, -1, rows(), i).get(),
                         at(x, i, rows(), 1).get(),
                         at(x, 1, i, i).get(),
                         at(x, rows(5, {}), 0).get(),
                         at(x, rows(3, 0, -1), rows(-2, {})).get()};
        },
        {.unknownSizes = false});
  check("at get unknown", [](const Tensors &t) {
    const Tensor &x = t[0], &i = t[1];
    return Tensors{at(x, 2).get(),         at(x, 1, -1).get(),        at(x, i).get(),
                   at(x, rows(), i).get(), at(x, i, rows(), 1).get(), at(x, i, i).get()};
  });
  const Tensor x = arange(6.0f);
  expectSameBits(at(x).get(), x);
  EXPECT_EQ(at(x, rows(-100, 100, 4)).get().to_vector<float>(), (std::vector<float>{0, 4}));
  EXPECT_EQ(at(x, rows(4, {}, -3)).get().to_vector<float>(), (std::vector<float>{4, 1}));
  EXPECT_EQ(at(x, rows({}, {}, std::numeric_limits<std::int64_t>::min())).get().to_vector<float>(),
            (std::vector<float>{5}));
}

TEST(ArraysPlaces, Updates) {
  check("at set",
        [](const Tensors &t) {
          const Tensor &x = t[0], &v = t[1];
          return Tensors{at(x, 1).set(v), at(x, rows(), 2).set(0), at(x, rows(1, {}), rows({}, {}, -1)).set(v),
                         at(x, 2, 1).set(9)};
        },
        {.unknownSizes = false});
  check("at set tensor",
        [](const Tensors &t) { return Tensors{at(t[0], t[2]).set(t[1]), at(t[0], rows(), t[2]).set(t[1])}; });
  check("at add",
        [](const Tensors &t) { return Tensors{at(t[0], t[2]).add(t[1]), at(t[0], rows(1, 3), t[2]).add(t[1])}; },
        {.unknownSizes = false});
  check("at subtract", [](const Tensors &t) { return at(t[0], t[2], t[2]).subtract(t[1]); });
  check("at multiply", [](const Tensors &t) {
    return Tensors{at(t[0], t[2]).multiply(t[1]), at(t[0], t[2], t[2]).multiply(t[1]), at(t[0], 1).multiply(t[1])};
  });
  check("at divide", [](const Tensors &t) { return at(t[0], t[2]).divide(3 + t[1]); });
  check("at max", [](const Tensors &t) { return Tensors{at(t[0], t[2]).max(t[1]), at(t[0], t[2]).min(t[1])}; });
  check("at min int",
        [](const Tensors &t) { return at(t[0], t[1]).min(tensor({5, std::numeric_limits<std::int32_t>::min(), 7})); },
        {.derivatives = 0, .float32 = false});
  check("at mask", [](const Tensors &t) {
    const Tensor &x = t[0], &v = t[1], holds = x > 0;
    return Tensors{at(x, holds).set(v), at(x, holds).add(v), at(x, holds).multiply(v), at(x, holds).min(v),
                   at(x, holds).divide(v)};
  });
  const Tensor x = zeros({2, 3});
  expectSameBits(at(x).add(1), ones({2, 3}));
  expectSameBits(at(x, rows(), rows()).set(tensor({1.0f, 1.0f, 1.0f})), ones({2, 3}));
  EXPECT_EQ(at(x, tensor({true, false})).set(2).to_vector<float>(), (std::vector<float>{2, 2, 2, 0, 0, 0}));
  EXPECT_EQ(at(x, zeros({0}, DType::Int64)).multiply(3).to_vector<float>(), std::vector<float>(6));
  // Many updates of one place.
  const Tensor many =
      at(ones({2}, DType::Float64), zeros({1000}, DType::Int64)).multiply(full({1000}, 1.01, DType::Float64));
  EXPECT_NEAR(many.to_vector<double>()[0], std::pow(1.01, 1000), 1e-9 * std::pow(1.01, 1000));
  Variable w(ones({3}));
  EXPECT_EQ(at(w, 1).add(2).to_vector<float>(), (std::vector<float>{1, 3, 1}));
}

TEST(ArraysPlaces, Assignments) {
  auto assigned = [](const Tensor &given, const Tensor &v, const Tensor &i) {
    Tensor x = given;
    at(x, i) = v;
    at(x, 1) += 2;
    at(x, rows(), 2) -= 3;
    at(x, 0) *= v;
    at(x, 2, i) /= 4;
    at(x, 1) = at(given, 2);
    at(x, 2) = at(x, 1);
    return x;
  };
  auto made = [](const Tensor &given, const Tensor &v, const Tensor &i) {
    Tensor x = at(at(given, i).set(v), 1).add(2);
    x = at(at(x, rows(), 2).subtract(3), 0).multiply(v);
    x = at(at(x, 2, i).divide(4), 1).set(at(given, 2).get());
    return at(x, 2).set(at(x, 1).get());
  };
  const Tensor given = reshape(iota({12}, DType::Float32), {3, 4}), v = tensor({1.5f, -2.0f, 0.5f, 3.0f}),
               i = tensor({0, 2});
  expectSameBits(assigned(given, v, i), made(given, v, i));
  expectSameBits(function(assigned)(given, v, i), made(given, v, i));
  EXPECT_EQ(given.to_vector<float>()[11], 11);
  // The other handle keeps its value, and so does a Variable's.
  Tensor x = zeros({2, 3}), y = x;
  at(x, 1) = 5;
  EXPECT_EQ(x.to_vector<float>(), (std::vector<float>{0, 0, 0, 5, 5, 5}));
  EXPECT_EQ(y.to_vector<float>(), std::vector<float>(6));
  Variable w(ones({3}));
  const Tensor value = w;
  at(w, 1) += 2;
  at(w, 0) = at(x, 1, 1);
  EXPECT_EQ(Tensor(w).to_vector<float>(), (std::vector<float>{5, 3, 1}));
  EXPECT_EQ(value.to_vector<float>(), std::vector<float>(3, 1));
  function([&](const Tensor &i) { at(w, i) *= 10; })(scalar(2));
  EXPECT_EQ(Tensor(w).to_vector<float>(), (std::vector<float>{5, 3, 10}));
  // A loop of the program that writes an element in each iteration.
  auto squares = function([](const Tensor &n) {
    Tensor all = zeros({5}, DType::Int64);
    for (Tensor i : range(n))
      at(all, i) = i * i;
    return all;
  });
  EXPECT_EQ(squares(scalar<std::int64_t>(4)).to_vector<std::int64_t>(), (std::vector<std::int64_t>{0, 1, 4, 9, 0}));
  EXPECT_CONTAINS(errorOf<IndexError>([&] { at(x, 2) = 1; }), "at: there is no entry 2 along axis 0 of float32[2,3]");
  EXPECT_CONTAINS(errorOf<ShapeError>([&] { at(x, 0) = ones({2}); }), "PlacesTest.cpp");
  EXPECT_EQ(x.to_vector<float>(), (std::vector<float>{0, 0, 0, 5, 5, 5}));
  static_assert(!std::is_assignable_v<decltype(at(std::as_const(x), 0)), const Tensor &>);
  static_assert(!std::is_assignable_v<decltype(at(std::as_const(x), 0)), decltype(at(x, 0))>);
  auto named = at(x, 0);
  static_assert(!std::is_assignable_v<decltype((named)), const Tensor &>); // x may be gone
}

TEST(ArraysPlaces, RefusedPlaces) {
  const Tensor x = ones({2, 3});
  EXPECT_CONTAINS(errorOf<IndexError>([&] { at(x, 2).get(); }), "at: there is no entry 2 along axis 0 of float32[2,3]");
  EXPECT_CONTAINS(errorOf<IndexError>([&] { at(x, 0, -4).set(1); }), "at: there is no entry -4 along axis 1");
  errorOf<IndexError>([&] { at(x, scalar(2)).set(1); });
  errorOf<IndexError>([&] { at(x, scalar(-3)).get(); });
  EXPECT_CONTAINS(errorOf<ValueError>([&] { at(x, 0, 0, 0).get(); }),
                  "at: there are 3 places, and float32[2,3] has rank 2");
  EXPECT_CONTAINS(errorOf<ValueError>([&] { at(x, rows(0, 1, 0)).get(); }), "at: the step of rows() must not be 0");
  EXPECT_CONTAINS(
      errorOf<ValueError>([&] { at(x, x > 0).get(); }),
      "at: the number of elements for which a condition holds follows from its elements; compress reads them");
  EXPECT_CONTAINS(errorOf<ShapeError>([&] { at(x, ones({2, 3, 1}, DType::Bool)).set(1); }),
                  "at: the condition bool[2,3,1] has a higher rank than float32[2,3]");
  EXPECT_CONTAINS(errorOf<DTypeError>([&] { at(x, ones({2})).set(1); }),
                  "at: entries are numbered by integers, not float32[2]");
  EXPECT_CONTAINS(
      errorOf<DTypeError>([&] { at(x, 0).set(scalar(1)); }),
      "at: the values are int32[], and the tensor is float32[2,3]; there is no implicit conversion, use cast");
  errorOf<ShapeError>([&] { at(x, 0).set(ones({2})); });
  EXPECT_CONTAINS(errorOf<ShapeError>([&] { at(x, 0).set(ones({2})); }), "PlacesTest.cpp");
  EXPECT_CONTAINS(
      errorOf<StateError>([&] {
        function([](const Tensor &x) { return at(x, rows(1, {})).get(); },
                 {.input_signature = {TensorSpec<float>({kDynamic})}})(ones({3}));
      }),
      "at: the size of axis 0 of float32[?] is not known while tracing; rows() without numbers takes it whole");
}

TEST(ArraysPlaces, TakingAndChoosing) {
  check("take", [](const Tensors &x) { return Tensors{take(x[0], x[1]), take(x[0], x[1], 1), take(x[0], x[1], -1)}; });
  check("take modes",
        [](const Tensors &x) { return Tensors{take(x[0], x[1], 0, "wrap"), take(x[0], x[1], 1, "clip")}; });
  check("choose", [](const Tensors &x) { return choose(x[0], {x[1], x[2], x[3]}); },
        {.unknownSizes = false, .vmap = false});
  check("choose modes", [](const Tensors &x) {
    return Tensors{choose(x[0], {x[1], x[2]}, "wrap"), choose(x[0], {x[1], x[2]}, "clip")};
  });
  check("select", [](const Tensors &x) { return select({x[0] > 1, x[0] > 0}, {x[0] * 10, x[0]}, -1); });
  const Tensor x = ones({3});
  errorOf<IndexError>([&] { take(x, 3); });
  errorOf<IndexError>([&] { choose(scalar(2), {x, x}); });
  EXPECT_CONTAINS(errorOf<ValueError>([&] { take(x, 3, 0, "fill"); }),
                  "take: the mode is 'raise', 'wrap' or 'clip', not 'fill'");
  EXPECT_CONTAINS(errorOf<DTypeError>([&] { take(x, x); }), "take: an index is an integer, not float32[3]");
  EXPECT_CONTAINS(errorOf<ValueError>([&] { choose(0, {}); }), "choose: there must be at least one choice");
  EXPECT_CONTAINS(errorOf<ValueError>([&] { select({x > 0}, {}); }),
                  "select: there must be a choice for each condition, not 0 for 1");
}
