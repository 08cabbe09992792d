// The spectrum of a chain of spins, and how its lowest energy changes with the field.
#include <calque/calque.h>

#include <complex>
#include <iostream>

using namespace calque;

using Complex = std::complex<double>;

// A Hermitian matrix of a field along y and along z, and a coupling.
Tensor hamiltonian(const Tensor &field) {
  const Tensor y = tensor(std::vector<Complex>{0, Complex(0, -1), Complex(0, 1), 0}, {2, 2});
  const Tensor z = tensor(std::vector<Complex>{1, 0, 0, -1}, {2, 2});
  const Tensor one = tensor(std::vector<Complex>{1, 0, 0, 1}, {2, 2});
  auto both = [](const Tensor &a, const Tensor &b) { return reshape(einsum("ij,kl->ikjl", {a, b}), {4, 4}); };
  const Tensor fields = both(y, one) + both(one, y);
  return both(z, z) + complex(field, zeros({}, DType::Float64)) * fields;
}

int main() {
  auto lowest = [](const Tensor &field) { return linalg::eigvalsh(hamiltonian(field))[0]; };
  auto both = function(value_and_grad(lowest));
  auto [energy, slope] = both(scalar<double>(0.5));
  std::cout << "energy " << energy << ", its slope " << slope << '\n';

  // What evolves by it: exp(-i H t) of a state, which keeps its length.
  const Tensor turn = linalg::expm(hamiltonian(scalar<double>(0.5)) * scalar<Complex>(Complex(0, -0.3)));
  const Tensor state = matmul(turn, tensor(std::vector<Complex>{1, 0, 0, 0}, {4}));
  std::cout << "length " << linalg::vector_norm(state) << '\n';
}
