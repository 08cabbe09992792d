"""The type stubs: what a checker of types sees."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import calque as cq

PROGRAM = """
import calque as cq

x = cq.tensor([1.0, 2.0])
reveal_type(x + 1)  # Tensor
reveal_type(2 * x)  # Tensor
reveal_type(x == x)  # Tensor
reveal_type(x[0, ...])  # Tensor
reveal_type(x.exp())  # Tensor
reveal_type(cq.sum(x, axis=0, keepdims=True))  # Tensor
reveal_type(cq.linalg.svd(x).s)  # Tensor
reveal_type(cq.random.normal((2, 3), stddev=0.5))  # Tensor
reveal_type(cq.split(x, 2))  # list[Tensor]
reveal_type(x.shape)  # tuple[int, ...]
reveal_type(x.dtype)  # DType
reveal_type(cq.cond(x.sum() > 0, lambda: x, lambda: -x))  # Tensor
reveal_type(cq.load_onnx("model.onnx").variables)  # dict[str, Variable]
reveal_type(cq.multiply(x, 2.0))  # Tensor


@cq.function
def f(x: cq.Tensor) -> cq.Tensor:
    return x


reveal_type(f)  # Function
try:
    pass
except cq.ShapeError as error:
    reveal_type(error.line)  # int
cq.sum(x, axi=0)  # error
cq.exp("text")  # error
"""


def has_mypy():
    return subprocess.run([sys.executable, "-c", "import mypy"], capture_output=True).returncode == 0


class Types(unittest.TestCase):
    def test_stubs_name_what_is_there(self):
        folder = pathlib.Path(cq.__file__).parent
        self.assertTrue((folder / "py.typed").exists())
        for module, file in ((cq, "_functions.pyi"), (cq.linalg, "linalg.pyi"), (cq.random, "random.pyi"), (cq, "_overloads.pyi")):
            names = re.findall(r"^def (\w+)\(", (folder / file).read_text(), re.M)
            self.assertGreater(len(names), 5)
            for name in names:
                self.assertTrue(callable(getattr(module, name)), name)
        listed = (folder / "__init__.pyi").read_text() + "".join((folder / f).read_text() for f in ("_functions.pyi", "_overloads.pyi"))
        in_python = [name for module in (cq._function, cq._files, cq._array_api) for name in module.__all__]
        for name in dir(cq):
            if not name.startswith("_") and name not in ("linalg", "random") and name not in in_python:
                self.assertTrue(re.search(rf"\b{name}\b", listed), name)

    @unittest.skipUnless(has_mypy(), "mypy is missing")
    def test_what_mypy_sees(self):
        folder = pathlib.Path(cq.__file__).parents[1]
        with tempfile.TemporaryDirectory() as temporary:
            program = os.path.join(temporary, "program.py")
            pathlib.Path(program).write_text(PROGRAM)
            done = subprocess.run([sys.executable, "-m", "mypy", "--cache-dir", os.path.join(temporary, "cache"), "--no-error-summary", program],
                                  capture_output=True, text=True, env={**os.environ, "MYPYPATH": str(folder)})
        lines = [re.sub(r"calque\._native\.|builtins\.", "", each) for each in done.stdout.split("\n")]
        for number, line in enumerate(PROGRAM.split("\n"), 1):
            _, mark, expected = line.partition("  # ")
            if not mark:
                continue
            found = [each for each in lines if f"program.py:{number}:" in each]
            if expected == "error":
                self.assertTrue(any(": error:" in each for each in found), line)
            else:
                self.assertEqual([re.search(r'type is "(.*)"', each)[1] for each in found], [expected], line)
        self.assertEqual([each for each in lines if "error:" in each and "program.py" not in each], [])


if __name__ == "__main__":
    unittest.main()
