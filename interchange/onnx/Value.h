// Values while a model runs.
#ifndef CALQUE_INTERCHANGE_ONNX_VALUE_H
#define CALQUE_INTERCHANGE_ONNX_VALUE_H

#include "calque/functions.h"
#include "calque/tensor.h"

#include <memory>
#include <optional>
#include <vector>

namespace calque::onnx {

// Images as Calque's windows take them, [N,...,C], and as ONNX has them, [N,C,...].
Tensor channelsLast(const Tensor &x);
Tensor channelsSecond(const Tensor &x);

// A tensor, a sequence, or nothing: an input that is left out, or an empty optional.
//
// A tensor may have two other forms, of which the tensor itself is made when it is asked for:
// - integers that say sizes. While tracing, a model computes shapes from shapes. Each element is a number, a size that
//   only the call knows, or nothing: a number that the call computes.
// - images whose channels are last. Operators on images take and give this form, so that only the first of a row of
//   them, and what follows the last, transposes.
class Value {
public:
  using Elements = std::vector<std::optional<Size>>;

  Value() = default;
  Value(Tensor x) : tensor_(std::move(x)) {}
  static Value ofSequence(std::vector<Value> values);
  static Value ofImages(Tensor channelsLast);
  // Integers of rank 0 or 1. Elements that are all known give a tensor. `computed` is the tensor, and may be left out
  // unless an element is nothing.
  static Value ofElements(Elements elements, bool isScalar, DType dtype, Tensor computed = {});

  bool isTensor() const { return tensor_.defined() || last_.defined() || elements_; }
  bool isSequence() const { return sequence_ != nullptr; }
  bool isNone() const { return !isTensor() && !isSequence(); }
  const std::vector<Value> &sequence() const { return *sequence_; }

  Tensor tensor() const;
  DType dtype() const;
  Shape shape() const;
  std::int64_t rank() const { return static_cast<std::int64_t>(shape().size()); }
  // Whether the elements are known now.
  bool isKnown() const;

  bool isImages() const { return last_.defined(); }
  // The images with their channels last, whatever form they have.
  Tensor images() const { return last_.defined() ? last_ : channelsLast(tensor()); }

  // The elements of integers of rank 0 or 1, if all or some are known.
  std::optional<Elements> elements() const;
  bool hasElements() const { return elements_.has_value(); }

private:
  Tensor tensor_, last_;
  std::optional<Elements> elements_;
  bool isScalar_ = false;
  DType elementType_ = DType::Int64;
  std::shared_ptr<const std::vector<Value>> sequence_;
};

// The elements of a known tensor of rank 0 or 1, as numbers of another type. Operations on known tensors would become
// part of a trace.
std::vector<std::int64_t> hostIntegers(const Tensor &x);
std::vector<double> hostNumbers(const Tensor &x);

// What an operator gives.
struct Results : std::vector<Value> {
  Results() = default;
  Results(Value value) { push_back(std::move(value)); }
  Results(Tensor x) { push_back(std::move(x)); }
  Results(std::initializer_list<Value> values) : std::vector<Value>(values) {}
  Results(const std::vector<Tensor> &tensors) : std::vector<Value>(tensors.begin(), tensors.end()) {}
};

} // namespace calque::onnx
#endif
