#include "calque/dlpack.h"

#include "calque/calque.h"
#include "test/Tensors.h"
#include "test/frontend/Testing.h"

namespace calque::testing {
namespace {

// An array of another library, in memory that its deleter frees: whoever reads it later is found by a sanitizer.
template <typename Managed> struct Foreign {
  Managed managed{};
  std::vector<std::int64_t> shape, strides;
  std::unique_ptr<std::byte[]> memory;
  int *freed;

  template <typename T>
  static Managed *make(const std::vector<T> &elements, std::vector<std::int64_t> shape, dlpack::DataType type,
                       int *freed, std::vector<std::int64_t> strides = {}, std::size_t offset = 0) {
    auto *made = new Foreign;
    made->shape = std::move(shape);
    made->strides = std::move(strides);
    made->freed = freed;
    made->memory.reset(new std::byte[offset + elements.size() * sizeof(T) + 1]);
    std::ranges::copy(std::as_bytes(std::span(elements)), made->memory.get() + offset);
    made->managed.array = {.data = made->memory.get(),
                           .device = {dlpack::kCpu, 0},
                           .rank = static_cast<std::int32_t>(made->shape.size()),
                           .type = type,
                           .shape = made->shape.data(),
                           .strides = made->strides.empty() ? nullptr : made->strides.data(),
                           .byte_offset = offset};
    made->managed.context = made;
    made->managed.deleter = [](Managed *self) {
      auto *foreign = static_cast<Foreign *>(self->context);
      ++*foreign->freed;
      delete foreign;
    };
    if constexpr (requires { made->managed.version; })
      made->managed.version = {1, 0};
    return &made->managed;
  }
};
using Versioned = Foreign<dlpack::ManagedTensorVersioned>;
using Unversioned = Foreign<dlpack::ManagedTensor>;
constexpr dlpack::DataType kFloat32{dlpack::kFloat, 32, 1};

TEST(DLPack, GivesTheTensorsOwnMemory) {
  Tensor x = tensor<float>({{1, 2, 3}, {4, 5, 6}});
  dlpack::ManagedTensorVersioned *shared = to_dlpack(x);
  EXPECT_EQ(shared->version.major, 1u);
  EXPECT_EQ(shared->flags, dlpack::kReadOnly);
  EXPECT_EQ(shared->array.data, x.data<float>());
  EXPECT_EQ(shared->array.device.type, dlpack::kCpu);
  ASSERT_EQ(shared->array.rank, 2);
  EXPECT_EQ(shared->array.shape[0], 2);
  EXPECT_EQ(shared->array.shape[1], 3);
  EXPECT_EQ(shared->array.strides[0], 3);
  EXPECT_EQ(shared->array.strides[1], 1);
  EXPECT_EQ(shared->array.type.code, dlpack::kFloat);
  EXPECT_EQ(shared->array.type.bits, 32);
  x = Tensor();
  EXPECT_EQ(static_cast<const float *>(shared->array.data)[5], 6); // the array outlives the tensor
  shared->deleter(shared);
}

TEST(DLPack, GivesACopyThatMayBeWrittenTo) {
  const Tensor x = tensor<float>({1, 2});
  dlpack::ManagedTensorVersioned *copy = to_dlpack(x, {.copy = true});
  EXPECT_EQ(copy->flags, dlpack::kIsCopied);
  static_cast<float *>(copy->array.data)[0] = 7;
  EXPECT_EQ(x.to_vector<float>()[0], 1);
  copy->deleter(copy);
}

TEST(DLPack, TakesMemoryWithoutACopyAndFreesItWithTheLastHandle) {
  int freed = 0;
  dlpack::ManagedTensorVersioned *array = Versioned::make<float>({1, 2, 3, 4, 5, 6}, {2, 3}, kFloat32, &freed);
  const void *memory = array->array.data;
  Tensor x = from_dlpack(array);
  EXPECT_EQ(x.data<float>(), memory);
  EXPECT_EQ(x.shape(), (Shape{2, 3}));
  Tensor rows = reshape(x, {6});
  x = Tensor();
  EXPECT_EQ(freed, 0);
  EXPECT_EQ(sum(rows).item<float>(), 21);
  rows = Tensor();
  EXPECT_EQ(freed, 1);
}

TEST(DLPack, TakesTheFormWithoutAVersion) {
  int freed = 0;
  {
    const Tensor x = from_dlpack(Unversioned::make<std::int64_t>({3, 4}, {2}, {dlpack::kInt, 64, 1}, &freed));
    EXPECT_EQ(x.to_vector<std::int64_t>(), (std::vector<std::int64_t>{3, 4}));
  }
  EXPECT_EQ(freed, 1);
  dlpack::ManagedTensor *back = to_unversioned_dlpack(tensor<double>({1, 2}));
  EXPECT_EQ(back->array.type.bits, 64);
  back->deleter(back);
}

TEST(DLPack, EveryElementTypeComesBack) {
  for (const DTypeInfo &info : kDTypes) {
    const Tensor x = cast(tensor<float>({0, 1}), info.dtype);
    const Tensor y = from_dlpack(to_dlpack(x));
    expectSameBits(x, y);
    EXPECT_EQ(y.bytes().data(), x.bytes().data());
  }
}

TEST(DLPack, CopiesElementsInAnotherOrder) {
  int freed = 0;
  // The transpose of a matrix, and every second element backwards.
  const Tensor x = from_dlpack(Versioned::make<float>({1, 2, 3, 4, 5, 6}, {3, 2}, kFloat32, &freed, {1, 3}));
  EXPECT_EQ(freed, 1);
  EXPECT_EQ(x.to_vector<float>(), (std::vector<float>{1, 4, 2, 5, 3, 6}));
  dlpack::ManagedTensorVersioned *back = Versioned::make<float>({1, 2, 3, 4, 5}, {3}, kFloat32, &freed, {-2});
  back->array.byte_offset = 4 * sizeof(float);
  EXPECT_EQ(from_dlpack(back).to_vector<float>(), (std::vector<float>{5, 3, 1}));
  EXPECT_EQ(freed, 2);
}

TEST(DLPack, CopiesElementsThatAreNotAligned) {
  int freed = 0;
  const Tensor x = from_dlpack(Versioned::make<float>({1, 2}, {2}, kFloat32, &freed, {}, 1));
  EXPECT_EQ(freed, 1);
  EXPECT_EQ(x.to_vector<float>(), (std::vector<float>{1, 2}));
}

TEST(DLPack, TakesEmptyArraysScalarsAndBoolsOfAnyBits) {
  int freed = 0;
  EXPECT_EQ(from_dlpack(Versioned::make<float>({}, {0, 3}, kFloat32, &freed)).shape(), (Shape{0, 3}));
  EXPECT_EQ(from_dlpack(Versioned::make<float>({5}, {}, kFloat32, &freed)).item<float>(), 5);
  const Tensor x = from_dlpack(Versioned::make<std::uint8_t>({0, 2, 255}, {3}, {dlpack::kBool, 8, 1}, &freed));
  EXPECT_EQ(x.to_vector<bool>(), (std::vector<bool>{false, true, true}));
  EXPECT_EQ(freed, 3);
}

TEST(DLPack, RefusesWhatItCantReadAndLeavesItToTheCaller) {
  int freed = 0;
  auto refused = [&](auto change, const std::string &message, auto *error) {
    using E = std::remove_pointer_t<decltype(error)>;
    dlpack::ManagedTensorVersioned *array = Versioned::make<float>({1, 2}, {2}, kFloat32, &freed);
    change(*array);
    EXPECT_CONTAINS(errorOf<E>([&] { from_dlpack(array); }), message);
    EXPECT_EQ(freed, 0);
    array->deleter(array);
    EXPECT_EQ(freed, 1);
    freed = 0;
  };
  using Managed = dlpack::ManagedTensorVersioned;
  ValueError *value = nullptr;
  DTypeError *dtype = nullptr;
  refused([](Managed &m) { m.array.device.type = 2; },
          "from_dlpack: the array is in the memory of device type 2, which the CPU does not read", value);
  refused([](Managed &m) { m.version = {2, 3}; },
          "from_dlpack: the array has version 2.3 of DLPack; versions 1.x are read", value);
  refused([](Managed &m) { m.array.type = {dlpack::kFloat, 8, 1}; },
          "from_dlpack: elements with the code 2, 8 bits and 1 lanes are of no type that Calque has", dtype);
  refused([](Managed &m) { m.array.type.lanes = 4; },
          "from_dlpack: elements with the code 2, 32 bits and 4 lanes are of no type that Calque has", dtype);
  refused([](Managed &m) { m.array.shape[0] = -2; }, "from_dlpack: the array has a size of -2", value);
  refused([](Managed &m) { m.array.shape[0] = std::int64_t(1) << 62; },
          "from_dlpack: the array has more elements than memory can hold", value);
  refused([](Managed &m) { m.array.shape = nullptr; }, "from_dlpack: an array of rank 1 without a shape", value);
  refused([](Managed &m) { m.array.data = nullptr; }, "from_dlpack: the array has no memory", value);
  EXPECT_CONTAINS(errorOf<ValueError>([] { from_dlpack(static_cast<Managed *>(nullptr)); }),
                  "from_dlpack: the pointer is null");
  EXPECT_CONTAINS(errorOf<ValueError>([] { from_dlpack(static_cast<dlpack::ManagedTensor *>(nullptr)); }),
                  "from_dlpack: the pointer is null");
}

TEST(DLPack, RefusesATracedTensor) {
  auto f = function([](const Tensor &x) {
    EXPECT_THROW(to_dlpack(x), StateError);
    return x;
  });
  f(tensor<float>({1}));
}

} // namespace
} // namespace calque::testing
