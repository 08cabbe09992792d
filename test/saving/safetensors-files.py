"""Fails unless Python's safetensors reads what calque-safetensors-files writes, and the other way around:
safetensors-files.py PROGRAM"""
import pathlib
import subprocess
import sys
import tempfile

import numpy
import safetensors.numpy

program = sys.argv[1]
expected = {
    "flags": numpy.array([True, False]),
    "integers": numpy.arange(1, 7, dtype="int32").reshape(2, 3),
    "long": numpy.array([1 << 40]),
    "floats": numpy.array([[[0.5], [-1]]], dtype="float32"),
    "doubles": numpy.array([0.1]),
    "scalar": numpy.array(0.25, dtype="float32"),
    "none": numpy.zeros((0, 3), dtype="float32"),
    'ä "x"': numpy.ones(2, dtype="float32"),
}


def check(loaded):
    assert set(loaded) == set(expected), loaded.keys()
    for key, array in expected.items():
        assert loaded[key].dtype == array.dtype and loaded[key].shape == array.shape, key
        assert (loaded[key] == array).all(), key


with tempfile.TemporaryDirectory() as name:
    ours, theirs = (str(pathlib.Path(name) / file) for file in ("ours.safetensors", "theirs.safetensors"))
    subprocess.run([program, "write", ours], check=True)
    check(safetensors.numpy.load_file(ours))
    check(safetensors.numpy.load(pathlib.Path(ours).read_bytes()))
    with safetensors.safe_open(ours, framework="numpy") as file:
        metadata = file.metadata()
        assert metadata["epoch"] == "3" and metadata["ä"] == '"quoted" \\', metadata
        assert (file.get_slice("integers")[1:, :2] == [[4, 5]]).all()

    safetensors.numpy.save_file(expected, theirs, metadata={"by": "Python"})
    printed = subprocess.run([program, "read", theirs], check=True, capture_output=True, text=True).stdout.splitlines()
    assert printed == [
        "doubles float64 [1] 0.1",
        "flags bool [2] 1 0",
        "floats float32 [1,2,1] 0.5 -1",
        "integers int32 [2,3] 1 2 3 4 5 6",
        "long int64 [1] 1099511627776",
        "none float32 [0,3]",
        "scalar float32 [] 0.25",
        'ä "x" float32 [2] 1 1',
        "by=Python",
    ], printed
print("safetensors", safetensors.__version__, "and Calque read each other's files")
