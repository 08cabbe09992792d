"""Prints the numbers that LinalgGeneralTest.cpp compares with: made with NumPy 2.4.6 and SciPy 1.17.1."""
import numpy as np
import scipy
import scipy.linalg as la


def show(name, x):
    print(name, "{" + ", ".join(repr(float(v)) for v in np.ravel(x)) + "}")


if __name__ == "__main__":
    print(np.__version__, scipy.__version__)
    a = np.array([[4.0, 1, -2, 0.5], [-1, 3, 1, 2], [0.5, -1, 5, 1], [1, 0, -3, 2]])
    b = np.array([[1.0, 2, 0], [-1, 0.5, 1], [0, 0.25, 2]])
    c = np.arange(12.0).reshape(4, 3) - 5
    q = np.array([[2.0, 1, 0, 0], [1, 3, 1, 0], [0, 1, 4, 1], [0, 0, 1, 5]])
    w = np.linalg.eigvals(a)
    w = w[np.lexsort((w.imag, w.real))]
    show("eigvals real", w.real)
    show("eigvals imag", w.imag)
    show("sqrtm", la.sqrtm(a))
    show("logm", la.logm(a))
    show("sylvester", la.solve_sylvester(a, b, c))
    show("lyapunov", la.solve_continuous_lyapunov(a, q))
    show("discrete", la.solve_discrete_lyapunov(a / 8, q))
    show("toeplitz", la.toeplitz([1.0, 2, 3], [9.0, 5, 6, 7]))
    show("solve_toeplitz", la.solve_toeplitz(([4.0, 1, 0.5], [4.0, -1, 2]), [1.0, 2, 3]))
    qr, tau = la.lapack.dgeqrf(a[:, :3])[:2]
    show("geqrf", qr)
    show("tau", tau)
    show("orgqr", la.lapack.dorgqr(qr, tau)[0])
