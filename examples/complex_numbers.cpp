// Complex numbers: a filter's response, a fractal, and a gradient with respect to a complex number.
#include <calque/calque.h>

#include <complex>
#include <iostream>

using namespace calque;

using Complex = std::complex<double>;

// How long z = z * z + c stays within a circle: a loop on scalars, which compiles to registers.
Tensor steps(Tensor c) {
  Tensor z = c, count = scalar(0);
  while (real(z * conj(z)) < 4 && count < 100) {
    z = z * z + c;
    count = count + 1;
  }
  return count;
}

int main() {
  // The gain of a resistor and a capacitor in series, at angular frequencies.
  auto gain = function([](const Tensor &omega) {
    const Tensor impedance = 1 / (complex(zeros(omega.shape(), DType::Float64), omega) * 1e-6);
    return abs(impedance / (1000 + impedance));
  });
  std::cout << "gain     " << gain(tensor<double>({10, 1000, 100000})) << '\n';

  std::cout << "steps    " << function(steps)(scalar<Complex>(Complex(-0.75, 0.1))) << '\n';

  // A root of z^3 = 1, by steps against the gradient of the distance. The gradient is d/dx + i d/dy.
  auto distance = [](const Tensor &z) { return square(abs(z * z * z - 1)); };
  auto descend = function([&](const Tensor &start) {
    Tensor z = start;
    for (Tensor i : range(200))
      z = z - 0.02 * grad(distance)(z);
    return z;
  });
  const Tensor root = descend(scalar<Complex>(Complex(-1, 1)));
  std::cout << "root     " << complex(round(real(root), 6), round(imag(root), 6)) << '\n';

  // The gradient is the direction of the steepest ascent: real(conj(gradient) * direction) is the change.
  const Tensor z = scalar<Complex>(Complex(2, 1)), direction = scalar<Complex>(Complex(0, 1));
  const Tensor gradient = grad(distance)(z);
  std::cout << "change   " << real(conj(gradient) * direction) << ' ' << jvp(distance, z, direction).second << '\n';

  // A discrete Fourier transform by a product of matrices.
  const std::int64_t n = 4;
  const Tensor k = iota({n}, DType::Float64);
  const Tensor angles = expand_dims(k, {1}) * k * (-2 * 3.141592653589793 / n);
  const Tensor transform = matmul(exp(complex(zeros({n, n}, DType::Float64), angles)), tensor<Complex>({1, 2, 3, 4}));
  std::cout << "DFT      " << complex(round(real(transform), 6), round(imag(transform), 6)) << '\n';
}
