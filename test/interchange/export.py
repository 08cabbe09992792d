"""Checks models that Calque has written: ONNX's checker accepts them, and ONNX Runtime gives Calque's results.

    export.py CALQUE-ONNX-EXPORT FOLDER [--all]

Needs the packages numpy, onnx (1.20.0) and onnxruntime; without them it says so and ends with status 77. What ONNX
Runtime has no kernel for is counted, not failed; the checker sees it all the same.
"""
import collections
import pathlib
import shutil
import subprocess
import sys

try:
    import numpy
    import onnx
    import onnxruntime
except ImportError as missing:
    print(f"skipped: {missing}; it takes the packages numpy, onnx and onnxruntime")
    sys.exit(77)

export, folder = sys.argv[1], pathlib.Path(sys.argv[2])
shutil.rmtree(folder, ignore_errors=True)
subprocess.run([export, str(folder)], check=True, stdout=subprocess.DEVNULL)
options = onnxruntime.SessionOptions()
options.log_severity_level = 4
options.intra_op_num_threads = 1
counts, lacking, faults = collections.Counter(), collections.Counter(), []


def close(got, expected):
    if got.dtype != expected.dtype or got.shape != expected.shape:
        return f"{got.dtype}{list(got.shape)}, expected {expected.dtype}{list(expected.shape)}"
    if got.dtype.kind != "f":
        return None if numpy.array_equal(got, expected) else f"{got.ravel()[:8]}, expected {expected.ravel()[:8]}"
    unit = {2: 2e-3, 4: 5e-5, 8: 1e-10}[got.dtype.itemsize]
    a, b = got.astype("f8"), expected.astype("f8")
    bad = ~((abs(a - b) <= unit * (1 + abs(b))) | (a == b) | (numpy.isnan(a) & numpy.isnan(b)))
    return f"{a[bad][:4]}, expected {b[bad][:4]}" if bad.any() else None


for path in sorted(folder.glob("*.onnx")):
    counts["models"] += 1
    try:
        onnx.checker.check_model(str(path), full_check=True)
        counts["accepted by the checker"] += 1
    except Exception as error:
        faults.append(f"{path.stem}: the checker: {str(error)[:300]}")
        continue
    try:
        session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    except Exception as error:
        if "NOT_IMPLEMENTED" in str(error):
            counts["without a kernel in ONNX Runtime"] += 1
            lacking[str(error).split("implementation for ")[-1].split(" node")[0]] += 1
        else:
            faults.append(f"{path.stem}: {str(error)[:300]}")
        continue
    if any("bfloat16" in port.type for port in [*session.get_inputs(), *session.get_outputs()]):
        counts["of bfloat16, which NumPy has not"] += 1
        continue
    given = {port.name: numpy.load(folder / f"{path.stem}.in{i}.npy") for i, port in enumerate(session.get_inputs())}
    try:
        results = session.run(None, given)
    except Exception as error:
        faults.append(f"{path.stem}: {str(error)[:300]}")
        continue
    wrong = [close(numpy.asarray(got), numpy.load(folder / f"{path.stem}.out{i}.npy")) for i, got in enumerate(results)]
    wrong = [f"result {i}: {text}" for i, text in enumerate(wrong) if text]
    if wrong:
        faults.append(f"{path.stem}: {'; '.join(wrong)}")
    else:
        counts["with Calque's results"] += 1
for fault in faults:
    print(fault)
for text, count in counts.items():
    print(f"{count} {text}")
print("no kernel:", dict(lacking))
print(f"onnx {onnx.__version__}, onnxruntime {onnxruntime.__version__}, {len(faults)} faults")
sys.exit(bool(faults))
