"""Linear algebra: the functions of <calque/linalg.h>, and those that the array API standard has here, too."""
from . import _native as _n
from ._array_api import matrix_transpose, vecdot  # noqa: F401
from ._native import cross, diagonal, matmul, outer, tensordot, trace  # noqa: F401

globals().update({_name: getattr(_n.linalg, _name) for _name in dir(_n.linalg) if not _name.startswith("_")})
