"""The problems of work_precision.cpp by SciPy's solve_ivp, printed alike: work_precision.py"""
import time

import numpy as np
from scipy.integrate import solve_ivp


def chain(rates, y):
    flow = rates * y[:-1]
    return np.concatenate([[0], flow]) - np.concatenate([flow, [0]])


def first(n):
    return [1.0] + [0.0] * (n - 1)


def orbit(e):
    def f(t, y):
        r3 = (y[0] ** 2 + y[1] ** 2) ** 1.5
        return [y[2], y[3], -y[0] / r3, -y[1] / r3]

    return [1 - e, 0, 0, np.sqrt((1 + e) / (1 - e))], f


def torus(t, y):
    r = np.sqrt(y[0] ** 2 + y[1] ** 2)
    return [-y[1] - y[0] * y[2] / r, y[0] - y[1] * y[2] / r, y[0] / r]


PROBLEMS = {
    "A1": ([1], lambda t, y: -y),
    "A2": ([1], lambda t, y: -0.5 * y**3),
    "A3": ([1], lambda t, y: y * np.cos(t)),
    "A4": ([1], lambda t, y: y * 0.25 * (1 - y / 20)),
    "A5": ([4], lambda t, y: (y - t) / (y + t)),
    "B1": ([1, 3], lambda t, y: [2 * (y[0] - y[0] * y[1]), -(y[1] - y[0] * y[1])]),
    "B2": ([2, 0, 1], lambda t, y: [-y[0] + y[1], y[0] - 2 * y[1] + y[2], y[1] - y[2]]),
    "B3": ([1, 0, 0], lambda t, y: [-y[0], y[0] - y[1] ** 2, y[1] ** 2]),
    "B4": ([3, 0, 0], torus),
    "B5": ([0, 1, 1], lambda t, y: [y[1] * y[2], -y[0] * y[2], -0.51 * y[0] * y[1]]),
    "C1": (first(10), lambda t, y: chain(np.ones(9), y)),
    "C2": (first(10), lambda t, y: chain(np.arange(1, 10), y)),
    "C4": (first(51), lambda t, y: np.concatenate([[0], y[:-1]]) - 2 * y + np.concatenate([y[1:], [0]])),
    "D1": orbit(0.1),
    "D3": orbit(0.5),
    "D5": orbit(0.9),
    "E1": ([0.6713967071418030, 0.09540051444747446], lambda t, y: [y[1], -(y[1] / (t + 1) + (1 - 0.25 / (t + 1) ** 2) * y[0])]),
    "E2": ([2, 0], lambda t, y: [y[1], (1 - y[0] ** 2) * y[1] - y[0]]),
    "E3": ([0, 0], lambda t, y: [y[1], y[0] ** 3 / 6 - y[0] + 2 * np.sin(2.78535 * t)]),
}

for name, (y0, f) in PROBLEMS.items():
    exact = solve_ivp(f, (0, 20), y0, method="DOP853", rtol=1e-13, atol=1e-13).y[:, -1]
    for method in ("RK23", "RK45", "DOP853"):
        for tolerance in (1e-3, 1e-6, 1e-9):
            begin = time.perf_counter()
            found = solve_ivp(f, (0, 20), y0, method=method, rtol=tolerance, atol=tolerance)
            passed = time.perf_counter() - begin
            error = np.max(np.abs(found.y[:, -1] - exact))
            print(f"{name} {method} {tolerance:.0e} error {error:.1e} steps {len(found.t) - 1} evaluations {found.nfev} us {passed * 1e6:.1f}")
