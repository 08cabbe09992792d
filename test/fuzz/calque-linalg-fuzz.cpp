// Random programs of linear algebra and Fourier transforms: calque-linalg-fuzz --help.
//
// Each composes 3 to 12 operations of matrices with elementwise and structural ones, on matrices that are regular, and
// whose eigenvalues and singular values are apart, by construction. Some operations are in branches and loops, whose
// paths differ from example to example. A program is compared with itself: eagerly, compiled, with unknown sizes, for
// many examples, forward mode with reverse mode, and both with differences.
#include "test/fuzz/LinalgOperations.h"
#include "test/fuzz/Random.h"

#include "calque/calque.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <map>
#include <sstream>
#include <sys/wait.h>
#include <unistd.h>

using namespace calque;
using fuzz::LinalgOperation;
using fuzz::linalgOperations;
using fuzz::mix;
using fuzz::Random;
using fuzz::tame;

namespace {

constexpr std::int64_t kBlock = 50; // programs of a process

// Where an operation is. What of it runs depends on a number that an example has, its `path`.
enum class Form { Plain, Branch, Loop, BranchInLoop, NativeBranch, NativeLoop };
constexpr const char *kForms[] = {"", " in a branch", " in a loop", " in a branch of a loop", " in an if", " in a for"};

struct Step {
  int op;
  std::size_t a, b;
  std::uint64_t choice;
  Form form;
};
struct Program {
  std::int64_t n = 1, batch = 0; // 0: none
  DType dtype = DType::Float64;
  std::vector<Step> steps;
};

Program programOf(std::uint64_t seed) {
  Random random(seed);
  Program made;
  made.n = random.of(std::vector<std::int64_t>{1, 2, 2, 3, 3, 3, 4, 5, 7, 8, 12, 16, 17, 20, 33});
  made.batch = random.chance(0.25) ? 2 + random.below(4) : 0;
  made.dtype = random.chance(0.2) ? DType::Float32 : DType::Float64;
  const int count = 3 + random.below(10);
  for (int i = 0; i < count; ++i) {
    const auto known = static_cast<int>(made.steps.size()) + 2;
    // Mostly of what was made last.
    auto any = [&] { return static_cast<std::size_t>(random.chance(0.5) ? known - 1 : random.below(known)); };
    made.steps.push_back({random.below(static_cast<int>(linalgOperations().size())), any(), any(), random.next() >> 8,
                          random.chance(0.85) ? Form::Plain : static_cast<Form>(1 + random.below(5))});
  }
  return made;
}

// Two values of one element type, of which the operation is: complex if one is, and real if it must be.
std::pair<Tensor, Tensor> operandsOf(const LinalgOperation &op, Tensor x, Tensor y) {
  if (op.isReal())
    return {is_complex(x.dtype()) ? real(x) : x, is_complex(y.dtype()) ? imag(y) : y};
  if (is_complex(x.dtype()) && !is_complex(y.dtype()))
    y = cast(y, x.dtype());
  else if (is_complex(y.dtype()) && !is_complex(x.dtype()))
    x = cast(x, y.dtype());
  return {x, y};
}

Tensor stepped(const Step &step, const Tensor &x, const Tensor &y, const Tensor &path) {
  const LinalgOperation &op = linalgOperations()[static_cast<std::size_t>(step.op)];
  auto applied = [&](const Tensor &to) { return tame(op.apply(to, y, step.choice)); };
  const Tensor plain = applied(x);
  // Both ways of a branch, and the state of a loop, have one type.
  if (step.form == Form::Plain || plain.dtype() != x.dtype())
    return plain;
  const Tensor number = (path + static_cast<std::int64_t>(step.choice % 5)) % std::int64_t{4},
               isOdd = number % std::int64_t{2} == 1;
  auto goesOn = [&](const Tensor &i, const Tensor &) { return i < number; };
  const auto begin = std::tuple(zeros({}, DType::Int64), x);
  switch (step.form) {
  case Form::Plain:
    break;
  case Form::Branch:
    return cond(isOdd, [&] { return applied(x); }, [&] { return 0.5 * x; });
  case Form::Loop:
    return std::get<1>(while_loop(
        goesOn, [&](const Tensor &i, const Tensor &state) { return std::tuple(i + 1, applied(state)); }, begin));
  case Form::BranchInLoop:
    return std::get<1>(while_loop(
        goesOn,
        [&](const Tensor &i, const Tensor &state) {
          return std::tuple(i + 1, cond(i > 0, [&] { return applied(state); }, [&] { return 0.5 * state + 0.1 * y; }));
        },
        begin));
  case Form::NativeBranch: {
    Tensor result = 0.5 * x;
    if (isOdd)
      result = applied(x);
    return result;
  }
  case Form::NativeLoop: {
    Tensor state = x;
    for (Tensor i : range(number)) {
      state = 0.5 * state + 0.1 * y;
      if (i > 0)
        state = applied(state);
    }
    return state;
  }
  }
  return plain;
}

// The last value, as its parts side by side.
Tensor run(const Program &program, const std::vector<Tensor> &inputs, const Tensor &path) {
  std::vector<Tensor> values = inputs;
  for (const Step &step : program.steps) {
    const LinalgOperation &op = linalgOperations()[static_cast<std::size_t>(step.op)];
    const auto [x, y] = operandsOf(op, values[step.a], values[step.b]);
    values.push_back(stepped(step, x, y, path));
  }
  const Tensor last = values.back();
  return is_complex(last.dtype()) ? concat({real(last), imag(last)}, last.rank() - 1) : last;
}

// Whether there is such an operation.
bool anyIs(const Program &program, bool (LinalgOperation::*what)() const) {
  return std::any_of(program.steps.begin(), program.steps.end(), [what](const Step &step) {
    return (linalgOperations()[static_cast<std::size_t>(step.op)].*what)();
  });
}

std::string describe(const Program &program) {
  std::ostringstream text;
  text << name_of(program.dtype) << " matrices of size " << program.n << ", batch " << program.batch << '\n';
  for (std::size_t i = 0; i < program.steps.size(); ++i) {
    const Step &step = program.steps[i];
    text << "  " << i + 2 << " = " << linalgOperations()[static_cast<std::size_t>(step.op)].name << '(' << step.a
         << ", " << step.b << ")" << kForms[static_cast<std::size_t>(step.form)] << ", choice " << step.choice % 120
         << '\n';
  }
  return text.str();
}

//===-- Comparisons -----------------------------------------------------------------------------===//
std::vector<double> numbersOf(const Tensor &x) { return cast(x, DType::Float64).to_vector<double>(); }

// The largest difference over 1 and the largest magnitude; infinite for other shapes and for what is not finite.
double differenceOf(const Tensor &a, const Tensor &b) {
  const std::vector<double> x = numbersOf(a), y = numbersOf(b);
  if (x.size() != y.size())
    return INFINITY;
  double difference = 0, largest = 1;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (!std::isfinite(x[i]) || !std::isfinite(y[i]))
      return INFINITY;
    difference = std::max(difference, std::fabs(x[i] - y[i]));
    largest = std::max(largest, std::fabs(x[i]));
  }
  return difference / largest;
}

Tensor drawn(Random &random, DType dtype, const Shape &shape) {
  std::int64_t size = 1;
  for (std::int64_t each : shape)
    size *= each;
  std::vector<double> values;
  for (std::int64_t i = 0; i < size; ++i)
    values.push_back(random.uniform(-1, 1));
  return cast(tensor(values, shape), dtype);
}

// What is wrong with a program; empty: nothing.
std::string verdict(const Program &program, std::uint64_t seed) {
  Random random(mix(seed, 1));
  Shape shape{program.n, program.n};
  if (program.batch)
    shape = {program.batch, program.n, program.n};
  const std::vector<Tensor> inputs{drawn(random, program.dtype, shape), drawn(random, program.dtype, shape)},
      directions{drawn(random, program.dtype, shape), drawn(random, program.dtype, shape)};
  const bool isDouble = program.dtype == DType::Float64;
  const double tolerance = isDouble ? 1e-9 : 3e-3, slopeTolerance = isDouble ? 1e-7 : 2e-2;
  std::ostringstream wrong;
  auto expect = [&](const char *what, double difference, double most) {
    if (!(difference <= most))
      wrong << what << ": " << difference << " > " << most << '\n';
  };
  using Tensors = std::vector<Tensor>;
  const Tensor path = scalar(static_cast<std::int64_t>(seed >> 8) & 3), otherPath = path + 1;
  auto lossOf = [&](const Tensors &x, const Tensor &path) {
    const Tensor y = run(program, x, path);
    const Tensor weights = sin(cast(iota(y.shape(), DType::Int64, y.rank() - 1) + 1, y.dtype()));
    return sum(y * weights + square(y));
  };
  auto lossAt = [&](const Tensor &path) { return [&lossOf, path](const Tensors &x) { return lossOf(x, path); }; };
  try {
    // The value, the loss, its gradients and its derivative along the directions, in one program.
    auto all = function<Tensors(const Tensors &, const Tensors &, const Tensor &)>(
        [&](const Tensors &x, const Tensors &v, const Tensor &path) {
          auto [y, slope] = jvp(lossAt(path), x, v);
          Tensors gradients = grad(lossAt(path))(x);
          return Tensors{run(program, x, path), y, slope, gradients[0], gradients[1]};
        });
    const Tensors compiled = all(inputs, directions, path);
    expect("eager and compiled", differenceOf(run(program, inputs, path), compiled[0]), tolerance);
    double product = 0, size = 1;
    for (std::size_t i = 0; i < 2; ++i) {
      const std::vector<double> g = numbersOf(compiled[3 + i]), v = numbersOf(directions[i]);
      for (std::size_t e = 0; e < g.size(); ++e) {
        product += g[e] * v[e];
        size += std::fabs(g[e] * v[e]);
      }
    }
    expect("forward and reverse mode", std::fabs(product - numbersOf(compiled[2])[0]) / size, slopeTolerance);
    if (isDouble) { // a difference of fourth order
      auto at = [&](double step) {
        Tensors moved;
        for (std::size_t i = 0; i < 2; ++i)
          moved.push_back(inputs[i] + step * directions[i]);
        return numbersOf(all(moved, directions, path)[1])[0];
      };
      const double h = 1e-3;
      const double slope = (8 * (at(h) - at(-h)) - (at(2 * h) - at(-2 * h))) / (12 * h);
      expect("derivative and difference", std::fabs(slope - numbersOf(compiled[2])[0]) / size, 1e-5);
    }
    if (seed % 4 == 0) {
      GradientTape tape;
      for (const Tensor &x : inputs)
        tape.watch(x);
      const Tensor y = lossOf(inputs, path);
      const auto gradients = tape.gradient(y, inputs);
      for (std::size_t i = 0; i < 2; ++i)
        if (gradients[i])
          expect("eager gradient", differenceOf(compiled[3 + i], *gradients[i]), slopeTolerance);
    }
    // A program of transforms has an unknown batch alone.
    Shape unknown(shape.size(), kDynamic);
    if (anyIs(program, &LinalgOperation::isKnown))
      unknown[unknown.size() - 2] = unknown[unknown.size() - 1] = program.n;
    if (anyIs(program, &LinalgOperation::isStatic))
      unknown = shape;
    if ((seed % 4 == 1 || seed % 4 == 3) && !unknown.is_known()) {
      const TensorSpec<> like(program.dtype, unknown);
      auto open = function<Tensors(const Tensors &)>(
          [&](const Tensors &x) {
            Tensors gradients = grad(lossAt(path))(x);
            return Tensors{run(program, x, path), gradients[0], gradients[1]};
          },
          {.input_signature = {like, like}});
      Tensors found;
      try {
        found = open(inputs);
      } catch (const Error &error) {
        // A map whose examples have unknown sizes may be refused.
        if (std::string(error.what()).find("has an operand of unknown size; vmap can't do it") == std::string::npos)
          throw;
      }
      for (std::size_t i = 0; i < found.size(); ++i)
        expect(i ? "gradient of unknown sizes" : "unknown sizes", differenceOf(compiled[i ? 2 + i : 0], found[i]),
               i ? slopeTolerance : tolerance);
    }
    if (seed % 4 == 2) {
      const Tensors others{drawn(random, program.dtype, shape), drawn(random, program.dtype, shape)};
      // Of each example in the map, and of a sum of the examples' losses.
      auto examples = function<Tensors(const Tensors &, const Tensors &, const Tensor &)>(
          [&](const Tensors &x, const Tensors &v, const Tensor &paths) {
            Tensors found = vmap([&](const Tensors &one, const Tensors &along, const Tensor &path) {
              return Tensors{run(program, one, path), jvp(lossAt(path), one, along).second, grad(lossAt(path))(one)[0]};
            })(x, v, paths);
            found.push_back(grad([&](const Tensors &x) { return sum(vmap(lossOf)(x, paths)); })(x)[0]);
            return found;
          });
      const Tensors found = examples(
          {stack({inputs[0], others[0], inputs[0]}), stack({inputs[1], others[1], inputs[1]})},
          {stack({directions[0], directions[1], directions[0]}), stack({directions[1], directions[0], directions[1]})},
          stack({path, otherPath, path}));
      const Tensors second = all(others, {directions[1], directions[0]}, otherPath);
      for (int i = 0; i < 2; ++i) {
        const Tensors &one = i ? second : compiled;
        expect("many examples", differenceOf(one[0], found[0][i]), tolerance);
        expect("derivative of many examples", differenceOf(one[2], found[1][i]), slopeTolerance);
        expect("gradient of many examples", differenceOf(one[3], found[2][i]), slopeTolerance);
        expect("gradient of a sum of examples", differenceOf(one[3], found[3][i]), slopeTolerance);
      }
    }
  } catch (const std::exception &error) {
    wrong << error.what() << '\n';
  }
  return wrong.str();
}

} // namespace

int main(int argc, char **argv) {
  std::int64_t programs = 100, only = -1;
  std::uint64_t seed = 1;
  CLI::App app("Compares random programs of linear algebra and Fourier transforms in all ways to run and to "
               "differentiate them.");
  app.add_option("--programs", programs, "how many (100)");
  app.add_option("--seed", seed, "another one makes other programs (1)");
  app.add_option("--only", only, "the number of one program, which is printed");
  CLI11_PARSE(app, argc, argv);
  std::int64_t failing = 0;
  auto check = [&](std::int64_t index, bool print) {
    const std::uint64_t own = mix(seed, static_cast<std::uint64_t>(index));
    const Program program = programOf(own);
    if (print)
      std::cout << describe(program) << std::flush;
    const std::string wrong = verdict(program, own);
    if (wrong.empty())
      return true;
    std::cout << "program " << index << " of seed " << seed << ", " << describe(program) << wrong << std::flush;
    return false;
  };
  if (only >= 0)
    return check(only, true) ? 0 : 1;
  // A process for each block, as code that was compiled stays, and one that crashes is known.
  for (std::int64_t first = 0; first < programs; first += kBlock) {
    const pid_t child = fork();
    if (child == 0) {
      int bad = 0;
      for (std::int64_t i = first; i < std::min(programs, first + kBlock); ++i)
        bad += !check(i, false);
      _exit(bad);
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (!WIFEXITED(status)) {
      std::cout << "programs " << first << " to " << first + kBlock - 1 << " of seed " << seed << " end by signal "
                << WTERMSIG(status) << std::endl;
      ++failing;
    } else {
      failing += WEXITSTATUS(status);
    }
  }
  std::cout << programs << " programs, " << failing << " findings" << std::endl;
  return failing != 0;
}
