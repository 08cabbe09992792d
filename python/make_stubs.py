#!/usr/bin/env python3
"""Makes the type stubs of the package from what nanobind says of the native module and from the stubs of functions.

    make_stubs.py --native FILE --functions FILE --overloads FILE --names FILE --out DIR
"""
import argparse
import re
import runpy
from pathlib import Path

HEAD = '''# Made by make_stubs.py from the native module.
import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal

from ._types import ArrayLike, C, DTypeLike, Index, Number, ShapeLike, T, TensorLike, Y
from . import linalg as linalg, random as random

'''
COMPARED = ("__lt__", "__le__", "__eq__", "__ne__", "__gt__", "__ge__")
NUMBERS = {"__bool__": "bool", "__int__": "int", "__float__": "float", "__index__": "int", "__len__": "int", "__complex__": "complex"}


def typed(line, methods):
    """A line of a class that is a tensor or stands for one."""
    if match := re.match(r"    (\w+): instancemethod = \.\.\.", line):
        return methods.get(match[1], "")
    match = re.match(r"    def (__\w+__)\((self.*)\):", line)
    if not match:
        return line
    name, parameters = match.groups()
    ignore = "  # type: ignore[override]" if name in ("__eq__", "__ne__") else ""
    if name in NUMBERS:
        return f"    def {name}(self, /) -> {NUMBERS[name]}:"
    if name == "__getitem__":
        return "    def __getitem__(self, key: Index, /) -> Tensor:"
    if name in ("__setitem__", "__delitem__", "__buffer__", "__release_buffer__"):
        return line
    parameters = parameters.replace("value, mod=None", "value: TensorLike, mod: None = None").replace("value,", "value: TensorLike,")
    return f"    def {name}({parameters}) -> Tensor:{ignore}"


def main():
    parser = argparse.ArgumentParser()
    for option in ("native", "functions", "overloads", "names", "out"):
        parser.add_argument("--" + option, type=Path, required=True)
    options = parser.parse_args()
    functions = options.functions.read_text() + options.overloads.read_text()
    methods = {}
    for match in re.finditer(r"^def (\w+)\(x: TensorLike(?:, )?(.*?)\) -> ([^:\n]+):", functions, re.M | re.S):
        rest = " ".join(match[2].split())
        methods[match[1]] = f"    def {match[1]}(self{', ' + rest if rest else ''}) -> {match[3]}: ..."
    text = options.native.read_text()
    if "std::" in text or "calque::" in text:
        raise SystemExit("make_stubs.py: nanobind knows no Python type for one of C++: a header of nanobind/stl is not included")
    errors = re.findall(r"^    (\w*Error) as \w+,?$", text, re.M)
    text = text[text.index("\nversion: "):]
    made, inside = [], False
    for line in text.split("\n"):
        if match := re.match(r"class (\w+)", line):
            inside = match[1] in ("Tensor", "Variable")
        if "__hash__: None" in line:
            line += "  # type: ignore[assignment]"
        if line.lstrip().startswith("def "):
            line = line.replace("-> object:", "-> Any:")
            line = re.sub(r"(?<=[:>*] )(dict|list|tuple)(?=[,):\]])", lambda m: f"{m[0]}[{'str, ' if m[0] == 'dict' else ''}Any{', ...' if m[0] == 'tuple' else ''}]", line)
        made.append(typed(line, methods) if inside else line)
    errors = [each for each in errors if each != "Error"]
    listed = "class Warning(UserWarning): ...\nclass Error(Exception):\n    file: str\n    line: int\n\n" + "".join(
        f"class {each}(Error): ...\n" for each in errors)
    tuples = sorted(set(re.findall(r"^class (\w+)\(NamedTuple\)", functions, re.M)))
    results = f"from ._functions import {', '.join(each for each in tuples if each != 'Histogram')}\nfrom ._overloads import Histogram\n"
    options.out.mkdir(parents=True, exist_ok=True)
    # An instance is a tensor: __array__ and numpy() are written in Python.
    body = "\n".join(made).replace("class Tensor:", "class Tensor:\n    def numpy(self) -> Any: ...\n    def __array__(self, dtype: Any = None, "
                                   "copy: bool | None = None) -> Any: ...").replace(
        "class Variable:", "class Variable:\n    def numpy(self) -> Any: ...\n    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any: ...")
    write(options.out / "_native.pyi", HEAD + results + "\n" + listed + body)
    aliases = runpy.run_path(str(options.names))["ALIASES"]
    names = re.findall(r"^def (\w+)\(", functions, re.M)
    native = re.findall(r"^(?:class|def) ([A-Za-z]\w*)", "\n".join(made), re.M) + re.findall(r"^(\w+): DType", "\n".join(made), re.M)
    lines = ["# Made by make_stubs.py.", "from . import linalg as linalg, random as random",
             "from ._files import Loaded as Loaded, LoadedFunction as LoadedFunction, load as load",
             "from ._array_api import *", "from ._function import *", "from ._functions import *", "from ._overloads import *"]
    lines += [f"from ._native import {each} as {each}" for each in ["Error", "Warning", *errors, *dict.fromkeys(native)] if not each.startswith("_")
              and each not in tuples]
    lines += [f"{new} = {old}" for new, old in aliases.items() if old in names or old in native]
    lines += ["dtypes: tuple[DType, ...]", "__version__: str", ""]
    write(options.out / "__init__.pyi", "\n".join(lines))


def write(path, text):
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


if __name__ == "__main__":
    main()
