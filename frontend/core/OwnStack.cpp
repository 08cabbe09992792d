#include "frontend/core/OwnStack.h"

#include "absl/strings/str_cat.h"
#include "calque/error.h"
#include "runtime/Fork.h"

#include <cfenv>
#include <cstring>
#include <exception>
#include <pthread.h>
#include <string>

namespace calque::detail {

namespace {

// Address space; pages are taken as they are touched.
constexpr std::size_t kStackBytes = std::size_t(16) << 20;

struct Work {
  void (*run)(void *);
  void *context;
  std::exception_ptr thrown;
};

void *runWork(void *data) {
  runtime::PartOfForkSection part;
  Work &work = *static_cast<Work *>(data);
  std::fesetenv(FE_DFL_ENV); // what the compiler folds may be kept on disk, and does not depend on the caller's mode
  try {
    work.run(work.context);
  } catch (...) {
    work.thrown = std::current_exception();
  }
  return nullptr;
}

} // namespace

std::atomic<int> &workElsewhere() {
  static constinit thread_local std::atomic<int> count{0};
  return count;
}

void onOwnStack(void (*run)(void *), void *context) {
  runtime::ForkSection section; // what compiles has locks of its own
  Work work{run, context, nullptr};
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, kStackBytes);
  pthread_t thread;
  int error = pthread_create(&thread, &attributes, &runWork, &work);
  pthread_attr_destroy(&attributes);
  if (error)
    throw CompileError(absl::StrCat("no thread can be started to compile on: ", std::strerror(error)));
  workElsewhere().fetch_add(1);
  pthread_join(thread, nullptr);
  workElsewhere().fetch_sub(1);
  if (work.thrown)
    std::rethrow_exception(work.thrown);
}

} // namespace calque::detail
