#include <calque/calque.h>

#include <cstdint>
#include <iostream>

using namespace calque;

int main() {
  // A linear congruential generator (Press et al.: Numerical Recipes), many states at once. Integers wrap.
  auto scramble = function([](Tensor state) {
    for (Tensor i : range(3))
      state = state * 1664525 + 1013904223;
    return state;
  });
  std::cout << "states     " << scramble(tensor<std::uint32_t>({1, 2, 4294967295})) << '\n';

  // The bytes of an image stay bytes, a quarter of float32, until it is computed with.
  const Tensor image = tensor<std::uint8_t>({{0, 51, 102}, {153, 204, 255}});
  auto brightness = function([](const Tensor &pixels) { return mean(cast(pixels, DType::Float32) / 255); });
  std::cout << "brightness " << brightness(image) << ", sum " << sum(image) << ' ' << sum(image).dtype() << '\n';

  // float16 and bfloat16 take half of the memory. Each operation rounds its result; sums are rounded once.
  const Tensor weights = tensor<float16>({1, 2, 3}) / 3;
  std::cout << "halves     " << weights << ", " << sum(ones({10'000}, DType::Float16)) << ", "
            << cast(weights, DType::BFloat16) << '\n';

  // Tensors of different types are not mixed. promote says which type holds both.
  const DType both = promote(DType::Int16, DType::Float16);
  std::cout << "promoted   " << both << ' ' << cast(weights, both).dtype() << '\n';
}
