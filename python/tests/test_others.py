"""Arrays of PyTorch and JAX, without a copy."""
import gc
import os
import subprocess
import sys
import unittest

import calque as cq

PRELUDE = """
import calque as cq, gc, weakref
"""


def run(program):
    """In a process of its own, because these libraries are large and have threads."""
    return subprocess.run([sys.executable, "-c", PRELUDE + program], capture_output=True, text=True, env=os.environ)


def has(module):
    return subprocess.run([sys.executable, "-c", f"import {module}"], capture_output=True).returncode == 0


class PyTorch(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if not has("torch"):
            raise unittest.SkipTest("PyTorch is missing")

    def check(self, program):
        done = run("import torch\n" + program)
        self.assertEqual((done.returncode, done.stdout), (0, "ok\n"), done.stderr)

    def test_every_dtype(self):
        self.check("""
for d in cq.dtypes:
    t = torch.ones((2, 3), dtype=getattr(torch, d.name.rstrip("_")))
    x = cq.from_dlpack(t)
    assert x.dtype == d and x.shape == (2, 3), d
    assert x.astype("float64" if d.kind != "complex" else d).sum().item() == 6, d
    back = torch.from_dlpack(x)
    assert back.dtype == t.dtype and torch.equal(back, t), d
print("ok")
""")

    def test_shared_memory_and_lifetime(self):
        self.check("""
t = torch.arange(6.0).reshape(2, 3)
x = cq.from_dlpack(t)
t[0, 0] = 7
assert x[0, 0].item() == 7
assert cq.from_dlpack(t.T).tolist() == t.T.tolist()   # in another order: a copy
ref = weakref.ref(t)
y = x[0] * 2
del t
gc.collect()
assert x.tolist() == [[7, 1, 2], [3, 4, 5]]
f = cq.function(lambda x: x * 2)
assert f(torch.ones(3)).tolist() == [2, 2, 2]
assert (cq.ones((3,)) + torch.ones(3)).tolist() == [2, 2, 2]
print("ok")
""")


class Jax(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if not has("jax"):
            raise unittest.SkipTest("JAX is missing")

    def test_arrays(self):
        done = run("""
import jax, jax.numpy as jnp
jax.config.update("jax_enable_x64", True)
for d in cq.dtypes:
    a = jnp.ones((2, 3), dtype=d.name)
    x = cq.asarray(a)
    assert x.dtype == d and x.shape == (2, 3), d
    back = jnp.from_dlpack(cq.ones((2, 3), dtype=d))
    assert back.dtype == a.dtype and bool((back == a).all()), d
a = jnp.arange(100000.0)
x = cq.asarray(a)
assert x.sum().item() == float(a.sum())
assert cq.function(lambda x: x.sum())(a).item() == float(a.sum())
del a
gc.collect()
assert x[99999].item() == 99999
print("ok")
""")
        self.assertEqual((done.returncode, done.stdout), (0, "ok\n"), done.stderr)


if __name__ == "__main__":
    unittest.main()
