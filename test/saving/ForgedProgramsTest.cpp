// Programs of files that no saving program has written: each is refused when it is read, with what is wrong.
#include "schema/Admission.h"
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

const TensorType kScalar{DType::Float32, {}};

// The fault of a program as a file has it; empty where it is read.
std::string faultOf(const Recording &program) {
  runtime::ByteWriter bytes;
  writeProgram(program, bytes);
  static std::deque<std::string> texts;
  return readProgram(bytes.bytes, [](const std::string &text) { return texts.emplace_back(text).c_str(); }).fault;
}

// A program of one operation on parameters.
Recording programOf(OpId op, const std::vector<TensorType> &parameters, const std::vector<Attribute> &attributes,
                    const std::vector<TensorType> &results) {
  Recording program;
  for (const TensorType &type : parameters)
    program.addParameter(type);
  program.append(op, program.parameters, attributes, results, {});
  return program;
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

TEST(ForgedPrograms, HaveStridesThatOverflow) {
  const TensorType empty{DType::Float32, {kHalf, kHalf, 0}};
  EXPECT_CONTAINS(faultOf(programOf(OpId::Neg, {empty}, {}, {empty})), "has more bytes than can be addressed");
  EXPECT_CONTAINS(faultOf(programOf(OpId::Iota, {}, {Ints{0, kHalf, kHalf}, DType::Float32, std::int64_t(0)},
                                    {{DType::Float32, {0, kHalf, kHalf}}})),
                  "has more bytes than can be addressed");
}
