"""Runs modules that Calque has written by JAX, and compares with Calque's results.

    stablehlo_export.py CALQUE-STABLEHLO-EXPORT FOLDER [NAME...]

With names, or "all", it takes the modules that are in the folder already.
Needs the packages numpy and jax (0.10.2); without them it says so and ends with status 77.
"""
import collections
import pathlib
import shutil
import subprocess
import sys

try:
    import jax
    import ml_dtypes
    import numpy
    jax.config.update("jax_enable_x64", True)
    jax.config.update("jax_platforms", "cpu")
except ImportError as missing:
    print(f"skipped: {missing}; it takes the packages numpy and jax")
    sys.exit(77)

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "examples"))
import to_jax

export, folder, names = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3:]
if not folder.exists() or not names:
    shutil.rmtree(folder, ignore_errors=True)
    subprocess.run([export, str(folder)], check=True, stdout=subprocess.DEVNULL)
counts, faults = collections.Counter(), []


def array(path, like):
    """A tensor of Calque's; one of bfloat16 is written as float32, and complex numbers are pairs in a module."""
    x = numpy.load(path)
    if x.dtype.kind == "c":
        x = numpy.stack([x.real, x.imag], -1)
    return x.astype(ml_dtypes.bfloat16) if "bf16" in like else x


def close(got, expected):
    if got.dtype != expected.dtype or got.shape != expected.shape:
        return f"{got.dtype}{list(got.shape)}, expected {expected.dtype}{list(expected.shape)}"
    if got.dtype.kind in "biu":
        return None if numpy.array_equal(got, expected) else f"{got.ravel()[:8]}, expected {expected.ravel()[:8]}"
    unit = 2e-2 if got.dtype == ml_dtypes.bfloat16 else {2: 2e-3, 4: 5e-5, 8: 1e-10}[got.dtype.itemsize]
    a, b = got.astype("f8"), expected.astype("f8")
    with numpy.errstate(invalid="ignore"):
        bad = ~((abs(a - b) <= unit * (1 + abs(b))) | (a == b) | (numpy.isnan(a) & numpy.isnan(b)))
    return f"{a[bad][:4]}, expected {b[bad][:4]}" if bad.any() else None


for path in sorted(folder.glob("*.mlir")):
    if names and names != ["all"] and path.stem not in names:
        continue
    counts["modules"] += 1
    text = path.read_text()
    arguments, results = text[text.index("@main("):text.index("{\n", text.index("@main("))].split(") -> (")
    types = [part.split(" ")[0] for part in arguments.split("tensor<")[1:]], results.split("tensor<")[1:]
    try:
        given = [array(folder / f"{path.stem}.in{i}.npy", like) for i, like in enumerate(types[0])]
        made = to_jax.load(path)(*given)
    except Exception as error:
        faults.append(f"{path.stem}: {str(error)[:600]}")
        continue
    wrong = []
    for i, got in enumerate(made):
        wanted = folder / f"{path.stem}.out{i}.npy"
        if wanted.exists():
            wrong.append((i, close(numpy.asarray(got), array(wanted, types[1][i]))))
    wrong = [f"result {i}: {text}" for i, text in wrong if text]
    if wrong:
        faults.append(f"{path.stem}: {'; '.join(wrong)}")
    else:
        counts["with Calque's results"] += 1
for fault in faults:
    print(fault)
for text, count in counts.items():
    print(f"{count} {text}")
print(f"jax {jax.__version__}, {len(faults)} faults")
sys.exit(bool(faults))
