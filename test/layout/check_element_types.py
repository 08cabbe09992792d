"""Checks that what an element type is stands in one table: check_element_types.py SOURCE [COMPILER]

- Passes and code generation ask ir/ElementType.h how wide a type is, and which kind. Whoever asks a type of MLIR itself is in ASKS with
  the number of lines that do so, which may only fall: functions that are written for one width, such as exp of float32.
- Outside of the table in schema/include/calque/dtype.h no code goes through the element types one by one. Whoever does is in LISTS, likewise.
- With COMPILER: a pretend element type is added to a copy of the table, and what reads the table is compiled with it. Files that do not
  compile are those that a new element type has to change: MUST_CHANGE names them, and may only shrink.
"""
import pathlib
import re
import subprocess
import sys
import tempfile

CODE = ("schema", "runtime", "program", "standalone", "ir", "passes", "codegen", "frontend", "training", "tools")
# Questions about the type itself.
ASKED = re.compile(r"getIntOrFloatBitWidth|getElementTypeBitWidth|\bisF(?:16|32|64)\(|\bisBF16\(|isInteger\(\d+\)|isSignlessInteger\(\d+\)|"
                   r"isUnsignedInteger\(\d+\)|(?<!index, )getFPMantissaWidth|getFloat(?:16|32|64)Type")
HELPER = "ir/ElementType.cpp"
# Who asks, and in how many lines.
ASKS = {
    "codegen/lowering/Divisions.cpp": 3,  # remainders of float32 and float64
    "codegen/lowering/PoolingLowering.cpp": 1,  # the numbering's own type
    "codegen/lowering/RandomLowering.cpp": 1,  # the words that a draw takes
    "codegen/native/ConvertToLLVM.cpp": 1,  # bfloat16, which LLVM has no arithmetic for
    "codegen/native/Float32Functions.cpp": 1,
    "codegen/native/Float64Functions.cpp": 3,
    "codegen/native/FunctionEmitter.h": 1,
    "codegen/native/HalfConversions.cpp": 9,  # the conversions of each half
    "codegen/schedule/CarriedLoop.cpp": 3,  # lanes, which ElementType::lanes can say
    "codegen/schedule/NestPlan.cpp": 2,
    "codegen/schedule/StoringLoops.cpp": 1,
    "codegen/schedule/TransposedNest.cpp": 1,
    "ir/Conversion.cpp": 3,  # numbers of C++ as attributes
    "ir/ScalarBuilder.cpp": 1,  # quotients of float64
}
TABLE = "schema/include/calque/dtype.h"
# Who names three element types or more within a few lines, and how often.
LISTS = {
    "frontend/core/Apply.cpp": 1,  # the type of a number of C++ among tensors
    "frontend/core/Tensor.cpp": 1,  # the same
    "frontend/include/calque/number.h": 1,  # the same
    "tools/calque-kernels.cpp": 1,  # the cases that it measures
    "training/Config.cpp": 1,  # what configurations say
    "training/data/Csv.cpp": 1,  # the columns of a text
}
LINES = 8

# What reads the table, without MLIR, and has to compile with a type that it has never seen.
PRETEND = '  X(Pretend, "pretend", char16_t, Integer, Int64, "<p2", "P2", "pretend_t")'
READERS = ("schema/Schema.cpp", "schema/ProgramBytes.cpp", "schema/TypeRules.cpp", "schema/ElementwiseRules.cpp", "schema/MovementRules.cpp",
           "schema/IndexRules.cpp", "schema/EffectRules.cpp", "schema/StructuredRules.cpp", "frontend/saving/TensorHeader.cpp")
MUST_CHANGE = set()


def code_of(text):
    """The text without comments."""
    return re.sub(r"//[^\n]*", "", text)


def found_in(root, files):
    asks, lists = {}, {}
    for name in files:
        text = code_of((root / name).read_text())
        lines = text.split("\n")
        if name.split("/")[0] in ("ir", "passes", "codegen") and name != HELPER:
            count = sum(bool(ASKED.search(line)) for line in lines)
            if count:
                asks[name] = count
        if name == TABLE:
            continue
        at = count = 0
        while at < len(lines):
            types = set(re.findall(r"DType::(Bool|U?Int\d+|B?Float\d+)", "\n".join(lines[at:at + LINES])))
            count += len(types) >= 3
            at += LINES if len(types) >= 3 else 1
        if count:
            lists[name] = count
    return asks, lists


def compare(found, allowed, what):
    faults = []
    for name, count in sorted(found.items()):
        if count > allowed.get(name, 0):
            faults.append(f"{name}: {what} in {count} places, and may in {allowed.get(name, 0)}")
    for name, count in sorted(allowed.items()):
        if found.get(name, 0) < count:
            faults.append(f"{name}: {what} in {found.get(name, 0)} places; the table of this check says {count}, and may only shrink")
    return faults


def with_pretend(root, compiler):
    """Compiles the readers with the pretend type; returns those that don't compile."""
    with tempfile.TemporaryDirectory() as folder:
        table = (root / TABLE).read_text()
        last = list(re.finditer(r"^  X\(.*$", table, flags=re.M))[-1]
        copy = pathlib.Path(folder) / "calque" / "dtype.h"
        copy.parent.mkdir()
        copy.write_text(table[:last.end()].rstrip() + " \\\n" + PRETEND + table[last.end():])
        failed = set()
        for name in READERS:
            command = compiler[:1] + ["-I", folder, "-fsyntax-only", "-Werror=switch"] + compiler[1:] + ["-x", "c++", str(root / name)]
            done = subprocess.run(command, capture_output=True, text=True)
            if done.returncode:
                failed.add(name)
                print(done.stderr[:2000], file=sys.stderr)
        return failed


def main(source, *compiler):
    root = pathlib.Path(source)
    files = [str(f.relative_to(root)) for top in CODE for f in (root / top).rglob("*") if f.suffix in (".cpp", ".h")]
    asks, lists = found_in(root, sorted(files))
    faults = compare(asks, ASKS, "asks what ir/ElementType.h says of a type")
    faults += compare(lists, LISTS, "lists element types")
    if compiler:
        failed = with_pretend(root, list(compiler))
        faults += [f"{name}: a new element type does not compile" for name in sorted(failed - MUST_CHANGE)]
        faults += [f"{name}: compiles with a new element type, and MUST_CHANGE says that it does not" for name in sorted(MUST_CHANGE - failed)]
    print("\n".join(faults) if faults else "what an element type is stands in one table")
    return bool(faults)


sys.exit(main(*sys.argv[1:]))
