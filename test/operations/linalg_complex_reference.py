"""Prints the numbers that LinalgComplexTest.cpp and LinalgBandedTest.cpp compare with: made with NumPy 2.4.6 and SciPy 1.17.1."""
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
