"""The cases of calque-linalg-bench by other systems: linalg_peers.py numpy|jax|torch [CASE...]. Prints the same lines of JSON.

numpy stands for NumPy and, where it has none, SciPy. BENCH_SECONDS says for how long each case, OMP_NUM_THREADS on how many threads.
"""
import json
import os
import sys
import time

system = sys.argv[1]
THREADS = int(os.environ.get("OMP_NUM_THREADS", os.cpu_count()))
SECONDS = float(os.environ.get("BENCH_SECONDS", "3"))
if system == "jax":
    os.environ.setdefault("JAX_PLATFORMS", "cpu")
    if THREADS == 1:  # JAX makes a thread for each CPU that it may have, whatever flags say
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
import numpy as np
import scipy.fft
import scipy.linalg

MANY = 10000


def matrices(count, n, definite):
    i, j = np.meshgrid(np.arange(n), np.arange(n), indexing="ij")
    row, column = (np.minimum(i, j), np.maximum(i, j)) if definite else (i, j)
    a = np.sin(1.3 * (row * n + column)[None] + 0.37 * np.arange(count)[:, None, None])
    a += np.diag(n + 0.1 * np.arange(n) if definite else np.full(n, 2.0))
    return a


def numbers(shape):
    at = np.arange(int(np.prod(shape))) % 100003
    return (np.sin(0.37 * at) + 1j * np.cos(0.11 * at)).astype(np.complex64).reshape(shape)


if system == "jax":
    import jax
    jax.config.update("jax_enable_x64", True)
    import jax.numpy as xp
    la, fft, fftn, put, grad = xp.linalg, xp.fft.fft, xp.fft.fftn, xp.asarray, jax.grad
    jitted, ready, get = jax.jit, jax.block_until_ready, np.asarray
    lu, expm, eig = jax.scipy.linalg.lu_factor, jax.scipy.linalg.expm, xp.linalg.eig
    imag, real, diagonal = xp.imag, xp.real, lambda a: xp.diagonal(a, axis1=-2, axis2=-1)
elif system == "torch":
    import torch as xp
    xp.set_num_threads(THREADS)
    la, fft, fftn, put = xp.linalg, xp.fft.fft, xp.fft.fftn, xp.asarray
    lu, expm, eig = xp.linalg.lu_factor, xp.linalg.matrix_exp, xp.linalg.eig
    ready, get = lambda x: x, lambda x: x.detach().numpy()
    imag, real, diagonal = xp.imag, xp.real, lambda a: xp.diagonal(a, dim1=-2, dim2=-1)
    def jitted(f):
        return f
    def grad(f):
        def gradient(a):
            a = a.detach().requires_grad_(True)
            return xp.autograd.grad(f(a), a)[0]
        return gradient
else:
    xp, la, put, get, grad = np, np.linalg, np.asarray, np.asarray, None
    jitted, ready = lambda f: f, lambda x: x
    fft, fftn = lambda x: scipy.fft.fft(x, workers=THREADS), lambda x: scipy.fft.fftn(x, workers=THREADS)
    lu, expm, eig = scipy.linalg.lu_factor, scipy.linalg.expm, np.linalg.eig
    diagonal = lambda a: np.diagonal(a, axis1=-2, axis2=-1)


def right(a):
    return xp.ones((a.shape[-1], 1), dtype=xp.float64)


# The results of a task, and of these the number that all systems agree on.
TASKS = {
    "cholesky": (True, lambda a: la.cholesky(a), lambda l: l[..., -1, -1].sum()),
    "solve": (False, lambda a: la.solve(a, right(a)), lambda x: x.sum()),
    "inv": (False, lambda a: la.inv(a), lambda x: diagonal(x).sum()),
    "lu": (False, lu, lambda f: f[0][..., -1, -1].sum()),
    "qr": (False, lambda a: la.qr(a), lambda f: abs(f[1][..., -1, -1]).sum()),
    "svd": (False, lambda a: la.svd(a, full_matrices=False), lambda f: f[1].sum()),
    "eigh": (True, lambda a: la.eigh(a), lambda f: (f[0] ** 2).sum()),
    "eig": (False, eig, lambda f: (abs(f[0]) ** 2).sum()),
    "expm": (False, expm, lambda x: diagonal(x).sum()),
}
LOSSES = {
    "cholesky": lambda a: 2.0 * xp.log(diagonal(la.cholesky(a))).sum(),
    "solve": lambda a: (la.solve(a, right(a)) ** 2).sum(),
    "inv": lambda a: (la.inv(a) ** 2).sum(),
    "eigh": lambda a: (0.5 * la.eigh(a)[0] ** 2).sum(),
    "svd": lambda a: la.svd(a, full_matrices=False)[1].sum(),
}


def make_cases():
    cases = {}
    for name, (definite, task, check) in TASKS.items():
        for count, n in [(MANY, 3), (MANY, 6), (MANY, 12), (1, 100), (1, 500), (1, 2000)]:
            if n == 2000 and name in ("eig", "expm"):
                continue
            case = f"{name}_{'many_' if count > 1 else ''}{n}"
            # A single matrix has no batch, which SciPy's functions do not all take.
            give = lambda count=count, n=n, definite=definite: (matrices(count, n, definite) if count > 1
                                                                else matrices(1, n, definite)[0],)
            cases[case] = (task, give, lambda f, check=check: float(get(check(f))))
            if name in LOSSES and grad:
                cases[case + "_gradient"] = (grad(LOSSES[name]), give, lambda g: float(np.abs(get(g)).sum()))
    cases["jax_36927"] = (lambda a, b: la.solve(a, b), lambda: (matrices(MANY, 3, False), matrices(MANY, 3, True)),
                          lambda x: float(get(diagonal(x).sum())))
    if system == "jax":
        def quasiseparable(d, p, q, a):
            def step(f, row):
                d, p, q, a = row
                c = xp.sqrt(d - p @ f @ p)
                t = f @ a.T
                w = (q - p @ t) / c
                return a @ t + xp.outer(w, w), (c, w)
            return jax.lax.scan(step, xp.zeros((3, 3)), (d, p, q, a))[1]
        k = np.arange(2000.0)[:, None]
        matrix = np.array([[0.5, 0.2, -0.1], [0.1, 0.6, 0.2], [-0.3, 0.1, 0.4]])
        rows = (2 + 0.1 * np.sin(0.37 * k[:, 0]), 0.3 * np.sin(0.11 * k + np.arange(3)),
                0.2 * np.cos(0.23 * k + 2 * np.arange(3)), matrix * (1 + 0.1 * np.sin(0.05 * k))[:, :, None])
        cases["jax_36799"] = (quasiseparable, lambda: rows, lambda f: float(f[0].sum() + f[1].sum()))
    shapes = {f"fft_2^{e}": (2**e,) for e in range(10, 23, 2)} | {"fft_1000x1024": (1000, 1024), "fft_128^3": (128,) * 3}
    shapes |= {f"fft_prime_{p}": (p,) for p in (1009, 10007, 65537)}
    second = lambda z: float(abs(np.ravel(get(z))[1]))
    for name, shape in shapes.items():
        transform = fftn if len(shape) == 3 else fft
        give = lambda shape=shape: (numbers(shape),)
        cases[name] = (transform, give, second)
        if grad:
            def loss(x, transform=transform):
                z = transform(x)
                return (real(z) ** 2 * imag(z) ** 2).sum()
            cases[name + "_gradient"] = (grad(loss), give, second)
    return cases


cases = make_cases()
for name in sys.argv[2:] or cases:
    row = {"peer": system, "threads": THREADS, "case": name}
    try:
        f, give, check = cases[name]
        g = jitted(f)
        args = [put(x) for x in give()]
        start = time.perf_counter()
        result = ready(g(*args))
        row["first_ms"] = 1e3 * (time.perf_counter() - start)
        times, end = [], time.perf_counter() + SECONDS
        while len(times) < 3 or (time.perf_counter() < end and len(times) < 20000):
            start = time.perf_counter()
            ready(g(*args))
            times.append(time.perf_counter() - start)
        row |= {"ms": 1e3 * float(np.median(times)), "runs": len(times), "check": check(result)}
    except Exception as error:
        row["error"] = str(error)[:200]
    print(json.dumps(row), flush=True)
