#include "runtime/libraries/Lapack.h"

#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <mutex>
#include <string>

namespace calque::runtime {

namespace {

struct Library {
  Lapack<float> f32 = {};
  Lapack<double> f64 = {};
  Lapack<std::complex<float>> c64 = {};
  Lapack<std::complex<double>> c128 = {};
  bool isThere = false, isComplexThere = false;
  // Of OpenBLAS: how many threads a call takes. Null in other libraries.
  int (*threads)() = nullptr;
  void (*setThreads)(int) = nullptr;

  Library() {
    const char *named = std::getenv("CALQUE_LAPACK");
    if (named && *named) {
      isThere = std::strcmp(named, "none") != 0 && load(named);
      return;
    }
    isThere = load("libopenblas.so.0") || load("liblapack.so.3");
  }

private:
  void *handle = nullptr; // stays open: its threads may outlive any call

  template <typename Function> bool find(Function &function, const std::string &name) const {
    function = reinterpret_cast<Function>(dlsym(handle, name.c_str()));
    return function != nullptr;
  }
  template <typename T> bool findAll(Lapack<T> &functions, const std::string &type) const {
    return find(functions.gemv, type + "gemv_") && find(functions.trsv, type + "trsv_") &&
           find(functions.gemm, type + "gemm_") && find(functions.trsm, type + "trsm_") &&
           find(functions.potrf, type + "potrf_") && find(functions.getrf, type + "getrf_") &&
           find(functions.geqrf, type + "geqrf_") && find(functions.symv, type + "symv_") &&
           find(functions.stedc, type + "stedc_") && find(functions.laed2, type + "laed2_") &&
           find(functions.laed4, type + "laed4_") && find(functions.bdsdc, type + "bdsdc_") &&
           find(functions.syevd, type + "syevd_") && find(functions.gesdd, type + "gesdd_") &&
           find(functions.geev, type + "geev_") && find(functions.gees, type + "gees_") &&
           find(functions.trsyl, type + "trsyl_");
  }
  template <typename R> bool findAll(Lapack<std::complex<R>> &functions, const std::string &type) const {
    return find(functions.gemv, type + "gemv_") && find(functions.trsv, type + "trsv_") &&
           find(functions.gemm, type + "gemm_") && find(functions.trsm, type + "trsm_") &&
           find(functions.potrf, type + "potrf_") && find(functions.getrf, type + "getrf_") &&
           find(functions.geqrf, type + "geqrf_") && find(functions.heevd, type + "heevd_") &&
           find(functions.gesdd, type + "gesdd_") && find(functions.geev, type + "geev_") &&
           find(functions.gees, type + "gees_") && find(functions.trsyl, type + "trsyl_");
  }
  bool load(const char *name) {
    handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (!handle)
      return false;
    if (!findAll(f32, "s") || !findAll(f64, "d")) {
      dlclose(handle);
      return false;
    }
    isComplexThere = findAll(c64, "c") && findAll(c128, "z");
    if (!find(threads, "openblas_get_num_threads") || !find(setThreads, "openblas_set_num_threads"))
      setThreads = nullptr;
    return true;
  }
};

const Library &library() {
  static const Library *loaded = new Library; // never destroyed: threads may call it while the process ends
  return *loaded;
}

std::mutex oneThreadMutex;
int oneThreadCount = 0, threadsBefore = 0;

} // namespace

template <> const Lapack<float> *Lapack<float>::get() { return library().isThere ? &library().f32 : nullptr; }
template <> const Lapack<double> *Lapack<double>::get() { return library().isThere ? &library().f64 : nullptr; }

template <> const Lapack<std::complex<float>> *Lapack<std::complex<float>>::get() {
  return library().isComplexThere ? &library().c64 : nullptr;
}
template <> const Lapack<std::complex<double>> *Lapack<std::complex<double>>::get() {
  return library().isComplexThere ? &library().c128 : nullptr;
}

OneThread::OneThread() {
  const Library &loaded = library();
  if (!loaded.setThreads)
    return;
  std::lock_guard lock(oneThreadMutex);
  if (oneThreadCount++ == 0) {
    threadsBefore = loaded.threads();
    loaded.setThreads(1);
  }
}

OneThread::~OneThread() {
  const Library &loaded = library();
  if (!loaded.setThreads)
    return;
  std::lock_guard lock(oneThreadMutex);
  if (--oneThreadCount == 0)
    loaded.setThreads(threadsBefore);
}

} // namespace calque::runtime
