// Operations that one kernel does row by row give what they give one by one, eagerly.
#include "test/codegen/Testing.h"

using namespace calque;
using namespace calque::testing;

namespace {

// Inputs at which a group pays, and at which its rows, blocks and pieces leave a rest.
std::vector<Tensor> inputsOf(const std::vector<Shape> &shapes, DType dtype = DType::Float32) {
  std::mt19937 random(19);
  std::vector<Tensor> inputs;
  for (const Shape &shape : shapes)
    inputs.push_back(operand(random, shape, dtype));
  return inputs;
}

// Sums may be in another order, since eager kernels are for all sizes: off by some eps of the largest element. A row
// that is mixed with another is off by far more.
void expectNear(const Tensor &a, const Tensor &b) {
  ASSERT_EQ(a.shape(), b.shape());
  std::vector<double> x = valuesOf(a), y = valuesOf(b);
  double most = 0, eps = a.dtype() == DType::Float32 ? 0x1p-23 : a.dtype() == DType::Float64 ? 0x1p-52 : 0;
  for (double value : x)
    most = std::max(most, std::fabs(value));
  int wrong = 0;
  for (std::size_t i = 0; i < x.size() && wrong < 4; ++i)
    if (!(std::fabs(x[i] - y[i]) <= 64 * eps * most)) {
      ++wrong;
      ADD_FAILURE() << "element " << i << " is " << y[i] << ", not " << x[i];
    }
}

void expectAllNear(const std::vector<Tensor> &eager, const std::vector<Tensor> &compiled) {
  ASSERT_EQ(eager.size(), compiled.size());
  for (std::size_t i = 0; i < eager.size() && !::testing::Test::HasFailure(); ++i) {
    SCOPED_TRACE("result " + std::to_string(i));
    expectNear(eager[i], compiled[i]);
  }
}

void expectAsEagerly(const ManyBody &body, const std::vector<Tensor> &inputs) {
  SCOPED_TRACE("inputs " + text(inputs[0].shape()));
  expectAllNear(body(inputs), compile(body)(inputs));
}

// The same with sizes that are known only when it is called, against known ones.
void expectAsKnown(const Body &body, const Tensor &x, const Shape &open) {
  auto of = [&](const Tensor &y) { return body({y}); };
  dispatch(x.dtype(), [&]<typename T>(std::type_identity<T>) {
    std::vector<TensorSpec<>> specs{TensorSpec<T>(open)};
    auto f = function(of, {.input_signature = specs});
    expectNear(function(of)(x), f(x));
  });
}

Tensor normalised(const Tensor &x) {
  Tensor centred = x - mean(x, {-1}, true), variance = mean(centred * centred, {-1}, true);
  return centred * rsqrt(variance + 1e-5);
}

} // namespace

TEST(Groups, OfRows) {
  for (DType dtype : {DType::Float32, DType::Float64})
    for (const Shape &shape :
         {Shape{4099, 37}, Shape{513, 1030}, Shape{70'001, 3}, Shape{33, 50, 129}, Shape{17, 40'000}, Shape{3, 90'001}})
      expectAsEagerly(
          [](const std::vector<Tensor> &in) {
            Tensor shifted = in[0] - max(in[0], {-1}, true), powers = exp(shifted);
            return std::vector<Tensor>{powers / sum(powers, {-1}, true), normalised(in[0])};
          },
          inputsOf({shape}, dtype));
}

// What is read elsewhere too is written to memory as well.
TEST(Groups, WhoseParts) {
  expectAsEagerly(
      [](const std::vector<Tensor> &in) {
        Tensor a = tanh(in[0]) * in[1], b = sum(a * a, {-1}), c = a - reshape(b, {2051, 1});
        return std::vector<Tensor>{a, b, c, transpose(c), slice(c, {5, 3}, {2000, 60})};
      },
      inputsOf({{2051, 67}, {67}}));
}

TEST(Groups, OfGraphsWithSeveralReadersAndResults) {
  for (const Shape &shape : {Shape{300'007}, Shape{701, 503}, Shape{64, 33, 129}})
    expectAsEagerly(
        [](const std::vector<Tensor> &in) {
          Tensor x = in[0], root = sqrt(x * x + 1), up = log(root) * 3, down = up - root, even = up * down;
          return std::vector<Tensor>{up / root, down * x, even + up, cast(even, DType::Float64) * 0.1,
                                     cast(down > 0, DType::Int32)};
        },
        inputsOf({shape}));
}

TEST(Groups, ThatCombineRows) {
  for (DType dtype : {DType::Float32, DType::Float64, DType::Int32})
    for (const Shape &shape : {Shape{40'001, 19}, Shape{4099, 37}, Shape{1000, 1030}, Shape{31, 29, 50, 16}})
      expectAsEagerly(
          [](const std::vector<Tensor> &in) {
            Axes rows;
            for (std::int64_t axis = 0; axis + 1 < in[0].rank(); ++axis)
              rows.push_back(axis);
            Tensor x = in[0] * in[0] + in[0], y = x * 3 - in[0];
            return std::vector<Tensor>{sum(x, rows), max(y, rows), sum(x * y, rows), y};
          },
          inputsOf({shape}, dtype));
}

// Blocks, and the pieces that rows are combined in, leave one row over: what is summed there has no loop any more.
TEST(Groups, ThatLeaveOneRowOver) {
  for (DType dtype : {DType::Float32, DType::Float64})
    for (const Shape &shape : {Shape{401, 300}, Shape{500, 500}, Shape{333, 512}, Shape{403, 300}, Shape{1023, 512},
                               Shape{1001, 500}, Shape{2, 14, 14, 256}, Shape{769, 500}, Shape{3001, 513}})
      expectAsEagerly(
          [](const std::vector<Tensor> &in) {
            Axes rows;
            for (std::int64_t axis = 0; axis + 1 < in[0].rank(); ++axis)
              rows.push_back(axis);
            GradientTape tape;
            tape.watch(in[0]);
            Tensor centred = in[0] - mean(in[0], rows, true), variance = mean(centred * centred, rows, true);
            Tensor normal = centred * rsqrt(variance + 1e-3), powers = exp(in[0] - max(in[0], rows, true));
            Tensor shares = powers / sum(powers, rows, true);
            // Beside one, which the terms of the gradient are like before they cancel.
            return std::vector<Tensor>{normal, shares, *tape.gradient(sum(normal * shares), in[0]) + 1};
          },
          inputsOf({shape}, dtype));
}

TEST(Groups, OfGradients) {
  for (const Shape &shape : {Shape{2051, 67}, Shape{515, 1030}})
    expectAsEagerly(
        [](const std::vector<Tensor> &in) {
          GradientTape tape;
          for (const Tensor &x : in)
            tape.watch(x);
          Tensor loss = mean(tanh(normalised(in[0]) * in[1] + in[2]));
          auto gradients = tape.gradient(loss, in);
          return std::vector<Tensor>{*gradients[0], *gradients[1], *gradients[2]};
        },
        inputsOf({shape, {shape[1]}, {shape[1]}}));
}

TEST(Groups, OfOpenSizes) {
  std::mt19937 random(5);
  auto body = [](const std::vector<Tensor> &in) {
    Tensor powers = exp(in[0] - max(in[0], {-1}, true)), parts = powers / sum(powers, {-1}, true);
    return parts * log(parts + 1) + normalised(in[0]);
  };
  for (std::int64_t rows : {0, 1, 7, 300, 4099}) {
    expectAsKnown(body, operand(random, {rows, 100}, DType::Float32), {kDynamic, 100});
    expectAsKnown(body, operand(random, {rows, 3}, DType::Float64), {kDynamic, 3});
  }
  for (std::int64_t columns : {1, 16, 301})
    expectAsKnown(body, operand(random, {129, columns}, DType::Float32), {kDynamic, kDynamic});
}

// Assigned in place: what is written row by row is what is read in the same rows.
TEST(Groups, ThatAssign) {
  auto run = [](bool compiled) {
    std::mt19937 same(7);
    Variable w(operand(same, {600, 501}, DType::Float32)), m(operand(same, {600, 501}, DType::Float32)),
        s(operand(same, {600, 501}, DType::Float32));
    auto body = [&](const Tensor &g) {
      m.assign(m * 0.9 + g * 0.1);
      s.assign(s * s * 0.5 + g * g * 0.5);
      w.assign(w - m / sqrt(s + 1));
      s.assign(s + mean(w, {1}, true));
    };
    auto step = function(body);
    for (int i = 0; i < 3; ++i) {
      Tensor g = operand(same, {600, 501}, DType::Float32);
      compiled ? step(g) : body(g);
    }
    return std::vector<Tensor>{w.value(), m.value(), s.value()};
  };
  expectAllNear(run(false), run(true));
}

// A value is read in other rows than it is written in: no group, or wrong results.
TEST(Groups, ThatWouldMixRows) {
  expectAsEagerly(
      [](const std::vector<Tensor> &in) {
        Tensor a = exp(in[0]), turned = a + transpose(a),
               moved = a + concat({slice(a, {1, 0}, {512, 512}), slice(a, {0, 0}, {1, 512})}, 0);
        Tensor flipped = a * reverse(a, {0}), wide = a - reshape(reshape(a, {256, 1024}) * 2, {512, 512});
        return std::vector<Tensor>{
            turned, moved, flipped, wide, a - sum(a, {0}, true), a * reshape(sum(a, {1}), {1, 512})};
      },
      inputsOf({{512, 512}}));
}

// A sum of all elements, a product and a transpose read a group's results before later operations join it, which may or
// may not depend on what these make.
TEST(Groups, ThatStayInFrontOfTheirReaders) {
  expectAsEagerly(
      [](const std::vector<Tensor> &in) {
        Tensor x = in[0], a = exp(x), b = a * x, total = sum(b), mixed = matmul(a, in[1]), turned = transpose(b);
        Tensor free = b - tanh(a), scaled = b * total, behind = free + matmul(mixed, in[1]), late = scaled * a - free;
        return std::vector<Tensor>{free, scaled, behind, late, turned + transpose(free), sum(late * b), total};
      },
      inputsOf({{300, 300}, {300, 300}}));
}

// A loop's variable is written over, by a product or sum that begins by filling it: behind what reads the one before.
TEST(Groups, OfALoopsVariable) {
  expectAsEagerly(
      [](const std::vector<Tensor> &in) {
        Tensor last = for_range(0, 3, in[0], [&](const Tensor &, const Tensor &h) {
          Tensor e = tanh(h) + in[0] * 0.5;
          return matmul(e * 0.1 + e * e * 0.01, in[1]);
        });
        Tensor summed = for_range(0, 3, in[0], [&](const Tensor &, const Tensor &h) {
          Tensor e = tanh(h), wide = reshape(e, {300, 1, 300}) * reshape(e, {1, 300, 300}) * 0.01;
          return sum(wide, {1}) * 0.1 + e;
        });
        return std::vector<Tensor>{last, summed};
      },
      inputsOf({{300, 300}, {300, 300}}));
}

// A variable that is written in place keeps its value if the call fails before.
TEST(Groups, WriteNoVariableBeforeWhatMayFail) {
  std::mt19937 random(13);
  Variable v(operand(random, {300, 300}, DType::Float32));
  std::vector<double> before = valuesOf(v.value());
  auto step = function([&](const Tensor &row) {
    Tensor powers = exp(v), picked = gather(powers, row);
    v.assign(powers * 0.5);
    return picked;
  });
  EXPECT_THROW(step(tensor<std::int64_t>({2, 300})), IndexError);
  expectElements(v.value(), {300, 300}, before);
  step(tensor<std::int64_t>({2, 299}));
  EXPECT_NE(valuesOf(v.value()), before);
}

TEST(Groups, ThatOverwriteWhatIsReadInBetween) {
  auto run = [](bool compiled) {
    std::mt19937 random(11);
    Variable v(operand(random, {400, 300}, DType::Float32)), total(scalar(0.f));
    auto body = [&](const Tensor &x) {
      Tensor before = v * 2, loss = sum(before * x);
      total.assign(total + loss);
      v.assign(v - before * 0.1 + x);
      Tensor after = v * before;
      v.assign(after * 0.5);
      return std::vector<Tensor>{transpose(before), after - x, sum(after, {1})};
    };
    auto step = function(body);
    std::vector<Tensor> results;
    for (int i = 0; i < 2; ++i) {
      Tensor x = operand(random, {400, 300}, DType::Float32);
      results = compiled ? step(x) : body(x);
    }
    results.push_back(v.value());
    results.push_back(total.value());
    return results;
  };
  expectAllNear(run(false), run(true));
}

// Bodies that ask for an index, and numbers from memory.
// A constant is still said to be computed of something, which another operation of the group does read.
TEST(Groups, OfWhatOneMemberNamesAndAnotherReads) {
  for (const Shape &shape : {Shape{233, 300}, Shape{17, 5000}})
    expectAsEagerly(
        [](const std::vector<Tensor> &in) {
          Tensor t = exp(in[0]), nothing = cast(cast(t, DType::Int32) * 0, DType::Float32);
          return std::vector<Tensor>{transpose(nothing), cast(nothing < t, DType::Int32)};
        },
        inputsOf({shape}));
}

TEST(Groups, WithIndicesAndNumbers) {
  expectAsEagerly(
      [](const std::vector<Tensor> &in) {
        Tensor noise = random::stateless_uniform({3001, 40}, random::state(7, 0)), x = in[0] * noise;
        Tensor scale = sum(in[0]), y = x * scale, z = y - max(y, {1}, true);
        Tensor hot = cast(one_hot(cast(abs(in[0]) * 10, DType::Int32), 11, DType::Float32), DType::Float32);
        return std::vector<Tensor>{z, x + z, sum(hot, {2}) * z, cumsum(z, 1) * z};
      },
      inputsOf({{3001, 40}}));
}

// A product and what is computed of its rows. Blocks of rows leave a rest, and tiles of columns too.
// What lies around the part that an operation writes is filled in the same rows. A wide edge is filled as a whole,
// before.
TEST(Groups, OfEdges) {
  struct Case {
    Shape shape;
    std::vector<std::int64_t> low, high;
  };
  for (DType dtype : {DType::Float32, DType::Float64, DType::Int32})
    for (const Case &each :
         {Case{{67, 20, 21, 8}, {0, 1, 1, 0}, {0, 1, 1, 0}}, Case{{67, 20, 21, 8}, {0, 0, 3, 0}, {0, 2, 0, 1}},
          Case{{33, 9, 15, 40}, {0, 9, 15, 3}, {0, 9, 2, 5}}, Case{{40, 31, 37, 6}, {1, 1, 1, 0}, {2, 0, 1, 0}},
          Case{{300, 401}, {0, 5}, {0, 2}}})
      expectAsEagerly(
          [&](const std::vector<Tensor> &in) {
            Tensor x = in[0], inner = x * x + 1, wide = pad(inner, each.low, each.high, 3),
                   twice = pad(pad(x, each.low, each.high) - 2, each.low, each.high, 7), row = max(wide, {0});
            return std::vector<Tensor>{wide, inner - x, twice * 2, wide - row, sum(twice, {-1})};
          },
          inputsOf({each.shape}, dtype));
}

// None depends on another: they read the same.
TEST(Groups, ThatReadTheSame) {
  for (DType dtype : {DType::Float32, DType::Float64, DType::Int32})
    for (const Shape &shape : {Shape{4099, 37}, Shape{1001, 530}, Shape{31, 29, 50, 16}})
      expectAsEagerly(
          [](const std::vector<Tensor> &in) {
            Tensor x = in[0], y = in[1], third = sum(x * 3, {0});
            return std::vector<Tensor>{
                sum(x, {0}), max(x, {0}), sum(x, {-1}), x * x, third, sum(x * y, {-1}) + 1, cast(x > y, DType::Int32),
                x - third};
          },
          inputsOf({shape, shape}, dtype));
}

// The second reader of a variable's value stands behind the assignment, which overwrites it.
TEST(Groups, ThatReadTheSameAtOtherTimes) {
  auto run = [](bool compiled) {
    std::mt19937 random(23);
    Variable v(operand(random, {500, 301}, DType::Float32)), s(zeros({500}));
    auto body = [&](const Tensor &x) {
      Tensor before = sum(v, {1}), most = max(v * x, {1});
      s.assign(before - most);
      v.assign(v * 0.5 + x);
      Tensor after = sum(v, {1}), least = min(v - x, {1});
      v.assign(exp(v * 0.1));
      return std::vector<Tensor>{before, most, after * least, sum(v, {0}), max(v, {1})};
    };
    auto step = function(body);
    std::vector<Tensor> results;
    for (int i = 0; i < 3; ++i) {
      Tensor x = operand(random, {500, 301}, DType::Float32);
      results = compiled ? step(x) : body(x);
    }
    results.push_back(v.value());
    results.push_back(s.value());
    return results;
  };
  expectAllNear(run(false), run(true));
}

TEST(Groups, OfProducts) {
  for (DType dtype : {DType::Float32, DType::Float64, DType::Int32})
    for (auto [m, k, n] : {std::array<std::int64_t, 3>{1024, 64, 512},
                           {1009, 301, 500},
                           {2051, 17, 67},
                           {5000, 33, 20},
                           {1001, 200, 100}})
      expectAsEagerly(
          [&](const std::vector<Tensor> &in) {
            Tensor product = matmul(in[0], in[1]), biased = product + in[2];
            if (isInteger(dtype))
              return std::vector<Tensor>{max(biased, {1}), biased * biased, biased};
            return std::vector<Tensor>{relu(biased), softmax(matmul(in[0] * 0.1, in[1])),
                                       normalised(matmul(in[0], in[1]) + in[3])};
          },
          inputsOf({{m, k}, {k, n}, {n}, {m, n}}, dtype));
}

// Operands that are transposed, rows that another member has made, and two products in a row.
TEST(Groups, OfProductsInEveryLayout) {
  expectAsEagerly(
      [](const std::vector<Tensor> &in) {
        Tensor a = relu(matmul(in[0], transpose(in[1])) + 0.5), b = tanh(matmul(normalised(in[0]), in[2])),
               c = matmul(transpose(in[3]), in[2]) * 2 - 1, d = matmul(relu(matmul(in[0], in[2])), in[4]) + in[0];
        return std::vector<Tensor>{a, b, c, d};
      },
      inputsOf({{1500, 96}, {400, 96}, {96, 400}, {96, 1500}, {400, 96}}));
}

// The gradient of a bias combines the rows of what a product's gradient makes.
TEST(Groups, OfProductsAndSumsOfTheirRows) {
  for (const Shape &x : {Shape{2048, 96}, Shape{1999, 100}})
    expectAsEagerly(
        [](const std::vector<Tensor> &in) {
          GradientTape tape;
          for (const Tensor &each : in)
            tape.watch(each);
          Tensor hidden = relu(matmul(in[0], in[1]) + in[2]);
          auto gradients = tape.gradient(mean(tanh(matmul(hidden, in[3]))), in);
          std::vector<Tensor> results;
          for (const auto &gradient : gradients)
            results.push_back(*gradient);
          return results;
        },
        inputsOf({x, {x[1], 300}, {300}, {300, 80}}));
}

// Images, and the heads of an attention, are rows as well.
TEST(Groups, OfConvolutionsAndBatches) {
  expectAsEagerly(
      [](const std::vector<Tensor> &in) {
        Tensor z = conv2d(in[0], in[1], {1, 1}, "same") + in[2];
        return std::vector<Tensor>{relu(z), max_pool2d(relu(conv2d(in[0], in[1], {1, 1}, "valid")), {2, 2}, {2, 2})};
      },
      inputsOf({{33, 19, 18, 5}, {3, 3, 5, 24}, {24}}));
  expectAsEagerly([](const std::vector<Tensor> &in) { return std::vector<Tensor>{relu(conv2d(in[0], in[1]) + in[2])}; },
                  inputsOf({{40, 13, 12, 64}, {3, 3, 64, 50}, {50}}));
  expectAsEagerly(
      [](const std::vector<Tensor> &in) {
        Tensor scores = matmul(in[0], transpose(in[1], {0, 2, 1})) * 0.125;
        return std::vector<Tensor>{matmul(softmax(scores), in[2])};
      },
      inputsOf({{40, 65, 64}, {40, 65, 64}, {40, 65, 48}}));
}

// Images are rows of sums over all of them: what a convolution makes is summed up image by image, in whole pieces of
// some images if there are such, and within the edges that another convolution is given.
TEST(Groups, OfConvolutionsAndSumsOfTheirImages) {
  for (DType dtype : {DType::Float32, DType::Float64})
    for (const Shape &x : {Shape{64, 28, 28, 3}, Shape{48, 28, 28, 4}, Shape{50, 28, 28, 1}, Shape{64, 14, 28, 5},
                           Shape{128, 9, 28, 2}, Shape{32, 7, 56, 6}, Shape{33, 11, 28, 3}})
      expectAsEagerly(
          [](const std::vector<Tensor> &in) {
            GradientTape tape;
            for (const Tensor &each : in)
              tape.watch(each);
            Tensor y = conv2d(in[0], in[1], {1, 1}, "same"), centred = y - mean(y, {0, 1, 2}),
                   normal = centred * rsqrt(mean(centred * centred, {0, 1, 2}) + 1e-3) + in[2],
                   z = conv2d(relu(normal), in[3], {1, 1}, "same");
            auto gradients = tape.gradient(sum(tanh(z)), in);
            std::vector<Tensor> results{max(y, {0, 1, 2}), sum(y, {0, 1, 2})};
            for (const auto &gradient : gradients)
              results.push_back(*gradient);
            return results;
          },
          inputsOf({x, {3, 3, x[3], 20}, {20}, {3, 3, 20, 16}}, dtype));
}

// The sums of a convolution's results have the bits that they have alone.
TEST(Groups, OfSumsOfImagesHaveTheirBits) {
  for (const Shape &x : {Shape{64, 28, 28, 3}, Shape{128, 9, 28, 2}, Shape{32, 7, 28, 6}, Shape{96, 3, 28, 5}}) {
    std::vector<Tensor> in = inputsOf({x, {3, 3, x[3], 20}});
    auto images = [](const Tensor &x, const Tensor &w) { return conv2d(x, w, {1, 1}, "same"); };
    auto sums = [](const Tensor &y) { return sum(y * y, {0, 1, 2}); };
    auto both = function([=](const Tensor &x, const Tensor &w) { return sums(images(x, w)); });
    expectElements(both(in[0], in[1]), {20}, valuesOf(function(sums)(function(images)(in[0], in[1]))));
  }
}

// Eager operations are compiled one by one, for all sizes. One by one for these sizes, they have the bits of a group.
TEST(Groups, OfProductsHaveTheirBits) {
  for (auto [m, k, n] :
       {std::array<std::int64_t, 3>{1024, 700, 256}, {1009, 301, 500}, {1009, 301, 100}, {2050, 128, 52}}) {
    std::vector<Tensor> in = inputsOf({{m, k}, {k, n}, {n}});
    auto product = function([](const Tensor &x, const Tensor &w) { return matmul(x, w); });
    auto dense = function([](const Tensor &x, const Tensor &w, const Tensor &b) { return relu(matmul(x, w) + b); });
    expectElements(dense(in[0], in[1], in[2]), {m, n}, valuesOf(relu(product(in[0], in[1]) + in[2])));
  }
}

TEST(Groups, OfProductsWithOpenSizes) {
  std::mt19937 random(6);
  Tensor w = operand(random, {100, 130}, DType::Float32);
  auto body = [&](const std::vector<Tensor> &in) { return normalised(relu(matmul(in[0], w) + 0.1)); };
  for (std::int64_t rows : {0, 1, 7, 300, 4099})
    expectAsKnown(body, operand(random, {rows, 100}, DType::Float32), {kDynamic, 100});
  Tensor filters = operand(random, {3, 3, 4, 16}, DType::Float32);
  auto images = [&](const std::vector<Tensor> &in) { return relu(conv2d(in[0], filters, {1, 1}, "same") + 0.5); };
  for (std::int64_t rows : {0, 1, 7, 40})
    expectAsKnown(images, operand(random, {rows, 24, 24, 4}, DType::Float32), {kDynamic, 24, 24, 4});
}
