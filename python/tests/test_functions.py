"""Traced functions, derivatives, vmap and control flow."""
import collections
import gc
import os
import sys
import threading
import unittest
import warnings
import weakref

import calque as cq


def line():
    return sys._getframe(1).f_lineno


class Functions(unittest.TestCase):
    def test_traces_once_for_each_kind(self):
        calls = []

        @cq.function
        def f(x, n):
            calls.append(n)
            y = x
            for _ in range(n):
                y = y * x
            return y

        x = cq.tensor([1.0, 2.0])
        self.assertEqual(f(x, 2).tolist(), [1, 8])
        self.assertEqual(f(x + 1, 2).tolist(), [8, 27])
        self.assertEqual(calls, [2])
        self.assertEqual(f(x, 3).tolist(), [1, 16])
        self.assertEqual(f(cq.ones((3,)), n=2).tolist(), [1, 1, 1])
        self.assertEqual(calls, [2, 3, 2])
        self.assertEqual(f.trace_count(), 3)
        self.assertEqual(len(f.explain_retraces()), 2)
        self.assertEqual(f.eager(x, 1).tolist(), [1, 4])
        self.assertEqual((f.__name__, f.__doc__), ("f", None))
        self.assertIn("mul", f.ir("traced", x, 1))
        self.assertIn("digraph", f.graph(x, 1))
        self.assertIn("float32[2]", f.signatures())

    def test_structures(self):
        Point = collections.namedtuple("Point", "x y")

        @cq.function
        def f(pair, table, flag=True, *, scale=2.0):
            a, (b, c) = pair
            return {"sum": a + b + c, "list": [table["u"], (table["v"] * scale, None, "text", 3, 2.5)], "point": Point(a, flag)}

        one = cq.tensor(1.0)
        got = f((one, [one * 2, one * 3]), {"v": one, "u": one * 5})
        self.assertEqual(got["sum"].item(), 6)
        self.assertEqual(got["list"][0].item(), 5)
        scaled, nothing, text, number, real = got["list"][1]
        self.assertEqual((scaled.item(), nothing, text, number, real), (2, None, "text", 3, 2.5))
        self.assertIsInstance(got["point"], Point)
        self.assertIs(got["point"].y, True)
        self.assertEqual(f((one, [one, one]), {"u": one, "v": one}, scale=4.0)["list"][1][0].item(), 4)
        self.assertEqual(f.trace_count(), 2)
        # A tuple in place of the list is another structure.
        self.assertEqual(f((one, (one, one)), {"u": one, "v": one})["sum"].item(), 3)
        self.assertEqual(f.trace_count(), 3)
        # Same letters, another nesting.
        g = cq.function(lambda *args: len(args))
        self.assertEqual([g(one, (one, one)), g((one, one), one), g(one, one, one), g([one], [one, one])], [2, 2, 3, 2])
        with self.assertRaises(cq.DTypeError):
            g(object())
        with self.assertRaises(cq.SignatureError):
            f(one, nothing=1)

    def test_inside_of_another(self):
        g = cq.function(lambda x: x * 2)
        f = cq.function(lambda x: g(x) + g(x + 1))
        self.assertEqual(f(cq.tensor(3.0)).item(), 14)
        self.assertEqual(g.trace_count(), 0)

    def test_input_signature(self):
        f = cq.function(lambda x: x.sum(axis=1), input_signature=[cq.TensorSpec([None, 3], "float32")])
        for rows in (1, 5, 2):
            self.assertEqual(f(cq.ones((rows, 3))).shape, (rows,))
        self.assertEqual(f.trace_count(), 1)
        with self.assertRaises(cq.SignatureError):
            f(cq.ones((2, 4)))
        seen = []

        @cq.function(reduce_retracing=True)
        def g(x):
            seen.append(x.shape)
            return x + x.shape[0]

        for n in (1, 2, 3, 4):
            self.assertEqual(g(cq.zeros((n,))).tolist(), [n] * n)
        self.assertEqual(g.trace_count(), 2)
        self.assertEqual(str(seen[-1][0]), "?")

    def test_concrete_functions(self):
        f = cq.function(lambda x, n: x * n)
        square = f.get_concrete_function(cq.TensorSpec([None], "float32"), 2)
        self.assertEqual(square(cq.tensor([1.0, 2.0])).tolist(), [2, 4])
        self.assertEqual(square(cq.tensor([3.0]), 2).tolist(), [6])
        self.assertEqual(square.argument_specs, [cq.TensorSpec([None], "float32")])
        self.assertEqual(square.result_specs[0].shape, (None,))
        with self.assertRaises(cq.SignatureError):
            square(cq.tensor([3.0]), 3)
        with self.assertRaises(cq.SignatureError):
            square(cq.tensor([3]))

    def test_variables(self):
        v = cq.Variable(1.0, name="v")
        f = cq.function(lambda x: v.assign_add(x))
        f(cq.tensor(2.0))
        f(cq.tensor(2.0))
        self.assertEqual(v.value().item(), 5)
        g = cq.function(lambda u, x: u * x)
        self.assertEqual(g(v, cq.tensor(2.0)).item(), 10)
        w = cq.Variable(3.0)
        self.assertEqual(g(w, cq.tensor(2.0)).item(), 6)
        self.assertEqual(g.trace_count(), 1)
        with self.assertRaises(cq.ShapeError):
            v.assign(cq.ones((2,)))
        self.assertEqual((v + 1).item(), 6)
        self.assertTrue(v.same_as(f(cq.tensor(0.0))))

    def test_methods(self):
        class Model:
            def __init__(self):
                self.w = cq.Variable(2.0)

            @cq.function
            def step(self, x):
                return self.w * x

        a, b = Model(), Model()
        b.w.assign(5.0)
        self.assertEqual((a.step(cq.tensor(3.0)).item(), b.step(cq.tensor(3.0)).item()), (6, 15))
        a.step(cq.tensor(4.0))
        self.assertEqual(a.step.trace_count(), 1)
        ref = weakref.ref(a)
        del a
        gc.collect()
        self.assertIsNone(ref())


class Errors(unittest.TestCase):
    def test_eager_error_has_the_python_line(self):
        at = line() + 2
        with self.assertRaises(cq.ShapeError) as caught:
            cq.ones((2,)) + cq.ones((3,))
        self.assertEqual((os.path.basename(caught.exception.file), caught.exception.line), ("test_functions.py", at))
        self.assertIn(f"test_functions.py:{at}", str(caught.exception))
        self.assertIsInstance(caught.exception, (cq.Error, ValueError))

    def test_error_in_a_trace_has_the_line_of_the_operation(self):
        at = line() + 2
        def body(x):
            return cq.matmul(x, cq.ones((5, 5)))
        for call in (cq.function(body), cq.vmap(body), lambda x: cq.function(lambda y: body(y))(x)):
            with self.assertRaises(cq.ShapeError) as caught:
                call(cq.ones((2, 3, 3)))
            self.assertEqual(caught.exception.line, at)

    def test_error_of_compiled_code(self):
        at = line() + 2
        def divide(x, y):
            return x // y
        f = cq.function(divide)
        f(cq.tensor([1]), cq.tensor([1]))
        with self.assertRaises(cq.DivisionError) as caught:
            f(cq.tensor([1]), cq.tensor([0]))
        self.assertEqual(caught.exception.line, at)
        self.assertIsInstance(caught.exception, ZeroDivisionError)

    def test_values_of_traced_tensors_are_refused(self):
        def branch(x):
            if x > 0:
                return x
            return -x
        at = branch.__code__.co_firstlineno + 1
        with self.assertRaisesRegex(cq.StateError, "cond") as caught:
            cq.function(branch)(cq.tensor(1.0))
        self.assertEqual(caught.exception.line, at)
        for ask in (lambda x: x.item(), lambda x: x.tolist(), float, int, lambda x: [0][x.astype("int32")],
                    lambda x: bool(x), lambda x: x and 1, lambda x: 0 < x < 1):
            with self.assertRaises(cq.StateError):
                cq.function(ask)(cq.tensor(1.0))
        with self.assertRaises(BufferError):
            cq.function(lambda x: memoryview(x))(cq.tensor(1.0))

    def test_leaked_tensors(self):
        kept = []
        cq.function(lambda x: kept.append(x) or x)(cq.tensor(1.0))
        with self.assertRaises(cq.LeakedTensorError):
            kept[0] + 1

    def test_exceptions_of_the_callable_pass(self):
        class Own(Exception):
            pass

        def fails(x):
            raise Own("here")

        for call in (cq.function(fails), cq.vmap(fails), cq.grad(fails),
                     cq.function(lambda x: cq.cond(x.sum() > 0, lambda: fails(x), lambda: x)),
                     lambda x: cq.while_loop(lambda x: x.sum() < 9, fails, x)):
            with self.assertRaisesRegex(Own, "here"):
                call(cq.tensor([1.0]))
        self.assertEqual(cq.function(lambda x: x + 1)(cq.tensor(1.0)).item(), 2)

    def test_warnings(self):
        f = cq.function(lambda x: x + 1)
        at = line() + 3
        with self.assertWarns(cq.Warning) as caught:
            for n in range(1, 9):
                f(cq.ones((n,)))
        self.assertEqual((os.path.basename(caught.filename), caught.lineno), ("test_functions.py", at))
        with warnings.catch_warnings():
            warnings.simplefilter("error", cq.Warning)
            with self.assertRaises(cq.Warning):
                with cq.GradientTape() as tape:
                    tape.watch(cq.tensor(1))

    def test_wrong_arguments(self):
        x = cq.ones((2,))
        for call in (lambda: cq.sum(x, axi=0), lambda: cq.sum(), lambda: cq.sum(x, 0, True, 1), lambda: cq.sum(x, x=x)):
            with self.assertRaises(cq.SignatureError):
                call()
        for call in (lambda: cq.sum("x"), lambda: cq.sum(x, keepdims=1), lambda: cq.sum(x, axis=0.5), lambda: cq.exp([1.0])):
            with self.assertRaises(cq.DTypeError):
                call()
        with self.assertRaises(cq.ValueError):
            cq.linalg.matrix_norm(cq.eye(2), "fro")


class Derivatives(unittest.TestCase):
    def test_grad(self):
        f = lambda x, y: (x * x * y).sum()
        x, y = cq.tensor([1.0, 2.0]), cq.tensor([3.0, 4.0])
        self.assertEqual(cq.grad(f)(x, y).tolist(), [6, 16])
        self.assertEqual(cq.grad(f, argnums=1)(x, y).tolist(), [1, 4])
        dx, dy = cq.grad(f, argnums=(0, -1))(x, y)
        self.assertEqual((dx.tolist(), dy.tolist()), ([6, 16], [1, 4]))
        value, dx = cq.value_and_grad(f)(x, y)
        self.assertEqual((value.item(), dx.tolist()), (19, [6, 16]))
        compiled = cq.function(cq.grad(f))
        self.assertEqual(compiled(x, y).tolist(), [6, 16])
        self.assertEqual(cq.grad(cq.function(f))(x, y).tolist(), [6, 16])
        self.assertEqual(cq.grad(lambda x: x * x)(3.0).item(), 6)
        (v, aux), d = cq.value_and_grad(lambda x: (x * x, {"x": x}), has_aux=True)(cq.tensor(3.0))
        self.assertEqual((v.item(), aux["x"].item(), d.item()), (9, 3, 6))
        self.assertEqual(cq.grad(cq.grad(lambda x: x**3))(cq.tensor(2.0)).item(), 12)

    def test_structures_of_parameters(self):
        def loss(p, x):
            return (p["layers"][0]["w"] * x + p["b"]).sum()

        p = {"layers": [{"w": cq.tensor([1.0, 2.0])}], "b": cq.tensor(1.0)}
        g = cq.function(cq.grad(loss))(p, cq.tensor([3.0, 4.0]))
        self.assertEqual((g["layers"][0]["w"].tolist(), g["b"].item()), ([3, 4], 2))

    def test_refused(self):
        with self.assertRaises(cq.DTypeError):
            cq.grad(lambda x: x.sum())(cq.tensor([1]))
        with self.assertRaises(cq.DTypeError):
            cq.grad(lambda x: (x, x))(cq.tensor(1.0))
        with self.assertRaises(cq.ValueError):
            cq.grad(lambda x: x, argnums=2)(cq.tensor(1.0))

    def test_forward_mode_and_pullbacks(self):
        f = lambda x, y: {"p": x * y, "s": x + y}
        y, dy = cq.jvp(f, (cq.tensor(2.0), cq.tensor(3.0)), (1.0, 0.0))
        self.assertEqual((y["p"].item(), dy["p"].item(), dy["s"].item()), (6, 3, 1))
        y, pullback = cq.vjp(f, cq.tensor(2.0), cq.tensor(3.0))
        dx, dy = pullback({"p": cq.tensor(1.0), "s": cq.tensor(10.0)})
        self.assertEqual((dx.item(), dy.item()), (13, 12))
        with self.assertRaises(cq.ValueError):
            pullback(cq.tensor(1.0))

    def test_matrices_of_derivatives(self):
        x = cq.tensor([1.0, 2.0])
        self.assertEqual(cq.jacobian(lambda x: x * x)(x).tolist(), [[2, 0], [0, 4]])
        self.assertEqual(cq.hessian(lambda x: (x**3).sum())(x).tolist(), [[6, 0], [0, 12]])
        self.assertEqual(cq.hvp(lambda x: (x**3).sum())(x, cq.tensor([1.0, 1.0])).tolist(), [6, 12])
        self.assertEqual(cq.batch_jacobian(lambda x: x * x)(cq.ones((2, 2))).tolist(), [[[2, 0], [0, 2]]] * 2)

    def test_vmap(self):
        x = cq.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
        self.assertEqual(cq.vmap(lambda row: row.sum())(x).tolist(), [3, 7, 11])
        self.assertEqual(cq.vmap(cq.grad(lambda row: (row * row).sum()))(x).tolist(), (2 * x).tolist())
        self.assertEqual(cq.vmap(lambda a, b: a + b, in_axes=(0, None))(x, cq.tensor([10.0, 20.0])).tolist(),
                         [[11, 22], [13, 24], [15, 26]])
        self.assertEqual(cq.vmap(lambda c: c, in_axes=1, out_axes=1)(x).tolist(), x.tolist())
        got = cq.vmap(lambda d: {"a": d["a"] * 2, "b": (d["b"], 1.0)})({"a": cq.tensor([1.0, 2.0]), "b": cq.tensor([3.0, 4.0])})
        self.assertEqual((got["a"].tolist(), got["b"][0].tolist(), got["b"][1].tolist()), ([2, 4], [3, 4], [1, 1]))
        with self.assertRaises(cq.ShapeError):
            cq.vmap(lambda a, b: a)(cq.ones((2,)), cq.ones((3,)))

    def test_tape(self):
        v, x = cq.Variable(3.0), cq.tensor([1.0, 2.0])
        with cq.GradientTape() as tape:
            tape.watch(x)
            y = (v * x * x).sum()
        g = tape.gradient(y, {"v": v, "x": [x], "none": (cq.tensor(1.0),)})
        self.assertEqual((g["v"].item(), g["x"][0].tolist(), g["none"]), (5, [6, 12], (None,)))
        with self.assertRaises(cq.StateError):
            tape.gradient(y, v)
        with cq.GradientTape(persistent=True) as tape:
            tape.watch(x)
            y = x * x
            z = y.sum()
        self.assertEqual(tape.gradient(z, x).tolist(), [2, 4])
        self.assertEqual(tape.jacobian(y, x).tolist(), [[2, 0], [0, 4]])
        self.assertEqual(tape.gradient(z, v, unconnected_zeros=True).item(), 0)
        after = x * 5  # not recorded
        self.assertIsNone(tape.gradient(after, x))
        with cq.GradientTape() as outer:
            outer.watch(x)
            with cq.GradientTape() as inner:
                inner.watch(x)
                y = (x**3).sum()
            g = inner.gradient(y, x).sum()
        self.assertEqual(outer.gradient(g, x).tolist(), [6, 12])
        with self.assertRaises(cq.StateError):
            cq.GradientTape().watch(x)

        @cq.function
        def step(x):
            with cq.GradientTape() as tape:
                loss = (v * x).sum()
            v.assign_sub(0.1 * tape.gradient(loss, v))
            return loss

        step(x)
        self.assertAlmostEqual(v.value().item(), 2.7, places=6)

    def test_custom_gradients(self):
        @cq.custom_gradient
        def clipped(x):
            return x * 1.0, lambda g: cq.clip(g, -1.0, 1.0)

        self.assertEqual(cq.grad(lambda x: (clipped(x) * 5).sum())(cq.tensor([1.0, 2.0])).tolist(), [1, 1])
        f = cq.checkpoint(lambda x: cq.exp(x) * x)
        self.assertAlmostEqual(cq.function(cq.grad(f))(cq.tensor(1.0)).item(), 2 * 2.718281828, places=5)


class ControlFlow(unittest.TestCase):
    def both(self, f, *args):
        eager, compiled = f(*args), cq.function(f)(*args)
        return eager, compiled

    def test_cond(self):
        f = lambda x: cq.cond(x.sum() > 0, lambda y: {"r": y * 2}, lambda y: {"r": -y}, x)
        for x, y in (([1.0, 2.0], [2, 4]), ([-1.0, 0.0], [1, 0])):
            for got in self.both(f, cq.tensor(x)):
                self.assertEqual(got["r"].tolist(), y)
        self.assertEqual(cq.grad(lambda x: f(x)["r"].sum())(cq.tensor([1.0, 2.0])).tolist(), [2, 2])
        g = lambda i: cq.switch_case(i, [lambda: cq.tensor(1), lambda: cq.tensor(2), lambda: cq.tensor(3)])
        for i, y in ((0, 1), (1, 2), (7, 3)):
            for got in self.both(g, cq.tensor(i)):
                self.assertEqual(got.item(), y)
        with self.assertRaises(cq.ValueError):
            cq.function(lambda x: cq.cond(x > 0, lambda: x, lambda: (x, x)))(cq.tensor(1.0))

    def test_loops(self):
        def collatz(n):
            count, n = cq.while_loop(lambda count, n: n != 1,
                                     lambda count, n: (count + 1, cq.where(n % 2 == 0, n // 2, 3 * n + 1)),
                                     (cq.tensor(0), n))
            return count

        for got in self.both(collatz, cq.tensor(6)):
            self.assertEqual(got.item(), 8)
        power = lambda x: cq.for_range(0, 5, {"y": cq.ones_like(x)}, lambda i, s: {"y": s["y"] * x})["y"]
        for got in self.both(power, cq.tensor(2.0)):
            self.assertEqual(got.item(), 32)
        self.assertEqual(cq.grad(power)(cq.tensor(2.0)).item(), 80)
        sums = lambda xs: cq.scan(lambda c, x: (c + x, c + x), cq.tensor(0.0), xs)
        for total, each in self.both(sums, cq.tensor([1.0, 2.0, 3.0])):
            self.assertEqual((total.item(), each.tolist()), (6, [1, 3, 6]))
        for got in self.both(lambda xs: cq.fold(lambda c, x: c * 2 + x, cq.tensor(0.0), xs), cq.tensor([1.0, 2.0, 3.0])):
            self.assertEqual(got.item(), 11)
        for got in self.both(lambda xs: cq.map_fn(lambda x: (x, x * x), xs), cq.tensor([1.0, 2.0])):
            self.assertEqual(got[1].tolist(), [1, 4])
        with self.assertRaisesRegex(cq.DTypeError, "loop variables are tensors"):
            cq.while_loop(lambda i: i < 3, lambda i: i + 1, 0)
        with self.assertRaises(cq.ValueError):
            cq.while_loop(lambda i: i < 3, lambda i: (i, i), cq.tensor(0))
        n, grown = cq.while_loop(lambda n, x: n < 3, lambda n, x: (n + 1, cq.concat([x, x])),
                                 (cq.tensor(0), cq.ones((1,))), shape_invariants=[None, [None]])
        self.assertEqual(grown.shape, (8,))


class Threads(unittest.TestCase):
    def run_all(self, targets):
        failures = []

        def guard(target):
            def run():
                try:
                    target()
                except BaseException as error:
                    failures.append(error)
            return run

        threads = [threading.Thread(target=guard(each)) for each in targets]
        for each in threads:
            each.start()
        for each in threads:
            each.join(120)
        self.assertFalse(any(each.is_alive() for each in threads))
        self.assertEqual(failures, [])

    def test_one_function_of_several_threads(self):
        f = cq.function(lambda x, n: (x * n).sum())
        v = cq.Variable(0.0)
        add = cq.function(lambda x: v.assign_add(x) and None)

        def work(seed):
            def run():
                for i in range(50):
                    x = cq.full((200 + seed, 100), 1.0)
                    assert f(x, i % 3 + 1).item() == (200 + seed) * 100 * (i % 3 + 1)
                    v.assign_add(1.0)
            return run

        self.run_all([work(i % 2) for i in range(4)])
        self.assertEqual(v.value().item(), 200)
        self.assertEqual(f.trace_count(), 6)

    def test_other_threads_run_while_compiled_code_does(self):
        # A loop of which each step needs the last one.
        slow = cq.function(lambda x: cq.for_range(0, 200000, x, lambda i, s: cq.sin(s + 0.1)))
        slow(cq.ones((1000,)))
        done, counted = threading.Event(), []

        def count():
            n = 0
            while not done.is_set():
                n += 1
            counted.append(n)

        def run():
            try:
                slow(cq.ones((1000,)))
            finally:
                done.set()

        self.run_all([count, run])
        self.assertGreater(counted[0], 1000)

    def test_tapes_that_end_elsewhere(self):
        x, kept = cq.tensor([1.0, 2.0]), []

        def record():
            for _ in range(20):
                tape = cq.GradientTape(persistent=True)
                with tape:
                    tape.watch(x)
                    y = (x * x).sum()
                kept.append((tape, y))
            assert tape.gradient(y, x).tolist() == [2, 4]

        def drop():
            for _ in range(200):
                if kept:
                    kept.pop()
                cq.exp(x)

        self.run_all([record, drop, record, drop])
        with self.assertRaises(cq.StateError):
            self.run_all([record])
            kept[-1][0].gradient(kept[-1][1], x)
        kept.clear()
        gc.collect()

    def test_functions_that_trace_each_other(self):
        a = cq.function(lambda x: b_of(x) + 1)
        b = cq.function(lambda x: a_of(x) + 1)
        a_of = lambda x: x if cq.executing_eagerly() else x * 2
        b_of = lambda x: b(x)
        self.run_all([lambda: a(cq.tensor(1.0)), lambda: b(cq.tensor(1.0))] * 3)

    def test_memory_of_python_is_freed_by_any_thread(self):
        try:
            import numpy as np
        except ImportError:
            self.skipTest("NumPy is missing")
        v = cq.Variable(cq.asarray(np.ones(1000, dtype="float32")))
        f = cq.function(lambda x: v.assign(x * 2) and None)

        def work():
            for _ in range(200):
                v.assign(cq.asarray(np.ones(1000, dtype="float32")))
                f(cq.asarray(np.ones(1000, dtype="float32")))

        self.run_all([work] * 3)


class Memory(unittest.TestCase):
    def test_functions_in_cycles_are_collected(self):
        def make():
            box = {}
            box["f"] = cq.function(lambda x: x + len(box))
            box["f"](cq.tensor(1.0))
            return weakref.ref(box["f"])

        ref = make()
        gc.collect()
        self.assertIsNone(ref())

    def test_callables_are_freed(self):
        def plain(x, n=1):
            return x * n

        f, ref = cq.function(plain), weakref.ref(plain)
        f(cq.tensor(1.0), n=2)
        del f, plain
        gc.collect()
        self.assertIsNone(ref())

    def test_results_and_arguments_are_freed(self):
        f = cq.function(lambda x: x * 2)
        x = cq.ones((1000,))
        y = f(x)
        refs = [weakref.ref(x), weakref.ref(y)]
        del x, y
        self.assertEqual([each() for each in refs], [None, None])

    def test_captures_are_freed_with_the_function(self):
        class Big:
            pass

        big = Big()
        big.x = cq.ones((3,))
        ref = weakref.ref(big)
        f = cq.function(lambda x: x + big.x)
        f(cq.ones((3,)))
        del f, big
        gc.collect()
        self.assertIsNone(ref())


if __name__ == "__main__":
    unittest.main()
