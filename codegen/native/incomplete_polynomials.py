"""Prints codegen/native/IncompletePolynomials.h: incomplete_polynomials.py > IncompletePolynomials.h

Needs mpmath (1.4.1 made the file). The coefficients c_k(eta) of Temme's uniform expansion of the incomplete gamma functions (NIST
Digital Library of Mathematical Functions, 8.12) as power series of eta, which solve 8.12.10 and 8.12.12: there the numbers g_k are those
that leave the series without a pole. Terms are left out where they are below 2^-57, and for float32 below 2^-32, of 1 for a >= 20 and
|eta| <= 0.36, which are numbers x from 0.7 a to 1.3 a.
"""
import mpmath as mp

mp.mp.dps = 60
TERMS, ORDERS = 70, 16

# mu = x / a - 1 of eta, from mu dmu/deta = eta (1 + mu).
mu = [mp.mpf(0)] * (TERMS + 1)
mu[1] = mp.mpf(1)
for n in range(2, TERMS + 1):
    mu[n] = (mu[n - 1] - sum(mu[i] * (n + 1 - i) * mu[n + 1 - i] for i in range(2, n))) / (n + 1)
# eta / mu
inverse = [mp.mpf(1)]
for n in range(1, TERMS):
    inverse.append(-sum(mu[i + 1] * inverse[n - i] for i in range(1, n + 1)))
series = [inverse[1:]]
for k in range(1, ORDERS):
    slope = [(n + 1) * c for n, c in enumerate(series[-1][1:])]
    g = -slope[0]
    series.append([slope[n + 1] + g * inverse[n + 1] for n in range(len(slope) - 1)])


def kept(k, coefficients, least):
    count = len(coefficients)
    while count and abs(coefficients[count - 1]) * mp.mpf("0.36") ** (count - 1) * mp.mpf(20) ** -k < least:
        count -= 1
    return coefficients[:count]


def rest_of_logarithm(degree):
    """(mu - log(1 + mu)) / mu^2 - 1/2 over mu, at Chebyshev nodes between -0.3 and 0.3, none of which is 0."""
    nodes = [mp.mpf("0.3001") * mp.cos(mp.pi * (2 * i + 1) / (2 * degree + 2)) for i in range(degree + 1)]
    values = mp.matrix([(x - mp.log1p(x) - x * x / 2) / x ** 3 for x in nodes])
    return list(mp.lu_solve(mp.matrix([[x ** j for j in range(degree + 1)] for x in nodes]), values))


def emit(name, comment, coefficients):
    print(f"\n// {comment}\ninline constexpr double {name}[] = {{")
    print(",\n".join("    " + float(c).hex() for c in coefficients) + "};")


print("""// Made by incomplete_polynomials.py: coefficients, the constant first.
#ifndef CALQUE_CODEGEN_NATIVE_INCOMPLETEPOLYNOMIALS_H
#define CALQUE_CODEGEN_NATIVE_INCOMPLETEPOLYNOMIALS_H

// clang-format off
namespace calque::codegen::polynomials {""")
for suffix, least, degree in (("", mp.mpf(2) ** -32, 11), ("64", mp.mpf(2) ** -57, 21)):
    what = "" if suffix == "" else ", for float64"
    emit(f"kLogOfRatio{suffix}", f"((m - log(1 + m)) / m^2 - 1/2) / m for |m| <= 0.3{what}.", rest_of_logarithm(degree))
    all_kept = [kept(k, c, least) for k, c in enumerate(series)]
    all_kept = [c for c in all_kept if c]
    counts = [len(c) for c in all_kept]
    emit(f"kTemme{suffix}", f"c_0, c_1, ... of Temme's expansion, one after another{what}.", [x for c in all_kept for x in c])
    print(f"inline constexpr int kTemmeCounts{suffix}[] = {{{', '.join(map(str, counts))}}};")
print("\n} // namespace calque::codegen::polynomials\n#endif")
