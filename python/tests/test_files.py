"""Saved functions, safetensors, NumPy's files and ONNX."""
import os
import tempfile
import unittest

import calque as cq


class Files(unittest.TestCase):
    def test_saved_functions(self):
        w = cq.Variable([[1.0, 2.0], [3.0, 4.0]], name="w")

        @cq.function
        def forward(x, n, options):
            return {"y": x @ w * n, "pair": (x, options["shift"] + 1)}

        concrete = [forward.get_concrete_function(cq.TensorSpec([None, 2]), n, {"shift": cq.TensorSpec([])}) for n in (1, 2)]
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "model.calque")
            cq.save(path, {"one": concrete[0], "both": forward, "plain": cq.function(lambda x: x * 3).get_concrete_function(cq.TensorSpec([]))})
            w.assign_add(1.0)
            loaded = cq.load(path)
        self.assertEqual(sorted(loaded), ["both", "one", "plain"])
        x = cq.ones((1, 2))
        for n in (1, 2):
            got = loaded["both"](x, n, {"shift": cq.tensor(1.0)})
            self.assertEqual((got["y"].tolist(), got["pair"][1].item()), ([[4.0 * n, 6.0 * n]], 2))
        self.assertEqual(loaded["plain"](cq.tensor(2.0)).item(), 6)
        with self.assertRaises(cq.SignatureError):
            loaded["both"](x, 3, {"shift": cq.tensor(1.0)})
        self.assertEqual(list(loaded.variables), ["w"])
        loaded.variables["w"].assign(cq.zeros((2, 2)))
        self.assertEqual(loaded["one"](x, 1, {"shift": cq.tensor(1.0)})["y"].tolist(), [[0, 0]])
        g = cq.grad(lambda x: loaded["plain"](x))(cq.tensor(2.0))
        self.assertEqual(g.item(), 3)
        with self.assertRaises(cq.DataError):
            cq.load("/nowhere/model.calque")
        with self.assertRaises(cq.StateError):
            cq.save("/tmp/never", {"f": cq.function(lambda x: x)})

    def test_tensors(self):
        everything = {d.name: cq.ones((2, 3), dtype=d) for d in cq.dtypes}
        real = {name: x for name, x in everything.items() if x.dtype.kind != "complex"}
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "w.safetensors")
            cq.save_safetensors(path, real, {"epoch": "3"})
            self.assertEqual(cq.load_safetensors_metadata(path), {"epoch": "3"})
            for name, x in cq.load_safetensors(path).items():
                self.assertEqual((x.dtype.name, x.tolist()), (name, everything[name].tolist()))
            for name, x in everything.items():
                path = os.path.join(folder, name + ".npy")
                cq.write_npy(path, x)
                y = cq.read_npy(path)
                self.assertEqual((y.dtype, y.tolist()), (x.dtype, x.tolist()))
            path = os.path.join(folder, "all.npz")
            cq.write_npz(path, everything, compressed=True)
            self.assertEqual(sorted(cq.read_npz(path)), sorted(everything))
            with self.assertRaises(cq.DataError):
                cq.load_safetensors(os.path.join(folder, "none"))

    def test_onnx(self):
        path = os.path.join(os.path.dirname(__file__), "..", "..", "examples", "data", "curve.onnx")
        if not os.path.exists(path):
            self.skipTest("examples/data/curve.onnx is missing")
        model = cq.load_onnx(path)
        (name, kind), = model.inputs
        size = 4 if "?" in kind else 1
        shape = [size if each == "?" else int(each) for each in kind[kind.index("[") + 1:-1].split(",") if each]
        x = cq.full(shape, 0.25)
        y = model(x)
        self.assertEqual(model(**{name: x})[model.outputs[0][0]].tolist(), y.tolist())
        self.assertEqual(cq.function(lambda x: model(x))(x).shape, y.shape)
        trained = cq.load_onnx(path, weights="trainable")
        with cq.GradientTape() as tape:
            loss = (trained(x) ** 2).sum()
        self.assertTrue(all(g is not None for g in tape.gradient(loss, trained.trainable_variables)))
        with self.assertRaises(cq.DataError):
            cq.load_onnx("/nowhere/model.onnx")


if __name__ == "__main__":
    unittest.main()
