// The fuzzer itself: that it reaches every operation, that it would see a fault, and that it makes one small.
#include "test/fuzz/Generator.h"
#include "test/fuzz/Kernels.h"
#include "test/fuzz/Random.h"
#include "test/fuzz/Runner.h"
#include "test/fuzz/Shrinker.h"

#include <gtest/gtest.h>
#include <set>

#include <algorithm>
#include <map>

using namespace calque;
using namespace calque::fuzz;

namespace {

Data dataOf(DType dtype, Shape shape, std::vector<Real> values) {
  Data data;
  data.type = {dtype, std::move(shape)};
  data.values = std::move(values);
  return data;
}
Data floats(Shape shape, std::vector<Real> values) {
  return dataOf(DType::Float32, std::move(shape), std::move(values));
}

Program programOf(std::vector<Input> inputs, std::vector<Step> steps, std::vector<int> results) {
  Program program;
  program.inputs = std::move(inputs);
  program.steps = std::move(steps);
  program.results = std::move(results);
  EXPECT_TRUE(check(program));
  return program;
}

Meaning meaningOf(const Program &program) {
  Interpreter interpreter(program);
  interpreter.run();
  return interpreter.meaning;
}

bool uses(const Program &program, OpId op) {
  return std::any_of(program.steps.begin(), program.steps.end(), [&](const Step &step) { return step.op == op; });
}

} // namespace

TEST(Generator, MakesEveryOperation) {
  Generator generator;
  std::map<OpId, int> made;
  std::map<std::string, int> kinds;
  for (std::uint64_t i = 0; i < 1400; ++i) {
    Program program = generator.make(mix(7, i), mix(8, i / 16)).program;
    for (std::size_t s = 0; s < program.steps.size(); ++s) {
      const Step &step = program.steps[s];
      kinds["gradient"] += step.tape.has_value();
      kinds["variable source"] += step.tape && !step.tape->variableSources.empty();
      for (std::size_t inner = 0; step.tape && inner < s; ++inner)
        kinds["second order"] += program.steps[inner].tape && static_cast<int>(inner) >= step.tape->begin;
      for (const TensorType &type : step.types) {
        ++kinds["rank " + std::to_string(std::min<std::int64_t>(type.rank(), 4))];
        ++kinds[name_of(type.dtype)];
        kinds["empty"] += countOf(type) == 0;
      }
    }
    for (OpId op : operationsOf(program))
      ++made[op];
    eachStep(program, [&](const Step &step) {
      if (step.tape) {
        kinds["persistent tape"] += step.tape->tapeOf >= 0;
        kinds["pause"] += step.tape->pauseEnd > step.tape->pauseBegin;
      }
      if (!step.transform)
        return;
      const Transform &transform = *step.transform;
      static const char *names[] = {"checkpoint", "vmap",  "jvp",   "vjp", "custom gradient",
                                    "branch",     "while", "range", "scan"};
      ++kinds[names[static_cast<int>(transform.kind)]];
      kinds["captured operand"] +=
          std::find(transform.captured.begin(), transform.captured.end(), true) != transform.captured.end();
      kinds["switch"] += step.op == OpId::Cond && transform.alternatives.size() != 1;
      kinds["fold"] += transform.kind == Transform::Kind::Scan && transform.numCarried &&
                       step.types.size() == static_cast<std::size_t>(transform.numCarried);
      kinds["map"] += transform.kind == Transform::Kind::Scan && !transform.numCarried;
      eachBody(transform, [&](const Program &body) {
        for (const Step &inner : body.steps) {
          bool isControlFlow = step.isControlFlow();
          kinds["transformation within one"] += !isControlFlow && inner.transform && !inner.isControlFlow();
          kinds["tape within a transformation"] += !isControlFlow && inner.tape;
          kinds["branch or loop within one"] += isControlFlow && inner.isControlFlow();
          kinds["branch or loop within a transformation"] += !isControlFlow && inner.isControlFlow();
          kinds["transformation within a branch or loop"] += isControlFlow && inner.transform && !inner.isControlFlow();
          kinds["tape within a branch or loop"] += isControlFlow && inner.tape;
          kinds["assignment within a branch or loop"] += isControlFlow && inner.op == OpId::VariableAssign;
          kinds["random numbers within a branch or loop"] += isControlFlow && inner.op == OpId::RandomUniform;
        }
      });
    });
    for (std::size_t s = 0; s < program.steps.size(); ++s)
      for (std::size_t inner = 0; program.steps[s].tape && inner < s; ++inner)
        if (const Step &seen = program.steps[inner];
            seen.transform && static_cast<int>(inner) >= program.steps[s].tape->begin)
          ++kinds[seen.isControlFlow() ? "gradient of a branch or loop" : "gradient of a transformation"];
    kinds["nested function"] += !program.nested.empty();
    kinds["several results"] += program.results.size() > 1;
    for (const Input &input : program.inputs)
      ++kinds[input.kind == Input::Kind::Capture ? "capture" : "parameter"];
    for (const VariableInput &variable : program.variables)
      ++kinds[variable.isArgument ? "variable argument" : "captured variable"];
    kinds["failure"] += meaningOf(program).failure.has_value();
  }
  // No loop changes its variables' sizes, no system is drawn, and few derivatives add stacks or are special.
  const std::set<std::string_view> rare{"sized_push",     "sized_pop",     "stack_below",     "on_entries",
                                        "open_sizes",     "stack_empty",   "stack_is_empty",  "stack_add",
                                        "stack_sum_like", "sinc_slope",    "polygamma2",      "polygamma3",
                                        "gammainc_slope", "gamma_density", "betainc_slope_a", "betainc_slope_b",
                                        "beta_density",   "zeta_slope",    "banded_product",  "band_of_product"};
  for (const schema::OperationSchema &schema : schema::operations()) {
    if (rare.contains(schema.mnemonic) || isOfMatrices(schema.id) || isLeftOut(schema.id))
      continue;
    EXPECT_GE(made[schema.id], 1) << schema.mnemonic << " was never made: " << hookReason(schema.id);
  }
  for (const char *kind : {"gradient",
                           "variable source",
                           "second order",
                           "rank 0",
                           "rank 1",
                           "rank 2",
                           "rank 3",
                           "rank 4",
                           "bool",
                           "int32",
                           "int64",
                           "float32",
                           "float64",
                           "empty",
                           "nested function",
                           "several results",
                           "capture",
                           "parameter",
                           "variable argument",
                           "captured variable",
                           "failure",
                           "persistent tape",
                           "pause",
                           "checkpoint",
                           "vmap",
                           "jvp",
                           "vjp",
                           "custom gradient",
                           "captured operand",
                           "transformation within one",
                           "tape within a transformation",
                           "gradient of a transformation",
                           "branch",
                           "switch",
                           "while",
                           "range",
                           "scan",
                           "fold",
                           "map",
                           "branch or loop within one",
                           "branch or loop within a transformation",
                           "transformation within a branch or loop",
                           "tape within a branch or loop",
                           "assignment within a branch or loop",
                           "random numbers within a branch or loop",
                           "gradient of a branch or loop"})
    EXPECT_GE(kinds[kind], 5) << kind;
}

TEST(Generator, MakesTheSameOfASeed) {
  Generator first, second;
  second.make(1, 1);
  EXPECT_EQ(toCpp(first.make(5, 3).program), toCpp(second.make(5, 3).program));
}

TEST(Interpreter, KnowsEveryOperation) {
  for (const schema::OperationSchema &schema : schema::operations()) {
    if (hookReason(schema.id).empty()) {
      EXPECT_TRUE(hasReference(schema.id)) << schema.mnemonic << " needs a function in test/fuzz/Kernels.h";
    }
  }
}

// d/dx sum(x x s) with s = stop_gradient(x): 2 x s; and again with respect to x, in which s is a constant once more: 2
// s.
TEST(Interpreter, DifferentiatesAsTapesDo) {
  Step square{OpId::Mul, {0, 0}, {}, {}, 0, {}}, stop{OpId::StopGradient, {0}, {}, {}, 0, {}},
      product{OpId::Mul, {1, 2}, {}, {}, 0, {}};
  Step inner{OpId::Gradient, {3, 0}, {}, {}, 0, TapeUse{0, 1, false, {}}},
      outer{OpId::Gradient, {4, 0}, {}, {}, 0, TapeUse{0, 1, false, {}}};
  Program program = programOf({{Input::Kind::Parameter, dataOf(DType::Float64, {2}, {3, -0.5L})}},
                              {square, stop, product, inner, outer}, {4, 5});
  Meaning meaning = meaningOf(program);
  const std::vector<Num> &first = meaning.values[4]->elements, &second = meaning.values[5]->elements;
  EXPECT_NEAR(static_cast<double>(first[0].value), 18, 1e-9);
  EXPECT_NEAR(static_cast<double>(first[1].value), 0.5, 1e-9);
  EXPECT_NEAR(static_cast<double>(second[0].value), 6, 1e-9);
  EXPECT_NEAR(static_cast<double>(second[1].value), -1, 1e-9);
  EXPECT_LT(first[0].off, 1e-6);
  EXPECT_LT(second[0].off, 1e-6);
}

namespace {
// A function of one number as a step that is applied to value 0; tangents and cotangents follow.
Step transformed(OpId op, Transform::Kind kind, std::vector<Step> steps, std::vector<int> results,
                 std::vector<int> operands) {
  Program body =
      programOf({{Input::Kind::Parameter, dataOf(DType::Float64, {}, {})}}, std::move(steps), std::move(results));
  body.numArguments = 1;
  Step step{op, std::move(operands), {}, {}, 0, {}};
  step.transform = Transform{kind, std::make_shared<const Program>(std::move(body)), {false}, {}, {}};
  if (kind == Transform::Kind::Vmap) {
    step.transform->inAxes = {0};
    step.transform->outAxes = {0};
  }
  return step;
}
const Step square{OpId::Mul, {0, 0}, {}, {}, 0, {}};
} // namespace

TEST(Interpreter, TransformsAsDocumented) {
  std::vector<Input> three = {{Input::Kind::Parameter, dataOf(DType::Float64, {}, {3})}};
  auto valuesOf = [](const Program &program, int value) {
    std::vector<double> values;
    Meaning meaning = meaningOf(program);
    for (const Num &element : meaning.values[value]->elements)
      values.push_back(static_cast<double>(element.value));
    return values;
  };
  // The square's value and its change along 3; and its value and cotangent for 3.
  Program jvp = programOf(three, {transformed(OpId::Jvp, Transform::Kind::Jvp, {square}, {1}, {0, 0})}, {1});
  EXPECT_NEAR(valuesOf(jvp, 2)[0], 18, 1e-9);
  Program vjp = programOf(three, {transformed(OpId::Gradient, Transform::Kind::Vjp, {square}, {1}, {0, 0})}, {1});
  EXPECT_NEAR(valuesOf(vjp, 1)[0], 9, 1e-9);
  EXPECT_NEAR(valuesOf(vjp, 2)[0], 18, 1e-9);
  Program vmap = programOf({{Input::Kind::Parameter, dataOf(DType::Float64, {2}, {3, 4})}},
                           {transformed(OpId::Batch, Transform::Kind::Vmap, {square}, {1}, {0})}, {1});
  EXPECT_EQ(valuesOf(vmap, 1), (std::vector<double>{9, 16}));
  // A square whose pullback is by the argument, 3, and whose second derivative is therefore 1.
  Step first{OpId::Gradient, {1, 0}, {}, {}, 0, TapeUse{0, 1, false, {}}},
      second{OpId::Gradient, {2, 0}, {}, {}, 0, TapeUse{0, 1, false, {}}};
  Program custom = programOf(
      three, {transformed(OpId::CustomGradient, Transform::Kind::CustomGradient, {square}, {1, 0}, {0}), first, second},
      {1});
  EXPECT_EQ(valuesOf(custom, 1)[0], 9);
  EXPECT_NEAR(valuesOf(custom, 2)[0], 3, 1e-9);
  EXPECT_NEAR(valuesOf(custom, 3)[0], 1, 1e-9);
  // What is hidden inside of a checkpoint is hidden from the second derivative, too: x stop(x).
  Step stop{OpId::StopGradient, {0}, {}, {}, 0, {}}, product{OpId::Mul, {0, 1}, {}, {}, 0, {}};
  Program hidden = programOf(
      three, {transformed(OpId::Checkpoint, Transform::Kind::Checkpoint, {stop, product}, {2}, {0}), first, second},
      {1});
  EXPECT_NEAR(valuesOf(hidden, 2)[0], 3, 1e-9);
  EXPECT_EQ(valuesOf(hidden, 3)[0], 0);
  for (const Program *program : {&jvp, &vjp, &vmap, &custom, &hidden})
    EXPECT_EQ(compare(*program, meaningOf(*program), runAll(*program)), "");
}

// At a tie maximum's gradient goes to the first operand, which differences can't tell; where both operands move
// together, those of the gradient are smooth again.
TEST(Interpreter, LeavesOpenWhatFollowsFromAGradientAtAKink) {
  Step largest{OpId::ReduceMax, {0}, {Ints(), false}, {}, 0, {}}, maximum{OpId::Maximum, {0, 1}, {}, {}, 0, {}};
  Step inner{OpId::Gradient, {2, 0}, {}, {}, 0, TapeUse{1, 1, false, {}}}, product{OpId::Mul, {3, 2}, {}, {}, 0, {}};
  Step outer{OpId::Gradient, {4, 0}, {}, {}, 0, TapeUse{0, 1, false, {}}};
  Program program =
      programOf({{Input::Kind::Parameter, floats({1}, {0.5L})}}, {largest, maximum, inner, product, outer}, {5});
  EXPECT_EQ(meaningOf(program).values[5]->elements[0].off, kUnknown);
  EXPECT_EQ(compare(program, meaningOf(program), runAll(program)), "");
}

TEST(Interpreter, KnowsNoDerivativeBesideAPole) {
  Step one{OpId::Div, {0, 0}, {}, {}, 0, {}}, stop{OpId::StopGradient, {1}, {}, {}, 0, {}},
      reciprocal{OpId::Div, {2, 0}, {}, {}, 0, {}};
  Step gradient{OpId::Gradient, {3, 0}, {}, {}, 0, TapeUse{0, 1, false, {}}};
  Program program = programOf({{Input::Kind::Parameter, floats({2}, {1, static_cast<float>(1e-30)})}},
                              {one, stop, reciprocal, gradient}, {4});
  Meaning meaning = meaningOf(program);
  const std::vector<Num> &elements = meaning.values[4]->elements;
  EXPECT_NEAR(static_cast<double>(elements[0].value), -1, 1e-6);
  EXPECT_EQ(elements[1].off, kUnknown);
  EXPECT_EQ(compare(program, meaning, runAll(program)), "");
}

TEST(Interpreter, KnowsNoDerivativeOfARemainderOfASmallDivisor) {
  Step stop{OpId::StopGradient, {0}, {}, {}, 0, {}}, remainder{OpId::Fmod, {0, 1}, {}, {}, 0, {}};
  Step gradient{OpId::Gradient, {2, 0}, {}, {}, 0, TapeUse{0, 1, false, {}}};
  Program program = programOf({{Input::Kind::Parameter, floats({1}, {7e-6L})}}, {stop, remainder, gradient}, {3});
  EXPECT_EQ(meaningOf(program).values[3]->elements[0].off, kUnknown);
  EXPECT_EQ(compare(program, meaningOf(program), runAll(program)), "");
}

// An integer that has wrapped may be any, also one far below the limit that it is compared with.
TEST(Interpreter, LeavesOpenWhatFollowsFromAnUnknownInteger) {
  Step product{OpId::Mul, {0, 1}, {}, {}, 0, {}}, greater{OpId::Greater, {2, 1}, {}, {}, 0, {}};
  Data lowest{{DType::Int64, {1}}, {-0x1p63L}}, factor{{DType::Int64, {1}}, {-4611685996952551643.0L}};
  Program program =
      programOf({{Input::Kind::Parameter, lowest}, {Input::Kind::Parameter, factor}}, {product, greater}, {3});
  EXPECT_EQ(meaningOf(program).values[2]->elements[0].off, kUnknown);
  EXPECT_EQ(meaningOf(program).values[3]->elements[0].off, kUnknown);
  EXPECT_EQ(compare(program, meaningOf(program), runAll(program)), "");
}

TEST(Interpreter, KnowsNoDerivativeOfASineFarOut) {
  Step sine{OpId::Sin, {0}, {}, {}, 0, {}}, gradient{OpId::Gradient, {1, 0}, {}, {}, 0, TapeUse{0, 1, false, {}}};
  Program program =
      programOf({{Input::Kind::Parameter, floats({3}, {1, 3000, static_cast<float>(3e20)})}}, {sine, gradient}, {2});
  Meaning meaning = meaningOf(program);
  const std::vector<Num> &elements = meaning.values[2]->elements;
  EXPECT_NEAR(static_cast<double>(elements[0].value), std::cos(1.), 1e-6);
  EXPECT_GT(elements[1].off, 0.5);
  EXPECT_EQ(elements[2].off, kUnknown);
  EXPECT_EQ(compare(program, meaning, runAll(program)), "");
}

// Differences of a sum do not see what is lost in it.
TEST(Interpreter, KnowsNoDerivativeOfWhatIsLostInAHugeNumber) {
  Step add{OpId::Add, {0, 1}, {}, {}, 0, {}}, gradient{OpId::Gradient, {2, 0}, {}, {}, 0, TapeUse{0, 1, false, {}}};
  Program program = programOf({{Input::Kind::Parameter, floats({2}, {-1, -1})},
                               {Input::Kind::Parameter, floats({2}, {2, static_cast<float>(-3e20)})}},
                              {add, gradient}, {3});
  Meaning meaning = meaningOf(program);
  const std::vector<Num> &elements = meaning.values[3]->elements;
  EXPECT_NEAR(static_cast<double>(elements[0].value), 1, 1e-6);
  EXPECT_LT(elements[0].off, 1e-3);
  EXPECT_EQ(elements[1].off, kUnknown);
  EXPECT_EQ(compare(program, meaning, runAll(program)), "");
}

TEST(Interpreter, KnowsNoGradientOfInfiniteSeeds) {
  // 0 / x has the derivative 0, which an infinite seed makes NaN.
  Step quotient{OpId::Div, {1, 0}, {}, {}, 0, {}},
      gradient{OpId::Gradient, {3, 2, 0}, {}, {}, 0, TapeUse{0, 1, true, {}}};
  Program program = programOf({{Input::Kind::Parameter, floats({1}, {1})},
                               {Input::Kind::Parameter, floats({1}, {0})},
                               {Input::Kind::Parameter, floats({1}, {-kUnknown})}},
                              {quotient, gradient}, {4});
  EXPECT_EQ(meaningOf(program).values[4]->elements[0].off, kUnknown);
  EXPECT_EQ(compare(program, meaningOf(program), runAll(program)), "");
}

TEST(Interpreter, KnowsNoProductOfZeroAndAnInfiniteDerivative) {
  // x^x at 0 along 0, and with a weight of 0.
  std::vector<Input> zero = {{Input::Kind::Parameter, dataOf(DType::Float64, {}, {0})}};
  Step power{OpId::Pow, {0, 0}, {}, {}, 0, {}};
  Program jvp = programOf(zero, {transformed(OpId::Jvp, Transform::Kind::Jvp, {power}, {1}, {0, 0})}, {2});
  Program vjp = programOf(zero, {transformed(OpId::Gradient, Transform::Kind::Vjp, {power}, {1}, {0, 0})}, {2});
  for (const Program *program : {&jvp, &vjp}) {
    Meaning meaning = meaningOf(*program);
    EXPECT_EQ(meaning.values[2]->elements[0].off, kUnknown);
    EXPECT_EQ(compare(*program, meaning, runAll(*program)), "");
  }
}

// Nor where what is not seen to move has one: sqrt(x - x), along x and by a tape. But sqrt(2 - x + x) is smooth.
TEST(Interpreter, KnowsNoProductOfNoChangeAndAnInfiniteDerivative) {
  std::vector<Input> inputs = {{Input::Kind::Parameter, dataOf(DType::Float64, {}, {2})},
                               {Input::Kind::Parameter, dataOf(DType::Float64, {}, {2})}};
  Step none{OpId::Sub, {0, 0}, {}, {}, 0, {}}, root{OpId::Sqrt, {2}, {}, {}, 0, {}},
      gradient{OpId::Gradient, {3, 0}, {}, {}, 0, TapeUse{0, 1, false, {}}};
  Program tape = programOf(inputs, {none, root, gradient}, {4});
  Step rootInside{OpId::Sqrt, {1}, {}, {}, 0, {}};
  Program jvp =
      programOf({inputs[0]}, {transformed(OpId::Jvp, Transform::Kind::Jvp, {none, rootInside}, {2}, {0, 0})}, {2});
  Step checkpoint = transformed(OpId::Checkpoint, Transform::Kind::Checkpoint, {none, rootInside}, {2}, {0});
  Program inside =
      programOf({inputs[0]}, {checkpoint, {OpId::Gradient, {1, 0}, {}, {}, 0, TapeUse{0, 1, false, {}}}}, {2});
  for (const Program *program : {&tape, &jvp, &inside}) {
    Meaning meaning = meaningOf(*program);
    EXPECT_EQ(meaning.values[static_cast<std::size_t>(program->results[0])]->elements[0].off, kUnknown)
        << toCpp(*program);
    EXPECT_EQ(compare(*program, meaning, runAll(*program)), "");
  }
  Step difference{OpId::Sub, {1, 0}, {}, {}, 0, {}}, sum{OpId::Add, {2, 0}, {}, {}, 0, {}},
      smooth{OpId::Sqrt, {3}, {}, {}, 0, {}};
  // One element hides it, the other does not: sqrt(|x - x [1, 0]|).
  Step masked{OpId::Mul, {0, 1}, {}, {}, 0, {}}, rest{OpId::Sub, {0, 2}, {}, {}, 0, {}};
  Program each =
      programOf({{Input::Kind::Parameter, floats({2}, {3, 4})}, {Input::Kind::Parameter, floats({2}, {1, 0})}},
                {masked,
                 rest,
                 {OpId::Abs, {3}, {}, {}, 0, {}},
                 {OpId::Sqrt, {4}, {}, {}, 0, {}},
                 {OpId::Gradient, {5, 0}, {}, {}, 0, TapeUse{0, 1, false, {}}}},
                {6});
  std::vector<Num> elements = meaningOf(each).values[6]->elements;
  EXPECT_EQ(elements[0].off, kUnknown);
  EXPECT_NEAR(static_cast<double>(elements[1].value), 0.25, 1e-9);
  EXPECT_LT(elements[1].off, 1e-3L);
  EXPECT_EQ(compare(each, meaningOf(each), runAll(each)), "");
  Program known =
      programOf(inputs, {difference, sum, smooth, {OpId::Gradient, {4, 0}, {}, {}, 0, TapeUse{0, 1, false, {}}}}, {5});
  Meaning meaning = meaningOf(known);
  EXPECT_NEAR(static_cast<double>(meaning.values[5]->elements[0].value), 0, 1e-9);
  EXPECT_LT(meaning.values[5]->elements[0].off, 1e-9L);
  EXPECT_EQ(compare(known, meaning, runAll(known)), "");
}

// d/dx x / s = 1 / s is off by what s is, which was computed before; and unknown where s is.
TEST(Interpreter, BoundsGradientsByWhatWasComputedBefore) {
  Step sum{OpId::Sum, {0}, {Ints(), false}, {}, 0, {}}, quotient{OpId::Div, {1, 2}, {}, {}, 0, {}},
      gradient{OpId::Gradient, {3, 1}, {}, {}, 0, TapeUse{1, 1, false, {}}};
  std::vector<Input> inputs = {{Input::Kind::Parameter, floats({4}, {1e8L, 1, -1e8L, 1})},
                               {Input::Kind::Parameter, floats({}, {1})}};
  Program program = programOf(inputs, {sum, quotient, gradient}, {4});
  Meaning meaning = meaningOf(program);
  EXPECT_FALSE(meaning.values[4]->elements[0].off < 1);
  EXPECT_EQ(compare(program, meaning, runAll(program)), "");
}

// d/dx of 1/sqrt's derivative at sigmoid's: differences of differences whose steps are wide beside 0.2, where 1/sqrt
// bends.
TEST(Interpreter, BoundsDerivativesOfDerivativesByWhatThoseAreOffBy) {
  std::vector<Step> steps = {{OpId::Sigmoid, {0}, {}, {}, 0, {}},
                             {OpId::Gradient, {1, 0}, {}, {}, 0, TapeUse{0, 1, false, {}}},
                             {OpId::Rsqrt, {2}, {}, {}, 0, {}},
                             {OpId::Gradient, {3, 2}, {}, {}, 0, TapeUse{2, 1, false, {}}},
                             {OpId::Gradient, {4, 0}, {}, {}, 0, TapeUse{0, 1, false, {}}}};
  Program program = programOf({{Input::Kind::Parameter, dataOf(DType::Float64, {}, {1})}}, steps, {5});
  Meaning meaning = meaningOf(program);
  // With v = s (1 - s): 3/4 v^(-5/2) v (1 - 2 s).
  EXPECT_NEAR(static_cast<double>(meaning.values[5]->elements[0].value), -3.9755621408828476, 1e-7);
  EXPECT_LT(meaning.values[5]->elements[0].off, 1e-5L);
  EXPECT_EQ(compare(program, meaning, runAll(program)), "");
}

TEST(Interpreter, DoesNotSeeWhatATapeDoesNot) {
  // d/dx x^2 x with x^2 computed while the tape pauses.
  Step product{OpId::Mul, {1, 0}, {}, {}, 0, {}},
      gradient{OpId::Gradient, {2, 0}, {}, {}, 0, TapeUse{0, 1, false, {}, -1, 0, 1}};
  Program program =
      programOf({{Input::Kind::Parameter, dataOf(DType::Float64, {}, {3})}}, {square, product, gradient}, {3});
  EXPECT_NEAR(static_cast<double>(meaningOf(program).values[3]->elements[0].value), 9, 1e-9);
  EXPECT_EQ(compare(program, meaningOf(program), runAll(program)), "");
}

TEST(Interpreter, BoundsWhatTheOrderOfASumMayChange) {
  Step sum{OpId::Sum, {0}, {Ints(), false}, {}, 0, {}};
  // Small whole numbers have one sum; 1e8 + 1 - 1e8 + 1 in float32 is 1, 2 or 0.
  Program exact = programOf({{Input::Kind::Parameter, floats({4}, {1, 2, 3, 4})}}, {sum}, {1});
  EXPECT_EQ(meaningOf(exact).values[1]->elements[0].apart, 0);
  Program lossy = programOf({{Input::Kind::Parameter, floats({4}, {1e8L, 1, -1e8L, 1})}}, {sum}, {1});
  EXPECT_GT(meaningOf(lossy).values[1]->elements[0].apart, 2);
  // Terms that are off may have more bits on the machine.
  Program rounded = programOf({{Input::Kind::Parameter, floats({4}, {0, 0, 0, 0})}},
                              {{OpId::Cos, {0}, {}, {}, 0, {}}, {OpId::Sum, {1}, {Ints(), false}, {}, 0, {}}}, {2});
  EXPECT_GT(meaningOf(rounded).values[2]->elements[0].apart, 0);
}

// A sum of one element may be 0 + -0; where there is no sum, -0 stays.
TEST(Interpreter, LeavesTheSignOfAZeroOpenThatMayBeASum) {
  auto sumLike = [](const Shape &like) {
    Program program = programOf({{Input::Kind::Parameter, floats({1, 2}, {-0.0L, 1})},
                                 {Input::Kind::Parameter, dataOf(DType::Float32, like, {0, 0})}},
                                {{OpId::SumLike, {0, 1}, {}, {}, 0, {}}}, {2});
    EXPECT_EQ(compare(program, meaningOf(program), runAll(program)), "");
    return meaningOf(program).values[2]->elements;
  };
  EXPECT_GT(sumLike({2})[0].off, 0);
  EXPECT_EQ(sumLike({2})[1].off, 0);
  Program none =
      programOf({{Input::Kind::Parameter, floats({2}, {-0.0L, 1})}, {Input::Kind::Parameter, floats({2}, {0, 0})}},
                {{OpId::SumLike, {0, 1}, {}, {}, 0, {}}}, {2});
  EXPECT_EQ(meaningOf(none).values[2]->elements[0].off, 0);
  EXPECT_EQ(compare(none, meaningOf(none), runAll(none)), "");
}

// Of a number that is zero but for what sums in another order are apart, nobody knows the sign, nor of its product with
// zero.
TEST(Interpreter, LeavesTheSignOfAZeroOpenThatIsOfAnUncertainNumber) {
  Program program = programOf({{Input::Kind::Parameter, floats({4}, {0, 0, 0, 0})},
                               {Input::Kind::Parameter, floats({}, {4})},
                               {Input::Kind::Parameter, floats({}, {0})}},
                              {{OpId::Cos, {0}, {}, {}, 0, {}},
                               {OpId::Sum, {3}, {Ints(), false}, {}, 0, {}},
                               {OpId::Sub, {4, 1}, {}, {}, 0, {}},
                               {OpId::Mul, {5, 2}, {}, {}, 0, {}}},
                              {6});
  Num product = meaningOf(program).values[6]->elements[0];
  EXPECT_EQ(product.value, 0);
  EXPECT_GT(product.apart, 0);
  EXPECT_LT(product.apart, 1e-3000L);
}

// One in 2,000 cubes in long double happens to be a double, which does not make the product's two roundings exact.
TEST(Interpreter, BoundsRoundingsWhoseResultIsANumberByAccident) {
  Data data = dataOf(DType::Float64, {20000}, {});
  Random random(1);
  for (int i = 0; i < 20000; ++i)
    data.values.push_back(static_cast<double>(random.uniform(-3, 3)));
  Program program =
      programOf({{Input::Kind::Parameter, data}}, {{OpId::Extern, {0}, {std::int64_t(0)}, {}, 0, {}}}, {1});
  Meaning meaning = meaningOf(program);
  for (std::size_t i = 0; i < data.values.size(); ++i) {
    auto x = static_cast<double>(data.values[i]);
    double cube = x * x * x;
    const Num &element = meaning.values[1]->elements[i];
    ASSERT_LE(std::fabs(element.value - cube), element.off) << i;
  }
}

TEST(Compare, SeesEachKindOfFault) {
  Step square{OpId::Mul, {0, 0}, {}, {}, 0, {}};
  Program program = programOf({{Input::Kind::Parameter, floats({2}, {static_cast<float>(0.1), 3})}}, {square}, {1});
  Meaning meaning = meaningOf(program);
  const std::vector<Outcome> good = runAll(program);
  EXPECT_EQ(compare(program, meaning, good), "");
  auto spoilt = [&](std::size_t way, auto change) {
    std::vector<Outcome> outcomes = good;
    change(outcomes[way]);
    return compare(program, meaning, outcomes);
  };
  for (std::size_t way = 0; way < good.size(); ++way) {
    EXPECT_NE(spoilt(way, [](Outcome &o) { o.results[0].values[0] *= 1 + 0x1p-23L; }), "") << "one bit";
    EXPECT_NE(spoilt(way, [](Outcome &o) { o.results[0].type.dims = {1, 2}; }), "") << "shape";
    EXPECT_NE(spoilt(way, [](Outcome &o) { o.error = "IndexError: gather"; }), "") << "error";
    EXPECT_NE(spoilt(way, [](Outcome &o) { o.printed = "x"; }), "") << "print";
    EXPECT_NE(spoilt(way, [](Outcome &o) { o.connected = {true}; }), "") << "connected";
  }
}

//===-- What was found, where no other test runs all ways ---------------------------------------===//

TEST(Found, UnusedScatterWithoutOptimisations) {
  Data numbers = floats({3}, {1, 2, 3}), indices = dataOf(DType::Int64, {1}, {2}), added = floats({}, {5});
  Step put{OpId::ScatterNdAdd, {0, 1, 2}, {}, {}, 0, {}};
  Program program =
      programOf({{Input::Kind::Parameter, numbers}, {Input::Kind::Parameter, indices}, {Input::Kind::Parameter, added}},
                {put}, {0});
  EXPECT_EQ(compare(program, meaningOf(program), runAll(program)), "");
}

TEST(Found, EmptySlicesWithoutOptimisations) {
  Data none = floats({1, 0}, {}), indices = dataOf(DType::Int64, {0}, {});
  Step put{OpId::GatherPut, {0, 1, 2}, {std::int64_t(1)}, {}, 0, {}};
  Program program = programOf({{Input::Kind::Parameter, none},
                               {Input::Kind::Parameter, floats({1, 2}, {1, 2})},
                               {Input::Kind::Parameter, indices}},
                              {put}, {3});
  EXPECT_EQ(compare(program, meaningOf(program), runAll(program)), "");
}

// Without folding, what has no use stays until it is bufferized.
TEST(Found, UnusedFillsWithoutOptimisations) {
  Step size{OpId::AxisSize, {0}, {Ints()}, {}, 0, {}}, one{OpId::AxisSize, {1}, {Ints()}, {}, 0, {}};
  Program program = programOf({{Input::Kind::Parameter, floats({2}, {1, 2})}}, {size, one}, {2});
  EXPECT_EQ(compare(program, meaningOf(program), runAll(program)), "");
}

TEST(Shrinker, GoesIntoTransformations) {
  Generator generator;
  auto fails = [](const Program &candidate) {
    bool found = false;
    for (const Step &step : candidate.steps)
      found |= step.op == OpId::Batch && uses(*step.transform->body, OpId::Mul);
    return found;
  };
  int shrunk = 0;
  for (std::uint64_t i = 0; shrunk < 3; ++i) {
    Program program = generator.make(mix(5, i), mix(6, i / 16)).program;
    if (!fails(program))
      continue;
    Program least = shrink(program, fails, 1000);
    ASSERT_TRUE(fails(least));
    for (const Step &step : least.steps)
      if (step.transform) {
        EXPECT_LE(step.transform->body->steps.size(), 2u) << toCpp(least);
      }
    ++shrunk;
  }
}

TEST(Shrinker, LeavesWhatMatters) {
  Generator generator;
  int shrunk = 0;
  for (std::uint64_t i = 0; shrunk < 5; ++i) {
    Program program = generator.make(mix(3, i), mix(4, i / 16)).program;
    if (!uses(program, OpId::Transpose) || program.steps.size() < 4)
      continue;
    auto fails = [](const Program &candidate) {
      return std::any_of(candidate.steps.begin(), candidate.steps.end(),
                         [](const Step &step) { return step.op == OpId::Transpose && step.types[0].rank() >= 1; });
    };
    if (!fails(program))
      continue;
    Program least = shrink(program, fails, 400);
    ASSERT_TRUE(fails(least));
    // It is greedy: a step with an effect or a tape may stay beside the one that matters.
    EXPECT_LE(least.steps.size(), 2u) << toCpp(least);
    EXPECT_LE(least.inputs.size(), 2u) << toCpp(least);
    EXPECT_TRUE(least.nested.empty());
    for (const Step &step : least.steps)
      for (std::int64_t size : step.types.empty() ? Shape() : step.types[0].dims)
        EXPECT_LE(size, 1) << toCpp(least);
    ++shrunk;
  }
}
