// The generalised method of minimal residuals.
#include "calque/control_flow.h"
#include "iterative/Iterative.h"
#include "linear/Dense.h"

#include <algorithm>

namespace calque::solvers::internal {

namespace {

struct Cycle {
  Tensor basis;    // [m + 1, n]: rows that are not yet made are 0
  Tensor triangle; // [m, m]: columns of the upper triangle as rows; those that are not yet made are of the identity
  Tensor rotation; // [m + 1, m + 1]: the product of all rotations so far
  Tensor right;    // [m + 1]: the rotated right-hand side, whose element `step` is the norm of the residual
  Tensor step;
};

} // namespace

// Golub and Van Loan, Matrix Computations, 4th ed., 11.4.2. Each new column of the Hessenberg matrix is multiplied by
// the product of the rotations so far, a small matrix: one operation instead of one for each rotation. Vectors are made
// orthogonal twice, by products with the whole basis (Giraud, Langou and Rozloznik, 2005: twice is enough).
Iterated generalisedMinimalResiduals(const System &s) {
  const Shape shape = s.b.shape();
  const DType dtype = s.b.dtype();
  const std::int64_t m = s.b.size().is_known() ? std::min<std::int64_t>(s.restart, s.b.size()) : s.restart;
  const Tensor goal = square(toleranceOf(s)), limit = limitOf(s), places = iota({m + 1}, DType::Int64);
  auto flat = [](const Tensor &x) { return reshape(x, {-1}); };
  auto conditioned = [&](const Tensor &x) { return s.preconditioner ? s.preconditioner(x) : x; };

  struct State {
    Tensor x, residual, squares, count;
  };
  auto cycle = [&](const State &at) {
    const Tensor norm = sqrt(at.squares);
    const Tensor first = where(expand_dims(places, {1}) == 0, expand_dims(flat(at.residual) / norm, {0}), 0);
    auto goesOn = [&](const Cycle &c) {
      Tensor left = gather(c.right, c.step);
      return (left * left > goal) & (c.step < m) & (at.count + c.step < limit);
    };
    auto iterate = [&](const Cycle &c) {
      Tensor vector = reshape(gather(c.basis, c.step), shape);
      Tensor next = flat(s.product(conditioned(vector)));
      Tensor once = matmul(c.basis, next);
      next = next - matmul(once, c.basis);
      Tensor twice = matmul(c.basis, next);
      next = next - matmul(twice, c.basis);
      Tensor length = sqrt(dot(next, next)), isNext = places == c.step + 1, isThis = places == c.step;
      // A vector of rounding alone is none: the space is invariant, and the residual 0.
      Tensor isThere = length > 0;
      Tensor column = matmul(c.rotation, where(isNext, length, once + twice));
      Tensor upper = gather(column, c.step), lower = gather(column, c.step + 1),
             size = sqrt(upper * upper + lower * lower);
      Tensor divisor = where(size > 0, size, 1);
      Tensor cosine = where(size > 0, upper / divisor, 1), sine = where(size > 0, lower / divisor, 0);
      auto rotated = [&](const Tensor &x, const Tensor &isUpper, const Tensor &isLower) {
        Tensor a = gather(x, c.step), b = gather(x, c.step + 1);
        return where(isUpper, cosine * a + sine * b, where(isLower, cosine * b - sine * a, x));
      };
      auto down = [](const Tensor &x) { return expand_dims(x, {1}); };
      Tensor made = slice(rotated(column, isThis, isNext), {0}, {m});
      Tensor kept = where(slice(places, {0}, {m}) > c.step, 0, made);
      return Cycle{where(down(isNext & isThere), expand_dims(next / where(isThere, length, 1), {0}), c.basis),
                   where(down(slice(isThis, {0}, {m})), expand_dims(kept, {0}), c.triangle),
                   rotated(c.rotation, down(isThis), down(isNext)), rotated(c.right, isThis, isNext), c.step + 1};
    };
    Cycle last = while_loop(
        goesOn, iterate,
        Cycle{first, eye(m, dtype), eye(m + 1, dtype), where(places == 0, norm, 0), scalar<std::int64_t>(0)});
    // Columns that are not made are of the identity, so that their weights are 0.
    Tensor right = where(places < last.step, last.right, 0);
    Tensor weights = backSubstitute(transpose(last.triangle), slice(right, {0}, {m}));
    Tensor moved = matmul(weights, split(last.basis, {m, 1})[0]);
    Tensor x = at.x + conditioned(reshape(moved, shape)), residual = s.b - s.product(x);
    return State{x, residual, dot(residual, residual), at.count + maximum(last.step, 1)};
  };
  auto goesOn = [&](const State &at) { return (at.squares > goal) & (at.count < limit); };
  const auto [x0, residual] = startOf(s);
  State last = while_loop(goesOn, cycle, State{x0, residual, dot(residual, residual), scalar<std::int64_t>(0)});
  return {last.x, last.squares, last.count};
}

} // namespace calque::solvers::internal
