// BLAS and LAPACK for matrices that are too large for the runtime's own kernels. The library is loaded when it is first
// needed: what the environment variable CALQUE_LAPACK names, a file or `none`, or else libopenblas.so.0 or
// liblapack.so.3.
//
//   const Lapack<double> *lapack = Lapack<double>::get(); // null: there is none
//   OneThread oneThread;                                  // the library's functions run on their callers
//   lapack->potrf("U", &n, a, &n, &info, 1);
//
// Functions are Fortran's: matrices are in column-major order, and the lengths of texts come last. A matrix in
// row-major order is the transposed one in theirs.
#ifndef CALQUE_RUNTIME_LIBRARIES_LAPACK_H
#define CALQUE_RUNTIME_LIBRARIES_LAPACK_H

#include <complex>
#include <cstddef>
#include <cstdint>

namespace calque::runtime {

using LapackInt = int32_t;
using LapackText = const char *;

template <typename T> struct Lapack {
  using Size = const LapackInt *;
  using Length = std::size_t;
  // Levels 2 and 3 of BLAS.
  void (*gemv)(LapackText trans, Size m, Size n, const T *alpha, const T *a, Size lda, const T *x, Size incx,
               const T *beta, T *y, Size incy, Length);
  void (*trsv)(LapackText uplo, LapackText trans, LapackText diag, Size n, const T *a, Size lda, T *x, Size incx,
               Length, Length, Length);
  void (*gemm)(LapackText, LapackText, Size m, Size n, Size k, const T *alpha, const T *a, Size lda, const T *b,
               Size ldb, const T *beta, T *c, Size ldc, Length, Length);
  void (*trsm)(LapackText side, LapackText uplo, LapackText trans, LapackText diag, Size m, Size n, const T *alpha,
               const T *a, Size lda, T *b, Size ldb, Length, Length, Length, Length);
  // Factorisations.
  void (*potrf)(LapackText uplo, Size n, T *a, Size lda, LapackInt *info, Length);
  void (*getrf)(Size m, Size n, T *a, Size lda, LapackInt *pivots, LapackInt *info);
  void (*geqrf)(Size m, Size n, T *a, Size lda, T *tau, T *work, Size lwork, LapackInt *info);
  void (*symv)(LapackText uplo, Size n, const T *alpha, const T *a, Size lda, const T *x, Size incx, const T *beta,
               T *y, Size incy, Length);
  void (*stedc)(LapackText compz, Size n, T *d, T *e, T *z, Size ldz, T *work, Size lwork, LapackInt *iwork,
                Size liwork, LapackInt *info, Length);
  // Of a tridiagonal matrix that two others are joined to: what is solved already, and one root of what is not.
  void (*laed2)(LapackInt *k, Size n, Size n1, T *d, T *q, Size ldq, LapackInt *indxq, T *rho, T *z, T *dlamda, T *w,
                T *q2, LapackInt *indx, LapackInt *indxc, LapackInt *indxp, LapackInt *coltyp, LapackInt *info);
  void (*laed4)(Size n, Size i, const T *d, const T *z, T *delta, const T *rho, T *dlam, LapackInt *info);
  // Singular values and vectors of a bidiagonal matrix.
  void (*bdsdc)(LapackText uplo, LapackText compq, Size n, T *d, T *e, T *u, Size ldu, T *vt, Size ldvt, T *q,
                LapackInt *iq, T *work, LapackInt *iwork, LapackInt *info, Length, Length);
  void (*syevd)(LapackText jobz, LapackText uplo, Size n, T *a, Size lda, T *values, T *work, Size lwork,
                LapackInt *iwork, Size liwork, LapackInt *info, Length, Length);
  void (*gesdd)(LapackText jobz, Size m, Size n, T *a, Size lda, T *s, T *u, Size ldu, T *vt, Size ldvt, T *work,
                Size lwork, LapackInt *iwork, LapackInt *info, Length);

  // Of general matrices: eigenvalues, Schur factors, and the equations of triangular ones.
  void (*geev)(LapackText jobvl, LapackText jobvr, Size n, T *a, Size lda, T *re, T *im, T *vl, Size ldvl, T *vr,
               Size ldvr, T *work, Size lwork, LapackInt *info, Length, Length);
  void (*gees)(LapackText jobvs, LapackText sort, void *select, Size n, T *a, Size lda, LapackInt *sdim, T *re, T *im,
               T *vs, Size ldvs, T *work, Size lwork, LapackInt *bwork, LapackInt *info, Length, Length);
  void (*trsyl)(LapackText trana, LapackText tranb, Size isgn, Size m, Size n, const T *a, Size lda, const T *b,
                Size ldb, T *c, Size ldc, T *scale, LapackInt *info, Length, Length);

  // The library's functions, or null where it can't be loaded.
  static const Lapack *get();
};
template <> const Lapack<float> *Lapack<float>::get();
template <> const Lapack<double> *Lapack<double>::get();

// Of complex numbers. A library may have none of these.
template <typename R> struct Lapack<std::complex<R>> {
  using T = std::complex<R>;
  using Size = const LapackInt *;
  using Length = std::size_t;
  void (*gemv)(LapackText trans, Size m, Size n, const T *alpha, const T *a, Size lda, const T *x, Size incx,
               const T *beta, T *y, Size incy, Length);
  void (*trsv)(LapackText uplo, LapackText trans, LapackText diag, Size n, const T *a, Size lda, T *x, Size incx,
               Length, Length, Length);
  void (*gemm)(LapackText, LapackText, Size m, Size n, Size k, const T *alpha, const T *a, Size lda, const T *b,
               Size ldb, const T *beta, T *c, Size ldc, Length, Length);
  void (*trsm)(LapackText side, LapackText uplo, LapackText trans, LapackText diag, Size m, Size n, const T *alpha,
               const T *a, Size lda, T *b, Size ldb, Length, Length, Length, Length);
  void (*potrf)(LapackText uplo, Size n, T *a, Size lda, LapackInt *info, Length);
  void (*getrf)(Size m, Size n, T *a, Size lda, LapackInt *pivots, LapackInt *info);
  void (*geqrf)(Size m, Size n, T *a, Size lda, T *tau, T *work, Size lwork, LapackInt *info);
  void (*heevd)(LapackText jobz, LapackText uplo, Size n, T *a, Size lda, R *values, T *work, Size lwork, R *rwork,
                Size lrwork, LapackInt *iwork, Size liwork, LapackInt *info, Length, Length);
  void (*gesdd)(LapackText jobz, Size m, Size n, T *a, Size lda, R *s, T *u, Size ldu, T *vt, Size ldvt, T *work,
                Size lwork, R *rwork, LapackInt *iwork, LapackInt *info, Length);
  void (*geev)(LapackText jobvl, LapackText jobvr, Size n, T *a, Size lda, T *values, T *vl, Size ldvl, T *vr,
               Size ldvr, T *work, Size lwork, R *rwork, LapackInt *info, Length, Length);
  void (*gees)(LapackText jobvs, LapackText sort, void *select, Size n, T *a, Size lda, LapackInt *sdim, T *values,
               T *vs, Size ldvs, T *work, Size lwork, R *rwork, LapackInt *bwork, LapackInt *info, Length, Length);
  void (*trsyl)(LapackText trana, LapackText tranb, Size isgn, Size m, Size n, const T *a, Size lda, const T *b,
                Size ldb, T *c, Size ldc, R *scale, LapackInt *info, Length, Length);

  // The library's functions, or null where it can't be loaded or has none.
  static const Lapack *get();
};
template <> const Lapack<std::complex<float>> *Lapack<std::complex<float>>::get();
template <> const Lapack<std::complex<double>> *Lapack<std::complex<double>>::get();

// While one lives, functions of the library run on their callers alone, as the runtime has threads of its own. It then
// sets back what the program had set.
class OneThread {
public:
  OneThread();
  ~OneThread();
  OneThread(const OneThread &) = delete;
  OneThread &operator=(const OneThread &) = delete;
};

} // namespace calque::runtime
#endif
