"""Gives functions that were saved for several numbers and texts of the program these, from the command line.

    host-values.py CALQUE-RUN CALQUE-DUMP FILE DIRECTORY"""
import pathlib
import struct
import subprocess
import sys

run, dump, file, directory = sys.argv[1:]
rows = pathlib.Path(directory) / "rows.npy"
header = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }".ljust(117) + "\n"
rows.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + struct.pack("<2f", 1, 2))

SCALED = ["--function", "scaled", "--input", f"x={rows}"]
CASES = [
    (SCALED + ["n=2", "mode=each one"], 0, "result: [1. 2.]"),
    (SCALED + ["argument 1 'n'=int 2", "mode=sum"], 0, "result: 3"),
    (SCALED + ["n=3", "mode=sum", "by=0.50", "negate=true"], 0, "result: -4.5"),
    (SCALED + ["n=3", "mode=sum", "negate=false"], 0, "result: 4.5"),
    (["--function", "one", "--input", "1"], 0, "result: 8"),
    (["--function", "one", "--input", "argument 0=7", "0=1"], 0, "result: 8"),
    (["--function", "total", "--input", "1"], 0, "result[0]: 1"),
    (["--function", "total", "--input", "1", "2"], 0, "result[1]: 3"),
    # What is open, and what no trace has.
    (SCALED + ["n=3"], 2, "argument 2 'mode' is not given; the function was saved with string \"sum\" and string \"each one\""),
    (SCALED + ["mode=sum"], 2, "argument 1 'n' is not given; the function was saved with int 1, int 2 and int 3"),
    (SCALED + ["n=3", "mode=sum"], 2, "argument 4 'negate' is not given; the function was saved with bool false and bool true"),
    (SCALED + ["n=4", "mode=sum"], 2, "argument 1 'n' can't be '4'; the function was saved with int 1, int 2 and int 3"),
    (SCALED + ["n=two"], 2, "argument 1 'n' can't be 'two'; the function was saved with int 1, int 2 and int 3"),
    (SCALED + ["negate=1"], 2, "argument 4 'negate' can't be '1'; the function was saved with bool false and bool true"),
    (SCALED + ["n=1", "negate=true"], 2, "argument 4 'negate' can't be 'true'; the function was saved with bool false beside the others"),
    (SCALED + ["n=1", "n=1"], 2, "argument 1 'n' is given twice"),
    (["--function", "one", "--input", "argument 0=8", "0=1"], 2, "argument 0 can't be '8'; the function was saved with int 7"),
    (["--function", "scaled", "--input", "1", "n=1", "mode=sum"], 1, "argument 0 'x' must be float32[2], not float32[]"),
    (["--function", "total", "--input", "1", "2", "3"], 2, "there are more inputs than the 1 that the function takes"),
    # All traces, with what they were saved for.
    (["--function", "scaled", "--ir", "traced"], 0, "// argument 1 'n' is int 3\n// argument 2 'mode' is string \"sum\"\n"),
]
faults = 0
for options, code, text in CASES:
    done = subprocess.run([run, file, *options], capture_output=True, text=True)
    if done.returncode != code or text not in done.stdout + done.stderr:
        print(f"{options}: {done.returncode}, expected {code} and {text!r}\n{done.stdout[:2000]}{done.stderr[:2000]}")
        faults += 1
done = subprocess.run([dump, file, "--function", "scaled", "--stage", "traced"], capture_output=True, text=True)
if done.stdout.count("func.func") != 7:
    print(f"calque-dump does not show 7 traces:\n{done.stdout[:2000]}{done.stderr[:2000]}")
    faults += 1
print(f"{len(CASES) + 1} cases, {faults} faults")
sys.exit(faults > 0)
