"""Prints the table of SpecialTest.cpp: special_values.py, with SciPy 1.17.1 and mpmath 1.4.1.

The functions and arguments are named here. Values are those of mpmath in 40 digits, rounded to double, and SciPy's must agree.
"""
import mpmath as mp
import scipy.special as sp

mp.mp.dps = 40


def quantile(p):
    """mpmath's erfinv of 2 p - 1 in as many digits as small p need."""
    with mp.workdps(400):
        return mp.sqrt(2) * mp.erfinv(2 * mp.mpf(p) - 1)


ndtr = lambda x: mp.erfc(-x / mp.sqrt(2)) / 2
FUNCTIONS = [
    ("erfc", mp.erfc, sp.erfc, [-7, -1.5, 0.25, 1, 5, 9.5, 26]),
    ("erfcx", lambda x: mp.exp(x * x) * mp.erfc(x), sp.erfcx, [-5, -0.5, 0, 0.75, 3, 50, 1e10]),
    ("ndtr", ndtr, sp.ndtr, [-37, -12, -1, 0, 0.5, 3, 9]),
    ("log_ndtr", lambda x: mp.log(ndtr(x)), sp.log_ndtr, [-1000, -30, -3, 0, 2, 8]),
    ("ndtri", quantile, sp.ndtri, [1e-300, 1e-30, 1e-4, 0.05, 0.3, 0.75, 0.999]),
    ("erfinv", mp.erfinv, sp.erfinv, [-0.9999999, -0.5, 1e-20, 0.25, 0.8, 0.9375]),
    ("i0", lambda x: mp.besseli(0, x), sp.i0, [0, 0.5, -3, 7.75, 8.25, 80]),
    ("i1", lambda x: mp.besseli(1, x), sp.i1, [1e-20, 0.5, -3, 7.75, 8.25, 80]),
    ("i0e", lambda x: mp.besseli(0, x) * mp.exp(-abs(x)), sp.i0e, [0, 1, -5, 9, 1000]),
    ("i1e", lambda x: mp.besseli(1, x) * mp.exp(-abs(x)), sp.i1e, [0.125, 1, -5, 9, 1000]),
    ("lgamma", lambda x: mp.log(abs(mp.gamma(x))) if x < 1000 else mp.loggamma(x), sp.gammaln,
     [1e-20, 0.25, 1.0009765625, 1.5, 2.25, 3, 7.5, 8, 100, 1e20, -0.5, -1.25, -10.75, -100.5]),
    ("digamma", mp.digamma, sp.digamma, [1e-10, 0.25, 1, 2, 7.875, 8, 1e6, 1e20, -0.25, -3.5, -20.125]),
    ("trigamma", lambda x: mp.polygamma(1, x) if x > 0 else (mp.pi / mp.sin(mp.pi * x)) ** 2 - mp.polygamma(1, 1 - x), None,
     [1e-10, 0.25, 1, 7.875, 8, 1e6, -0.25, -3.5, -20.125]),
]
for name, exact, found, arguments in FUNCTIONS:
    for x in arguments:
        value = float(exact(mp.mpf(x)))
        assert found is None or abs(found(x) - value) <= 4e-13 * abs(value), (name, x, value, found(x))
        print(f"    {{\"{name}\", {name}, {float(x)!r}, {value!r}}},")
