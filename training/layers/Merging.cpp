#include "calque/layers/merging.h"

#include "Described.h"
#include "calque/functions.h"

#include <algorithm>

namespace calque::layers {

namespace {

void checkCount(const std::string &title, const Tensors &inputs, std::size_t least, std::size_t most) {
  if (inputs.size() < least || inputs.size() > most)
    fail<ValueError>(absl::StrCat(title, ": takes ", least == most ? "" : "at least ", least, " inputs, and there are ",
                                  inputs.size()));
}

// In the rank of the others: behind the batch are dimensions of size 1, so that examples meet their own.
Tensor withRank(Tensor x, std::int64_t rank) {
  while (x.rank() > 0 && x.rank() < rank)
    x = expand_dims(x, {1});
  return x;
}

// A step counts if it does in one of the inputs. Without a mask of each, all do.
Mask anyMask(const Tensors &inputs, const CallOptions &options) {
  std::vector<Tensor> masks;
  std::int64_t rank = 0;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    Mask mask = options.mask_of(i);
    if (!mask)
      return std::nullopt;
    masks.push_back(*mask);
    rank = std::max(rank, mask->rank());
  }
  Tensor some = withRank(masks[0], rank);
  for (std::size_t i = 1; i < masks.size(); ++i)
    some = logical_or(some, withRank(masks[i], rank));
  return some;
}

// An input, and where it counts, in its rank; undefined for everywhere.
struct Merged {
  Tensor x, counts;
};

// `Body` has a kind and merge(x), and may have a largest number of inputs.
template <typename Body> class MergingBody : public Described<Body> {
public:
  static constexpr std::size_t most = SIZE_MAX;
  MergingBody() : Described<Body>(Body::kind, false) {}
  template <typename A> void describe(A &) {}

protected:
  void build_inputs(const std::vector<TensorSpec<>> &) override {}
  Tensors call_inputs(const Tensors &inputs, const CallOptions &options) override {
    checkCount(this->title(), inputs, 2, Body::most);
    std::int64_t rank = 0;
    for (const auto &[name, input] : inputs)
      rank = std::max(rank, input.rank());
    std::vector<Merged> merged;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      Merged each{withRank(inputs[i], rank), {}};
      if (Mask mask = options.mask_of(i); mask && inputs[i].rank() == rank) {
        each.counts = *mask;
        while (each.counts.rank() < rank)
          each.counts = expand_dims(each.counts, {each.counts.rank()});
      }
      merged.push_back(std::move(each));
    }
    return Body::merge(merged);
  }
  std::vector<Mask> compute_masks(const Tensors &inputs, const CallOptions &options) override {
    return {anyMask(inputs, options)};
  }

  static Tensor added(const std::vector<Merged> &inputs) {
    Tensor result = inputs[0].x;
    for (std::size_t i = 1; i < inputs.size(); ++i)
      result = result + inputs[i].x;
    return result;
  }
  // Where one of two does not count, the other one is taken.
  template <typename F> static Tensor chosen(const std::vector<Merged> &inputs, F f) {
    Merged result = inputs[0];
    for (std::size_t i = 1; i < inputs.size(); ++i) {
      const auto &[x, counts] = inputs[i];
      Tensor next = counts.defined() ? where(counts, x, result.x) : x;
      if (result.counts.defined())
        result.x = where(result.counts, result.x, next);
      result.counts = counts.defined() && result.counts.defined() ? logical_or(result.counts, counts) : Tensor();
      result.x = f(result.x, next);
    }
    return result.x;
  }
};

struct AddBody : MergingBody<AddBody> {
  static constexpr const char *kind = "add";
  static Tensor merge(const std::vector<Merged> &inputs) { return added(inputs); }
};
struct MultiplyBody : MergingBody<MultiplyBody> {
  static constexpr const char *kind = "multiply";
  // What does not count is no factor, and the product is 0 where no factor is.
  static Tensor merge(const std::vector<Merged> &inputs) {
    Tensor product, some;
    bool all = true;
    for (const auto &[x, counts] : inputs) {
      Tensor factor = counts.defined() ? where(counts, x, full({}, 1, x.dtype())) : x;
      product = product.defined() ? product * factor : factor;
      all = all && counts.defined();
      if (all)
        some = some.defined() ? logical_or(some, counts) : counts;
    }
    return all ? where(some, product, full({}, 0, product.dtype())) : product;
  }
};
struct AverageBody : MergingBody<AverageBody> {
  static constexpr const char *kind = "average";
  static Tensor merge(const std::vector<Merged> &inputs) { return added(inputs) / static_cast<double>(inputs.size()); }
};
struct MaximumBody : MergingBody<MaximumBody> {
  static constexpr const char *kind = "maximum";
  static Tensor merge(const std::vector<Merged> &inputs) {
    return chosen(inputs, [](const Tensor &a, const Tensor &b) { return maximum(a, b); });
  }
};
struct MinimumBody : MergingBody<MinimumBody> {
  static constexpr const char *kind = "minimum";
  static Tensor merge(const std::vector<Merged> &inputs) {
    return chosen(inputs, [](const Tensor &a, const Tensor &b) { return minimum(a, b); });
  }
};
struct SubtractBody : MergingBody<SubtractBody> {
  static constexpr const char *kind = "subtract";
  static constexpr std::size_t most = 2;
  static Tensor merge(const std::vector<Merged> &inputs) { return inputs[0].x - inputs[1].x; }
};

class ConcatenateBody : public Described<ConcatenateBody> {
public:
  explicit ConcatenateBody(std::int64_t axis = -1) : Described("concatenate", false), axis(axis) {}
  template <typename A> void describe(A &a) { a("axis", axis); }

protected:
  void build_inputs(const std::vector<TensorSpec<>> &) override {}
  Tensors call_inputs(const Tensors &inputs, const CallOptions &) override { return concat(inputs.tensors(), axis); }
  // Along the steps the masks are concatenated. Along the features a step counts if it does in one of the inputs. An
  // input without a mask counts in all its steps.
  std::vector<Mask> compute_masks(const Tensors &inputs, const CallOptions &options) override {
    std::vector<Tensor> masks;
    bool any = false;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      Mask mask = options.mask_of(i);
      any = any || mask;
      if (mask)
        masks.push_back(*mask);
      else if (inputs[i].rank() > 1)
        masks.push_back(full({inputs[i].shape()[0], inputs[i].shape()[1]}, true, DType::Bool));
    }
    if (!any)
      return {std::nullopt};
    if (axis == 1 || axis == 1 - inputs[0].rank())
      return {concat(masks, 1)};
    Tensor some = masks[0];
    for (std::size_t i = 1; i < masks.size(); ++i)
      some = logical_or(some, masks[i]);
    return {some};
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
