"""Prints the numbers that the LinalgComplex*Test.cpp and LinalgBandedTest.cpp compare with: made with NumPy 2.4.6 and SciPy 1.17.1."""
import numpy as np
import scipy
import scipy.linalg as la


def show(call, x, check="expectNumbers"):
    x = np.ravel(np.asarray(x))
    if np.iscomplexobj(x):
        print(f"  {check}({call}, {{" + ", ".join(f"{{{float(v.real)!r}, {float(v.imag)!r}}}" for v in x) + "});")
    else:
        print(f"  expectReals({call}, {{" + ", ".join(repr(float(v)) for v in x) + "});")


if __name__ == "__main__":
    print(np.__version__, scipy.__version__)
    a = np.array([[4 + 1j, 1 - 2j, 0.5j], [-1 + 1j, 3, 2 + 1j], [0.5, -1 + 3j, 5 - 1j]])
    wide = np.array([[1 + 1j, 2, 3j], [4 - 1j, 5j, 6 + 2j]])
    h = a @ a.conj().T
    show("linalg::cholesky(h)", np.linalg.cholesky(h))
    show("linalg::solve(kA, b)", np.linalg.solve(a, np.array([1, 2j, 3 - 1j])))
    show("linalg::inv(kA)", np.linalg.inv(a))
    show("linalg::det(kA)", np.linalg.det(a))
    sign, logarithm = np.linalg.slogdet(a)
    show("linalg::slogdet(kA).sign", sign)
    show("linalg::slogdet(kA).logarithm", logarithm)
    show("linalg::eigvalsh(h)", np.linalg.eigvalsh(h))
    values, vectors = np.linalg.eigh(h)
    largest = np.take_along_axis(vectors, np.argmax(np.abs(vectors), 0)[None], 0)
    show("linalg::eigh(h).vectors", vectors * largest.conj() / np.abs(largest))
    show("linalg::svdvals(kWide)", np.linalg.svd(wide, compute_uv=False))
    show("linalg::pinv(kWide)", np.linalg.pinv(wide))
    show("linalg::lstsq(kWide, c)", np.linalg.lstsq(wide, np.array([1, 1j]), rcond=None)[0])
    q, r = np.linalg.qr(a)
    signs = np.sign(np.diag(r).real)
    show("linalg::orthogonalise(kA)", q * signs)
    show("linalg::expm(kA)", la.expm(a), "expectNumbers")
    show("linalg::matrix_power(kA, -2)", np.linalg.matrix_power(a, -2))
    for order in ("fro", "nuc", 2, -2, 1, -1, np.inf, -np.inf):
        name = {"fro": "Frobenius", "nuc": "Nuclear", 2: "Two", -2: "MinusTwo", 1: "One", -1: "MinusOne"}.get(order)
        name = name or ("Infinity" if order > 0 else "MinusInfinity")
        show(f"linalg::matrix_norm(kWide, linalg::MatrixNorm::{name})", np.linalg.norm(wide, order))
    for order, name in ((2, "Two"), (1, "One")):
        show(f"linalg::cond(kA, linalg::MatrixNorm::{name})", np.linalg.cond(a, order))
    for order in (1, 2, 3):
        show(f"linalg::vector_norm(kWide, {{}}, {{.order = {order}}})", np.linalg.norm(wide.ravel(), order))
    (qr, tau), _ = la.qr(a, mode="raw")
    show("geqrf", qr)
    show("tau", tau)
    show("linalg::householder_product(reflections, tau)", la.lapack.zungqr(qr, tau)[0])
    print("banded")
    ab = np.array([[0, 0, -1, 2, 0.5], [0, 2, 1, 1, 3], [5, 4, -6, 5, 2], [1, 2, 0.25, 1, 0]])
    show("linalg::solve_banded(1, 2, kBand, b)", la.solve_banded((1, 2), ab, np.array([1.0, 2, 3, 4, 5])))
    positive = np.array([[0, 0, 0.5, -1, 1], [0, -1, 2, 0.25, 1], [4, 5, 6, 7, 8]])
    show("linalg::solveh_banded(kPositive, b)", la.solveh_banded(positive, np.array([1.0, 2, 3, 4, 5])))
    print("complex functions of matrices, and equations")
    negative = np.array([[-4 + 0j, 1 + 2j, 3], [0, -9, 1j], [0, 0, -1]])
    for name in ("sqrtm", "logm"):
        show(f"linalg::{name}(kA)", getattr(la, name)(a))
        show(f"linalg::{name}(kNegative)", getattr(la, name)(negative))
    b = np.array([[1 + 1j, 2], [-1j, 0.5 - 2j]])
    c = np.array([[1, 2j], [3 - 1j, -4], [5, 6 + 1j]])
    q = np.array([[2, 1j, 0], [1, 3 + 1j, 1], [0.5j, 1, 4]])
    show("linalg::solve_sylvester(kA, kB, kC)", la.solve_sylvester(a, b, c))
    show("linalg::solve_continuous_lyapunov(kA, kQ)", la.solve_continuous_lyapunov(a, q))
    show("linalg::solve_discrete_lyapunov(kA / 8, kQ)", la.solve_discrete_lyapunov(a / 8, q))
    column, row = np.array([4 + 1j, 1 - 2j, 0.5j]), np.array([9, -1 + 1j, 2])
    show("linalg::toeplitz(column)", la.toeplitz(column))
    show("linalg::toeplitz(column, row)", la.toeplitz(column, row))
    v = np.array([1 + 1j, 2, 3 - 2j])
    show("linalg::solve_toeplitz(column, row, v)", la.solve_toeplitz((column, row), v))
    print("complex bands")
    ab = ab + 1j * np.array([[0, 0, 1, -2, 0.25], [0, 1, -1, 3, 1], [1, -2, 2, 0.5, 1], [2, -1, 1, 4, 0]])
    w = np.array([1 + 2j, 2, 3 - 1j, 4j, 5])
    show("linalg::solve_banded(1, 2, kBand, w)", la.solve_banded((1, 2), ab, w))
    upper = positive + 1j * np.array([[0, 0, 1, 0.5, -0.5], [0, 1, -1, 0.5, 1], [0, 0, 0, 0, 0]])
    lower = np.zeros((3, 5), complex)
    for k in range(3):
        lower[k, : 5 - k] = upper[2 - k, k:].conj()
    for which, form, name in ((upper, "", "kUpper"), (lower, ", {.lower = true}", "kLower")):
        isLower = bool(form)
        factor = la.cholesky_banded(which, lower=isLower)
        for k in range(3):  # what SciPy leaves outside of the matrix
            if isLower and k:
                factor[k, 5 - k :] = 0
            if not isLower:
                factor[2 - k, :k] = 0
        show(f"linalg::solveh_banded({name}, w{form})", la.solveh_banded(which, w, lower=isLower))
        show(f"linalg::cholesky_banded({name}{form})", factor)
        show(f"linalg::cho_solve_banded(linalg::cholesky_banded({name}{form}), w{form})", la.cho_solve_banded((factor, isLower), w))
    below, diagonal, above = np.array([0, 1 - 1j, 2j]), np.array([5 + 1j, 4, 6 - 2j]), np.array([1j, 2 - 1j, 0])
    show("linalg::solve_tridiagonal(below, diagonal, above, v)", np.linalg.solve(np.diag(below[1:], -1) + np.diag(diagonal) + np.diag(above[:2], 1), v))
