// Every element type in what is saved: variables, functions, and files of other programs.
#include "calque/data/npy.h"
#include "calque/saved_functions.h"
#include "test/saving/Testing.h"

namespace calque::testing {
namespace {

Tensor numbersOf(DType dtype) {
  if (is_complex(dtype))
    return cast(tensor<complex128>({complex128(1, 2), complex128(0, -0.0), complex128(-3, 0.1), 7, 0}), dtype);
  return dispatch(dtype, []<typename T>(std::type_identity<T>) {
    std::vector<T> numbers{T(1), T(0), std::numeric_limits<T>::max(), std::numeric_limits<T>::lowest(), T(3)};
    return tensor(numbers, {5});
  });
}

TEST(SavedTypes, OfFunctionsVariablesAndFiles) {
  for (const DTypeInfo &info : kDTypes) {
    SCOPED_TRACE(info.name);
    TemporaryDirectory directory;
    const Tensor x = numbersOf(info.dtype);
    // A checkpoint.
    Variable kept(x), restored(zeros({5}, info.dtype));
    const std::string path = Checkpoint{{"kept", kept}}.save(directory.file("kept"));
    Checkpoint{{"kept", restored}}.restore(path).assert_consumed();
    expectSameBits(restored.value(), x);
    // Files of other programs.
    save_safetensors(directory.file("x.safetensors"), {{"x", x}});
    expectSameBits(load_safetensors(directory.file("x.safetensors")).at("x"), x);
    data::write_npy(directory.file("x.npy"), x);
    expectSameBits(data::read_npy(directory.file("x.npy")), x);
    // A function with a constant, a number and a result of the type.
    const Tensor other = reverse(x, {0});
    auto f = function(
        [&](const Tensor &in) { return std::vector<Tensor>{where(in == other, in, other), concat({in, x}, 0)}; });
    const std::vector<Tensor> expected = f(x);
    save_functions(directory.file("f"), {{"f", f}});
    SavedFunctions saved = load_functions(directory.file("f"));
    const std::vector<Tensor> found = saved.function<std::vector<Tensor>(const Tensor &)>("f")(x);
    ASSERT_EQ(found.size(), 2u);
    expectSameBits(found[0], expected[0]);
    expectSameBits(found[1], expected[1]);
  }
}

} // namespace
} // namespace calque::testing
