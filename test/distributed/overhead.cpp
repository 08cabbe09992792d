// Figures, no test: what a function with one all_reduce of 4 bytes takes beside MPI_Allreduce, and larger ones.
#include "calque/calque.h"
#include "calque/distributed.h"

#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cstdio>

using namespace calque;

namespace {
// The median of some batches of calls, in microseconds for a call.
template <typename F> double microseconds(F call, int calls) {
  std::vector<double> times;
  for (int batch = 0; batch < 31; ++batch) {
    MPI_Barrier(MPI_COMM_WORLD);
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < calls; ++i)
      call();
    times.push_back(std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count() /
                    calls);
  }
  std::nth_element(times.begin(), times.begin() + 15, times.end());
  return times[15];
}
} // namespace

int main() {
  const distributed::World world = distributed::init();
  for (int size : {1, 1000, 1'000'000}) {
    const Tensor x = ones({size});
    auto f = function([](const Tensor &a) { return distributed::all_reduce(a); });
    auto nothing = function([](const Tensor &a) { return a + 1; });
    std::vector<float> in(static_cast<std::size_t>(size), 1), out = in;
    const int calls = size > 1000 ? 10 : 2000;
    f(x);
    nothing(x);
    const double plain =
        microseconds([&] { MPI_Allreduce(in.data(), out.data(), size, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD); }, calls);
    const double ours = microseconds([&] { f(x); }, calls), empty = microseconds([&] { nothing(x); }, calls);
    if (world.rank() == 0)
      std::printf(
          "%d ranks, %d floats: MPI_Allreduce %.2f us, a function with it %.2f us, a function with x + 1 %.2f us\n",
          world.size(), size, plain, ours, empty);
  }
}
