"""Prints a case for each check that the records imply: of every operation the number and kind of operands, attributes and
results, and of every operation with a result, by its first case in ops/, that the result's type is the inferred one."""
import re

from expand import expand
from records import LIT, operations

VALUES = {"I64Attr": "0", "BoolAttr": "true", "StrAttr": '""', "Calque_TextAttr": '""', "DenseI64ArrayAttr": "array<i64>", "Calque_DTypeAttr": "f32", "Calque_NumberAttr": "0.0", "ElementsAttr": "dense<0.0> : tensor<f32>"}
GOOD, BAD = "tensor<f32>", "tensor<*xf16>"
STACK = "tensor<!calque.stack>"
NUMBERS = " or ".join(
    ["1-bit signless integer"] + [f"{bits}-bit signless integer" for bits in (8, 16, 32, 64)] +
    [f"{bits}-bit unsigned integer" for bits in (8, 16, 32, 64)] + ["16-bit float", "bfloat16 type", "32-bit float", "64-bit float",
     "complex type with 32-bit float elements", "complex type with 64-bit float elements"])
KINDS = {"Calque_StackTensor": "stack", "Calque_AnyTensor": NUMBERS + " or stack", "Calque_SizesTensor": NUMBERS + " or stack"}


def case(op, message, operands, attributes, results):
    arguments = ", ".join("%%arg%d: %s" % pair for pair in enumerate(operands))
    uses = ", ".join("%%arg%d" % i for i in range(len(operands)))
    pairs = ", ".join("%s = %s" % pair for pair in attributes.items())
    body = '"calque.%s"(%s) {%s} : (%s) -> (%s)' % (op, uses, pairs, ", ".join(operands), ", ".join(results))
    print("func.func @%s(%s) {\n  // expected-error @below {{%s}}\n  %s\n  return\n}\n// -----" % (op, arguments, message, body))


def constraint(definition):
    """The name of the constraint on an operand, or on each of a variadic one."""
    return definition["baseType"]["def"] if "Variadic" in definition["!superclasses"] else definition["!name"]


def good(definitions):
    return [STACK if constraint(definition) == "Calque_StackTensor" else GOOD for _, definition in definitions]


def wrong(definitions, i, many):
    kind = KINDS.get(constraint(definitions[i][1]), NUMBERS)
    return "%sranked tensor of %s values, but got '%s'" % ("variadic of " * many, kind, BAD)


def cases(op, record):
    variadic = [definition["!superclasses"].count("Variadic") for _, definition in record["operands"]]
    outcomes = [definition["!superclasses"].count("Variadic") for _, definition in record["outcomes"]]
    operands, results = good(record["operands"]), good(record["outcomes"])
    attributes = {name: VALUES[definition["!name"]] for name, definition in record["attributes"] if not definition.get("defaultValue")}

    for i, many in enumerate(variadic):
        case(op, "operand #%d must be %s" % (i, wrong(record["operands"], i, many)), operands[:i] + [BAD] + operands[i + 1:], attributes, results)
    for i, many in enumerate(outcomes):
        case(op, "result #%d must be %s" % (i, wrong(record["outcomes"], i, many)), operands, attributes, results[:i] + [BAD] + results[i + 1:])
    if not any(variadic):
        count = len(operands)
        message = ["requires zero operands", "requires a single operand", "expected %d operands, but found %d" % (count, count + 1)][min(count, 2)]
        case(op, message, operands + [GOOD], attributes, results)
    elif not all(variadic):
        case(op, "expected 1 or more operands", [], attributes, results)
    if not any(outcomes):
        message = ["requires zero results", "requires one result", "expected %d results" % len(results)][min(len(results), 2)]
        case(op, message, operands, attributes, results + [GOOD])
    for name, _ in record["attributes"]:
        if name in attributes:
            case(op, "requires attribute '%s'" % name, operands, {k: v for k, v in attributes.items() if k != name}, results)
        case(op, "attribute '%s' failed to satisfy constraint" % name, operands, {**attributes, name: "unit"}, results)


def inference(records):
    todo = {op for op, record in records.items() if record["outcomes"] and not record["regions"]["args"]}
    for path in sorted((LIT / "ops").glob("*.mlir")):
        if path.stem.endswith("-errors"):
            continue
        for function in re.findall(r"^func\.func .*?^}", "\n".join(expand(path.read_text())), flags=re.M | re.S):
            for line in function.splitlines():
                found = re.match(r"  (%\w+(?:, %\w+)*) = calque\.(\w+) .* -> ", line)
                if not found or found[2] not in todo or re.search(r"%(?!arg)", line.split(" = ", 1)[1]):
                    continue
                todo.remove(found[2])
                stacks = [constraint(definition) == "Calque_StackTensor" for _, definition in records[found[2]]["outcomes"]]
                stacks += stacks[-1:] * (found[1].count(",") + 1 - len(stacks))  # the last is variadic
                types = ["tensor<13x17x?x!calque.stack>" if stack else "tensor<13x17x?xi1>" for stack in stacks]
                print(function.splitlines()[0])
                print("  // expected-error @below {{are incompatible with return type(s) of operation '%s'}}" % "', '".join(types))
                print("  // expected-error @below {{failed to infer returned types}}")
                print("%s(%s)\n  return\n}\n// -----" % (found[0], ", ".join(types)))
    assert not todo, todo


records = operations()
for op, record in records.items():
    # A program inside is checked first, and has cases of its own: ops/programs-errors.mlir.
    if not record["regions"]["args"]:
        cases(op, record)
inference(records)
