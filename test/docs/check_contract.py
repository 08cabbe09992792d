"""Fails when a row of docs/contract.md has no test, or one that does not exist: ROOT"""
import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1])
defined = set()
for path in (root / "test").rglob("*.cpp"):
    for suite, name in re.findall(r"^\s*(?:TYPED_)?TEST(?:_[FP])?\((\w+),\s*(\w+)\)", path.read_text(), flags=re.M):
        defined.add(f"{suite}.{name}")

faults, rows = [], 0
for line in (root / "docs" / "contract.md").read_text().splitlines():
    cells = [cell.strip() for cell in line.strip("|").split("|")]
    if not line.startswith("|") or len(cells) != 2 or cells[0] == "row" or set(cells[0]) <= set("- "):
        continue
    rows += 1
    tests = re.findall(r"`([^`]+)`", cells[1])
    if not tests:
        faults.append(f"{cells[0]}: no test")
    faults += [f"{cells[0]}: there is no test {test}" for test in tests if test not in defined]
if not rows:
    faults.append("the page has no rows")
print(*faults, sep="\n")
sys.exit(bool(faults))
