# Types that stubs name.
from collections.abc import Sequence
from typing import Any, Literal, Protocol, TypeAlias, TypeVar

from ._native import DType as DType, Tensor as Tensor, UnknownSize as UnknownSize, Variable as Variable

class SupportsDLPack(Protocol):
    def __dlpack_device__(self) -> tuple[int, int]: ...

class SupportsBuffer(Protocol):
    def __buffer__(self, flags: int, /) -> memoryview: ...

Number: TypeAlias = bool | int | float | complex
TensorLike: TypeAlias = Tensor | Variable | Number | UnknownSize | SupportsDLPack | SupportsBuffer
ArrayLike: TypeAlias = TensorLike | Sequence[Any]
ShapeLike: TypeAlias = int | UnknownSize | Sequence[int | UnknownSize]
DTypeLike: TypeAlias = DType | str | type | Any
Index: TypeAlias = int | slice | None | Tensor | Sequence[Any] | SupportsBuffer | Any
T = TypeVar("T")
C = TypeVar("C")
Y = TypeVar("Y")
