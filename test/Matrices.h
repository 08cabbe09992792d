// Operations of linear algebra, which tests that draw or make any operands leave out: most matrices are singular, have
// no factor, or have more than one choice of them. The tests of linear algebra have matrices of all sizes.
#ifndef CALQUE_TEST_MATRICES_H
#define CALQUE_TEST_MATRICES_H

#include <set>
#include <string_view>

namespace calque::testing {

inline const std::set<std::string_view> kOfMatrices{"cholesky",
                                                    "triangular_solve",
                                                    "lu_factor",
                                                    "lu_solve",
                                                    "matrix_inverse",
                                                    "determinant",
                                                    "adjugate",
                                                    "slogdet",
                                                    "qr",
                                                    "qr_complete",
                                                    "eigh",
                                                    "svd",
                                                    "svd_full",
                                                    "pseudo_inverse",
                                                    "expm",
                                                    "eig",
                                                    "schur",
                                                    "sylvester",
                                                    "sqrtm",
                                                    "logm",
                                                    "banded_solve",
                                                    "positive_banded_solve"};

} // namespace calque::testing
#endif
