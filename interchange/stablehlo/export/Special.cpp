// Functions of elements that StableHLO lacks, composed of Calque's operations on whole tensors. They are given float32
// and float64.
#include "stablehlo/Support.h"
#include "stablehlo/export/Emit.h"

#include "calque/calque.h"

#include <cmath>
#include <span>

namespace calque::stablehlo {

namespace {

using Tensors = std::vector<Tensor>;

Tensor like(double value, const Tensor &x) { return cast(calque::scalar<double>(value), x.dtype()); }
Tensor nan(const Tensor &x) { return like(NAN, x); }

// sqrt(1 - x^2) without cancellation.
Tensor cosineOf(const Tensor &x) { return sqrt(mul(sub(like(1, x), x), add(like(1, x), x))); }

Tensor arcSine(const Tensor &x) { return atan2(x, cosineOf(x)); }
Tensor arcCosine(const Tensor &x) { return atan2(cosineOf(x), x); }

// With e = exp(|x|) - 1; of large x half of a product of roots, which does not overflow first.
Tensor sineH(const Tensor &x) {
  const Tensor size = abs(x), e = expm1(size), half = exp(mul(size, like(0.5, x)));
  const Tensor small = mul(like(0.5, x), add(e, div(e, add(e, like(1, x)))));
  const Tensor large = mul(mul(like(0.5, x), half), half);
  return copysign(where(size < 20, small, large), x);
}
Tensor cosineH(const Tensor &x) {
  const Tensor half = exp(mul(abs(x), like(0.5, x))), power = mul(mul(like(0.5, x), half), half);
  return add(power, div(like(0.25, x), power));
}

// Beyond this the square of x is all that counts below a root.
constexpr double kLarge = 1e9;
Tensor areaSineH(const Tensor &x) {
  const Tensor size = abs(x), bounded = minimum(size, like(kLarge, x)), squared = square(bounded);
  const Tensor near = log1p(add(bounded, div(squared, add(like(1, x), sqrt(add(squared, like(1, x)))))));
  const Tensor far = add(log(size), like(std::log(2.0), x));
  const Tensor made = where(size < like(kLarge, x), near, far);
  return where(isnan(x), x, copysign(made, x));
}
Tensor areaCosineH(const Tensor &x) {
  const Tensor t = sub(minimum(x, like(kLarge, x)), like(1, x));
  const Tensor near = log1p(add(t, sqrt(add(mul(like(2, x), t), square(t)))));
  const Tensor far = add(log(x), like(std::log(2.0), x));
  return where(x < like(1, x), nan(x), where(x < like(kLarge, x), near, far));
}
Tensor areaTangentH(const Tensor &x) {
  const Tensor size = abs(x), ratio = div(mul(like(2, x), size), sub(like(1, x), size));
  return copysign(mul(like(0.5, x), log1p(ratio)), x);
}

// Exact for powers of 2: the exponent, and the logarithm of what is left, between the roots of 1/2 and 2.
Tensor logOfTwo(const Tensor &x) {
  const bool isDouble = x.dtype() == DType::Float64;
  const DType word = isDouble ? DType::Int64 : DType::Int32;
  const int mantissa = isDouble ? 52 : 23, bias = isDouble ? 1023 : 127;
  const double scale = isDouble ? 0x1p54 : 0x1p25, least = isDouble ? 0x1p-1022 : 0x1p-126;
  auto number = [&](std::int64_t n) { return cast(calque::scalar<std::int64_t>(n), word); };
  const Tensor isSmall = x < like(least, x), taken = where(isSmall, mul(x, like(scale, x)), x);
  const Tensor bits = bitcast(taken, word);
  Tensor exponent = sub(right_shift(bits, number(mantissa)), number(bias));
  Tensor rest = bitcast(
      bitwise_or(bitwise_and(bits, number((std::int64_t(1) << mantissa) - 1)), number(std::int64_t(bias) << mantissa)),
      x.dtype());
  const Tensor isLarge = rest > like(std::sqrt(2.0), x);
  rest = where(isLarge, mul(rest, like(0.5, x)), rest);
  exponent = add(exponent, cast(isLarge, word));
  Tensor whole = cast(exponent, x.dtype());
  whole = where(isSmall, sub(whole, like(std::log2(scale), x)), whole);
  const Tensor made = add(whole, mul(log(rest), like(1 / std::log(2.0), x)));
  const Tensor isPlain = logical_and(x > like(0, x), isfinite(x));
  return where(isPlain, made, log(x)); // infinity, NaN, and -infinity of 0
}

// By divisions that shrink, until nothing is left anywhere.
Tensor greatestDivisor(const Tensor &a, const Tensor &b) {
  const auto [divisor, rest] =
      while_loop([](const Tensor &, const Tensor &rest) { return any(not_equal(rest, 0)); },
                 [](const Tensor &divisor, const Tensor &rest) {
                   const Tensor isLeft = not_equal(rest, 0), one = cast(calque::scalar<std::int64_t>(1), rest.dtype());
                   const Tensor next = fmod(divisor, where(isLeft, rest, one));
                   return std::tuple(where(isLeft, rest, divisor), where(isLeft, next, sub(rest, rest)));
                 },
                 std::tuple(a, b));
  return std::string_view(name_of(a.dtype())).starts_with("u") ? divisor : abs(divisor);
}

//===-- Error functions and Bessel functions ------------------------------------------------------===//
// Coefficients of Chebyshev series, by interpolation of 50 digits at Chebyshev points (mpmath 1.4.1).
// erf(x) / x, in y = x^2 from 0 to 1
constexpr double kErf[] = {0.9754769393826541,      -0.14226120510371364,   0.010035582187599796,
                           -0.00057687646997674848, 2.7419931252196061e-5,  -1.1043175507344508e-6,
                           3.8488755420345037e-8,   -1.1808582533875467e-9, 3.233421582605091e-11,
                           -7.9910159470045488e-13, 1.7990725113961456e-14, -3.7186354878186926e-16,
                           7.103599003714253e-18};
// (1 + 2 x) exp(x^2) erfc(x), in t = (x - 3.75) / (x + 3.75) from -1 to 1
constexpr double kErfcx[] = {
    1.1775789345674018,     -0.0045900545806464773,  -0.084249133366517916,   0.05920993999819189,
    -0.026658668435305752,  0.0090749976707052651,   -0.0024131635404176082,  0.00049077583652580863,
    -6.9169733025012064e-5, 4.1390279860730102e-6,   7.7403830661984907e-7,   -2.1886401049234396e-7,
    1.076499946567091e-8,   4.5219598112182869e-9,   -7.7544002088313511e-10, -6.3180883408866845e-11,
    2.8687950109306699e-11, 1.9455868545777347e-13,  -9.6546967484334389e-13, 3.2525481481487398e-14,
    3.3478119482868054e-14, -1.8645628804193131e-15, -1.2507950530688647e-15, 7.4182352566240435e-17,
    5.0681489047961113e-17, -2.2370566594359996e-18, -2.1873429443030177e-18};
// exp(-x) I0(x) from 0 to 8
constexpr double kI0Near[] = {
    0.33839763720473804,    -0.3046826723431984,     0.17162090152220878,    -0.094901097048047644,
    0.049305284239670708,   -0.023737414805899469,   0.010546460394594998,   -0.0043243099950505759,
    0.0016394756169413358,  -0.00057637557453858237, 0.00018850288509584166, -5.7541950100821037e-5,
    1.6448448070728897e-5,  -4.4167383584587506e-6,  1.1173875391201037e-6,  -2.6707938539406117e-7,
    6.0469950225419189e-8,  -1.300025009986248e-8,   2.6598237246823867e-9,  -5.1897956016352629e-10,
    9.6758090353732369e-11, -1.7268262914415557e-11, 2.9550526631296398e-12, -4.8564467831119295e-13,
    7.6761854986049356e-14, -1.1685332877993452e-14, 1.715391285555133e-15,  -2.4312798465479547e-16,
    3.3307945188222381e-17, -4.4153416464793394e-18, 5.6691780069214962e-19};
// exp(-x) I1(x) / x from 0 to 8
constexpr double kI1Near[] = {
    0.12629359322181683,    -0.17641651835783406,    0.1026436586898471,     -0.052945981208094991,
    0.024726449030626517,   -0.010564084894626198,   0.0041564229443128882,  -0.0015135724506312531,
    0.00051228595616857577, -0.00016176081582589675, 4.7815651075500542e-5,  -1.3273163656039436e-5,
    3.4702513081376785e-6,  -8.5687202646954547e-7,  2.0032947535521353e-7,  -4.4450591287963281e-8,
    9.3815373864957718e-9,  -1.8872497517228293e-9,  3.625590281552117e-10,  -6.6634897235020277e-11,
    1.1736186298890902e-11, -1.9839743977649437e-12, 3.2237933659455747e-13, -5.0421855047279117e-14,
    7.6006842947354069e-15, -1.1055969477353863e-15, 1.5536319577362005e-16, -2.1114212143581661e-17,
    2.7779141127610464e-18, -3.5415817725421362e-19};
// sqrt(x) exp(-x) I0(x), in 1 / x from 0 to 1 / 8
constexpr double kI0Far[] = {
    0.40224520550705442,     0.0033691164782556941,   6.889758346916824e-5,    2.8913705208347565e-6,
    2.0489185894690637e-7,   2.2666689904981781e-8,   3.3962320257083863e-9,   4.9406023882249696e-10,
    1.1889147107846438e-11,  -3.1499165279632414e-11, -1.3215811840447713e-11, -1.7941785315068061e-12,
    7.1801244513836662e-13,  3.8527783827421427e-13,  1.5400862175214098e-14,  -4.1505693472872221e-14,
    -9.5548466988283076e-15, 3.8116806693526224e-15,  1.7725601330565264e-15,  -3.4254856196772191e-16,
    -2.8276239805165835e-16, 3.4612228676974611e-17,  4.46562142029676e-17,    -4.8305044859441821e-18,
    -7.233180487874754e-18,  9.9214754121736986e-19,  1.1936508908459821e-18};
// sqrt(x) exp(-x) I1(x), in 1 / x from 0 to 1 / 8
constexpr double kI1Far[] = {
    0.38928811750914006,     -0.0097610974913614684,  -0.00011058893876262372, -3.8825648088776904e-6,
    -2.5122362378702089e-7,  -2.6314688468895195e-8,  -3.835380385964237e-9,   -5.5897434621965838e-10,
    -1.8974958123505412e-11, 3.2526035830154882e-11,  1.4125807436613781e-11,  2.0356285441470895e-12,
    -7.1985517762459085e-13, -4.0835511110921973e-13, -2.1015418427726643e-14, 4.2724400167119514e-14,
    1.0420276984128803e-14,  -3.8144030724370078e-15, -1.8803547755107824e-15, 3.3082023109209283e-16,
    2.9626289976459501e-16,  -3.209525921993424e-17,  -4.6503053684893583e-17, 4.4143483230717079e-18,
    7.5172963108421048e-18,  -9.3141788673268834e-19, -1.242193275194891e-18};

// A series at t from -1 to 1, by Clenshaw's recurrence. A float32 sees fewer terms.
Tensor series(std::span<const double> coefficients, const Tensor &t) {
  const double least = t.dtype() == DType::Float64 ? 0 : 1e-9;
  std::size_t n = coefficients.size();
  while (n > 2 && std::fabs(coefficients[n - 1]) < least)
    --n;
  const Tensor twice = add(t, t);
  Tensor next = mul(t, like(0, t)), now = add(next, like(coefficients[n - 1], t));
  for (std::size_t i = n - 1; i-- > 1;) {
    const Tensor before = add(sub(mul(twice, now), next), like(coefficients[i], t));
    next = now;
    now = before;
  }
  return add(sub(mul(t, now), next), like(coefficients[0], t));
}

// exp(x^2) erfc(x) for x that is not negative (Shepherd and Laframboise, Chebyshev approximation of (1 + 2 x) exp(x^2)
// erfc x, Math. Comp. 36, 1981).
Tensor scaledComplement(const Tensor &x) {
  const Tensor bounded = minimum(x, like(1e30, x));
  const Tensor t = div(sub(bounded, like(3.75, x)), add(bounded, like(3.75, x)));
  return div(series(kErfcx, t), add(like(1, x), add(x, x)));
}
// exp(-x^2), with x^2 from halves of the digits: what a rounded square lacks would be multiplied by it.
Tensor gaussian(const Tensor &x, double sign = -1) {
  const Tensor bounded = minimum(abs(x), like(100, x));
  const Tensor split = mul(bounded, like(x.dtype() == DType::Float64 ? 134217729.0 : 4097.0, x));
  const Tensor high = sub(split, sub(split, bounded));
  const Tensor rest = mul(sub(bounded, high), add(bounded, high));
  return mul(exp(mul(square(high), like(sign, x))), exp(mul(rest, like(sign, x))));
}
Tensor errorFunction(const Tensor &x) {
  const Tensor size = abs(x), y = minimum(square(x), like(1, x));
  const Tensor near = mul(x, series(kErf, sub(add(y, y), like(1, x))));
  const Tensor far = copysign(sub(like(1, x), mul(gaussian(x), scaledComplement(size))), x);
  return where(isnan(x), x, where(size < like(1, x), near, far));
}
Tensor complement(const Tensor &x) {
  const Tensor tail = mul(gaussian(x), scaledComplement(abs(x)));
  const Tensor y = minimum(square(x), like(1, x));
  const Tensor near = sub(like(1, x), mul(x, series(kErf, sub(add(y, y), like(1, x)))));
  const Tensor far = where(x < like(0, x), sub(like(2, x), tail), tail);
  return where(isnan(x), x, where(abs(x) < like(0.5, x), near, far));
}
Tensor complementTimesExp(const Tensor &x) {
  const Tensor tail = scaledComplement(abs(x));
  const Tensor below = sub(mul(like(2, x), gaussian(x, 1)), tail);
  const Tensor made = where(x < like(0, x), below, tail);
  return where(isnan(x), x, where(equal(x, like(INFINITY, x)), like(0, x), made));
}
Tensor normal(const Tensor &x) { return mul(like(0.5, x), complement(mul(x, like(-std::sqrt(0.5), x)))); }
Tensor logOfNormal(const Tensor &x) {
  const Tensor z = mul(x, like(std::sqrt(0.5), x)), below = maximum(neg(z), like(0, x));
  const Tensor above = log1p(mul(like(-0.5, x), complement(z)));
  const Tensor far = sub(log(mul(like(0.5, x), scaledComplement(below))), mul(like(0.5, x), square(x)));
  return where(x < like(-1, x), far, above);
}

// Polynomials of w = -log(1 - x^2) (Giles, Approximating the erfinv function, GPU Computing Gems 2, 2012) and two steps
// of Newton's with the error function, or for x near 1 with its complement.
Tensor inverseErrorFunction(const Tensor &given) {
  const Tensor x = cast(given, DType::Float64), size = abs(x);
  constexpr double kNear[] = {2.81022636e-08, 3.43273939e-07, -3.5233877e-06, -4.39150654e-06, 0.00021858087,
                              -0.00125372503, -0.00417768164, 0.246640727,    1.50140941};
  constexpr double kFar[] = {-0.000200214257, 0.000100950558, 0.00134934322, -0.00367342844, 0.00573950773,
                             -0.0076224613,   0.00943887047,  1.00167406,    2.83297682};
  const Tensor w = neg(log(mul(sub(like(1, x), x), add(like(1, x), x))));
  auto polynomial = [&](std::span<const double> c, const Tensor &t) {
    Tensor made = like(c[0], x);
    for (std::size_t i = 1; i < c.size(); ++i)
      made = add(mul(made, t), like(c[i], x));
    return made;
  };
  const Tensor far = sub(sqrt(maximum(w, like(0, x))), like(3, x));
  Tensor y = mul(size, where(w < like(5, x), polynomial(kNear, sub(w, like(2.5, x))), polynomial(kFar, far)));
  for (int step = 0; step < 2; ++step) {
    const Tensor off =
        where(size < like(0.5, x), sub(errorFunction(y), size), sub(sub(like(1, x), size), complement(y)));
    const Tensor slope = mul(like(2 / std::sqrt(std::acos(-1.0)), x), gaussian(y));
    y = sub(y, div(off, slope));
  }
  const Tensor inside = where(size < like(1, x), y, where(equal(size, like(1, x)), like(INFINITY, x), nan(x)));
  return cast(copysign(inside, x), given.dtype());
}

template <bool IsFirst, bool IsScaled> Tensor bessel(const Tensor &given) {
  const Tensor x = cast(given, DType::Float64), size = abs(x);
  const Tensor near = minimum(size, like(8, x)), far = div(like(1, x), maximum(size, like(8, x)));
  Tensor inside =
      series(IsFirst ? std::span<const double>(kI1Near) : kI0Near, sub(mul(near, like(0.25, x)), like(1, x)));
  if (IsFirst)
    inside = mul(inside, near);
  const Tensor outside = mul(
      series(IsFirst ? std::span<const double>(kI1Far) : kI0Far, sub(mul(far, like(16, x)), like(1, x))), sqrt(far));
  Tensor made = where(size < like(8, x), inside, outside);
  if (!IsScaled) {
    const Tensor half = exp(mul(size, like(0.5, x))); // whose square may overflow though the product does not
    made = mul(mul(made, half), half);
  }
  if (IsFirst)
    made = copysign(made, x);
  return cast(where(isnan(x), x, made), given.dtype());
}

//===-- Gamma functions ---------------------------------------------------------------------------===//
// By Stirling's series (NIST's handbook, 5.11) for numbers of at least kShift, to which recurrences lead, and by
// reflections (5.5) of negative numbers. All in float64.
constexpr int kShift = 10;
constexpr double kPi = 3.14159265358979323846;

Tensor logGamma(const Tensor &given) {
  const Tensor x = cast(given, DType::Float64), isLow = x < like(0.5, x);
  const Tensor z = where(isLow, sub(like(1, x), x), x), isSmall = z < like(kShift, x);
  Tensor product = z;
  for (int i = 1; i < kShift; ++i)
    product = mul(product, add(z, like(i, x)));
  const Tensor a = where(isSmall, add(z, like(kShift, x)), z), r = div(like(1, x), a), square = mul(r, r);
  constexpr double kTerms[] = {-691.0 / 360360, 1.0 / 1188, -1.0 / 1680, 1.0 / 1260, -1.0 / 360, 1.0 / 12};
  Tensor sum = like(1.0 / 156, x);
  for (double each : kTerms)
    sum = add(mul(sum, square), like(each, x));
  const Tensor stirling =
      add(add(sub(mul(sub(a, like(0.5, x)), log(a)), a), like(0.5 * std::log(2 * kPi), x)), mul(sum, r));
  const Tensor bounded = where(isSmall, product, like(1, x));
  Tensor made = sub(stirling, log(bounded));
  // Of the distance to the nearest whole number, which is exact.
  const Tensor angle = mul(like(kPi, x), sub(x, round(x)));
  const Tensor reflected = sub(sub(like(std::log(kPi), x), log(abs(sin(angle)))), made);
  made = where(isLow, reflected, made);
  const Tensor isPole = logical_and(x <= like(0, x), equal(x, floor(x)));
  made = where(logical_or(isPole, isinf(x)), like(INFINITY, x), made);
  return cast(where(logical_or(equal(x, like(1, x)), equal(x, like(2, x))), like(0, x), made), given.dtype());
}

Tensor logGammaSlope(const Tensor &given) {
  const Tensor x = cast(given, DType::Float64), isLow = x < like(0.5, x);
  const Tensor z = where(isLow, sub(like(1, x), x), x), isSmall = z < like(kShift, x);
  Tensor below = div(like(1, x), z);
  for (int i = 1; i < kShift; ++i)
    below = add(below, div(like(1, x), add(z, like(i, x))));
  const Tensor a = where(isSmall, add(z, like(kShift, x)), z), r = div(like(1, x), a), square = mul(r, r);
  constexpr double kTerms[] = {691.0 / 32760, -1.0 / 132, 1.0 / 240, -1.0 / 252, 1.0 / 120, -1.0 / 12};
  Tensor sum = like(-1.0 / 12, x);
  for (double each : kTerms)
    sum = add(mul(sum, square), like(each, x));
  Tensor made = add(sub(log(a), mul(like(0.5, x), r)), mul(sum, square));
  made = sub(made, where(isSmall, below, like(0, x)));
  const Tensor angle = mul(like(kPi, x), sub(x, round(x)));
  made = where(isLow, sub(made, div(like(kPi, x), tan(angle))), made);
  const Tensor isPole = logical_and(x < like(0, x), equal(x, floor(x)));
  made = where(logical_or(isPole, equal(x, like(-INFINITY, x))), nan(x), made);
  return cast(where(equal(x, like(0, x)), copysign(like(INFINITY, x), neg(x)), made), given.dtype());
}

Tensor secondSlope(const Tensor &given) {
  const Tensor x = cast(given, DType::Float64), isLow = x < like(0.5, x);
  const Tensor z = where(isLow, sub(like(1, x), x), x), isSmall = z < like(kShift, x);
  Tensor below = div(like(1, x), square(z));
  for (int i = 1; i < kShift; ++i)
    below = add(below, div(like(1, x), square(add(z, like(i, x)))));
  const Tensor a = where(isSmall, add(z, like(kShift, x)), z), r = div(like(1, x), a), squared = mul(r, r);
  constexpr double kTerms[] = {-691.0 / 2730, 5.0 / 66, -1.0 / 30, 1.0 / 42, -1.0 / 30, 1.0 / 6};
  Tensor sum = like(7.0 / 6, x);
  for (double each : kTerms)
    sum = add(mul(sum, squared), like(each, x));
  Tensor made = add(add(r, mul(like(0.5, x), squared)), mul(mul(sum, squared), r));
  made = add(made, where(isSmall, below, like(0, x)));
  const Tensor sine = sin(mul(like(kPi, x), sub(x, round(x))));
  made = where(isLow, sub(square(div(like(kPi, x), sine)), made), made);
  return cast(made, given.dtype());
}

template <Tensor (*F)(const Tensor &)> Tensors unary(const Tensors &x) { return {F(x[0])}; }
template <Tensor (*F)(const Tensor &, const Tensor &)> Tensors binary(const Tensors &x) { return {F(x[0], x[1])}; }

} // namespace

const Emit::Function *specialFunction(std::string_view name) {
  static const auto *const all = new std::unordered_map<std::string_view, Emit::Function>{
      {"asin", unary<arcSine>},
      {"acos", unary<arcCosine>},
      {"sinh", unary<sineH>},
      {"cosh", unary<cosineH>},
      {"asinh", unary<areaSineH>},
      {"acosh", unary<areaCosineH>},
      {"atanh", unary<areaTangentH>},
      {"log2", unary<logOfTwo>},
      {"gcd", binary<greatestDivisor>},
      {"erf", unary<errorFunction>},
      {"erfc", unary<complement>},
      {"erfcx", unary<complementTimesExp>},
      {"ndtr", unary<normal>},
      {"log_ndtr", unary<logOfNormal>},
      {"erfinv", unary<inverseErrorFunction>},
      {"i0", unary<bessel<false, false>>},
      {"i0e", unary<bessel<false, true>>},
      {"i1", unary<bessel<true, false>>},
      {"i1e", unary<bessel<true, true>>},
      {"lgamma", unary<logGamma>},
      {"digamma", unary<logGammaSlope>},
      {"trigamma", unary<secondSlope>},
  };
  const auto found = all->find(name);
  return found == all->end() ? nullptr : &found->second;
}

} // namespace calque::stablehlo
