// quantize and dequantize of calque/quantized.h: by scales of a tensor, of entries along an axis, or of blocks.
#include "calque/quantized.h"

#include "absl/strings/str_cat.h"
#include "calque/arrays/moving.h"
#include "frontend/operations/ArrayCalls.h"

namespace calque {

using detail::ArrayCall;
using detail::typeOf;

namespace {

// Which elements share a scale: all of them, those of an entry along an axis, or those of a block along it.
class Groups {
public:
  Groups(const Tensor &x, std::int64_t axis, std::int64_t block, const ArrayCall &call)
      : x(x), axis(call.axis(axis, x)), block(block), call(call) {
    if (block < 0)
      throw ValueError(absl::StrCat(call.function, ": the block must not be negative: ", block), call.where);
  }

  // A scale or zero point, so that it broadcasts to split(x).
  Tensor fitted(const Tensor &scale) const {
    if (scale.rank() == 0)
      return scale;
    const Size size = x.shape()[static_cast<std::size_t>(axis)];
    if (block == 0) {
      if (scale.rank() != 1 || !mayBe(scale.shape()[0], size))
        refuse(scale, absl::StrCat("a scalar, or a vector with a number for each entry along axis ", axis));
      std::vector<std::int64_t> axes;
      for (std::int64_t i = 0; i < x.rank(); ++i)
        if (i != axis)
          axes.push_back(i);
      return axes.empty() ? scale : expand_dims(scale, axes);
    }
    bool fits = scale.rank() == x.rank();
    for (std::int64_t i = 0; fits && i < x.rank(); ++i) {
      const Size own = x.shape()[static_cast<std::size_t>(i)], given = scale.shape()[static_cast<std::size_t>(i)];
      fits = i != axis ? mayBe(given, own)
                       : !own.is_known() || mayBe(given, Size((std::int64_t(own) + block - 1) / block));
    }
    if (!fits)
      refuse(scale, absl::StrCat("a tensor with a number for each block of ", block, " along axis ", axis));
    if (isWhole())
      return expand_dims(scale, {axis + 1});
    return detail::rowsAlong(repeat(scale, block, axis), axis, 0, knownSize());
  }
  // x with a dimension for the entries of a block, if all blocks are whole.
  Tensor split(const Tensor &of) const {
    if (block == 0 || !isWhole())
      return of;
    Shape shape = of.shape();
    const std::int64_t blocks = std::int64_t(shape[static_cast<std::size_t>(axis)]) / block;
    shape[static_cast<std::size_t>(axis)] = Size(blocks);
    shape.insert(shape.begin() + axis + 1, Size(block));
    return reshape(of, shape);
  }
  Tensor joined(const Tensor &of) const { return block == 0 || !isWhole() ? of : reshape(of, x.shape()); }

private:
  static bool mayBe(const Size &given, const Size &wanted) {
    return !given.is_known() || !wanted.is_known() || std::int64_t(given) == std::int64_t(wanted);
  }
  std::int64_t knownSize() const {
    const Size size = x.shape()[static_cast<std::size_t>(axis)];
    if (!size.is_known())
      throw StateError(absl::StrCat(call.function, ": the size of axis ", axis,
                                    " must be known while tracing, unlike that of ", typeOf(x)),
                       call.where);
    return size;
  }
  bool isWhole() const { return knownSize() % block == 0; }
  [[noreturn]] void refuse(const Tensor &scale, const std::string &wanted) const {
    throw ShapeError(absl::StrCat(call.function, ": scales and zero points of ", typeOf(x), " are ", wanted, ", not ",
                                  typeOf(scale)),
                     call.where);
  }

  const Tensor x;
  const std::int64_t axis, block;
  const ArrayCall &call;
};

bool isNarrow(DType dtype) { return is_integer(dtype) && size_of(dtype) <= 2; }

void requireNarrow(const char *what, DType dtype, const ArrayCall &call) {
  if (!isNarrow(dtype))
    throw DTypeError(absl::StrCat(call.function, ": ", what, " is an integer of 8 or 16 bits, not ", name_of(dtype)),
                     call.where);
}

// Whether all elements have one scale and zero point, so that the axis does not matter.
bool isOne(const Tensor &scale, const std::optional<Tensor> &zero) {
  return scale.rank() == 0 && (!zero || zero->rank() == 0);
}

// The type to compute in.
DType wideOf(DType dtype) { return is_half(dtype) ? DType::Float32 : dtype; }

} // namespace

Tensor quantize(const Operand &operand, const Operand &scale, QuantizeOptions options) {
  ArrayCall call(operand, "quantize");
  const Tensor x = detail::floatsOf(operand, call), s = scale.isNumber() ? scale.toTensor(x.dtype()) : scale.tensor();
  if (!is_floating(s.dtype()))
    throw DTypeError(absl::StrCat("quantize: scales are floats, not ", typeOf(s)), call.where);
  const DType dtype = options.zero_point ? options.zero_point->dtype() : options.dtype,
              wide = wideOf(promote(x.dtype(), s.dtype()));
  requireNarrow("the result", dtype, call);
  if (isOne(s, options.zero_point)) {
    const Tensor q = round(cast(x, wide) / cast(s, wide));
    return cast(options.zero_point ? q + cast(*options.zero_point, wide) : q, dtype);
  }
  const Groups groups(x, options.axis, options.block, call);
  Tensor q = round(groups.split(cast(x, wide)) / groups.fitted(cast(s, wide)));
  if (options.zero_point)
    q = q + groups.fitted(cast(*options.zero_point, wide));
  return groups.joined(cast(q, dtype));
}

Tensor dequantize(const Operand &operand, const Operand &scale, DequantizeOptions options) {
  ArrayCall call(operand, "dequantize");
  const Tensor q = operand.toTensor(), s = scale.isNumber() ? scale.toTensor() : scale.tensor();
  if (!is_integer(q.dtype()))
    detail::refuseType("dequantize", {DTypeKind::Integer}, q, call.where);
  if (!is_floating(s.dtype()))
    throw DTypeError(absl::StrCat("dequantize: scales are floats, not ", typeOf(s)), call.where);
  if (options.zero_point && options.zero_point->dtype() != q.dtype())
    throw DTypeError(absl::StrCat("dequantize: a zero point has the type of the numbers, and not ",
                                  typeOf(*options.zero_point), " beside ", typeOf(q)),
                     call.where);
  const DType wide = wideOf(s.dtype());
  auto scaled = [&](const Tensor &numbers, auto fitted) {
    const Tensor x = options.zero_point ? numbers - fitted(cast(*options.zero_point, wide)) : numbers;
    return cast(x * fitted(cast(s, wide)), s.dtype());
  };
  if (isOne(s, options.zero_point))
    return scaled(cast(q, wide), [](const Tensor &x) { return x; });
  const Groups groups(q, options.axis, options.block, call);
  return groups.joined(scaled(groups.split(cast(q, wide)), [&](const Tensor &x) { return groups.fitted(x); }));
}

} // namespace calque
