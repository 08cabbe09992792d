#!/usr/bin/env python3
"""Makes the bindings of the functions that Calque's public headers declare, and their type stubs.

    make_bindings.py --headers DIR [--headers DIR] --out DIR [--parts N]

The headers are the one list of functions: those of operations are made from the records in ir/, the others are written by
hand. A declaration becomes a function of Python with the same name, parameters, default values and comment. The fields
of an options struct become keyword arguments, and a result struct becomes a named tuple. A declaration that this script
can't read is an error, unless BY_HAND says where it is bound instead.
"""
import argparse
import re
import sys
from pathlib import Path

# Headers in which all functions are meant, and those with only the named ones.
HEADERS = ["functions.h.inc", "functions.h", "arrays/making.h", "arrays/moving.h", "arrays/places.h", "arrays/products.h",
           "arrays/sequences.h", "arrays/sets.h", "arrays/statistics.h", "linalg.h", "random.h", "assertions.h", "tensor.h"]
# Functions with overloads between which Python's arguments decide, and what Python has in another form.
BY_HAND = {
    "split": "Overloads.cpp", "tensordot": "Overloads.cpp", "histogram": "Overloads.cpp", "round": "Overloads.cpp",
    "eye": "Overloads.cpp", "size": "the property Tensor.size", "roll": "Overloads.cpp", "global_generator": "the class Generator",
    "tensor_from_bytes": "tensor()", "tensor_from_memory": "asarray()", "assert_shapes": "Overloads.cpp",
    "set_default_dtype": "Values.cpp", "toeplitz": "Overloads.cpp",
}
# Words by which Python's libraries call a parameter.
PARAMETERS = {"axes": "axis"}

SIMPLE = {  # the C++ type of a parameter: how it is read, and its type in stubs
    "const Operand &": ("operand", "TensorLike"),
    "const Tensor &": ("tensor", "TensorLike"),
    "const std::vector<Tensor> &": ("tensors", "Sequence[TensorLike]"),
    "const std::vector<Operand> &": ("operands", "Sequence[TensorLike]"),
    "std::int64_t": ("integer", "int"),
    "double": ("real", "float"),
    "bool": ("flag", "bool"),
    "DType": ("dtype", "DTypeLike"),
    "const Shape &": ("shape", "ShapeLike"),
    "const Size &": ("size", "int"),
    "std::vector<std::int64_t>": ("integers", "int | Sequence[int]"),
    "AxisList": ("integers", "int | Sequence[int]"),
    "const AxisList &": ("integers", "int | Sequence[int]"),
    "std::string": ("text", "str"),
    "const std::string &": ("text", "str"),
    "const Number &": ("number", "Number"),
    "Number": ("number", "Number"),
    "Tensor": ("tensor", "TensorLike"),
    "std::pair<double, double>": ("interval", "tuple[float, float]"),
    "Padding": (None, "str | Sequence[tuple[int, int]]"),
    "NormOrder": (None, "float | str"),
}
DECLARED = {"integer": "std::int64_t", "real": "double", "flag": "bool", "dtype": "DType", "text": "std::string"}


def fail(where, message):
    sys.exit(f"make_bindings.py: {where}: {message}")


def split_list(text):
    """The parts of a list between commas that are in no brackets."""
    parts, depth, part = [], 0, ""
    for letter in text:
        depth += (letter in "(<{[") - (letter in ")>}]")
        if letter == "," and depth == 0:
            parts.append(part.strip())
            part = ""
        else:
            part += letter
    return parts + [part.strip()] if part.strip() else parts


class Parameter:
    def __init__(self, text, where):
        text, _, default = text.partition("=")
        self.default = default.strip() or None
        match = re.fullmatch(r"(.*?[\s&>])\s*(\w+)", text.strip())
        if not match:
            fail(where, f"no parameter: {text}")
        self.type, self.name = match[1].strip(), match[2]


class Struct:
    def __init__(self, name, body, where):
        self.name, self.fields = name, []
        for line in split_statements(body):
            kind, names = re.match(r"((?:std::\w+<.*>|[\w:]+))\s+(.*)", line, re.S).groups()
            for each in split_list(names):
                self.fields.append(Parameter(f"{kind} {each}", where))

    @property
    def of_tensors(self):
        return all(field.type == "Tensor" and not field.default for field in self.fields)


def split_statements(body):
    body = re.sub(r"//[^\n]*", "", body)
    return [" ".join(each.split()) for each in body.split(";") if each.strip()]


class Function:
    def __init__(self, space, name, result, parameters, doc, where):
        self.space, self.name, self.result, self.doc, self.where = space, name, result, doc, where
        self.parameters = parameters


class Headers:
    def __init__(self, folders):
        self.structs, self.enums, self.functions = {}, {}, []
        texts = {}
        for header in HEADERS:
            found = [folder / header for folder in folders if (folder / header).exists()]
            if not found:
                fail(header, "not found in " + ", ".join(map(str, folders)))
            texts[header] = found[0].read_text()
        for header, text in texts.items():
            for match in re.finditer(r"^struct (\w+) \{\n(.*?)^\};", text, re.S | re.M):
                body = re.sub(r"//[^\n]*", "", match[2])
                if "(" not in re.sub(r"=[^;]*", "", body):  # one with functions is a class
                    self.structs[match[1]] = Struct(match[1], body, header)
            for match in re.finditer(r"^enum class (\w+)(?: : [\w:]+)? \{(.*?)\};", text, re.S | re.M):
                body = re.sub(r"//[^\n]*", "", match[2])
                self.enums[match[1]] = [each.split("=")[0].strip() for each in body.split(",") if each.strip()]
        for header, text in texts.items():
            self.read(header, text)
            # No declaration may be lost because this script takes a line for something else.
            expected = len(re.findall(r"^CALQUE_API [^;{]*\(", text, re.M))
            if expected != self.seen:
                fail(header, f"has {expected} declarations, of which {self.seen} were read")

    def read(self, header, text):
        """Statements of the namespaces calque, calque::linalg and calque::random, with the comments before them."""
        spaces, doc, comment, depth = [], "", "", 0
        section = None  # the comment below a heading, for declarations without one of their own
        self.seen = 0
        lines = iter(text.split("\n"))
        for line in lines:
            stripped = line.strip()
            if not stripped:
                section = comment if section == "" else section
                comment = doc = ""
                continue
            if stripped.startswith("//"):
                if stripped.startswith("//==="):
                    section = ""
                else:
                    comment += ("\n" if comment else "") + stripped[2:].strip()
                continue
            if match := re.match(r"namespace ([\w:]+) \{", line):
                spaces.append(match[1])
                comment = doc = ""
                continue
            if re.match(r"\}( // namespace|$)", line):
                spaces.pop()
                continue
            space = "::".join(spaces)
            if line.startswith("CALQUE_API "):
                statement = line
                while not statement.rstrip().endswith(";"):
                    statement += " " + next(lines).strip()
                self.seen += 1
                if comment:
                    doc, comment = comment, ""
                if header == "functions.h.inc" or space in ("calque", "calque::linalg", "calque::random"):
                    self.declaration(space or "calque", statement, doc or section or "", header)
                elif not space.endswith("detail"):
                    fail(header, f"a declaration in namespace '{space}': {statement}")
                continue
            # What is not a declaration of a function ends with the brackets that it opens.
            depth = line.count("{") - line.count("}") + line.count("(") - line.count(")")
            while depth > 0:
                inner = next(lines)
                depth += inner.count("{") - inner.count("}") + inner.count("(") - inner.count(")")
            # The comment of a struct of results is that of the functions below it.
            doc, comment = comment or doc, ""

    def declaration(self, space, statement, doc, header):
        match = re.fullmatch(r"CALQUE_API (.*?[\s&>])(\w+|operator\S+)\((.*)\);", " ".join(statement.split()))
        if not match or match[2].startswith("operator") or "std::ostream" in match[1]:
            return
        result, name, parameters = match[1].strip(), match[2], match[3]
        if name in BY_HAND:
            return
        where = f"{header}: {name}"
        made = [Parameter(each, where) for each in split_list(parameters)]
        self.functions.append(Function(space.removeprefix("calque").removeprefix("::"), name, result, made, doc, where))


def snake(name):
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()


def quoted(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


class Maker:
    def __init__(self, headers):
        self.headers = headers
        self.tuples = {}

    def spec(self, kind, where):
        """How a parameter of this type is read: an expression of `#`, its number, and its type in stubs."""
        if match := re.fullmatch(r"std::optional<(.*)>", kind):
            read, stub = self.spec(match[1], where)
            return read, stub + " | None"
        if kind in self.headers.enums:
            names = [snake(each) for each in self.headers.enums[kind]]
            listed = ", ".join(map(quoted, names))
            return f"{kind}(c.choice(#, {{{listed}}}))", "Literal[" + ", ".join(f'"{each}"' for each in names) + "]"
        if kind == "NormOrder":
            return "c.isText(#) ? NormOrder(c.text(#)) : NormOrder(c.real(#))", SIMPLE[kind][1]
        if kind == "Padding":
            return "c.isText(#) ? Padding(c.text(#)) : Padding(c.pairs(#))", SIMPLE[kind][1]
        bare = kind.removeprefix("const ").removesuffix("&").strip()
        if bare in self.headers.structs and self.headers.structs[bare].of_tensors:
            return f"of{bare}(c.tensors(#))", "Sequence[TensorLike]"
        if kind not in SIMPLE:
            fail(where, f"no parameter of Python has the type {kind}")
        reader, stub = SIMPLE[kind]
        return ("AxisList(c.integers(#))" if "AxisList" in kind else f"c.{reader}(#)"), stub

    def default(self, kind, default, where):
        """The C++ expression of a default value, of the parameter's own type."""
        bare = kind.removeprefix("const ").removesuffix("&").strip()
        if bare == "Operand":
            return f"Operand({default}, c.where())"
        return f"{bare}{default}" if default.startswith("{") else f"{bare}({default})"

    def python_default(self, default, kind):
        if default in ("{}", None) or kind.startswith("std::optional") or default.endswith("()"):
            return "None"
        if default in ("true", "false"):
            return default.capitalize()
        if match := re.fullmatch(r"(\w+)::(\w+)", default):
            return f'"{snake(match[2])}"' if match[1] in self.headers.enums else f'"{match[2].lower()}"'
        if match := re.fullmatch(r'std::string\((".*")\)', default):
            return match[1]
        if match := re.fullmatch(r"\{(.*)\}", default):
            return f"({match[1]},)" if "," not in match[1] else f"({match[1]})"
        return default

    def function(self, f, number):
        names, stubs, reads, call = [], [], [], []
        required = positional = 0
        for parameter in f.parameters:
            kind = parameter.type
            if kind == "SourceLocation":
                call.append("c.where()")
                continue
            bare = kind.removeprefix("const ").removesuffix("&").strip()
            struct = self.headers.structs.get(bare)
            if struct and bare.endswith("Options"):
                fields = []
                for field in struct.fields:
                    i = len(names)
                    read, stub = self.spec(field.type, f.where)
                    optional = field.type.startswith("std::optional")
                    default = self.default(field.type, field.default or "{}", f.where) if not optional else "std::nullopt"
                    held = field.type if optional else bare_type(field.type)
                    reads.append(f"  const {held} a{i} = c.has({i}) ? {held}({read.replace('#', str(i))}) : {held}({default});")
                    fields.append(f".{field.name} = a{i}")
                    names.append(PARAMETERS.get(field.name, field.name))
                    stubs.append((names[-1], stub, self.python_default(field.default or "{}", field.type), True))
                call.append(f"{bare}{{{', '.join(fields)}}}")
                continue
            i = len(names)
            read, stub = self.spec(kind, f.where)
            read = read.replace("#", str(i))
            names.append(PARAMETERS.get(parameter.name, parameter.name))
            positional = len(names)
            if parameter.default is None:
                required = len(names)
                reads.append(f"  const auto a{i} = {read};")
                stubs.append((names[-1], stub, None, False))
            else:
                held = kind if kind.startswith("std::optional") else bare_type(kind)
                default = "std::nullopt" if kind.startswith("std::optional") else self.default(kind, parameter.default, f.where)
                reads.append(f"  const {held} a{i} = c.has({i}) ? {held}({read}) : {held}({default});")
                stubs.append((names[-1], stub, self.python_default(parameter.default, kind), False))
            call.append(f"a{i}")
        if len(names) > 16:
            fail(f.where, "more than 16 parameters")
        qualified = "::".join(["calque"] + ([f.space] if f.space else []) + [f.name])
        invoke = f"c.run([&] {{ return {qualified}({', '.join(call)}); }})"
        result = f.result
        if result == "void":
            body, stub_result = f"  {invoke};\n  return Py_NewRef(Py_None);", "None"
        elif result in self.headers.structs and self.headers.structs[result].of_tensors:
            fields = [field.name for field in self.headers.structs[result].fields]
            self.tuples[result] = fields
            listed = ", ".join(f"r.{field}" for field in fields)
            named = ", ".join(map(quoted, fields))
            body = (f"  static PyObject *type = namedTuple({quoted(result)}, {{{named}}});\n  auto r = {invoke};\n"
                    f"  return resultOf(type, {{{listed}}});")
            stub_result = result
        elif result in ("Tensor", "std::vector<Tensor>", "bool", "std::int64_t"):
            body = f"  return resultOf({invoke});"
            stub_result = {"Tensor": "Tensor", "std::vector<Tensor>": "list[Tensor]", "bool": "bool", "std::int64_t": "int"}[result]
        else:
            fail(f.where, f"no result of Python has the type {result}")
        code = f"PyObject *call{number}(Call &c) {{\n" + "\n".join(reads) + ("\n" if reads else "") + body + "\n}\n"
        signature, marked = [], False
        for i, (name, _, default, keyword) in enumerate(stubs):
            if keyword and not marked:
                signature.append("*")
                marked = True
            signature.append(name if default is None else f"{name}={default}")
        doc = f"{f.name}({', '.join(signature)})\n--\n\n{f.doc}"
        listed = ", ".join(map(quoted, names))
        entry = f"    {{{quoted(f.space)}, {quoted(f.name)}, {{{listed}}}, {required}, {positional}, call{number}, {quoted(doc)}}},\n"
        return code, entry, self.stub(f.name, stubs, stub_result, f.doc)

    def stub(self, name, parameters, result, doc):
        listed, marked = [], False
        for each, kind, default, keyword in parameters:
            if keyword and not marked:
                listed.append("*")
                marked = True
            if default == "None" and "None" not in kind:
                kind += " | None"
            listed.append(f"{each}: {kind}" + (f" = {default}" if default is not None else ""))
        text = doc.replace("\\", "\\\\").replace('"""', "'''")
        return f'def {name}({", ".join(listed)}) -> {result}:\n    """{text}"""\n    ...\n'


def bare_type(kind):
    return kind.removeprefix("const ").removesuffix("&").strip()


def write_if_changed(path, text):
    if not path.exists() or path.read_text() != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--headers", action="append", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--parts", type=int, default=4)
    options = parser.parse_args()
    headers = Headers(options.headers)
    seen = {}
    for f in headers.functions:
        if (f.space, f.name) in seen:
            fail(f.where, "declared twice: Python has no overloads, bind it by hand")
        seen[(f.space, f.name)] = f
    if len(seen) < 150:
        fail("the headers", f"declare {len(seen)} functions: are they what they were?")
    maker = Maker(headers)
    parts = [[] for _ in range(options.parts)]
    stubs = {}
    for number, f in enumerate(headers.functions):
        code, entry, stub = maker.function(f, number)
        parts[number % options.parts].append((code, entry))
        stubs.setdefault(f.space, []).append(stub)
    taken = [each for each in headers.structs.values()
             if each.of_tensors and any(bare_type(p.type) == each.name for f in headers.functions for p in f.parameters)]
    helpers = "".join(
        f"{'linalg::' if 'Lu' in each.name else ''}{each.name} of{each.name}(const std::vector<Tensor> &list) {{\n"
        f"  if (list.size() != {len(each.fields)})\n"
        f'    throw ValueError("{each.name} has {len(each.fields)} tensors");\n'
        f"  return {{{', '.join(f'list[{i}]' for i in range(len(each.fields)))}}};\n}}\n" for each in taken)
    for i, part in enumerate(parts):
        write_if_changed(options.out / f"Functions{i}.cpp", (
            "// Made by make_bindings.py from the public headers.\n#include \"Call.h\"\n\n#include <calque/arrays.h>\n"
            "#include <calque/linalg.h>\n#include <calque/random.h>\n\nnamespace calque::python {\nnamespace {\n"
            "using namespace calque::linalg;\nusing namespace calque::random;\n[[maybe_unused]] " + helpers +
            "".join(code for code, _ in part) + "} // namespace\n"
            f"void addEntries{i}(std::vector<Entry> &entries) {{\n  entries.insert(entries.end(), {{\n"
            + "".join(entry for _, entry in part) + "  });\n}\n} // namespace calque::python\n"))
    write_if_changed(options.out / "Entries.cpp", (
        "// Made by make_bindings.py from the public headers.\n#include \"Call.h\"\n\nnamespace calque::python {\n"
        + "".join(f"void addEntries{i}(std::vector<Entry> &entries);\n" for i in range(options.parts))
        + "void addOverloads(std::vector<Entry> &entries);\nstd::span<const Entry> entries() {\n"
        "  static const auto *all = [] {\n    auto *made = new std::vector<Entry>;\n"
        + "".join(f"    addEntries{i}(*made);\n" for i in range(options.parts))
        + "    addOverloads(*made);\n    return made;\n  }();\n  return *all;\n}\n} // namespace calque::python\n"))
    tuples = "".join(f"class {name}(NamedTuple):\n" + "".join(f"    {field}: Tensor\n" for field in fields)
                     for name, fields in maker.tuples.items())
    head = ("# Made by make_bindings.py from the public headers.\nfrom typing import Literal, NamedTuple\n"
            "from collections.abc import Sequence\n\nfrom calque._types import DTypeLike, Number, ShapeLike, Tensor, TensorLike\n\n")
    write_if_changed(options.out / "stubs" / "_functions.pyi", head + tuples + "\n" + "\n".join(stubs[""]))
    for space in ("linalg", "random"):
        imports = ", ".join(maker.tuples)
        also = ("from calque._array_api import matrix_transpose as matrix_transpose, vecdot as vecdot\n"
                "from calque._functions import cross as cross, diagonal as diagonal, matmul as matmul, outer as outer, trace as trace\n"
                "from calque._overloads import tensordot as tensordot\n" if space == "linalg" else "")  # as calque/linalg.py
        write_if_changed(options.out / "stubs" / f"{space}.pyi", head + f"from calque._functions import {imports}\n{also}\n" + "\n".join(stubs[space]))


if __name__ == "__main__":
    main()
