// Runs a program in every way and compares.
#ifndef CALQUE_TEST_FUZZ_RUNNER_H
#define CALQUE_TEST_FUZZ_RUNNER_H

#include "test/fuzz/Interpreter.h"

namespace calque::fuzz {

// Target: compiled for another CPU, whose code this one runs. Open: compiled with sizes left open, for programs that
// leave some. Saved: saved and loaded, for programs that call no host.
enum class Way { Eager, Compiled, Again, Plain, Target, Open, Saved };
const char *nameOf(Way way);

// What one way of running a program gives.
struct Outcome {
  Way way = Way::Eager;
  std::string error; // class, message and line; empty: none
  std::vector<Data> results, variables;
  std::vector<bool> connected; // of the sources of gradients, in the order in which they are asked
  std::string printed;
};
std::vector<Outcome> runAll(const Program &program);

// The first difference between two ways, or between one and the interpreter; empty: none. How much was compared is
// added to `figures`.
struct Figures {
  std::int64_t elements = 0, exact = 0, unknown = 0; // compared with the interpreter
  std::int64_t open = 0, refused = 0;      // runs with unknown sizes, and those that Calque does not do with sizes open
  std::int64_t native = 0, uncaptured = 0; // programs with native branches and loops, and those that are refused
  std::int64_t saved = 0;                  // programs that were saved and loaded
};
std::string compare(const Program &program, const Meaning &meaning, const std::vector<Outcome> &outcomes,
                    Figures *figures = nullptr);

// The calque dialect's text, or why there is none.
std::string irOf(const Program &program);

} // namespace calque::fuzz
#endif
