#include "benchmarks/linalg/Peers.h"

#if CALQUE_HAS_FFTW
#include <fftw3.h>

#include <memory>
#endif

namespace calque::benchmarks::peers {

#if CALQUE_HAS_FFTW
std::function<double()> fftw(std::vector<std::complex<float>> numbers, std::vector<int> shape, bool allAxes,
                             int threads) {
  fftwf_init_threads();
  fftwf_plan_with_nthreads(threads);
  // Planned by measuring, which is how FFTW is fast. That overwrites the arrays.
  auto result = std::make_shared<std::vector<std::complex<float>>>(numbers.size());
  auto input = std::make_shared<std::vector<std::complex<float>>>(numbers.size());
  auto *from = reinterpret_cast<fftwf_complex *>(input->data()),
       *to = reinterpret_cast<fftwf_complex *>(result->data());
  const int n = shape.back(), rows = static_cast<int>(numbers.size()) / n;
  const unsigned flags = FFTW_MEASURE | FFTW_PRESERVE_INPUT;
  std::shared_ptr<fftwf_plan_s> plan(
      allAxes ? fftwf_plan_dft(static_cast<int>(shape.size()), shape.data(), from, to, FFTW_FORWARD, flags)
              : fftwf_plan_many_dft(1, &n, rows, from, nullptr, 1, n, to, nullptr, 1, n, FFTW_FORWARD, flags),
      fftwf_destroy_plan);
  *input = numbers;
  return [plan, input, result] {
    fftwf_execute(plan.get());
    return static_cast<double>(std::abs((*result)[1]));
  };
}
#else
std::function<double()> fftw(std::vector<std::complex<float>>, std::vector<int>, bool, int) { return nullptr; }
#endif

} // namespace calque::benchmarks::peers
