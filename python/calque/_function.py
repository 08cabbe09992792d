"""function(), and the transforms of Python callables."""
from __future__ import annotations

import functools
import inspect
import weakref
from collections.abc import Callable, Sequence
from typing import Any, overload

from . import _native
from ._native import Function, Tensor, TensorSpec

__all__ = ["function", "grad", "value_and_grad", "vmap", "jacobian", "batch_jacobian", "hessian", "hvp", "custom_gradient",
           "checkpoint"]


# Not a cache that keeps the callables.
_signatures: weakref.WeakKeyDictionary[Any, inspect.Signature] = weakref.WeakKeyDictionary()


def _signature(callable: Callable[..., Any]) -> inspect.Signature:
    try:
        known = _signatures.get(callable)
        if known is None:
            known = _signatures[callable] = inspect.signature(callable)
        return known
    except TypeError as error:
        if "weak reference" not in str(error) and "unhashable" not in str(error):
            raise
        return inspect.signature(callable)


def bind(callable: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments of a call by position as far as possible, and the others by name."""
    try:
        bound = _signature(callable).bind(*args, **kwargs)
    except ValueError:  # a callable that does not say what it takes
        return args, kwargs
    except TypeError as error:
        raise _native.SignatureError(f"{getattr(callable, '__name__', 'the function')}: {error}") from None
    return bound.args, bound.kwargs


def _names(callable: Callable[..., Any]) -> list[str] | None:
    try:
        parameters = inspect.signature(callable).parameters.values()
    except (TypeError, ValueError):
        return None
    by_position = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return [each.name for each in parameters if each.kind in by_position]


@overload
def function(callable: Callable[..., Any], *, name: str | None = None, argument_names: Sequence[str] | None = None,
             input_signature: Sequence[TensorSpec] | None = None, reduce_retracing: bool = False,
             max_traces: int = 0) -> Function: ...
@overload
def function(callable: None = None, *, name: str | None = None, argument_names: Sequence[str] | None = None,
             input_signature: Sequence[TensorSpec] | None = None, reduce_retracing: bool = False,
             max_traces: int = 0) -> Callable[[Callable[..., Any]], Function]: ...
def function(callable: Callable[..., Any] | None = None, *, name: str | None = None, argument_names: Sequence[str] | None = None,
             input_signature: Sequence[TensorSpec] | None = None, reduce_retracing: bool = False, max_traces: int = 0) -> Any:
    """A Function: the callable is traced once for each kind of arguments, and then runs as native code.

    Arguments and results are tensors, variables, numbers and texts, and lists, tuples, named tuples and dicts of them. The
    element types and shapes of tensors, and the values of numbers and texts, are the key of a trace. Also a decorator.
    """
    options: dict[str, Any] = dict(input_signature=input_signature, reduce_retracing=reduce_retracing, max_traces=max_traces)

    def make(given: Callable[..., Any]) -> Function:
        names = argument_names if argument_names is not None else _names(given)
        made = Function(given, name=name if name is not None else getattr(given, "__name__", None), argument_names=names, **options)
        if hasattr(given, "__doc__"):
            made.__doc__ = given.__doc__
        for attribute in ("__name__", "__qualname__", "__module__"):
            if hasattr(given, attribute):
                setattr(made, attribute, getattr(given, attribute))
        return made

    return make if callable is None else make(callable)


def bound_to(method: Function, object: Any) -> Function:
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


def _differentiated(operation: str, f: Callable[..., Any], argnums: int | Sequence[int], has_aux: bool,
                    results: Callable[[Any, Any, Any], Any]) -> Callable[..., Any]:
    @functools.wraps(f, updated=())
    def call(*args: Any, **kwargs: Any) -> Any:
        value, derivatives, aux = _native._value_and_grad(operation, f, argnums, args, kwargs, has_aux)
        return results(value, derivatives, aux)

    return call


def grad(f: Callable[..., Any], argnums: int | Sequence[int] = 0, has_aux: bool = False) -> Callable[..., Any]:
    """The function that returns the derivative of f's sum with respect to an argument, or a tuple of several.

    An argument may be a structure of floating-point tensors; the derivative has the same structure. With has_aux, f returns
    a pair, and so does the new function: the derivative, and the second part of the pair.
    """
    return _differentiated("grad", f, argnums, has_aux, lambda v, d, aux: (d, aux) if has_aux else d)


def value_and_grad(f: Callable[..., Any], argnums: int | Sequence[int] = 0, has_aux: bool = False) -> Callable[..., Any]:
    """The function that returns f's value and the derivative that grad() gives."""
    return _differentiated("value_and_grad", f, argnums, has_aux, lambda v, d, aux: ((v, aux) if has_aux else v, d))


def vmap(f: Callable[..., Any], in_axes: Any = 0, out_axes: Any = 0) -> Callable[..., Any]:
    """The function that maps f over an axis of its arguments: tensors have one more axis, of which f gets a slice.

    in_axes is an axis for all tensors, or a tuple with an axis, None or a structure for each argument.
    """
    @functools.wraps(f, updated=())
    def call(*args: Any) -> Any:
        return _native._vmap(f, in_axes, out_axes, *args)

    return call


def _of_first(native: Callable[..., Tensor], doc: str) -> Callable[[Callable[..., Any]], Callable[..., Tensor]]:
    def transform(f: Callable[..., Any]) -> Callable[..., Tensor]:
        @functools.wraps(f, updated=())
        def call(x: Any, *args: Any) -> Tensor:
            return native(f, x, *args)

        return call

    transform.__doc__ = doc
    return transform


jacobian = _of_first(_native._jacobian, "The function that returns f's Jacobian with respect to its first argument.")
batch_jacobian = _of_first(_native._batch_jacobian, "The function that returns the Jacobian of each example of a batch.")
hessian = _of_first(_native._hessian, "The function that returns the Hessian of f's sum with respect to its first argument.")


def hvp(f: Callable[..., Any]) -> Callable[..., Tensor]:
    """The function (x, v) -> H v, for the Hessian H of f's sum."""
    @functools.wraps(f, updated=())
    def call(x: Any, v: Any, *args: Any) -> Tensor:
        return _native._hvp(f, x, v, *args)

    return call


def custom_gradient(f: Callable[..., Any]) -> Callable[..., Any]:
    """The function with f's result and a gradient of its own: f returns its result and the pullback.

    The pullback takes cotangents in the structure of the result, and returns one for each float tensor of the arguments.
    """
    @functools.wraps(f, updated=())
    def call(*args: Any) -> Any:
        return _native._custom_gradient(f, *args)

    return call


def checkpoint(f: Callable[..., Any]) -> Callable[..., Any]:
    """The function that computes f, and keeps no values for the gradient, which computes them again."""
    @functools.wraps(f, updated=())
    def call(*args: Any) -> Any:
        return _native._checkpoint(f, *args)

    return call
