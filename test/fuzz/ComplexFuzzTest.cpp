// Programs with complex numbers: that all operations on them are drawn, and what the interpreter says of some.
#include "test/fuzz/Generator.h"
#include "test/fuzz/Kernels.h"
#include "test/fuzz/Runner.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

namespace calque::fuzz {
namespace {

bool isComplex(const TensorType &type) { return is_complex(type.dtype); }

// Counts operations with complex operands or results, and other things of note.
void count(const Program &program, std::map<OpId, int> &made, std::map<std::string, int> &kinds) {
  for (const Step &step : program.steps) {
    bool any = std::ranges::any_of(step.types, isComplex);
    for (int operand : step.operands)
      any |= isComplex(program.typeOf(operand));
    if (any) {
      ++made[step.op];
      kinds["gradient"] += step.tape.has_value();
      if (step.transform)
        ++kinds[step.isControlFlow() ? "branch or loop" : "transformation"];
    }
    if (step.transform)
      eachBody(*step.transform, [&](const Program &body) { count(body, made, kinds); });
  }
  for (const VariableInput &variable : program.variables)
    kinds["variable"] += isComplex(variable.data.type);
}

Program programOf(std::vector<Input> inputs, std::vector<Step> steps, std::vector<int> results) {
  Program program;
  program.inputs = std::move(inputs);
  program.steps = std::move(steps);
  program.results = std::move(results);
  EXPECT_TRUE(check(program));
  return program;
}

} // namespace

TEST(ComplexFuzz, HaveEveryOperation) {
  Generator generator(0.02, Numbers::Complex);
  std::map<OpId, int> made;
  std::map<std::string, int> kinds;
  for (std::uint64_t i = 0; i < 1600; ++i)
    count(generator.make(mix(11, i), mix(12, i / 16)).program, made, kinds);
  for (const schema::OperationSchema &schema : schema::operations())
    if (schema.takesComplex && Strategies::draws(schema.id, Numbers::Complex)) {
      EXPECT_GE(made[schema.id], 1) << schema.mnemonic << " was never made";
    }
  for (const char *kind : {"branch or loop", "transformation", "gradient", "variable"})
    EXPECT_GE(kinds[kind], 5) << kind;
}

TEST(ComplexFuzz, HaveAMeaning) {
  for (const schema::OperationSchema &schema : schema::operations())
    if (schema.takesComplex && Strategies::draws(schema.id, Numbers::Complex)) {
      EXPECT_TRUE(schema.eachPart || hasComplexReference(schema.id))
          << schema.mnemonic << " needs a function in test/fuzz/ComplexKernels.cpp";
    }
}

// The gradient of Re(z^2 w) is conj(2 z w) with respect to z; the parts alternate.
TEST(ComplexFuzz, HaveGradientsAlongTheConjugate) {
  auto input = [](Real re, Real im) { return Input{Input::Kind::Parameter, Data{{DType::Complex128, {}}, {re, im}}}; };
  Step square{OpId::Mul, {0, 0}, {}, {}, 0, {}}, product{OpId::Mul, {2, 1}, {}, {}, 0, {}};
  Step gradient{OpId::Gradient, {3, 0}, {}, {}, 0, TapeUse{0, 1, false, {}}};
  const Program program = programOf({input(1, 2), input(0.5L, -3)}, {square, product, gradient}, {3, 4});
  Interpreter interpreter(program);
  interpreter.run();
  // z^2 = -3 + 4i, times w; and 2 z w = 13 - 4i.
  const std::vector<Num> &value = interpreter.meaning.values[3]->elements,
                         &slope = interpreter.meaning.values[4]->elements;
  ASSERT_EQ(value.size(), 2);
  EXPECT_EQ(value[0].value, 10.5L);
  EXPECT_EQ(value[1].value, 11);
  EXPECT_NEAR(static_cast<double>(slope[0].value), 13, 1e-9);
  EXPECT_NEAR(static_cast<double>(slope[1].value), 4, 1e-9);
  EXPECT_EQ(compare(program, interpreter.meaning, runAll(program), nullptr), "");
}

} // namespace calque::fuzz
