"""Values of LinearTest.cpp and SparseTest.cpp by SciPy, printed as C++: linear.py. Those in the tests are of SciPy 1.17.1, NumPy 2.4.6."""
import numpy as np
import scipy.sparse as sparse
import scipy.sparse.linalg as linalg

n = 6
definite = np.diag(3.0 + np.arange(n) % 3) - np.eye(n, k=1) - np.eye(n, k=-1)
indefinite = definite - 3.0 * np.eye(n)
general = np.diag(3.0 + np.arange(n) % 3) + 0.5 * np.eye(n, k=1) - np.eye(n, k=-1)
b = np.arange(n) + 1.0


def show(name, values):
    print(name, "{" + ", ".join(f"{v:.15g}" for v in np.ravel(values)) + "}")


for name, found in {
    "cg": linalg.cg(definite, b, rtol=1e-14),
    "minres": (linalg.minres(indefinite, b, rtol=1e-15)[0], 0),
    "bicgstab": linalg.bicgstab(general, b, rtol=1e-14),
    "gmres": linalg.gmres(general, b, rtol=1e-14),
}.items():
    assert found[1] == 0
    show(name, found[0])
show("lsqr tall", linalg.lsqr(general[:, :4], b, atol=1e-15, btol=1e-15)[0])
show("lsqr wide", linalg.lsqr(general[:4], b[:4], atol=1e-15, btol=1e-15)[0])
show("lsqr damped", linalg.lsqr(general, b, damp=1.5, atol=1e-15, btol=1e-15)[0])
values = np.linalg.eigvalsh(definite)
show("lobpcg", linalg.lobpcg(definite, np.eye(n)[:, :1] + 0.1, tol=1e-12, maxiter=200)[0])
show("eigenvalues", values)
matrix = sparse.csr_matrix(general)
show("indptr", matrix.indptr)
show("indices", matrix.indices)
show("product", matrix @ b)
show("transposed product", matrix.T @ b)
show("spsolve", sparse.linalg.spsolve(matrix.tocsc(), b))
show("splu transposed", sparse.linalg.splu(matrix.tocsc()).solve(b, trans="T"))
show("spsolve_triangular", sparse.linalg.spsolve_triangular(sparse.csr_matrix(np.tril(general)), b, lower=True))
