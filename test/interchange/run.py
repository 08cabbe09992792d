"""Runs a model of ONNX from the command line.

    run.py CALQUE-RUN MODEL DIRECTORY"""
import pathlib
import struct
import subprocess
import sys

run, model, directory = sys.argv[1:]
folder = pathlib.Path(directory)
folder.mkdir(parents=True, exist_ok=True)
rows, given = folder / "rows.npy", folder / "y.npy"


def npy(shape, numbers):
    header = ("{'descr': '<f4', 'fortran_order': False, 'shape': %s, }" % (shape,)).ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + struct.pack(f"<{len(numbers)}f", *numbers)


rows.write_bytes(npy((2, 1), [0, 1]))
CASES = [
    (["--describe"], 0, "curve\n  input 'x': float32[?,1]\n  output 'y': float32[?,1]\n"),
    (["--input", f"x={rows}"], 0, "y: [["),
    (["--input", str(rows), "--output", str(given)], 0, ""),
    (["--input", str(rows), "--ir", "traced"], 0, "tensor<2x1xf32>"),
    ([], 2, "'x' is not given; it is float32[?,1]"),
    (["--input", "z=1"], 2, "there is no input 'z'; they are x"),
    (["--input", str(rows), str(rows)], 2, "there are more inputs than the 1 that the model takes"),
    (["--input", f"x={rows}", f"x={rows}"], 2, "'x' is given twice"),
    (["--input", "x=1"], 1, "is float32[?,1]; float32[] was given"),
    (["--function", "f"], 2, "--function is for files of functions"),
    (["--input", str(rows), "--output", str(given), str(given)], 2, "there are more outputs than the 1"),
]
faults = 0
for options, code, text in CASES:
    done = subprocess.run([run, model, *options], capture_output=True, text=True)
    if done.returncode != code or text not in done.stdout + done.stderr:
        print(f"{options}: {done.returncode}, expected {code} and {text!r}\n{done.stdout[:2000]}{done.stderr[:2000]}")
        faults += 1
# cos(0) and cos(2), as the network has learnt them.
values = struct.unpack("<2f", given.read_bytes()[-8:])
if abs(values[0] - 1) > 0.1 or abs(values[1] + 0.416) > 0.1:
    print(f"the results are {values}")
    faults += 1
print(f"{len(CASES) + 1} cases, {faults} faults")
sys.exit(faults > 0)
