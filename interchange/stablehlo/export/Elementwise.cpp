// Elementwise operations: by the operation that is the same, which the reader's tables name, or by their meaning on one
// element, which the records have. A function of that meaning is an operation, or some.
#include "stablehlo/Operators.h"
#include "stablehlo/export/Emit.h"

#include "calque/dtype.h"

#include <cmath>
#include <limits>

namespace calque::stablehlo {

namespace {

bool isUnsigned(DType dtype) { return std::string_view(name_of(dtype)).starts_with("u"); }

// The operation of the reader's tables that is the same as a record. Null if there is none.
const Operator *sameAs(std::string_view record, DType dtype, bool takesChlo) {
  static const auto *const all = [] {
    auto *made = new std::unordered_map<std::string_view, const Operator *>();
    for (const Table &table : operatorTables())
      for (const Operator &each : table)
        for (std::string_view left = each.same; !left.empty();) {
          const std::size_t end = std::min(left.find(' '), left.size());
          made->emplace(left.substr(0, end), &each);
          left.remove_prefix(std::min(end + 1, left.size()));
        }
    return made;
  }();
  const auto found = all->find(record);
  if (found == all->end() || (found->second->name.starts_with("chlo.") && !takesChlo))
    return nullptr;
  // A magnitude, a sign and a sign bit are those of numbers with signs.
  const bool hasSign = !isUnsigned(dtype) && dtype != DType::Bool;
  if (!hasSign && (record == "abs" || record == "sign" || record == "right_shift"))
    return nullptr;
  return found->second;
}

// Writes functions of elements.
class Meaning {
public:
  Meaning(Emit &e, DType result) : e(e), result(result) {}

  Written of(const ElementExpression &expression, const Values &operands) {
    if (expression.function.empty())
      return operands[expression.operand];
    Values inner;
    for (const ElementExpression &each : expression.inner)
      inner.push_back(of(each, operands));
    if (expression.function == "constant")
      return e.numberLike(expression.number, inner[0]);
    if (const auto found = functions().find(expression.function); found != functions().end())
      return found->second(*this, inner);
    if (const Operator *same = sameAs(expression.function, *inner[0].type.dtype, e.making.usesChlo))
      return e.same(std::string(same->name), inner);
    if (const Emit::Function *function = specialFunction(expression.function))
      return e.composed(std::string(expression.function), inner, *function)[0];
    const bool isChlo = sameAs(expression.function, *inner[0].type.dtype, true);
    e.refuse("StableHLO has no operation for operation '" + std::string(e.op.name) + "', and its function '" +
             std::string(expression.function) + "' is not composed of others" +
             (isChlo ? "; with {.chlo = true} it is an operation of CHLO" : ""));
  }

private:
  using Function = Written (*)(Meaning &m, const Values &x);

  Written number(double value, const Written &like) { return e.numberLike(value, like); }
  Written node(const char *operation, const Values &x) { return e.same(operation, x); }
  Written less(const Written &x, const Written &y) { return e.compare("LT", x, y); }
  Written equal(const Written &x, const Written &y) { return e.compare("EQ", x, y); }
  Written scaled(const Written &x, double factor) { return node("multiply", {x, number(factor, x)}); }

  // The remainder of a division that rounds down.
  Written modulo(const Written &a, const Written &b) {
    const Written rest = node("remainder", {a, b}), zero = number(0, a);
    if (isUnsigned(*a.type.dtype))
      return rest;
    const Written isBelow = less(rest, zero), isDivisorBelow = less(b, zero);
    const Written differs = node("xor", {isBelow, isDivisorBelow}), isLeft = e.compare("NE", rest, zero);
    const Written otherSide = node("and", {isLeft, differs});
    const Written made = e.select(otherSide, node("add", {rest, b}), rest);
    if (is_integer(*a.type.dtype))
      return made;
    return e.select(equal(rest, zero), copySign(zero, b), made);
  }
  Written floorDivide(const Written &a, const Written &b) {
    const DType dtype = *a.type.dtype;
    if (is_integer(dtype)) {
      const Written quotient = node("divide", {a, b});
      if (isUnsigned(dtype))
        return quotient;
      const Written rest = node("subtract", {a, node("multiply", {quotient, b})}), zero = number(0, a);
      const Written differs = node("xor", {less(rest, zero), less(b, zero)});
      const Written otherSide = node("and", {e.compare("NE", rest, zero), differs});
      return e.select(otherSide, node("subtract", {quotient, number(1, a)}), quotient);
    }
    // Without the remainder a is a multiple of b, whose quotient is off from a whole number by rounding alone.
    const Written rest = node("remainder", {a, b});
    const Written wideA = e.convert(a, DType::Float64), wideB = e.convert(b, DType::Float64);
    const Written quotient = node("divide", {node("subtract", {wideA, e.convert(rest, DType::Float64)}), wideB});
    const Written zero = number(0, a), differs = node("xor", {less(rest, zero), less(b, zero)});
    const Written otherSide = node("and", {e.compare("NE", rest, zero), differs});
    const Written lower = e.select(otherSide, node("subtract", {quotient, number(1, quotient)}), quotient);
    const Written nearest = e.convert(node("round_nearest_even", {lower}), dtype);
    const Written ratio = node("divide", {a, b});
    return e.select(equal(b, zero), ratio, e.select(equal(nearest, zero), copySign(zero, ratio), nearest));
  }
  Written isNegative(const Written &x) { // also -0 and, of known sizes, NaN with a sign
    if (!Emit::areKnown(Emit::dims(x))) {
      // Readers want to know the sizes of what they look at as bits.
      const Written zero = number(0, x), isBelow = less(x, zero);
      return node("or", {isBelow, less(node("divide", {number(1, x), x}), zero)});
    }
    const DType word = size_of(*x.type.dtype) == 2   ? DType::Int16
                       : size_of(*x.type.dtype) == 4 ? DType::Int32
                                                     : DType::Int64;
    const Written bits = e.bitcast(x, word);
    return less(bits, number(0, bits));
  }
  Written copySign(const Written &magnitude, const Written &sign) {
    const Written positive = node("abs", {magnitude});
    return e.select(isNegative(sign), node("negate", {positive}), positive);
  }
  Written hypot(const Written &a, const Written &b) {
    const Written x = node("abs", {a}), y = node("abs", {b});
    const Written large = node("maximum", {x, y}), small = node("minimum", {x, y});
    const Written ratio = node("divide", {small, large}), one = number(1, a);
    const Written root = node("sqrt", {node("add", {one, node("multiply", {ratio, ratio})})});
    const Written infinity = number(std::numeric_limits<double>::infinity(), a);
    const Written isInfinite = node("or", {equal(x, infinity), equal(y, infinity)});
    const Written made = e.select(equal(large, number(0, a)), large, node("multiply", {large, root}));
    return e.select(isInfinite, infinity, made);
  }
  Written sinc(const Written &x) {
    const Written angle = scaled(x, std::acos(-1.0)), zero = number(0, x);
    const Written made = node("divide", {node("sine", {angle}), angle});
    const Written isWhole = equal(x, node("round_nearest_even", {x}));
    return e.select(equal(x, zero), number(1, x), e.select(isWhole, zero, made));
  }
  Written trunc(const Written &x) { return e.select(less(x, number(0, x)), node("ceil", {x}), node("floor", {x})); }

  static const std::unordered_map<std::string_view, Function> &functions() {
    static const auto *const all = new std::unordered_map<std::string_view, Function>{
        {"abs", [](Meaning &m, const Values &x) { return isUnsigned(*x[0].type.dtype) ? x[0] : m.node("abs", x); }},
        {"sign",
         [](Meaning &m, const Values &x) {
           if (isUnsigned(*x[0].type.dtype))
             return m.e.convert(m.e.compare("NE", x[0], m.number(0, x[0])), *x[0].type.dtype);
           return m.node("sign", x);
         }},
        {"atan", [](Meaning &m, const Values &x) { return m.node("atan2", {x[0], m.number(1, x[0])}); }},
        {"log10", [](Meaning &m,
                     const Values &x) { return m.node("divide", {m.node("log", x), m.number(std::log(10.0), x[0])}); }},
        {"exp2", [](Meaning &m, const Values &x) { return m.node("power", {m.number(2, x[0]), x[0]}); }},
        {"log2",
         [](Meaning &m, const Values &x) {
           if (Emit::areKnown(Emit::dims(x[0])))
             return m.e.composed("log2", x, *specialFunction("log2"))[0]; // exact for powers of 2, by bits
           return m.node("divide", {m.node("log", x), m.number(std::log(2.0), x[0])});
         }},
        {"hypot", [](Meaning &m, const Values &x) { return m.hypot(x[0], x[1]); }},
        {"sinc", [](Meaning &m, const Values &x) { return m.sinc(x[0]); }},
        {"trunc", [](Meaning &m, const Values &x) { return m.trunc(x[0]); }},
        {"copySign", [](Meaning &m, const Values &x) { return m.copySign(x[0], x[1]); }},
        {"mod", [](Meaning &m, const Values &x) { return m.modulo(x[0], x[1]); }},
        {"floorDivide", [](Meaning &m, const Values &x) { return m.floorDivide(x[0], x[1]); }},
        {"equal", [](Meaning &m, const Values &x) { return m.equal(x[0], x[1]); }},
        {"notEqual", [](Meaning &m, const Values &x) { return m.e.compare("NE", x[0], x[1]); }},
        {"less", [](Meaning &m, const Values &x) { return m.less(x[0], x[1]); }},
        {"lessEqual", [](Meaning &m, const Values &x) { return m.e.compare("LE", x[0], x[1]); }},
        {"select", [](Meaning &m, const Values &x) { return m.e.select(x[0], x[1], x[2]); }},
        {"logicalAnd", [](Meaning &m, const Values &x) { return m.node("and", x); }},
        {"logicalOr", [](Meaning &m, const Values &x) { return m.node("or", x); }},
        {"logicalXor", [](Meaning &m, const Values &x) { return m.node("xor", x); }},
        {"logicalNot", [](Meaning &m, const Values &x) { return m.node("not", x); }},
        {"bitNot", [](Meaning &m, const Values &x) { return m.node("not", x); }},
        {"shiftLeft", [](Meaning &m, const Values &x) { return m.node("shift_left", x); }},
        {"shiftRight",
         [](Meaning &m, const Values &x) {
           return m.node(isUnsigned(*x[0].type.dtype) ? "shift_right_logical" : "shift_right_arithmetic", x);
         }},
        {"countOnes", [](Meaning &m, const Values &x) { return m.node("popcnt", x); }},
        {"bitLength",
         [](Meaning &m, const Values &x) {
           const auto bits = static_cast<double>(8 * size_of(*x[0].type.dtype));
           return m.node("subtract", {m.number(bits, x[0]), m.node("count_leading_zeros", x)});
         }},
        {"nextAfter", [](Meaning &m, const Values &x) { return m.nextAfter(x[0], x[1]); }},
        {"castTo", [](Meaning &m, const Values &x) { return m.e.convert(x[0], m.result); }},
    };
    return *all;
  }

  // The neighbours of a number have the neighbours of its bits, which grow with its magnitude.
  Written nextAfter(const Written &x, const Written &y) {
    const DType dtype = *x.type.dtype;
    const DType word = size_of(dtype) == 2 ? DType::Int16 : size_of(dtype) == 4 ? DType::Int32 : DType::Int64;
    const Written bits = e.bitcast(x, word), otherBits = e.bitcast(y, word);
    const Written zero = number(0, x), one = number(1, bits);
    const Written isLarger = equalBools(less(x, y), less(zero, x));
    const Written moved = node("add", {bits, e.select(isLarger, one, number(-1, bits))});
    const Written sign = number(-std::ldexp(1.0, static_cast<int>(8 * size_of(dtype)) - 1), bits);
    const Written smallest = node("or", {node("and", {otherBits, sign}), one});
    const Written next = e.select(equal(x, zero), smallest, moved);
    const Written isOther = node("or", {equal(x, y), e.compare("NE", y, y)});
    return e.bitcast(e.select(e.compare("NE", x, x), bits, e.select(isOther, otherBits, next)), dtype);
  }
  Written equalBools(const Written &x, const Written &y) { return node("not", {node("xor", {x, y})}); }

  Emit &e;
  DType result;
};

} // namespace

Values writeElementwise(Emit &e) {
  const ProgramType &type = e.result();
  Dims dims;
  for (std::size_t i = 0; i < type.sizes.size(); ++i) {
    Dim dim{type.sizes[i]};
    for (std::size_t k = 0; k < e.size() && dim.known == kUnknownSize; ++k) {
      const std::size_t rank = e.type(k).sizes.size();
      if (i + rank < type.sizes.size())
        continue;
      const Dim given = e.dims(k)[i + rank - type.sizes.size()];
      if (given.known == kUnknownSize)
        dim = given;
      else if (given.known != 1)
        dim = {given.known};
    }
    dims.push_back(dim);
  }
  Values operands;
  for (std::size_t i = 0; i < e.size(); ++i)
    operands.push_back(e.broadcast(e.in(i), dims));
  // The elements of where and comparisons follow the last operand: its condition is bool.
  const DType dtype = e.dtype(e.size() - 1);
  if (const Operator *same = sameAs(e.op.name, dtype, e.making.usesChlo)) {
    if (e.op.name == "where")
      return {e.select(operands[0], operands[1], operands[2])};
    const std::string name(same->name);
    return {*type.dtype == dtype ? e.same(name, operands)
                                 : e.line(name, operands, "", {type.dtype, operands[0].type.sizes})};
  }
  // What is composed is computed in float32 of halves, but what looks at their bits.
  const bool computes = e.op.name != "cast" && e.op.name != "nextafter" && *type.dtype != DType::Bool;
  if (computes)
    for (Written &each : operands)
      if (is_half(*each.type.dtype))
        each = e.convert(each, DType::Float32);
  return {e.convert(Meaning(e, *type.dtype).of(*e.op.expression, operands), *type.dtype)};
}

} // namespace calque::stablehlo
