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
RUNS = [
    ("calque-operation-tests", "Movement.*:Structured.*:Structured/Reductions.HaveDerivatives*:Structured/Windows.*/valid_6x5*", "differentiated"),
    ("calque-frontend-tests", "*", "traced"),
    ("calque-training-tests", "Random*", "traced"),
]

seen = set()
for binary, tests, stage in RUNS:
    with tempfile.NamedTemporaryFile() as dump:
        environment = dict(os.environ, CALQUE_DUMP=stage, CALQUE_DUMP_EAGER="1", CALQUE_DUMP_FILE=dump.name)
        run = subprocess.run([pathlib.Path(sys.argv[1], binary), "--gtest_filter=" + tests, "--gtest_brief=1"], env=environment, capture_output=True, text=True)
        if run.returncode:
            sys.exit(f"{binary} fails:\n{run.stdout[-2000:]}{run.stderr[-2000:]}")
        seen |= set(re.findall(r"\bcalque\.([a-z_0-9]+)", dump.read().decode()))
structured = {name for name, record in records.operations().items() if "Calque_ElementwiseOp" not in record["!superclasses"]}
missing = sorted(structured - seen)
if missing:
    sys.exit("no test compiles " + ", ".join(missing))
