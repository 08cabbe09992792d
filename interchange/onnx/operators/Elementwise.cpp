// Operators on each element alone.
#include "onnx/Support.h"

#include "calque/linalg.h"

#include <cmath>

namespace calque::onnx {

namespace {

// Before version 7 the second operand broadcast only if asked for, and lay along the first one's axes from `axis` on.
Tensor second(const Call &call) {
  const Tensor y = call.tensor(1);
  if (call.version() >= 7 || !call.flag("broadcast", false))
    return y;
  const std::int64_t rank = call.value(0).rank(), axis = call.integer("axis", rank - y.rank());
  std::vector<std::int64_t> behind;
  for (std::int64_t i = call.axis(axis, rank + 1) + y.rank(); i < rank; ++i)
    behind.push_back(y.rank() + static_cast<std::int64_t>(behind.size()));
  return behind.empty() ? y : expand_dims(y, behind);
}

// Sizes that a model computes with: two numbers that are known, or one that leaves the other as it is.
Value ofSizes(const Call &call, Tensor (*apply)(const Operand &, const Operand &), char sign) {
  const Value &a = call.value(0), &b = call.value(1);
  const auto x = a.elements(), y = b.elements();
  const Tensor computed = apply(a.tensor(), b.tensor());
  if (!x || !y || (x->size() != y->size() && x->size() != 1 && y->size() != 1))
    return computed;
  Value::Elements made;
  for (std::size_t i = 0; i < std::max(x->size(), y->size()); ++i) {
    const auto &p = (*x)[x->size() == 1 ? 0 : i], &q = (*y)[y->size() == 1 ? 0 : i];
    const bool knowsP = p && p->is_known(), knowsQ = q && q->is_known();
    auto is = [](bool known, const std::optional<Size> &each, std::int64_t n) { return known && *each == n; };
    if (knowsP && knowsQ && (sign != '/' || *q != 0)) {
      // Integers wrap, as those of tensors do.
      const std::int64_t m = *p, n = *q;
      const auto u = static_cast<std::uint64_t>(m), v = static_cast<std::uint64_t>(n);
      const std::int64_t number = sign == '/' ? m / n
                                              : static_cast<std::int64_t>(sign == '+'   ? u + v
                                                                          : sign == '-' ? u - v
                                                                                        : u * v);
      made.push_back(number == std::numeric_limits<std::int64_t>::min() ? std::nullopt : std::optional(Size(number)));
    } else if (is(knowsQ, q, sign == '+' || sign == '-' ? 0 : 1)) {
      made.push_back(p);
    } else if (is(knowsP, p, sign == '+' ? 0 : 1) && (sign == '+' || sign == '*')) {
      made.push_back(q);
    } else {
      made.emplace_back();
    }
  }
  return Value::ofElements(made, a.rank() == 0 && b.rank() == 0, a.dtype(), computed);
}

template <Tensor (*F)(const Operand &, const Operand &), char Sign> Results arithmetic(const Call &call) {
  const Value &a = call.value(0), &b = call.value(1);
  if (a.hasElements() || b.hasElements())
    return ofSizes(call, F, Sign);
  // Images of one shape, as those that a residual network adds.
  if (a.isImages() && b.isImages() && a.rank() == b.rank())
    return Value::ofImages(F(a.images(), b.images()));
  return F(call.tensor(0), second(call));
}

Results modulo(const Call &call) {
  const Tensor x = call.tensor(0), y = call.tensor(1);
  const bool truncates = call.flag("fmod", false);
  if (!truncates && is_floating(x.dtype()))
    call.refuse("attribute 'fmod' must be 1 for " + std::string(name_of(x.dtype())));
  return truncates ? fmod(x, y) : mod(x, y);
}

Results power(const Call &call) {
  const Tensor x = call.tensor(0), y = second(call);
  if (x.dtype() == y.dtype())
    return pow(x, y);
  if (is_floating(x.dtype()))
    return pow(x, cast(y, x.dtype()));
  if (is_floating(y.dtype())) {
    // An integer to a fractional power is computed in float64, which holds it exactly up to 2^53.
    return cast(pow(cast(x, DType::Float64), cast(y, DType::Float64)), x.dtype());
  }
  return cast(pow(cast(x, DType::Int64), cast(y, DType::Int64)), x.dtype());
}

template <Tensor (*F)(const Operand &, const Operand &)> Results fold(const Call &call) {
  Tensor all = call.tensor(0);
  for (std::size_t i = 1; i < call.size(); ++i)
    all = F(all, call.tensor(i));
  return all;
}
Results meanOfAll(const Call &call) {
  Tensor all = fold<add>(call)[0].tensor();
  return all / scalarOf(static_cast<double>(call.size()), all.dtype());
}

Results clipped(const Call &call) {
  const Value &input = call.value(0);
  const DType dtype = input.dtype();
  std::optional<Tensor> low, high;
  if (call.version() < 11) {
    constexpr float kLargest = std::numeric_limits<float>::max();
    low = scalarOf(call.number("min", -kLargest), dtype);
    high = scalarOf(call.number("max", kLargest), dtype);
  } else {
    if (call.has(1))
      low = call.tensor(1);
    if (call.has(2))
      high = call.tensor(2);
  }
  return pointwise(call, [&](Tensor x) {
    if (low)
      x = maximum(x, *low);
    return high ? minimum(x, *high) : x;
  });
}

Results infinite(const Call &call) {
  const Tensor x = call.tensor(0);
  const bool negative = call.flag("detect_negative", true), positive = call.flag("detect_positive", true);
  const Tensor zero = scalarOf(0, x.dtype());
  if (negative && positive)
    return isinf(x);
  if (!negative && !positive)
    return full(x.shape(), false, DType::Bool);
  return logical_and(isinf(x), negative ? less(x, zero) : greater(x, zero));
}

Results shifted(const Call &call) {
  const std::string direction = call.text("direction", "");
  if (direction != "LEFT" && direction != "RIGHT")
    call.refuse("attribute 'direction' is '" + direction + "', expected 'LEFT' or 'RIGHT'");
  return direction == "LEFT" ? left_shift(call.tensor(0), call.tensor(1)) : right_shift(call.tensor(0), call.tensor(1));
}

Results equalTo(const Call &call) {
  const Value &a = call.value(0), &b = call.value(1);
  // Whether a size is -1, as exporters ask for the shape of Expand: a size of a call is not negative.
  const auto x = a.elements(), y = b.elements();
  if ((a.hasElements() || b.hasElements()) && x && y && (x->size() == y->size() || y->size() == 1)) {
    std::vector<unsigned char> same;
    for (std::size_t i = 0; i < x->size(); ++i) {
      const auto &p = (*x)[i], &q = (*y)[y->size() == 1 ? 0 : i];
      if (!p || !q || (!p->is_known() && !q->is_known()))
        return equal(a.tensor(), b.tensor());
      const bool known = p->is_known() && q->is_known();
      const std::int64_t other = q->is_known() ? std::int64_t(*q) : std::int64_t(*p);
      if (!known && other >= 0)
        return equal(a.tensor(), b.tensor());
      same.push_back(known && *p == *q);
    }
    return tensor_from_bytes(DType::Bool, std::as_bytes(std::span(same)), a.shape());
  }
  return equal(call.tensor(0), call.tensor(1));
}

Results chosen(const Call &call) {
  const Value &condition = call.value(0), &a = call.value(1), &b = call.value(2);
  const auto x = a.elements(), y = b.elements();
  if (condition.isKnown() && (a.hasElements() || b.hasElements()) && x && y && condition.rank() <= 1) {
    const std::vector<std::int64_t> choices = hostIntegers(condition.tensor());
    const std::size_t size = std::max({choices.size(), x->size(), y->size()});
    Value::Elements made;
    for (std::size_t i = 0; i < size; ++i) {
      auto at = [&](const auto &list) { return list[list.size() == 1 ? 0 : i]; };
      made.push_back(at(choices) ? at(*x) : at(*y));
    }
    const Tensor computed = where(condition.tensor(), a.tensor(), b.tensor());
    return Value::ofElements(made, computed.rank() == 0, a.dtype(), computed);
  }
  return where(call.tensor(0), call.tensor(1), call.tensor(2));
}

Tensor gelu(const Tensor &x, bool approximate) {
  if (approximate) {
    const Tensor inner =
        scalarOf(std::sqrt(2 / std::acos(-1.0)), x.dtype()) * (x + scalarOf(0.044715, x.dtype()) * (x * x * x));
    return scalarOf(0.5, x.dtype()) * x * (tanh(inner) + 1);
  }
  return scalarOf(0.5, x.dtype()) * x * (erf(x * scalarOf(std::sqrt(0.5), x.dtype())) + 1);
}

template <typename F> Results ofNumbersOf(const Call &call, const F &f) {
  return pointwise(call, [&](const Tensor &x) { return f(x, [&](double n) { return scalarOf(n, x.dtype()); }); });
}

constexpr Operator kTable[] = {
    {"Abs", {6, 13}, 1, 1, 0, unary<abs>, "abs"},
    {"Acos", {7, 22}, 1, 1, 0, unary<acos>, {"acos", Same::Floats}},
    {"Acosh", {9, 22}, 1, 1, 0, unary<acosh>, {"acosh", Same::Floats}},
    {"Add", {6, 7, 13, 14}, 2, 2, 0, arithmetic<add, '+'>, "add"},
    {"And", {7}, 2, 2, 0, binary<logical_and>, "logical_and"},
    {"Asin", {7, 22}, 1, 1, 0, unary<asin>, {"asin", Same::Floats}},
    {"Asinh", {9, 22}, 1, 1, 0, unary<asinh>, {"asinh", Same::Floats}},
    {"Atan", {7, 22}, 1, 1, 0, unary<atan>, {"atan", Same::Floats}},
    {"Atanh", {9, 22}, 1, 1, 0, unary<atanh>, {"atanh", Same::Floats}},
    {"BitShift", {11}, 2, 2, 0, shifted},
    {"BitwiseAnd", {18}, 2, 2, 0, binary<bitwise_and>, {"bitwise_and", Same::Integers}},
    {"BitwiseNot", {18}, 1, 1, 0, unary<bitwise_not>, {"bitwise_not", Same::Integers}},
    {"BitwiseOr", {18}, 2, 2, 0, binary<bitwise_or>, {"bitwise_or", Same::Integers}},
    {"BitwiseXor", {18}, 2, 2, 0, binary<bitwise_xor>, {"bitwise_xor", Same::Integers}},
    {"Ceil", {6, 13}, 1, 1, 0, unary<ceil>, {"ceil", Same::Floats}},
    {"Celu",
     {12},
     1,
     1,
     0,
     [](const Call &call) {
       const float alpha = call.number("alpha", 1);
       return ofNumbersOf(call, [&](const Tensor &x, const auto &n) {
         return maximum(x, n(0)) + minimum(n(alpha) * expm1(x / n(alpha)), n(0));
       });
     }},
    {"Clip", {6, 11, 12, 13}, 1, 3, 0, clipped},
    {"Cos", {7, 22}, 1, 1, 0, unary<cos>, {"cos", Same::Floats}},
    {"Cosh", {9, 22}, 1, 1, 0, unary<cosh>, {"cosh", Same::Floats}},
    {"Div", {6, 7, 13, 14}, 2, 2, 0, arithmetic<div, '/'>, "div"},
    {"Elu",
     {6, 22},
     1,
     1,
     0,
     [](const Call &call) {
       const float alpha = call.number("alpha", 1);
       return ofNumbersOf(call, [&](const Tensor &x, const auto &n) {
         return where(x < n(0), n(alpha) * expm1(minimum(x, n(0))), x);
       });
     }},
    {"Equal", {7, 11, 13, 19}, 2, 2, 0, equalTo, "equal"},
    {"Erf", {9, 13}, 1, 1, 0, unary<erf>, {"erf", Same::Floats}},
    {"Exp", {6, 13}, 1, 1, 0, unary<exp>, {"exp", Same::Floats}},
    {"Floor", {6, 13}, 1, 1, 0, unary<floor>, {"floor", Same::Floats}},
    {"Gelu",
     {20},
     1,
     1,
     0,
     [](const Call &call) {
       const std::string approximate = call.text("approximate", "none");
       if (approximate != "none" && approximate != "tanh")
         call.refuse("attribute 'approximate' is '" + approximate + "', expected 'none' or 'tanh'");
       return pointwise(call, [&](const Tensor &x) { return gelu(x, approximate == "tanh"); });
     }},
    {"Greater", {7, 9, 13}, 2, 2, 0, binary<greater>, {"greater", Same::Numbers}},
    {"GreaterOrEqual", {12, 16}, 2, 2, 0, binary<greater_equal>, {"greater_equal", Same::Numbers}},
    {"HardSigmoid",
     {6, 22},
     1,
     1,
     0,
     [](const Call &call) {
       const float alpha = call.number("alpha", 0.2f), beta = call.number("beta", 0.5f);
       return ofNumbersOf(
           call, [&](const Tensor &x, const auto &n) { return maximum(minimum(n(alpha) * x + n(beta), n(1)), n(0)); });
     }},
    {"HardSwish",
     {14, 22},
     1,
     1,
     0,
     [](const Call &call) {
       return ofNumbersOf(call, [&](const Tensor &x, const auto &n) {
         return x * maximum(minimum(x * n(1.0 / 6) + n(0.5), n(1)), n(0));
       });
     }},
    {"IsInf", {10, 20}, 1, 1, 0, infinite},
    {"IsNaN", {9, 13, 20}, 1, 1, 0, unary<isnan>, {"isnan", Same::Floats}},
    {"LeakyRelu",
     {6, 16},
     1,
     1,
     0,
     [](const Call &call) {
       const float alpha = call.number("alpha", 0.01f);
       return ofNumbersOf(call, [&](const Tensor &x, const auto &n) { return where(x < n(0), n(alpha) * x, x); });
     }},
    {"Less", {7, 9, 13}, 2, 2, 0, binary<less>, {"less", Same::Numbers}},
    {"LessOrEqual", {12, 16}, 2, 2, 0, binary<less_equal>, {"less_equal", Same::Numbers}},
    {"Log", {6, 13}, 1, 1, 0, unary<log>, {"log", Same::Floats}},
    {"Max", {6, 8, 12, 13}, 1, kAnyNumber, 0, fold<maximum>, "maximum"},
    {"Mean", {6, 8, 13}, 1, kAnyNumber, 0, meanOfAll},
    {"Min", {6, 8, 12, 13}, 1, kAnyNumber, 0, fold<minimum>, "minimum"},
    {"Mish",
     {18, 22},
     1,
     1,
     0,
     [](const Call &call) { return pointwise(call, [](const Tensor &x) { return x * tanh(softplus(x)); }); }},
    {"Mod", {10, 13}, 2, 2, 0, modulo},
    {"Mul", {6, 7, 13, 14}, 2, 2, 0, arithmetic<mul, '*'>, "mul"},
    {"Neg", {6, 13}, 1, 1, 0, unary<neg>, {"neg", Same::Signed}},
    {"Not", {1}, 1, 1, 0, unary<logical_not>, "logical_not"},
    {"Or", {7}, 2, 2, 0, binary<logical_or>, "logical_or"},
    {"PRelu",
     {6, 7, 9, 16},
     2,
     2,
     0,
     [](const Call &call) {
       const Tensor x = call.tensor(0);
       Tensor slope = call.tensor(1);
       if (call.version() < 7 && slope.rank() == 1 && x.rank() > 1) // one for each channel
         slope = perChannel(slope, x.rank());
       return Results(where(less(x, scalarOf(0, x.dtype())), slope * x, x));
     }},
    {"Pow", {1, 7, 12, 13, 15}, 2, 2, 0, power, {"pow", Same::Floats}},
    {"Reciprocal", {6, 13}, 1, 1, 0, unary<reciprocal>, {"reciprocal", Same::Floats}},
    {"Relu", {6, 13, 14}, 1, 1, 0, unary<relu>, {"relu", Same::Signed}},
    {"Round", {11, 22}, 1, 1, 0, unary<round>, {"round", Same::Floats}},
    {"Selu",
     {6, 22},
     1,
     1,
     0,
     [](const Call &call) {
       const float alpha = call.number("alpha", 1.67326319217681884765625f);
       const float gamma = call.number("gamma", 1.05070102214813232421875f);
       return ofNumbersOf(call, [&](const Tensor &x, const auto &n) {
         return n(gamma) * where(x > n(0), x, n(alpha) * expm1(minimum(x, n(0))));
       });
     }},
    {"Shrink",
     {9},
     1,
     1,
     0,
     [](const Call &call) {
       const float bias = call.number("bias", 0), lambda = call.number("lambd", 0.5f);
       return ofNumbersOf(call, [&](const Tensor &x, const auto &n) {
         return where(x < n(-lambda), x + n(bias), where(x > n(lambda), x - n(bias), n(0)));
       });
     }},
    {"Sigmoid", {6, 13}, 1, 1, 0, unary<sigmoid>, {"sigmoid", Same::Floats}},
    {"Sign", {9, 13}, 1, 1, 0, unary<sign>, "sign"},
    {"Sin", {7, 22}, 1, 1, 0, unary<sin>, {"sin", Same::Floats}},
    {"Sinh", {9, 22}, 1, 1, 0, unary<sinh>, {"sinh", Same::Floats}},
    {"Softplus", {1, 22}, 1, 1, 0, unary<softplus>, {"softplus", Same::Floats}},
    {"Softsign",
     {1, 22},
     1,
     1,
     0,
     [](const Call &call) { return pointwise(call, [](const Tensor &x) { return x / (abs(x) + 1); }); }},
    {"Sqrt", {6, 13}, 1, 1, 0, unary<sqrt>, {"sqrt", Same::Floats}},
    {"Sub", {6, 7, 13, 14}, 2, 2, 0, arithmetic<sub, '-'>, "sub"},
    {"Sum", {6, 8, 13}, 1, kAnyNumber, 0, fold<add>},
    {"Swish",
     {24},
     1,
     1,
     0,
     [](const Call &call) {
       const float alpha = call.number("alpha", 1);
       return ofNumbersOf(call, [&](const Tensor &x, const auto &n) { return x * sigmoid(n(alpha) * x); });
     }},
    {"Tan", {7, 22}, 1, 1, 0, unary<tan>, {"tan", Same::Floats}},
    {"Tanh", {6, 13}, 1, 1, 0, unary<tanh>, {"tanh", Same::Floats}},
    {"ThresholdedRelu",
     {10, 22},
     1,
     1,
     0,
     [](const Call &call) {
       const float alpha = call.number("alpha", 1);
       return ofNumbersOf(call, [&](const Tensor &x, const auto &n) { return where(x > n(alpha), x, n(0)); });
     }},
    {"Where", {9, 16}, 3, 3, 0, chosen, "where"},
    {"Xor", {7}, 2, 2, 0, binary<logical_xor>, "logical_xor"},
};

} // namespace

Table elementwiseOperators() { return kTable; }

} // namespace calque::onnx
