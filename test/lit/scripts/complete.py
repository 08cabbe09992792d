"""Fails when an operation, a pass or a message has no test in test/lit. What there is comes from the records and sources."""
import re
import sys

from expand import expand
from messages import messages
from records import LIT, ROOT, operations

missing = []


def require(condition, what):
    if not condition:
        missing.append(what)


def lines(texts, op):
    """The lines on which an operation stands; comments are none."""
    return [line for text in texts for line in text.splitlines() if re.search(r"^[^/]*\bcalque\.%s\b" % op, line)]


def read(folder, keep):
    """The files of a folder, templates expanded."""
    return ["\n".join(expand(path.read_text())) for path in sorted((LIT / folder).glob("*.mlir")) if keep(path)]


def unknown(found):
    """Whether a line has an unknown size, in a type or an attribute."""
    return any(re.search(r"\?|-9223372036854775808", line) for line in found)


def transformed(texts, transform):
    """The functions in which a transformation stands."""
    functions = [function for text in texts for function in re.split(r"^(?=func\.func )", text, flags=re.M)]
    return [function for function in functions if lines([function], transform)]


cases = read("ops", lambda path: "| calque-opt | diff" in path.read_text())
errors = [text for folder in ("ops", "passes") for text in read(folder, lambda path: path.stem.endswith("-errors"))]
derivatives = read("passes", lambda path: path.stem.startswith("differentiate-") and not path.stem.endswith("-errors"))
refused = read("passes", lambda path: path.stem == "differentiate-errors")
composites = read("passes", lambda path: path.stem.startswith("expand-composites") and not path.stem.endswith("-errors"))
expected = re.findall(r"expected-error .*?\{\{(.*)\}\}", "\n".join(errors))
rules = "".join(path.read_text() for path in sorted((ROOT / "schema").glob("*.cpp")))

for op, record in operations().items():
    found = lines(cases, op)
    require(found, f"{op}: no case in ops/ shows that it is printed as it is read")
    if not any(definition["!name"] == "ElementsAttr" for _, definition in record["attributes"]):
        require(unknown(found), f"{op}: no case in ops/ has an unknown size")
    body = re.search(r"^Fault %s\(const OpCall.*?\{(.*?)(?:^\}|\}$)" % record["rule"], rules, flags=re.M | re.S)[1]
    if re.search(r"Fault|return \w+\(", body):
        require(any(message.startswith(op + ": ") for message in expected), f"{op}: no case in ops/ is refused by its type rule")
    # Of complex numbers alone: derivatives are taken of their parts.
    if record["complexAlone"]:
        continue
    if not record["notDifferentiable"]:
        require(unknown(lines(derivatives, op)), f"{op}: no case in passes/differentiate-* has an unknown size")
        require(unknown(lines(transformed(derivatives, "jvp"), op)), f"{op}: no case of forward mode in passes/differentiate-* has an unknown size")
    if record["operands"]:
        require(lines(transformed(derivatives + refused, "unbatch"), op), f"{op}: no case in passes/differentiate-* is for many examples")
    if record["expands"]:
        require(lines(composites, op), f"{op}: no case in passes/expand-composites.mlir")

for message in messages("schema", "ir", "passes"):
    # A batching rule is C++ of a program: test/frontend/OperationTest.cpp.
    if any("batching rule" in part for part in message.parts if part):
        continue
    # What a program that came from a Recording has, a Recording holds. No tool reads other IR that way.
    if message.file == "ir/Export.cpp":
        continue
    # What the order of expansion rules out can't be provoked.
    if message.kind == "static_assert" or message.parts[0] and message.parts[0].endswith("before it was expanded"):
        continue
    # IR has no number that is no element type: test/frontend/MisuseTest.cpp.
    if any("no element type number" in part for part in message.parts if part):
        continue
    # MLIR counts operands before the rule does. Files of programs have any number: test/saving/ForgedProgramsTest.cpp.
    if any(part.startswith("it has ") for part in message.parts if part):
        continue
    pattern = ".*".join(re.escape(part) for part in message.parts if part)
    require(any(re.search(pattern, text) for text in expected), f"{message.file}:{message.line}: no case expects '{message}'")

for name in re.findall(r': Pass<"calque-([\w-]+)"', (ROOT / "passes" / "Passes.td").read_text()):
    for file in (name + ".mlir", name + "-errors.mlir"):
        require((LIT / "passes" / file).exists(), f"calque-{name}: no passes/{file}")

print(*missing, sep="\n")
sys.exit(bool(missing))
