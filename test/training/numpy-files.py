"""Fails unless NumPy reads what calque-numpy-files writes, and the other way around: numpy-files.py PROGRAM"""
import pathlib
import subprocess
import sys
import tempfile

import numpy

program = sys.argv[1]
expected = {
    "flags": numpy.array([True, False]),
    "integers": numpy.arange(1, 7, dtype="int32").reshape(2, 3),
    "long": numpy.array([1 << 40]),
    "floats": numpy.array([[[0.5], [-1]]], dtype="float32"),
    "scalar": numpy.array(0.25, dtype="float32"),
    "double": numpy.array(0.1),
    "bytes": numpy.array([0, 200], dtype="uint8"),
    "wide": numpy.array([2**64 - 1], dtype="uint64"),
    "half": numpy.array([0.5, 65504], dtype="float16"),
    "none": numpy.zeros((0, 3), dtype="float32"),
}
with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    subprocess.run([program, "write", name], check=True)
    loaded = {key: numpy.load(folder / (key + ".npy")) for key in expected}
    for every in (loaded, numpy.load(folder / "plain.npz"), numpy.load(folder / "packed.npz")):
        assert set(every) == set(expected)
        for key, array in expected.items():
            assert every[key].dtype == array.dtype and every[key].shape == array.shape, key
            assert (every[key] == array).all(), key

    numpy.save(folder / "fortran.npy", numpy.asfortranarray(numpy.arange(6, dtype=">f8").reshape(2, 3)))
    arrays = {"bytes": numpy.array([0, 255], dtype="uint8"), "half": numpy.array([[1.5]], dtype="float16"), "flag": numpy.array(True)}
    numpy.savez(folder / "savez.npz", **arrays)
    numpy.savez_compressed(folder / "compressed.npz", **arrays)
    printed = subprocess.run([program, "read", name], check=True, capture_output=True, text=True).stdout.splitlines()
    arrays = sorted(["bytes uint8 [2] 0 255", "half float16 [1,1] 1.5", "flag bool [] 1"])
    assert printed == ["fortran float64 [2,3] 0 1 2 3 4 5", *arrays, *arrays], printed
print("NumPy", numpy.__version__, "and Calque read each other's files")
