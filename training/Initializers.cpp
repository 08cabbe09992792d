#include "calque/initializers.h"

#include "Support.h"
#include "calque/random.h"

#include <cmath>

namespace calque {

namespace {
struct Fans {
  double in = 1, out = 1;
};

Fans fansOf(const Shape &shape) {
  if (shape.empty())
    return {};
  auto last = static_cast<double>(shape.back());
  if (shape.size() == 1)
    return {last, last};
  double field = 1; // the pixels that a filter covers
  for (std::size_t i = 0; i + 2 < shape.size(); ++i)
    field *= static_cast<double>(shape[i]);
  return {field * static_cast<double>(shape[shape.size() - 2]), field * last};
}

// An empty weight has a fan of 0, and an infinite variance; it draws no numbers, so any deviation will do.
double deviation(double variance) { return std::isfinite(variance) && variance > 0 ? std::sqrt(variance) : 1; }

Tensor uniformOf(double variance, const Shape &shape, DType dtype, SourceLocation where) {
  double limit = std::sqrt(3.0) * deviation(variance);
  return random::uniform(shape, {.minval = -limit, .maxval = limit, .dtype = dtype}, where);
}
Tensor normalOf(double variance, const Shape &shape, DType dtype, SourceLocation where) {
  return random::normal(shape, {.stddev = deviation(variance), .dtype = dtype}, where);
}

double glorotVariance(const Shape &shape) {
  Fans fans = fansOf(shape);
  return 2 / (fans.in + fans.out);
}
double heVariance(const Shape &shape) { return 2 / fansOf(shape).in; }
} // namespace

Tensor glorot_uniform(const Shape &shape, DType dtype, SourceLocation where) {
  return uniformOf(glorotVariance(shape), shape, dtype, where);
}
Tensor glorot_normal(const Shape &shape, DType dtype, SourceLocation where) {
  return normalOf(glorotVariance(shape), shape, dtype, where);
}
Tensor he_uniform(const Shape &shape, DType dtype, SourceLocation where) {
  return uniformOf(heVariance(shape), shape, dtype, where);
}
Tensor he_normal(const Shape &shape, DType dtype, SourceLocation where) {
  return normalOf(heVariance(shape), shape, dtype, where);
}

} // namespace calque
