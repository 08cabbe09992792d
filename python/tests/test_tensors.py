"""Tensors: making them, reading them, operators and indices, beside NumPy."""
import array
import gc
import operator
import pickle
import unittest
import weakref

import calque as cq

try:
    import numpy as np
except ImportError:
    np = None

REAL = [d for d in cq.dtypes if d.kind in ("integer", "float")]
NUMPY = [d for d in cq.dtypes if d != cq.bfloat16]


def values(dtype):
    if dtype.kind == "bool":
        return [[True, False, True], [False, False, True]]
    if dtype.kind == "complex":
        return [[1 + 2j, -3j, 0.5], [2, -1 + 1j, 4]]
    return [[0, 1, 2], [3, 4, 100]]


class Making(unittest.TestCase):
    def test_literals(self):
        self.assertEqual(cq.tensor([1, 2]).dtype, cq.int32)
        self.assertEqual(cq.tensor([1, 2**40]).dtype, cq.int64)
        self.assertEqual(cq.tensor([1, 2.5]).dtype, cq.float32)
        self.assertEqual(cq.tensor(True).dtype, cq.bool_)
        self.assertEqual(cq.tensor([1j]).dtype, cq.complex64)
        self.assertEqual(cq.tensor([]).shape, (0,))
        self.assertEqual(cq.tensor([[], []]).shape, (2, 0))
        self.assertEqual(cq.tensor([[1, 2], [3, 4]], dtype="float64").tolist(), [[1.0, 2.0], [3.0, 4.0]])
        for ragged in ([[1], [1, 2]], [[1], 2], [1, [2]]):
            with self.assertRaises(cq.ValueError):
                cq.tensor(ragged)
        with self.assertRaises(cq.DTypeError):
            cq.tensor([1.5], dtype=cq.int32)
        with self.assertRaises(cq.ValueError):
            cq.tensor([300], dtype=cq.uint8)
        with self.assertRaises(cq.ValueError):
            cq.tensor(2**64)
        with self.assertRaises(cq.DTypeError):
            cq.tensor(["text"])

    def test_extremes_of_integers(self):
        for d in cq.dtypes:
            if d.kind == "integer":
                bits = 8 * d.itemsize
                low, high = (0, 2**bits - 1) if d.name.startswith("u") else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
                self.assertEqual(cq.tensor([low, high], dtype=d).tolist(), [low, high])
                with self.assertRaises(cq.ValueError):
                    cq.tensor(high + 1, dtype=d)

    def test_every_dtype_through_python_numbers(self):
        for d in cq.dtypes:
            x = cq.tensor(values(d), dtype=d)
            self.assertEqual((x.dtype, x.shape, x.ndim, x.size, x.nbytes), (d, (2, 3), 2, 6, 6 * d.itemsize))
            self.assertEqual(x.tolist(), values(d))
            self.assertEqual(x[1, 2].item(), values(d)[1][2])
            self.assertEqual(cq.tensor(x.tolist(), dtype=d).tolist(), x.tolist())
            y = pickle.loads(pickle.dumps(x))
            self.assertEqual((y.dtype, y.tolist()), (d, x.tolist()))

    def test_dtypes(self):
        self.assertEqual(cq.float32, "float32")
        self.assertEqual(cq.dtype("bfloat16"), cq.bfloat16)
        self.assertNotEqual(cq.float32, cq.float64)
        self.assertEqual((str(cq.int8), repr(cq.int8), cq.int8.kind, cq.int8.itemsize), ("int8", "calque.int8", "integer", 1))
        self.assertEqual(len({each: each for each in cq.dtypes}), 15)
        self.assertEqual(cq.promote_types("int16", "float16"), cq.float32)
        with self.assertRaisesRegex(cq.DTypeError, "no element type"):
            cq.zeros((2,), dtype="float8")
        self.assertIs(pickle.loads(pickle.dumps(cq.float32)), cq.float32)

    def test_buffers_of_the_standard_library(self):
        a = array.array("d", [1.0, 2.0])
        x = cq.asarray(a)
        self.assertEqual((x.dtype, x.tolist()), (cq.float64, [1.0, 2.0]))
        a[0] = 5.0  # shared
        self.assertEqual(x.tolist(), [5.0, 2.0])
        copied = cq.tensor(a)
        a[0] = 7.0
        self.assertEqual(copied.tolist(), [5.0, 2.0])
        with self.assertRaises(BufferError):
            a.append(1.0)  # the tensor has the memory
        del x
        gc.collect()
        a.append(1.0)

    def test_buffer_of_a_tensor(self):
        for d in NUMPY:
            x = cq.tensor(values(d), dtype=d)
            view = memoryview(x)
            self.assertTrue(view.readonly)
            self.assertEqual((view.shape, view.itemsize, view.c_contiguous), ((2, 3), d.itemsize, True))
        with self.assertRaises(BufferError):
            memoryview(cq.ones((2,), dtype=cq.bfloat16))

    def test_buffer_outlives_its_tensor(self):
        x = cq.tensor([1, 2, 3])
        view, ref = memoryview(x), weakref.ref(x)
        del x
        gc.collect()
        self.assertIsNotNone(ref())  # the view has it
        self.assertEqual(view.tolist(), [1, 2, 3])
        view.release()
        gc.collect()
        self.assertIsNone(ref())


@unittest.skipIf(np is None, "NumPy is missing")
class WithNumPy(unittest.TestCase):
    def test_every_dtype_by_buffer(self):
        for d in NUMPY:
            a = np.array(values(d), dtype=d.name)
            x = cq.asarray(a)
            self.assertEqual((x.dtype.name, x.shape), (a.dtype.name, a.shape))
            back = np.asarray(x)
            self.assertEqual(back.dtype, a.dtype)
            self.assertFalse(back.flags.writeable)
            np.testing.assert_array_equal(back, a)
            self.assertEqual(back.__array_interface__["data"][0], a.__array_interface__["data"][0])  # no copy

    def test_every_dtype_by_dlpack(self):
        for d in NUMPY:
            a = np.array(values(d), dtype=d.name)
            x = cq.from_dlpack(a)
            self.assertEqual((x.dtype.name, x.shape), (a.dtype.name, a.shape))
            back = np.from_dlpack(x)
            np.testing.assert_array_equal(back, a)
            self.assertFalse(back.flags.writeable)
            self.assertEqual(back.__array_interface__["data"][0], a.__array_interface__["data"][0])
            self.assertEqual(x.__dlpack_device__(), (1, 0))

    def test_bfloat16(self):
        try:
            import ml_dtypes
        except ImportError:
            self.skipTest("ml_dtypes is missing")
        a = np.array(values(cq.bfloat16), dtype=ml_dtypes.bfloat16)
        x = cq.asarray(a)
        self.assertEqual(x.dtype, cq.bfloat16)
        back = np.asarray(x)
        self.assertEqual(back.dtype, a.dtype)
        np.testing.assert_array_equal(back.astype("float32"), a.astype("float32"))

    def test_views(self):
        a = np.arange(24, dtype="int64").reshape(2, 3, 4)
        for view in (a[:, ::-1], a.T, a[..., 1], np.broadcast_to(a[0], (5, 3, 4)), a[:0]):
            np.testing.assert_array_equal(np.asarray(cq.asarray(view)), view)
            np.testing.assert_array_equal(np.asarray(cq.tensor(view)), view)
            if view.flags.writeable:
                np.testing.assert_array_equal(np.asarray(cq.from_dlpack(view)), view)

    def test_other_bits_of_bools(self):
        a = np.array([0, 1, 2, 255], dtype="uint8").view("bool")
        self.assertEqual(cq.asarray(a).tolist(), [False, True, True, True])

    def test_unaligned_and_foreign_formats(self):
        raw = np.zeros(9, dtype="uint8")[1:]
        a = raw.view("float64")
        a[0] = 2.5
        self.assertEqual(cq.asarray(a).tolist(), [2.5])
        for bad in (np.zeros(2, dtype=">f8"), np.zeros(2, dtype="U3"), np.zeros(2, dtype=[("a", "f4")])):
            with self.assertRaises(cq.DTypeError):
                cq.asarray(bad)

    def test_copies_and_shares(self):
        a = np.zeros(3, dtype="float32")
        x = a + cq.tensor([1.0, 1.0, 1.0])
        self.assertIsInstance(x, cq.Tensor)
        copied, shared = cq.tensor(a), cq.asarray(a)
        a[0] = 9
        self.assertEqual(copied.tolist(), [0, 0, 0])
        self.assertEqual(shared.tolist(), [9, 0, 0])
        a.flags.writeable = False
        self.assertEqual(np.asarray(cq.tensor(a)).__array_interface__["data"][0], a.__array_interface__["data"][0])

    def test_array_lives_as_long_as_the_tensor(self):
        a = np.arange(5.0)
        ref = weakref.ref(a)
        for make in (cq.asarray, cq.from_dlpack):
            x = make(a)
            y = x[1:]  # another handle
            held = a
            del a
            gc.collect()
            self.assertIsNotNone(ref())
            self.assertEqual(x.tolist(), [0, 1, 2, 3, 4])
            del x, y
            a = held
            del held
        del a
        gc.collect()
        self.assertIsNone(ref())

    def test_unused_capsule(self):
        x = cq.ones((3,))
        ref = weakref.ref(x)
        capsule = x.__dlpack__(max_version=(1, 0))
        self.assertIn("dltensor_versioned", repr(capsule))
        self.assertIn('"dltensor"', repr(x.__dlpack__()))
        del x, capsule
        gc.collect()
        self.assertIsNone(ref())
        taken = cq.ones((2,)).__dlpack__(max_version=(1, 0))
        self.assertEqual(cq.from_dlpack(taken).tolist(), [1, 1])
        with self.assertRaises(cq.ValueError):
            cq.from_dlpack(taken)
        with self.assertRaises(BufferError):
            cq.ones((2,)).__dlpack__(copy=False)
        with self.assertRaises(BufferError):
            cq.ones((2,)).__dlpack__(dl_device=(2, 0))

    def test_operators(self):
        rng = np.random.default_rng(1)
        both = [operator.add, operator.sub, operator.mul, operator.lt, operator.le, operator.eq, operator.ne, operator.gt, operator.ge]
        for d in REAL:
            if d == cq.bfloat16:
                continue
            a, b = rng.integers(1, 9, (3, 4)).astype(d.name), rng.integers(1, 5, (4,)).astype(d.name)
            x, y = cq.tensor(a), cq.tensor(b)
            for f in both + ([operator.truediv] if d.kind == "float" else []) + [operator.floordiv, operator.mod]:
                np.testing.assert_allclose(np.asarray(f(x, y)), f(a, b), rtol=2e-3, err_msg=f"{f} {d}")
                self.assertEqual(np.asarray(f(x, y)).dtype, f(a, b).dtype)
            np.testing.assert_array_equal(np.asarray(2 * x + 1), (2 * a + np.array(1, d.name)).astype(d.name))
            np.testing.assert_array_equal(np.asarray(-x + x), 0 * a)
            self.assertEqual((x**2).dtype, d)
            if d.kind == "integer":
                for f in (operator.and_, operator.or_, operator.xor, operator.lshift, operator.rshift):
                    np.testing.assert_array_equal(np.asarray(f(x, y)), f(a, b))
                np.testing.assert_array_equal(np.asarray(~x), ~a)
        a, b = rng.normal(size=(2, 3)), rng.normal(size=(3, 4))
        np.testing.assert_allclose(np.asarray(cq.tensor(a) @ cq.tensor(b)), a @ b, rtol=1e-12)
        np.testing.assert_allclose(np.asarray(a @ cq.tensor(b)), a @ b, rtol=1e-12)
        q, r = divmod(cq.tensor(a), 0.3)
        np.testing.assert_array_equal(np.asarray(q), a // 0.3)
        x = cq.tensor(a)
        before = x
        x += 1
        np.testing.assert_array_equal(np.asarray(before), a)
        np.testing.assert_array_equal(np.asarray(abs(x)), abs(a + 1))

    def test_no_implicit_casts(self):
        x = cq.tensor([1.0])
        for other in (cq.tensor([1]), cq.tensor([1.0], dtype="float64"), np.float64(1), np.ones(1)):
            with self.assertRaises(cq.DTypeError):
                x + other
        with self.assertRaises(cq.DTypeError):
            cq.tensor([1]) + 0.5
        with self.assertRaisesRegex(cq.DTypeError, "no integer"):
            cq.tensor([1]) / cq.tensor([2])
        with self.assertRaises(TypeError):
            x + "text"
        with self.assertRaises(TypeError):
            x + [1.0]

    def test_indices(self):
        a = np.arange(60).reshape(3, 4, 5)
        x = cq.tensor(a)
        mask = a[:, :, 0] > 20
        keys = [0, -1, (1, 2), (1, 2, 3), slice(1, 3), slice(None, None, -1), (slice(None), 1), (Ellipsis, 1), (0, Ellipsis, 2),
                None, (None, 1), (slice(None), None, 2), (1, None, slice(1, 3)), slice(2, 0, -1), slice(5, 9),
                [0, 2], ([0, 2], [1, 3]), (slice(None), [3, 0, -1]), ([0, 1], slice(None), [2, 4]), np.array([[0, 1], [2, 0]]),
                (1, [0, 2]), mask, (slice(0, 2), slice(1, 4, 2), slice(None, None, 2)), (Ellipsis,), (), np.int64(1),
                (slice(-2, None), -1)]
        for key in keys:
            np.testing.assert_array_equal(np.asarray(x[key]), a[key], err_msg=repr(key))
        self.assertEqual(x[cq.tensor(2), cq.tensor([0, 1])].tolist(), a[2, [0, 1]].tolist())
        for bad in (3, (0, 4), (0, 0, 0, 0), -4):
            with self.assertRaises(IndexError):
                x[bad]
        with self.assertRaises(cq.DTypeError):
            x[1.5]
        with self.assertRaisesRegex(TypeError, "at\\["):
            x[0] = 1
        self.assertEqual([row.tolist() for row in x], a.tolist())
        self.assertEqual(len(x), 3)

    def test_updates(self):
        a = np.arange(12.0).reshape(3, 4)
        x = cq.tensor(a)
        for key in (1, (slice(None), 2), ([0, 2], [1, 3]), (Ellipsis, slice(None, None, 2)), a > 5):
            b = a.copy()
            b[key] = -1
            np.testing.assert_array_equal(np.asarray(x.at[key].set(-1.0)), b)
            b = a.copy()
            b[key] += 2
            np.testing.assert_array_equal(np.asarray(x.at[key].add(2.0)), b)
        np.testing.assert_array_equal(np.asarray(x), a)


class Reading(unittest.TestCase):
    def test_python_numbers(self):
        x = cq.tensor(3)
        self.assertEqual((int(x), float(x), complex(x), bool(x), [10, 20, 30, 40][x]), (3, 3.0, 3 + 0j, True, 40))
        self.assertEqual(f"{cq.tensor(2.5):.3f}", "2.500")
        self.assertEqual(list(range(cq.tensor(2))), [0, 1])
        with self.assertRaises(cq.DTypeError):
            [1, 2][cq.tensor(1.0)]
        with self.assertRaises(cq.ShapeError):
            bool(cq.tensor([1, 2]))
        with self.assertRaises(cq.ShapeError):
            len(x)
        with self.assertRaises(TypeError):
            hash(x)

    def test_text(self):
        self.assertEqual(repr(cq.tensor([1.0, 2.0])), "Tensor([1. 2.], shape=[2], dtype=float32)")
        self.assertEqual(str(cq.tensor([[1, 2], [3, 4]])), "[[1 2]\n [3 4]]")

    def test_methods_are_the_functions(self):
        x = cq.tensor([[1.0, 2.0], [3.0, 4.0]])
        self.assertEqual(x.sum(axis=0).tolist(), cq.sum(x, axis=0).tolist())
        self.assertEqual(x.reshape((4,)).tolist(), [1, 2, 3, 4])
        self.assertEqual(x.T.tolist(), [[1, 3], [2, 4]])
        self.assertEqual(x.astype("int32").dtype, cq.int32)
        self.assertEqual(x.max().item(), 4)


if __name__ == "__main__":
    unittest.main()
