"""Prints the numbers that LinalgSpectralTest.cpp and LinalgSolveTest.cpp compare with: made with NumPy 2.4.6."""
import numpy as np

a = np.array([[1.0, 2, 3], [4, 5, 6]])
for order in ("fro", "nuc", 2, -2, 1, -1, np.inf, -np.inf):
    print("norm", order, repr(float(np.linalg.norm(a, order))))
b = np.array([[1.0, 2], [3, 4]])
for order in (2, -2, 1):
    print("cond", order, repr(float(np.linalg.cond(b, order))))
print("lstsq", np.linalg.lstsq(np.array([[1.0, 0], [1, 1], [1, 2]]), np.array([6.0, 0, 0]), rcond=None)[0])
print("lstsq", np.linalg.lstsq(np.array([[1.0, 1], [2, 2]]), np.array([2.0, 4]), rcond=None)[0])
