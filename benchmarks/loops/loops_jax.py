"""The loops of calque-loops-bench in JAX, under jit: loops_jax.py [CASE...]. Prints the same lines of JSON.

Numbers are float64. Loops that read and write single elements are fori_loop with x.at[i].set, which is how JAX has them.
"""
import json
import os
import sys
import time

os.environ.setdefault("JAX_PLATFORMS", "cpu")
import jax

jax.config.update("jax_enable_x64", True)
import jax.numpy as jnp
import numpy as np

SECONDS = float(os.environ.get("BENCH_SECONDS", "3"))
STEPS, ORBIT, SCAN, DRAWS, SIEVE, WORD, SERIES, SEEN, CELLS, HEAT, POINTS, MOST = (
    1000, 10000, 10000, 1000000, 100000, 500, 200, 200, 1000, 1000, 20000, 100)


def lorenz(s):
    x, y, z = s
    return jnp.stack([10.0 * (y - x), x * (28.0 - z) - y, x * y - 8.0 / 3.0 * z])


def rk4(start):
    def step(i, s):
        k1 = lorenz(s)
        k2 = lorenz(s + 0.005 * k1)
        k3 = lorenz(s + 0.005 * k2)
        k4 = lorenz(s + 0.01 * k3)
        return s + 0.01 / 6 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
    return jax.lax.fori_loop(0, STEPS, step, start).sum()


def kepler(start):
    def step(i, state):
        position, speed = state
        position = position + 0.001 * speed
        square = (position * position).sum()
        speed = speed - 0.002 * position / (square * jnp.sqrt(square))
        return position + 0.001 * speed, speed
    position, speed = jax.lax.fori_loop(0, ORBIT, step, (start[0], start[1]))
    return position.sum() + speed.sum()


def affine_scan(matrix):
    return jax.lax.fori_loop(0, SCAN, lambda i, x: matrix @ x + 0.1, jnp.ones(3)).sum()


def kalman(noise, seen):
    f = jnp.array([[1, 0, 0.1, 0], [0, 1, 0, 0.1], [0, 0, 1, 0], [0, 0, 0, 1.0]])
    h = jnp.array([[1.0, 0, 0, 0], [0, 1, 0, 0]])
    q, r = noise[0] * jnp.eye(4), noise[1] * jnp.eye(2)

    def step(state, y):
        x, p, likelihood = state
        x, p = f @ x, f @ p @ f.T + q
        ph = p @ h.T
        s = h @ ph + r
        innovation = y - h @ x
        k = jnp.linalg.solve(s, ph.T).T
        likelihood = likelihood - 0.5 * (jnp.log(jnp.linalg.det(s)) + innovation @ jnp.linalg.solve(s, innovation))
        return (x + k @ innovation, p - k @ ph.T, likelihood), None
    return jax.lax.scan(step, (jnp.zeros(4), jnp.eye(4), 0.0), seen)[0][2]


def xorshift(seed):
    def step(i, x):
        x = x ^ (x << jnp.uint64(13))
        x = x ^ (x >> jnp.uint64(7))
        return x ^ (x << jnp.uint64(17))
    return jax.lax.fori_loop(0, DRAWS, step, seed) >> jnp.uint64(12)


def edit_distance(a, b):
    def outer(i, row):
        def inner(j, state):
            row, diagonal = state
            above = row[j + 1]
            value = jnp.minimum(jnp.minimum(above, row[j]) + 1, diagonal + (a[i] != b[j]))
            return row.at[j + 1].set(value.astype(row.dtype)), above
        return jax.lax.fori_loop(0, WORD, inner, (row.at[0].set((i + 1).astype(row.dtype)), row[0]))[0]
    return jax.lax.fori_loop(0, WORD, outer, jnp.arange(WORD + 1, dtype=jnp.int32))[WORD]


def sieve(first):
    def each(i, is_prime):
        return jax.lax.cond(
            is_prime[i],
            lambda p: jax.lax.while_loop(lambda s: s[0] < SIEVE, lambda s: (s[0] + i, s[1].at[s[0]].set(False)), (i * i, p))[1],
            lambda p: p, is_prime)
    return jax.lax.fori_loop(first, 317, each, jnp.ones(SIEVE, dtype=bool)).sum()


def soft_alignment(a, b):
    def outer(i, row):
        def inner(j, state):
            row, diagonal = state
            above, left = row[j + 1], row[j]
            least = jnp.minimum(jnp.minimum(above, left), diagonal)
            soft = least - jnp.log(jnp.exp(least - above) + jnp.exp(least - left) + jnp.exp(least - diagonal))
            return row.at[j + 1].set(soft + (a[i] - b[j]) ** 2), above
        return jax.lax.fori_loop(0, SERIES, inner, (row.at[0].set(1e3), row[0]))[0]
    return jax.lax.fori_loop(0, SERIES, outer, jnp.full(SERIES + 1, 1e3).at[0].set(0.0))[SERIES]


def heat(start):
    u = jax.lax.fori_loop(0, HEAT, lambda i, u: u + 0.25 * (jnp.roll(u, 1) - 2.0 * u + jnp.roll(u, -1)), start)
    return (u * u).sum()


def mandelbrot(re, im):
    def steps(a, b):
        def goes_on(s):
            return (s[2] < MOST) & (s[0] * s[0] + s[1] * s[1] < 4.0)
        def step(s):
            return s[0] * s[0] - s[1] * s[1] + a, 2.0 * s[0] * s[1] + b, s[2] + 1
        return jax.lax.while_loop(goes_on, step, (0.0, 0.0, 0))[2]
    return jax.vmap(steps)(re, im).sum()


def letters(step):
    i = np.arange(WORD, dtype=np.int64)
    return ((i * i * step + i // 3) % 5).astype(np.int32)


def grid():
    columns = 200
    rows = POINTS // columns
    i, j = np.meshgrid(np.arange(rows), np.arange(columns), indexing="ij")
    return (-2.0 + 2.6 * j / columns).ravel(), (-1.2 + 2.4 * i / rows).ravel()


t = np.arange(2 * SEEN)
seen = (np.sin(0.1 * (t // 2) + t % 2) + 0.05 * np.cos(7.0 * t)).reshape(SEEN, 2)
cells = np.arange(CELLS)
rod = np.sin(0.05 * cells) + (cells % 7 == 0)
matrix = np.array([[0.5, 0.2, -0.1], [0.1, 0.6, 0.2], [-0.3, 0.1, 0.4]])
waves = [np.sin(w * np.arange(SERIES)) for w in (0.7, 0.9)]
noise = np.array([0.01, 0.1])
CASES = {
    "rk4": (rk4, np.array([1, 2, 0.5])), "kepler": (kepler, np.array([[1, 0], [0, 1.1]])), "affine_scan": (affine_scan, matrix),
    "kalman": (kalman, noise, seen), "xorshift": (xorshift, np.uint64(88172645463325252)),
    "edit_distance": (edit_distance, letters(1), letters(2)), "sieve": (sieve, np.int64(2)),
    "soft_alignment": (soft_alignment, *waves), "heat": (heat, rod), "mandelbrot": (mandelbrot, *grid()),
}
# Loops whose bounds JAX knows are scans, which have gradients.
for name in ["rk4", "kepler", "affine_scan", "kalman", "soft_alignment", "heat"]:
    f, *args = CASES[name]
    CASES[name + "_gradient"] = (lambda *x, f=f: jax.grad(f)(*x).sum(), *args)

names = sys.argv[1:] or CASES
for name in names:
    f, *args = CASES[name]
    g = jax.jit(f)
    args = [jnp.asarray(x) for x in args]
    start = time.perf_counter()
    result = jax.block_until_ready(g(*args))
    first = time.perf_counter() - start
    times, end = [], time.perf_counter() + SECONDS
    while len(times) < 5 or (time.perf_counter() < end and len(times) < 20000):
        start = time.perf_counter()
        jax.block_until_ready(g(*args))
        times.append(time.perf_counter() - start)
    print(json.dumps({"peer": "jax-jit", "case": name, "ms": 1e3 * float(np.median(times)), "first_ms": 1e3 * first,
                      "runs": len(times), "check": float(result)}), flush=True)
