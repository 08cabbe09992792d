// What operations on complex numbers mean: what operations on real numbers make of the parts, or the C library's
// functions in long double. No formula here is one of the compiler's, but for products and squares, which are defined
// by their parts.
#include "test/fuzz/Kernels.h"

#include <complex>

namespace calque::fuzz {

namespace {

using Exact = std::complex<Real>;

// The parts of an operand. Of real numbers both are the operand itself.
struct Parts {
  Array re, im;
  const Array &operator[](int part) const { return part ? im : re; }
};

Array partOf(const Array &x, int part) {
  if (!is_complex(x.type.dtype))
    return x;
  Array result;
  result.type = {real_of(x.type.dtype), x.type.dims};
  for (std::size_t i = static_cast<std::size_t>(part); i < x.elements.size(); i += 2)
    result.elements.push_back(x.elements[i]);
  return result;
}
std::vector<Parts> operandsOf(const Call &call) {
  std::vector<Parts> parts;
  for (const Array *x : call.x)
    parts.push_back({partOf(*x, 0), partOf(*x, 1)});
  return parts;
}
void put(const Call &call, int part, const Array &from) {
  const auto stride = static_cast<std::size_t>(partsOf(call.dtype()));
  for (std::size_t i = 0; i < from.elements.size(); ++i)
    call.result.elements[i * stride + static_cast<std::size_t>(part)] = from.elements[i];
}

// Operations on real arrays, as the machine does them or unrounded.
struct Reals {
  bool machine;

  Array operator()(OpId op, const std::vector<const Array *> &operands, std::vector<Attribute> attributes = {}) const {
    std::vector<TensorType> types;
    for (const Array *operand : operands)
      types.push_back(operand->type);
    schema::Inference inference = schema::inferTypes(op, types, attributes);
    if (inference.fault)
      throw std::logic_error("no such operation on parts: " + inference.fault.message);
    const Step step{op, {}, std::move(attributes), inference.types, 0, {}};
    Array result;
    result.type = inference.types[0];
    result.elements.resize(static_cast<std::size_t>(countOf(result.type)));
    evaluate({step, operands, result, machine});
    return result;
  }
  Array add(const Array &a, const Array &b) const { return (*this)(OpId::Add, {&a, &b}); }
  Array sub(const Array &a, const Array &b) const { return (*this)(OpId::Sub, {&a, &b}); }
  Array mul(const Array &a, const Array &b) const { return (*this)(OpId::Mul, {&a, &b}); }
};

// A result by operations on the parts of operands: f(reals, parts) has one array for each part of the result.
template <typename F> void compose(const Call &call, F f) {
  std::vector<Parts> operands = operandsOf(call);
  std::vector<Array> results = f(Reals{call.machine}, operands);
  if (!call.machine) {
    // What all the steps add is what a machine's steps are off by.
    for (Parts &operand : operands)
      for (Array *part : {&operand.re, &operand.im})
        for (Num &element : part->elements)
          element.off = element.apart = 0;
    std::vector<Array> rounded = f(Reals{true}, operands);
    for (std::size_t part = 0; part < results.size(); ++part)
      for (std::size_t i = 0; i < results[part].elements.size(); ++i)
        results[part].elements[i].off = rounded[part].elements[i].off;
  }
  for (std::size_t part = 0; part < results.size(); ++part)
    put(call, static_cast<int>(part), results[part]);
}

//===-- By the parts ----------------------------------------------------------------------------===//

// The same operation on the real and on the imaginary parts. `attributes`: those for a part.
void eachPart(const Call &call, const std::function<std::vector<Attribute>(int)> &attributes) {
  const std::vector<Parts> operands = operandsOf(call);
  for (int part = 0; part < partsOf(call.dtype()); ++part) {
    Step step{call.step.op, {}, attributes(part), call.step.types, 0, {}};
    for (TensorType &type : step.types)
      type.dtype = real_of(type.dtype);
    Array result;
    result.type = {real_of(call.dtype()), call.shape()};
    result.elements.resize(static_cast<std::size_t>(countOf(result.type)));
    std::vector<const Array *> given;
    for (const Parts &operand : operands)
      given.push_back(&operand[part]);
    evaluate({step, given, result, call.machine, call.index});
    put(call, part, result);
  }
}
void eachPart(const Call &call) {
  eachPart(call, [&](int) { return call.step.attributes; });
}

void constant(const Call &call) {
  const Data data = dataOf(*call.attribute<schema::ConstantRef>(0));
  for (std::size_t i = 0; i < data.values.size(); ++i)
    call.result.elements[i] = {data.values[i], 0, 0};
}

void cast(const Call &call) {
  if (is_complex(call[0].type.dtype))
    return eachPart(call, [&](int) { return std::vector<Attribute>{real_of(call.dtype())}; });
  put(call, 0, Reals{call.machine}(OpId::Cast, {call.x[0]}, {real_of(call.dtype())}));
}

void pad(const Call &call) {
  eachPart(call, [&](int part) {
    std::vector<Attribute> attributes = call.step.attributes;
    if (part)
      attributes[2] = schema::Scalar(0);
    return attributes;
  });
}

void complexOf(const Call &call) {
  for (std::size_t part : {0, 1}) {
    Broadcast place(call.shape(part), call.shape());
    for (std::int64_t i = 0; 2 * i < call.count(); ++i) {
      Num element = call.in(part, place(i));
      if (!call.machine)
        element.off = element.apart = 0;
      call.out(2 * i + static_cast<std::int64_t>(part)) = element;
    }
  }
}

void realPart(const Call &call) {
  compose(call, [](const Reals &r, const std::vector<Parts> &x) { return std::vector{r(OpId::Identity, {&x[0].re})}; });
}
void imagPart(const Call &call) {
  compose(call, [](const Reals &r, const std::vector<Parts> &x) { return std::vector{r(OpId::Identity, {&x[0].im})}; });
}
void conjugate(const Call &call) {
  compose(call, [](const Reals &r, const std::vector<Parts> &x) {
    return std::vector{r(OpId::Identity, {&x[0].re}), r(OpId::Neg, {&x[0].im})};
  });
}
void magnitude(const Call &call) {
  compose(call, [](const Reals &r, const std::vector<Parts> &x) {
    return std::vector{r(OpId::Hypot, {&x[0].re, &x[0].im})};
  });
}
void angle(const Call &call) {
  compose(call, [](const Reals &r, const std::vector<Parts> &x) {
    return std::vector{r(OpId::Atan2, {&x[0].im, &x[0].re})};
  });
}

// Tests of both parts.
void test(const Call &call, OpId combine) {
  compose(call, [&](const Reals &r, const std::vector<Parts> &x) {
    std::vector<const Array *> re, im;
    for (const Parts &operand : x) {
      re.push_back(&operand.re);
      im.push_back(&operand.im);
    }
    const Array ofRe = r(call.step.op, re), ofIm = r(call.step.op, im);
    return std::vector{r(combine, {&ofRe, &ofIm})};
  });
}
void testAll(const Call &call) { test(call, OpId::LogicalAnd); }
void testAny(const Call &call) { test(call, OpId::LogicalOr); }

// What is linear in both of its operands.
void product(const Call &call) {
  compose(call, [&](const Reals &r, const std::vector<Parts> &x) {
    auto of = [&](int left, int right) { return r(call.step.op, {&x[0][left], &x[1][right]}, call.step.attributes); };
    return std::vector{r.sub(of(0, 0), of(1, 1)), r.add(of(0, 1), of(1, 0))};
  });
}

void square(const Call &call) {
  compose(call, [](const Reals &r, const std::vector<Parts> &x) {
    Array two;
    two.type = {x[0].re.type.dtype, {}};
    two.elements = {{2, 0, 0}};
    return std::vector{r.mul(r.sub(x[0].re, x[0].im), r.add(x[0].re, x[0].im)), r.mul(two, r.mul(x[0].re, x[0].im))};
  });
}

//===-- Functions -------------------------------------------------------------------------------===//

using Function = Exact (*)(const Exact *);

// Elements whose parts are off by `ulps` units in the last place of their magnitude, or by what `ulpsOf` says.
void byFunction(const Call &call, Function f, const std::function<Real(const Exact *)> &ulpsOf) {
  const DType part = real_of(call.dtype());
  const std::size_t count = call.x.size();
  std::vector<Broadcast> places;
  for (std::size_t k = 0; k < count; ++k)
    places.emplace_back(call.shape(k), call.shape());
  Array one;
  one.type = {part, {}};
  one.elements.resize(1);
  for (std::int64_t i = 0; 2 * i < call.count(); ++i) {
    std::vector<Exact> z(count);
    std::vector<Num> parts;
    for (std::size_t k = 0; k < count; ++k) {
      const std::int64_t at = 2 * places[k](i);
      parts.insert(parts.end(), {call.in(k, at), call.in(k, at + 1)});
      z[k] = {parts[2 * k].value, parts[2 * k + 1].value};
    }
    const Exact value = f(z.data());
    const Real size = std::abs(value);
    bool isKnown = size < largestOf(part) / 16;
    for (const Exact &each : z)
      isKnown = isKnown && std::abs(each) < largestOf(part) / 16;
    if (!isKnown) { // Annex G leaves signs and parts open; test/operations/ComplexTest.cpp has what it says
      for (std::int64_t p : {0, 1})
        call.out(2 * i + p) = {p ? value.imag() : value.real(), kUnknown, call.machine ? kUnknown : 0};
      continue;
    }
    auto deviate = [&](Real Num::*bound) {
      Real total = 0;
      for (std::size_t p = 0; p < parts.size(); ++p) {
        const Real b = parts[p].*bound;
        if (b == 0)
          continue;
        const Real scale = std::abs(z[p / 2]);
        if (b > std::max<Real>(1, scale) / 4)
          return kUnknown;
        Real most = 0;
        const Exact before = z[p / 2];
        for (Real side : {-1, 1}) {
          z[p / 2] =
              p % 2 ? Exact(before.real(), parts[p].value + side * b) : Exact(parts[p].value + side * b, before.imag());
          const Exact moved = f(z.data());
          most = std::max({most, distance(moved.real(), value.real()), distance(moved.imag(), value.imag())});
        }
        z[p / 2] = before;
        total += 1.5L * most;
      }
      return total;
    };
    const Real own = ulpsOf(z.data()) * epsilonOf(part) * size + 16 * leastNormalOf(part);
    const Real off = call.machine ? deviate(&Num::off) : 0, apart = call.machine ? deviate(&Num::apart) : 0;
    const Call single{call.step, {}, one, call.machine};
    for (std::int64_t p : {0, 1})
      call.out(2 * i + p) = seal(single, p ? value.imag() : value.real(), off, apart, own, 0);
  }
}

// The series where the difference would lose its digits.
Exact expm1Of(const Exact &z) {
  Exact sum = 0, term = 1;
  for (int k = 1; k < 22; ++k)
    sum += term *= z / static_cast<Real>(k);
  return std::abs(z) < 0.1L ? sum : std::exp(z) - 1.0L;
}
Exact log1pOf(const Exact &z) {
  Exact sum = 0, power = -1;
  for (int k = 1; k < 44; ++k)
    sum += (power *= -z) / static_cast<Real>(k);
  return std::abs(z) < 0.1L ? sum : std::log(1.0L + z);
}
// Near 0 the series; else by the distance of the real part from the nearest integer.
Exact sincOf(const Exact &z) {
  constexpr Real kPi = 3.141592653589793238462643383279502884L;
  const Exact w = kPi * z;
  if (std::abs(w) < 0.01L)
    return 1.0L - w * w / 6.0L * (1.0L - w * w / 20.0L * (1.0L - w * w / 42.0L));
  const Real whole = std::round(z.real());
  return (std::fmod(whole, 2) == 0 ? std::sin(kPi * (z - whole)) : -std::sin(kPi * (z - whole))) / w;
}
constexpr Real kLog2 = 0.693147180559945309417232121458176568L;

template <Exact (*f)(const Exact &)> void unary(const Call &call) {
  byFunction(call, [](const Exact *z) { return f(z[0]); }, [](const Exact *) { return Real(8); });
}
#define CALQUE_LIBRARY_FUNCTION(name)                                                                                  \
  {#name, [](const Call &call) {                                                                                       \
     byFunction(call, [](const Exact *z) { return std::name(z[0]); }, [](const Exact *) { return Real(8); });          \
   }}

Exact log2Of(const Exact &z) { return std::log(z) / kLog2; }
Exact reciprocalOf(const Exact &z) { return 1.0L / z; }
// The angle, which is rounded, is off by a part of itself.
void exp2(const Call &call) {
  byFunction(
      call, [](const Exact *z) { return std::exp(z[0] * kLog2); },
      [](const Exact *z) { return 8 + 2 * std::fabs(z[0].imag()); });
}
void sinc(const Call &call) {
  byFunction(
      call, [](const Exact *z) { return sincOf(z[0]); }, [](const Exact *z) { return 8 + 8 * std::fabs(z[0].imag()); });
}
void divide(const Call &call) {
  byFunction(call, [](const Exact *z) { return z[0] / z[1]; }, [](const Exact *) { return Real(8); });
}
void power(const Call &call) {
  byFunction(
      call,
      [](const Exact *z) {
        if (z[1] == Exact(0))
          return Exact(1);
        if (z[0] == Exact(0) && z[1].real() > 0)
          return Exact(0);
        return std::exp(z[1] * std::log(z[0]));
      },
      [](const Exact *z) {
        const Exact exponent = z[1] * std::log(z[0]);
        return z[0] == Exact(0) ? Real(0) : 16 + 8 * std::abs(exponent);
      });
}

//===-- Products of elements --------------------------------------------------------------------===//

// A product of numbers in the order of the loop.
class Product {
public:
  void add(const Num &re, const Num &im) {
    const Exact z(re.value, im.value);
    value *= z;
    auto largest = [&](Real Num::*bound) { return std::abs(z) + re.*bound + im.*bound; };
    size *= std::abs(z);
    withOff *= largest(&Num::off);
    withApart *= largest(&Num::apart);
    most = std::max({most, withOff, withApart, std::abs(z)});
    ++count;
  }
  void finish(const Call &call, std::int64_t at) const {
    const DType part = real_of(call.dtype());
    const bool isKnown = most < largestOf(part) / 16;
    const Real own = (8 * epsilonOf(part) * std::max(withOff, withApart) + leastNormalOf(part)) * count;
    Array one;
    one.type = {part, {}};
    one.elements.resize(1);
    const Call single{call.step, {}, one, call.machine};
    for (std::int64_t p : {0, 1}) {
      const Real exact = p ? value.imag() : value.real();
      if (!isKnown)
        call.out(2 * at + p) = {exact, kUnknown, call.machine ? kUnknown : 0};
      else
        call.out(2 * at + p) = seal(single, exact, withOff - size, withApart - size, own, 0);
    }
  }

private:
  Exact value = 1;
  Real size = 1, withOff = 1, withApart = 1, most = 1;
  Real count = 0;
};

void reduceProduct(const Call &call) {
  const Shape &from = call.shape(0);
  std::vector<bool> isReduced(from.size(), call.ints(0).empty());
  for (std::int64_t axis : call.ints(0))
    isReduced[static_cast<std::size_t>(normal(axis, from.size()))] = true;
  std::vector<Product> products(static_cast<std::size_t>(call.count() / 2));
  for (std::int64_t i = 0; i < productOf(from); ++i) {
    const Shape index = unravel(i, from);
    std::int64_t at = 0;
    for (std::size_t d = 0; d < index.size(); ++d)
      if (!isReduced[d])
        at = at * from[d] + index[d];
    products[static_cast<std::size_t>(at)].add(call.in(0, 2 * i), call.in(0, 2 * i + 1));
  }
  for (std::size_t i = 0; i < products.size(); ++i)
    products[i].finish(call, static_cast<std::int64_t>(i));
}

void cumulativeProduct(const Call &call) {
  const Shape &shape = call.shape();
  const std::int64_t axis = normal(call.attribute<std::int64_t>(0), shape.size());
  const bool exclusive = call.attribute<bool>(1), reverse = call.attribute<bool>(2);
  const std::int64_t size = shape[static_cast<std::size_t>(axis)], stride = stridesOf(shape)[axis];
  for (std::int64_t i = 0; i < productOf(shape); ++i) {
    if (i / stride % size)
      continue;
    Product product;
    for (std::int64_t k = 0; k < size; ++k) {
      const std::int64_t at = i + (reverse ? size - 1 - k : k) * stride;
      if (exclusive)
        product.finish(call, at);
      product.add(call.in(0, 2 * at), call.in(0, 2 * at + 1));
      if (!exclusive)
        product.finish(call, at);
    }
  }
}

const KernelTable &complexKernels() {
  static const auto *table = new KernelTable{
      {"constant", constant},
      {"cast", cast},
      {"pad", pad},
      {"complex", complexOf},
      {"real", realPart},
      {"imag", imagPart},
      {"conj", conjugate},
      {"abs", magnitude},
      {"angle", angle},
      {"equal", testAll},
      {"not_equal", testAny},
      {"isnan", testAny},
      {"isinf", testAny},
      {"isfinite", testAll},
      {"mul", product},
      {"contract", product},
      {"conv", product},
      {"square", square},
      {"div", divide},
      {"pow", power},
      {"reciprocal", unary<reciprocalOf>},
      {"expm1", unary<expm1Of>},
      {"log1p", unary<log1pOf>},
      {"sinc", sinc},
      {"log2", unary<log2Of>},
      {"exp2", exp2},
      CALQUE_LIBRARY_FUNCTION(exp),
      CALQUE_LIBRARY_FUNCTION(log),
      CALQUE_LIBRARY_FUNCTION(log10),
      CALQUE_LIBRARY_FUNCTION(sqrt),
      CALQUE_LIBRARY_FUNCTION(sin),
      CALQUE_LIBRARY_FUNCTION(cos),
      CALQUE_LIBRARY_FUNCTION(tan),
      CALQUE_LIBRARY_FUNCTION(sinh),
      CALQUE_LIBRARY_FUNCTION(cosh),
      CALQUE_LIBRARY_FUNCTION(tanh),
      CALQUE_LIBRARY_FUNCTION(asin),
      CALQUE_LIBRARY_FUNCTION(acos),
      CALQUE_LIBRARY_FUNCTION(atan),
      CALQUE_LIBRARY_FUNCTION(asinh),
      CALQUE_LIBRARY_FUNCTION(acosh),
      CALQUE_LIBRARY_FUNCTION(atanh),
      {"reduce_prod", reduceProduct},
      {"cumprod", cumulativeProduct},
  };
  return *table;
}

} // namespace

bool hasComplexReference(OpId op) { return complexKernels().contains(schema::schemaOf(op).mnemonic); }

void evaluateComplex(const Call &call) {
  const schema::OperationSchema &schema = schema::schemaOf(call.step.op);
  if (auto found = complexKernels().find(schema.mnemonic); found != complexKernels().end())
    return found->second(call);
  if (!schema.eachPart)
    throw std::logic_error("no reference for " + std::string(schema.mnemonic) + " of complex numbers");
  eachPart(call);
}

} // namespace calque::fuzz
