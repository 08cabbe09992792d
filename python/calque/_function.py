"""function(), and the transforms of Python callables."""
import functools
import inspect

from . import _native
from ._native import Function

__all__ = ["function", "grad", "value_and_grad", "vmap", "jacobian", "batch_jacobian", "hessian", "hvp", "custom_gradient",
           "checkpoint"]


@functools.lru_cache(maxsize=1024)
def _signature(callable):
    return inspect.signature(callable)


def bind(callable, args, kwargs):
    """The arguments of a call by position as far as possible, and the others by name."""
    try:
        bound = _signature(callable).bind(*args, **kwargs)
    except ValueError:  # a callable that does not say what it takes
        return args, kwargs
    except TypeError as error:
        raise _native.SignatureError(f"{getattr(callable, '__name__', 'the function')}: {error}") from None
    return bound.args, bound.kwargs


def _names(callable):
    try:
        parameters = inspect.signature(callable).parameters.values()
    except (TypeError, ValueError):
        return None
    by_position = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return [each.name for each in parameters if each.kind in by_position]


def function(callable=None, *, name=None, argument_names=None, input_signature=None, reduce_retracing=False, max_traces=0):
    """A Function: the callable is traced once for each kind of arguments, and then runs as native code.

    Arguments and results are tensors, variables, numbers and texts, and lists, tuples, named tuples and dicts of them. The
    element types and shapes of tensors, and the values of numbers and texts, are the key of a trace. Also a decorator.
    """
    options = dict(input_signature=input_signature, reduce_retracing=reduce_retracing, max_traces=max_traces)

    def make(given):
        names = argument_names if argument_names is not None else _names(given)
        made = Function(given, name=name if name is not None else getattr(given, "__name__", None), argument_names=names, **options)
        if hasattr(given, "__doc__"):
            made.__doc__ = given.__doc__
        for attribute in ("__name__", "__qualname__", "__module__"):
            if hasattr(given, attribute):
                setattr(made, attribute, getattr(given, attribute))
        return made

    return make if callable is None else make(callable)


def bound_to(method, object):
    """The Function of an object's method, which the object keeps, so that the next look-up finds it there."""
    options = method._options
    names = options.pop("argument_names")
    made = Function(method.callable.__get__(object), argument_names=names[1:] if names else None, **options)
    name = getattr(method, "__name__", None)
    if name is not None and hasattr(object, "__dict__"):
        try:
            object.__dict__[name] = made
        except TypeError:  # a class, whose attributes are set otherwise
            pass
    return made


def _differentiated(operation, f, argnums, has_aux, results):
    @functools.wraps(f, updated=())
    def call(*args, **kwargs):
        value, derivatives, aux = _native._value_and_grad(operation, f, argnums, args, kwargs, has_aux)
        return results(value, derivatives, aux)

    return call


def grad(f, argnums=0, has_aux=False):
    """The function that returns the derivative of f's sum with respect to an argument, or a tuple of several.

    An argument may be a structure of floating-point tensors; the derivative has the same structure. With has_aux, f returns
    a pair, and so does the new function: the derivative, and the second part of the pair.
    """
    return _differentiated("grad", f, argnums, has_aux, lambda v, d, aux: (d, aux) if has_aux else d)


def value_and_grad(f, argnums=0, has_aux=False):
    """The function that returns f's value and the derivative that grad() gives."""
    return _differentiated("value_and_grad", f, argnums, has_aux, lambda v, d, aux: ((v, aux) if has_aux else v, d))


def vmap(f, in_axes=0, out_axes=0):
    """The function that maps f over an axis of its arguments: tensors have one more axis, of which f gets a slice.

    in_axes is an axis for all tensors, or a tuple with an axis, None or a structure for each argument.
    """
    @functools.wraps(f, updated=())
    def call(*args):
        return _native._vmap(f, in_axes, out_axes, *args)

    return call


def _of_first(native, doc):
    def transform(f):
        @functools.wraps(f, updated=())
        def call(x, *args):
            return native(f, x, *args)

        return call

    transform.__doc__ = doc
    return transform


jacobian = _of_first(_native._jacobian, "The function that returns f's Jacobian with respect to its first argument.")
batch_jacobian = _of_first(_native._batch_jacobian, "The function that returns the Jacobian of each example of a batch.")
hessian = _of_first(_native._hessian, "The function that returns the Hessian of f's sum with respect to its first argument.")


def hvp(f):
    """The function (x, v) -> H v, for the Hessian H of f's sum."""
    @functools.wraps(f, updated=())
    def call(x, v, *args):
        return _native._hvp(f, x, v, *args)

    return call


def custom_gradient(f):
    """The function with f's result and a gradient of its own: f returns its result and the pullback.

    The pullback takes cotangents in the structure of the result, and returns one for each float tensor of the arguments.
    """
    @functools.wraps(f, updated=())
    def call(*args):
        return _native._custom_gradient(f, *args)

    return call


def checkpoint(f):
    """The function that computes f, and keeps no values for the gradient, which computes them again."""
    @functools.wraps(f, updated=())
    def call(*args):
        return _native._checkpoint(f, *args)

    return call
