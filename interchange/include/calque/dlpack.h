// DLPack: arrays that are passed between libraries in one process without a copy.
//
//   dlpack::ManagedTensorVersioned *shared = to_dlpack(x);   // give it to the other library, which frees it
//   Tensor y = from_dlpack(theirs);                          // uses their memory, and frees it with the last handle
//
// The structures are those of DLPack 1.x (https://dmlc.github.io/dlpack), under names of our own: a pointer to those of
// a header of DLPack is converted by reinterpret_cast. Those without a version are the form before 1.0.
#ifndef CALQUE_DLPACK_H
#define CALQUE_DLPACK_H

#include "calque/tensor.h"

#include <cstdint>

namespace calque {

namespace dlpack {

inline constexpr std::uint32_t kMajorVersion = 1, kMinorVersion = 1;

enum DeviceType : std::int32_t { kCpu = 1, kCudaHost = 3, kRocmHost = 11 }; // those whose memory the CPU reads
struct Device {
  std::int32_t type, id;
};
enum TypeCode : std::uint8_t { kInt = 0, kUInt = 1, kFloat = 2, kBFloat = 4, kComplex = 5, kBool = 6 };
struct DataType {
  std::uint8_t code, bits;
  std::uint16_t lanes;
};
struct Array {
  void *data;
  Device device;
  std::int32_t rank;
  DataType type;
  std::int64_t *shape;
  std::int64_t *strides; // in elements; null: row-major
  std::uint64_t byte_offset;
};
struct ManagedTensor {
  Array array;
  void *context;
  void (*deleter)(ManagedTensor *self);
};
struct Version {
  std::uint32_t major, minor;
};
inline constexpr std::uint64_t kReadOnly = 1, kIsCopied = 2;
struct ManagedTensorVersioned {
  Version version;
  void *context;
  void (*deleter)(ManagedTensorVersioned *self);
  std::uint64_t flags;
  Array array;
};

} // namespace dlpack

struct ToDlpackOptions {
  // A copy, which the other library may write to. Else the memory is the tensor's own, nobody may write to it, and the
  // flag kReadOnly says so. The form without a version has no flags.
  bool copy = false;
};

// Make an array of a tensor. Whoever gets it calls its deleter once. The memory lives until then, whatever becomes of
// the tensor. StateError for a traced tensor.
CALQUE_API dlpack::ManagedTensorVersioned *to_dlpack(const Tensor &x, ToDlpackOptions options = {},
                                                     SourceLocation where = SourceLocation::current());
CALQUE_API dlpack::ManagedTensor *to_unversioned_dlpack(const Tensor &x, ToDlpackOptions options = {},
                                                        SourceLocation where = SourceLocation::current());

// Make a tensor of an array, and take it over: its deleter is called when the last handle to the memory is gone, on the
// thread where that is. Nobody may write to the memory until then. Elements that are not in row-major order, or not
// aligned, are copied, and the deleter is called at once.
//
// ValueError for a null pointer, for memory of another device than the CPU's, for another major version, and for sizes
// that no memory has; DTypeError for an element type that Calque does not have. After an error the caller still owns
// the array.
CALQUE_API Tensor from_dlpack(dlpack::ManagedTensorVersioned *array, SourceLocation where = SourceLocation::current());
CALQUE_API Tensor from_dlpack(dlpack::ManagedTensor *array, SourceLocation where = SourceLocation::current());

} // namespace calque
#endif
