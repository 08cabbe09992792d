// What branches and loops refuse: every misuse is an error of its class with the user's line, eagerly and in a trace.
#include "Misuse.h"

using namespace calque;
using namespace calque::testing;

namespace {

using Branch = std::function<Tensor()>;
using Unary = std::function<Tensor(const Tensor &)>;
using Numbered = std::pair<Tensor, int>;
using List = std::vector<Tensor>;

const Variable someVariable(1.0f), otherVariable(1.0f);

// Captured, so that no decision is known in a trace.
Tensor yes() { return scalar(true); }
Tensor number() { return scalar(1.0f); }
Tensor pair() { return ones({2}); }
Tensor same(const Tensor &x) { return x; }
Tensor wider(const Tensor &x) { return cast(x, DType::Float64); }
Tensor longer(const Tensor &x) { return concat({x, x}); }
Tensor small(const Tensor &x) { return sum(x) < 3; }
Tensor summed(const Tensor &sum, const Tensor &x) { return sum + x; }
std::pair<Tensor, Tensor> summedTwice(const Tensor &sum, const Tensor &x) { return {sum + x, x}; }
std::vector<Branch> branches(int count) { return std::vector<Branch>(static_cast<std::size_t>(count), number); }
const unsigned hostLine = __LINE__ + 2;
Tensor fromHost(const Tensor &x) {
  return host_call([](std::span<const Tensor> in) { return in[0] * 2; }, {x}, {TensorSpec<float>(x.shape())});
}
// Three branches, one of which returns another number.
std::vector<std::function<Numbered()>> numbered(int first, int second, int third) {
  std::vector<std::function<Numbered()>> made;
  for (int n : {first, second, third})
    made.push_back([n] { return Numbered(number(), n); });
  return made;
}

// The line of the statement behind, as messages have it.
std::string lineBelow(unsigned line) { return "ControlFlowErrorsTest.cpp:" + std::to_string(line + 1); }

} // namespace

// clang-format off
TEST(ControlFlowErrors, OfDecisions) {
  expectBoth({
      MISUSE(ShapeError, "cond: the predicate must be a bool scalar, not bool[2]", cond(pair() > 0, number, number)),
      MISUSE(ShapeError, "cond: the predicate must be a bool scalar, not float32[]", cond(number(), number, number)),
      MISUSE(ShapeError, "cond: the predicate must be a bool scalar, not int32[]", cond(1, number, number)),
      MISUSE(ShapeError, "switch_case: the index must be an integer scalar, not float32[]", switch_case(number(), branches(2))),
      MISUSE(ShapeError, "switch_case: the index must be an integer scalar, not int32[1]", switch_case(tensor<int>({1}), branches(2))),
      MISUSE(ShapeError, "switch_case: the index must be an integer scalar, not bool[]", switch_case(yes(), branches(2))),
      MISUSE(ValueError, "switch_case: there is no branch", switch_case(0, branches(0))),
      MISUSE(ShapeError, "while_loop: the condition must be a bool scalar, not bool[2]", while_loop([](const Tensor &x) { return x < 3; }, same, pair())),
      MISUSE(ShapeError, "while_loop: the condition must be a bool scalar, not float32[]", while_loop([](const Tensor &x) { return sum(x); }, same, pair())),
      MISUSE(ShapeError, "while_loop: the condition must be a bool scalar, not float32[]", while_loop(same, same, number(), {.maximum_iterations = 3})),
  });
}

TEST(ControlFlowErrors, OfEmptyHandles) {
  const char *text = "an empty tensor is used", *nothing = "there is nothing to call";
  expectBoth({
      MISUSE(StateError, text, cond(Tensor(), number, number)),
      MISUSE(StateError, text, switch_case(Tensor(), branches(2))),
      MISUSE(StateError, text, while_loop(small, same, Tensor())),
      MISUSE(StateError, text, while_loop([](const Tensor &) { return Tensor(); }, same, pair())),
      MISUSE(StateError, text, while_loop(small, [](const Tensor &) { return Tensor(); }, pair())),
      MISUSE(StateError, text, for_range(0, Tensor(), pair(), summed)),
      MISUSE(StateError, text, for_range(Tensor(), 2, pair(), summed)),
      MISUSE(StateError, text, for_range(0, 2, Tensor(), summed)),
      MISUSE(StateError, text, for_range(0, 2, pair(), [](const Tensor &, const Tensor &) { return Tensor(); })),
      MISUSE(StateError, text, scan(summedTwice, number(), Tensor())),
      MISUSE(StateError, text, scan(summedTwice, Tensor(), pair())),
      MISUSE(StateError, text, scan([](const Tensor &, const Tensor &x) { return std::pair(Tensor(), x); }, number(), pair())),
      MISUSE(StateError, text, scan([](const Tensor &y, const Tensor &) { return std::pair(y, Tensor()); }, number(), pair())),
      MISUSE(StateError, text, fold(summed, number(), Tensor())),
      MISUSE(StateError, text, map_fn(same, Tensor())),
      MISUSE(StateError, text, map_fn([](const Tensor &) { return Tensor(); }, pair())),
      MISUSE(StateError, nothing, cond(yes(), Branch(), number)),
      MISUSE(StateError, nothing, cond(yes(), number, Branch())),
      MISUSE(StateError, nothing, switch_case(0, std::vector<Branch>{number, Branch()})),
      MISUSE(StateError, nothing, while_loop(Unary(), same, pair())),
      MISUSE(StateError, nothing, while_loop(small, Unary(), pair())),
      MISUSE(StateError, nothing, for_range(0, 2, pair(), std::function<Tensor(const Tensor &, const Tensor &)>())),
      MISUSE(StateError, nothing, scan(std::function<std::pair<Tensor, Tensor>(const Tensor &, const Tensor &)>(), number(), pair())),
      MISUSE(StateError, nothing, fold(std::function<Tensor(const Tensor &, const Tensor &)>(), number(), pair())),
      MISUSE(StateError, nothing, map_fn(Unary(), pair())),
  });
  expectTraced({
      MISUSE(StateError, text, cond(yes(), [] { return Tensor(); }, number)),
      MISUSE(StateError, text, cond(yes(), number, [] { return Tensor(); })),
      MISUSE(StateError, text, switch_case(0, std::vector<Branch>{number, [] { return Tensor(); }, number})),
  });
}

TEST(ControlFlowErrors, OfBranchesThatDiffer) {
  const char *host = "the branches give different host values or structures; what differs between them is a tensor";
  expectTraced({
      MISUSE(DTypeError, "cond: result 0 is float32[] of ", cond(yes(), number, [] { return scalar<double>(1.0); })),
      MISUSE(DTypeError, " in the first branch and float64[] of ", cond(yes(), number, [] { return scalar<double>(1.0); })),
      MISUSE(ShapeError, " in the first branch and float32[] of ", cond(yes(), pair, number)),
      MISUSE(ShapeError, "cond: result 1 is float32[] of ", cond(yes(), [] { return std::pair(number(), number()); }, [] { return std::pair(number(), pair()); })),
      MISUSE(ValueError, host, cond(yes(), [] { return Numbered(number(), 1); }, [] { return Numbered(number(), 2); })),
      MISUSE(ValueError, host, cond(yes(), [] { return std::string("a"); }, [] { return std::string("b"); })),
      MISUSE(ValueError, host, cond(yes(), [] { return List{number()}; }, [] { return List{number(), number()}; })),
      MISUSE(ValueError, host, cond(yes(), [] { return std::optional(number()); }, [] { return std::optional<Tensor>(); })),
      MISUSE(ValueError, host, cond(yes(), [] { return someVariable; }, [] { return otherVariable; })),
      MISUSE(DTypeError, "switch_case: result 0 is ", switch_case(0, std::vector<Branch>{number, number, [] { return scalar<double>(1.0); }})),
      MISUSE(ShapeError, "switch_case: result 0 is ", switch_case(0, std::vector<Branch>{number, number, number, pair})),
      MISUSE(ValueError, host, switch_case(0, numbered(1, 2, 2))),
      MISUSE(ValueError, host, switch_case(0, numbered(2, 2, 1))),
  });
}

TEST(ControlFlowErrors, OfLoopVariablesThatChange) {
  const char *host = "the body gives other host values than the loop variables have; what changes from iteration to iteration is a tensor";
  expectBoth({
      MISUSE(DTypeError, "while_loop: loop variable 0 is float32[2] of ", while_loop(small, wider, pair())),
      MISUSE(DTypeError, "and the body gives float64[2] of ", while_loop(small, wider, pair())),
      MISUSE(ShapeError, "and the body gives float32[4] of ", while_loop(small, longer, pair())),
      MISUSE(ShapeError, "while_loop: loop variable 1 is float32[2] of ", while_loop([](const Tensor &x, const Tensor &) { return x < 3; }, [](const Tensor &x, const Tensor &y) { return std::tuple(x + 1, longer(y)); }, std::tuple(number(), pair()))),
      MISUSE(ShapeError, "and the body gives float32[4] of ", while_loop(small, longer, pair(), {.maximum_iterations = 2})),
      MISUSE(ValueError, host, while_loop([](const Numbered &x) { return x.first < 3; }, [](const Numbered &x) { return Numbered(x.first + 1, x.second + 1); }, Numbered(number(), 1))),
      MISUSE(ValueError, host, while_loop([](const List &x) { return x[0] < 3; }, [](const List &x) { return List{x[0], x[0]}; }, List{number()})),
      MISUSE(ValueError, host, while_loop([](const Variable &) { return yes(); }, [](const Variable &) { return otherVariable; }, someVariable)),
      MISUSE(DTypeError, "for_range: loop variable 0 is float32[2] of ", for_range(0, 2, pair(), [](const Tensor &, const Tensor &x) { return wider(x); })),
      MISUSE(ShapeError, "for_range: loop variable 1 is float32[2] of ", for_range(0, 2, std::tuple(number(), pair()), [](const Tensor &, const Tensor &x, const Tensor &y) { return std::tuple(x, longer(y)); })),
      MISUSE(ValueError, "for_range: the body gives other host values", for_range(0, 2, Numbered(number(), 1), [](const Tensor &, const Numbered &x) { return Numbered(x.first, x.second + 1); })),
      MISUSE(ShapeError, "and the step gives float32[4] of ", scan([](const Tensor &x, const Tensor &y) { return std::pair(longer(x), y); }, pair(), pair())),
      MISUSE(DTypeError, "scan: tensor 0 of the carry is float32[] of ", scan([](const Tensor &x, const Tensor &y) { return std::pair(wider(x), y); }, number(), pair())),
      MISUSE(ShapeError, "fold: tensor 0 of the carry is float32[] of ", fold([](const Tensor &x, const Tensor &) { return longer(expand_dims(x, {0})); }, number(), pair())),
      MISUSE(ValueError, "scan: the step gives other host values than the carry has", scan([](const Numbered &x, const Tensor &y) { return std::pair(Numbered(x.first, x.second + 1), y); }, Numbered(number(), 1), pair())),
      MISUSE(ValueError, "fold: the step gives other host values than the carry has", fold([](const Numbered &x, const Tensor &) { return Numbered(x.first, x.second + 1); }, Numbered(number(), 1), pair())),
  });
}

TEST(ControlFlowErrors, OfRanges) {
  expectBoth({
      MISUSE(ValueError, "while_loop: maximum_iterations is -1, and it must not be negative", while_loop(small, same, pair(), {.maximum_iterations = -1})),
      MISUSE(ValueError, "for_range: the step is 0", for_range(0, 2, pair(), summed, {.step = 0})),
      MISUSE(ShapeError, "for_range: the end must be an integer scalar, not float32[]", for_range(0, number(), pair(), summed)),
      MISUSE(ShapeError, "for_range: the beginning must be an integer scalar, not float32[]", for_range(number(), 2, pair(), summed)),
      MISUSE(ShapeError, "for_range: the end must be an integer scalar, not int32[1]", for_range(0, tensor<int>({1}), pair(), summed)),
      MISUSE(ShapeError, "for_range: the beginning must be an integer scalar, not bool[]", for_range(yes(), 2, pair(), summed)),
  });
}

TEST(ControlFlowErrors, OfScans) {
  expectBoth({
      MISUSE(ShapeError, "scan: tensor 0 is a scalar, which has no slices", scan(summedTwice, number(), number())),
      MISUSE(ShapeError, "fold: tensor 0 is a scalar, which has no slices", fold(summed, number(), number())),
      MISUSE(ShapeError, "map_fn: tensor 0 is a scalar, which has no slices", map_fn(same, number())),
      MISUSE(ShapeError, "map_fn: tensor 1 is a scalar, which has no slices", map_fn([](const std::pair<Tensor, Tensor> &x) { return x.first; }, std::pair(pair(), number()))),
      MISUSE(ShapeError, "scan: the tensors have different numbers of slices: 2, and 3 of float32[3,1]", scan([](const Tensor &sum, const std::pair<Tensor, Tensor> &x) { return std::pair(sum, x.first); }, number(), std::pair(pair(), ones({3, 1})))),
      MISUSE(ValueError, "scan: there is no tensor to go through", scan([](const Tensor &sum, const List &) { return std::pair(sum, sum); }, number(), List())),
      MISUSE(ValueError, "fold: there is no tensor to go through", fold([](const Tensor &sum, const List &) { return sum; }, number(), List())),
      MISUSE(ValueError, "map_fn: there is no tensor to go through", map_fn([](const List &) { return number(); }, List())),
  });
}
// clang-format on

// Eagerly a step runs for each slice, and its results must be alike.
TEST(ControlFlowErrors, OfStepsThatDiffer) {
  int count = 0;
  auto numberedStep = [&](const Tensor &x) { return Numbered(x, count++); };
  EXPECT_CONTAINS(errorOf<ValueError>([&] { map_fn(numberedStep, ones({2})); }),
                  "map_fn: a step gives other host values than the one before");
  count = 0;
  auto growing = [&](const Tensor &x) { return ones({++count}) * x; };
  EXPECT_CONTAINS(errorOf<ShapeError>([&] { map_fn(growing, ones({2})); }),
                  "map_fn: result 0 of a step is float32[2] of ");
  count = 0;
  auto changing = [&](const Tensor &x) { return count++ ? wider(x) : x; };
  EXPECT_CONTAINS(errorOf<DTypeError>([&] { map_fn(changing, ones({2})); }),
                  ", and that of the step before float32[] of ");
}

TEST(ControlFlowErrors, OfOpenSizes) {
  auto f = function([](const Tensor &x, const Tensor &rows) { return map_fn([&](const Tensor &) { return x; }, rows); },
                    {.input_signature = {TensorSpec<float>({kDynamic}), TensorSpec<float>({2})}});
  EXPECT_CONTAINS(errorOf<ShapeError>([&] { f(ones({3}), ones({2})); }),
                  "map_fn: the sizes of a step's result must be known; it is float32[?] of ");
  // The number of slices may be open.
  auto squares = function([](const Tensor &x) { return map_fn([](const Tensor &y) { return y * y; }, x); },
                          {.input_signature = {TensorSpec<float>({kDynamic})}});
  expectValues(squares(tensor<float>({1, 2, 3})), {1, 4, 9});
  // So may those of several tensors.
  auto sums = function(
      [](const Tensor &x, const Tensor &y) {
        return map_fn([](const std::pair<Tensor, Tensor> &row) { return row.first + row.second; }, std::pair(x, y));
      },
      {.input_signature = {TensorSpec<float>({kDynamic}), TensorSpec<float>({kDynamic})}});
  expectValues(sums(tensor<float>({1, 2}), tensor<float>({3, 4})), {4, 6});
}

TEST(ControlFlowErrors, NameTheLinesOfBothTypes) {
  std::string first = lineBelow(__LINE__);
  Tensor initial = ones({2});
  std::string second;
  auto body = [&](const Tensor &x) {
    second = lineBelow(__LINE__);
    return x < 0;
  };
  auto loop = [&](const Tensor &given) {
    while_loop([](const Tensor &) { return yes(); }, body, initial);
    return given;
  };
  for (bool isCompiled : {false, true}) {
    std::string text = errorOf<DTypeError>([&] { isCompiled ? function(loop)(ones({1})) : loop(ones({1})); });
    EXPECT_CONTAINS(text, first + ", and the body gives bool[2] of ");
    EXPECT_CONTAINS(text, second);
  }
  auto branch = [&](const Tensor &given) {
    return cond(
        yes(),
        [&] {
          first = lineBelow(__LINE__);
          return given + 1;
        },
        [&] {
          second = lineBelow(__LINE__);
          return given < 1;
        });
  };
  std::string text = errorOf<DTypeError>([&] { function(branch)(ones({1})); });
  EXPECT_CONTAINS(text, first + " in the first branch and bool[1] of ");
  EXPECT_CONTAINS(text, second + " in the second");
}

//===-- Variables -------------------------------------------------------------------------------===//

TEST(ControlFlowErrors, OfAConditionThatAssigns) {
  Variable v(number(), {.name = "v"});
  auto f = [&](const Tensor &x) {
    return while_loop(
        [&](const Tensor &y) {
          v.assign_add(1);
          return sum(y) < 3;
        },
        [](const Tensor &y) { return y + 1; }, x);
  };
  EXPECT_CONTAINS(errorOf<StateError>([&] { function(f)(pair()); }),
                  "while_loop: the condition assigns variable 'v'; assign it in the body");
  expectValues(v.value(), {1});
  expectValues(f(ones({1})), {3}); // eagerly it is host code
  expectValues(v.value(), {4});
}

TEST(ControlFlowErrors, OfVariablesMadeInside) {
  auto branch = [](const Tensor &x) { return cond(yes(), [&] { return x + Variable(number()); }, [&] { return x; }); };
  auto body = [](const Tensor &x) {
    return while_loop(small, [](const Tensor &y) { return y + Variable(number()); }, x);
  };
  EXPECT_NO_THROW(branch(pair()));
  EXPECT_CONTAINS(errorOf<StateError>([&] { function(branch)(pair()); }),
                  "variable 'Variable' is made in a branch, which may run any number of times; make it outside");
  EXPECT_NO_THROW(body(pair()));
  EXPECT_CONTAINS(
      errorOf<StateError>([&] { function(body)(pair()); }),
      "variable 'Variable' is made in the body of a loop, which may run any number of times; make it outside");
}

// A failed assignment in a branch changes nothing.
TEST(ControlFlowErrors, OfAssignmentsInBranches) {
  Variable v(pair(), {.name = "v"});
  auto f = [&](const Tensor &x) {
    cond(sum(x) > 0, [&] { v.assign(ones({3})); }, [&] { v.assign(x); });
    return x;
  };
  for (const Unary &run : {Unary(f), Unary(function(f))}) {
    EXPECT_CONTAINS(errorOf<ShapeError>([&] { run(pair()); }),
                    "variable 'v' is float32[2] and can't be assigned float32[3]");
    expectValues(v.value(), {1, 1});
  }
}

//===-- Tensors of a region ---------------------------------------------------------------------===//

TEST(ControlFlowErrors, OfTensorsThatLeaveTheirRegion) {
  std::optional<Tensor> kept;
  auto keep = [&](const Tensor &x) { return *(kept = x * 2); };
  std::vector<Unary> users{
      [&](const Tensor &x) {
        cond(yes(), [&] { return keep(x); }, [&] { return x; });
        return *kept + 1;
      },
      [&](const Tensor &x) { return cond(yes(), [&] { return keep(x); }, [&] { return *kept; }); },
      [&](const Tensor &x) {
        while_loop(small, keep, x);
        return *kept;
      },
      [&](const Tensor &x) {
        while_loop(
            [&](const Tensor &y) {
              keep(y);
              return small(y);
            },
            [&](const Tensor &y) { return y + 1; }, x);
        return *kept;
      },
      [&](const Tensor &x) {
        map_fn(keep, x);
        return *kept;
      },
  };
  for (const Unary &f : users) {
    EXPECT_NO_THROW(f(pair())); // eagerly they are tensors like others
    EXPECT_CONTAINS(errorOf<LeakedTensorError>([&] { function(f)(pair()); }),
                    "a traced tensor is used outside of the trace that made it, at ");
    EXPECT_CONTAINS(errorOf<LeakedTensorError>([&] { *kept + 1; }), "ControlFlowErrorsTest.cpp");
  }
}

//===-- Derivatives and many examples -----------------------------------------------------------===//

TEST(ControlFlowErrors, OfGradientsThroughHostCalls) {
  auto branch = [](const Tensor &x) { return cond(sum(x) > 0, [&] { return fromHost(x) * x; }, [&] { return x; }); };
  auto loop = [](const Tensor &x) { return while_loop(small, [](const Tensor &y) { return fromHost(y) * y; }, x); };
  const Unary kinds[] = {branch, loop};
  for (const Unary &f : kinds) {
    auto compiled = function(f);
    EXPECT_NO_THROW(compiled(pair()));
    EXPECT_NO_THROW(grad([&](const Tensor &x) { return sum(f(x)); })(pair())); // eagerly each step is on the tape
    GradientTape tape;
    Tensor x = pair();
    tape.watch(x);
    Tensor y = compiled(x);
    std::string text = errorOf<StateError>([&] { tape.gradient(y, x); });
    EXPECT_CONTAINS(text, "ControlFlowErrorsTest.cpp:" + std::to_string(hostLine) +
                              " stands in a branch or a loop that a gradient goes through, and can't run again for it");
    auto inside = function([&](const Tensor &at) { return grad([&](const Tensor &z) { return sum(f(z)); })(at); });
    auto forward = function([&](const Tensor &at) { return jvp(f, at, at).second; });
    const char *refused =
        "host_call: stands in a branch or a loop through which a derivative passes, and can't be done "
        "again for it";
    std::vector<Unary> derivatives{forward};
    if (&f == kinds) // a loop keeps what the host has given
      derivatives.push_back(inside);
    for (const Unary &derivative : derivatives)
      try {
        derivative(pair());
        ADD_FAILURE() << "no error";
      } catch (const CompileError &error) {
        EXPECT_CONTAINS(error.what(), refused);
        EXPECT_EQ(error.location().line, hostLine) << error.what();
      }
  }
}

TEST(ControlFlowErrors, OfEffectsForSomeExamples) {
  auto branch = [](const Tensor &x) {
    return cond(
        sum(x) > 0,
        [&] {
          print("x", x);
          return x;
        },
        [&] { return x; });
  };
  auto loop = [](const Tensor &x) {
    return while_loop(
        small,
        [](const Tensor &y) {
          print("y", y);
          return y + 1;
        },
        x);
  };
  Tensor x = tensor<float>({1, -1, 2, -2}, {2, 2});
  for (bool isCompiled : {false, true}) {
    auto run = [&](const Unary &f) {
      return isCompiled ? function([&](const Tensor &all) { return vmap(f)(all); })(x) : vmap(f)(x);
    };
    EXPECT_CONTAINS(errorOf<CompileError>([&] { run(branch); }), "decides for each example, and a branch has effects");
    EXPECT_CONTAINS(errorOf<CompileError>([&] { run(loop); }), "ends for each example on its own, and has effects");
  }
}

//===-- Errors inside ---------------------------------------------------------------------------===//

// What fails in a branch or a loop fails with its line, and only where it runs.
TEST(ControlFlowErrors, OfWhatARegionDoes) {
  // clang-format off
  unsigned line = __LINE__ + 1;
  auto pick = [](const Tensor &x, const Tensor &i) { return cond(i < 5, [&] { return gather(x, i); }, [&] { return sum(x); }); };
  auto loop = [](const Tensor &x, const Tensor &n) { return for_range(0, n, sum(x), [&](const Tensor &i, const Tensor &y) { return y + gather(x, i); }); };
  // clang-format on
  for (const auto &f : {std::function<Tensor(const Tensor &, const Tensor &)>(pick),
                        std::function<Tensor(const Tensor &, const Tensor &)>(loop)}) {
    auto compiled = function(f);
    for (bool isCompiled : {false, true}) {
      auto run = [&](int i) { return isCompiled ? compiled(ones({3}), scalar(i)) : f(ones({3}), scalar(i)); };
      try {
        run(4);
        ADD_FAILURE() << "no error";
      } catch (const IndexError &error) {
        EXPECT_CONTAINS(error.what(), " is out of range [0, 3)");
        EXPECT_EQ(error.location().line, line) << error.what();
      }
      EXPECT_NO_THROW(run(1));
    }
    ++line;
  }
  expectValues(function(pick)(ones({3}), scalar(7)), {3}); // the other branch does not look at the index
}
