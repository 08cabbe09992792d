// A library with LAPACK's functions, for tests: no iteration converges, and nothing else does anything.
#define CALQUE_FUNCTION(name)                                                                                          \
  extern "C" __attribute__((visibility("default"))) void s##name##_() {}                                               \
  extern "C" __attribute__((visibility("default"))) void d##name##_() {}
CALQUE_FUNCTION(gemv)
CALQUE_FUNCTION(trsv)
CALQUE_FUNCTION(symv)
CALQUE_FUNCTION(laed2)
CALQUE_FUNCTION(laed4)
CALQUE_FUNCTION(gemm)
CALQUE_FUNCTION(trsm)
CALQUE_FUNCTION(potrf)
CALQUE_FUNCTION(getrf)
CALQUE_FUNCTION(geqrf)
CALQUE_FUNCTION(trsyl)

#define CALQUE_ITERATIONS(type, T)                                                                                     \
  extern "C" __attribute__((visibility("default"))) void type##syevd_(const char *, const char *, const int *, T *,    \
                                                                      const int *, T *, T *, const int *, int *,       \
                                                                      const int *, int *info) {                        \
    *info = 1;                                                                                                         \
  }                                                                                                                    \
  extern "C" __attribute__((visibility("default"))) void type##stedc_(                                                 \
      const char *, const int *, T *, T *, T *, const int *, T *, const int *, int *, const int *, int *info) {        \
    *info = 1;                                                                                                         \
  }                                                                                                                    \
  extern "C" __attribute__((visibility("default"))) void type##gesdd_(                                                 \
      const char *, const int *, const int *, T *, const int *, T *, T *, const int *, T *, const int *, T *,          \
      const int *, int *, int *info) {                                                                                 \
    *info = 1;                                                                                                         \
  }                                                                                                                    \
  extern "C" __attribute__((visibility("default"))) void type##bdsdc_(const char *, const char *, const int *, T *,    \
                                                                      T *, T *, const int *, T *, const int *, T *,    \
                                                                      int *, T *, int *, int *info) {                  \
    *info = 1;                                                                                                         \
  }                                                                                                                    \
  extern "C" __attribute__((visibility("default"))) void type##geev_(const char *, const char *, const int *, T *,     \
                                                                     const int *, T *, T *, T *, const int *, T *,     \
                                                                     const int *, T *, const int *, int *info) {       \
    *info = 1;                                                                                                         \
  }                                                                                                                    \
  extern "C" __attribute__((visibility("default"))) void type##gees_(                                                  \
      const char *, const char *, void *, const int *, T *, const int *, int *, T *, T *, T *, const int *, T *,       \
      const int *, int *, int *info) {                                                                                 \
    *info = 1;                                                                                                         \
  }
CALQUE_ITERATIONS(s, float)
CALQUE_ITERATIONS(d, double)
