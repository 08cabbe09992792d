// Arithmetic of states, and norms.
#include "Ode.h"
#include "calque/transforms.h"

namespace calque::solvers::detail {

State weighted(std::span<const double> coefficients, const std::vector<State> &k) {
  State result(k[0].size());
  for (std::size_t leaf = 0; leaf < result.size(); ++leaf)
    for (std::size_t i = 0; i < coefficients.size(); ++i) {
      if (coefficients[i] == 0)
        continue;
      Tensor term = coefficients[i] == 1 ? k[i][leaf] : coefficients[i] * k[i][leaf];
      result[leaf] = result[leaf].defined() ? result[leaf] + term : term;
    }
  return result;
}

State combine(const State &y, const Tensor &h, std::span<const double> coefficients, const std::vector<State> &k) {
  State change = weighted(coefficients, k);
  for (std::size_t leaf = 0; leaf < y.size(); ++leaf)
    change[leaf] = y[leaf] + h * change[leaf];
  return change;
}

State choose(const Tensor &condition, const State &x, const State &y) {
  State result;
  for (std::size_t i = 0; i < x.size(); ++i)
    result.push_back(where(condition, x[i], y[i]));
  return result;
}

State stopped(State x) {
  for (Tensor &each : x)
    each = stop_gradient(each);
  return x;
}

Tensor squaredNorm(const Problem &problem, const State &error, const State &y, const State &next) {
  Tensor total;
  Tensor count;
  std::int64_t known = 0;
  for (std::size_t i = 0; i < problem.controlled; ++i) {
    Tensor scale = problem.atol + problem.rtol * maximum(abs(y[i]), abs(next[i]));
    Tensor part = sum(square(error[i] / scale));
    total = total.defined() ? total + part : part;
    if (y[i].shape().is_known()) {
      known += y[i].size();
    } else {
      Tensor elements = cast(size(y[i]), problem.dtype);
      count = count.defined() ? count + elements : elements;
    }
  }
  return count.defined() ? total / (count + static_cast<double>(known))
                         : total * (1.0 / static_cast<double>(std::max<std::int64_t>(known, 1)));
}

State withFirst(const State &y0, const State &others) {
  State result;
  for (std::size_t i = 0; i < y0.size(); ++i)
    result.push_back(concat({expand_dims(y0[i], 0), others[i]}));
  return result;
}

// The state as one vector, and back.
Tensor flatten(const State &y) {
  State parts;
  for (const Tensor &x : y)
    parts.push_back(reshape(x, {-1}));
  return parts.size() == 1 ? parts[0] : concat(parts);
}
State unflatten(const Tensor &vector, const State &like) {
  if (like.size() == 1)
    return {reshape(vector, like[0].shape())};
  State result;
  std::vector<std::int64_t> sizes;
  for (const Tensor &x : like)
    sizes.push_back(x.size());
  std::vector<Tensor> parts = split(vector, sizes);
  for (std::size_t i = 0; i < like.size(); ++i)
    result.push_back(reshape(parts[i], like[i].shape()));
  return result;
}
std::int64_t elementsOf(const State &y) {
  std::int64_t n = 0;
  for (const Tensor &x : y) {
    if (!x.shape().is_known())
      fail<ShapeError>("odeint: an implicit method makes a matrix of the state's size, which must be known: the state "
                       "is " +
                       describe(x));
    n += x.size();
  }
  return n;
}

Tensor jacobianOf(const std::function<Tensor(const Tensor &)> &f, const Tensor &y, std::int64_t n) {
  auto column = [&](const Tensor &direction) { return jvp(f, y, direction).second; };
  return vmap(column, {.out_axes = {1}})(eye(n, y.dtype()));
}

} // namespace calque::solvers::detail
