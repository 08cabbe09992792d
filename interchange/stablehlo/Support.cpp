#include "stablehlo/Support.h"

#include "calque/init_scope.h"
#include "calque/operation.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <mutex>

namespace calque::stablehlo {

Tensor ofIntegers(const Numbers &numbers, const Shape &shape) {
  return tensor_from_bytes(DType::Int64, std::as_bytes(std::span(numbers)), shape);
}

Tensor scalarOf(double number, DType dtype) {
  InitScope now;
  const Tensor wide = tensor_from_bytes(DType::Float64, std::as_bytes(std::span(&number, 1)), {});
  return dtype == DType::Float64 ? wide : cast(wide, dtype);
}

std::optional<Number> numberOf(const Tensor &x) {
  if (x.rank() != 0 || !x.is_known())
    return {};
  switch (x.dtype()) {
  case DType::Float32:
    return Number(*x.data<float>());
  case DType::Float64:
    return Number(*x.data<double>());
  case DType::UInt64:
    return Number(*x.data<std::uint64_t>());
  case DType::Bool:
    return Number(*x.data<bool>());
  case DType::Complex64:
    return Number(*x.data<complex64>());
  case DType::Complex128:
    return Number(*x.data<complex128>());
  case DType::Float16:
  case DType::BFloat16:
    return Number(hostNumbers(x)[0]);
  default:
    return Number(hostIntegers(x)[0]);
  }
}

Tensor sliceOf(const Tensor &x, const Numbers &starts, const Numbers &limits, const Numbers &steps) {
  const Shape shape = x.shape();
  bool isWhole = true;
  for (std::size_t i = 0; i < shape.size(); ++i)
    isWhole = isWhole && starts[i] == 0 && steps[i] == 1 && shape[i].is_known() && shape[i] == limits[i];
  return isWhole ? x : slice(x, starts, limits, steps);
}

namespace {

Tensor padded(const Tensor &x, const Numbers &low, const Numbers &high, const Tensor &value) {
  const bool isSame = std::ranges::all_of(low, [](auto n) { return n == 0; }) &&
                      std::ranges::all_of(high, [](auto n) { return n == 0; });
  if (isSame)
    return x;
  if (is_complex(x.dtype()))
    return complex(padded(real(x), low, high, real(value)), padded(imag(x), low, high, imag(value)));
  if (const std::optional<Number> number = numberOf(value))
    return pad(x, low, high, *number);
  const Tensor isInside = pad(full(x.shape(), true, DType::Bool), low, high, false);
  return where(isInside, pad(x, low, high), value);
}

} // namespace

Tensor padOf(const Call &call, const Tensor &given, const Tensor &value, const Numbers &low, const Numbers &high,
             const Numbers &interior) {
  Tensor x = given;
  const std::int64_t rank = x.rank();
  call.requireCount(low, rank, "padding in front");
  call.requireCount(high, rank, "padding behind");
  call.requireCount(interior, rank, "padding between elements");
  if (value.rank() != 0)
    call.refuse("the value has rank " + std::to_string(value.rank()) + ", expected a scalar");
  for (std::int64_t i = 0; i < rank; ++i) {
    const std::int64_t between = interior[static_cast<std::size_t>(i)];
    if (between < 0)
      call.refuse("a negative padding between elements");
    if (between == 0)
      continue;
    // Each element gets the values behind it as a dimension of their own. Those behind the last one are cut off.
    const Size size = x.shape()[static_cast<std::size_t>(i)];
    if (!size.is_known())
      call.refuse("padding between elements of a dimension of unknown size");
    if (size < 2)
      continue;
    Numbers none(static_cast<std::size_t>(rank + 1), 0), behind = none;
    behind[static_cast<std::size_t>(i + 1)] = between;
    Shape merged = x.shape();
    merged[static_cast<std::size_t>(i)] = Size(size * (between + 1));
    x = reshape(padded(expand_dims(x, {i + 1}), none, behind, value), merged);
    Numbers back(static_cast<std::size_t>(rank), 0);
    if (x.shape().is_known()) {
      Numbers limits(x.shape());
      limits[static_cast<std::size_t>(i)] -= between;
      x = sliceOf(x, back, limits, Numbers(static_cast<std::size_t>(rank), 1));
    } else {
      x = split(x, {-1, between}, i)[0];
    }
  }
  Numbers more = low, after = high;
  for (std::int64_t i = 0; i < rank; ++i) {
    const auto k = static_cast<std::size_t>(i);
    if (low[k] >= 0 && high[k] >= 0)
      continue;
    // Padding first, so that cuts on one side may be larger than x alone.
    Numbers before(static_cast<std::size_t>(rank), 0), behind = before;
    before[k] = std::max<std::int64_t>(low[k], 0);
    behind[k] = std::max<std::int64_t>(high[k], 0);
    x = padded(x, before, behind, value);
    more[k] = after[k] = 0;
    const Size size = x.shape()[k];
    const std::int64_t front = std::max<std::int64_t>(-low[k], 0), back = std::max<std::int64_t>(-high[k], 0);
    if (size.is_known() && size < front + back)
      call.refuse("a dimension of size " + size.str() + " is cut by " + std::to_string(front + back));
    x = split(x, {front, -1, back}, i)[1];
  }
  return padded(x, more, after, value);
}

Tensor placed(const Call &call, const Tensor &given, Numbers dims, std::int64_t rank) {
  Tensor x = given;
  call.requireCount(dims, x.rank(), "the list of dimensions");
  call.requireAxes(dims, rank, "its dimensions");
  if (!std::ranges::is_sorted(dims)) {
    Numbers order(dims.size());
    for (std::size_t i = 0; i < order.size(); ++i)
      order[i] = static_cast<std::int64_t>(i);
    std::ranges::sort(order, {}, [&](std::int64_t i) { return dims[static_cast<std::size_t>(i)]; });
    x = transpose(x, order);
    std::ranges::sort(dims);
  }
  Numbers missing;
  for (std::int64_t i = 0; i < rank; ++i)
    if (std::ranges::find(dims, i) == dims.end())
      missing.push_back(i);
  return missing.empty() ? x : expand_dims(x, missing);
}

//===-- Elements --------------------------------------------------------------------------------===//

namespace {

// The same bytes as elements of another type. A wider one takes those of the last dimension, a narrower one adds it.
const calque::Operation &bitcastTo(DType dtype) {
  static std::mutex mutex;
  static std::map<DType, calque::Operation> all;
  const std::lock_guard lock(mutex);
  if (const auto found = all.find(dtype); found != all.end())
    return found->second;
  const calque::Operation made(
      {.name = std::string("stablehlo.bitcast[") + name_of(dtype) + "]",
       .types =
           [dtype](const std::vector<TensorSpec<>> &in) {
             Shape shape = in[0].shape();
             const std::size_t from = size_of(in[0].dtype()), to = size_of(dtype);
             if (from > to)
               shape.push_back(Size(from / to));
             if (from < to) {
               if (shape.empty() || shape.back() != to / from)
                 throw ShapeError("elements of " + std::string(name_of(dtype)) + " take " + std::to_string(to / from) +
                                  " of " + name_of(in[0].dtype()) +
                                  " each, which the last dimension has to have; its shape is " + shape.str());
               shape.pop_back();
             }
             return std::vector<TensorSpec<>>{TensorSpec<>(dtype, shape)};
           },
       .kernel = [](const KernelTensor *in, const KernelTensor *out, void *) -> std::int32_t {
         std::size_t count = size_of(in->dtype);
         for (std::int32_t i = 0; i < in->rank; ++i)
           count *= static_cast<std::size_t>(in->sizes[i]);
         if (count != 0)
           std::memcpy(out->data, in->data, count);
         return 0;
       }});
  return all.emplace(dtype, made).first->second;
}

// A saved function that has such an operation finds it again.
const bool kIsRegistered = [] {
  registerOperations("stablehlo.bitcast", [](const std::string &name) {
    for (const DTypeInfo &each : kDTypes)
      if (name == std::string("stablehlo.bitcast[") + each.name + "]")
        bitcastTo(each.dtype);
  });
  return true;
}();

DType wordOf(DType dtype) {
  switch (size_of(dtype)) {
  case 1:
    return DType::Int8;
  case 2:
    return DType::Int16;
  case 4:
    return DType::Int32;
  default:
    return DType::Int64;
  }
}

} // namespace

Tensor bitcast(const Tensor &x, DType dtype) {
  if (x.dtype() == dtype)
    return x;
  // Integers of the same width wrap.
  if (is_integer(x.dtype()) && is_integer(dtype) && size_of(x.dtype()) == size_of(dtype))
    return cast(x, dtype);
  return bitcastTo(dtype)({x})[0];
}

Tensor inTotalOrder(const Tensor &x) {
  // The bits of negative numbers count backwards.
  const DType word = wordOf(x.dtype());
  const Tensor bits = bitcast(x, word);
  const auto width = static_cast<std::int64_t>(8 * size_of(word));
  const Tensor largest = scalarOf(-1, word);
  const Tensor isNegative = right_shift(bits, width - 1); // -1, or 0
  return bitwise_xor(bits, bitwise_and(isNegative, bitwise_xor(largest, left_shift(scalarOf(1, word), width - 1))));
}

Tensor isLess(const Tensor &lhs, const Tensor &rhs) {
  if (lhs.dtype() == DType::Bool)
    return logical_and(logical_not(lhs), rhs);
  if (!is_complex(lhs.dtype()))
    return less(lhs, rhs);
  const Tensor a = real(lhs), b = real(rhs);
  return logical_or(less(a, b), logical_and(equal(a, b), less(imag(lhs), imag(rhs))));
}

Tensor larger(const Tensor &lhs, const Tensor &rhs) {
  if (lhs.dtype() == DType::Bool)
    return logical_or(lhs, rhs);
  return is_complex(lhs.dtype()) ? where(isLess(lhs, rhs), rhs, lhs) : maximum(lhs, rhs);
}
Tensor smaller(const Tensor &lhs, const Tensor &rhs) {
  if (lhs.dtype() == DType::Bool)
    return logical_and(lhs, rhs);
  return is_complex(lhs.dtype()) ? where(isLess(rhs, lhs), rhs, lhs) : minimum(lhs, rhs);
}

Tensor quotient(const Tensor &lhs, const Tensor &rhs) {
  if (!is_integer(lhs.dtype()))
    return div(lhs, rhs);
  if (rhs.is_known() && rhs.shape().is_known() && std::int64_t(rhs.size()) <= 64 &&
      std::ranges::none_of(hostIntegers(rhs), [](auto n) { return n == 0; }))
    return div(lhs, rhs);
  // XLA gives -1 for a division by zero, where Calque throws.
  const Tensor isZero = equal(rhs, 0);
  return where(isZero,
               scalarOf(-1, DType::Int64).dtype() == lhs.dtype() ? scalarOf(-1, DType::Int64)
                                                                 : cast(scalarOf(-1, DType::Int64), lhs.dtype()),
               div(lhs, where(isZero, cast(scalarOf(1, DType::Int64), lhs.dtype()), rhs)));
}

//===-- Bodies ----------------------------------------------------------------------------------===//

std::string bodyOf(const Region &region) {
  if (region.arguments.size() != 2)
    return {};
  const std::vector<calque::stablehlo::Operation> &all = region.operations;
  if (all.size() == 1 && all[0].operands.size() == 1 && all[0].operands[0] == region.arguments[1])
    return "return";
  if (all.size() != 2 || all[0].operands.size() != 2 || all[0].results.size() != 1 || all[1].operands.size() != 1 ||
      all[1].operands[0] != all[0].results[0])
    return {};
  const int a = all[0].operands[0], b = all[0].operands[1];
  const bool isInOrder = a == region.arguments[0] && b == region.arguments[1];
  const bool isSwapped = a == region.arguments[1] && b == region.arguments[0];
  if (!isInOrder && !isSwapped)
    return {};
  const std::string &name = all[0].name;
  for (const char *each : {"add", "multiply", "maximum", "minimum", "and", "or", "xor"})
    if (name == std::string("stablehlo.") + each)
      return each;
  return {};
}

std::optional<double> neutral(const std::string &body, DType dtype) {
  if (is_complex(dtype) && body != "add" && body != "multiply")
    return {};
  const bool isFloat = is_floating(dtype);
  if (body == "add" || body == "xor")
    return 0;
  if (body == "or")
    return 0;
  if (body == "multiply")
    return 1;
  if (body == "and")
    return dtype == DType::Bool ? 1 : -1;
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (isFloat && body == "maximum")
    return -kInfinity;
  if (isFloat && body == "minimum")
    return kInfinity;
  if (dtype == DType::Bool && (body == "maximum" || body == "minimum"))
    return body == "maximum" ? 0 : 1;
  if (is_integer(dtype) && (body == "maximum" || body == "minimum")) {
    const auto bits = static_cast<int>(8 * size_of(dtype));
    if (is_unsigned(dtype))
      return body == "maximum" ? 0 : std::ldexp(1.0, bits) - 1;
    return body == "maximum" ? -std::ldexp(1.0, bits - 1) : std::ldexp(1.0, bits - 1) - 1;
  }
  return {};
}

bool isNeutral(const std::string &body, const Tensor &x) {
  const std::optional<double> number = neutral(body, x.dtype());
  if (!number || x.rank() != 0 || !x.is_known())
    return false;
  if (is_complex(x.dtype())) {
    InitScope now;
    return hostNumbers(real(x))[0] == *number && hostNumbers(imag(x))[0] == 0;
  }
  // Numbers that a double does not hold would be taken for their neighbours.
  if (x.dtype() == DType::Int64)
    return hostIntegers(x)[0] == (body == "minimum"   ? std::numeric_limits<std::int64_t>::max()
                                  : body == "maximum" ? std::numeric_limits<std::int64_t>::min()
                                                      : static_cast<std::int64_t>(*number));
  if (x.dtype() == DType::UInt64)
    return *x.data<std::uint64_t>() == (body == "minimum" || body == "and" ? std::numeric_limits<std::uint64_t>::max()
                                                                           : static_cast<std::uint64_t>(*number));
  if (is_integer(x.dtype()) && body == "and")
    return hostIntegers(bitcast(x, wordOf(x.dtype())))[0] == -1;
  return hostNumbers(x)[0] == *number;
}

std::vector<Tensor> foldLast(const Call &call, const Region &body, std::vector<Tensor> xs) {
  const std::int64_t axis = xs[0].rank() - 1;
  const auto last = static_cast<std::size_t>(axis);
  const Size size = xs[0].shape()[last];
  if (!size.is_known())
    call.refuse("its body is none of add, multiply, maximum, minimum, and, or, and a dimension that it reduces has an "
                "unknown size");
  std::vector<Tensor> tail; // what is behind the pairs
  auto combine = [&](const std::vector<Tensor> &a, const std::vector<Tensor> &b) {
    std::vector<Tensor> both = a;
    both.insert(both.end(), b.begin(), b.end());
    return call.lift(body, both);
  };
  auto every = [&](std::int64_t from, std::int64_t count, std::int64_t step) {
    std::vector<Tensor> made;
    for (const Tensor &x : xs) {
      const Shape shape = x.shape();
      Numbers starts(shape.size(), 0), limits(shape), steps(shape.size(), 1);
      starts[last] = from;
      limits[last] = from + (count - 1) * step + 1;
      steps[last] = step;
      made.push_back(sliceOf(x, starts, limits, steps));
    }
    return made;
  };
  for (std::int64_t n = size; n > 1;) {
    const std::int64_t half = n / 2;
    if (n % 2 != 0) {
      const std::vector<Tensor> one = every(n - 1, 1, 1);
      tail = tail.empty() ? one : combine(one, tail);
    }
    xs = combine(every(0, half, 2), every(1, half, 2));
    n = half;
  }
  if (!tail.empty())
    xs = combine(xs, tail);
  for (Tensor &x : xs)
    x = squeeze(x, {axis});
  return xs;
}

} // namespace calque::stablehlo
