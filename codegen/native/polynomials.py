"""Prints codegen/native/Polynomials.h: polynomials.py > Polynomials.h

Each polynomial interpolates its function at Chebyshev nodes, which is close to the best of its degree. Nothing but the standard
library is needed: the functions are summed as power series of 60 digits.
"""
import math
import struct
from decimal import Decimal, getcontext

getcontext().prec = 90
PI = Decimal("3.14159265358979323846264338327950288419716939937510582097494459230781640628620899862803482534211706798")
ZERO = Decimal(10) ** -62


def series(coefficient):
    """The function of a power series."""
    def function(x):
        total, power, k = Decimal(0), Decimal(1), 0
        while True:
            term = coefficient(k) * power
            total += term
            if k > abs(x) and abs(term) < ZERO:
                return total
            power *= x
            k += 1
    return function


def factorial(n):
    return Decimal(math.factorial(n))


sine = series(lambda k: Decimal(-1) ** (k + 1) / factorial(2 * k + 3))
cosine = series(lambda k: Decimal(-1) ** k / factorial(2 * k))  # of x^2


def interpolate(function, low, high, degree, exact_at_high=False):
    """The coefficients, the constant first; exact_at_high: the last node is there, for which the interval is a bit longer."""
    low, high = Decimal(low), Decimal(high)
    places = [(1 + cosine((PI * (2 * i + 1) / (2 * degree + 2)) ** 2)) / 2 for i in range(degree + 1)]
    length = (high - low) / (places[0] if exact_at_high else 1)
    nodes = [low + length * place for place in places]
    divided = [function(x) for x in nodes]
    for j in range(1, degree + 1):
        for i in range(degree, j - 1, -1):
            divided[i] = (divided[i] - divided[i - 1]) / (nodes[i] - nodes[i - j])
    result = [divided[degree]]
    for i in range(degree - 1, -1, -1):
        product = [Decimal(0)] + result
        for k, coefficient in enumerate(result):
            product[k] -= coefficient * nodes[i]
        product[0] += divided[i]
        result = product
    return result


def solve(matrix, right):
    """Gauss's elimination; the matrix is that of least squares."""
    n = len(right)
    for i in range(n):
        for j in range(i + 1, n):
            factor = matrix[j][i] / matrix[i][i]
            matrix[j] = [a - factor * b for a, b in zip(matrix[j], matrix[i])]
            right[j] -= factor * right[i]
    result = [Decimal(0)] * n
    for i in reversed(range(n)):
        result[i] = (right[i] - sum(matrix[i][j] * result[j] for j in range(i + 1, n))) / matrix[i][i]
    return result


def fit_single(function, low, high, degree, weight):
    """Coefficients in float32, by least squares of weighted errors: each next one makes up for how those before are rounded."""
    low, high = Decimal(low), Decimal(high)
    count = 6 * degree
    nodes = [(low + high) / 2 + (high - low) / 2 * cosine((PI * (2 * i + 1) / (2 * count)) ** 2) for i in range(count)]
    rest = [function(x) for x in nodes]
    weights = [weight(x) ** 2 for x in nodes]
    coefficients = []
    for k in range(degree + 1):
        matrix = [[sum(w * x ** (i + j) for w, x in zip(weights, nodes)) for j in range(k, degree + 1)] for i in range(k, degree + 1)]
        right = [sum(w * y * x ** i for w, x, y in zip(weights, nodes, rest)) for i in range(k, degree + 1)]
        coefficients.append(Decimal(single(solve(matrix, right)[0])))
        rest = [y - coefficients[k] * x ** k for x, y in zip(nodes, rest)]
    return coefficients


def rounded_down(x, bits):
    """x to so many bits after the binary point."""
    return Decimal(math.floor(x * 2 ** bits)) / 2 ** bits


def double(x):
    return float(x)


def single(x):
    return struct.unpack("f", struct.pack("f", float(x)))[0]


def show(x):
    return float(x).hex()


def emit(name, comment, values, round_to=double):
    print(f"\n// {comment}\ninline constexpr double {name}[] = {{")
    print(",\n".join("    " + show(round_to(value)) for value in values) + "};")


half = Decimal("1.0001") * Decimal(2).ln() / 2
quarter = (Decimal("1.02") * PI / 4) ** 2
print("""// Made by polynomials.py: numbers of the functions of float32, and of those of float64, whose names end so.
// Coefficients have the constant first.
#ifndef CALQUE_CODEGEN_NATIVE_POLYNOMIALS_H
#define CALQUE_CODEGEN_NATIVE_POLYNOMIALS_H

// clang-format off
namespace calque::codegen::polynomials {""")
emit("kExp", "(exp(r) - 1 - r) / r^2 for |r| <= log(2) / 2.",
     interpolate(series(lambda k: 1 / factorial(k + 2)), -half, half, 4), single)
emit("kExpm1", "(exp(r) - 1) / r for |r| <= log(2) / 2, in float64.",
     interpolate(series(lambda k: 1 / factorial(k + 1)), -half, half, 5))


third = Decimal("0.33335")


def logarithm(f):
    return ((1 + f).ln() - f) / f ** 2 if abs(f) > Decimal(10) ** -20 else f / 3 - Decimal("0.5")


emit("kLog", "(log(1 + f) - f) / f^2 for |f| <= 1/3.", interpolate(logarithm, -third, third, 8), single)
emit("kLog1p", "The same for -1/4 <= f <= 1/2.", interpolate(logarithm, "-0.25001", "0.50001", 9), single)
emit("kSin", "(sin(r) - r) / r^3 of t = r^2 for |r| <= pi / 2.", fit_single(sine, 0, 4 * quarter, 4, lambda t: t), single)
emit("kSinNear", "The same for |r| <= pi / 4.", fit_single(sine, 0, quarter, 3, lambda t: t), single)
emit("kCosNear", "(cos(r) - 1) / t of t = r^2 for |r| <= pi / 4.",
     fit_single(series(lambda k: Decimal(-1) ** (k + 1) / factorial(2 * k + 2)), 0, quarter, 3, lambda t: t), single)


def hyperbolic(t):
    x = t.sqrt()
    e = (2 * x).exp()
    return ((e - 1) / (e + 1) - x) / (x * t)


emit("kTanh", "(tanh(x) - x) / x^3 of t = x^2 for |x| <= 1.", fit_single(hyperbolic, 0, 1, 6, lambda t: t), single)
root = 2 / PI.sqrt()
error = series(lambda k: root * Decimal(-1) ** k / (factorial(k) * (2 * k + 1)))
emit("kErf", "erf(x) / x - 1 of t = x^2 for |x| <= 1.", fit_single(lambda t: error(t) - 1, 0, 1, 6, lambda t: 1), single)
# Exact at the end, because that number stays beyond 4: erf(x) is 1 there.
emit("kErfc", "1 - erf(2.5 + u) for |u| <= 1.5.",
     interpolate(lambda u: 1 - (u + Decimal("2.5")) * error((u + Decimal("2.5")) ** 2), "-1.5", "1.5", 12, exact_at_high=True), single)


def emit_parts(name, comment, value, bits):
    """A number as a sum of float32 numbers; all but the last have so many bits after the binary point, each more than the one before."""
    parts = []
    for count in bits:
        parts.append(rounded_down(value, count))
        value -= parts[-1]
    emit(name, comment, parts + [value], single)


emit_parts("kLn2", "log(2) as a sum. The first part has 16 bits: times an exponent it is exact.", Decimal(2).ln(), [16])
emit_parts("kLog2e", "1 / log(2) as a sum.", 1 / Decimal(2).ln(), [23])
emit_parts("kLog10e", "1 / log(10) as a sum.", 1 / Decimal(10).ln(), [25])
emit_parts("kLog10Of2", "log10(2) as a sum. The first part has 16 bits.", Decimal(2).ln() / Decimal(10).ln(), [17])
emit_parts("kPi", "pi as a sum of parts of 24 bits.", PI, [22, 46])
# Of float64. A fused product and sum of a count and the first part is exact; 32 bits times an exponent are without one.
emit("kExp64", "(exp(r) - 1 - r) / r^2 for |r| <= log(2) / 2.",
     interpolate(series(lambda k: 1 / factorial(k + 2)), -half, half, 10))
largest = Decimal("0.0295")
emit("kLog64", "(log((1 + s) / (1 - s)) - 2 s) / s^3 of z = s^2, where (1 + s) / (1 - s) is between the roots of 1/2 and 2.",
     interpolate(series(lambda k: Decimal(2) / (2 * k + 3)), 0, largest, 6))
emit("kLogRest64", "The same less 2/3, divided by z.",
     interpolate(series(lambda k: Decimal(2) / (2 * k + 5)), 0, largest, 7))
emit("kSinNear64", "(sin(r) - r) / r^3 of t = r^2 for |r| <= pi / 4.", interpolate(sine, 0, quarter, 6))
emit("kCosNear64", "(cos(r) - 1) / t of t = r^2 for |r| <= pi / 4.",
     interpolate(series(lambda k: Decimal(-1) ** (k + 1) / factorial(2 * k + 2)), 0, quarter, 6))
emit("kErf64", "erf(x) / x - 1 of t = x^2 for |x| <= 1.", interpolate(lambda t: error(t) - 1, 0, 1, 12))


def scaled_erfc(q):
    x = 4 * (1 + q) / (1 - q)
    return (x * x).exp() * (1 - x * error(x * x))


emit("kErfc64", "exp(x^2) (1 - erf(x)) of q = (x - 4) / (x + 4) for 1 <= x <= 6.", interpolate(scaled_erfc, "-0.6", "0.2", 17))


def emit_doubles(name, comment, value, count):
    """A positive number as a sum of float64 numbers, none of which is negative."""
    parts = []
    for _ in range(count):
        parts.append(rounded_down(value, 53 - math.frexp(double(value))[1]))
        value -= parts[-1]
    emit(name, comment, parts)


def arctan(x):
    """By halved angles, until the series is short."""
    halvings = 4
    for _ in range(halvings):
        x = x / (1 + (1 + x * x).sqrt())
    return 2 ** halvings * x * series(lambda k: Decimal(-1) ** k / (2 * k + 1))(x * x)


def arctan_curve(t):
    x = t.sqrt()
    return (arctan(x) - x) / (x * t)


arcsine_curve = series(lambda k: factorial(2 * k + 2) / (Decimal(4) ** (k + 1) * factorial(k + 1) ** 2 * (2 * k + 3)))
power_of_two = series(lambda k: Decimal(2).ln() ** (k + 1) / factorial(k + 1))
# The term makes the result at 1 the nearest number to pi / 4.
emit("kAtan", "(atan(x) - x) / x^3 of t = x^2 for |x| <= 1.",
     fit_single(lambda t: arctan_curve(t) + t ** 9 / 10 ** 8, 0, 1, 9, lambda t: t), single)
emit("kAtan64", "The same in float64.", interpolate(arctan_curve, 0, "1.0001", 20))
emit("kAsin", "(asin(x) - x) / x^3 of t = x^2 for |x| <= 1/2.", fit_single(arcsine_curve, 0, "0.25", 5, lambda t: t), single)
emit("kAsin64", "The same in float64.", interpolate(arcsine_curve, 0, "0.2501", 11))
emit("kExp2", "(2^r - 1) / r for |r| <= 1/2.", interpolate(power_of_two, "-0.50001", "0.50001", 6), single)
emit("kExp2Of64", "The same in float64.", interpolate(power_of_two, "-0.50001", "0.50001", 12))


def of_pi_r(coefficient):
    """A power series in t = r^2 whose terms have powers of pi."""
    return series(lambda k: coefficient(k) * PI ** (2 * k))


sine_of_pi = of_pi_r(lambda k: PI * Decimal(-1) ** k / factorial(2 * k + 1))
cosine_of_pi = of_pi_r(lambda k: Decimal(-1) ** k / factorial(2 * k))
slope_of_sinc = of_pi_r(lambda k: PI ** 2 * Decimal(-1) ** (k + 1) * (2 * k + 2) / factorial(2 * k + 3))
emit("kSinPi", "sin(pi r) / r of t = r^2 for |r| <= 1/2.", fit_single(sine_of_pi, 0, "0.25", 5, lambda t: 1), single)
emit("kSinPi64", "The same in float64.", interpolate(sine_of_pi, 0, "0.2501", 9))
emit("kCosPi", "cos(pi r) of t = r^2 for |r| <= 1/2.", fit_single(cosine_of_pi, 0, "0.25", 5, lambda t: 1), single)
emit("kCosPi64", "The same in float64.", interpolate(cosine_of_pi, 0, "0.2501", 9))
emit("kSincSlope", "(cos(pi r) - sin(pi r) / (pi r)) / r^2 of t = r^2 for |r| <= 1/2.",
     fit_single(slope_of_sinc, 0, "0.25", 5, lambda t: 1), single)
emit("kSincSlope64", "The same in float64.", interpolate(slope_of_sinc, 0, "0.2501", 9))
emit("kCbrt", "The cube root from 1/3 to 3, to some thousandths.",
     interpolate(lambda x: (x.ln() / 3).exp(), "0.33", "2.84", 4), single)


emit_doubles("kLn2Of64", "log(2) as a sum.", Decimal(2).ln(), 2)
short = rounded_down(Decimal(2).ln(), 32)
emit("kShortLn2Of64", "The same. The first part has 32 bits: times an exponent it is exact.", [short, Decimal(2).ln() - short])
emit_doubles("kLog2eOf64", "1 / log(2) as a sum.", 1 / Decimal(2).ln(), 2)
emit_doubles("kLog10eOf64", "1 / log(10) as a sum.", 1 / Decimal(10).ln(), 2)
emit_doubles("kTwoThirds64", "2/3 as a sum.", Decimal(2) / 3, 2)
emit_doubles("kPi64", "pi as a sum.", PI, 3)

# pi is needed to 128 + 110 bits here: Machin's formula.
getcontext().prec = 120


def arctan_of_inverse(n):
    total, power, k = Decimal(0), Decimal(1) / n, 0
    while power > Decimal(10) ** -118:
        total += power / (2 * k + 1) * (-1) ** k
        power /= n * n
        k += 1
    return total


turns = 1 / (8 * (4 * arctan_of_inverse(5) - arctan_of_inverse(239)))
print("""
// For |x| in [2^16, 2^44), [2^44, 2^72), [2^72, 2^100) and [2^100, 2^128): a scale that makes x an integer, and the
// fractional part of 1 / (2 pi scale) as a sum. A product of 24 bits and one of the first three terms, which have 29, is
// exact.
struct TurnsOfBand {
  double scale, digits[4];
};
inline constexpr TurnsOfBand kTurns[] = {""")
for exponent in (-7, 21, 49, 77):
    rest = turns * Decimal(2) ** exponent
    rest -= math.floor(rest)
    parts = []
    for bits in (29, 58, 87):
        parts.append(rounded_down(rest, bits))
        rest -= parts[-1]
    parts.append(rest)
    print("    {" + show(Decimal(2) ** -exponent) + ", {" + ", ".join(show(part) for part in parts) + "}},")
print("};\n\n} // namespace calque::codegen::polynomials\n#endif")
