// Tensor specs: an element type and a shape, whose sizes or rank may be unknown, for the arguments of functions.
//
//   TensorSpec<float>({kDynamic, 3})             // any number of rows of three
//   TensorSpec<float>(kAnyShape, "x")            // any shape; messages call it 'x'
//   TensorSpec(DType::Float32, {kDynamic, 3})    // an element type that is known at run time only
//   f.get_concrete_function(TensorSpec<float>({kDynamic, 3}), 2);
//
// When a program asks a function for a trace, a spec may take the place of a tensor. It converts to a Tensor that has a
// type and no elements. Using that Tensor in an operation or an ordinary call is a StateError.
#ifndef CALQUE_TENSOR_SPEC_H
#define CALQUE_TENSOR_SPEC_H

#include "calque/tensor.h"

#include <optional>
#include <string>

namespace calque {

// The type of kAnyShape: any rank, any sizes.
class AnyShape {
  struct Tag {
    explicit Tag() = default;
  };

public:
  explicit constexpr AnyShape(Tag) {}
  static constexpr AnyShape make() { return AnyShape(Tag()); }
};
inline constexpr AnyShape kAnyShape = AnyShape::make();

template <typename T = void> class TensorSpec;

// The base of all specs: every TensorSpec<T> converts to TensorSpec<>.
template <> class CALQUE_API TensorSpec<void> {
public:
  // An unknown size is kDynamic; an unknown size of another tensor's shape becomes kDynamic. ValueError for a negative
  // size, and for an invalid element type.
  TensorSpec(DType dtype, Shape shape, std::string name = {}, SourceLocation where = SourceLocation::current());
  TensorSpec(DType dtype, AnyShape, std::string name = {}, SourceLocation where = SourceLocation::current());

  DType dtype() const { return dtype_; }
  bool has_rank() const { return shape_.has_value(); }
  // StateError if the rank is unknown.
  const Shape &shape(SourceLocation where = SourceLocation::current()) const;
  const std::string &name() const { return name_; }

  // "float32[?,3]"; "float32[...]" if the rank is unknown.
  std::string str() const;
  bool operator==(const TensorSpec &other) const { return dtype_ == other.dtype_ && shape_ == other.shape_; }

  // Returns a Tensor that stands for any tensor of this type.
  operator Tensor() const;

private:
  DType dtype_;
  std::optional<Shape> shape_;
  std::string name_;
};

// Prints str().
CALQUE_API std::ostream &operator<<(std::ostream &os, const TensorSpec<> &spec);

template <typename T> class TensorSpec : public TensorSpec<void> {
public:
  explicit TensorSpec(Shape shape, std::string name = {}, SourceLocation where = SourceLocation::current())
      : TensorSpec<void>(dtype_of<T>, std::move(shape), std::move(name), where) {}
  explicit TensorSpec(AnyShape, std::string name = {}, SourceLocation where = SourceLocation::current())
      : TensorSpec<void>(dtype_of<T>, kAnyShape, std::move(name), where) {}
};
TensorSpec(DType, Shape) -> TensorSpec<void>;
TensorSpec(DType, Shape, std::string) -> TensorSpec<void>;
TensorSpec(DType, AnyShape) -> TensorSpec<void>;
TensorSpec(DType, AnyShape, std::string) -> TensorSpec<void>;

} // namespace calque
#endif
