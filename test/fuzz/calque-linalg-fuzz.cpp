// Random programs of linear algebra: calque-linalg-fuzz --help.
//
// Each composes 3 to 12 operations of matrices with elementwise and structural ones, on matrices that are regular, and
// whose eigenvalues and singular values are apart, by construction. A program is compared with itself: eagerly,
// compiled, with unknown sizes, for many examples, forward mode with reverse mode, and both with differences.
#include "calque/calque.h"
#include "calque/linalg.h"
#include "test/fuzz/Random.h"

#include <CLI/CLI.hpp>

#include <cmath>
#include <iostream>
#include <map>
#include <sstream>
#include <sys/wait.h>
#include <unistd.h>

using namespace calque;
using fuzz::mix;
using fuzz::Random;

namespace {

constexpr std::int64_t kBlock = 50; // programs of a process

//===-- Values ----------------------------------------------------------------------------------===//
// A smooth function to numbers of magnitude below 1.
Tensor tame(const Tensor &x) {
  const Tensor square = is_complex(x.dtype()) ? calque::square(real(x)) + calque::square(imag(x)) : calque::square(x);
  return x / cast(sqrt(1 + square), x.dtype());
}
// 1 on the diagonal, or 1 to n, of matrices whose size may be unknown.
Tensor diagonal(const Tensor &like, bool ascending) {
  const Size n = (is_complex(like.dtype()) ? real(like) : like).shape().back();
  const Tensor row = iota(Shape{n, 1}, DType::Int64, 0), column = iota(Shape{1, n}, DType::Int64, 1);
  return cast(ascending ? where(row == column, row + 1, 0) : cast(row == column, DType::Int64), like.dtype());
}
// The magnitudes of a row add up to less than `most`.
Tensor shareOf(const Tensor &x, double most) {
  return tame(x) * cast(most / (cast(size(x, x.rank() - 1), real_of(x.dtype())) * 2), x.dtype());
}
Tensor adjoint(const Tensor &x) {
  std::vector<std::int64_t> order;
  for (std::int64_t i = 0; i < x.rank(); ++i)
    order.push_back(i);
  std::swap(order[order.size() - 2], order.back());
  const Tensor turned = transpose(x, order);
  return is_complex(x.dtype()) ? conj(turned) : turned;
}
// Near 2 I; Hermitian and positive definite; and with eigenvalues and singular values near 1 to n.
Tensor regular(const Tensor &x) { return shareOf(x, 0.8) + 2 * diagonal(x, false); }
Tensor positive(const Tensor &x) {
  const Tensor y = shareOf(x, 0.8);
  return y + adjoint(y) + 2 * diagonal(x, false);
}
Tensor apart(const Tensor &x) { return shareOf(x, 0.3) + diagonal(x, true); }
Tensor apartHermitian(const Tensor &x) {
  const Tensor y = shareOf(x, 0.2);
  return y + adjoint(y) + diagonal(x, true);
}
// Columns times numbers of a vector.
Tensor scaled(const Tensor &columns, const Tensor &by) {
  return columns * cast(expand_dims(by, {by.rank() - 1}), columns.dtype());
}

struct Step {
  int op;
  std::size_t a, b;
  std::uint64_t choice;
};
struct Program {
  std::int64_t n = 1, batch = 0; // 0: none
  DType dtype = DType::Float64;
  std::vector<Step> steps;
};

struct Operation {
  const char *name;
  bool isReal; // takes real matrices alone
  std::function<Tensor(const Tensor &, const Tensor &, std::uint64_t)> apply;
};
linalg::MatrixNorm normOf(std::uint64_t choice) {
  using N = linalg::MatrixNorm;
  const N all[] = {N::Frobenius, N::Nuclear, N::Two, N::MinusTwo};
  return all[choice % 4];
}
Tensor times(const Tensor &x, const Tensor &number) { // a number for each matrix
  return x * cast(expand_dims(number, {number.rank(), number.rank() + 1}), x.dtype());
}

const std::vector<Operation> &operations() {
  using T = const Tensor &;
  using C = std::uint64_t;
  static const std::vector<Operation> all = {
      {"cholesky", false, [](T x, T, C c) { return linalg::cholesky(positive(x), {.upper = c % 2 == 1}); }},
      {"cho_solve", false, [](T x, T y, C) { return linalg::cho_solve(linalg::cholesky(positive(x)), y); }},
      {"solve", false, [](T x, T y, C) { return linalg::solve(regular(x), y); }},
      {"inv", false, [](T x, T, C) { return linalg::inv(regular(x)); }},
      {"triangular_solve", false,
       [](T x, T y, C c) {
         return linalg::triangular_solve(regular(x), y,
                                         {.lower = c % 2 == 1,
                                          .transpose = c / 2 % 3 == 1,
                                          .unit_diagonal = c / 6 % 2 == 1,
                                          .left = c / 12 % 2 == 1,
                                          .adjoint = c / 2 % 3 == 2});
       }},
      {"lu_solve", false,
       [](T x, T y, C c) {
         return linalg::lu_solve(linalg::lu_factor(regular(x)), y, {.transpose = c % 3 == 1, .adjoint = c % 3 == 2});
       }},
      {"lu", false,
       [](T x, T y, C) {
         const linalg::Lu f = linalg::lu(regular(x));
         return matmul(f.l, y) + f.u;
       }},
      {"det", false, [](T x, T y, C) { return times(y, linalg::det(regular(x) * 0.5)); }},
      {"slogdet", false,
       [](T x, T y, C) {
         const linalg::SignAndLogarithm d = linalg::slogdet(regular(x));
         return times(times(y, d.sign), d.logarithm * 0.1);
       }},
      {"qr", false,
       [](T x, T, C) {
         const linalg::Qr f = linalg::qr(regular(x));
         return f.q + matmul(f.q, f.r * f.r);
       }},
      {"orthogonalise", false, [](T x, T, C) { return linalg::orthogonalise(regular(x)); }},
      {"eigh", false,
       [](T x, T, C) {
         const linalg::Eigh e = linalg::eigh(apartHermitian(x));
         return matmul(scaled(e.vectors, sin(e.values)), adjoint(e.vectors));
       }},
      {"eigvalsh", false, [](T x, T y, C) { return scaled(y, cos(linalg::eigvalsh(apartHermitian(x)))); }},
      {"svd", false,
       [](T x, T, C) {
         const linalg::Svd f = linalg::svd(apart(x));
         return matmul(scaled(f.u, sin(f.s)), f.vh);
       }},
      {"svdvals", false, [](T x, T y, C) { return scaled(y, cos(linalg::svdvals(apart(x)))); }},
      {"pinv", false, [](T x, T, C) { return linalg::pinv(regular(x)); }},
      {"lstsq", false, [](T x, T y, C) { return linalg::lstsq(regular(x), y); }},
      {"matrix_norm", false,
       [](T x, T y, C c) { return times(y, 1 / (1 + linalg::matrix_norm(apart(x), normOf(c)))); }},
      {"vector_norm", false,
       [](T x, T y, C c) {
         return times(y,
                      1 / (1 + linalg::vector_norm(regular(x), {-2, -1}, {.order = 1.0 + static_cast<double>(c % 3)})));
       }},
      {"expm", false, [](T x, T, C) { return linalg::expm(tame(x) * 0.5); }},
      {"matrix_power", false,
       [](T x, T, C c) { return linalg::matrix_power(regular(x) * 0.5, static_cast<std::int64_t>(c % 7) - 3); }},
      {"eig", false,
       [](T x, T, C) { // V f(w) V^-1
         const linalg::Eig e = linalg::eig(apart(x));
         const Tensor w = e.values / 4, right = scaled(e.vectors, w * w);
         return adjoint(linalg::solve(adjoint(e.vectors), adjoint(right)));
       }},
      {"sqrtm", true, [](T x, T, C) { return linalg::sqrtm(regular(x)); }},
      {"logm", true, [](T x, T, C) { return linalg::logm(regular(x)); }},
      {"solve_sylvester", true, [](T x, T y, C) { return linalg::solve_sylvester(regular(x), regular(y), x + y); }},
      {"solve_continuous_lyapunov", true, [](T x, T y, C) { return linalg::solve_continuous_lyapunov(regular(x), y); }},
      {"solve_discrete_lyapunov", true,
       [](T x, T y, C) { return linalg::solve_discrete_lyapunov(regular(x) * 0.25, y); }},
      {"matmul", false, [](T x, T y, C) { return matmul(x, y); }},
      {"matmul, transposed", false, [](T x, T y, C c) { return matmul(tame(x), y, {c % 2 == 1, c / 2 % 2 == 1}); }},
      {"multiply", false, [](T x, T y, C) { return x * y; }},
      {"add", false, [](T x, T y, C) { return x - 0.5 * y; }},
      {"sin", false, [](T x, T, C) { return is_complex(x.dtype()) ? exp(tame(x)) : sin(2 * x); }},
      {"divide", false, [](T x, T y, C) { return x / (2 + tame(y)); }},
      {"adjoint", false, [](T x, T, C) { return adjoint(x); }},
      {"reverse", false, [](T x, T, C c) { return reverse(x, {x.rank() - 1 - static_cast<std::int64_t>(c % 2)}); }},
      {"mean", false, [](T x, T, C c) { return x - mean(x, {x.rank() - 1 - static_cast<std::int64_t>(c % 2)}, true); }},
      {"complex", true, [](T x, T y, C) { return complex(x, y); }},
      {"real", false, [](T x, T, C c) { return is_complex(x.dtype()) ? c % 2 ? real(x) : imag(x) : -x; }},
  };
  return all;
}

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
    made.steps.push_back({random.below(static_cast<int>(operations().size())), any(), any(), random.next() >> 8});
  }
  return made;
}

// Two values of one element type, of which the operation is: complex if one is, and real if it must be.
std::pair<Tensor, Tensor> operandsOf(const Operation &op, Tensor x, Tensor y) {
  if (op.isReal)
    return {is_complex(x.dtype()) ? real(x) : x, is_complex(y.dtype()) ? imag(y) : y};
  if (is_complex(x.dtype()) && !is_complex(y.dtype()))
    y = cast(y, x.dtype());
  else if (is_complex(y.dtype()) && !is_complex(x.dtype()))
    x = cast(x, y.dtype());
  return {x, y};
}

// The last value, as its parts side by side.
Tensor run(const Program &program, const std::vector<Tensor> &inputs) {
  std::vector<Tensor> values = inputs;
  for (const Step &step : program.steps) {
    const Operation &op = operations()[static_cast<std::size_t>(step.op)];
    const auto [x, y] = operandsOf(op, values[step.a], values[step.b]);
    values.push_back(tame(op.apply(x, y, step.choice)));
  }
  const Tensor last = values.back();
  return is_complex(last.dtype()) ? concat({real(last), imag(last)}, last.rank() - 1) : last;
}

std::string describe(const Program &program) {
  std::ostringstream text;
  text << name_of(program.dtype) << " matrices of size " << program.n << ", batch " << program.batch << '\n';
  for (std::size_t i = 0; i < program.steps.size(); ++i) {
    const Step &step = program.steps[i];
    text << "  " << i + 2 << " = " << operations()[static_cast<std::size_t>(step.op)].name << '(' << step.a << ", "
         << step.b << "), choice " << step.choice % 24 << '\n';
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
  auto value = [&](const Tensors &x) { return run(program, x); };
  auto loss = [&](const Tensors &x) {
    const Tensor y = value(x);
    const Tensor weights = sin(cast(iota(y.shape(), DType::Int64, y.rank() - 1) + 1, y.dtype()));
    return sum(y * weights + square(y));
  };
  try {
    // The value, the loss, its gradients and its derivative along the directions, in one program.
    auto all = function<Tensors(const Tensors &, const Tensors &)>([&](const Tensors &x, const Tensors &v) {
      auto [y, slope] = jvp(loss, x, v);
      Tensors gradients = grad(loss)(x);
      return Tensors{value(x), y, slope, gradients[0], gradients[1]};
    });
    const Tensors compiled = all(inputs, directions);
    expect("eager and compiled", differenceOf(value(inputs), compiled[0]), tolerance);
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
        return numbersOf(all(moved, directions)[1])[0];
      };
      const double h = 1e-3;
      const double slope = (8 * (at(h) - at(-h)) - (at(2 * h) - at(-2 * h))) / (12 * h);
      expect("derivative and difference", std::fabs(slope - numbersOf(compiled[2])[0]) / size, 1e-5);
    }
    if (seed % 4 == 0) {
      GradientTape tape;
      for (const Tensor &x : inputs)
        tape.watch(x);
      const Tensor y = loss(inputs);
      const auto gradients = tape.gradient(y, inputs);
      for (std::size_t i = 0; i < 2; ++i)
        if (gradients[i])
          expect("eager gradient", differenceOf(compiled[3 + i], *gradients[i]), slopeTolerance);
    }
    if (seed % 4 == 1 || seed % 4 == 3) {
      const TensorSpec<> like(program.dtype, Shape(shape.size(), kDynamic));
      auto open = function<Tensors(const Tensors &)>(
          [&](const Tensors &x) {
            Tensors gradients = grad(loss)(x);
            return Tensors{value(x), gradients[0], gradients[1]};
          },
          {.input_signature = {like, like}});
      const Tensors found = open(inputs);
      expect("unknown sizes", differenceOf(compiled[0], found[0]), tolerance);
      for (std::size_t i = 0; i < 2; ++i)
        expect("gradient of unknown sizes", differenceOf(compiled[3 + i], found[1 + i]), slopeTolerance);
    }
    if (seed % 4 == 2) {
      const Tensors others{drawn(random, program.dtype, shape), drawn(random, program.dtype, shape)};
      auto examples = function<Tensors(const Tensors &, const Tensors &)>([&](const Tensors &x, const Tensors &v) {
        return vmap([&](const Tensors &one, const Tensors &along) {
          return Tensors{value(one), jvp(loss, one, along).second, grad(loss)(one)[0]};
        })(x, v);
      });
      const Tensors found = examples({stack({inputs[0], others[0]}), stack({inputs[1], others[1]})},
                                     {stack({directions[0], directions[1]}), stack({directions[1], directions[0]})});
      const Tensors second = all(others, {directions[1], directions[0]});
      for (int i = 0; i < 2; ++i) {
        const Tensors &one = i ? second : compiled;
        expect("many examples", differenceOf(one[0], found[0][i]), tolerance);
        expect("derivative of many examples", differenceOf(one[2], found[1][i]), slopeTolerance);
        expect("gradient of many examples", differenceOf(one[3], found[2][i]), slopeTolerance);
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
  CLI::App app("Compares random programs of linear algebra in all ways to run and to differentiate them.");
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
