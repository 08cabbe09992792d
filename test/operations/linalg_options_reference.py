"""Prints LinalgOptionsReferences.inc, the numbers that LinalgOptionsTest.cpp compares with: made with NumPy 2.4.6 and SciPy 1.17.1.

Every number in the operands is one of float32, so that all element types have the same operands.
"""
import itertools

import numpy as np
import scipy
import scipy.linalg as la

A = np.array([[4 + 1j, 1 - 2j, 0.5j], [-1 + 1j, 3, 2 + 1j], [0.5, -1 + 3j, 5 - 1j]])
B = np.array([[1, 2j], [3 - 1j, -4], [5, 6 + 1j]])
WIDE = np.array([[1 + 1j, 2, 3j], [4 - 1j, 5j, 6 + 2j]])
BAND = np.array([[0, 0, -1 + 1j], [0, 2 + 1j, 1 - 1j], [5 + 1j, 4 - 2j, -6 + 2j], [1 + 2j, 2 - 1j, 0]])
HALF = np.array([[0, 0, 0.5 + 1j], [0, -1 + 1j, 2 - 1j], [4, 5, 6]])


def references(part):
    a, b, wide, band, half = (part(x) for x in (A, B, WIDE, BAND, HALF))
    bh, vector, small = b.conj().T, b[:, 0], a[:2, :2]
    h = a @ a.conj().T + np.eye(3)
    yield "cholesky upper", np.linalg.cholesky(h).conj().T
    yield "cholesky lower", np.linalg.cholesky(h)
    for lower, trans, unit, left in itertools.product((0, 1), (0, 1, 2), (0, 1), (0, 1)):
        t = np.tril(a) if lower else np.triu(a)
        t = t - np.diag(np.diag(t)) + np.eye(3) if unit else t
        op = (t, t.T, t.conj().T)[trans]
        x = la.solve(op, b) if left else la.solve(op.T, bh.T).T
        yield f"triangular_solve {lower}{trans}{unit}{left}", x
    yield "cho_solve", la.cho_solve((np.linalg.cholesky(h), True), b)
    yield "cho_solve upper", la.cho_solve((np.linalg.cholesky(h).conj().T, False), b)
    for trans in (0, 1, 2):
        yield f"lu_solve {trans}", la.lu_solve(la.lu_factor(a), b, trans)
    for name, x in zip("plu", la.lu(a)):
        yield f"lu {name}", x
    yield "solve vector", la.solve(a, vector)
    yield "inv", la.inv(a)
    yield "det", la.det(a)
    yield "slogdet sign", np.linalg.slogdet(a).sign
    yield "slogdet logarithm", np.linalg.slogdet(a).logabsdet
    yield "qr complete", np.abs(la.qr(wide.T)[1])
    yield "qr", np.abs(la.qr(a)[1])
    yield "eigvalsh", la.eigvalsh(h)
    yield "svdvals", la.svdvals(wide)
    yield "svd full", np.abs(la.svd(wide)[2])
    for tolerance in (0.25, 0.5):
        yield f"pinv {tolerance}", np.linalg.pinv(wide, rcond=tolerance)
        yield f"lstsq {tolerance}", np.linalg.lstsq(wide, wide[:, :2], rcond=tolerance)[0]
        yield f"matrix_rank {tolerance}", np.linalg.matrix_rank(wide, rtol=tolerance)
    for order in (-np.inf, -1, 0, 0.5, 1, 2, 3, np.inf):
        yield f"vector_norm {order}", np.linalg.norm(wide.ravel(), order)
        yield f"vector_norm {order} of columns", np.linalg.norm(wide, order, axis=0) if order != 0 else np.count_nonzero(wide, axis=0)
    for order in ("fro", "nuc", 2, -2, 1, -1, np.inf, -np.inf):
        yield f"matrix_norm {order}", np.linalg.norm(wide, order)
        yield f"cond {order}", np.linalg.cond(a, order)
    for exponent in (-2, -1, 0, 1, 5):
        yield f"matrix_power {exponent}", np.linalg.matrix_power(a, exponent)
    for name in ("expm", "sqrtm", "logm"):
        yield name, getattr(la, name)(a)
    yield "eigvals", np.sort_complex(la.eigvals(a))
    yield "schur", la.schur(h)[1] @ la.schur(h)[0] @ la.schur(h)[1].conj().T
    yield "solve_sylvester", la.solve_sylvester(a, small, b)
    yield "solve_continuous_lyapunov", la.solve_continuous_lyapunov(a, h)
    yield "solve_discrete_lyapunov", la.solve_discrete_lyapunov(a / 8, h)
    yield "toeplitz", la.toeplitz(vector)
    yield "toeplitz row", la.toeplitz(vector, a[0])
    yield "solve_toeplitz", la.solve_toeplitz((a[0], a[1]), b)
    yield "solve_tridiagonal", la.solve(np.diag(a[0, 1:], -1) + np.diag(a[0, 0] + a[2]) + np.diag(a[1, :2], 1), b)
    yield "solve_banded", la.solve_banded((1, 2), band, b)
    lower = np.zeros_like(half)
    for k in range(3):
        lower[k, : 3 - k] = half[2 - k, k:].conj()
    for name, which, is_lower in (("upper", half, False), ("lower", lower, True)):
        factor = la.cholesky_banded(which, lower=is_lower)
        for k in range(3):  # what SciPy leaves outside of the matrix
            factor[(k, slice(3 - k, None)) if is_lower else (2 - k, slice(k))] *= 0
        yield f"solveh_banded {name}", la.solveh_banded(which, b, lower=is_lower)
        yield f"cholesky_banded {name}", factor
        yield f"cho_solve_banded {name}", la.cho_solve_banded((factor, is_lower), b)
    yield "orthogonalise", la.qr(a)[0] * np.sign(np.diag(la.qr(a)[1]).real)


def number(x):
    return "0" if x == 0 else repr(float(x)).removesuffix(".0").replace("inf", "kInfinity")


def line(name, x):
    numbers = ", ".join("{" + number(v.real) + ", " + number(v.imag) + "}" for v in np.ravel(np.asarray(x, complex)))
    return f'    {{"{name}", {{{numbers}}}}},'


if __name__ == "__main__":
    print(f"// Of linalg_options_reference.py: NumPy {np.__version__} and SciPy {scipy.__version__}.")
    for kind, part in (("Real", np.real), ("Complex", np.asarray)):
        print(f"const std::map<std::string, std::vector<Complex>> k{kind}References = {{")
        print("\n".join(line(name, x) for name, x in references(part)))
        print("};")
