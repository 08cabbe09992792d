// Layers of several inputs, which make one of them.
//
//   Tensor sum = layers::Add()({x, y});
//   Tensor both = layers::Concatenate()({x, y});
#ifndef CALQUE_LAYERS_MERGING_H
#define CALQUE_LAYERS_MERGING_H

#include "calque/layers/core.h"

namespace calque::layers {

// Of each element. The inputs broadcast as operands do, those of lower rank behind the batch: of [N,C] and [N,T,C], the
// first one meets each step. ValueError for fewer than two inputs.
//
// Masks are Keras': a step counts if it does in one of the inputs, and without a mask of each all do. Add, Subtract and
// Average take what is there all the same; for the others, what does not count is not there: it is no factor of a
// product, and of a largest or a smallest number the other one is taken.
class CALQUE_API Add : public Layer {
public:
  explicit Add(LayerOptions options = {}, SourceLocation where = SourceLocation::current());
};
class CALQUE_API Multiply : public Layer {
public:
  explicit Multiply(LayerOptions options = {}, SourceLocation where = SourceLocation::current());
};
class CALQUE_API Average : public Layer {
public:
  explicit Average(LayerOptions options = {}, SourceLocation where = SourceLocation::current());
};
class CALQUE_API Maximum : public Layer {
public:
  explicit Maximum(LayerOptions options = {}, SourceLocation where = SourceLocation::current());
};
class CALQUE_API Minimum : public Layer {
public:
  explicit Minimum(LayerOptions options = {}, SourceLocation where = SourceLocation::current());
};
// The first input without the second. ValueError for another number than two.
class CALQUE_API Subtract : public Layer {
public:
  explicit Subtract(LayerOptions options = {}, SourceLocation where = SourceLocation::current());
};

// Along an axis. ValueError for no inputs; ShapeError for inputs that differ elsewhere.
class CALQUE_API Concatenate : public Layer {
public:
  explicit Concatenate(std::int64_t axis = -1, LayerOptions options = {},
                       SourceLocation where = SourceLocation::current());
};

struct DotOptions {
  bool normalize = false; // the vectors have length 1 first: the result is the cosine of their angle
  std::string name = {};
};
// The products of vectors along an axis of each of two inputs, for each example. Of [N,n] and [N,n] it gives [N,1].
// ValueError for another number of inputs than two.
class CALQUE_API Dot : public Layer {
public:
  explicit Dot(std::int64_t axis, DotOptions options = {}, SourceLocation where = SourceLocation::current());
  Dot(std::int64_t first_axis, std::int64_t second_axis, DotOptions options = {},
      SourceLocation where = SourceLocation::current());
};

} // namespace calque::layers
#endif
