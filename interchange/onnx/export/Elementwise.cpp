// Elementwise operations: by the operator that is the same, which the importer's tables name, or by their meaning on
// one element, which the records have. A function of that meaning is an operator, or some.
#include "onnx/export/Emit.h"

#include <cmath>

namespace calque::onnx {

namespace {

struct Element {
  std::string name;
  DType dtype;
};
using Elements = std::vector<Element>;

// Writes functions of elements.
class Meaning {
public:
  Meaning(Emit &e, DType result) : e(e), result(result) {}

  Element of(const ElementExpression &expression, const Elements &operands) {
    if (expression.function.empty())
      return operands[expression.operand];
    Elements inner;
    for (const ElementExpression &each : expression.inner)
      inner.push_back(of(each, operands));
    if (expression.function == "constant")
      return {e.number(expression.number, inner[0].dtype), inner[0].dtype};
    const auto found = functions().find(expression.function);
    if (found == functions().end())
      e.refuse("ONNX has no operator for operation '" + std::string(e.op.name) + "', and its function '" +
               std::string(expression.function) + "' is not composed of others");
    return found->second(*this, inner);
  }

private:
  using Function = Element (*)(Meaning &m, const Elements &x);

  Element node(const char *op, const Elements &inputs, DType dtype, std::vector<Attribute> attributes = {}) {
    Names names;
    for (const Element &each : inputs)
      names.push_back(each.name);
    return {e.node(op, names, std::move(attributes)), dtype};
  }
  Element node(const char *op, const Elements &inputs) { return node(op, inputs, inputs[0].dtype); }
  Element test(const char *op, Elements inputs) {
    for (Element &each : inputs)
      if (each.dtype == DType::Bool) // which have an order here
        each = cast(each, DType::Int32);
    return node(op, inputs, DType::Bool);
  }
  Element number(double value, const Element &like) { return {e.number(value, like.dtype), like.dtype}; }
  Element cast(const Element &x, DType dtype) { return {e.cast(x.name, x.dtype, dtype), dtype}; }
  Element select(const Element &c, const Element &x, const Element &y) { return node("Where", {c, x, y}, x.dtype); }
  Element less(const Element &x, const Element &y) { return test("Less", {x, y}); }
  Element equal(const Element &x, const Element &y) { return node("Equal", {x, y}, DType::Bool); }
  Element negated(const Element &x) {
    return is_integer(x.dtype) && is_unsigned(x.dtype) ? node("Sub", {number(0, x), x}) : node("Neg", {x});
  }
  static bool is_unsigned(DType dtype) { return std::string_view(name_of(dtype)).starts_with("u"); }
  Element scaled(const Element &x, double factor) { return node("Mul", {x, number(factor, x)}); }

  // The remainder of a division that rounds down.
  Element modulo(const Element &a, const Element &b) {
    if (is_integer(a.dtype))
      return node("Mod", {a, b});
    const Element rest = node("Mod", {a, b}, a.dtype, {attribute("fmod", 1)}), zero = number(0, a);
    const Element differs = node("Xor", {less(rest, zero), less(b, zero)}, DType::Bool);
    const Element none = equal(rest, zero);
    return select(node("And", {differs, node("Not", {none}, DType::Bool)}, DType::Bool), node("Add", {rest, b}), rest);
  }
  // Accurate near 0 by the error of the sum: Higham, Accuracy and Stability of Numerical Algorithms, 1.14.1.
  Element log1p(const Element &x) {
    const Element one = number(1, x), sum = node("Add", {one, x}), log = node("Log", {sum});
    const Element exact = node("Mul", {log, node("Div", {x, node("Sub", {sum, one})})});
    return select(less(number(2, x), sum), log, select(equal(sum, one), x, exact));
  }
  Element expm1(const Element &x) {
    const Element one = number(1, x), power = node("Exp", {x}), plain = node("Sub", {power, one});
    const Element exact = node("Div", {node("Mul", {plain, x}), node("Log", {power})});
    return select(less(one, node("Abs", {x})), plain, select(equal(power, one), x, exact));
  }
  Element isNegative(const Element &x) { // also -0
    const Element zero = number(0, x);
    return node("Or", {less(x, zero), less(node("Reciprocal", {x}), zero)}, DType::Bool);
  }
  Element atan2(const Element &y, const Element &x) {
    const Element zero = number(0, x), angle = node("Atan", {node("Div", {y, x})});
    const Element pi = copySign(number(std::acos(-1.0), x), y);
    const Element turned = select(isNegative(x), node("Add", {angle, pi}), angle);
    const Element upright = scaled(pi, 0.5);
    const Element none = select(isNegative(x), pi, y); // both are 0
    return select(equal(y, zero), none, select(equal(x, zero), upright, turned));
  }
  Element copySign(const Element &magnitude, const Element &sign) {
    const Element positive = node("Abs", {magnitude});
    return select(isNegative(sign), node("Neg", {positive}), positive);
  }
  Element hypot(const Element &a, const Element &b) {
    const Element x = node("Abs", {a}), y = node("Abs", {b}), large = node("Max", {x, y}), small = node("Min", {x, y});
    const Element ratio = node("Div", {small, large}), one = number(1, a);
    const Element root = node("Sqrt", {node("Add", {one, node("Mul", {ratio, ratio})})});
    const Element infinity = number(std::numeric_limits<double>::infinity(), a);
    const Element plain = node("Or", {equal(large, number(0, a)), equal(x, infinity)}, DType::Bool);
    return select(node("Or", {plain, equal(y, infinity)}, DType::Bool),
                  select(equal(x, infinity), x, select(equal(y, infinity), y, large)), node("Mul", {large, root}));
  }
  Element sinc(const Element &x) {
    const Element angle = scaled(x, std::acos(-1.0));
    return select(equal(x, number(0, x)), number(1, x), node("Div", {node("Sin", {angle}), angle}));
  }
  // Shifts of numbers as uint64, whose bits beyond those of the type a conversion drops.
  Element shift(const Element &x, const Element &count, const char *direction) {
    const auto bits = static_cast<double>(8 * size_of(x.dtype));
    const Element outside =
        node("Or", {less(count, number(0, count)), node("GreaterOrEqual", {count, number(bits, count)}, DType::Bool)},
             DType::Bool);
    const Element places = cast(select(outside, number(0, count), count), DType::UInt64);
    auto shifted = [&](const Element &each) {
      return cast(
          node("BitShift", {cast(each, DType::UInt64), places}, DType::UInt64, {attribute("direction", direction)}),
          x.dtype);
    };
    const bool keepsSign = !is_unsigned(x.dtype) && direction == std::string_view("RIGHT");
    if (!keepsSign)
      return select(outside, number(0, x), shifted(x));
    const Element negative = less(x, number(0, x));
    const Element turned = select(negative, node("BitwiseNot", {x}), x);
    const Element moved = select(outside, number(0, x), shifted(turned));
    return select(negative, node("BitwiseNot", {moved}), moved);
  }
  template <int Op> static Element bits(Meaning &m, const Elements &x) {
    static constexpr const char *kNames[][2] = {{"And", "BitwiseAnd"}, {"Or", "BitwiseOr"}, {"Xor", "BitwiseXor"}};
    return m.node(kNames[Op][x[0].dtype != DType::Bool], x);
  }

  static const std::unordered_map<std::string_view, Function> &functions() {
    static const auto *const all = new std::unordered_map<std::string_view, Function>{
        {"add", [](Meaning &m, const Elements &x) { return m.node("Add", x); }},
        {"sub", [](Meaning &m, const Elements &x) { return m.node("Sub", x); }},
        {"mul", [](Meaning &m, const Elements &x) { return m.node("Mul", x); }},
        {"div", [](Meaning &m, const Elements &x) { return m.node("Div", x); }},
        {"neg", [](Meaning &m, const Elements &x) { return m.negated(x[0]); }},
        {"abs", [](Meaning &m, const Elements &x) { return m.node("Abs", x); }},
        {"pow",
         [](Meaning &m, const Elements &x) {
           if (is_integer(x[0].dtype))
             m.e.refuse("the power of integers, which wraps here, is not what ONNX's operator Pow says");
           return m.node("Pow", x);
         }},
        {"exp", [](Meaning &m, const Elements &x) { return m.node("Exp", x); }},
        {"log", [](Meaning &m, const Elements &x) { return m.node("Log", x); }},
        {"log1p", [](Meaning &m, const Elements &x) { return m.log1p(x[0]); }},
        {"expm1", [](Meaning &m, const Elements &x) { return m.expm1(x[0]); }},
        {"sqrt", [](Meaning &m, const Elements &x) { return m.node("Sqrt", x); }},
        {"tanh", [](Meaning &m, const Elements &x) { return m.node("Tanh", x); }},
        {"erf", [](Meaning &m, const Elements &x) { return m.node("Erf", x); }},
        {"sin", [](Meaning &m, const Elements &x) { return m.node("Sin", x); }},
        {"cos", [](Meaning &m, const Elements &x) { return m.node("Cos", x); }},
        {"tan", [](Meaning &m, const Elements &x) { return m.node("Tan", x); }},
        {"asin", [](Meaning &m, const Elements &x) { return m.node("Asin", x); }},
        {"acos", [](Meaning &m, const Elements &x) { return m.node("Acos", x); }},
        {"atan", [](Meaning &m, const Elements &x) { return m.node("Atan", x); }},
        {"sinh", [](Meaning &m, const Elements &x) { return m.node("Sinh", x); }},
        {"cosh", [](Meaning &m, const Elements &x) { return m.node("Cosh", x); }},
        {"asinh", [](Meaning &m, const Elements &x) { return m.node("Asinh", x); }},
        {"acosh", [](Meaning &m, const Elements &x) { return m.node("Acosh", x); }},
        {"atanh", [](Meaning &m, const Elements &x) { return m.node("Atanh", x); }},
        {"atan2", [](Meaning &m, const Elements &x) { return m.atan2(x[0], x[1]); }},
        {"log2", [](Meaning &m, const Elements &x) { return m.scaled(m.node("Log", x), 1 / std::log(2.0)); }},
        {"log10", [](Meaning &m, const Elements &x) { return m.scaled(m.node("Log", x), 1 / std::log(10.0)); }},
        {"exp2", [](Meaning &m, const Elements &x) { return m.node("Pow", {m.number(2, x[0]), x[0]}); }},
        {"cbrt",
         [](Meaning &m, const Elements &x) {
           return m.copySign(m.node("Pow", {m.node("Abs", x), m.number(1.0 / 3, x[0])}), x[0]);
         }},
        {"hypot", [](Meaning &m, const Elements &x) { return m.hypot(x[0], x[1]); }},
        {"sinc", [](Meaning &m, const Elements &x) { return m.sinc(x[0]); }},
        {"floor", [](Meaning &m, const Elements &x) { return m.node("Floor", x); }},
        {"ceil", [](Meaning &m, const Elements &x) { return m.node("Ceil", x); }},
        {"round", [](Meaning &m, const Elements &x) { return m.node("Round", x); }},
        {"trunc",
         [](Meaning &m, const Elements &x) {
           return m.select(m.less(x[0], m.number(0, x[0])), m.node("Ceil", x), m.node("Floor", x));
         }},
        {"copySign", [](Meaning &m, const Elements &x) { return m.copySign(x[0], x[1]); }},
        {"mod", [](Meaning &m, const Elements &x) { return m.modulo(x[0], x[1]); }},
        {"fmod", [](Meaning &m, const Elements &x) { return m.node("Mod", x, x[0].dtype, {attribute("fmod", 1)}); }},
        {"floorDivide",
         [](Meaning &m, const Elements &x) {
           const Element whole = m.node("Div", {m.node("Sub", {x[0], m.modulo(x[0], x[1])}), x[1]});
           return is_floating(x[0].dtype) ? m.node("Round", {whole}) : whole;
         }},
        {"sign", [](Meaning &m, const Elements &x) { return m.node("Sign", x); }},
        {"maximum", [](Meaning &m, const Elements &x) { return m.node("Max", x); }},
        {"minimum", [](Meaning &m, const Elements &x) { return m.node("Min", x); }},
        {"equal", [](Meaning &m, const Elements &x) { return m.equal(x[0], x[1]); }},
        {"notEqual", [](Meaning &m, const Elements &x) { return m.node("Not", {m.equal(x[0], x[1])}); }},
        {"less", [](Meaning &m, const Elements &x) { return m.less(x[0], x[1]); }},
        {"lessEqual", [](Meaning &m, const Elements &x) { return m.test("LessOrEqual", x); }},
        {"select", [](Meaning &m, const Elements &x) { return m.select(x[0], x[1], x[2]); }},
        {"logicalAnd", bits<0>},
        {"logicalOr", bits<1>},
        {"logicalXor", bits<2>},
        {"logicalNot", [](Meaning &m, const Elements &x) { return m.node("Not", x); }},
        {"bitNot",
         [](Meaning &m, const Elements &x) { return m.node(x[0].dtype == DType::Bool ? "Not" : "BitwiseNot", x); }},
        {"shiftLeft", [](Meaning &m, const Elements &x) { return m.shift(x[0], x[1], "LEFT"); }},
        {"shiftRight", [](Meaning &m, const Elements &x) { return m.shift(x[0], x[1], "RIGHT"); }},
        {"castTo", [](Meaning &m, const Elements &x) { return m.cast(x[0], m.result); }},
    };
    return *all;
  }

  Emit &e;
  DType result;
};

// The operator of the importer's tables that is the same as an operation on elements of a type. Null if there is none.
const Operator *sameAs(std::string_view record, DType dtype, std::int64_t opset) {
  static const auto *const all = [] {
    auto *made = new std::unordered_map<std::string_view, const Operator *>();
    for (const Table &table : operatorTables())
      for (const Operator &each : table)
        if (!each.same.record.empty())
          made->emplace(each.same.record, &each);
    return made;
  }();
  const auto found = all->find(record);
  return found != all->end() && found->second->since() <= opset && found->second->isSameFor(dtype) ? found->second
                                                                                                   : nullptr;
}

} // namespace

Names writeElementwise(Emit &e) {
  // The elements of where and comparisons follow the last operand: its condition is bool.
  const DType dtype = e.dtype(e.size() - 1), result = *e.result().dtype;
  // bfloat16 is computed in float32 here, and few operators take it. So is float16 in what is composed.
  const bool computes = e.op.name != "where" && e.op.name != "cast";
  if (!(computes && dtype == DType::BFloat16))
    if (const Operator *same = sameAs(e.op.name, dtype, e.making.opset))
      return {e.node(std::string(same->name), e.operands())};
  Elements operands;
  for (std::size_t i = 0; i < e.size(); ++i) {
    const DType given = e.dtype(i), taken = computes && is_half(given) ? DType::Float32 : given;
    operands.push_back({e.cast(e.in(i), given, taken), taken});
  }
  const Element made = Meaning(e, result).of(*e.op.expression, operands);
  return {e.cast(made.name, made.dtype, result)};
}

} // namespace calque::onnx
