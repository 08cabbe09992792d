"""Functions that a C++ program saves run in Python, and the other way around."""
import os
import subprocess
import tempfile
import unittest

import calque as cq

PROGRAM = os.environ.get("CALQUE_ROUND_TRIP")


@unittest.skipUnless(PROGRAM, "CALQUE_ROUND_TRIP does not name the C++ program")
class RoundTrip(unittest.TestCase):
    def test_from_cpp(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "cpp.calque")
            subprocess.run([PROGRAM, "write", path], check=True)
            model = cq.load(path)
        self.assertEqual(sorted(model), ["named", "pair", "scale2"])
        x = cq.tensor([1.0, 2.0])
        self.assertEqual(model["scale2"](cq.tensor([1.0, 2.0, 3.0]), 2).tolist(), [2, 4, 6])
        with self.assertRaises(cq.SignatureError):
            model["scale2"](x, 3)
        got = model["named"]({"b": x, "a": x}, True)
        self.assertEqual((got["sum"].tolist(), got["other"].tolist()), ([2, 6], [-2, -6]))
        total, (first, three) = model["pair"]([x, x], "sum")
        self.assertEqual((total.tolist(), first.tolist(), three.item()), ([2, 4], [1, 2], 3))
        model.variables["w"].assign(cq.zeros((2,)))
        self.assertEqual(model["named"]({"a": x, "b": x}, True)["sum"].tolist(), [1, 2])
        self.assertEqual(cq.grad(lambda x: model["scale2"](x, 2).sum())(x).tolist(), [2, 2])
        self.assertEqual(cq.function(lambda x: model["scale2"](x, 2) + 1)(x).tolist(), [3, 5])

    def test_to_cpp(self):
        v = cq.Variable(10.0, name="v")
        plain = cq.function(lambda x, n: x * n)
        table = cq.function(lambda t: {"product": t["x"] * t["y"] * v, "sum": (t["x"] + t["y"]).sum()})
        nested = cq.function(lambda pair, how, shift: (pair[0] + shift, [pair[0], pair[1]]))
        one = cq.TensorSpec([])
        two = cq.TensorSpec([2])
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "python.calque")
            cq.save(path, {"plain": plain.get_concrete_function(two, 3),
                           "table": table.get_concrete_function({"x": two, "y": two}),
                           "nested": nested.get_concrete_function((one, one), "up", 0.5)})
            done = subprocess.run([PROGRAM, "read", path], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))


if __name__ == "__main__":
    unittest.main()
