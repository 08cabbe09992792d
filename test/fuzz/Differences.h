// What a program computes while its sources move, in long double and unrounded: the derivatives of a tape or a
// transformation by differences, which share neither rules nor direction with the compiler's.
//
// A tape's view is kept by what is computed anew when a source moves: the steps that it saw, but not what hides where a
// value came from. Second order is differences of differences. A transformation's body is a program of its own, whose
// values move with its arguments.
#ifndef CALQUE_TEST_FUZZ_DIFFERENCES_H
#define CALQUE_TEST_FUZZ_DIFFERENCES_H

#include "test/fuzz/Quotients.h"

namespace calque::fuzz {

// What values are while others move; of a transformation's step also its body's, one for each example, branch or
// iteration.
struct Environment {
  const Program *program;
  std::vector<ArrayRef> values;
  std::vector<std::shared_ptr<const std::vector<Environment>>> bodies; // by step
};

// `run`: the first, 0, computes exactly; others add a multiple of every step's rounding, fixed for the run.
class Differences {
public:
  Differences(const Program &program, unsigned run, std::uint64_t salt = 0) : program(program), run(run), salt(salt) {}

  // The environment with the steps [begin, end) computed without rounding.
  Environment smooth(std::vector<ArrayRef> values, int begin, int end) const;
  // The derivatives of a gradient step in an environment.
  Elements gradient(const Environment &base, int index, bool withDoubt) const;
  // The derivatives of a jvp or vjp, around its body's environment.
  Elements derivatives(const Step &step, const Environment &environment, const Environment &body, bool withDoubt) const;
  // In [-1, 1], the same for the same element of a run.
  Real noise(int value, std::size_t element) const;
  // The most that derivatives which others were taken of may be off by, beside their size; unknown at a kink.
  Real doubt() const { return mostDoubt; }

private:
  // Where a value goes: by these multiples of how far the sources move.
  struct Move {
    int value;
    std::vector<std::pair<std::size_t, Real>> by; // of elements
  };
  // The steps that a tape, or a transformation, sees.
  struct Seen {
    int begin, end;
    const TapeUse *tape;
    bool operator()(int step) const { return !tape || !tape->isPaused(step); }
  };

  static Numbers numbersOf(const std::vector<ArrayRef> &arrays);
  std::vector<Element> cotangents(const Environment &base, const Seen &seen, const std::vector<int> &moved,
                                  const std::vector<int> &targets, const std::vector<int> &seeds,
                                  const TensorType &type, bool withDoubt) const;
  std::vector<Element> cotangents(const Environment &base, const Seen &seen, const std::vector<int> &moved,
                                  const std::vector<int> &targets, const Numbers &weights, const TensorType &type,
                                  bool withDoubt) const;
  std::vector<int> readsIn(const TapeUse &tape, int end, int variable) const;

  // Whether a step passes a derivative on: what is hidden keeps its value while sources move.
  static bool passes(const Step &step, int result);
  // Whether a value is a result of a nested function that runs the step, too, and ends before `end`: to who calls it no
  // result depends on another.
  bool isResultBeside(int value, int step, int end) const;
  // The values that move with some others, as far as is seen.
  std::vector<bool> affectedBy(const std::vector<int> &moved, const Seen &seen) const;
  // The environment, and the targets' elements, where the sources are moved.
  Environment environmentAt(const Environment &base, const Seen &seen, const std::vector<bool> &affected,
                            const std::vector<Move> &moves, Real by) const;
  Numbers targetsAt(const Environment &base, const Seen &seen, const std::vector<bool> &affected,
                    const std::vector<Move> &moves, const std::vector<int> &targets, Real by) const;
  void advanceAffected(Environment &environment, const Environment &hidden, const std::vector<bool> &affected,
                       int index) const;
  // The environment of a body some of whose arguments have moved.
  Environment moved(const Environment &base, const std::vector<ArrayRef> &arguments,
                    const std::vector<bool> &isMoved) const;

  // Whether a step has an infinite derivative, or none to one side, with respect to what is computed from elements that
  // move and stays all the same, as x - x does: no difference shows it, and a rule that multiplies it with no change
  // gives NaN.
  bool hidesSingularity(const Environment &base, const Seen &seen, const std::vector<bool> &affected,
                        const std::vector<Move> &moves, Real by, const std::vector<Move> &all) const;
  // The same where `moved` and `spoilt` are the environment with what moves elsewhere and NaN; without them, of
  // whatever may move.
  bool isSingular(const Environment &base, const Environment *moved, const Environment *spoilt, const Seen &seen,
                  const std::vector<bool> &affected) const;
  bool isSingularAt(const Environment &base, const Environment *moved, const Environment *spoilt,
                    const std::vector<bool> &affected, int index) const;

  // What a step that is an operation gives, unrounded.
  static std::vector<std::shared_ptr<Array>> computed(const Step &step, const std::vector<const Array *> &operands);
  // Computes a step of an environment; what is hidden comes from another. Where both are the same one, nothing is
  // hidden.
  void advance(Environment &environment, const Environment &hidden, int index) const;
  void transform(Environment &environment, const Environment &hidden, int index) const;
  void controlFlow(Environment &environment, const Environment &hidden, int index) const;
  // What moves as a pullback says that it does: along the arguments, with the weights that it has where they have not
  // moved.
  ArrayRef byPullback(const Environment &environment, const Environment &hidden, int index) const;

  // Derivatives of another order are taken of these. They stand at a kink where they are in doubt: differences halve
  // there what a rule gives to one side, and where operands of maximum move together the kink is not seen again.
  // Elsewhere what they are off by is smooth and so in the derivatives of them, too.
  void noteDoubt(const Elements &found) const;
  std::uint64_t saltOf(const Step &step) const {
    return salt * 1000003 + static_cast<std::uint64_t>(step.firstResult) + 1;
  }

  const Program &program;
  unsigned run;
  std::uint64_t salt;
  mutable Real mostDoubt = 0; // found on the way
};

} // namespace calque::fuzz
#endif
