// The numbers of the paths of one capture, and what they stand for. It gives numbers to what the recordings of runs
// have (Capture.cpp), and makes operations and tensors of them again where the graph is emitted.
#ifndef CALQUE_FRONTEND_NATIVE_WORDS_H
#define CALQUE_FRONTEND_NATIVE_WORDS_H

#include "frontend/core/Trace.h"
#include "frontend/native/Rewrites.h"
#include "frontend/native/Vocabulary.h"
#include "schema/HashTables.h"

#include <unordered_map>

namespace calque::detail::native {

// What paths consist of.
class Words final : public Vocabulary {
public:
  // A path's operations and values, by the numbers of the vocabulary. What no two paths share is known by the decisions
  // before it and by its place in the run.
  Kind kindOf(const Trace &root, const schema::Recording &recording, const schema::RecordedOp &op,
              const Decisions &decided, std::size_t place);
  // The operation that makes a tensor that a run has made.
  Kind constant(const Tensor &x);
  Kind endOf(const std::string &text);
  // `isFresh`: the run has made the tensor, so that the next run will make another of the same elements at the same
  // line. Two lines may mean two variables by one constant.
  Value outsideOf(const Tensor &x, bool isFresh);

  // Operations on counters, which no path has.
  CounterWords counters(SourceLocation where);

  std::vector<Tensor> apply(Kind step, const std::vector<Tensor> &operands) const override;
  bool hasEffect(Kind step) const override { return kinds[step].hasEffect; }
  const schema::TensorType *typeOf(Kind step, std::size_t result) const override;
  std::vector<schema::TensorType> resultsFor(Kind step, std::span<const schema::TensorType> operands) const override;
  Tensor outside(Value value) const override;
  const schema::TensorType &typeOfOutside(Value value) const override;
  const std::string &messageOf(Kind end) const override { return endTexts[end]; }
  std::string nameOf(Kind step) const override;
  schema::SourceLine whereOf(Kind step) const override { return kinds[step].line; }
  std::string differenceOf(Kind one, Kind other) const override;
  std::string numberOf(Value value) const override;

private:
  struct Operation {
    schema::OpId op;
    std::vector<schema::Attribute> attributes;
    std::vector<schema::TensorType> operands, results;
    schema::SourceLine line;
    Decisions prefix;
    bool hasEffect;
  };
  struct Outside {
    Tensor tensor;
    bool isConstant;
  };

  // NotCaptured where a vmap ends in another branch or iteration than it has begun in.
  static void requireBegun(const Operation &operation, const Trace &trace, std::span<const schema::ValueId> operands);
  // In a branch or in an iteration, derivatives end at what comes from outside of it. NotCaptured where they would have
  // to go on there: to a source that comes from outside, by a value that depends on it and is no end of the tape.
  void requireWhole(const Operation &operation, const Trace &trace, std::span<const schema::ValueId> operands) const;
  // Whether a parameter of a region may depend on another one.
  bool mayDepend(const Trace &trace, std::size_t parameter, std::size_t source) const;
  // Whether an operation of a recording is a known one. `prefix`: it is shared by no two paths.
  static bool isOf(const Operation &known, const schema::Recording &recording, const schema::RecordedOp &op,
                   const Decisions *prefix);

  std::vector<Operation> kinds;
  HashMap<std::size_t, std::vector<Kind>> byHash;
  HashMap<std::string, Kind> ends;
  std::vector<std::string> endTexts;
  std::vector<Outside> tensors;
  HashMap<std::pair<std::uint64_t, schema::ValueId>, Value> byValue; // of the traces around
  HashMap<std::uint64_t, Value> byId;
  std::unordered_multimap<std::size_t, Value> byContent;
  HashMap<const void *, std::vector<std::pair<Tensor, Kind>>> constants; // by buffer
  HashMap<const void *, absl::InlinedVector<Value, 1>> byBuffer;         // what is in byContent, too
};

} // namespace calque::detail::native
#endif
