"""The cases of calque-numbers-bench by other systems: numbers_peers.py numpy|jax|torch [CASE...]. Prints the same lines of JSON.

numpy stands for NumPy and, where it has none, SciPy. What a system has not is a row with its error. BENCH_SECONDS says for how long each
case, OMP_NUM_THREADS on how many threads.
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

MILLION = 1_000_000


def hashes(count, seed):
    return ((np.arange(count, dtype=np.uint64) + seed) * 2654435761).astype(np.uint32)


def numbers(shape, seed, dtype="float32"):
    return (hashes(int(np.prod(shape)), seed) / 4294967296.0).reshape(shape).astype(dtype)


def whole(seed):
    return (np.floor(numbers((1024, 1024), seed, "float64") * 200) - 100).astype(np.int8)


def z(seed):
    return (numbers(MILLION, seed) + 1j * numbers(MILLION, seed + 7)).astype(np.complex64)


def xorshift(x):
    for _ in range(3):
        x = x ^ (x << 13)
        x = x ^ (x >> 17)
        x = x ^ (x << 5)
    return x


EQUATION = "ab,bc,cd,de,ef->af"
FIVE = [(512, 8), (8, 512), (512, 8), (8, 512), (512, 8)]
# What is made for each case, and the number that all systems agree on.
INPUTS = {
    "xorshift_10^7": lambda: [hashes(10 * MILLION, 1)],
    "complex_multiply_add_10^6": lambda: [z(1), z(2), z(3)],
    "gemm_float16": lambda: [numbers((1024, 1024), 1), numbers((1024, 1024), 2)],
    "gemm_bfloat16": lambda: [numbers((1024, 1024), 1), numbers((1024, 1024), 2)],
    "convert_float16_10^7": lambda: [numbers(10 * MILLION, 1)],
    "convert_bfloat16_10^7": lambda: [numbers(10 * MILLION, 1)],
    "gemm_int8": lambda: [whole(1), whole(2)],
    "quantile_10^6": lambda: [numbers(MILLION, 1), np.array([0.1, 0.5, 0.9], np.float32)],
    "histogram_10^6": lambda: [numbers(MILLION, 1)],
    "searchsorted_10^6": lambda: [np.sort(numbers(100_000, 1)), numbers(MILLION, 2)],
    "unique_10^6": lambda: [np.floor(numbers(MILLION, 1, "float64") * 1000).astype(np.int32)],
    "sort_axis_0": lambda: [numbers((10_000, 100), 1)],
    "top_k": lambda: [numbers((256, 10_000), 1)],
    "uniform_10^6": lambda: [],
    "normal_10^6": lambda: [],
    "gamma_10^6": lambda: [],
    "sobol_65536x16": lambda: [],
    "update_slices_1000": lambda: [numbers((1000, 256), 1), numbers((1, 256), 2)],
    "roll_stencil_1000x1000": lambda: [numbers((1000, 1000), 1)],
    "einsum_of_five": lambda: [numbers(shape, i + 1) for i, shape in enumerate(FIVE)],
    "resize_linear": lambda: [numbers((8, 256, 256, 3), 1)],
}
for dtype in ("float32", "float64"):
    INPUTS[f"atan2_{dtype}_10^6"] = lambda d=dtype: [numbers(MILLION, 1, d), numbers(MILLION, 2, d)]
    INPUTS[f"lgamma_{dtype}_10^6"] = lambda d=dtype: [(numbers(MILLION, 1, d) + d_of(d, 0.001)).astype(d)]
d_of = lambda d, x: np.dtype(d).type(x)
total, mean = lambda x: float(np.sum(x, dtype=np.float64)), lambda x: float(np.mean(x, dtype=np.float64))
CHECKS = {"complex_multiply_add_10^6": lambda x: total(x.real), "histogram_10^6": lambda x: float(x[7]),
          "sort_axis_0": lambda x: total(x[5000]), "roll_stencil_1000x1000": lambda x: total(abs(x))}
SUMS = {"gemm_float16", "gemm_bfloat16", "gemm_int8", "quantile_10^6", "unique_10^6", "top_k", "update_slices_1000", "einsum_of_five"}

if system == "jax":
    import jax
    jax.config.update("jax_enable_x64", True)
    import jax.numpy as xp
    from jax.scipy.special import gammaln as lgamma
    put, jitted, ready = xp.asarray, jax.jit, jax.block_until_ready
    get = lambda x: np.asarray(x.astype(xp.float32) if x.dtype == xp.bfloat16 else x)
    half = {"float16": xp.float16, "bfloat16": xp.bfloat16}
    keys = iter(jax.random.split(jax.random.key(1), 20000))
    def drawn(f):
        g = jax.jit(f)
        return lambda: g(next(keys))
    def updates(x, row):
        return jax.lax.fori_loop(0, 1000, lambda i, x: jax.lax.dynamic_update_slice(x, row + i.astype(xp.float32), (i, 0)), x)
    own = {
        "gemm_int8": lambda a, b: jax.lax.dot(a, b, preferred_element_type=xp.int32),
        "searchsorted_10^6": xp.searchsorted,
        "unique_10^6": lambda x: xp.unique(x, size=1000),
        "sort_axis_0": lambda x: xp.sort(x, axis=0),
        "top_k": lambda x: jax.lax.top_k(x, 10)[0],
        "quantile_10^6": xp.quantile,
        "histogram_10^6": lambda x: xp.histogram(x, 100, (0.0, 1.0))[0],
        "update_slices_1000": updates,
        "resize_linear": lambda x: jax.image.resize(x, (8, 512, 512, 3), "linear"),
        "roll_stencil_1000x1000": lambda x: xp.roll(x, 1, 0) + xp.roll(x, -1, 0) + xp.roll(x, 1, 1) + xp.roll(x, -1, 1) - 4 * x,
    }
    draws = {
        "uniform_10^6": drawn(lambda k: jax.random.uniform(k, (MILLION,), xp.float32)),
        "normal_10^6": drawn(lambda k: 1 + jax.random.normal(k, (MILLION,), xp.float32)),
        "gamma_10^6": drawn(lambda k: jax.random.gamma(k, 2.5, (MILLION,), xp.float32)),
    }
elif system == "torch":
    import torch as xp
    xp.set_num_threads(THREADS)
    put, jitted, ready = xp.asarray, lambda f: f, lambda x: x
    get = lambda x: (x.float() if x.dtype == xp.bfloat16 else x).numpy()
    lgamma, half = xp.lgamma, {"float16": xp.float16, "bfloat16": xp.bfloat16}
    def updates(x, row):
        x = x.clone()
        for i in range(1000):
            x[i:i + 1] = row + float(i)
        return x
    def sobol():
        return xp.quasirandom.SobolEngine(16).draw(65536)
    own = {
        "gemm_int8": lambda a, b: xp._int_mm(a, b),
        "searchsorted_10^6": xp.searchsorted,
        "unique_10^6": xp.unique,
        "sort_axis_0": lambda x: xp.sort(x, dim=0)[0],
        "top_k": lambda x: xp.topk(x, 10)[0],
        "quantile_10^6": xp.quantile,
        "histogram_10^6": lambda x: xp.histc(x, 100, 0.0, 1.0),
        "update_slices_1000": updates,
        "resize_linear": lambda x: xp.nn.functional.interpolate(x.permute(0, 3, 1, 2), size=(512, 512), mode="bilinear"),
        "roll_stencil_1000x1000": lambda x: xp.roll(x, 1, 0) + xp.roll(x, -1, 0) + xp.roll(x, 1, 1) + xp.roll(x, -1, 1) - 4 * x,
    }
    gamma = xp.distributions.Gamma(xp.tensor(2.5), xp.tensor(1.0))
    draws = {"uniform_10^6": lambda: xp.rand(MILLION), "normal_10^6": lambda: xp.randn(MILLION) + 1,
             "gamma_10^6": lambda: gamma.sample((MILLION,)), "sobol_65536x16": sobol}
else:
    import scipy.special
    import scipy.stats
    xp, put, get, jitted, ready = np, np.asarray, np.asarray, lambda f: f, lambda x: x
    lgamma, half = scipy.special.gammaln, {"float16": np.float16}
    generator = np.random.default_rng(1)
    def updates(x, row):
        x = x.copy()
        for i in range(1000):
            x[i:i + 1] = row + np.float32(i)
        return x
    own = {
        "gemm_int8": lambda a, b: np.matmul(a, b, dtype=np.int32),
        "searchsorted_10^6": np.searchsorted,
        "unique_10^6": np.unique,
        "sort_axis_0": lambda x: np.sort(x, axis=0),
        "top_k": lambda x: np.partition(x, x.shape[1] - 10, axis=1)[:, -10:],
        "quantile_10^6": np.quantile,
        "histogram_10^6": lambda x: np.histogram(x, 100, (0.0, 1.0))[0],
        "update_slices_1000": updates,
        "roll_stencil_1000x1000": lambda x: np.roll(x, 1, 0) + np.roll(x, -1, 0) + np.roll(x, 1, 1) + np.roll(x, -1, 1) - 4 * x,
    }
    draws = {"uniform_10^6": lambda: generator.random(MILLION, np.float32),
             "normal_10^6": lambda: 1 + generator.standard_normal(MILLION, np.float32),
             "gamma_10^6": lambda: generator.standard_gamma(2.5, MILLION, np.float32),
             "sobol_65536x16": lambda: scipy.stats.qmc.Sobol(16, scramble=False).random(65536)}

cases = dict(own)
cases["xorshift_10^7"] = xorshift
cases["complex_multiply_add_10^6"] = lambda a, b, c: a * b + c
for name, dtype in half.items():
    cases[f"gemm_{name}"] = lambda a, b: a @ b
    cases[f"convert_{name}_10^7"] = (lambda d: lambda x: x.to(d) if system == "torch" else x.astype(d))(dtype)
atan2 = xp.arctan2 if system != "torch" else xp.atan2
for dtype in ("float32", "float64"):
    cases[f"atan2_{dtype}_10^6"] = lambda y, x: atan2(y - 0.5, x - 0.5)
    cases[f"lgamma_{dtype}_10^6"] = lambda x: lgamma(x * 10)
cases["einsum_of_five"] = ((lambda *a: np.einsum(EQUATION, *a, optimize=True)) if system == "numpy"
                           else (lambda *a: xp.einsum(EQUATION, *a)))

for name in sys.argv[2:] or INPUTS:
    row = {"peer": system, "threads": THREADS, "case": name}
    try:
        if name in draws:
            g, args = draws[name], []
        else:
            g, args = jitted(cases[name]), [put(x) for x in INPUTS[name]()]
            if name.startswith("gemm_") and name[5:] in half:
                args = [x.to(half[name[5:]]) if system == "torch" else x.astype(half[name[5:]]) for x in args]
        start = time.perf_counter()
        result = ready(g(*args))
        row["first_ms"] = 1e3 * (time.perf_counter() - start)
        times, end = [], time.perf_counter() + SECONDS
        while len(times) < 5 or (time.perf_counter() < end and len(times) < 10000):
            start = time.perf_counter()
            ready(g(*args))
            times.append(time.perf_counter() - start)
        check = CHECKS.get(name, total if name in SUMS else mean)
        row |= {"ms": 1e3 * float(np.median(times)), "runs": len(times), "check": check(get(result))}
    except Exception as error:
        row["error"] = str(error)[:200] or type(error).__name__
    print(json.dumps(row), flush=True)
