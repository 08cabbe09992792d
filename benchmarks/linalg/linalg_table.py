"""What calque-linalg-bench and linalg_peers.py have printed, as a table: linalg_table.py DIRECTORY matrices|transforms.

The directory has the lines of SYSTEM on THREADS threads in SYSTEM-THREADS.json, for calque, numpy, jax and torch, and 1 and 2 threads. A cell
has the milliseconds on two threads and on one. The fastest system on as many threads is in bold letters.
"""
import json
import os
import sys

SYSTEMS = {"calque": "Calque", "numpy": "NumPy, SciPy", "jax": "JAX", "torch": "PyTorch"}
OTHER = {"matrices": ("eigen", "Eigen"), "transforms": ("fftw", "FFTW")}


def read(directory, system, threads):
    found = {}
    path = os.path.join(directory, f"{system}-{threads}.json")
    if not os.path.exists(path):
        sys.exit(f"linalg_table.py: there is no {path}")
    for line in open(path):
        if line.startswith("{"):
            row = json.loads(line)
            found[row["case"]] = row.get("ms")
    return found


def main():
    directory, which = sys.argv[1:]
    suffix, other = OTHER[which]
    of = {(system, threads): read(directory, system, threads) for system in SYSTEMS for threads in (2, 1)}
    for threads in (2, 1):
        ours = of["calque", threads]
        of[suffix, threads] = {name: ours.get(f"{name}_{suffix}") for name in ours}
    names = SYSTEMS | {suffix: other}
    print("| case | " + " | ".join(names.values()) + " |")
    print("| --- |" + " ---: |" * len(names))
    for case in of["calque", 2]:
        if case.endswith(("_eigen", "_fftw")) or case.startswith("fft") != (which == "transforms"):
            continue
        best = {threads: min(of[name, threads].get(case) or float("inf") for name in names) for threads in (2, 1)}

        def cell(name, threads):
            ms = of[name, threads].get(case)
            if ms is None:
                return "-"
            text = f"{ms:.3g}" if ms < 1000 else f"{ms:.0f}"
            return f"**{text}**" if ms == best[threads] else text

        print(f"| `{case}` | " + " | ".join(f"{cell(name, 2)} / {cell(name, 1)}" for name in names) + " |")


main()
