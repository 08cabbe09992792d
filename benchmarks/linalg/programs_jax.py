"""The programs of examples/estimation.cpp, control.cpp and fourier.cpp in JAX: programs_jax.py

Prints what they print, and how many lines of code each takes in JAX and in C++: blank lines, comments and lines of
brackets alone are not counted. Both are as their formatters lay them out, of 88 columns (black) and of 120. JAX has no
Levenberg-Marquardt method, and its BFGS stands for L-BFGS.
"""

import inspect
import os
import re

import jax
import jax.numpy as jnp
from jax.scipy.linalg import solve_triangular
from jax.scipy.optimize import minimize

jax.config.update("jax_enable_x64", True)


def process(parameters, x, y):
    p = jnp.exp(parameters)
    distances = (x[:, None] - x) / p[0]
    covariance = p[1] ** 2 * jnp.exp(-0.5 * distances**2) + p[2] ** 2 * jnp.eye(len(x))
    l = jnp.linalg.cholesky(covariance)
    white = solve_triangular(l, y, lower=True)
    return (
        0.5 * white @ white
        + jnp.log(jnp.diag(l)).sum()
        + 0.5 * len(x) * jnp.log(2 * jnp.pi)
    )


@jax.jit
def fit(x, y):
    r = minimize(lambda p: process(p, x, y), jnp.zeros(3), method="BFGS")
    return r.fun, jnp.exp(r.x)


def filter(parameters, measured):
    drift, noise = jnp.exp(2 * parameters)
    move, see = jnp.array([[1.0, 1.0], [0.0, 1.0]]), jnp.array([1.0, 0.0])
    process = drift * jnp.array([[1 / 3, 0.5], [0.5, 1.0]])

    def step(carry, y):
        mean, p, loss = carry
        mean = move @ mean
        p = move @ p @ move.T + process
        seen = p @ see
        variance, error = seen[0] + noise, y - mean[0]
        loss = loss + 0.5 * (
            jnp.log(variance) + error**2 / variance + jnp.log(2 * jnp.pi)
        )
        return (
            mean + seen * error / variance,
            p - jnp.outer(seen, seen) / variance,
            loss,
        ), None

    start = jnp.zeros(2), 100 * jnp.eye(2), 0.0
    return jax.lax.scan(step, start, measured)[0][2]


def move(s, force):
    c, d, spin = jnp.cos(s[1]), jnp.sin(s[1]), 0.5 * s[3] ** 2
    mass = 1 + 0.2 * d**2
    push = (force[0] + 0.2 * d * (spin + 9.81 * c)) / mass
    turn = (-force[0] * c - 0.2 * spin * c * d - 1.2 * 9.81 * d) / (0.5 * mass)
    velocity = s[2:] + 0.04 * jnp.stack([push, turn])
    return jnp.concatenate([s[:2] + 0.04 * velocity, velocity])


@jax.jit
def improve(forces):
    start, goal = jnp.zeros(4), jnp.array([0.0, jnp.pi, 0.0, 0.0, 0.0])
    weights = jnp.array([0.01, 0.01, 0.001, 0.001, 0.002])
    unsettled = lambda z: weights * (z - goal)
    end, states = jax.lax.scan(lambda s, u: (move(s, u), s), start, forces)
    path = jnp.concatenate([states, forces], 1)
    slopes = jax.vmap(jax.jacobian(lambda z: move(z[:4], z[4:])))(path)

    def back(value, at):
        (curvature, slope), (a, z) = value, at
        h = a.T @ curvature @ a + jnp.diag(weights)
        g = slope @ a + unsettled(z)
        gain, change = -h[4, :4] / h[4, 4], -g[4] / h[4, 4]
        return (h[:4, :4] + jnp.outer(h[4, :4], gain), g[:4] + h[4, :4] * change), (
            gain,
            change,
        )

    value = 100 * jnp.eye(4), 100 * (end - goal[:4])
    policy = jax.lax.scan(back, value, (slopes, path), reverse=True)[1]

    def follow(size):
        def step(run, point):
            (state, cost), (z, gain, change) = run, point
            u = z[4:] + size * change + gain @ (state - z[:4])
            z = jnp.concatenate([state, u])
            return (move(state, u), cost + 0.5 * unsettled(z) @ (z - goal)), u

        (last, cost), us = jax.lax.scan(step, (start, 0.0), (path, *policy))
        return cost + 50 * jnp.sum((last - goal[:4]) ** 2), us

    costs, tries = jax.vmap(follow)(jnp.array([1, 0.5, 0.25, 0.1, 0.02, 0]))
    best = jnp.argmin(costs)
    return costs[best], tries[best]


def reaction(rates):
    def change(y):
        a, b, c = rates[0] * y[0], rates[1] * y[1] * y[2], rates[2] * y[1] ** 2
        return jnp.stack([b - a, a - b - c, c])

    times = 40 * jnp.exp(-20 * (1 - jnp.arange(2001) / 2000))
    steps = jnp.concatenate([times[:1], jnp.diff(times)])

    def step(y, h):
        f = lambda z: z - y - h * change(z)

        def solve(f, z):
            newton = lambda i, z: z - jnp.linalg.solve(jax.jacobian(f)(z), f(z))
            return jax.lax.fori_loop(0, 8, newton, z)

        tangent = lambda g, y: jnp.linalg.solve(jax.jacobian(g)(y), y)
        return jax.lax.custom_root(f, y, solve, tangent), None

    return jax.lax.scan(step, jnp.array([1.0, 0.0, 0.0]), steps)[0]


def burgers(start, viscosity):
    n = len(start)
    k = jnp.fft.rfftfreq(n, 1 / n)
    kept = k < n / 3

    def rate(waves):
        u = jnp.fft.irfft(waves, n)
        product = jnp.fft.rfft(0.5 * u**2)
        return -1j * kept * k * product - viscosity * k**2 * waves

    def step(i, waves):
        a = rate(waves)
        b = rate(waves + 0.001 * a)
        c = rate(waves + 0.001 * b)
        d = rate(waves + 0.002 * c)
        return waves + 0.002 / 6 * (a + 2 * b + 2 * c + d)

    return jnp.fft.irfft(jax.lax.fori_loop(0, 400, step, jnp.fft.rfft(start)), n)


@jax.jit
def spectrogram(sound):
    f, t, z = jax.scipy.signal.stft(
        sound, nperseg=256, noverlap=128, boundary=None, padded=False
    )
    return jnp.abs(z)


def least_squares(f, x):
    def step(_, at):
        x, damping = at
        r, j = f(x), jax.jacobian(f)(x)
        a = j.T @ j
        y = x - jnp.linalg.solve(a + damping * jnp.diag(jnp.diag(a)), j.T @ r)
        better = jnp.sum(f(y) ** 2) < jnp.sum(r**2)
        return jnp.where(better, y, x), damping * jnp.where(better, 0.3, 3.0)

    return jax.lax.fori_loop(0, 200, step, (x, 1e-3))[0]


@jax.jit
def certified(x, y):
    misra = lambda b: b[0] * (1 - jnp.exp(-b[1] * x)) - y
    return least_squares(misra, jnp.array([500, 0.0001]))


# Each program: its functions here, and from which line to which one of an example it stands.
PROGRAMS = {
    "process": (
        [process, fit],
        "estimation",
        [("Tensor process", "}"), ("auto fit", "});"), ("auto [loss, parameters]", "")],
    ),
    "filter": ([filter], "estimation", [("Tensor filter", "}")]),
    "Misra1a": (
        [least_squares, certified],
        "estimation",
        [
            ("auto misra", ""),
            ("const solvers::LeastSquares", ""),
            ("auto certified", "});"),
        ],
    ),
    "pole": (
        [move, improve],
        "control",
        [("Tensor move", "}"), ("std::pair<Tensor, Tensor> improve", "}")],
    ),
    "reaction": ([reaction], "control", [("Tensor reaction", "}")]),
    "fluid": ([burgers], "fourier", [("Tensor burgers", "}")]),
    "spectrogram": (
        [spectrogram],
        "fourier",
        [("const fft::StftOptions", ""), ("auto spectrogram", "")],
    ),
}


def lines_of_code(lines, comment):
    code = (line.strip() for line in lines)
    return sum(
        1
        for line in code
        if line
        and not line.startswith(comment)
        and not re.fullmatch(r"[\])};,]+", line)
    )


def lines_in_cpp(example, parts):
    folder = os.path.join(os.path.dirname(__file__), "..", "..", "examples")
    lines = open(os.path.join(folder, example + ".cpp")).read().splitlines()
    count = 0
    for begin, end in parts:
        first = next(
            i for i, line in enumerate(lines) if line.strip().startswith(begin)
        )
        indent = lines[first][: len(lines[first]) - len(lines[first].lstrip())]
        last = (
            first
            if not end
            else next(i for i in range(first, len(lines)) if lines[i] == indent + end)
        )
        count += lines_of_code(lines[first : last + 1], "//")
    return count


def main():
    t = jnp.arange(100) / 10
    y = jnp.sin(t) + 0.1 * jnp.cos(37 * t)
    print("process    ", *fit(t, y))
    newton = jax.jit(
        lambda p: p
        - jnp.linalg.solve(jax.hessian(filter)(p, y), jax.grad(filter)(p, y))
    )
    p = jnp.array([-4.5, -3.0])
    print("filter     ", *jax.value_and_grad(filter)(p, y))
    for _ in range(8):
        p = newton(p)
    print("filter     ", filter(p, y), jnp.exp(p))
    x1 = [
        77.6,
        114.9,
        141.1,
        190.8,
        239.9,
        289,
        332.8,
        378.4,
        434.8,
        477.3,
        536.8,
        593.1,
        689.1,
        760,
    ]
    y1 = [
        10.07,
        14.73,
        17.94,
        23.93,
        29.61,
        35.18,
        40.02,
        44.82,
        50.76,
        55.05,
        61.01,
        66.4,
        75.47,
        81.78,
    ]
    print("Misra1a    ", certified(jnp.array(x1), jnp.array(y1)))
    forces = jnp.zeros((100, 1))
    for _ in range(100):
        cost, forces = improve(forces)
    print("pole       ", cost)
    print("reaction   ", reaction(jnp.array([0.04, 1e4, 3e7])))
    x = 2 * jnp.pi * jnp.arange(128) / 128
    print("fluid      ", jnp.mean(burgers(jnp.sin(x), 0.05) ** 2))
    s = jnp.arange(4096) / 2048
    print(
        "spectrogram",
        jnp.argmax(spectrogram(jnp.sin(2 * jnp.pi * (100 * s + 75 * s**2))), 0)[
            jnp.array([8, 24])
        ]
        * 8,
    )
    for name, (functions, example, parts) in PROGRAMS.items():
        ours = lines_in_cpp(example, parts)
        theirs = sum(
            lines_of_code(inspect.getsource(f).splitlines(), "#") for f in functions
        )
        print(f"{name}: {ours} lines in C++, {theirs} in JAX")


main()
