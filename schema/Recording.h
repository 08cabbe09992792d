// A Recording is a list of operations in program order. Traces, tapes and compiled functions are Recordings. It knows
// no MLIR; `ir/Import` builds the dialect's IR from one.
//
//   Recording recording;
//   ValueId x = recording.addParameter({DType::Float32, {2}});
//   ValueId y = recording.append(OpId::Exp, {&x, 1}, {}, types, line);
//   recording.results = {y};
#ifndef CALQUE_SCHEMA_RECORDING_H
#define CALQUE_SCHEMA_RECORDING_H

#include "schema/Schema.h"

namespace calque::schema {

using ValueId = std::int32_t;
// The index of a value in a list that has an entry for each value.
inline std::size_t index(ValueId value) { return static_cast<std::size_t>(value); }

// A line of the user's program, and what the user wrote there. The texts are literals, or live as long as the process.
struct SourceLine {
  const char *file = "";
  std::uint32_t line = 0;
  std::uint32_t column = 0;
  const char *function = nullptr; // the library function of which the operation is a part: "matmul"
  const char *index = nullptr;    // what that function calls an index: "label"
  std::string str() const;
};

struct RecordedOp {
  OpId op;
  std::uint32_t firstOperand, numOperands;
  std::uint32_t firstAttribute, numAttributes;
  ValueId firstResult;
  std::uint32_t numResults;
  SourceLine line;
};

// A variable that the recording reads or assigns. The operations name it by its index.
struct RecordedVariable {
  TensorType type;
  std::string name;
};

class Recording {
public:
  ValueId addParameter(const TensorType &type);
  // Appends an operation whose result types are known; returns its first result.
  ValueId append(OpId op, std::span<const ValueId> operands, std::span<const Attribute> attributes,
                 std::span<const TensorType> results, SourceLine line);

  // Appends an operation of another recording. `renamed` maps the other recording's values to values of this one, and
  // receives the results.
  void appendCopy(const Recording &from, const RecordedOp &op, std::span<ValueId> renamed);
  // Does the same with other attributes.
  void appendCopy(const Recording &from, const RecordedOp &op, std::span<ValueId> renamed,
                  std::span<const Attribute> attributes);

  std::span<const RecordedOp> ops() const { return ops_; }
  std::span<const ValueId> operandsOf(const RecordedOp &op) const {
    return std::span(operands_).subspan(op.firstOperand, op.numOperands);
  }
  std::span<const Attribute> attributesOf(const RecordedOp &op) const {
    return std::span(attributes_).subspan(op.firstAttribute, op.numAttributes);
  }
  // The operands that receive cotangents.
  std::span<const ValueId> gradientOperandsOf(const RecordedOp &op) const;
  // The captures of a custom gradient's pullback. The results do not depend on these operands, but their derivatives
  // do.
  std::span<const ValueId> capturesOf(const RecordedOp &op) const;
  const TensorType &typeOf(ValueId value) const { return types_[index(value)]; }
  std::size_t numValues() const { return types_.size(); }
  // The operation with this number in program order; null if there are fewer operations. The operations of a program
  // inside of an operation follow that operation.
  const RecordedOp *operationAt(std::int64_t number) const;

  std::string name = "main";
  SourceLine line; // where the function is made; its parameters and results have no line of their own
  std::vector<ValueId> parameters;
  std::vector<ValueId> results;
  std::vector<RecordedVariable> variables;

private:
  std::vector<RecordedOp> ops_;
  std::vector<ValueId> operands_;
  std::vector<Attribute> attributes_;
  std::vector<TensorType> types_;
};

// Whether two programs have the same operations; names and lines are not compared.
bool equal(const Recording &a, const Recording &b);
// Whether an operation of the recording, or an operation in a program inside of it, has an effect.
bool hasEffect(const Recording &recording, const RecordedOp &op);
// The program without the operations that have an effect and no results. Host calls with results stay, for example.
RecordingRef withoutEffects(const RecordingRef &program);

// Whether an operation's effect must not be repeated for a derivative: it calls the host, or it is an ordered operation
// of the user's that does not allow it.
bool runsOnce(const Recording &recording, const RecordedOp &op);
// The attributes of an ordered operation that a derivative repeats, which is removed if nothing needs its results.
std::vector<Attribute> emittedAttributes(const Recording &recording, const RecordedOp &op);

} // namespace calque::schema
#endif
