// init() and its errors, each in a process of its own: `init NAME` exits with 0 if the error is the one that NAME
// expects.
#include "calque/calque.h"
#include "calque/distributed.h"

#ifdef CALQUE_TEST_MPI
#include <mpi.h>
#endif

#include <cstdlib>
#include <cstring>
#include <iostream>

using namespace calque;

namespace {
template <typename E, typename F> int expect(F statement, const std::string &text) {
  try {
    statement();
  } catch (const E &error) {
    if (std::string(error.what()).find(text) != std::string::npos)
      return 0;
    std::cerr << error.what() << " lacks " << text << std::endl;
    return 1;
  }
  std::cerr << "no error" << std::endl;
  return 1;
}
} // namespace

int main(int, char **argv) {
  const char *name = argv[1];
  auto is = [&](const char *other) { return std::strcmp(name, other) == 0; };
  if (is("before"))
    return expect<StateError>([] { distributed::all_reduce(ones({1}), {}); },
                              "distributed::init() has not been called");
  if (is("timeout"))
    return expect<ValueError>([] { distributed::init({.timeout = 0}); },
                              "init: the timeout is 0 s, and must be positive");
  if (is("threads"))
    return expect<ValueError>([] { distributed::init({.threads = -1}); },
                              "init: the number of threads is -1, and can't be negative");
  if (is("variable")) {
    setenv("CALQUE_DISTRIBUTED_TIMEOUT", "soon", 1);
    return expect<ValueError>([] { distributed::init(); },
                              "CALQUE_DISTRIBUTED_TIMEOUT is 'soon' and must be a number that is not negative");
  }
#ifdef CALQUE_TEST_MPI
  if (is("single")) {
    int level = 0;
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SINGLE, &level);
    const int status =
        expect<StateError>([] { distributed::init(); }, "init: MPI can't be used: MPI was initialised for one thread");
    MPI_Finalize();
    return status;
  }
  if (is("theirs")) { // initialised by the program, which finalises it
    int level = 0;
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &level);
    const float sum = distributed::all_reduce(ones({distributed::init().size()}), {}).to_vector<float>()[0];
    MPI_Finalize();
    return sum == 1 ? 0 : 1;
  }
#endif
  return 2;
}
