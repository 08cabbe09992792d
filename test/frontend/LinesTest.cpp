// An error names the line of whoever made it, also where two callers share code: what is compiled is kept by structure.
#include "Testing.h"
#include "calque/training.h"

#include <numeric>

using namespace calque;
using namespace calque::testing;

namespace {

using UnaryBody = std::function<Tensor(const Tensor &)>;
struct Place {
  unsigned line;
  UnaryBody body;
};
#define HERE(...)                                                                                                      \
  Place {                                                                                                              \
    __LINE__, [](const Tensor &x) -> Tensor { return __VA_ARGS__; }                                                    \
  }

std::int32_t failing(const KernelTensor *, const KernelTensor *, void *) { return 3; }
const Operation &operation() {
  static const Operation made(
      {.name = "lines_fails", .types = [](const std::vector<TensorSpec<>> &in) { return in; }, .kernel = failing});
  return made;
}
Tensor checked(const Tensor &x, const Tensor &condition, SourceLocation where = SourceLocation::current()) {
  assert_true(Operand(condition, where), "too large");
  return x;
}

// Each kind of error at two lines, of code with one structure.
struct Kind {
  const char *category, *text;
  Place first, second;
};
// clang-format off
const std::vector<Kind> &kinds() {
  static const std::vector<Kind> all{
      {"IndexError", "gather: index 7 is out of range [0, 3)",
       HERE(gather(x, tensor<int>({7}))),
       HERE(gather(x, tensor<int>({7})))},
      {"DivisionError", "div: an integer is divided by zero",
       HERE(cast(cast(x, DType::Int32) / 0, DType::Float32)),
       HERE(cast(cast(x, DType::Int32) / 0, DType::Float32))},
      {"AssertionError", "too large",
       HERE(checked(x, x < 0)),
       HERE(checked(x, x < 0))},
      {"ValueError", "lines_fails: its kernel fails with 3",
       HERE(operation()({x})[0]),
       HERE(operation()({x})[0])},
      {"ShapeError", "add: the shapes",
       HERE(x + ones({5})),
       HERE(x + ones({5}))},
      {"DTypeError", "mul: the operands' types differ",
       HERE(x * ones({3}, DType::Float64)),
       HERE(x * ones({3}, DType::Float64))},
      {"ValueError", "sum: axis 4 is out of range",
       HERE(sum(x, {4})),
       HERE(sum(x, {4}))},
      {"ShapeError", "matmul: the inner dimensions are 3 and 4",
       HERE(matmul(x, ones({4}))),
       HERE(matmul(x, ones({4})))},
      {"DTypeError", "matmul: the operands' types differ",
       HERE(matmul(reshape(x, {1, 3}), ones({3, 1}, DType::Float64))),
       HERE(matmul(reshape(x, {1, 3}), ones({3, 1}, DType::Float64)))},
      {"IndexError", "sparse_categorical_crossentropy: label 4 is out of range [0, 3)",
       HERE(losses::sparse_categorical_crossentropy(tensor<int>({4}), reshape(x, {1, 3}), {.from_logits = true})),
       HERE(losses::sparse_categorical_crossentropy(tensor<int>({4}), reshape(x, {1, 3}), {.from_logits = true}))},
  };
  return all;
}
// clang-format on

using Mode = std::function<void(const UnaryBody &)>;
const std::vector<std::pair<const char *, Mode>> &modes() {
  static const std::vector<std::pair<const char *, Mode>> all{
      {"eager", [](const UnaryBody &f) { f(ones({3})); }},
      {"function", [](const UnaryBody &f) { function<Tensor(const Tensor &)>(f)(ones({3})); }},
      {"vmap", [](const UnaryBody &f) { vmap(f)(ones({2, 3})); }},
      {"jvp", [](const UnaryBody &f) { jvp(f, ones({3}), ones({3})); }},
      {"checkpoint", [](const UnaryBody &f) { checkpoint(f)(ones({3})); }},
      {"grad", [](const UnaryBody &f) { grad([&](const Tensor &x) { return sum(f(x)); })(ones({3})); }},
      {"hessian", [](const UnaryBody &f) { hessian([&](const Tensor &x) { return sum(f(x)); })(ones({3})); }},
      {"vmap in function",
       [](const UnaryBody &f) { function([&](const Tensor &x) { return vmap(f)(x); })(ones({2, 3})); }},
      {"custom_gradient",
       [](const UnaryBody &f) {
         auto own = [&](const Tensor &x) { return std::pair(x * 2, [&](const Tensor &g) { return f(g) * 0 + g; }); };
         Tensor x = ones({3});
         GradientTape tape;
         tape.watch(x);
         tape.gradient(custom_gradient(own)(x), x).value();
       }},
  };
  return all;
}

template <typename F> void expectLine(unsigned line, const char *file, F &&statement) {
  try {
    statement();
    ADD_FAILURE() << "no error";
  } catch (const Error &error) {
    EXPECT_EQ(error.location().line, line) << error.what();
    EXPECT_CONTAINS(std::string(error.location().file), file);
  }
}

} // namespace

TEST(Lines, AreTheCallersWhoeverElseHasSuchCode) {
  for (const auto &[mode, run] : modes())
    for (const Kind &kind : kinds())
      for (const Place *place : {&kind.first, &kind.second, &kind.first}) {
        // A second derivative keeps nothing of what only has a value, and wants the gradient of the user's operation.
        if (mode == std::string("hessian") && (kind.category == std::string("DivisionError") ||
                                               kind.text == std::string("lines_fails: its kernel fails with 3")))
          continue;
        SCOPED_TRACE(std::string(mode) + ", " + kind.text);
        try {
          run(place->body);
          ADD_FAILURE() << "no error";
        } catch (const Error &error) {
          EXPECT_STREQ(error.category(), kind.category) << error.what();
          EXPECT_CONTAINS(error.what(), kind.text);
          EXPECT_EQ(error.location().line, place->line) << error.what();
        }
      }
}

TEST(Lines, OfATransformsOwnErrorsAreTheCalls) {
  auto f = [](const Tensor &x) { return sum(x * x); };
  auto integer = [](const Tensor &x) { return cast(x, DType::Int32); };
  Tensor x = ones({2}), i = tensor<int>({1, 2});
  auto axes = vmap(f, {.in_axes = {1}});
  expectLine(__LINE__, "LinesTest.cpp", [&] { axes(x); });
  auto nested = vmap(vmap(f));
  expectLine(__LINE__, "LinesTest.cpp", [&] { nested(x); });
  auto gradient = grad(f);
  expectLine(__LINE__, "LinesTest.cpp", [&] { gradient(i); });
  auto both = value_and_grad(f);
  expectLine(__LINE__, "LinesTest.cpp", [&] { both(i); });
  auto second = grad(grad(f));
  expectLine(__LINE__, "LinesTest.cpp", [&] { second(i); });
  auto matrix = jacobian(integer);
  expectLine(__LINE__, "LinesTest.cpp", [&] { matrix(Tensor()); });
  auto batch = batch_jacobian(f);
  expectLine(__LINE__, "LinesTest.cpp", [&] { batch(x); });
  auto product = hvp(f);
  expectLine(__LINE__, "LinesTest.cpp", [&] { product(x, ones({3})); });
  auto square = hessian(f);
  expectLine(__LINE__, "LinesTest.cpp", [&] { square(i); });
  auto own = custom_gradient([](const Tensor &a) { return std::pair(a, [](const Tensor &) { return ones({7}); }); });
  expectLine(__LINE__, "LinesTest.cpp", [&] { own(x); });
  auto kept = checkpoint(f);
  expectLine(__LINE__, "LinesTest.cpp", [&] { kept(Tensor()); });
  auto compiled = function(vmap(f, {.in_axes = {1}}));
  expectLine(__LINE__, "LinesTest.cpp", [&] { compiled(x); });
  auto strict = vmap(function(f, {.input_signature = {TensorSpec<float>({3})}}));
  expectLine(__LINE__, "LinesTest.cpp", [&] { strict(ones({2, 2})); });
  auto concrete = grad(function(f).get_concrete_function(ones({3})));
  expectLine(__LINE__, "LinesTest.cpp", [&] { concrete(x); });
}

TEST(Lines, OfSizesThatDisagreeAreTheCallers) {
  // clang-format off
  auto first = function([](const Tensor &x, const Tensor &y) { return x + y; }, {.input_signature = {TensorSpec<float>({kDynamic}), TensorSpec<float>({kDynamic})}});
  unsigned firstLine = __LINE__ - 1;
  auto second = function([](const Tensor &x, const Tensor &y) { return x + y; }, {.input_signature = {TensorSpec<float>({kDynamic}), TensorSpec<float>({kDynamic})}});
  unsigned secondLine = __LINE__ - 1;
  // clang-format on
  expectLine(firstLine, "LinesTest.cpp", [&] { first(ones({2}), ones({3})); });
  expectLine(secondLine, "LinesTest.cpp", [&] { second(ones({2}), ones({3})); });
}

TEST(Lines, OfADecisionAreThoseOfTheOperation) {
  auto decide = [](const Tensor &x) { return x ? 1 : 2; };
  Tensor made = ones({2}) > 0;
  expectLine(__LINE__ - 1, "LinesTest.cpp", [&] { decide(made); });
  Tensor given = tensor<float>({1, 2});
  expectLine(__LINE__ - 1, "LinesTest.cpp", [&] { decide(given); });
  auto f = function([](const Tensor &x) { return x > 0; });
  Tensor result = f(ones({2}));
  expectLine(__LINE__ - 1, "LinesTest.cpp", [&] { decide(result); });
  Variable v(ones({2}));
  v.assign(zeros({2}));
  expectLine(__LINE__ - 1, "LinesTest.cpp", [&] { decide(v.value()); });
}

TEST(Lines, OfWhatIsAskedOfATensor) {
  const TensorSpec<float> open({kDynamic});
  unsigned line = __LINE__ + 1;
  auto size = function([](const Tensor &x) { return x * static_cast<float>(x.size()); });
  expectLine(line, "LinesTest.cpp", [&] { size.get_concrete_function(open); });
  expectLine(__LINE__, "LinesTest.cpp", [&] { TensorSpec<float>(kAnyShape).shape(); });
  expectLine(__LINE__, "LinesTest.cpp", [&] { size.ir("no stage", ones({1})); });
  auto any = function([](const Tensor &x) { return x; }).get_concrete_function(TensorSpec<float>(kAnyShape));
  expectLine(__LINE__, "LinesTest.cpp", [&] { any.ir("traced"); });
  expectLine(__LINE__, "LinesTest.cpp", [&] { any.result_specs(); });
}

TEST(Lines, OfARecursionWithoutEndAreTheCalls) {
  std::function<Tensor(const Tensor &)> endless;
  auto f = function([&](const Tensor &x) { return endless(x + 1); });
  // clang-format off
  endless = [&](const Tensor &x) { return f(x); };
  expectLine(__LINE__ - 1, "LinesTest.cpp", [&] { f(scalar(1.0f)); });
  // clang-format on
}

TEST(Lines, OfAConcreteFunctionWithItsHostValuesBound) {
  auto f = function([](const Tensor &x, int n) { return x * n; }).get_concrete_function(ones({2}), 3);
  expectValues(f(ones({2})), {3, 3});
  expectLine(__LINE__, "LinesTest.cpp", [&] { f(ones({3})); });
  auto noTensors = function([](int n) { return ones({1}) * n; }).get_concrete_function(3);
  expectValues(noTensors(), {3});
}

TEST(Lines, OfVariablesInContainersAreTheUsers) {
  std::optional<Variable> kept;
  auto later = function([&](const Tensor &x) {
    kept.emplace(zeros({2}));
    return x;
  });
  unsigned line = __LINE__ - 3;
  later(ones({1}));
  expectLine(line, "LinesTest.cpp", [&] { later(ones({2})); });
  // A number has no line: it is that of the call that traces.
  auto number = function([&](const Tensor &x) {
    kept.emplace(2.0f);
    return x;
  });
  number(ones({1}));
  expectLine(__LINE__, "LinesTest.cpp", [&] { number(ones({2})); });
}

TEST(Lines, OfWhatTheStandardLibraryCallsAreThoseOfTheTrace) {
  auto sumOf = function([](const std::vector<Tensor> &x) { return std::accumulate(x.begin(), x.end(), ones({2})); });
  expectLine(__LINE__, "LinesTest.cpp", [&] { sumOf({ones({2}), ones({3})}); });
}

TEST(Lines, OfArgumentsAreThoseOfTheCall) {
  std::string text;
  auto f = function(
      [&](const Tensor &x) {
        std::ostringstream stream;
        stream << x;
        text = stream.str();
        return x + 1;
      },
      {.input_signature = {TensorSpec<float>({kDynamic})}});
  f(ones({2}));
  EXPECT_CONTAINS(text, "<traced float32[?] at ");
  EXPECT_CONTAINS(text, "LinesTest.cpp:" + std::to_string(__LINE__ - 2));
}

TEST(Lines, OfGradientsAreThoseOfTheOperationAndItsName) {
  // Nothing reads what gather gives, so that the gradient alone looks at the indices.
  auto f = function(
      [](const Tensor &x, const Tensor &i) { return grad([&](const Tensor &a) { return sum(gather(a, i)); })(x); });
  unsigned line = __LINE__ - 1;
  std::string text = errorOf<IndexError>([&] { f(ones({3}), tensor<int>({5})); });
  EXPECT_CONTAINS(text, "gather: index 5 is out of range [0, 3)");
  expectLine(line, "LinesTest.cpp", [&] { f(ones({3}), tensor<int>({5})); });
}

TEST(Lines, OfIndicesUnderVmapNameThoseOfOneExample) {
  Tensor x = ones({3, 2});
  for (int index : {7, 2, -1, 5}) {
    std::string expected = "gather: index " + std::to_string(index) + " is out of range [0, 2)";
    auto pick = [](const Tensor &row, const Tensor &i) { return gather(row, i); };
    EXPECT_CONTAINS(errorOf<IndexError>([&] { vmap(pick)(x, tensor<int>({0, index, 1})); }), expected);
    auto twice = [&](const Tensor &rows, const Tensor &i) { return vmap(pick)(rows, i); };
    EXPECT_CONTAINS(
        errorOf<IndexError>([&] { vmap(twice)(ones({2, 3, 2}), tensor<int>({0, 1, 1, 0, index, 1}, {2, 3})); }),
        expected);
    auto gradients = vmap([&](const Tensor &row, const Tensor &i) {
      return grad([&](const Tensor &a) { return sum(pick(a, i)); })(row);
    });
    EXPECT_CONTAINS(errorOf<IndexError>([&] { gradients(x, tensor<int>({0, index, 1})); }), expected);
  }
}
