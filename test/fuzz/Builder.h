// Builds one program at random, interpreting it as it grows.
#ifndef CALQUE_TEST_FUZZ_BUILDER_H
#define CALQUE_TEST_FUZZ_BUILDER_H

#include "test/fuzz/Generator.h"
#include "test/fuzz/Strategies.h"

namespace calque::fuzz {

class Builder {
public:
  Builder(Strategies &strategies, Pool &pool, std::uint64_t seed);
  // Throws Undecided where nothing comes of the seed.
  Made build();

private:
  static constexpr int kMostInputs = 24;
  static constexpr std::size_t kMostOrders =
      2; // derivatives of derivatives; differences of more lose what rounding leaves of them
  static constexpr int kMostDepth = 2; // transformations of transformations
  struct Tape {
    int begin;
    std::vector<int> sources, variables;
    int asked = -1; // the gradient that asked it first, if it is persistent
    int pauseBegin = 0, pauseEnd = 0;
    bool isPaused(int step) const { return pauseBegin <= step && step < pauseEnd; }
  };

  bool failed() const { return interpreter.meaning.failure.has_value(); }
  int numSteps() const { return static_cast<int>(program.steps.size()); }
  std::vector<int> valuesOfSteps() const;

  // A value read from a variable before a tape began is not used while it records: that it is watched from the tape's
  // own read on is more than the interpreter follows.
  bool usable(int value) const;
  // A value of such a type, the latest ones first, or -1.
  int existing(const std::function<bool(const TensorType &)> &fits);
  // Whether a source of the innermost tape acts on a value.
  bool depends(int value) const { return !tapes.empty() && value < static_cast<int>(active.size()) && active[value]; }

  Data data(const TensorType &type, OpId op = OpId::Constant);
  // A fresh input, or -1 when there are too many.
  int input(Data data);
  // One of a type, existing or fresh, or -1.
  int anyOf(const TensorType &type);

  // Appends a step and interprets it. False, and nothing has changed, where its meaning is not wanted.
  bool append(Step step, double wanted = 1);
  // Whether results are numbers that are known well.
  bool isGood(std::size_t firstValue) const;

  void operation();
  bool tryOperation(const schema::OperationSchema &schema);
  void userOperation();

  // Effects.
  void effect();
  int variable(const TensorType &type);
  void assign();
  void read();

  // Tapes.
  void openTape();
  // `mayAskAgain`: the tape may stay open, to be asked once more.
  void closeTape(bool mayAskAgain);
  // Chooses steps that the tape does not see.
  void pause(Tape &tape);
  // The values on which a source of the innermost tape acts, as far as the tape sees.
  void followActive();

  // Transformations of programs. A body's builder has the arguments' values; tapes and transformations around it count
  // as open.
  Builder(Strategies &strategies, Pool &pool, std::uint64_t seed, const std::vector<ArrayRef> &arguments,
          std::size_t orders, int depth);
  bool isBody() const { return depth > 0; }
  void transformation();
  bool tryTransformation(Transform::Kind kind);
  void growBody();
  std::optional<Program> body(const Transform &transform);
  std::vector<int> bodyResults(const Transform &transform);
  // Appends a step of a transformation, if that does not cost too much.
  bool appendTransform(Step step, Transform transform, double mostCost);

  // Branches and loops.
  void controlFlow();
  bool tryControlFlow(Transform::Kind kind);
  // Operands of a loop or branch. False where there is no value for one.
  bool drawCarried(Step &step, Transform &transform, int count);
  bool drawCaptured(Step &step, Transform &transform, int count);
  bool drawSlices(Step &step, Transform &transform, int count);
  // A bool scalar that is computed of an argument or another value, or -1.
  int decision();
  // The builder of one of its programs, for what these are in its first iteration.
  std::unique_ptr<Builder> builderOf(const Step &step, const Transform &transform);
  // A program whose first results have these types; none, any types.
  std::shared_ptr<const Program> bodyOf(const Step &step, const Transform &transform,
                                        const std::vector<TensorType> &types, bool isWhole);
  std::shared_ptr<const Program> conditionOf(const Step &step, const Transform &transform);
  // A value of a type that the steps have computed, or one more step of another value, or -1.
  int resultLike(const TensorType &type, int argument);
  bool mayAct() const { return acts && tapes.empty(); }

  Made finish();

  Strategies &strategies;
  Pool &pool;
  const Palette &palette;
  Random random;
  Program program;
  Interpreter interpreter;
  int numInputs = 0;
  std::vector<Tape> tapes; // of a body the first `openTapes` are around it, with all its arguments as sources
  std::size_t openTapes = 0;
  int depth = 0;
  bool acts = true; // whether there may be effects, as in a program and its branches and loops
  std::vector<bool> active;
};

} // namespace calque::fuzz
#endif
