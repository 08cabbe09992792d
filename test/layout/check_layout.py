"""Checks the house against its plan: check_layout.py SOURCE

- Each folder includes what it may, and nothing above it (ARROWS).
- Units (a header with its source) that include each other in a circle are no more than KNOTS says: each is recursion of the problem.
- A file of more than 600 lines says at its head why (`One file, because ...`). This holds for tests, examples and benchmarks
  too (MEASURED).
"""
import collections
import pathlib
import re
import subprocess
import sys

sys.setrecursionlimit(10000)

# Which folders a folder may include, itself and public headers apart. The front end and the compiler meet in program/ alone.
ARROWS = {
    "schema": set(),
    "runtime": {"schema"},
    "program": {"runtime", "schema"},
    "standalone": {"program", "runtime", "schema"},
    "ir": {"schema"},
    "passes": {"ir", "schema"},
    "codegen": {"passes", "ir", "program", "runtime", "schema"},
    "frontend": {"program", "runtime", "schema", "standalone"},
    "training": set(),
    "solvers": set(),
    "distributed": set(),
    "interchange": set(),
    "python": set(),
    "tools": {"codegen", "passes", "frontend", "runtime", "schema"},
}
# Folders of whose files only the length is looked at: they may include everything.
MEASURED = ("test", "examples", "benchmarks")
# The largest knot below each folder.
KNOTS = {"schema": 5, "ir": 5, "codegen": 5, "frontend": 4}
# The one file that uses Abseil's hash tables.
TABLES = "schema/HashTables.h"
# A file that is longer is asking to be two.
MOST_LINES = 600
REASON = "One file, because"


def unit(path):
    return re.sub(r"\.(cpp|h)$", "", path)


def main(source):
    root = pathlib.Path(source)
    files = subprocess.run(["git", "ls-files", "*.cpp", "*.h"], cwd=root, capture_output=True, text=True).stdout.split()
    if not files:
        files = [str(f.relative_to(root)) for top in (*ARROWS, *MEASURED) for f in (root / top).rglob("*") if f.suffix in (".cpp", ".h")]
    measured = [f for f in files if f.split("/")[0] in ARROWS or f.split("/")[0] in MEASURED]
    wrong = []
    for f in measured:
        text = (root / f).read_text()
        lines = text.count("\n")
        if lines > MOST_LINES and REASON not in text[:2000]:
            wrong.append(f"{f} has {lines} lines: split it, or say at its head why it is one ('{REASON} ...')")
    files = [f for f in files if f.split("/")[0] in ARROWS]
    by_name = {}
    for f in files:
        by_name[f] = f
        public = re.match(r".*/include/(calque/.*)", f)
        if public:
            by_name[public.group(1)] = f
        for top in ("training/", "solvers/", "distributed/", "interchange/"):
            if f.startswith(top):
                by_name.setdefault(f[len(top):], f)
    edges = collections.defaultdict(set)
    for f in files:
        top = f.split("/")[0]
        text = (root / f).read_text()
        for name in re.findall(r'^#include ["<]([^">]+)[">]', text, re.M):
            target = by_name.get(str(pathlib.PurePath(f).parent / name)) or by_name.get(name)
            if not target:
                continue
            to = target.split("/")[0]
            if to != top and "/include/" not in target and to not in ARROWS[top]:
                wrong.append(f"{f} includes {target}: {top} may include {', '.join(sorted(ARROWS[top])) or 'no other folder'}")
            if unit(target) != unit(f):
                edges[unit(f)].add(unit(target))
        if "#include \"absl/container/flat_hash" in text and f != TABLES:
            wrong.append(f"{f} includes a hash table of Abseil's, which is broken where memory runs out: {TABLES} has others")
    for knot in knots({unit(f) for f in files}, edges):
        tops = {u.split("/")[0] for u in knot}
        allowed = max(KNOTS.get(top, 0) for top in tops)
        if all("/include/" in u for u in knot):
            continue  # public headers that complete each other
        if len(tops) > 1 or len(knot) > allowed:
            wrong.append(f"{len(knot)} units include each other in a circle, where {allowed} may: {' '.join(sorted(knot))}")
    for line in wrong:
        print(line)
    print(f"{len(measured)} files, {len(wrong)} faults")
    return 1 if wrong else 0


def knots(nodes, edges):
    """Tarjan's strongly connected components of more than one unit."""
    index, low, stack, on, found = {}, {}, [], set(), []

    def visit(v):
        index[v] = low[v] = len(index)
        stack.append(v)
        on.add(v)
        for w in edges[v]:
            if w not in index:
                visit(w)
                low[v] = min(low[v], low[w])
            elif w in on:
                low[v] = min(low[v], index[w])
        if low[v] == index[v]:
            component = []
            while True:
                w = stack.pop()
                on.discard(w)
                component.append(w)
                if w == v:
                    break
            if len(component) > 1:
                found.append(component)

    for v in sorted(nodes):
        if v not in index:
            visit(v)
    return found


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
