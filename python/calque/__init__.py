"""Calque: a tracing JIT compiler for tensors.

    import calque as cq

    @cq.function
    def step(x, w):
        return cq.tanh(x @ w).sum()

    step(x, w)                     # traces, compiles, runs
    cq.grad(step, argnums=1)(x, w)

Tensors, operations and errors are those of Calque's C++ library, whose public headers they are made from.
docs/python.md shows the rest.
"""
import os as _os

from . import _native

_native._set_package_folder(_os.path.dirname(_os.path.abspath(__file__)) + _os.sep)

from ._arrays import *  # noqa: E402,F401,F403
from ._files import *  # noqa: E402,F401,F403
from ._function import *  # noqa: E402,F401,F403
from ._array_api import *  # noqa: E402,F401,F403
from . import linalg, random  # noqa: E402,F401

# What the native part has, but for what is of the package alone.
globals().update({_name: getattr(_native, _name) for _name in dir(_native) if not _name.startswith("_")
                  and _name not in ("linalg", "random")})
__array_api_version__ = "2024.12"

# Names of NumPy and of the array API standard for functions that have other names in C++.
from ._names import ALIASES as _ALIASES  # noqa: E402

globals().update({_new: globals()[_old] for _new, _old in _ALIASES.items()})

__version__ = _native.version
del version  # noqa: F821
