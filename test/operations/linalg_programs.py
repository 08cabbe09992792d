"""The values that LinalgProgramsTest.cpp compares with, by NumPy and SciPy. Prints them with the versions.

    python3 test/operations/linalg_programs.py
"""
import numpy as np
import scipy
import scipy.linalg
from scipy.stats import multivariate_normal

print(f"numpy {np.__version__}, scipy {scipy.__version__}")
t = np.arange(12.0)
y = np.sin(t) + 0.1 * np.cos(37 * t)


def process(length, scale, noise):
    k = scale**2 * np.exp(-0.5 * ((t[:, None] - t) / length) ** 2) + noise**2 * np.eye(12)
    return -multivariate_normal(np.zeros(12), k).logpdf(y)


print("process", repr(process(1.3, 0.8, 0.3)))


def filter(drift, noise):
    """The joint density of all measurements, and no recursion."""
    move, see = np.array([[1.0, 1], [0, 1]]), np.array([1.0, 0])
    q = drift * np.array([[1 / 3, 0.5], [0.5, 1]])
    n, covariance = 12, np.zeros((12, 12))
    p = 100 * np.eye(2)
    marginal = []
    for _ in range(n):
        p = move @ p @ move.T + q
        marginal.append(p)
    for i in range(n):
        for j in range(i, n):
            covariance[i, j] = covariance[j, i] = see @ marginal[i] @ np.linalg.matrix_power(move, j - i).T @ see
    return -multivariate_normal(np.zeros(n), covariance + noise * np.eye(n)).logpdf(y)


print("filter", repr(filter(0.2, 0.05)))
a, b = np.array([[1.0, 0.1], [0.3, 0.9]]), np.array([[0.0], [0.2]])
p = scipy.linalg.solve_discrete_are(a, b, np.diag([1.0, 0.5]), np.array([[0.3]]))
x = np.array([1.0, -2.0])
print("regulator", repr(x @ p @ x))
s = 1 + 0.25 * np.arange(9)
k = np.diag(s[:-1] + s[1:]) - np.diag(s[1:-1], 1) - np.diag(s[1:-1], -1)
print("frequency", repr(np.linalg.eigvalsh(k)[0]))
m = np.cos(np.arange(25.0)).reshape(5, 5)
print("logarithm", repr(np.linalg.slogdet(m @ m.T + np.eye(5))[1]))
