// Programs of files that no saving program has written: each is refused when it is read, with what is wrong.
#include "schema/Admission.h"
#include "schema/Moves.h"
#include "schema/ProgramBytes.h"
#include "test/frontend/Testing.h"

#include <deque>
#include <gtest/gtest.h>
#include <limits>

using namespace calque;
using namespace calque::schema;

namespace {

using Ints = std::vector<std::int64_t>;
constexpr std::int64_t kHalf = std::int64_t(1) << 62, kMost = std::numeric_limits<std::int64_t>::max();

const TensorType kScalar{DType::Float32, {}}, kStack{DType::Float64, {}}, kRow{DType::Float32, {4}},
    kOpenRow{DType::Float32, {kOpenSize}};

ReadProgram asRead(const Recording &program) {
  runtime::ByteWriter bytes;
  writeProgram(program, bytes);
  static std::deque<std::string> texts;
  return readProgram(bytes.bytes, [](const std::string &text) { return texts.emplace_back(text).c_str(); });
}
// The fault of a program as a file has it; empty where it is read.
std::string faultOf(const Recording &program) { return asRead(program).fault; }

// A program of one operation on parameters.
Recording programOf(OpId op, const std::vector<TensorType> &parameters, const std::vector<Attribute> &attributes,
                    const std::vector<TensorType> &results) {
  Recording program;
  for (const TensorType &type : parameters)
    program.addParameter(type);
  program.append(op, program.parameters, attributes, results, {});
  return program;
}

// A program of the same as the region of a checkpoint.
Recording within(const Recording &program) {
  std::vector<TensorType> parameters, results;
  for (ValueId parameter : program.parameters)
    parameters.push_back(program.typeOf(parameter));
  for (ValueId result : program.results)
    results.push_back(program.typeOf(result));
  return programOf(OpId::Checkpoint, parameters, {std::make_shared<const Recording>(program)}, results);
}

// An attribute of each kind, for operations that are refused before anything asks what it says.
Attribute anyOf(AttributeKind kind) {
  switch (kind) {
  case AttributeKind::Bool:
    return false;
  case AttributeKind::Int:
    return std::int64_t(0);
  case AttributeKind::Number:
    return Scalar(0.0);
  case AttributeKind::String:
  case AttributeKind::Text:
    return std::string();
  case AttributeKind::Ints:
    return Ints();
  case AttributeKind::Type:
    return DType::Float32;
  case AttributeKind::Constant:
    return std::make_shared<const ConstantData>(ConstantData{kScalar, false, std::vector<std::byte>(4)});
  case AttributeKind::Recording:
    return std::make_shared<const Recording>();
  }
  return false;
}
std::vector<Attribute> anyOf(const OperationSchema &operation) {
  std::vector<Attribute> attributes;
  for (const AttributeSchema &attribute : operation.attributes)
    attributes.push_back(anyOf(attribute.kind));
  return attributes;
}

// What earlier versions wrote of a loop variable whose sizes vary, which begins with x: it was put on a stack, a
// float64, and taken back as a value of `like`.
Recording forgetting(const TensorType &x, const TensorType &like) {
  Recording program;
  const ValueId stack = program.addParameter(kStack), given = program.addParameter(x),
                other = program.addParameter(like);
  const ValueId pushed[] = {stack, given};
  const ValueId popped[] = {program.append(OpId::SizedPush, pushed, {}, {&kStack, 1}, {}), other};
  const TensorType types[] = {kStack, like};
  const Attribute optional = false;
  program.results = {program.append(OpId::SizedPop, popped, {&optional, 1}, types, {}) + 1};
  return program;
}

} // namespace

TEST(ForgedPrograms, HaveCountsThatOverflow) {
  const struct {
    OpId op;
    std::size_t operands;
    Ints counts;
  } cases[] = {
      {OpId::Gradient, 3, {kHalf, kHalf, kHalf + 3}},
      {OpId::Gradient, 2, {kMost, 2, 2}},
      {OpId::Gradient, 4, {1, kHalf, -kHalf}},
      {OpId::Jvp, 3, {5, kMost}},
      {OpId::Jvp, 3, {kMost, kHalf}},
      {OpId::CustomGradient, 2, {kMost, kMost, 4}},
      {OpId::CustomGradient, 3, {1, 1, kMost}},
  };
  for (const auto &[op, operands, counts] : cases) {
    std::vector<Attribute> attributes{counts};
    if (op == OpId::CustomGradient)
      attributes.emplace_back(std::make_shared<const Recording>());
    EXPECT_CONTAINS(faultOf(programOf(op, std::vector<TensorType>(operands, kScalar), attributes, {})),
                    "don't describe " + std::to_string(operands) + " values");
  }
}

TEST(ForgedPrograms, LackOperands) {
  int checked = 0;
  for (const OperationSchema &operation : operations())
    if (maySave(operation.id) && fewestOperands(operation.id) > 0) {
      const std::string fault = faultOf(programOf(operation.id, {}, anyOf(operation), {}));
      EXPECT_CONTAINS(fault, operation.numOperands < 0 ? ": it has 0 operands and takes at least "
                                                       : ": it has 0 operands and takes ")
          << operation.mnemonic;
      ++checked;
    }
  EXPECT_GT(checked, 100);
  EXPECT_CONTAINS(faultOf(programOf(OpId::Add, {kScalar, kScalar, kScalar}, {}, {kScalar})),
                  "add: it has 3 operands and takes 2");
}

TEST(ForgedPrograms, HaveOperationsOfDerivatives) {
  int refused = 0;
  for (const OperationSchema &operation : operations()) {
    if (maySave(operation.id) || operation.id == OpId::SizedPush || operation.id == OpId::SizedPop)
      continue; // the last two were saved once
    ++refused;
    const Recording program = programOf(operation.id, {kStack, kRow}, anyOf(operation), {kStack});
    const std::string message =
        "operation 0 (" + std::string(operation.mnemonic) + ") is one that derivatives alone make";
    EXPECT_CONTAINS(faultOf(program), message);
    EXPECT_CONTAINS(faultOf(within(program)), message);
    EXPECT_CONTAINS(faultOf(within(within(program))), message);
  }
  EXPECT_GE(refused, 4);
  for (OpId op : {OpId::StackEmpty, OpId::StackAdd, OpId::SizedPush, OpId::SizedPop, OpId::StackPush, OpId::StackPop,
                  OpId::StackBelow, OpId::OnEntries})
    EXPECT_FALSE(maySave(op));
}

TEST(ForgedPrograms, OpenSizesAsEarlierVersionsDid) {
  const ReadProgram read = asRead(forgetting(kRow, kOpenRow));
  ASSERT_EQ(read.fault, "");
  ASSERT_EQ(read.program->ops().size(), 1u);
  const RecordedOp &op = read.program->ops()[0];
  EXPECT_EQ(op.op, OpId::OpenSizes);
  EXPECT_EQ(read.program->operandsOf(op)[0], read.program->parameters[1]);
  EXPECT_EQ(read.program->operandsOf(op)[1], read.program->parameters[2]);
  EXPECT_EQ(read.program->results, std::vector<ValueId>{op.firstResult});
  EXPECT_EQ(read.program->typeOf(op.firstResult), kOpenRow);
  // What is saved again is said by this version's operation.
  EXPECT_EQ(faultOf(*read.program), "");
  EXPECT_EQ(faultOf(within(forgetting(kRow, kOpenRow))), "");
  EXPECT_EQ(faultOf(forgetting(kOpenRow, kOpenRow)), "");
}

TEST(ForgedPrograms, TakeFromStacksWhatWasNotPut) {
  // Of another size, rank or element type, as which the bytes behind an entry would be read.
  EXPECT_CONTAINS(faultOf(forgetting(kRow, {DType::Float32, {512}})), "float32[4] is none of float32[512]");
  EXPECT_CONTAINS(faultOf(forgetting(kOpenRow, kRow)), "float32[?] is none of float32[4]");
  EXPECT_CONTAINS(faultOf(forgetting(kRow, {DType::Float64, {kOpenSize}})), "is none of float64[?]");
  EXPECT_CONTAINS(faultOf(forgetting(kRow, {DType::Float32, {kOpenSize, kOpenSize}})), "is none of float32[?,?]");
  EXPECT_CONTAINS(faultOf(within(forgetting(kOpenRow, kRow))), "is none of float32[4]");
  // A number that is no stack.
  const std::string noStack = "(sized_pop) takes from no stack of a loop variable whose sizes vary";
  EXPECT_CONTAINS(faultOf(programOf(OpId::SizedPop, {kStack, kOpenRow}, {false}, {kStack, kOpenRow})), noStack);
  // The empty stack, which is there only in derivatives.
  Recording optional = forgetting(kRow, kOpenRow);
  Recording changed;
  for (ValueId parameter : optional.parameters)
    changed.addParameter(optional.typeOf(parameter));
  const ValueId pushed[] = {0, 1};
  const ValueId popped[] = {changed.append(OpId::SizedPush, pushed, {}, {&kStack, 1}, {}), 2};
  const TensorType types[] = {kStack, kOpenRow};
  const Attribute yes = true;
  const ValueId below = changed.append(OpId::SizedPop, popped, {&yes, 1}, types, {});
  EXPECT_CONTAINS(faultOf(changed), noStack);
  // What is below, of which a program would pop again.
  Recording again = forgetting(kRow, kOpenRow);
  const ValueId twice[] = {below, 2};
  const Attribute no = false;
  again.append(OpId::SizedPop, twice, {&no, 1}, types, {});
  EXPECT_CONTAINS(faultOf(again), noStack);
  // Operands and results that the pair does not have.
  EXPECT_CONTAINS(faultOf(programOf(OpId::SizedPush, {kStack}, {}, {kStack})), "(sized_push): it has 1 operand");
  EXPECT_CONTAINS(faultOf(programOf(OpId::SizedPush, {kRow, kRow}, {}, {kStack})), "(sized_push) has results of other");
  EXPECT_CONTAINS(faultOf(programOf(OpId::SizedPush, {kStack, kRow}, {}, {kRow})), "(sized_push) has results of other");
}

TEST(ForgedPrograms, MakeNumbersOfStacks) {
  Recording given = forgetting(kRow, kOpenRow);
  const ValueId stack = given.operandsOf(given.ops()[1])[0], below = given.ops()[1].firstResult;
  for (ValueId value : {stack, below}) {
    Recording sum = given, result = given, pushed = given;
    const ValueId both[] = {value, 0};
    const std::string isStack = ": value " + std::to_string(value) + " is a stack";
    sum.append(OpId::Add, both, {}, {&kStack, 1}, {});
    EXPECT_CONTAINS(faultOf(sum), "(add)" + isStack);
    EXPECT_CONTAINS(faultOf(within(sum)), "(add)" + isStack);
    result.results.push_back(value);
    EXPECT_CONTAINS(faultOf(result), "the results of the program" + isStack);
    const ValueId onto[] = {value, 1};
    pushed.append(OpId::SizedPush, onto, {}, {&kStack, 1}, {});
    EXPECT_CONTAINS(faultOf(pushed), "(sized_push)" + isStack);
  }
}

TEST(ForgedPrograms, ReadVariablesWithinOperations) {
  Recording inner = programOf(OpId::VariableRead, {}, {std::int64_t(0), Ints{4}, DType::Float32}, {kRow});
  Recording outer = within(inner);
  outer.variables.push_back({kRow, "w"});
  EXPECT_CONTAINS(faultOf(outer), "operation 0 (variable_read) stands in a program inside of an operation");
}

// Their strides wrap, and nothing is moved.
TEST(ForgedPrograms, HaveNoElementsAndLargeSizes) {
  const TensorType empty{DType::Float32, {kHalf, kHalf, 0}}, part{DType::Float32, {1, 1, 0}};
  const Recording program =
      programOf(OpId::Slice, {empty}, {Ints{kHalf - 1, 5, 0}, Ints{kHalf, 6, 0}, Ints{kMost, 1, 1}}, {part});
  EXPECT_EQ(faultOf(program), "");
  const RecordedOp &op = program.ops()[0];
  EXPECT_EQ(moveRuleOf(OpId::Slice)({OpId::Slice, {&empty, 1}, program.attributesOf(op)}, {&part, 1}).moves.size(), 1U);
  EXPECT_CONTAINS(
      faultOf(programOf(OpId::Neg, {{DType::Float32, {kHalf, kHalf}}}, {}, {{DType::Float32, {kHalf, kHalf}}})),
      "has more bytes than can be addressed");
}
