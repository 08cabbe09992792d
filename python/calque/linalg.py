"""Linear algebra."""
from . import _native as _n

globals().update({_name: getattr(_n.linalg, _name) for _name in dir(_n.linalg) if not _name.startswith("_")})
