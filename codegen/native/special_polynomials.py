"""Prints codegen/native/SpecialPolynomials.h: special_polynomials.py > SpecialPolynomials.h

Needs mpmath (1.4.1 made the file). Each polynomial interpolates its function at Chebyshev nodes, in 60 digits. There is one for
float32, which is computed in float64 too but needs fewer terms, and one for float64.
"""
import mpmath as mp

mp.mp.dps = 60


def interpolate(function, low, high, degree):
    """The coefficients, the constant first."""
    low, high = mp.mpf(low), mp.mpf(high)
    nodes = [(low + high) / 2 + (high - low) / 2 * mp.cos(mp.pi * (2 * i + 1) / (2 * degree + 2)) for i in range(degree + 1)]
    divided = [function(x) for x in nodes]
    for j in range(1, degree + 1):
        for i in range(degree, j - 1, -1):
            divided[i] = (divided[i] - divided[i - 1]) / (nodes[i] - nodes[i - j])
    result = [divided[degree]]
    for i in range(degree - 1, -1, -1):
        product = [mp.mpf(0)] + result
        for k, coefficient in enumerate(result):
            product[k] -= coefficient * nodes[i]
        product[0] += divided[i]
        result = product
    return result


def error(function, coefficients, low, high, weight):
    """The largest error relative to the weight, as a power of two."""
    points = [mp.mpf(low) + (mp.mpf(high) - mp.mpf(low)) * (i + mp.sqrt(2) - 1) / 100 for i in range(100)]
    worst = max(abs(mp.polyval(coefficients[::-1], x) - function(x)) / weight(x) for x in points)
    return float(mp.log(worst, 2)) if worst else -mp.inf


def emit(name, comment, function, low, high, degrees, weight=None):
    for suffix, degree in zip(("", "64"), degrees):
        coefficients = interpolate(function, low, high, degree)
        worst = error(function, coefficients, low, high, weight or (lambda x: abs(function(x))))
        assert worst < (-28 if suffix == "" else -54), (name, suffix, degree, worst)
        what = comment if suffix == "" else "The same in float64."
        print(f"\n// {what}\ninline constexpr double {name}{suffix}[] = {{")
        print(",\n".join("    " + float(c).hex() for c in coefficients) + "};")


def scaled_erfc(q):
    x = 4 * (1 + q) / (1 - q)
    if x > 40:  # 1 / (x sqrt(pi)) times an asymptotic series
        value = sum((-1) ** k * mp.fac2(2 * k - 1) / (2 * x * x) ** k for k in range(30)) / (x * mp.sqrt(mp.pi))
    else:
        value = mp.exp(x * x) * mp.erfc(x)
    return (0.5 + x) * value


def bessel(order):
    def near(z):
        return mp.nsum(lambda k: z ** k / (mp.factorial(k) * mp.factorial(k + order)), [0, mp.inf]) if z else mp.mpf(1)

    def far(t):
        x = 16 / (t + 1)
        if x < 200:
            return mp.besseli(order, x) * mp.exp(-x) * mp.sqrt(x)
        term, total = mp.mpf(1), mp.mpf(0)
        for k in range(60):
            total += term
            term *= -((4 * order * order - (2 * k + 1) ** 2) / (mp.mpf(8) * (k + 1) * x))
        return total / mp.sqrt(2 * mp.pi)

    return near, far


def gamma_between(x):
    """lgamma(x) / ((x - 1) (x - 2))"""
    if x in (1, 2):
        return mp.euler if x == 1 else 1 - mp.euler
    return mp.loggamma(x) / ((x - 1) * (x - 2))


def stirling(u):
    """x times what follows (x - 1/2) log(x) - x + log(2 pi) / 2 in lgamma(x), of u = 1 / x^2."""
    x = 1 / mp.sqrt(u)
    return x * (mp.loggamma(x) - (x - 0.5) * mp.log(x) + x - mp.log(2 * mp.pi) / 2)


def digamma_tail(u):
    """x^2 times what follows log(x) - 1 / (2 x) in digamma(x)."""
    x = 1 / mp.sqrt(u)
    return x * x * (mp.digamma(x) - mp.log(x) + 1 / (2 * x))


def polygamma_tail(n):
    """The same of the sum of (x + k)^-(n + 1) without x^-n / n + x^-(n + 1) / 2, times x^(n + 2)."""
    def tail(u):
        x = 1 / mp.sqrt(u)
        return x ** (n + 2) * (mp.zeta(n + 1, x) - x ** -n / n - x ** (-n - 1) / 2)
    return tail


print("""// Made by special_polynomials.py: coefficients, the constant first.
#ifndef CALQUE_CODEGEN_NATIVE_SPECIALPOLYNOMIALS_H
#define CALQUE_CODEGEN_NATIVE_SPECIALPOLYNOMIALS_H

// clang-format off
namespace calque::codegen::polynomials {""")
emit("kErfcx", "(x + 1/2) exp(x^2) erfc(x) of q = (x - 4) / (x + 4) for x >= 0.", scaled_erfc, "-1", "0.9999999999999999999", (13, 24))
for order in (0, 1):
    near, far = bessel(order)
    of = "" if order == 0 else " / (x / 2)"
    emit(f"kBesselNear{order}", f"I{order}(x){of} of z = x^2 / 4 for x <= 8.", near, 0, 16, (12, 19))
    emit(f"kBesselFar{order}", f"sqrt(x) exp(-x) I{order}(x) of t = 16 / x - 1 for x >= 8.", far, "-0.9999999999999", 1, (8, 24))
emit("kGammaNear1", "lgamma(x) / ((x - 1) (x - 2)) of x - 1 for 1/2 <= x <= 3/2.", lambda d: gamma_between(1 + d), "-0.5", "0.5", (15, 29))
emit("kGammaNear2", "The same of x - 2 for 3/2 <= x <= 5/2.", lambda d: gamma_between(2 + d), "-0.5", "0.5", (11, 21))
emit("kStirling", "x (lgamma(x) - (x - 1/2) log(x) + x - log(2 pi) / 2) of u = 1 / x^2 for x >= 8.", stirling, "1e-9", mp.mpf(1) / 64, (3, 7))
emit("kDigamma", "x^2 (digamma(x) - log(x) + 1 / (2 x)) of u = 1 / x^2 for x >= 8.", digamma_tail, "1e-9", mp.mpf(1) / 64, (3, 7))
for n in (1, 2, 3):
    emit(f"kPolygamma{n}", f"x^{n + 2} (sum of (x + k)^-{n + 1} - x^-{n} / {n} - x^-{n + 1} / 2) of u = 1 / x^2 for x >= 8.",
         polygamma_tail(n), "1e-9", mp.mpf(1) / 64, (4, 8))
print("\n} // namespace calque::codegen::polynomials\n#endif")
