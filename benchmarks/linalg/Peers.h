// The same matrices and transforms by Eigen and FFTW, where CMake found them. Inputs and results are dense rows, as
// Tensor's data. What is returned is the check.
#ifndef CALQUE_BENCHMARKS_LINALG_PEERS_H
#define CALQUE_BENCHMARKS_LINALG_PEERS_H

#include <complex>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace calque::benchmarks::peers {

enum class Task { Cholesky, Solve, Inverse, Lu, Qr, Eigh, Eig, Svd, Expm };

// `count` matrices of n rows. Empty where there is no Eigen, or it has no such function.
std::function<double()> eigen(Task task, std::vector<double> matrices, std::int64_t count, int n);

// Transforms of complex64 numbers over the last dimension, or over all three. Empty where there is no FFTW.
std::function<double()> fftw(std::vector<std::complex<float>> numbers, std::vector<int> shape, bool allAxes,
                             int threads);

} // namespace calque::benchmarks::peers
#endif
