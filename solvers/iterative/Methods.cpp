// Conjugate gradients, minimal residuals, and the stabilised method of biconjugate gradients.
#include "calque/control_flow.h"
#include "calque/transforms.h"
#include "iterative/Iterative.h"

#include <algorithm>

namespace calque::solvers::internal {

Map scaledMap(const Map &map, const Tensor &exponent, DType dtype) {
  if (!map)
    return {};
  return [map, inverse = power(-exponent, dtype)](const Tensor &x) { return map(x) * inverse; };
}

Tensor scatteredNumbers(const Shape &shape, DType dtype) {
  Tensor numbers = zeros(shape, dtype);
  for (std::size_t axis = 0; axis < shape.size(); ++axis)
    numbers = numbers + iota(shape, dtype, static_cast<std::int64_t>(axis)) *
                            (0.6180339887498949 / (1.0 + 0.3 * static_cast<double>(axis)));
  return sin(numbers * (1 + numbers) + 1);
}

Tensor normOf(const Tensor &x) {
  const Tensor exponent = exponentOf(largestOrZero(x)), scaled = x * power(-exponent, x.dtype());
  return ldexp(sqrt(dot(scaled, scaled)), exponent);
}

Map transposedOf(const Map &product, const Tensor &like) {
  // A linear function has the same derivative everywhere.
  return [product, at = stop_gradient(zeros(like.shape(), like.dtype()))](const Tensor &v) {
    return vjp(product, at).second(v);
  };
}

Tensor limitOf(const System &s, std::int64_t perUnknown) {
  if (s.maxIterations)
    return scalar<std::int64_t>(*s.maxIterations);
  return maximum(Operand(s.b.size()).toTensor(DType::Int64) * perUnknown, perUnknown);
}

Tensor toleranceOf(const System &s) { return maximum(s.rtol * normOf(s.b), s.atol); }

Start startOf(const System &s) {
  if (!s.x0.defined())
    return {zeros(s.b.shape(), s.b.dtype()), s.b};
  return {s.x0, s.b - s.product(s.x0)};
}

namespace {
Tensor conditioned(const System &s, const Tensor &x) { return s.preconditioner ? s.preconditioner(x) : x; }
} // namespace

Iterated conjugateGradients(const System &s) {
  struct State {
    Tensor x, residual, direction, slope, squares, count;
  };
  const Tensor goal = square(toleranceOf(s)), limit = limitOf(s);
  auto goesOn = [&](const State &at) { return (at.squares > goal) & (at.count < limit); };
  auto iterate = [&](const State &at) {
    Tensor image = s.product(at.direction), length = at.slope / dot(at.direction, image);
    Tensor residual = at.residual - length * image, preconditioned = conditioned(s, residual);
    Tensor slope = dot(residual, preconditioned);
    return State{at.x + length * at.direction, residual,    preconditioned + (slope / at.slope) * at.direction, slope,
                 dot(residual, residual),      at.count + 1};
  };
  const auto [x0, residual] = startOf(s);
  const Tensor direction = conditioned(s, residual);
  State last = while_loop(
      goesOn, iterate,
      State{x0, residual, direction, dot(residual, direction), dot(residual, residual), scalar<std::int64_t>(0)});
  return {last.x, last.squares, last.count};
}

// Elman, Silvester and Wathen: Finite Elements and Fast Iterative Solvers, 2014, algorithm 4.1. The residual follows
// from the images of the directions.
Iterated minimalResiduals(const System &s) {
  struct State {
    Tensor x, residual, squares, count;
    // The vectors of Lanczos: the last two, and the last one preconditioned, with their norms.
    std::array<Tensor, 3> vectors;
    std::array<Tensor, 2> norms;
    std::array<Tensor, 4> directions; // the last two directions, and their images
    std::array<Tensor, 5> rotations;  // the last two sines and cosines, and what is left of the norm
  };
  const Tensor goal = square(toleranceOf(s)), limit = limitOf(s);
  auto goesOn = [&](const State &at) { return (at.squares > goal) & (at.count < limit); };
  auto iterate = [&](const State &at) {
    const auto &[before, vector, preconditioned] = at.vectors;
    const auto &[normBefore, norm] = at.norms;
    const auto &[sineBefore, sine, cosineBefore, cosine, left] = at.rotations;
    Tensor unit = preconditioned / norm, image = s.product(unit), diagonal = dot(image, unit);
    Tensor next = image - (diagonal / norm) * vector - (norm / normBefore) * before;
    Tensor nextPreconditioned = conditioned(s, next), nextNorm = sqrt(dot(next, nextPreconditioned));
    Tensor a0 = cosine * diagonal - cosineBefore * sine * norm, a1 = sqrt(a0 * a0 + nextNorm * nextNorm);
    Tensor a2 = sine * diagonal + cosineBefore * cosine * norm, a3 = sineBefore * norm;
    Tensor direction = (unit - a3 * at.directions[0] - a2 * at.directions[1]) / a1;
    Tensor imageOfDirection = (image - a3 * at.directions[2] - a2 * at.directions[3]) / a1;
    Tensor nextCosine = a0 / a1, nextSine = nextNorm / a1, length = nextCosine * left;
    Tensor residual = at.residual - length * imageOfDirection;
    return State{at.x + length * direction,
                 residual,
                 dot(residual, residual),
                 at.count + 1,
                 {vector, next, nextPreconditioned},
                 {norm, nextNorm},
                 {at.directions[1], direction, at.directions[3], imageOfDirection},
                 {sine, nextSine, cosine, nextCosine, -nextSine * left}};
  };
  const auto [x0, residual] = startOf(s);
  const Tensor preconditioned = conditioned(s, residual);
  const Tensor norm = sqrt(dot(residual, preconditioned)), none = zeros(s.b.shape(), s.b.dtype());
  const Tensor zero = zeros({}, s.b.dtype()), one = ones({}, s.b.dtype());
  State last = while_loop(goesOn, iterate,
                          State{x0,
                                residual,
                                dot(residual, residual),
                                scalar<std::int64_t>(0),
                                {none, residual, preconditioned},
                                {one, norm},
                                {none, none, none, none},
                                {zero, zero, one, one, norm}});
  return {last.x, last.squares, last.count};
}

Iterated stabilisedBiconjugateGradients(const System &s) {
  struct State {
    Tensor x, residual, direction, image; // image is A times the preconditioned direction
    Tensor rho, alpha, omega, count;
  };
  const Tensor goal = square(toleranceOf(s)), limit = limitOf(s);
  const auto [x0, first] = startOf(s); // first: the shadow residual
  auto goesOn = [&](const State &at) { return (dot(at.residual, at.residual) > goal) & (at.count < limit); };
  auto iterate = [&](const State &at) {
    Tensor rho = dot(first, at.residual), beta = rho / at.rho * (at.alpha / at.omega);
    Tensor direction = at.residual + beta * (at.direction - at.omega * at.image);
    Tensor preconditioned = conditioned(s, direction), image = s.product(preconditioned);
    Tensor alpha = rho / dot(first, image);
    Tensor half = at.residual - alpha * image, halfPreconditioned = conditioned(s, half);
    Tensor halfImage = s.product(halfPreconditioned), squares = dot(halfImage, halfImage);
    Tensor omega = where(squares > 0, dot(halfImage, half) / where(squares > 0, squares, 1), 0);
    return State{at.x + alpha * preconditioned + omega * halfPreconditioned,
                 half - omega * halfImage,
                 direction,
                 image,
                 rho,
                 alpha,
                 omega,
                 at.count + 1};
  };
  const Tensor none = zeros(s.b.shape(), s.b.dtype()), one = ones({}, s.b.dtype());
  State last = while_loop(goesOn, iterate, State{x0, first, none, none, one, one, one, scalar<std::int64_t>(0)});
  return {last.x, dot(last.residual, last.residual), last.count};
}

} // namespace calque::solvers::internal
