// An object for each thread that exists for as long as the thread runs any code.
//
//   struct Words { std::vector<std::uint64_t> words; };
//   PerThread<Words>::get().words.clear();
//
// Calque may be called by destructors of `thread_local` and static objects and by handlers of atexit(), when a
// `thread_local` object of Calque may be destroyed already. This object is freed by a POSIX thread key: after all
// `thread_local` objects, and on the main thread never. A later get() makes a fresh one.
#ifndef CALQUE_FRONTEND_CORE_PERTHREAD_H
#define CALQUE_FRONTEND_CORE_PERTHREAD_H

#include <pthread.h>
#include <utility>

namespace calque::detail {

template <typename T> class PerThread {
public:
  static T &get() { return *(own ? own : make()); }

private:
  struct Key {
    Key() : isMade(pthread_key_create(&value, &free) == 0) {}
    pthread_key_t value = 0;
    bool isMade; // false if the process has too many keys: then objects are never freed
  };
  [[gnu::noinline]] static T *make() {
    static const Key key; // no destructor: keys outlive every thread
    own = new T;
    if (key.isMade)
      pthread_setspecific(key.value, own);
    return own;
  }
  static void free(void *) { delete std::exchange(own, nullptr); }

  static inline constinit thread_local T *own = nullptr;
};

} // namespace calque::detail
#endif
