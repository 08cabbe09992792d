"""All functions of the headers: what Python's arguments become, beside NumPy where it has the function."""
import inspect
import re
import types
import unittest

import calque as cq
from calque._names import ALIASES

try:
    import numpy as np
except ImportError:
    np = None

# Functions of the same name that mean something else: NumPy's round-off, or other arguments and results.
OTHERS = {
    "gradient": "along the last axis alone", "where": "three tensors", "complex": "a type there", "cast": "no function there",
    "unique_all": "of the last axes", "sort": "", "argsort": "", "cumsum": "axis 0 is the default", "cumprod": "axis 0 is the default",
    "argmax": "the last axis is the default", "argmin": "the last axis is the default", "std": "no NumPy arguments",
    "count_nonzero": "a number there", "split": "", "convolve": "vectors", "correlate": "vectors", "interp": "vectors",
    "take": "axis", "repeat": "", "cumulative_sum": "needs an axis there", "cumulative_prod": "needs an axis there",
}


def functions():
    """The functions of the module with their required parameters."""
    for name in dir(cq):
        f = getattr(cq, name)
        if isinstance(f, types.BuiltinFunctionType) and f.__module__ == "calque":
            parameters = inspect.signature(f).parameters.values()
            yield name, f, [p.name for p in parameters if p.default is inspect.Parameter.empty], list(parameters)


def flat(result):
    return list(result) if isinstance(result, (tuple, list)) else [result]


@unittest.skipIf(np is None, "NumPy is missing")
class EveryFunction(unittest.TestCase):
    def test_signatures(self):
        count = 0
        for name, f, required, parameters in functions():
            count += 1
            self.assertRegex(f.__doc__ or "", r"\S", name)
            with self.assertRaises(cq.SignatureError, msg=name):
                f(**{"no such": 1})
            if required:
                with self.assertRaises(cq.SignatureError, msg=name):
                    f()
        self.assertGreater(count, 250)

    def check(self, name, f, inputs):
        tensors = [cq.asarray(each) for each in inputs]
        try:
            eager = flat(f(*tensors))
        except cq.DTypeError:  # of another type than these
            return False
        for x, compiled in zip(eager, flat(cq.function(lambda *args: flat(f(*args)))(*tensors))):
            if isinstance(x, cq.Tensor):
                # What consists of several operations is rounded where the compiled program rounds.
                np.testing.assert_allclose(np.asarray(compiled), np.asarray(x), rtol=1e-13, atol=1e-15, err_msg=name)
        counterpart = getattr(np, name, None)
        if counterpart is None or name in OTHERS or not isinstance(counterpart, (np.ufunc, types.FunctionType)) and not callable(counterpart):
            return False
        expected = flat(counterpart(*inputs))
        self.assertEqual(len(eager), len(expected), name)
        for x, y in zip(eager, expected):
            self.assertEqual(x.shape, np.shape(y), name)
            # Results of two units in the last place, and of sums of some of them.
            np.testing.assert_allclose(np.asarray(x).astype("complex128"), np.asarray(y).astype("complex128"), rtol=2e-13, atol=1e-13, err_msg=name)
        return True

    def test_against_numpy(self):
        rng = np.random.default_rng(3)
        reals = [rng.uniform(0.1, 0.9, (3, 3)) for _ in range(2)]
        integers = [rng.integers(1, 5, (3, 3)) for _ in range(2)]
        compared = set()
        inverse = {}
        for new, old in ALIASES.items():
            inverse.setdefault(old, []).append(new)
        # These trace sizes, check values or begin something: they have tests of their own.
        skipped = re.compile(r"assert_|check_|set_|default|num_threads|nonzero|argwhere|unique|compress|bincount|segment_|executing|run_")
        for name, f, required, _ in functions():
            if skipped.match(name) or name in ("flatnonzero", "count_nonzero"):
                continue
            count = len(required)
            if count not in (1, 2) or not set(required) <= {"x", "lhs", "rhs", "a", "b", "y", "real", "imag"}:
                continue
            for inputs in (reals, integers):
                given = inputs[:count]
                try:
                    if self.check(name, f, given):
                        compared.add(name)
                except (cq.ShapeError, cq.ValueError, cq.StateError):  # of vectors, of another rank, or with a number of results
                    continue
        self.assertGreater(len(compared), 90, sorted(compared))

    def test_options(self):
        rng = np.random.default_rng(4)
        a = rng.normal(size=(4, 5, 6))
        x = cq.asarray(a)
        for name in ("sum", "mean", "max", "min", "prod", "var", "std", "ptp", "median"):
            for axis in (None, 0, -1, (0, 2)):
                for keepdims in (False, True):
                    got = getattr(cq, name)(x, axis=axis, keepdims=keepdims)
                    np.testing.assert_allclose(np.asarray(got), getattr(np, name)(a, axis=axis, keepdims=keepdims), rtol=1e-12,
                                               err_msg=name)
        np.testing.assert_allclose(np.asarray(cq.std(x, 1, ddof=1)), np.std(a, axis=1, ddof=1))
        np.testing.assert_allclose(np.asarray(cq.quantile(x, cq.tensor([0.1, 0.7], dtype="float64"), axis=1, method="lower")),
                                   np.quantile(a, [0.1, 0.7], axis=1, method="lower"))
        np.testing.assert_array_equal(np.asarray(cq.pad(x, [1, 0, 2], [0, 1, 0], 7)),
                                      np.pad(a, [(1, 0), (0, 1), (2, 0)], constant_values=7))
        np.testing.assert_allclose(np.asarray(cq.linspace(0, 1, 7, endpoint=False, dtype="float64")), np.linspace(0, 1, 7, endpoint=False))
        for each, other in zip(cq.meshgrid([cq.arange(3), cq.arange(4)], indexing="ij"), np.meshgrid(range(3), range(4), indexing="ij")):
            np.testing.assert_array_equal(np.asarray(each), other)
        np.testing.assert_array_equal(np.asarray(cq.tensordot(x, x, ([0, 1], [0, 1]))).round(9), np.tensordot(a, a, ([0, 1], [0, 1])).round(9))
        np.testing.assert_allclose(np.asarray(cq.einsum("bij,bkj->ik", [x, x])), np.einsum("bij,bkj->ik", a, a))
        np.testing.assert_array_equal(np.asarray(cq.roll(x, (1, -2), (0, 2))), np.roll(a, (1, -2), (0, 2)))
        counts, edges = cq.histogram(x, 8, range=(-2.0, 2.0))
        expected = np.histogram(a, 8, (-2.0, 2.0))
        np.testing.assert_array_equal(np.asarray(counts), expected[0])
        for part, other in zip(cq.split(x, 3, axis=2), np.split(a, 3, axis=2)):
            np.testing.assert_array_equal(np.asarray(part), other)
        self.assertEqual([part.shape[1] for part in cq.split(x, [1, -1], axis=1)], [1, 4])
        np.testing.assert_array_equal(np.asarray(cq.eye(2, 3, 1, "int32")), np.eye(2, 3, 1, "int32"))
        for arguments in ((5,), (2, 9), (2, 9, 3), (0.0, 1.0, 0.3), (5, 0, -2)):
            np.testing.assert_allclose(np.asarray(cq.arange(*arguments)), np.arange(*arguments), rtol=1e-6)
        images = rng.normal(size=(1, 5, 5, 2)).astype("float32")
        self.assertEqual(cq.max_pool(images, (2, 2), padding="same").shape, (1, 3, 3, 2))
        self.assertEqual(cq.conv(images, np.ones((3, 3, 2, 4), "float32"), strides=[2, 2], padding=[(1, 1), (1, 1)]).shape, (1, 3, 3, 4))
        np.testing.assert_allclose(np.asarray(cq.linalg.solve(a[0, :, :5], np.ones(5))), np.linalg.solve(a[0, :, :5], np.ones(5)), rtol=1e-9)
        self.assertEqual(type(cq.linalg.qr(x[0])).__name__, "Qr")
        np.testing.assert_allclose(np.asarray(cq.linalg.matrix_norm(x[0], "nuclear")), np.linalg.norm(a[0], "nuc"))
        np.testing.assert_allclose(np.asarray(cq.linalg.norm(x[0], ord="nuc")), np.linalg.norm(a[0], "nuc"))
        np.testing.assert_allclose(np.asarray(cq.linalg.norm(x, ord=-np.inf, axis=(0, 2), keepdims=True)),
                                   np.linalg.norm(a, -np.inf, (0, 2), True))
        np.testing.assert_allclose(np.asarray(cq.linalg.norm(x, ord=3, axis=1)), np.linalg.norm(a, 3, 1))
        s = a[0, :, :5] + a[0, :, :5].T
        np.testing.assert_allclose(np.asarray(cq.linalg.eigh(s, 2 * np.eye(5)).values), np.linalg.eigvalsh(s) / 2, rtol=1e-9)
        np.testing.assert_allclose(np.asarray(cq.linalg.solve_discrete_are(np.eye(2), np.eye(2), np.eye(2), np.eye(2))),
                                   (1 + 5 ** 0.5) / 2 * np.eye(2), atol=1e-12)
        np.testing.assert_array_equal(np.asarray(cq.linalg.block_diag([np.eye(2), np.array(3.0)])), np.diag([1.0, 1, 3]))
        np.testing.assert_allclose(np.asarray(cq.linalg.lu_solve(cq.linalg.lu_factor(a[0, :, :5]), np.ones(5))),
                                   np.linalg.solve(a[0, :, :5], np.ones(5)), rtol=1e-9)

    def test_names_of_the_array_api_standard(self):
        self.assertIs(cq.ones((2,)).__array_namespace__(), cq)
        a, b = cq.broadcast_arrays(cq.ones((3, 1)), cq.zeros((4,)))
        self.assertEqual((a.shape, b.shape), ((3, 4), (3, 4)))
        for x in (np.ones((2, 3)), np.array([[1 + 2j, 3]])):
            np.testing.assert_allclose(np.asarray(cq.vecdot(x, x)), np.vecdot(x, x))
            np.testing.assert_array_equal(np.asarray(cq.linalg.matrix_transpose(x)), x.T)
        for d in cq.dtypes:
            if d.kind in ("float", "complex") and d != cq.bfloat16:
                own, other = cq.finfo(d), np.finfo(d.name)
                self.assertEqual((own.bits, own.eps, own.max, own.min, own.smallest_normal),
                                 (np.finfo(own.dtype.name).bits, float(other.eps), float(other.max), float(other.min), float(other.smallest_normal)))
            elif d.kind == "integer":
                self.assertEqual((cq.iinfo(d).max, cq.iinfo(d).min), (np.iinfo(d.name).max, np.iinfo(d.name).min))
        self.assertEqual([cq.isdtype(cq.uint8, kind) for kind in ("integral", "signed integer", ("bool", "unsigned integer"), cq.uint8)],
                         [True, False, True, True])
        self.assertEqual(cq.result_type(cq.int8, cq.tensor([1], dtype="int16"), 3), cq.int16)
        self.assertEqual(cq.result_type(cq.int8, 1.5), cq.float32)
        self.assertEqual((cq.can_cast("int8", "int16"), cq.can_cast("float64", "float32")), (True, False))
        with self.assertRaises(cq.DTypeError):
            cq.finfo(cq.int8)

    def test_random(self):
        cq.set_seed(7)
        first = cq.random.normal((3,)).tolist()
        cq.set_seed(7)
        self.assertEqual(cq.random.normal((3,)).tolist(), first)
        x = cq.random.uniform((1000,), minval=2, maxval=3, dtype="float64")
        self.assertTrue(bool(((x >= 2) & (x < 3)).all()))
        g = cq.random.Generator(3)
        a, b = g.uniform((2,)), g.uniform((2,))
        self.assertNotEqual(a.tolist(), b.tolist())
        self.assertEqual(cq.random.stateless_uniform((2,), cq.random.state(3, 0)).tolist(), a.tolist())
        self.assertEqual(sorted(cq.random.permutation(5).tolist()), [0, 1, 2, 3, 4])
        draw = cq.function(lambda: g.normal((2,)))
        self.assertNotEqual(draw().tolist(), draw().tolist())


if __name__ == "__main__":
    unittest.main()
