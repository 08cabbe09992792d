// Derivatives of branches and loops: of higher orders, with transforms and checkpoints around them, and what the
// reverse of a loop keeps and computes.
#include "test/Tensors.h"

using namespace calque;
using namespace calque::testing;

// Branches in a scan, and a loop whose end depends on what they gave: plain, and behind a checkpoint.
namespace {
Tensor composed(const Tensor &x) {
  auto [h, hs] = scan(
      [](const Tensor &h, const Tensor &x) {
        Tensor next = cond(x > 0, [&] { return sin(h) * x; }, [&] { return h - x; });
        return std::pair(next, next * next);
      },
      sum(x) * 0.1, x);
  Tensor y =
      while_loop([](const Tensor &y) { return y < 3; }, [](const Tensor &y) { return y * 1.5 + 0.3; }, square(h) + 0.5);
  return y + sum(hs);
}
} // namespace

TEST(ControlFlow, ComposesWithCheckpointsAndTransforms) {
  Tensor x = tensor<double>({1, -2, 0.5, -0.3, 0.7, 1.1}, {2, 3}), direction = tensor<double>({0.3, 1, -0.7});
  auto gradient = [](const Tensor &at) { return grad(checkpoint(composed))(at); };
  auto all = function([&](const Tensor &examples) { return vmap(gradient)(examples); }, {.name = "many_examples"})(x);
  auto moved = function([&](const Tensor &at) { return jvp(gradient, at, direction).second; }, {.name = "tangents"});
  for (int i = 0; i < 2; ++i) {
    Tensor one = reshape(slice(x, {i, 0}, {i + 1, 3}), {3}), expected = grad(composed)(one);
    for (int k = 0; k < 3; ++k)
      EXPECT_NEAR(valuesOf(all)[3 * i + k], valuesOf(expected)[k], 1e-12);
    // The Hessian times a direction, by differences of gradients.
    Tensor change = (grad(composed)(one + direction * 1e-6) - grad(composed)(one - direction * 1e-6)) / 2e-6;
    for (int k = 0; k < 3; ++k)
      EXPECT_NEAR(valuesOf(moved(one))[k], valuesOf(change)[k], 1e-7);
  }
  Tensor tangent = function([&](const Tensor &at) { return jvp(composed, at, direction).second; })(
      reshape(slice(x, {0, 0}, {1, 3}), {3}));
  EXPECT_NEAR(valuesOf(tangent)[0], valuesOf(sum(grad(composed)(tensor<double>({1, -2, 0.5})) * direction))[0], 1e-12);
}

// A loop that is the same for all examples is no loop over all of them: what its gradient keeps on stacks has one
// derivative. The gradient of w^8 in the direction x is 8 x w^7, and that of its sum over examples 56 w^6 sum(x).
TEST(ControlFlow, OfNoExampleIsDifferentiatedTwiceUnderVmap) {
  auto second = [](const Tensor &w, const Tensor &xs) {
    GradientTape tape;
    tape.watch(w);
    Tensor all = vmap([&](const Tensor &x) {
      GradientTape inner;
      inner.watch(w);
      // The last loop variable, which nothing changes, differs from example to example.
      std::vector<Tensor> last = while_loop([](const std::vector<Tensor> &state) { return state[0] < 3; },
                                            [](const std::vector<Tensor> &state) {
                                              return std::vector<Tensor>{state[0] + 1, state[1] * state[1], state[2]};
                                            },
                                            std::vector<Tensor>{scalar(0), w, x * 0});
      return *inner.gradient(last[1], w, GradientOptions{.output_gradients = {x}}) + last[2];
    })(xs);
    return *tape.gradient(sum(all), w);
  };
  Tensor w = tensor<double>({1.5, -0.5}), xs = tensor<double>({1, 2, -0.5, 3, 0.25, 1}, {3, 2});
  Tensor expected = 56 * pow(w, 6) * sum(xs, {0});
  for (const Tensor &found : {second(w, xs), function(second)(w, xs)})
    for (int k = 0; k < 2; ++k)
      EXPECT_NEAR(valuesOf(found)[k], valuesOf(expected)[k], 1e-12);
}

// A tape that sees a loop as one operation sees no read of what the loop assigns.
TEST(ControlFlow, RefusesReadsThatATapeAroundDoesNotSee) {
  Variable v(tensor<float>({1, 2}), {.name = "v"});
  auto loop = [&](const Tensor &x) {
    GradientTape tape;
    Tensor y = for_range(0, 3, x, [&](const Tensor &, const Tensor &y) {
      Tensor next = y * v;
      v.assign(v * 2);
      return next;
    });
    return tape.gradient(sum(y), v).value();
  };
  auto branch = [&](const Tensor &x) {
    GradientTape tape;
    Tensor y = cond(
        sum(x) > 0,
        [&] {
          Tensor a = x * v;
          v.assign(v * 2);
          return a * v;
        },
        [&] { return x; });
    return tape.gradient(sum(y), v).value();
  };
  auto messageOf = [](auto f) {
    try {
      function(f)(ones({2}));
    } catch (const StateError &error) {
      return std::string(error.what());
    }
    return std::string();
  };
  const char *text =
      ", and a tape around it watches the variable, which would see no such read; make the tape inside, or "
      "stop recording around it";
  EXPECT_NE(messageOf(loop).find(std::string("variable 'v' is assigned and read in the body of a loop") + text),
            std::string::npos);
  EXPECT_NE(messageOf(branch).find(std::string("variable 'v' is assigned and read in a branch") + text),
            std::string::npos);
  EXPECT_EQ(valuesOf(v.value()), (std::vector<double>{1, 2}));
}

TEST(ControlFlow, RefusesReverseModeAThirdTime) {
  auto f = [](const Tensor &x) { return for_range(0, 3, x, [](const Tensor &, const Tensor &a) { return sin(a); }); };
  Tensor x = scalar<double>(0.3);
  try {
    function(grad(grad(grad(f))))(x);
    FAIL();
  } catch (const AssertionError &error) {
    EXPECT_NE(std::string(error.what()).find("take the outer derivatives in forward mode"), std::string::npos);
  }
  // Forward mode over it goes.
  auto third = [&](const Tensor &at) { return jvp(grad(grad(f)), at, scalar<double>(1.0)).second; };
  EXPECT_NEAR(function(third)(x).item<double>(), third(x).item<double>(), 1e-9);
}

// The gradient of a slice is as large as what it is taken from: one after the other these would be 16 GB.
TEST(Scan, OfManySlicesHasACheapGradientEagerly) {
  auto total = [](const Tensor &xs, bool reverse) {
    auto [last, all] = scan(
        [](const Tensor &sum, const Tensor &x) {
          Tensor next = sum * 0.5 + x * x;
          return std::pair(next, next * x);
        },
        zeros({xs.shape()[1]}, xs.dtype()), xs, {.reverse = reverse});
    return sum(last) + sum(all);
  };
  for (bool reverse : {false, true}) {
    auto loss = [&](const Tensor &xs) { return total(xs, reverse); };
    for (std::int64_t count : {64, 65, 150}) {
      Tensor xs = random::normal({count, 3}, {.dtype = DType::Float64});
      std::vector<double> found = valuesOf(grad(loss)(xs)), expected = valuesOf(function(grad(loss))(xs));
      for (std::size_t i = 0; i < expected.size(); ++i)
        EXPECT_NEAR(found[i], expected[i], 1e-12 * (1 + std::fabs(expected[i]))) << count << " " << i;
    }
  }
  Tensor xs = ones({2000, 1024});
  GradientTape tape;
  tape.watch(xs);
  EXPECT_EQ(tape.gradient(total(xs, false), xs)->shape(), xs.shape());
}

TEST(Stack, OfManyTensorsHasTheirGradients) {
  for (std::int64_t axis : {0, 1, -1}) {
    std::vector<Tensor> parts;
    for (int i = 0; i < 150; ++i)
      parts.push_back(full({3}, i, DType::Float64));
    GradientTape tape;
    for (const Tensor &part : parts)
      tape.watch(part);
    Tensor all = stack(parts, axis), weights = cast(iota(all.shape(), DType::Int64, axis), DType::Float64);
    EXPECT_EQ(all.shape(), axis == 0 ? (Shape{150, 3}) : (Shape{3, 150}));
    std::vector<std::optional<Tensor>> gradients = tape.gradient(sum(all * all * weights), parts);
    for (int i = 0; i < 150; ++i)
      EXPECT_EQ(valuesOf(*gradients[static_cast<std::size_t>(i)]), std::vector<double>(3, 2.0 * i * i));
  }
}

// The reverse takes the products of an iteration from where it kept them; under a checkpoint it computes them again.
TEST(ControlFlow, KeepsProductsForItsReverse) {
  auto network = [](const std::vector<Tensor> &p, const Tensor &xs, bool isLoop, bool isCheckpointed) {
    auto layer = [&](const Tensor &h, const Tensor &x) { return tanh(matmul(h, p[0]) + matmul(x, p[1]) + p[2]); };
    auto step = [&](const Tensor &h, const Tensor &x) {
      return isCheckpointed ? checkpoint([&](const Tensor &a, const Tensor &b) { return layer(a, b); })(h, x)
                            : layer(h, x);
    };
    Tensor h = zeros({2, 3}, DType::Float64);
    if (isLoop)
      return sum(square(fold(step, h, xs)));
    for (int i = 0; i < 9; ++i)
      h = step(h, gather(xs, i));
    return sum(square(h));
  };
  auto ramp = [](const Shape &shape, double from) {
    std::vector<double> values;
    for (std::int64_t i = 0; i < zeros(shape).size(); ++i)
      values.push_back(std::sin(from + static_cast<double>(i)));
    return tensor(values, shape);
  };
  std::vector<Tensor> p{ramp({3, 3}, 1), ramp({4, 3}, 2), ramp({3}, 3)};
  Tensor xs = ramp({9, 2, 4}, 4);
  auto products = [](const std::string &ir) {
    std::size_t count = 0;
    for (std::size_t at = ir.find("calque.contract"); at != std::string::npos; at = ir.find("calque.contract", at + 1))
      ++count;
    return count;
  };
  auto first = [&](bool isLoop, bool isCheckpointed) {
    return [=](const std::vector<Tensor> &given, const Tensor &slices) {
      return grad([&](const std::vector<Tensor> &at) { return network(at, slices, isLoop, isCheckpointed); })(given);
    };
  };
  // Two for each iteration, and backwards one for the state and each parameter.
  EXPECT_EQ(products(function(first(true, false)).ir("simplified", p, xs)), 2u + 3);
  EXPECT_EQ(products(function(first(true, true)).ir("simplified", p, xs)), 4u + 3);
  auto second = [&](bool isLoop) {
    return [=](const std::vector<Tensor> &given, const Tensor &slices) {
      auto slope = [&](const std::vector<Tensor> &at) {
        std::vector<Tensor> g = first(isLoop, false)(at, slices);
        return sum(square(g[0])) + sum(g[1] * g[1] * g[1]) + sum(g[2]);
      };
      return grad(slope)(given);
    };
  };
  std::vector<TensorSpec<>> open{TensorSpec<double>({3, 3}), TensorSpec<double>({4, 3}), TensorSpec<double>({3}),
                                 TensorSpec<double>({kDynamic, 2, 4})};
  auto expectClose = [](const std::vector<Tensor> &found, const std::vector<Tensor> &expected) {
    for (std::size_t i = 0; i < expected.size(); ++i)
      for (std::size_t e = 0; e < valuesOf(expected[i]).size(); ++e)
        EXPECT_NEAR(valuesOf(found[i])[e], valuesOf(expected[i])[e], 1e-11) << i;
  };
  for (auto &&[loop, unrolled] :
       {std::pair(function(first(true, false)), function(first(false, false))),
        std::pair(function(first(true, false), {.input_signature = open}), function(first(true, true)))})
    expectClose(loop(p, xs), unrolled(p, xs));
  expectClose(function(second(true))(p, xs), function(second(false))(p, xs));
  // And for many examples.
  auto each = [&](const Tensor &slices) { return first(true, false)(p, slices); };
  std::vector<Tensor> all = function(vmap(each))(concat({expand_dims(xs, {0}), expand_dims(xs, {0}) * 2}));
  for (int i = 0; i < 2; ++i) {
    std::vector<Tensor> one, expected = first(false, false)(p, xs * (i + 1));
    for (const Tensor &g : all)
      one.push_back(gather(g, i));
    expectClose(one, expected);
  }
}
