// Empty handles, empty callables, numbers cast to enumerations, and the like: through the whole public API each is a
// typed error with the user's line.
#include "Misuse.h"
#include "calque/training.h"

#include <cmath>

using namespace calque;
using namespace calque::testing;

namespace {

// What is left of a handle that was moved from.
template <typename T> T left(T handle) {
  T taken = std::move(handle);
  return handle;
}

using Unary = std::function<Tensor(const Tensor &)>;
const auto foreign = static_cast<DType>(77);
constexpr const char *nothing = "there is nothing to call; it is given an empty std::function or a null pointer";

Tensor x() { return ones({2}); }
Variable none() { return Variable(nullptr); }
Variable some() { return Variable(ones({2})); }
auto twice() {
  return function([](const Tensor &a, int n) { return a * n; });
}
auto plain() {
  return function([](const Tensor &a) { return a * 2; });
}
data::Dataset<> pairs() { return data::from_tensor_slices(ones({2, 3}), ones({2})); }
std::int32_t kernel(const KernelTensor *, const KernelTensor *, void *) { return 0; }
const Operation &operation() {
  static const Operation made(
      {.name = "misuse", .types = [](const std::vector<TensorSpec<>> &in) { return in; }, .kernel = kernel});
  return made;
}
struct Owner : Module {
  using Module::adopt, Module::submodule, Module::variable;
};
struct Twin {
  Tensor run(const Tensor &a) { return a; }
};

} // namespace

// clang-format off
TEST(Misuse, OfEmptyTensors) {
  const char *text = "an empty tensor is used; it was never given a value";
  expectErrors({
      MISUSE(StateError, text, Tensor().dtype()),
      MISUSE(StateError, text, Tensor().shape()),
      MISUSE(StateError, text, Tensor().rank()),
      MISUSE(StateError, text, Tensor().size()),
      MISUSE(StateError, text, Tensor().item<float>()),
      MISUSE(StateError, text, Tensor().to_vector<float>()),
      MISUSE(StateError, text, Tensor().data<float>()),
      MISUSE(StateError, text, left(x()).shape()),
      MISUSE(StateError, text, Tensor() + 1),
      MISUSE(StateError, text, -left(x())),
      MISUSE(StateError, text, matmul(x(), Tensor())),
      MISUSE(StateError, text, concat({x(), Tensor()})),
      MISUSE(StateError, text, print("x", Tensor()), 0),
      MISUSE(StateError, text, Variable(Tensor())),
      MISUSE(StateError, text, some().assign(Tensor()), 0),
      MISUSE(StateError, text, some().assign_add(Tensor()), 0),
      MISUSE(StateError, text, plain()(Tensor())),
      MISUSE(StateError, text, twice()(Tensor(), 2)),
      MISUSE(StateError, text, plain().ir("traced", Tensor())),
      MISUSE(StateError, text, plain().get_concrete_function(Tensor())),
      MISUSE(StateError, text, twice().get_concrete_function(x(), 2)(Tensor())),
      MISUSE(StateError, text, function([](const std::vector<Tensor> &a) { return a[0]; })({Tensor()})),
      MISUSE(StateError, text, function([](const Tensor &) { return Tensor(); })(x())),
      MISUSE(StateError, text, vmap([](const Tensor &a) { return a; })(Tensor())),
      MISUSE(StateError, text, vmap([](const Tensor &) { return Tensor(); })(x())),
      MISUSE(StateError, text, jvp([](const Tensor &a) { return a; }, Tensor(), x())),
      MISUSE(StateError, text, jvp([](const Tensor &a) { return a; }, x(), Tensor())),
      MISUSE(StateError, text, vjp([](const Tensor &a) { return a; }, Tensor())),
      MISUSE(StateError, text, grad([](const Tensor &a) { return a; })(Tensor())),
      MISUSE(StateError, text, jacobian([](const Tensor &a) { return a; })(Tensor())),
      MISUSE(StateError, text, hessian([](const Tensor &a) { return a; })(Tensor())),
      MISUSE(StateError, text, checkpoint([](const Tensor &a) { return a; })(Tensor())),
      MISUSE(StateError, text, GradientTape().watch(Tensor()), 0),
      MISUSE(StateError, text, GradientTape().gradient(Tensor(), x())),
      MISUSE(StateError, text, GradientTape().gradient(x(), Tensor())),
      MISUSE(StateError, text, GradientTape().gradient(x(), x(), {Tensor()})),
      MISUSE(StateError, text, GradientTape().jacobian(Tensor(), x())),
      MISUSE(StateError, text, host_call([](std::span<const Tensor> in) { return in[0]; }, {Tensor()}, {TensorSpec<float>({2})})),
      MISUSE(StateError, text, host_call([](std::span<const Tensor>) { return Tensor(); }, {x()}, {TensorSpec<float>({2})})),
      MISUSE(StateError, text, operation()({Tensor()})),
      MISUSE(StateError, text, layers::Dense(2)(Tensor())),
      MISUSE(StateError, text, losses::sparse_categorical_crossentropy(Tensor(), x())),
      MISUSE(StateError, text, data::from_tensor_slices(Tensor(), x())),
      MISUSE(StateError, text, data::from_tensor_slices(x(), Tensor())),
      MISUSE(StateError, text, random::stateless_uniform({2}, Tensor())),
      MISUSE(StateError, text, check_gradients([](const std::vector<Tensor> &a) { return a[0]; }, {Tensor()}), 0),
  });
}

TEST(Misuse, OfEmptyVariables) {
  const char *text = "an empty variable is used";
  expectErrors({
      MISUSE(StateError, text, none().assign(1), 0),
      MISUSE(StateError, text, none().assign_add(1), 0),
      MISUSE(StateError, text, none().assign_sub(x()), 0),
      MISUSE(StateError, text, none().value()),
      MISUSE(StateError, text, none().shape()),
      MISUSE(StateError, text, none().dtype()),
      MISUSE(StateError, text, none().name()),
      MISUSE(StateError, text, none().trainable()),
      MISUSE(StateError, text, none().is_argument()),
      MISUSE(StateError, text, left(some()).shape()),
      MISUSE(StateError, text, none() + 1),
      MISUSE(StateError, "an empty variable is an argument", function([](Variable v) { return v + 1; })(none())),
      MISUSE(StateError, text, GradientTape().watch(none()), 0),
      MISUSE(StateError, text, GradientTape().gradient(x(), none())),
      MISUSE(StateError, text, GradientTape().jacobian(x(), none())),
      MISUSE(StateError, text, GradientTape().gradient(x(), std::vector<Variable>{none()}, {.unconnected_gradients = UnconnectedGradients::Zero})),
      MISUSE(StateError, text, optimizers::SGD().apply_gradients({x()}, {none()}), 0),
      MISUSE(StateError, "module: the part 'v' is empty", Owner().adopt("v", none()), 0),
      MISUSE(StateError, text, left(random::Generator(1)).uniform({2})),
      MISUSE(StateError, text, left(random::Generator(1)).reset(1), 0),
      MISUSE(StateError, text, left(random::Generator(1)).draw_seed()),
  });
  // A tape that was asked to watch one is as it was.
  GradientTape tape;
  EXPECT_THROW(tape.watch(none()), StateError);
  EXPECT_TRUE(tape.watched_variables().empty());
}

TEST(Misuse, OfEmptyFunctionsLayersAndDataSets) {
  const char *function = "an empty function is used; it was moved from, or made of a null pointer";
  const char *layer = "an empty layer is used", *dataset = "an empty data set is used", *concrete = "an empty concrete function is used";
  expectErrors({
      MISUSE(StateError, function, left(plain())(x())),
      MISUSE(StateError, function, left(plain()).eager(x())),
      MISUSE(StateError, function, left(plain()).ir("traced", x())),
      MISUSE(StateError, function, left(plain()).graph(x())),
      MISUSE(StateError, function, left(plain()).get_concrete_function(x())),
      MISUSE(StateError, function, left(plain()).get_concrete_function()),
      MISUSE(StateError, function, left(plain()).trace_count()),
      MISUSE(StateError, function, left(plain()).explain_retraces()),
      MISUSE(StateError, function, left(plain()).pretty_printed_concrete_signatures()),
      MISUSE(StateError, function, left(plain()).clear(), 0),
      MISUSE(StateError, concrete, left(twice().get_concrete_function(x(), 2))(x())),
      MISUSE(StateError, concrete, left(twice().get_concrete_function(x(), 2))(x(), 2)),
      MISUSE(StateError, concrete, left(plain().get_concrete_function(x()))(x())),
      MISUSE(StateError, concrete, left(plain().get_concrete_function(x())).str()),
      MISUSE(StateError, concrete, left(plain().get_concrete_function(x())).ir("traced")),
      MISUSE(StateError, concrete, left(plain().get_concrete_function(x())).graph()),
      MISUSE(StateError, concrete, left(plain().get_concrete_function(x())).argument_specs()),
      MISUSE(StateError, concrete, left(plain().get_concrete_function(x())).result_specs()),
      MISUSE(StateError, layer, layers::Layer(nullptr)(x())),
      MISUSE(StateError, layer, left(layers::Dense(2))(x())),
      MISUSE(StateError, layer, layers::Layer(nullptr).build({1, 2}), 0),
      MISUSE(StateError, layer, layers::Layer(nullptr).built()),
      MISUSE(StateError, layer, layers::Layer(nullptr).name()),
      MISUSE(StateError, layer, layers::Layer(nullptr).variables()),
      MISUSE(StateError, layer, layers::Layer(nullptr).trainable_variables()),
      MISUSE(StateError, layer, layers::Layer(nullptr).named_variables()),
      MISUSE(StateError, layer, layers::Sequential({layers::Layer(nullptr)})),
      MISUSE(StateError, layer, layers::Sequential().add(layers::Layer(nullptr)), 0),
      MISUSE(StateError, "an empty model is used", left(layers::Sequential()).layers()),
      MISUSE(StateError, "an empty model is used", left(layers::Sequential()).add(layers::Flatten()), 0),
      MISUSE(StateError, "module: the part 'a' is empty", Owner().submodule("a", layers::Layer(nullptr))),
      MISUSE(ValueError, "module: '' is no name of a part", Owner().submodule<Owner>("")),
      MISUSE(StateError, dataset, left(pairs()).size()),
      MISUSE(StateError, dataset, left(pairs()).begin()),
      MISUSE(StateError, dataset, left(pairs()).shuffle(2)),
      MISUSE(StateError, dataset, left(pairs()).batch(2)),
      MISUSE(StateError, dataset, left(pairs()).prefetch(2)),
      MISUSE(StateError, "an empty operation is used", left(Operation(operation()))({x()})),
      MISUSE(StateError, "an empty operation is used", left(Operation(operation())).name()),
  });
}

TEST(Misuse, OfEmptyCallables) {
  expectErrors({
      MISUSE(StateError, nothing, calque::function(Unary())),
      MISUSE(StateError, nothing, calque::function(static_cast<Tensor (*)(const Tensor &)>(nullptr))),
      MISUSE(StateError, nothing, calque::function<Tensor(const Tensor &)>(Unary())),
      MISUSE(StateError, nothing, calque::function(static_cast<Twin *>(nullptr), &Twin::run)),
      MISUSE(StateError, nothing, vmap(Unary())),
      MISUSE(StateError, nothing, jvp(Unary(), x(), x())),
      MISUSE(StateError, nothing, vjp(Unary(), x())),
      MISUSE(StateError, nothing, grad(Unary())),
      MISUSE(StateError, nothing, value_and_grad(Unary())),
      MISUSE(StateError, nothing, jacobian(Unary())),
      MISUSE(StateError, nothing, batch_jacobian(Unary())),
      MISUSE(StateError, nothing, hvp(Unary())),
      MISUSE(StateError, nothing, hessian(Unary())),
      MISUSE(StateError, nothing, checkpoint(Unary())),
      MISUSE(StateError, nothing, custom_gradient(std::function<std::pair<Tensor, Unary>(const Tensor &)>())),
      MISUSE(StateError, nothing, custom_gradient([](const Tensor &a) { return std::pair(a, Unary()); })(x())),
      MISUSE(StateError, nothing, GradientOverride("relu", nullptr)),
      MISUSE(StateError, nothing, host_call(std::function<Tensor(std::span<const Tensor>)>(), {x()}, {TensorSpec<float>({2})})),
      MISUSE(StateError, nothing, check_gradients(nullptr, {x()}), 0),
      MISUSE(StateError, nothing, layers::ActivationFunction(Unary())),
      MISUSE(StateError, nothing, layers::ActivationFunction(static_cast<const char *>(nullptr))),
      MISUSE(StateError, nothing, layers::Dense(2, {.kernel_initializer = std::function<Tensor(const Shape &, DType)>()})),
      MISUSE(ValueError, "needs a type rule and a kernel", Operation({.name = "misuse2", .types = nullptr, .kernel = kernel})),
      MISUSE(ValueError, "needs a type rule and a kernel", Operation({.name = "misuse2", .types = [](auto &in) { return in; }, .kernel = nullptr})),
  });
  EXPECT_NO_THROW(set_warning_handler(set_warning_handler(nullptr)));
}

TEST(Misuse, OfEnumerations) {
  const char *text = "there is no element type number 77";
  expectErrors({
      MISUSE(ValueError, text, cast(x(), foreign)),
      MISUSE(ValueError, text, zeros({2}, foreign)),
      MISUSE(ValueError, text, ones({2}, foreign)),
      MISUSE(ValueError, text, full({2}, 1, foreign)),
      MISUSE(ValueError, text, full({2}, x(), foreign)),
      MISUSE(ValueError, text, eye(2, foreign)),
      MISUSE(ValueError, text, iota({2}, foreign)),
      MISUSE(ValueError, text, one_hot(tensor<int>({1}), 2, foreign)),
      MISUSE(ValueError, text, TensorSpec<>(foreign, Shape{2})),
      MISUSE(ValueError, text, TensorSpec<>(foreign, kAnyShape)),
      MISUSE(ValueError, text, random::uniform({2}, {.dtype = foreign})),
      MISUSE(ValueError, text, random::normal({2}, {.dtype = foreign})),
      MISUSE(ValueError, text, random::counters_used(2, foreign)),
      MISUSE(ValueError, text, glorot_uniform({2}, foreign)),
      MISUSE(ValueError, text, calque::function([](const Tensor &a) { return a; })(zeros({2}, foreign))),
      MISUSE(ValueError, "gradient: unconnected gradients are None or Zero; there is no 7", GradientTape().gradient(x(), std::tuple(x()), {.unconnected_gradients = static_cast<UnconnectedGradients>(7)})),
      MISUSE(ValueError, "unknown reduction 7", losses::SparseCategoricalCrossentropy({}, {.reduction = static_cast<losses::Reduction>(7)})(tensor<int>({1}), ones({1, 2}))),
  });
  EXPECT_CONTAINS(errorOf<DTypeError>([] { layers::Dense(2).build({1, 2}, DType::Int32); }), "dense: takes inputs of floating-point numbers");
}

TEST(Misuse, OfListsAndNumbers) {
  expectErrors({
      MISUSE(ValueError, "a number that is too small is given as a size", Shape(std::vector<std::int64_t>{INT64_MIN})),
      MISUSE(ValueError, "a number that is too small is given as a size", Shape{INT64_MIN}),
      MISUSE(ValueError, "a number that is too small is given as a size", Shape(2, INT64_MIN)),
      MISUSE(ValueError, "a number that is too small is given as a size", zeros(std::vector<std::int64_t>{INT64_MIN})),
      MISUSE(ValueError, "a number that is too large is given as a size", [](std::array<std::uint64_t, 1> sizes) { return Shape(sizes.begin(), sizes.end()); }({UINT64_MAX})),
      MISUSE(ValueError, "a number that is too large is given as a size", [](Shape shape, std::array<std::uint64_t, 1> sizes) { shape.insert(shape.end(), sizes.begin(), sizes.end()); }({2}, {UINT64_MAX})),
      MISUSE(ValueError, "a tensor of shape [2] has 2 elements, not 3", tensor(std::array{1, 2, 3}, {2})),
      MISUSE(ValueError, "concat: needs at least one tensor", concat({})),
      MISUSE(ValueError, "vmap: no argument has a mapped axis", vmap([] { return x(); })()),
      MISUSE(ValueError, "a shape has no negative sizes", zeros({-1})),
      MISUSE(ValueError, "a shape has no negative sizes", eye(-1)),
      MISUSE(ValueError, "a size must not be negative", iota({-2}, DType::Int32)),
      MISUSE(ValueError, "a size must not be negative", random::uniform({-2})),
      MISUSE(ValueError, "counters_used: there are no -1 numbers", random::counters_used(-1)),
      MISUSE(ValueError, "the depth must not be negative", one_hot(tensor<int>({1}), -1, DType::Float32)),
      MISUSE(ValueError, "the rate is in [0, 1)", layers::Dropout(std::nan(""))),
      MISUSE(ValueError, "a probability is in [0, 1]", random::bernoulli({2}, std::nan(""))),
      MISUSE(ValueError, "no number is in", random::uniform({2}, {.minval = std::nan("")})),
      MISUSE(ValueError, "a standard deviation is finite", random::normal({2}, {.stddev = std::nan("")})),
      MISUSE(ValueError, "the learning rate is finite", optimizers::SGD(std::nan(""))),
      MISUSE(ValueError, "beta_1 is in [0, 1)", optimizers::Adam(1e-3, {.beta_1 = std::nan("")})),
      MISUSE(ValueError, "the momentum is in [0, 1]", layers::BatchNormalization({.momentum = std::nan("")})),
      MISUSE(ValueError, "the number of units is -1", layers::Dense(-1)),
      MISUSE(ValueError, "batch: the size is -1", pairs().batch(-1)),
      MISUSE(ValueError, "shuffle: the buffer's size is 0", pairs().shuffle(0)),
      MISUSE(ValueError, "prefetch: the number of elements is -2", pairs().prefetch(-2)),
      MISUSE(ValueError, "check_gradients: eps", check_gradients([](const std::vector<Tensor> &a) { return a[0]; }, {}, {.eps = std::nan("")}), 0),
      MISUSE(SignatureError, "host_call: the callable gives 1 tensor, and the call has 0 specs", host_call([](std::span<const Tensor> in) { return in[0]; }, {x()})),
      MISUSE(SignatureError, "host_call: the callable gives 0 tensors, and the call has 1 spec;", host_call([](std::span<const Tensor>) {}, {x()}, {TensorSpec<float>({2})}), 0),
      MISUSE(SignatureError, "host_call: the callable gives 1 tensor, and the call has 0 specs", calque::function([](const Tensor &a) { return host_call([](std::span<const Tensor> in) { return in[0]; }, {a}); })(x())),
      MISUSE(ShapeError, "reshape: the size for -1 does not follow from the others, one of which is 0: [-1,0]", reshape(x(), {-1, 0})),
      MISUSE(ShapeError, "reshape: the size for -1 does not follow from the others, one of which is 0: [-1,0]", calque::function([](const Tensor &a) { return reshape(a, {-1, 0}); }).get_concrete_function(TensorSpec<float>({kDynamic}))),
  });
}

TEST(Misuse, OfReductionsAndCumulativeSums) {
  expectBoth({
      MISUSE(DTypeError, "prod: takes numbers, not bool[2]", prod(x() > 0)),
      MISUSE(ValueError, "prod: axis 1 is out of range for a tensor of rank 1", prod(x(), {1})),
      MISUSE(ValueError, "prod: axis -1 is given twice", prod(x(), {0, -1})),
      MISUSE(DTypeError, "any: takes bool, not float32[2]", any(x())),
      MISUSE(ValueError, "any: axis -2 is out of range", any(x() > 0, {-2})),
      MISUSE(ValueError, "any: axis 0 is given twice", any(x() > 0, {0, 0})),
      MISUSE(DTypeError, "all: takes bool, not int32[2]", all(ones({2}, DType::Int32))),
      MISUSE(ValueError, "all: axis 0 is out of range for a tensor of rank 0, which has none", all(true, {0})),
      MISUSE(ValueError, "max: axis 0 is out of range for a tensor of rank 0, which has none. This is a reduction over axes: the larger of two values is maximum, the smaller minimum", max(2.5f - sum(x()), {0})),
      MISUSE(ValueError, "min: axis 100 is out of range for a tensor of rank 1; it must be within [-1, 1). This is a reduction over axes: the larger of two values is maximum, the smaller minimum", min(x(), 100)),
      MISUSE(ValueError, "round: 39 decimals of float32 are not between -38 and 38", round(x(), 39)),
      MISUSE(ValueError, "round: -309 decimals of float64 are not between -308 and 308", round(cast(x(), DType::Float64), -309)),
      MISUSE(DTypeError, "round: takes ", round(ones({2}, DType::Int32), 1)),
      MISUSE(DTypeError, "argmin: takes numbers, not bool[2]", argmin(x() > 0)),
      MISUSE(ShapeError, "argmin: axis 1 of float32[2,0] is empty", argmin(ones({2, 0}))),
      MISUSE(ValueError, "argmin: axis 1 is out of range", argmin(x(), 1)),
      MISUSE(DTypeError, "cumsum: takes numbers, not bool[2]", cumsum(x() > 0)),
      MISUSE(ValueError, "cumsum: axis 1 is out of range for a tensor of rank 1", cumsum(x(), 1)),
      MISUSE(ValueError, "cumsum: axis 0 is out of range for a tensor of rank 0, which has none", cumsum(ones({}))),
      MISUSE(DTypeError, "cumprod: takes numbers, not bool[2]", cumprod(x() > 0)),
      MISUSE(ValueError, "cumprod: axis -2 is out of range", cumprod(x(), -2, true, true)),
      MISUSE(DTypeError, "mod: takes numbers, not bool[2]", mod(x() > 0, true)),
      MISUSE(DTypeError, "fmod: the operands' types differ: float32[2] and int32[2]", x() % ones({2}, DType::Int32)),
      MISUSE(ShapeError, "floor_divide: the shapes [2] and [3] don't broadcast", floor_divide(x(), ones({3}))),
  });
  expectErrors({
      MISUSE(DivisionError, "mod: an integer is divided by zero", mod(ones({2}, DType::Int64), 0)),
      MISUSE(DivisionError, "fmod: an integer is divided by zero", ones({2}, DType::Int64) % 0),
      MISUSE(DivisionError, "floor_divide: an integer is divided by zero", floor_divide(ones({2}, DType::Int64), 0)),
  });
}

static Tensor images() { return ones({2, 5, 4, 3}); }
static Tensor filters() { return ones({3, 2, 3, 4}); }
static Tensor row() { return ones({2, 5, 3}); }

TEST(Misuse, OfWindows) {
  expectBoth({
      MISUSE(ShapeError, "conv: images must have rank 3 to 5, [N,...,C], not float32[2]", conv(x(), filters())),
      MISUSE(ShapeError, "conv: filters must have rank 3, [KW,C,F], not float32[3,2,3,4]", conv(row(), filters())),
      MISUSE(ValueError, "conv: strides must be a number for each of 2 dimensions, not [1]", conv(images(), filters(), {.strides = {1}})),
      MISUSE(ValueError, "conv: strides must be one to three positive numbers, not [0,1]", conv(images(), filters(), {.strides = {0, 1}})),
      MISUSE(ValueError, "conv: padding must be \"same\" or \"valid\", not \"SAME\"", conv(images(), filters(), {.padding = "SAME"})),
      MISUSE(ValueError, "conv: padding must be two numbers for each of 2 dimensions, none of them negative, not [1,1]", conv(images(), filters(), {.padding = {{1, 1}}})),
      MISUSE(ValueError, "conv: dilations must be a positive number for each of 2 dimensions, not [2]", conv(images(), filters(), {.dilations = {2}})),
      MISUSE(ValueError, "conv: the number of groups must be positive, not -1", conv(images(), filters(), {.groups = -1})),
      MISUSE(ShapeError, "conv: images float32[2,5,4,3] have 3 channels and filters float32[3,2,3,4] take 3 in each of 3 groups; float32[3,2,1,4] would fit", conv(images(), filters(), {.groups = 3})),
      MISUSE(ShapeError, "conv: the 4 filters of float32[3,2,1,4] can't be divided into 3 groups", conv(images(), ones({3, 2, 1, 4}), {.groups = 3})),
      MISUSE(DTypeError, "conv: takes floating-point numbers, not int32[2,5,4,3]", conv(ones({2, 5, 4, 3}, DType::Int32), filters())),
      MISUSE(DTypeError, "conv: the operands' types differ: float32[2,5,4,3] and float64[3,2,3,4]", conv(images(), ones({3, 2, 3, 4}, DType::Float64))),
      MISUSE(ValueError, "conv2d: strides must be two positive numbers, not [1]", conv2d(images(), filters(), {1})),
      MISUSE(ShapeError, "conv2d: images must have rank 4, [N,H,W,C], not float32[2,5,3]", conv2d(row(), filters())),
      MISUSE(ShapeError, "depthwise_conv2d: images must have rank 4, [N,H,W,C], not float32[2,5,3]", depthwise_conv2d(row(), filters())),
      MISUSE(ShapeError, "depthwise_conv2d: filters must have rank 4, [KH,KW,C,M], and as many channels as is known, not float32[2]", depthwise_conv2d(images(), x())),
      MISUSE(ShapeError, "depthwise_conv2d: images float32[2,5,4,3] have 3 channels and filters float32[3,2,2,4] take 2; they must be equal and not 0", depthwise_conv2d(images(), ones({3, 2, 2, 4}))),
      MISUSE(ValueError, "depthwise_conv2d: strides must be a number for each of 2 dimensions, not [1]", depthwise_conv2d(images(), filters(), {.strides = {1}})),
      MISUSE(ShapeError, "conv_transpose: images must have rank 3 to 5, [N,...,C], not float32[2]", conv_transpose(x(), filters())),
      MISUSE(ShapeError, "conv_transpose: filters must have rank 4, those of the window, then F and C, not float32[2]", conv_transpose(images(), x())),
      MISUSE(ShapeError, "conv_transpose: images float32[2,5,4,3] have 3 channels and filters float32[3,2,3,4] take 4", conv_transpose(images(), filters())),
      MISUSE(ShapeError, "conv_transpose: the filters' window must be known and not empty: float32[3,0,4,3]", conv_transpose(images(), ones({3, 0, 4, 3}))),
      MISUSE(ValueError, "conv_transpose: strides must be positive numbers, not [1,-1]", conv_transpose(images(), ones({3, 2, 4, 3}), {.strides = {1, -1}})),
      MISUSE(ValueError, "conv_transpose: padding must be \"same\" or \"valid\", not \"\"", conv_transpose(images(), ones({3, 2, 4, 3}), {.padding = ""})),
      MISUSE(DTypeError, "conv_transpose: the operands' types differ: float32[2,5,4,3] and float64[3,2,4,3]", conv_transpose(images(), ones({3, 2, 4, 3}, DType::Float64))),
      MISUSE(DTypeError, "conv_transpose: takes floating-point numbers, not int32[2,5,4,3]", conv_transpose(ones({2, 5, 4, 3}, DType::Int32), ones({3, 2, 4, 3}, DType::Int32))),
      MISUSE(ValueError, "conv_transpose: dilations must be positive numbers, not [1,0]", conv_transpose(images(), ones({3, 2, 4, 3}), {.dilations = {1, 0}})),
      MISUSE(ValueError, "conv_transpose: the dilations [4611686018427387904,1] of the window float32[3,2,4,3] are more than a dimension can have", conv_transpose(images(), ones({3, 2, 4, 3}), {.dilations = {std::int64_t(1) << 62, 1}})),
      MISUSE(ValueError, "conv_transpose: output padding must not be negative, and less than the strides [2,1] or the dilations [1,1], unlike [1,1]", conv_transpose(images(), ones({3, 2, 4, 3}), {.strides = {2, 1}, .output_padding = {1, 1}})),
      MISUSE(ValueError, "conv_transpose: output padding must be a number for each of 2 dimensions, not [1]", conv_transpose(images(), ones({3, 2, 4, 3}), {.strides = {2, 2}, .output_padding = {1}})),
      MISUSE(ValueError, "conv_transpose: the strides [4611686018427387904,1] times the sizes of float32[2,5,4,3] are more than a dimension can have", conv_transpose(images(), ones({3, 2, 4, 3}), {.strides = {std::int64_t(1) << 62, 1}})),
      MISUSE(ValueError, "max_pool: the window must be one to three positive numbers, not [2,0]", max_pool(images(), {2, 0})),
      MISUSE(ValueError, "average_pool: the window must be one to three positive numbers, not []", average_pool(images(), {})),
      MISUSE(ValueError, "max_pool: strides must be a number for each of 2 dimensions, not [1]", max_pool(images(), {2, 2}, {.strides = {1}})),
      MISUSE(ShapeError, "max_pool: images must have rank 3, [N,W,C], not float32[2,5,4,3]", max_pool(images(), {2})),
      MISUSE(DTypeError, "average_pool: takes floating-point numbers, not int32[2,5,3]", average_pool(ones({2, 5, 3}, DType::Int32), {2})),
      MISUSE(ValueError, "reduce_window: padding must be less than the window [2], not [0,2]", reduce_window(row(), WindowReduction::Sum, {2}, {.padding = {{0, 2}}})),
      MISUSE(ValueError, "max_pool2d: the window must be two positive numbers, not [2]", max_pool2d(images(), {2}, {1, 1})),
      MISUSE(ValueError, "max_pool2d: strides must be two positive numbers, not [0,1]", max_pool2d(images(), {2, 2}, {0, 1})),
  });
}

static Tensor matrix() { return ones({2, 3}); }
static Tensor index() { return ones({1}, DType::Int64); }

TEST(Misuse, OfScatter) {
  expectBoth({
      MISUSE(DTypeError, "gather_nd: indices must be integers, not float32[2]", gather_nd(matrix(), x())),
      MISUSE(ShapeError, "gather_nd: the last dimension of the indices has one for each dimension that they name, and its size must be known; they are int64[]", gather_nd(matrix(), 1)),
      MISUSE(ShapeError, "gather_nd: the indices int32[3] name 3 dimensions, and float32[2,3] has 2", gather_nd(matrix(), ones({3}, DType::Int32))),
      MISUSE(ShapeError, "scatter_nd_set: the updates must be float32[3], not float32[2]", scatter_nd_set(matrix(), index(), x())),
      MISUSE(DTypeError, "scatter_nd_add: the updates are float64[3] and the tensor is float32[2,3]; there is no implicit conversion, use cast", scatter_nd_add(matrix(), index(), ones({3}, DType::Float64))),
      MISUSE(DTypeError, "scatter_nd_max: takes numbers, not bool[2,3]; use cast(x, DType::Int32)", scatter_nd_max(matrix() > 0, index(), ones({3}) > 0)),
      MISUSE(ValueError, "scatter_set: axis 2 is out of range for a tensor of rank 2", scatter_set(matrix(), index(), matrix(), 2)),
      MISUSE(ValueError, "scatter_add: axis 0 is out of range for a tensor of rank 0, which has none", scatter_add(1.0f, index(), x())),
      MISUSE(ShapeError, "scatter_max: the updates float32[2] must have rank 2, that of gather's result for float32[2,3] and the indices int64[1]", scatter_max(matrix(), index(), x())),
      MISUSE(ShapeError, "scatter_set: the updates must be float32[1,2], not float32[1,3]", scatter_set(matrix(), index(), ones({3, 1}), 1)),
  });
  // At run time, of what is used.
  expectErrors({
      MISUSE(IndexError, "gather_nd: index 3 is out of range [0, 3)", gather_nd(matrix(), tensor<std::int64_t>({1, 3}))),
      MISUSE(IndexError, "scatter_nd_set: index 2 is out of range [0, 2)", scatter_nd_set(matrix(), index() * 2, ones({3}))),
      MISUSE(IndexError, "scatter_add: index -1 is out of range [0, 3)", scatter_add(matrix(), index() - 2, ones({2, 1}), 1)),
  });
}

TEST(Misuse, OfArrayFunctions) {
  expectBoth({
      MISUSE(ValueError, "stack: needs at least one tensor", stack({})),
      MISUSE(ShapeError, "stack: tensor 1 is float32[3] and tensor 0 float32[2]; their shapes must be equal", stack({x(), ones({3})})),
      MISUSE(DTypeError, "stack: tensor 1 is int32[2] and tensor 0 float32[2]; there is no implicit conversion, use cast", stack({x(), ones({2}, DType::Int32)})),
      MISUSE(ValueError, "stack: axis 2 is out of range for a tensor of rank 2", stack({x(), x()}, 2)),
      MISUSE(ValueError, "unstack: axis 1 is out of range for a tensor of rank 1", unstack(x(), 1)),
      MISUSE(ValueError, "unstack: axis 0 is out of range for a tensor of rank 0, which has none", unstack(1.0f)),
      MISUSE(ValueError, "squeeze: axis -2 is out of range for a tensor of rank 1", squeeze(x(), {-2})),
      MISUSE(ValueError, "squeeze: axis -1 is given twice", squeeze(ones({1}), {0, -1})),
      MISUSE(ShapeError, "squeeze: axis 0 of float32[2] has size 2; only a dimension of size 1 can be left out", squeeze(x(), {0})),
      MISUSE(ValueError, "tile: repeats must not be negative: [2,-1]", tile(x(), {2, -1})),
      MISUSE(DTypeError, "clip: the operands' types differ: float32[2] and int32[2]", clip(x(), ones({2}, DType::Int32), 1)),
      MISUSE(DTypeError, "clip: takes numbers, not bool[2]", clip(x() > 0, false, true)),
      MISUSE(ShapeError, "clip: the shapes [2] and [3] don't broadcast", clip(x(), ones({3}), 1)),
      MISUSE(ValueError, "reverse: axis 1 is out of range", reverse(x(), {1})),
      MISUSE(ValueError, "reverse: axis 0 is given twice", reverse(x(), {0, 0})),
      MISUSE(ValueError, "sort: axis 1 is out of range", sort(x(), 1)),
      MISUSE(ValueError, "argsort: axis -1 is out of range for a tensor of rank 0, which has none", argsort(ones({}))),
      MISUSE(ValueError, "top_k: axis -1 is out of range for a tensor of rank 0, which has none", top_k(1.0f, 1)),
      MISUSE(ValueError, "top_k: the number of elements must not be negative: -1", top_k(x(), -1)),
      MISUSE(ShapeError, "top_k: 3 elements asked for, and axis -1 of float32[2] has 2", top_k(x(), 3)),
      MISUSE(DTypeError, "iota: makes numbers, not bool", iota({3}, DType::Bool, 0)),
      MISUSE(DTypeError, "scatter_add: indices must be integers, not float32[2]", scatter_add(zeros({3}), tensor<float>({0, 1}), ones({2}))),
      MISUSE(DTypeError, "take_along_axis: indices must be integers, not float32[2]", take_along_axis(x(), x())),
      MISUSE(ShapeError, "take_along_axis: the indices must have the rank of float32[2], unlike int32[1,2]", take_along_axis(x(), ones({1, 2}, DType::Int32))),
      MISUSE(ShapeError, "take_along_axis: the indices must have the sizes of float32[2,3] but along axis 1, unlike int32[4,3]", take_along_axis(ones({2, 3}), ones({4, 3}, DType::Int32))),
      MISUSE(ValueError, "einsum: subscripts are letters and one '...', with commas between tensors and '->' before the result; 'i.->i' has '.'", einsum("i.->i", {x()})),
      MISUSE(ValueError, "einsum: subscripts are letters and one '...', with commas between tensors and '->' before the result; '...i...->i' has '.'", einsum("...i...->i", {x()})),
      MISUSE(ValueError, "einsum: the result of '...i->i' lacks '...', which stands for 1 dimension of the tensors", einsum("...i->i", {ones({2, 3})})),
      MISUSE(ShapeError, "einsum: a dimension that '...' stands for is 2 and 4 in '...i,...i->...'; tensor 1 is float32[4,3]", einsum("...i,...i->...", {ones({2, 3}), ones({4, 3})})),
      MISUSE(ShapeError, "einsum: 'ijk' has 3 subscripts, and tensor 0 is float32[2,3]", einsum("...ijk->...", {ones({2, 3})})),
      MISUSE(ValueError, "size: axis 1 is out of range for a tensor of rank 1", size(x(), 1)),
      MISUSE(DTypeError, "check_numerics: takes floating-point numbers, not int32[2]", check_numerics(ones({2}, DType::Int32))),
      MISUSE(ShapeError, "assert_rank: float32[2] has rank 1, and must have 2: the matrix", assert_rank(ones({2}), 2, "the matrix")),
      MISUSE(ShapeError, "assert_shapes: tensor 1 is float32[2], and must have rank 2", assert_shapes({{ones({2}), {2}}, {ones({2}), {2, 2}}})),
      MISUSE(ShapeError, "assert_shapes: dimension 0 of tensor 0, float32[2], must be 3", assert_shapes({{ones({2}), {3}}})),
      MISUSE(ShapeError, "assert_shapes: dimension 1 of tensor 1, float32[3,4], must be 'N', dimension 0 of tensor 0, float32[2]", assert_shapes({{ones({2}), {"N"}}, {ones({3, 4}), {"M", "N"}}})),
      MISUSE(DTypeError, "histogram: takes floating-point numbers, not int32[2]; use cast(x, DType::Float32)", histogram(ones({2}, DType::Int32), 2)),
      MISUSE(ValueError, "histogram: the number of bins must be positive, not 0", histogram(x(), 0)),
      MISUSE(ValueError, "histogram: the number of bins must be at most 281474976710656, not 9223372036854775807", histogram(x(), INT64_MAX)),
      MISUSE(AssertionError, "histogram: x must be finite", histogram(x() / 0, 2)),
      MISUSE(AssertionError, "histogram: there are too few numbers between the elements of x for 10 bins", histogram(tensor<double>({1, 1 + 0x1p-52}), 10)),
      MISUSE(ValueError, "einsum: 'i,i->' has subscripts for 2 tensors, and given is 1", einsum("i,i->", {x()})),
      MISUSE(ValueError, "einsum: 'j' must stand once behind the arrow of 'i->j', and before it too", einsum("i->j", {x()})),
      MISUSE(ValueError, "einsum: 'i' must stand once behind the arrow of 'i->ii', and before it too", einsum("i->ii", {x()})),
      MISUSE(ShapeError, "einsum: 'ij' has 2 subscripts, and tensor 0 is float32[2]", einsum("ij->i", {x()})),
      MISUSE(ShapeError, "einsum: the letter 'i' is 2 and 3 in 'i,i->'; tensor 1 is float32[3]", einsum("i,i->", {x(), ones({3})})),
  });
  auto traced = [](Tensor (*body)(const Tensor &), Shape shape) {
    return errorOf<StateError>([&] { function(body, {.input_signature = {TensorSpec<float>(shape)}}).get_concrete_function(); });
  };
  EXPECT_CONTAINS(traced([](const Tensor &a) { return unstack(a)[0]; }, {kDynamic}), "unstack: the size of axis 0 of float32[?] is the number of results, and is not known while tracing");
  EXPECT_CONTAINS(traced([](const Tensor &a) { return squeeze(a); }, {1, kDynamic}), "squeeze: whether dimension 1 of float32[1,?] is 1 is not known while tracing; name the axes");
  EXPECT_CONTAINS(traced([](const Tensor &a) { return einsum("ii", {a}); }, {kDynamic, 2}), "einsum: 'i' stands twice in one tensor of 'ii', whose size must be known; it is float32[?,2]");
}
// clang-format on

TEST(Misuse, OfASizesOperatorsHasNoLine) {
  Size size = INT64_MIN + 1;
  try {
    --size;
    ADD_FAILURE() << "no error";
  } catch (const ValueError &error) {
    EXPECT_CONTAINS(error.what(), "a number that is too small is given as a size");
    EXPECT_EQ(error.location().line, 0U) << error.what();
  }
}

TEST(Misuse, AFunctionThatReturnsAReferenceGivesAValue) {
  std::vector<Tensor> kept{ones({2}), zeros({3})};
  auto f = function([&](const Tensor &a) -> const std::vector<Tensor> & {
    kept[0] = a * 2;
    return kept;
  });
  std::vector<Tensor> results = f(ones({2}));
  expectValues(results[0], {2, 2});
  expectValues(results[1], {0, 0, 0});
  static_assert(std::is_same_v<decltype(f(ones({2}))), std::vector<Tensor>>);
  expectValues(f.get_concrete_function(ones({2}))(ones({2}))[0], {2, 2});
  expectValues(function([&](const Tensor &a) { return f(a)[0]; })(ones({2})), {2, 2});
  expectValues(function<const Tensor &(const Tensor &)>([](const Tensor &a) { return a + 1; })(ones({2})), {2, 2});
}

TEST(Misuse, AGuardMayOutliveItsTape) {
  std::optional<GradientTape::Pause> guard;
  {
    GradientTape tape;
    guard.emplace(tape.stop_recording());
  }
  guard.reset();
  GradientTape tape;
  Tensor a = ones({2});
  tape.watch(a);
  expectValues(*tape.gradient(a * a, a), {2, 2});
}

TEST(Misuse, OverridesMayEndInAnyOrder) {
  auto constant = [](float value) {
    return [value](const std::vector<Tensor> &, const Tensor &, const Tensor &g) {
      return std::vector<Tensor>{g * value};
    };
  };
  auto first = std::make_unique<GradientOverride>("relu", constant(5)),
       second = std::make_unique<GradientOverride>("tanh", constant(7));
  first.reset();
  auto f = [](const Tensor &a) { return relu(a) + tanh(a); };
  auto compiled = function([&](const Tensor &a) { return grad(f)(a); });
  for (const Tensor &g : {grad(f)(ones({1})), compiled(ones({1}))})
    expectValues(g, {8});
  second.reset();
  EXPECT_NE(compiled(ones({1})).to_vector<float>()[0], 8);
}
