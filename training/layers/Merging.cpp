#include "calque/layers/merging.h"

#include "Described.h"
#include "calque/functions.h"

namespace calque::layers {

namespace {

void checkCount(const std::string &title, const Tensors &inputs, std::size_t least, std::size_t most) {
  if (inputs.size() < least || inputs.size() > most)
    fail<ValueError>(absl::StrCat(title, ": takes ", least == most ? "" : "at least ", least, " inputs, and there are ",
                                  inputs.size()));
}

// A step counts if it does in all inputs that have a mask.
Mask allMasks(const Tensors &inputs, const CallOptions &options) {
  Mask all;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (Mask mask = options.mask_of(i))
      all = all ? logical_and(*all, *mask) : *mask;
  return all;
}

// `Body` has a kind and merge(x), and may have a largest number of inputs.
template <typename Body> class MergingBody : public Described<Body> {
public:
  static constexpr std::size_t most = SIZE_MAX;
  MergingBody() : Described<Body>(Body::kind, false) {}
  template <typename A> void describe(A &) {}

protected:
  void build_inputs(const std::vector<TensorSpec<>> &) override {}
  Tensors call_inputs(const Tensors &inputs, const CallOptions &) override {
    checkCount(this->title(), inputs, 2, Body::most);
    return Body::merge(inputs.tensors());
  }
  std::vector<Mask> compute_masks(const Tensors &inputs, const CallOptions &options) override {
    return {allMasks(inputs, options)};
  }

  template <typename F> static Tensor folded(const std::vector<Tensor> &x, F f) {
    Tensor result = x[0];
    for (std::size_t i = 1; i < x.size(); ++i)
      result = f(result, x[i]);
    return result;
  }
};

struct AddBody : MergingBody<AddBody> {
  static constexpr const char *kind = "add";
  static Tensor merge(const std::vector<Tensor> &x) {
    return folded(x, [](const Tensor &a, const Tensor &b) { return a + b; });
  }
};
struct MultiplyBody : MergingBody<MultiplyBody> {
  static constexpr const char *kind = "multiply";
  static Tensor merge(const std::vector<Tensor> &x) {
    return folded(x, [](const Tensor &a, const Tensor &b) { return a * b; });
  }
};
struct AverageBody : MergingBody<AverageBody> {
  static constexpr const char *kind = "average";
  static Tensor merge(const std::vector<Tensor> &x) { return AddBody::merge(x) / static_cast<double>(x.size()); }
};
struct MaximumBody : MergingBody<MaximumBody> {
  static constexpr const char *kind = "maximum";
  static Tensor merge(const std::vector<Tensor> &x) {
    return folded(x, [](const Tensor &a, const Tensor &b) { return maximum(a, b); });
  }
};
struct MinimumBody : MergingBody<MinimumBody> {
  static constexpr const char *kind = "minimum";
  static Tensor merge(const std::vector<Tensor> &x) {
    return folded(x, [](const Tensor &a, const Tensor &b) { return minimum(a, b); });
  }
};
struct SubtractBody : MergingBody<SubtractBody> {
  static constexpr const char *kind = "subtract";
  static constexpr std::size_t most = 2;
  static Tensor merge(const std::vector<Tensor> &x) { return x[0] - x[1]; }
};

class ConcatenateBody : public Described<ConcatenateBody> {
public:
  explicit ConcatenateBody(std::int64_t axis = -1) : Described("concatenate", false), axis(axis) {}
  template <typename A> void describe(A &a) { a("axis", axis); }

protected:
  void build_inputs(const std::vector<TensorSpec<>> &) override {}
  Tensors call_inputs(const Tensors &inputs, const CallOptions &) override { return concat(inputs.tensors(), axis); }
  // Along the steps the masks are concatenated, and an input without one counts in all its steps.
  std::vector<Mask> compute_masks(const Tensors &inputs, const CallOptions &options) override {
    if (axis != 1 && axis != 1 - inputs[0].rank())
      return {allMasks(inputs, options)};
    bool any = false;
    std::vector<Tensor> masks;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      Mask mask = options.mask_of(i);
      any = any || mask;
      masks.push_back(mask ? *mask : full({inputs[i].shape()[0], inputs[i].shape()[1]}, true, DType::Bool));
    }
    return {any ? Mask(concat(masks, 1)) : std::nullopt};
  }

private:
  std::int64_t axis;
};

class DotBody : public Described<DotBody> {
public:
  explicit DotBody(std::int64_t first = 1, std::int64_t second = 1, bool normalize = false)
      : Described("dot", false), axes{first, second}, normalize(normalize) {}
  template <typename A> void describe(A &a) {
    a("axes", axes);
    a("normalize", normalize);
  }
  void check(SourceLocation where) const {
    if (axes.size() != 2)
      fail<ValueError>("dot: takes an axis of each of two inputs", where);
  }

protected:
  void build_inputs(const std::vector<TensorSpec<>> &) override {}
  Tensors call_inputs(const Tensors &inputs, const CallOptions &) override {
    checkCount(title(), inputs, 2, 2);
    std::int64_t first = axisOf(title(), inputs[0].shape(), axes[0]),
                 second = axisOf(title(), inputs[1].shape(), axes[1]);
    Tensor y = contract(scaled(inputs[0], first), scaled(inputs[1], second), {0}, {0}, {first}, {second});
    return y.rank() == 1 ? expand_dims(y, {1}) : y;
  }

private:
  Tensor scaled(const Tensor &x, std::int64_t axis) const {
    // The smallest square of a length is Keras'.
    return normalize ? x * rsqrt(maximum(sum(square(x), {axis}, true), 1e-14)) : x;
  }
  std::vector<std::int64_t> axes;
  bool normalize;
};

} // namespace

Add::Add(LayerOptions options, SourceLocation where) : Layer(made<AddBody>(options.name, where)) {}
Multiply::Multiply(LayerOptions options, SourceLocation where) : Layer(made<MultiplyBody>(options.name, where)) {}
Average::Average(LayerOptions options, SourceLocation where) : Layer(made<AverageBody>(options.name, where)) {}
Maximum::Maximum(LayerOptions options, SourceLocation where) : Layer(made<MaximumBody>(options.name, where)) {}
Minimum::Minimum(LayerOptions options, SourceLocation where) : Layer(made<MinimumBody>(options.name, where)) {}
Subtract::Subtract(LayerOptions options, SourceLocation where) : Layer(made<SubtractBody>(options.name, where)) {}
Concatenate::Concatenate(std::int64_t axis, LayerOptions options, SourceLocation where)
    : Layer(made<ConcatenateBody>(options.name, where, axis)) {}
Dot::Dot(std::int64_t axis, DotOptions options, SourceLocation where) : Dot(axis, axis, options, where) {}
Dot::Dot(std::int64_t first_axis, std::int64_t second_axis, DotOptions options, SourceLocation where)
    : Layer(made<DotBody>(options.name, where, first_axis, second_axis, options.normalize)) {}

void registerMerging() {
  registerDescribed<AddBody>("Add");
  registerDescribed<MultiplyBody>("Multiply");
  registerDescribed<AverageBody>("Average");
  registerDescribed<MaximumBody>("Maximum");
  registerDescribed<MinimumBody>("Minimum");
  registerDescribed<SubtractBody>("Subtract");
  registerDescribed<ConcatenateBody>("Concatenate");
  registerDescribed<DotBody>("Dot");
}

} // namespace calque::layers
