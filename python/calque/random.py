"""Random numbers by Philox 4x32-10."""
from . import _native as _n

globals().update({_name: getattr(_n.random, _name) for _name in dir(_n.random) if not _name.startswith("_")})
