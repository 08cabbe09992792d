"""Writes expected.json: what NumPy gives for the cases of the tests in this folder.

    python -m venv venv && venv/bin/pip install numpy==2.4.6 scipy==1.17.1
    venv/bin/python test/arrays/make_expected.py

A line is a case: its name, the inputs and the results. An array is its element type, its shape and its elements in
row-major order; elements that are not finite are text.
"""
import json
import math
import pathlib

import numpy as np

random = np.random.default_rng(5)
lines, names = [], set()


def plain(x):
    if isinstance(x, float) and not math.isfinite(x):
        return repr(x)
    return x


def array(x):
    x = np.asarray(x)
    return [str(x.dtype), list(x.shape), [plain(v) for v in x.ravel().tolist()]]


def case(name, function, *inputs):
    """The results of the function on the inputs, which are arrays or shapes of random ones."""
    assert name not in names, name
    names.add(name)
    given = [random.uniform(-2, 2, x) if isinstance(x, tuple) else np.asarray(x) for x in inputs]
    results = function(*given)
    if not isinstance(results, (tuple, list)):
        results = [results]
    lines.append(json.dumps([name, [array(x) for x in given], [array(x) for x in results]]))


f64, i64, i32 = np.float64, np.int64, np.int32

#===-- Making ---------------------------------------------------------------------------------===#
case("full_like", lambda x: np.full_like(x, 2.5), (3, 5))
case("zeros_like", np.zeros_like, (3, 5))
case("ones_like int", lambda x: np.ones_like(x, dtype=i64), (3, 5))
case("arange", lambda: [np.arange(5, dtype=i32), np.arange(2, 11, 3, dtype=i32), np.arange(7, -3, -4, dtype=i32),
                        np.arange(5, 5, dtype=i32), np.arange(0, 1, 0.1), np.arange(1.5, -2.25, -0.75),
                        np.arange(-(2**62), 2**62, 2**61, dtype=i64)])
case("linspace", lambda: [np.linspace(0, 1, 5), np.linspace(2.5, -3, 7, endpoint=False), np.linspace(0, 1, 1),
                          np.linspace(1, 2, 0), np.linspace(3, 3, 4), np.linspace(0, 5e-324, 4)])
case("linspace tensors", lambda a, b: [np.linspace(a, b, 5), np.linspace(a, b, 4, endpoint=False, axis=-1),
                                       np.linspace(a, b, 3, axis=1)], (3, 1), (4,))
case("logspace", lambda a, b: [np.logspace(a, b, 6), np.logspace(a, b, 4, base=2, endpoint=False)], (3,), (3,))
case("geomspace", lambda: [np.geomspace(1, 1000, 4), np.geomspace(-2, -32, 5), np.geomspace(256, 1, 9),
                           np.geomspace(1, 8, 3, endpoint=False), np.geomspace(5, 7, 1)])
case("geomspace tensors", lambda a, b: np.geomspace(np.exp(a), np.exp(b), 5), (3,), (3,))
case("meshgrid xy", lambda a, b: list(np.meshgrid(a, b)), (3,), (4,))
case("meshgrid ij", lambda a, b, c: list(np.meshgrid(a, b, c, indexing="ij")), (3,), (4,), (2,))
case("meshgrid sparse", lambda a, b, c: list(np.meshgrid(a, b, c, sparse=True)), (3,), (4,), ())
case("eye", lambda: [np.eye(3, 4), np.eye(3, 4, 2), np.eye(4, 3, -2), np.eye(2, 3, 9), np.eye(0, 3)])
case("tri", lambda: [np.tri(3, 4), np.tri(3, 4, 2), np.tri(4, 3, -2), np.tri(2, 3, -9)])

#===-- Moving ---------------------------------------------------------------------------------===#
case("roll flat", lambda x: [np.roll(x, 4), np.roll(x, -1), np.roll(x, 1000)], (3, 5))
case("roll axes", lambda x: [np.roll(x, 2, 1), np.roll(x, (1, -7), (0, 2)), np.roll(x, 1, (0, -1))], (3, 5, 2))
case("roll tensor", lambda x, s: [np.roll(x, int(s), 0), np.roll(x, int(s))], (5, 3), np.asarray(-7))
case("roll tensors", lambda x, s: np.roll(x, s, (1, 0)), (5, 3), np.asarray([4, -13], i32))
case("roll empty", lambda x: [np.roll(x, 3), np.roll(x, 3, 0), np.roll(x, 3, 1)], np.zeros((0, 3)))
case("rot90", lambda x: [np.rot90(x, k) for k in (1, 2, 3, 4, -1)], (2, 3, 4))
case("rot90 axes", lambda x: [np.rot90(x, 1, (2, 0)), np.rot90(x, 3, (-1, 1))], (2, 3, 4))
case("moveaxis", lambda x: [np.moveaxis(x, 0, -1), np.moveaxis(x, -1, 0), np.moveaxis(x, (0, 1), (-1, -2)),
                            np.moveaxis(x, 2, 1)], (2, 3, 4, 5))
case("swapaxes", lambda x: [np.swapaxes(x, 0, -1), np.swapaxes(x, 1, 1)], (2, 3, 4))
case("ravel", np.ravel, (2, 3, 4))
case("repeat", lambda x: [np.repeat(x, 3), np.repeat(x, 2, 0), np.repeat(x, 2, -1), np.repeat(x, 0, 0)], (3, 4))
case("repeat counts", lambda x, n: np.repeat(x, n, 1), (3, 4), np.asarray([2, 0, 1, 3]))
case("diag vector", lambda x: [np.diag(x), np.diag(x, 2), np.diag(x, -3)], (4,))
case("diag matrix", lambda x: [np.diag(x), np.diag(x, 2), np.diag(x, -1), np.diag(x, 9)], (3, 5))
case("diagonal", lambda x: [np.diagonal(x), np.diagonal(x, 1, 1, 2), np.diagonal(x, -1, -1, 0)], (3, 5, 4))
case("trace", lambda x: [np.trace(x), np.trace(x, 1, 1, 2), np.trace(x, -1, -1, 0)], (3, 5, 4))
case("tril", lambda x: [np.tril(x), np.tril(x, 1), np.tril(x, -2)], (2, 3, 4))
case("triu", lambda x: [np.triu(x), np.triu(x, 1), np.triu(x, -2)], (2, 4, 3))
nan = np.asarray([[math.nan, math.inf], [1.0, math.nan]])
case("tril nan", lambda x: [np.tril(x, -1), np.triu(x, 1), np.trace(np.tril(x, -1))], nan)
case("diag nan", lambda x: np.diag(x), np.asarray([math.nan, math.inf, -0.0]))

#===-- Products -------------------------------------------------------------------------------===#
case("dot vectors", np.dot, (5,), (5,))
case("dot matrices", np.dot, (2, 3, 5), (4, 5, 2))
case("dot matrix vector", np.dot, (3, 5), (5,))
case("dot scalar", np.dot, (), (3, 5))
case("vdot", np.vdot, (3, 4), (2, 6))
case("inner", np.inner, (2, 5), (3, 4, 5))
case("outer", np.outer, (2, 3), (4,))
case("matvec", np.matvec, (2, 3, 5), (5,))
case("matvec batch", np.matvec, (3, 5), (2, 5))
case("vecmat", np.vecmat, (4, 3), (3, 5))
case("kron", np.kron, (2, 3), (4, 2))
case("kron ranks", np.kron, (3,), (2, 4))
case("tensordot", np.tensordot, (2, 3, 4), (3, 4, 5))
case("tensordot 1", lambda a, b: np.tensordot(a, b, 1), (2, 3), (3, 4))
case("tensordot 0", lambda a, b: np.tensordot(a, b, 0), (2,), (3, 2))
case("tensordot axes", lambda a, b: np.tensordot(a, b, ((0, -1), (2, 0))), (2, 3, 4), (4, 5, 2))
case("cross", np.cross, (4, 3), (4, 3))
case("cross axis", lambda a, b: np.cross(a, b, axis=0), (3, 4), (3, 4))
case("cross broadcast", np.cross, (2, 1, 3), (4, 3))
case("matmul vectors", np.matmul, (5,), (5,))
case("matmul row", np.matmul, (3,), (2, 3, 4))
case("matmul column", np.matmul, (2, 3, 4), (4,))

#===-- Places ---------------------------------------------------------------------------------===#


def clamped(x, starts, sizes):
    """The slices of dynamic_slice, as JAX defines them."""
    starts = [min(max(int(start), 0), n - size) for start, size, n in zip(starts, sizes, x.shape)]
    return tuple(slice(start, start + size) for start, size in zip(starts, sizes))


def updated(x, u, *starts):
    y = x.copy()
    y[clamped(x, starts, u.shape)] = u
    return y


def at(x, where, v, function=None):
    """x[where] = v, or with all v of equal places if the function is a ufunc."""
    y = x.copy()
    if function is None:
        y[where] = v
    else:
        function.at(y, where, np.broadcast_to(v, y[where].shape))
    return y


case("dynamic_slice", lambda x, i: [x[clamped(x, (i, 0, 0), (2, 4, 5))], x[clamped(x, (0, i, -9), (3, 2, 1))],
                                    x[clamped(x, (9, 0, i), (1, 4, 3))], x], (3, 4, 5), np.asarray(1))
case("dynamic_slice outside", lambda x, i: x[clamped(x, (i, i), (2, 3))], (3, 5), np.asarray(7, i32))
case("dynamic_update_slice", lambda x, u, i: updated(x, u, i, 0), (5, 3), (2, 3), np.asarray(-1))
case("dynamic_update_slice 2", lambda x, u, i: updated(x, u, i, i), (5, 4), (2, 3), np.asarray(3))
case("at get", lambda x, i: [x[2], x[1, -1], x[i], x[:, i], x[1:, i], x[::-2, 1:3], x[-1, :, i], x[i, :, 1], x[1, i, i],
                             x[5:, 0], x[3:0:-1, -2:]], (4, 3, 5), np.asarray([2, -1, 0]))
case("at get unknown", lambda x, i: [x[2], x[1, -1], x[i], x[:, i], x[i, :, 1], x[i, i]], (4, 3, 5), np.asarray([[2], [-1]]))
case("at set", lambda x, v: [at(x, 1, v), at(x, (slice(None), 2), 0.0), at(x, (slice(1, None), slice(None, None, -1)), v),
                             at(x, (2, 1), 9.0)], (3, 4), (4,))
case("at set tensor", lambda x, v, i: [at(x, i, v), at(x, (slice(None), i), v)], (4, 4), (4,), np.asarray([2, 0, 2, -1]))
case("at add", lambda x, v, i: [at(x, i, v, np.add), at(x, (slice(1, 3), i), v, np.add)], (4, 4), (4,), np.asarray([2, 0, 2, -1]))
case("at subtract", lambda x, v, i: at(x, (i, i), v, np.subtract), (4, 4), (4,), np.asarray([2, 0, 2, -1]))
case("at multiply", lambda x, v, i: [at(x, i, v, np.multiply), at(x, (i, i), v, np.multiply), at(x, 1, v, np.multiply)],
     (4, 4), (4,), np.asarray([2, 0, 2, 2]))
case("at divide", lambda x, v, i: at(x, i, 3 + v, np.divide), (4, 3), (4, 3), np.asarray([2, 0, 2, 2]))
case("at max", lambda x, v, i: [at(x, i, v, np.maximum), at(x, i, v, np.minimum)], (4, 3), (4, 3), np.asarray([2, 0, 2, -1]))
case("at min int", lambda x, i: at(x, i, np.asarray([5, -(2**31), 7], i32), np.minimum),
     np.asarray([2**31 - 1, 0, 3], i32), np.asarray([0, 2, 1]))
case("at mask", lambda x, v: [np.where(x > 0, v, x), np.where(x > 0, x + v, x), np.where(x > 0, x * v, x),
                              np.where(x > 0, np.minimum(x, v), x), np.where(x > 0, x / v, x)], (4, 3), (3,))
case("take", lambda x, i: [np.take(x, i), np.take(x, i, 1), np.take(x, i, -1)], (4, 3, 5), np.asarray([[2, -1], [0, 1]]))
case("take modes", lambda x, i: [np.take(x, i, 0, mode="wrap"), np.take(x, i, 1, mode="clip")], (4, 3),
     np.asarray([-9, -1, 0, 2, 17], i32))
case("choose", lambda i, a, b, c: np.choose(i, [a, b, c]), np.asarray([[0, 2, 1], [1, 1, 0]]), (3,), (2, 3), (2, 1))
case("choose modes", lambda i, a, b: [np.choose(i, [a, b], mode="wrap"), np.choose(i, [a, b], mode="clip")],
     np.asarray([-3, 0, 1, 5]), (4,), (4,))
case("select", lambda x: np.select([x > 1, x > 0], [x * 10, x], -1), (4, 3))

#===-- Sets -----------------------------------------------------------------------------------===#
some = np.asarray([[3, 0, 1], [0, 0, 3], [1, -2, 3]])
floats = np.asarray([2.5, math.nan, -1.0, 2.5, -0.0, 0.0, math.nan, -math.inf])
case("count_nonzero", lambda x, y: [np.count_nonzero(x, 0), np.count_nonzero(x, (0, 1), keepdims=True), np.count_nonzero(y, 0)], some, floats)
case("nonzero", lambda x: [*np.nonzero(x), np.flatnonzero(x), np.argwhere(x)], some)
case("compress", lambda x: [np.compress([True, False, True], x, 0), np.compress([False, True], x, 1), np.compress([True, True, False, False, True], x)], (3, 4))
case("unique", lambda x, y: [np.unique(x), np.unique(y)], some, floats)
case("unique_all", lambda x: list(np.unique_all(x)), some)
case("unique_all floats", lambda x: list(np.unique(x, True, True, True)), floats)
case("sets", lambda x, y: [np.isin(x, y), np.intersect1d(x, y), np.union1d(x, y), np.setdiff1d(x, y), np.setdiff1d(y, x)], some, np.asarray([3, 5, 0, 0, -2]))
case("sets floats", lambda x, y: [np.isin(x, y), np.intersect1d(x, y)], floats, np.asarray([math.nan, 2.5, 0.0, 7.0]))
edges = np.asarray([-1.0, 0.0, 0.0, 1.5, 2.5, math.nan])
points = np.asarray([[-2, -1, -0.0], [0.5, 1.5, 99], [math.nan, math.inf, 2.5]])
case("searchsorted", lambda a, v: [np.searchsorted(a, v), np.searchsorted(a, v, "right")], edges, points)
case("searchsorted int", lambda a, v: [np.searchsorted(a, v), np.searchsorted(a, v, "right")], np.asarray([1, 2, 2, 2, 7, 9, 11], i32), np.arange(13, dtype=i32))
case("digitize", lambda x, b: [np.digitize(x, b), np.digitize(x, b, True)], points, np.asarray([-1.0, 0.0, 1.5, 2.5]))

#===-- Statistics -----------------------------------------------------------------------------===#
case("var", lambda x: [np.var(x), np.var(x, 1), np.var(x, (0, 2), ddof=1, keepdims=True), np.std(x, 0), np.std(x, ddof=1.5)], (3, 4, 5))
case("var shifted", lambda x: np.var(x + 1e8, 0), (50, 3))
case("var one", lambda x: [np.var(x, 0), np.var(x, 0, ddof=1)], (1, 3))
case("ptp", lambda x: [np.ptp(x), np.ptp(x, 0), np.ptp(x, -1, keepdims=True)], (3, 4))
case("average", lambda x, w, v: [np.average(x, weights=np.abs(w)), np.average(x, 1, np.abs(w)), np.average(x, 1, np.abs(v)),
                                 np.average(x, 0, np.abs(w), keepdims=True)], (3, 4), (3, 4), (4,))
case("cov", lambda x: [np.cov(x), np.cov(x, rowvar=False), np.cov(x, ddof=0), np.cov(x[0]), np.corrcoef(x)], (3, 6))
methods = ("linear", "lower", "higher", "midpoint", "nearest")
quarters = np.asarray([0, 0.25, 0.3, 0.5, 0.75, 0.9, 1])
case("median", lambda x: [np.median(x), np.median(x, 1), np.median(x, 0), np.median(x, (0, 2), keepdims=True)], (3, 4, 5))
case("quantile", lambda x: [np.quantile(x, 0.3, 0), np.quantile(x, 1, -1, keepdims=True), np.quantile(x, 0.77)], (4, 5))
case("quantile q", lambda x, q: [np.quantile(x, q, (0, 2)), np.quantile(x, q, 1, keepdims=True)], (3, 4, 2), np.asarray([[0.13, 0.5], [0.61, 0.99]]))
case("quantile methods", lambda x, q: [np.quantile(x, q, 1, method=m) for m in methods], (3, 5), quarters)
case("quantile methods 6", lambda x, q: [np.quantile(x, q, method=m) for m in methods], (6,), np.arange(11) / 10)
case("percentile", lambda x, q: [np.percentile(x, q, 0), np.percentile(x, 12.5, 1)], (4, 5), np.asarray([0, 37.5, 100]))
holes = random.uniform(-2, 2, (3, 5))
holes[0, 1] = holes[1, 4] = holes[1, 2] = math.nan
holes[2] = math.nan
import warnings
warnings.simplefilter("ignore")
case("median nan", lambda x: [np.median(x, 0), np.median(x, 1), np.median(x), np.quantile(x, 0.0, 1)], np.where(np.arange(5) < 2, 1.5, holes))
case("quantile inf", lambda x: [np.median(x, 1), np.quantile(x, 0, 1), np.quantile(x, 1, 1)], np.asarray([[math.inf, math.inf, math.inf, 1], [-math.inf, 1, 2, math.inf]]))
case("nan", lambda x: [np.nansum(x, 1), np.nansum(x), np.nanprod(x, 0), np.nanmax(x, 1), np.nanmin(x, 0), np.nanmean(x, 1), np.nanmean(x, 0, keepdims=True),
                       np.nanvar(x, 1), np.nanvar(x, 0, ddof=1), np.nanstd(x, 1, keepdims=True), np.nanmedian(x, 1), np.nanmedian(x, 0),
                       np.nanmedian(x), np.nanquantile(x, 0.3, 1)], holes)
case("nan none", lambda x: [np.nansum(x, 1), np.nanmean(x, 1), np.nanvar(x, 1), np.nanmax(x, 0), np.nanquantile(x, 0.3, 1)], (3, 4))
case("nanquantile q", lambda x, q: np.nanquantile(x, q, 1), holes, np.asarray([0.2, 0.5, 0.9]))
numbers = np.asarray([3, 0, 3, 5, 1, 3])
case("bincount", lambda x: [np.bincount(x), np.bincount(x, minlength=9), np.bincount(x, minlength=2)], numbers)
case("bincount weights", lambda x, w: np.bincount(x, w), numbers, (6,))
case("histogram edges", lambda x, e, w: [np.histogram(x, e)[0], np.histogram(x, e, weights=w)[0], np.histogram(x, e, density=True)[0]],
     np.asarray([-1, 0, 0.25, 0.5, 0.75, 1, 2, 1]), np.asarray([0, 0.25, 0.6, 1]), (8,))
case("histogram 2d", lambda x, y, e, f, w: [np.histogram2d(x, y, [e, f])[0].astype(np.int64), np.histogram2d(x, y, [e, f], weights=w)[0],
                                            np.histogram2d(x, y, [e, f], density=True)[0]],
     np.asarray([0.1, 0.5, 0.5, 1, 0, -0.2, 0.75, 0.3]), np.asarray([0, 1, -1, 0.25, 0.5, 0.1, -0.5, 1.5]), np.asarray([0, 0.5, 1.0]),
     np.asarray([-1, 0, 0.5, 1.0]), np.asarray([1, 2, 3, 4, 5, 6, 7, 8.0]))
case("histogram range", lambda x: [*np.histogram(x, 4, (0, 1)), np.histogram(x, 3, density=True)[0]], np.asarray([-1, 0, 0.25, 0.5, 0.75, 1, 2, 1]))
case("segments", lambda x, i: [np.stack([x[i == k].sum(0) for k in range(4)]),
                               np.stack([x[i == k].max(0, initial=-math.inf) for k in range(4)]),
                               np.stack([x[i == k].min(0, initial=math.inf) for k in range(4)]),
                               np.stack([x[i == k].sum(0) / max((i == k).sum(), 0) for k in range(4)])], (6, 2), np.asarray([0, 3, 0, 1, 3, 3]))
near = np.asarray([1, 1 + 1e-6, 2, math.inf, -math.inf, math.nan, 0, 1e-9])
other = np.asarray([1, 1, 1, math.inf, math.inf, math.nan, 1e-9, 0])
case("isclose", lambda x, y: [np.isclose(x, y), np.isclose(x, y, equal_nan=True), np.isclose(x, y, 0, 2), np.allclose(x, y), np.allclose(x[:2], y[:2])], near, other)
case("array_equal", lambda x, y: [np.array_equal(x, x), np.array_equal(x, x, equal_nan=True), np.array_equal(x, y), np.array_equal(x, y[1:])], near, other)

#===-- Sequences ------------------------------------------------------------------------------===#
case("cummax", lambda x: [np.maximum.accumulate(x), np.maximum.accumulate(x, 1), np.minimum.accumulate(x, -1)], (5, 7))
case("cummax nan", lambda x: [np.maximum.accumulate(x), np.minimum.accumulate(x)], floats)
case("logcumsumexp", lambda x: [np.logaddexp.accumulate(x, 0), np.logaddexp.accumulate(x * 300, 1)], (6, 5))
case("logcumsumexp inf", lambda x: np.logaddexp.accumulate(x), np.asarray([-math.inf, -math.inf, 1.0, 1.0, -math.inf, 1000.0, math.inf, math.inf]))
case("diff", lambda x: [np.diff(x), np.diff(x, axis=0), np.diff(x, 3), np.diff(x, 0), np.diff(x, 9)], (4, 5))
case("diff int", lambda x, b: [np.diff(x), np.diff(b)], np.asarray([3, 1, 2**31 - 1], i32), np.asarray([True, True, False]))
case("gradient", lambda y: [np.gradient(y, axis=-1), np.gradient(y, 0.5, axis=0), np.gradient(y, 2, axis=1, edge_order=2)], (4, 5))
case("gradient places", lambda y, d: [np.gradient(y, np.cumsum(np.exp(d)), axis=1), np.gradient(y, np.cumsum(np.exp(d)), axis=1, edge_order=2)], (2, 5), (5,))
import scipy.integrate
case("cumulative_trapezoid", lambda y, x: [scipy.integrate.cumulative_trapezoid(y), scipy.integrate.cumulative_trapezoid(y, dx=0.5, axis=0),
                                          scipy.integrate.cumulative_trapezoid(y, x, initial=0)], (4, 5), (5,))
case("interp", lambda x, xp, fp: [np.interp(x, np.cumsum(np.exp(xp)), fp), np.interp(x, np.cumsum(np.exp(xp)), fp, left=-7, right=9)],
     np.asarray([[-1.0, 0.3, 1.7], [2.9, 5.5, 99.0]]), (6,), (6,))
case("interp edges", lambda x, xp, fp: np.interp(x, xp, fp), np.asarray([0.0, 1.0, 2.0, math.nan, math.inf, -math.inf]), np.asarray([0.0, 1.0, 2.0]), np.asarray([5.0, 7.0, 6.0]))
case("convolve", lambda a, v: [np.convolve(a, v, m) for m in ("full", "same", "valid")], (7,), (3,))
case("convolve even", lambda a, v: [np.convolve(a, v, m) for m in ("full", "same", "valid")], (4,), (7,))
case("correlate", lambda a, v: [np.correlate(a, v, m) for m in ("full", "same", "valid")], (7,), (4,))
case("correlate long", lambda a, v: [np.correlate(a, v, m) for m in ("full", "same", "valid")], (3,), (6,))
case("polyval", np.polyval, (4,), (2, 3))
case("top_k", lambda x: [np.flip(np.sort(x, 0), 0)[:2], np.flip(np.argsort(x, 0), 0)[:2]], (4, 3))

#===-- End ------------------------------------------------------------------------------------===#
pathlib.Path(__file__).with_name("expected.json").write_text("\n".join(lines) + "\n")
