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
  // Level 3 of BLAS.
  void (*gemm)(LapackText, LapackText, Size m, Size n, Size k, const T *alpha, const T *a, Size lda, const T *b,
               Size ldb, const T *beta, T *c, Size ldc, Length, Length);
  void (*trsm)(LapackText side, LapackText uplo, LapackText trans, LapackText diag, Size m, Size n, const T *alpha,
               const T *a, Size lda, T *b, Size ldb, Length, Length, Length, Length);
  // Factorisations.
  void (*potrf)(LapackText uplo, Size n, T *a, Size lda, LapackInt *info, Length);
  void (*getrf)(Size m, Size n, T *a, Size lda, LapackInt *pivots, LapackInt *info);
  void (*laswp)(Size n, T *a, Size lda, Size first, Size last, const LapackInt *pivots, Size step);
  void (*gelqf)(Size m, Size n, T *a, Size lda, T *tau, T *work, Size lwork, LapackInt *info);
  void (*orglq)(Size m, Size n, Size k, T *a, Size lda, const T *tau, T *work, Size lwork, LapackInt *info);
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
  void (*gemm)(LapackText, LapackText, Size m, Size n, Size k, const T *alpha, const T *a, Size lda, const T *b,
               Size ldb, const T *beta, T *c, Size ldc, Length, Length);
  void (*trsm)(LapackText side, LapackText uplo, LapackText trans, LapackText diag, Size m, Size n, const T *alpha,
               const T *a, Size lda, T *b, Size ldb, Length, Length, Length, Length);
  void (*potrf)(LapackText uplo, Size n, T *a, Size lda, LapackInt *info, Length);
  void (*getrf)(Size m, Size n, T *a, Size lda, LapackInt *pivots, LapackInt *info);
  void (*laswp)(Size n, T *a, Size lda, Size first, Size last, const LapackInt *pivots, Size step);
  void (*gelqf)(Size m, Size n, T *a, Size lda, T *tau, T *work, Size lwork, LapackInt *info);
  void (*orglq)(Size m, Size n, Size k, T *a, Size lda, const T *tau, T *work, Size lwork, LapackInt *info); // unglq
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
