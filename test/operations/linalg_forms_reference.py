"""Prints LinalgFormsReferences.inc, the numbers that LinalgFormsTest.cpp and LinalgRiccatiTest.cpp compare with: made with NumPy 2.4.6
and SciPy 1.17.1. Complex numbers are all real parts, and then all imaginary ones."""
import numpy as np
import scipy
import scipy.linalg as la


def number(x):
    return "0" if x == 0 else repr(float(x)).removesuffix(".0")


def show(name, x):
    x = np.asarray(x)
    if np.iscomplexobj(x):
        x = np.stack([x.real, x.imag])
    print(f'    {{"{name}", {{{", ".join(map(number, np.ravel(x)))}}}}},')


if __name__ == "__main__":
    print(f"// Of linalg_forms_reference.py: NumPy {np.__version__} and SciPy {scipy.__version__}.")
    print("const std::map<std::string, std::vector<double>> kFormReferences = {")
    a = np.array([[4.0, 1, -2, 0.5], [-1, 3, 1, 2], [0.5, -1, 5, 1], [1, 0, -3, 2]])
    q = np.array([[2.0, 1, 0, 0], [1, 3, 1, 0], [0, 1, 4, 1], [0, 0, 1, 5]])
    b = np.array([[1.0, 0], [0.5, -1], [0, 2], [1, 1]])
    r = np.array([[2.0, 0.5], [0.5, 1]])
    z = a + 0.5j * a.T
    hermitian = q + 1j * np.array([[0, 1, 0, -0.5], [-1, 0, 1, 0], [0, -1, 0, 0], [0.5, 0, 0, 0]])
    c = b * (1 - 0.5j)

    w, v = la.eigh(a + a.T, q)
    show("eigh values", w)
    show("eigh projector", v[:, :1] @ v[:, :1].T)
    w, v = la.eigh(z + z.conj().T, hermitian)
    show("eigh complex values", w)
    show("eigh complex projector", v[:, :1] @ v[:, :1].conj().T)

    x = np.arange(24.0).reshape(2, 3, 4) - 7
    for order in (None, "fro", "nuc", 2, -2, 1, -1, np.inf, -np.inf):
        show(f"matrices {order}", np.linalg.norm(x, order, (0, 2)))
        show(f"rows and columns exchanged {order}", np.linalg.norm(x, order, (2, 0)))
    for order in (None, 0, 1, -1, 2, 3, 0.5, np.inf, -np.inf):
        show(f"vectors {order}", np.linalg.norm(x, order, 1))
    show("norm all", np.linalg.norm(x))
    show("norm matrix", np.linalg.norm(x[0], 1))
    show("norm vector", np.linalg.norm(x[0, 0], 1))
    show("norm complex", np.linalg.norm(z, "nuc"))

    show("circulant", la.circulant([1.0, 2, 3]))
    show("hankel", la.hankel([1.0, 2, 3]))
    show("hankel with a row", la.hankel([1.0, 2, 3], [9.0, 5, 6, 7]))
    show("block_diag", la.block_diag([[1.0, 2], [3, 4]], 5.0, [6.0, 7, 8], [[9.0], [10]]))
    show("multi_dot", np.linalg.multi_dot([b[:, 0], a, q, b, r]))
    for name, m in (("square", a), ("tall", b), ("wide", b.T), ("complex", z)):
        for side in ("right", "left"):
            u, p = la.polar(m, side)
            show(f"polar {name} {side} u", u)
            show(f"polar {name} {side} p", p)

    e = np.array([[1, 0.1, 0.2, 0], [0, 1.2, 0, 0.1], [0.3, 0, 1.1, 0.2], [0, -0.1, 0, 1.3]])
    s = 0.1 * np.arange(8.0).reshape(4, 2)
    for name, solve in (("continuous", la.solve_continuous_are), ("discrete", la.solve_discrete_are)):
        show(name, solve(a, b, q, r))
        show(name + " e s", solve(a / 4, b, q, r, e, s))
        show(name + " complex", solve(z, c, hermitian, r))
        show(name + " without a cost", solve(a, b, 0 * q, r))
    print("};")
