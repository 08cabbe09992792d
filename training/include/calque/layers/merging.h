// Layers that merge several inputs into one result.
//
//   Tensor sum = layers::Add()({x, y});
//   Tensor both = layers::Concatenate()({x, y});
#ifndef CALQUE_LAYERS_MERGING_H
#define CALQUE_LAYERS_MERGING_H

#include "calque/layers/core.h"

namespace calque::layers {

// These merge inputs elementwise. The inputs broadcast as operands do. An input of lower rank gets new dimensions
// behind the batch: [N,C] is combined with each step of [N,T,C]. ValueError for fewer than two inputs.
//
// Masks are those of Keras: a step of the result counts if it counts in one of the inputs. If an input has no mask, all
// steps count. Add, Subtract and Average also use the values of steps that do not count. The other layers ignore these
// values: a product has no such factor, and a largest or smallest number is taken from the other inputs.
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
// The first input minus the second. ValueError for another number of inputs than two.
class CALQUE_API Subtract : public Layer {
public:
  explicit Subtract(LayerOptions options = {}, SourceLocation where = SourceLocation::current());
};

// Concatenates the inputs along an axis. ValueError for no inputs; ShapeError for inputs that differ in other
// dimensions.
class CALQUE_API Concatenate : public Layer {
public:
  explicit Concatenate(std::int64_t axis = -1, LayerOptions options = {},
                       SourceLocation where = SourceLocation::current());
};

struct DotOptions {
  bool normalize = false; // scales the vectors to length 1 first: the result is the cosine of their angle
  std::string name = {};
};
// The dot products of vectors along an axis of each of two inputs, for each example. [N,n] and [N,n] give [N,1].
// ValueError for another number of inputs than two.
class CALQUE_API Dot : public Layer {
public:
  explicit Dot(std::int64_t axis, DotOptions options = {}, SourceLocation where = SourceLocation::current());
  Dot(std::int64_t first_axis, std::int64_t second_axis, DotOptions options = {},
      SourceLocation where = SourceLocation::current());
};

} // namespace calque::layers
#endif
