"""load(): the functions of a file that save() or a C++ program has written."""
from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import Any

from . import _native
from ._native import Tensor, TensorSpec, Variable

__all__ = ["load", "Loaded", "LoadedFunction"]


def _leaves(x: Any, into: tuple[list[Any], list[Any]]) -> None:
    """The tensors and the numbers and texts of a structure, in the order in which functions take them apart."""
    tensors, hosts = into
    if x is None:
        return
    if isinstance(x, (list, tuple)):
        for each in x:
            _leaves(each, into)
    elif isinstance(x, dict):
        for key in sorted(x):
            _leaves(x[key], into)
    elif isinstance(x, (bool, int, float, str)):
        hosts.append(x)
    elif isinstance(x, Variable):
        tensors.append(x.value())
    else:
        tensors.append(x if isinstance(x, Tensor) else _native.tensor(x))


def _is_value(text: str, value: Any) -> bool:
    """Whether a host value of a trace, "int 2" or 'string "mean"', is this number or text."""
    kind, _, rest = text.partition(" ")
    if kind == "string":
        return isinstance(value, str) and rest == f'"{value}"'
    if kind == "bool":
        return isinstance(value, bool) and rest == ("true" if value else "false")
    if isinstance(value, (bool, str)):
        return False
    return float(rest.split()[-1]) == value


def _put(tree: dict[Any, Any], path: list[Any], value: Any) -> None:
    for step in path[:-1]:
        tree = tree.setdefault(step, {})
    tree[path[-1]] = value


def _made(tree: Any) -> Any:
    if not isinstance(tree, dict):
        return tree
    if all(isinstance(key, int) for key in tree):
        return tuple(_made(tree[key]) for key in sorted(tree))
    return {key: _made(value) for key, value in tree.items()}


_STEP = re.compile(r'\[(?:(\d+)|"((?:[^"\\]|\\.)*)")\]|\.(\w+)')


class LoadedFunction:
    """A function of a file. Arguments have the structure that they had when the function was saved.

    Results are a tensor, or tuples and dicts of tensors: a file tells lists from tuples in no way.
    """

    def __init__(self, saved: Any, name: str) -> None:
        self._saved, self.name = saved, name
        self._hosts = saved.host_values(name)
        self._specs = saved.argument_specs(name)
        self._by_traces: dict[Any, Any] = {}

    def __call__(self, *args: Any) -> Any:
        into: tuple[list[Any], list[Any]] = ([], [])
        tensors, hosts = into
        _leaves(args, into)
        traces = tuple(i for i, values in enumerate(self._hosts)
                       if len(values) == len(hosts) and all(_is_value(text, value) for (_, text), value in zip(values, hosts))
                       and len(self._specs[i]) == len(tensors))
        if not traces:
            expected = "; ".join(f"{len(specs)} tensors" + "".join(f", {name} = {text}" for name, text in values)
                                 for specs, values in zip(self._specs, self._hosts))
            raise _native.SignatureError(f"{self.name}: no saved trace takes {len(tensors)} tensors and the numbers and texts "
                                         f"{hosts}; it has traces of {expected}")
        if traces not in self._by_traces:
            paths = [[int(a) if a else b or c for a, b, c in _STEP.findall(name)]
                     for name in self._saved.result_names(self.name, traces[0])]
            self._by_traces[traces] = self._saved.on_tensors(self.name, list(traces)), paths
        function, paths = self._by_traces[traces]
        results = function(tensors)
        if len(results) == 1 and not paths[0]:
            return results[0]
        tree: dict[Any, Any] = {}
        for path, x in zip(paths, results):
            _put(tree, path, x)
        return _made(tree)

    @property
    def argument_specs(self) -> list[list[TensorSpec]]:
        """The types of the argument tensors of each trace."""
        return self._specs

    def __repr__(self) -> str:
        return f"<calque.LoadedFunction '{self.name}'>"


class Loaded:
    """The functions and variables of a file: loaded["step"](x), loaded.variables["w"]."""

    def __init__(self, saved: Any) -> None:
        self._saved = saved
        self._functions: dict[str, LoadedFunction] = {}

    def names(self) -> list[str]:
        """The names of the functions."""
        return self._saved.names()

    @property
    def variables(self) -> dict[str, Variable]:
        """The variables by their names. An assignment changes what the functions compute."""
        return self._saved.variables()

    def __getitem__(self, name: str) -> LoadedFunction:
        if name not in self._functions:
            self._functions[name] = LoadedFunction(self._saved, name)
        return self._functions[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.names())

    def __len__(self) -> int:
        return len(self.names())

    def __contains__(self, name: object) -> bool:
        return name in self.names()

    def __str__(self) -> str:
        return str(self._saved)


def load(path: str | os.PathLike[str]) -> Loaded:
    """The functions and variables of a file that save() or a C++ program has written."""
    return Loaded(_native._load_functions(path))
