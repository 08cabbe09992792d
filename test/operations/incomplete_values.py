"""Prints the table of IncompleteTest.cpp: incomplete_values.py, with SciPy 1.17.1 and mpmath 1.4.1.

Values are those of mpmath in 60 digits, rounded to double, and SciPy's must agree where it has the function.
"""
import mpmath as mp
import scipy.special as sp

mp.mp.dps = 60
lower = lambda a, x: mp.gammainc(a, 0, x, regularized=True)
upper = lambda a, x: mp.gammainc(a, x, mp.inf, regularized=True)
betaln = lambda a, b: mp.loggamma(a) + mp.loggamma(b) - mp.loggamma(a + b)
betainc = lambda a, b, x: mp.betainc(a, b, 0, x, regularized=True)
FUNCTIONS = [
    ("gammainc", lower, sp.gammainc, [(0.25, 0.0625), (1.5, 0.5), (3, 20), (25, 20), (25, 30), (1000, 900), (1e6, 1.001e6), (0.001, 1e-30)]),
    ("gammaincc", upper, sp.gammaincc, [(0.25, 0.0625), (1.5, 0.5), (3, 20), (25, 20), (25, 30), (1000, 1200), (1e6, 1.005e6), (1e-10, 0.5)]),
    ("beta", mp.beta, sp.beta, [(0.25, 0.5), (3, 4), (10, 20.5), (100, 0.125), (200, 300), (1e-20, 5)]),
    ("betaln", betaln, sp.betaln, [(0.25, 0.5), (3, 4), (10, 20.5), (1e10, 2), (1e10, 1e9), (1e-20, 5)]),
    ("zeta", lambda s, q: mp.zeta(s, q), sp.zeta, [(2, 1), (1.0009765625, 1), (3, 0.25), (1.5, 100), (20, 7.5), (50, 60), (4, 1e10)]),
    ("betainc", betainc, sp.betainc,
     [(0.5, 0.5, 0.25), (2, 3, 0.75), (20, 0.125, 0.875), (100, 200, 0.25), (5, 1e6, 1e-5), (1e4, 1e4, 0.51), (0.001, 30, 1e-9)]),
]
for name, exact, found, arguments in FUNCTIONS:
    for at in arguments:
        value = float(mp.re(exact(*map(mp.mpf, at))))
        assert abs(found(*at) - value) <= 1e-9 * abs(value), (name, at, value, found(*at))
        print(f"    {{\"{name}\", {{{', '.join(repr(float(x)) for x in at)}}}, {value!r}}},")


def slope(function, at, index):
    """The derivative by one argument, by central differences in 60 digits."""
    at = [mp.mpf(x) for x in at]
    h = at[index] * mp.mpf(10) ** -20
    sides = [at[:index] + [at[index] + side * h] + at[index + 1:] for side in (1, -1)]
    return float((function(*sides[0]) - function(*sides[1])) / (2 * h))


print("slopes")
for name, function, points in [("gammainc", lower, [(0.25, 0.0625), (1.5, 0.5), (3, 12), (25, 20), (25, 30), (400, 390)]),
                               ("betainc", betainc, [(0.5, 0.5, 0.25), (2, 3, 0.75), (20, 30, 0.375), (200, 100, 0.6875)]),
                               ("zeta", lambda s, q: mp.zeta(s, q), [(2, 1), (3.5, 0.25), (1.5, 40)])]:
    for at in points:
        slopes = [slope(function, at, i) for i in range(len(at))]
        print(f"    {{\"{name}\", {{{', '.join(repr(float(x)) for x in at)}}}, {{{', '.join(map(repr, slopes))}}}}},")
