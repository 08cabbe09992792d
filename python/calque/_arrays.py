"""Tensors as arrays of NumPy, and in pickles."""
import copyreg

from . import _native
from ._native import DType, Tensor, Variable

__all__ = []


def _numpy(self):
    """The elements as a read-only array of NumPy, without a copy. One of bfloat16 takes the package ml_dtypes."""
    import numpy

    x = self.value() if isinstance(self, Variable) else self
    if x.dtype == _native.bfloat16:
        try:
            import ml_dtypes
        except ImportError:
            raise TypeError("NumPy has no bfloat16 without the package ml_dtypes; x.astype('float32') has the same numbers") from None
        return numpy.asarray(_native._bits(x)).view(ml_dtypes.bfloat16)
    return numpy.asarray(memoryview(x))


def _array(self, dtype=None, copy=None):
    array = _numpy(self)
    if dtype is not None and array.dtype != dtype:
        if copy is False:
            raise ValueError(f"an array of {dtype} is a copy of one of {array.dtype}")
        return array.astype(dtype)
    return array.copy() if copy else array


for _class in (Tensor, Variable):
    _class.numpy = _numpy
    _class.__array__ = _array


def _tensor_of(dtype, shape, data):
    return _native._from_bytes(dtype, shape, data)


def _dtype_of(name):
    return _native.dtype(name)


def _reduced(x):
    bits = _native._bits(x) if x.dtype == _native.bfloat16 else x
    return _tensor_of, (x.dtype.name, x.shape, memoryview(bits).tobytes())


copyreg.pickle(Tensor, _reduced)
copyreg.pickle(DType, lambda dtype: (_dtype_of, (dtype.name,)))
