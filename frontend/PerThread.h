// An object of each thread's own that is there for as long as the thread runs anything.
//
//   struct Words { std::vector<std::uint64_t> words; };
//   PerThread<Words>::get().words.clear();
//
// A `thread_local` object with a destructor is gone when the destructors of the thread's other objects run, and on the
// main thread when those of static objects and the handlers of atexit() do. Calque is used there, too. This object is
// freed by a POSIX thread key: after all `thread_local` objects, and on the main thread never. What is met after that
// is a fresh one.
#ifndef CALQUE_FRONTEND_PERTHREAD_H
#define CALQUE_FRONTEND_PERTHREAD_H

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
    bool isMade; // else there are too many keys in the process: the objects stay
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
