"""Fails when an operation that is not elementwise is compiled by no test: coverage.py DUMPS FRONTEND_TESTS OPERATION_TESTS

The tests compare what they compile with references and derivatives with differences, so an operation that appears in none of their
programs is untested. The operations come from the records, and so do the cases of the elementwise ones; the tests' programs are in
the files of a folder, as CALQUE_DUMP wrote them.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lit" / "scripts"))
import records


def programs(dump):
    """The programs of tests: the name of each function and its operations."""
    parts = dump.split("\n// -----\n")
    return [(re.search(r"^// \w+ (\S+)", part)[1], set(re.findall(r"\bcalque\.([a-z_0-9]+)", part))) for part in parts if part]


def programs_of(binary, stage, tests):
    """The programs that some tests of a binary compile, at a stage."""
    with tempfile.NamedTemporaryFile() as dump:
        environment = dict(os.environ, CALQUE_DUMP=stage, CALQUE_DUMP_FILE=dump.name)
        run = subprocess.run([binary, f"--gtest_filter={tests}"], env=environment, capture_output=True, text=True)
        if run.returncode:
            sys.exit(f"{binary} fails:\n{run.stdout[-2000:]}{run.stderr[-2000:]}")
        return programs(dump.read().decode())


def require(seen, needed, what):
    missing = sorted(set(needed) - set().union(*seen))
    if missing:
        sys.exit(f"no test compiles {what}" + ", ".join(missing))


# The tests name the functions in which derivatives, and what is done for many examples, are compared with something.
runs = []
for path in pathlib.Path(sys.argv[1]).iterdir():
    runs += programs(path.read_text())
# Checkpoints and loops whose sizes vary have operations that derivatives alone make.
runs += programs_of(sys.argv[2], "differentiated", "*Checkpoint*:VaryingLoops.Have*")
operations = {name: record for name, record in records.operations().items() if "Calque_ElementwiseOp" not in record["!superclasses"]}
# Those of complex numbers alone are their parts' before derivatives are taken.
complex_alone = {name for name, record in operations.items() if record["complexAlone"]}
require((found for _, found in programs_of(sys.argv[3], "traced", "Complex*:Fft.IsThe*")), complex_alone, "")
operations = {name: record for name, record in operations.items() if name not in complex_alone}
pure = {name: record for name, record in operations.items() if not {"Calque_EffectOp", "Calque_TransformOp"} & set(record["!superclasses"])}
# The compiler makes these of loops whose variables change their sizes (test/frontend/VaryingLoopsTest.cpp), behind what is dumped here.
made = {"on_entries", "stack_below", "stack_is_empty"}
# And these of transforms of parts.
made |= {"fourier_pairs", "real_fourier_pairs", "fourier_to_real_pairs"}
# Derivatives of derivatives make these where a stack is used twice, which no test of an operation does.
twice = {"stack_add", "stack_sum_like"}
# Complex numbers in memory are taken apart before examples are mapped, and put together behind that.
memory = {"pairs", "part_of_pairs"}
# Loops whose sizes vary are refused for many examples.
varying = {"sized_push", "sized_pop", "open_sizes"}
require((found for _, found in runs), operations.keys() - made - twice, "")
require((found for name, found in runs if name == "tangents" or "jvp" in found),
        (name for name, record in pure.items() if not record["notDifferentiable"] and name not in twice | varying), "tangents of ")
require((found for name, found in runs if name == "many_examples" or "unbatch" in found),
        (name for name, record in pure.items() if record["operands"] and name not in made | twice | varying | memory | {"stack_empty"}), "many examples of ")
