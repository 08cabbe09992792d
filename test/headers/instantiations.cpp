// Uses every template of the public headers once, so that a compiler looks into them. It is compiled and not run.
#include "calque/solvers.h"
#include "calque/training.h"

#include <iostream>

using namespace calque;

enum class Mode { Train, Test };
struct Examples {
  Tensor x;
  std::vector<Tensor> more;
  std::map<std::string, Tensor> named;
  std::optional<Tensor> weights;
  std::array<Tensor, 2> pair;
  std::tuple<Tensor, std::string, Mode> rest;
};
struct Empty {};

class Looker {
public:
  Method<Tensor(const Tensor &, bool)> call{this, &Looker::apply, {.name = "call"}};
  Method<Tensor(const Tensor &)> look{static_cast<const Looker *>(this), &Looker::read};
  Tensor apply(const Tensor &x, bool training) { return training ? x * w : x; }
  Tensor read(const Tensor &x) const { return x + w; }

private:
  Variable w{2.0f};
};

struct Net : Module {
  Variable w = variable("w", zeros({3}));
  layers::Dense dense = submodule("dense", layers::Dense(3));
};

namespace {

void functions(const Tensor &x, const Variable &v, const Examples &batch) {
  auto f = function([](const Tensor &a, int n, float b, bool, const std::string &, Mode) { return a * n + b; },
                    {.name = "f"});
  f(x, 1, 2.0f, true, "text", Mode::Train);
  f.eager(x, 1, 2.0f, true, "text", Mode::Test);
  f.ir("traced", x, 1, 2.0f, true, "text", Mode::Test);
  f.graph(x, 1, 2.0f, true, "text", Mode::Test);
  auto concrete = f.get_concrete_function(TensorSpec<float>({kDynamic}), 1, 2.0f, true, "text", Mode::Test);
  concrete(x);
  concrete(x, 1, 2.0f, true, "text", Mode::Test);
  std::cout << concrete.str() << concrete.ir("traced") << concrete.graph() << concrete.argument_specs().size()
            << concrete.result_specs().size();
  auto declared = function([](const Tensor &a) { return a; }, {.input_signature = {TensorSpec<float>(kAnyShape)}});
  declared.get_concrete_function()(x);
  auto structured = function(
      [](const Examples &b, const Variable &w, const Shape &shape, long double, const std::vector<bool> &, Empty) {
        w.value();
        return std::pair(b, reshape(b.x, shape));
      });
  structured(batch, v, {2}, 1.0L, {true}, {});
  function([](Tensor a) { a = a + 1; })(x);
  function([]() -> const Tensor & {
    static const Tensor made = ones({2});
    return made;
  })();
  function([](Tensor &&a) { return a; })(Tensor(x));
  auto again = function(f, {.max_traces = 2});
  std::cout << again.trace_count() << again.explain_retraces().size() << again.pretty_printed_concrete_signatures();
  again.clear();
  function<Tensor(const Tensor &)>([](const auto &a) { return a; })(x);
  function(std::ref(f));
  Looker model;
  function(model.look)(x);
  model.call(x, true);
  model.look(x);
  function(&model, &Looker::apply)(x, false);
}

void transforms(const Tensor &x) {
  auto f = [](const Tensor &a) { return sum(a * a); };
  auto two = [](const Tensor &a, const Tensor &b) { return a * b; };
  auto generic = [](const auto &...a) { return sum((... + a)); };
  function(vmap(grad(f)))(x);
  function(value_and_grad(generic(x) ? f : f))(x);
  vmap(two, {.in_axes = {0, std::nullopt}, .out_axes = {0}})(x, x);
  grad(generic)(x, x, x, x, x, x, x, x);
  jacobian(f)(x);
  batch_jacobian(two)(x, x);
  hvp(f)(x, x);
  hessian(f)(x);
  jvp(two, std::tuple(x, x), std::tuple(x, x));
  auto [y, pullback] = vjp(two, std::tuple(x, x));
  pullback(y);
  checkpoint(two)(x, x);
  checkpoint([&] { return x; })();
  custom_gradient([](const Tensor &a) { return std::pair(a, [](const Tensor &g) { return g; }); })(x);
}

// C++ numbers and variables for tensors.
void numbers(const Tensor &x, const Variable &v) {
  auto two = [](const Tensor &a, const Tensor &b) { return a * b; };
  auto f = function(two);
  f(1.0, v);
  f.eager(x, 2);
  f.ir("traced", 1.0, x.shape()[0]);
  f.graph(1.0, 2.0);
  f.get_concrete_function(1.0, TensorSpec<float>({}))(2.0, 3);
  function([](const Tensor &a, int n) { return a * n; }).get_concrete_function(TensorSpec<float>({}), 2)(3.0);
  function(grad(f))(1.0, 2.0);
  grad(two, {.argnums = {1}})(v, 2.0);
  jacobian(two)(v, 2.0);
  jacobian([](const auto &a) { return a; })(v);
  hessian([](const auto &a) { return a; })(1.0);
  jvp(two, std::tuple(1.0, v), std::tuple(1, x));
  vjp(two, std::tuple(v, 2.0)).second(1);
  vmap(two)(x, v);
  debug::verify(two, std::tuple(1.0, v));
}

void tapes(const Tensor &x, const Variable &v) {
  GradientTape tape({.persistent = true});
  tape.watch(x);
  Tensor y = x * v;
  tape.gradient(y, x);
  tape.gradient(y, std::tuple(x, v, std::array{x, x}, std::map<std::string, Variable>{{"v", v}}, std::vector{v}));
  tape.gradient({y, y}, std::pair(x, v), {.unconnected_gradients = UnconnectedGradients::Zero});
  tape.gradient(y, v, UnconnectedGradients::Zero);
  tape.gradient({y, y}, x);
  tape.gradient({y, y}, std::tie(x, v));
  tape.gradient({y, y}, {x, x}, UnconnectedGradients::Zero);
}

void values(const Tensor &x, const Variable &v) {
  std::cout << x << v << x.shape() << x.shape()[0] << x.item<float>() << x.to_vector<double>().size() << *x.data<int>();
  tensor<float>({1, 2}, {2});
  tensor<bool>({true});
  tensor(std::vector<std::int64_t>{1});
  tensor(std::span<const double>(), {0});
  tensor(std::array{1, 2});
  tensor(std::array{1, 2}, {2, 1});
  std::cout << x.dtype() << DTypeKind::Float << UnconnectedGradients::None << losses::Reduction::Mean
            << TensorSpec<float>({1});
  scalar<double>(1.5);
  dispatch(x.dtype(), []<typename T>(std::type_identity<T>) { return sizeof(T); });
  Shape shape(2, 3);
  shape.insert(shape.end(), shape.begin(), shape.end());
  std::cout << (shape[0] < shape[1]) << shape[0] + shape[1] << -shape[0] << (shape[0] == 2u) << (shape == shape);
}

void dataSets(const Tensor &x, const Examples &batch) {
  data::Dataset batches = data::from_tensor_slices(batch);
  batches.shuffle(3).batch(2).unbatch().enumerate().window(2);
  batches.map([](const Examples &one) { return std::pair(one.x, 3); }, {.num_parallel_calls = 2})
      .filter([](const Tensor &, int n) { return n > 2; })
      .bucket_by_sequence_length([](const Tensor &a, int) { return a; }, {1}, {1, 2});
  batches.scan(0.5, [](double state, const Examples &one) { return std::pair(state, one.x); });
  batches.flat_map([](const Examples &one) { return data::from_tensors(one.x, one.x); });
  data::from_generator([] { return std::optional(std::string()); });
  data::from_generator([] { return std::vector<float>(); });
  std::cout << (*data::from_generator(std::vector{Mode::Train}).begin() == Mode::Test);
  data::zip(data::range(3), data::csv_rows("rows"), data::from_tensors(x));
  data::sample_from_datasets(std::vector{data::range(2)});
  for (const Examples &one : batches)
    std::cout << one.x;
}

struct Progress : Trackable {
  int epoch = 0;
  double rate = 0;
  bool done = false;
  std::string note;
  void checkpoint_parts(CheckpointVisitor &visitor) override {
    visitor.value("epoch", epoch);
    visitor.value("rate", rate);
    visitor.value("done", done);
    visitor.value("note", note);
  }
};

void saving(const Tensor &x, const Variable &v) {
  Progress progress;
  Tensor kept = x;
  float number = 0;
  auto at = data::range(3).begin();
  layers::Dense dense(3);
  Checkpoint checkpoint{{"progress", progress}, {"kept", kept}, {"number", number}, {"at", at}, {"v", v},
                        {"dense", dense}};
  checkpoint.restore(checkpoint.save("x"));
  Checkpoint(dense).restore(latest_checkpoint("."));
  save_safetensors("x", dense.named_variables());
  save_safetensors("x", {{"x", x}, {"v", v}});
}

void hostCalls(const Tensor &x) {
  host_call([](std::span<const Tensor> in) { return in[0]; }, {x}, {TensorSpec<float>({1})});
  host_call([](const std::vector<Tensor> &in) { return in; }, {x}, {TensorSpec<float>({1})});
  host_call([](const Tensor &, const Tensor &) {}, {x, x});
}

void solverCalls(const Tensor &x, const Variable &v) {
  using namespace calque::solvers;
  using Pair = std::pair<Tensor, Tensor>;
  auto f = [](const Tensor &, const Tensor &y) { return -y; };
  auto both = [](const Tensor &, const Pair &y) { return y; };
  auto withRates = [](const Tensor &, const Tensor &y, const Pair &rates) { return y * rates.first; };
  odeint(f, x, x, {.method = OdeMethod::Bdf, .rtol = 1e-3, .atol = v, .max_step = x});
  odeint(f, v, x);
  odeint(f, 1.0, x);
  odeint(both, Pair(x, x), x);
  odeint(withRates, x, x, Pair(x, x), {.adjoint = Adjoint::Backsolve});
  odeint(withRates, v, x, Pair(x, x));
  odeint_events(f, x, x, {{.g = [](const Tensor &, const Tensor &y) { return y; }}});
  odeint_events(both, Pair(x, x), x, {{.g = [](const Tensor &, const Pair &y) { return y.first; }, .direction = 1}},
                {.rtol = x});
  verlet(f, x, x, x, {.steps = 3});
  random::Generator noise(1);
  sdeint(f, f, x, x, noise, {.steps = 2});
  sdeint(both, both, Pair(x, x), x, random::state(1, 0));
  sdeint_along(f, f, x, x, x);
  quad([](const Tensor &at) { return at; }, 0, kInfinity);
  quad([](const Tensor &at) { return at; }, x, v, {.rtol = 1e-3});
  fixed_quad([](const Tensor &at) { return at; }, 0, x);
  trapezoid(x, {.dx = 0.1});
}

} // namespace

void use(const Tensor &x, const Variable &v, const Examples &batch) {
  functions(x, v, batch);
  transforms(x);
  numbers(x, v);
  tapes(x, v);
  values(x, v);
  hostCalls(x);
  saving(x, v);
  solverCalls(x, v);
  dataSets(x, batch);
  layers::Dense(3, {.activation = [](const Tensor &t) { return t; },
                    .kernel_initializer = [](const Shape &shape, DType dtype) { return ones(shape, dtype); }})(x);
  InitScope scope;
  Net().dense(x);
}
