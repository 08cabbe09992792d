"""What the array API standard has and C++ has not, made of what is there."""
from __future__ import annotations

import math
from typing import Any, NamedTuple

from . import _native as _n
from ._native import DType, Tensor, Variable

__all__ = ["__array_namespace_info__", "broadcast_arrays", "can_cast", "e", "empty", "empty_like", "finfo", "iinfo", "inf", "isdtype", "matrix_transpose", "nan", "newaxis", "pi",
           "positive", "result_type", "vecdot"]

e, pi, inf, nan, newaxis = math.e, math.pi, math.inf, math.nan, None


class FloatInfo(NamedTuple):
    bits: int
    eps: float
    max: float
    min: float
    smallest_normal: float
    dtype: DType


class IntegerInfo(NamedTuple):
    bits: int
    max: int
    min: int
    dtype: DType


def _dtype(x: Any) -> DType:
    return x.dtype if isinstance(x, (Tensor, Variable)) else _n.dtype(x)


def finfo(type: Any, /) -> FloatInfo:
    """The limits of a floating-point type, or of the parts of a complex one."""
    dtype = _dtype(type)
    dtype = {"complex64": _n.float32, "complex128": _n.float64}.get(dtype.name, dtype)
    if dtype.kind != "float":
        raise _n.DTypeError(f"finfo is of floating-point types, and not of {dtype}")
    digits, least = {"float16": (11, -14), "bfloat16": (8, -126), "float32": (24, -126), "float64": (53, -1022)}[dtype.name]
    largest = (2 - 2.0 ** (1 - digits)) * 2.0 ** (1 - least)
    return FloatInfo(8 * dtype.itemsize, 2.0 ** (1 - digits), largest, -largest, 2.0**least, dtype)


def iinfo(type: Any, /) -> IntegerInfo:
    """The limits of an integer type."""
    dtype = _dtype(type)
    if dtype.kind != "integer":
        raise _n.DTypeError(f"iinfo is of integer types, and not of {dtype}")
    bits = 8 * dtype.itemsize
    if dtype.name.startswith("u"):
        return IntegerInfo(bits, 2**bits - 1, 0, dtype)
    return IntegerInfo(bits, 2 ** (bits - 1) - 1, -(2 ** (bits - 1)), dtype)


def isdtype(dtype: Any, kind: Any) -> bool:
    """Whether a type is of a kind: a type, a tuple of kinds, or one of the standard's words, such as "real floating"."""
    own = _dtype(dtype)
    if isinstance(kind, tuple):
        return any(isdtype(own, each) for each in kind)
    unsigned = own.name.startswith("u")
    words = {"bool": own.kind == "bool", "signed integer": own.kind == "integer" and not unsigned,
             "unsigned integer": own.kind == "integer" and unsigned, "integral": own.kind == "integer",
             "real floating": own.kind == "float", "complex floating": own.kind == "complex",
             "numeric": own.kind != "bool"}
    if isinstance(kind, str) and kind in words:
        return words[kind]
    return bool(own == _n.dtype(kind))


def result_type(*args: Any) -> DType:
    """The type to which tensors and types promote. Numbers adopt it. Operations themselves promote nothing."""
    types = [_dtype(x) for x in args if not isinstance(x, (bool, int, float, complex))]
    numbers = [x for x in args if isinstance(x, (bool, int, float, complex))]
    if not types:
        types = [_n.tensor(x).dtype for x in numbers]
        numbers = []
    made = types[0]
    for each in types[1:]:
        made = _n.promote_types(made, each)
    kinds = ("bool", "integer", "float", "complex")
    for x in numbers:
        kind = kinds[(bool, int, float, complex).index(type(x))]
        if kinds.index(kind) > kinds.index(made.kind):
            made = _n.promote_types(made, _n.tensor(x).dtype)
    return made


def broadcast_arrays(*arrays: Any) -> list[Tensor]:
    """The tensors, broadcast to one shape."""
    tensors = [_n.asarray(x) for x in arrays]
    rank = max((x.ndim for x in tensors), default=0)
    shape = [1] * rank
    for x in tensors:
        for axis, size in enumerate(x.shape, rank - x.ndim):
            if shape[axis] == 1:
                shape[axis] = size
    return [_n.broadcast_to(x, shape) for x in tensors]


def can_cast(from_: Any, to: Any, /) -> bool:
    """Whether a type holds all elements of another one."""
    return bool(_n.promote_types(_dtype(from_), _dtype(to)) == _dtype(to))


def empty(shape: Any, dtype: Any = None) -> Tensor:
    """zeros(): no tensor has elements that nobody has written."""
    made: Tensor = _n.zeros(shape, dtype)
    return made


def empty_like(x: Any, dtype: Any = None) -> Tensor:
    """zeros_like()."""
    made: Tensor = _n.zeros_like(x, dtype)
    return made


def matrix_transpose(x: Any, /) -> Tensor:
    """x with its last two dimensions swapped."""
    made: Tensor = _n.swapaxes(x, -1, -2)
    return made


def vecdot(x1: Any, x2: Any, /, *, axis: int = -1) -> Tensor:
    """The sum of products along an axis; the first operand is conjugated."""
    first = _n.asarray(x1)
    first = _n.conj(first) if first.dtype.kind == "complex" else first
    made: Tensor = _n.sum(_n.mul(first, x2), axis)
    return made


def positive(x: Any, /) -> Tensor:
    """x."""
    made: Tensor = _n.tensor(x)
    return made


class _Info:
    """What __array_namespace_info__() gives."""

    def capabilities(self) -> dict[str, Any]:
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": None}

    def default_device(self) -> str:
        return "cpu"

    def devices(self) -> list[str]:
        return ["cpu"]

    def default_dtypes(self, *, device: Any = None) -> dict[str, DType]:
        return {"real floating": _n.default_dtype(), "complex floating": _n.promote_types(_n.default_dtype(), "complex64"),
                "integral": _n.int32, "indexing": _n.int64}

    def dtypes(self, *, device: Any = None, kind: Any = None) -> dict[str, DType]:
        # Those that the standard names.
        return {each.name: each for each in _n.dtypes
                if each.name not in ("float16", "bfloat16") and (kind is None or isdtype(each, kind))}


def __array_namespace_info__() -> _Info:
    return _Info()


def _namespace(self: Tensor, api_version: str | None = None) -> Any:
    import calque

    return calque


def _to_device(self: Tensor, device: Any, /, *, stream: Any = None) -> Tensor:
    if device != "cpu" or stream is not None:
        raise _n.ValueError(f"tensors are on the device 'cpu' alone, and not on {device!r}")
    return self


Tensor.__array_namespace__ = _namespace  # type: ignore[attr-defined]
Tensor.to_device = _to_device  # type: ignore[attr-defined]
