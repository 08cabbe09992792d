"""Fails when an operation that is not elementwise is compiled by no test: coverage.py BIN_DIRECTORY

The tests compare what they compile with references and derivatives with differences, so an operation that appears in none of their
programs is untested. The operations come from the records, and so do the cases of the elementwise ones; the tests' programs come
from CALQUE_DUMP.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lit" / "scripts"))
import records

# One case of a family shows its operations as well as all do.
CASES = "Movement.*:Structured.*:Transforms.*:Structured/Reductions.HaveDerivatives*:Structured/Windows.*/valid_6x5*"


def compiled(binary, tests, stages, function=""):
    """The operations in the programs of tests, in the functions of one name if it is given."""
    found = set()
    for stage in stages:
        with tempfile.NamedTemporaryFile() as dump:
            environment = dict(os.environ, CALQUE_DUMP=stage, CALQUE_DUMP_EAGER="" if function else "1", CALQUE_DUMP_FUNCTION=function, CALQUE_DUMP_FILE=dump.name)
            run = subprocess.run([pathlib.Path(sys.argv[1], binary), "--gtest_filter=" + tests, "--gtest_brief=1"], env=environment, capture_output=True, text=True)
            if run.returncode:
                sys.exit(f"{binary} fails:\n{run.stdout[-2000:]}{run.stderr[-2000:]}")
            found |= set(re.findall(r"\bcalque\.([a-z_0-9]+)", dump.read().decode()))
    return found


def require(seen, needed, what):
    missing = sorted(set(needed) - seen)
    if missing:
        sys.exit(f"no test compiles {what}" + ", ".join(missing))


operations = {name: record for name, record in records.operations().items() if "Calque_ElementwiseOp" not in record["!superclasses"]}
both = ["traced", "differentiated"]
seen = compiled("calque-operation-tests", CASES, ["differentiated"])
seen |= compiled("calque-frontend-tests", "*", ["traced"]) | compiled("calque-training-tests", "Random*", ["traced"])
require(seen, operations, "")
require(compiled("calque-operation-tests", CASES, both, "tangents"),
        (name for name, record in operations.items() if not record["notDifferentiable"]), "tangents of ")
require(compiled("calque-operation-tests", CASES, both, "many_examples"),
        (name for name, record in operations.items() if record["operands"] and "Calque_EffectOp" not in record["!superclasses"]), "many examples of ")
