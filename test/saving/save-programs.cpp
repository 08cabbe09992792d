// save-programs DIRECTORY: saves programs of every kind as NAME.calque, each function named by what it is, and what
// their calls give as NAME.expected: "in.I", and for call C "out.C.I" and the gradients "grad.C.I". run-programs, which
// has none of the code below, must get the same bits.
#include "calque/operation.h"
#include "calque/safetensors.h"
#include "calque/saved_functions.h"
#include "test/saving/Digits.h"

#include <complex>
#include <iostream>

using namespace calque;

namespace {

using Tensors = std::vector<Tensor>;
using Program = Function<Tensors(const Tensors &)>;

std::string directory;

// The sum of all floating-point elements, as float64.
Tensor total(const Tensors &results) {
  Tensor sum = scalar<double>(0.0);
  for (const Tensor &each : results)
    if (is_floating(each.dtype()))
      sum = sum + calque::sum(cast(each, DType::Float64));
  return sum;
}

// `specs`: the signature that is saved, if it is not that of the inputs. `gradients`: of the calls after the first.
template <typename F>
void save(const std::string &name, F body, const Tensors &inputs, bool gradients = true,
          std::vector<TensorSpec<>> specs = {}) {
  Program f(body, {.name = name, .input_signature = specs});
  Tensors traced(inputs);
  for (std::size_t i = 0; i < specs.size(); ++i)
    traced[i] = Tensor(specs[i]);
  auto concrete = f.get_concrete_function(traced);
  save_functions(directory + "/" + name + ".calque", {{"program", concrete}});
  std::map<std::string, Tensor> expected;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    expected["in." + std::to_string(i)] = inputs[i];
  for (int call = 0; call < 3; ++call) {
    const std::string number = std::to_string(call) + ".";
    GradientTape tape({.persistent = true});
    for (const Tensor &input : inputs)
      if (gradients && is_floating(input.dtype()))
        tape.watch(input);
    Tensors results = concrete(inputs);
    for (std::size_t i = 0; i < results.size(); ++i)
      expected["out." + number + std::to_string(i)] = results[i];
    if (!gradients)
      continue;
    Tensor target = total(results);
    for (std::size_t i = 0; i < inputs.size(); ++i)
      if (is_floating(inputs[i].dtype()))
        expected["grad." + number + std::to_string(i)] =
            *tape.gradient(target, inputs[i], {.unconnected_gradients = UnconnectedGradients::Zero});
  }
  save_safetensors(directory + "/" + name + ".expected", expected);
}

Tensor numbers(std::initializer_list<std::int64_t> sizes, float scale = 1) {
  std::int64_t count = 1;
  for (std::int64_t size : sizes)
    count *= size;
  return reshape(sin(iota({count}, DType::Float32) * 0.7f) * scale, calque::Shape(std::vector<std::int64_t>(sizes)));
}

//===-- Branches and loops ----------------------------------------------------------------------===//

void saveControlFlow() {
  const Tensor x = numbers({3, 2}), one = scalar(1.5f);
  save("cond",
       [](const Tensors &in) {
         return Tensors{cond(sum(in[0]) > 0.f, [&] { return in[0] * 2.f; }, [&] { return exp(in[0]); })};
       },
       {x});
  save("switch_case",
       [](const Tensors &in) {
         return Tensors{switch_case(in[1], std::vector<std::function<Tensor()>>{[&] { return in[0] + 1.f; },
                                                                                [&] { return sin(in[0]); },
                                                                                [&] { return -in[0]; }})};
       },
       {x, scalar(1)});
  save("while_loop",
       [](const Tensors &in) {
         auto [y, n] = while_loop([](const Tensor &y, const Tensor &) { return sum(square(y)) < 100.f; },
                                  [](const Tensor &y, const Tensor &n) { return std::tuple(y * 1.5f, n + 1); },
                                  std::tuple(in[0], scalar(0)));
         return Tensors{y, n};
       },
       {x});
  save("for_range",
       [](const Tensors &in) {
         return Tensors{
             for_range(0, in[1], in[0], [](const Tensor &i, const Tensor &y) { return sin(y) + cast(i, y.dtype()); })};
       },
       {x, scalar(4)});
  save("map_fn",
       [](const Tensors &in) { return Tensors{map_fn([](const Tensor &row) { return cumsum(row, 0); }, in[0])}; }, {x});
  auto scanned = [](const Tensors &in) {
    auto [last, all] = scan(
        [](const Tensor &h, const Tensor &row) {
          Tensor next = tanh(h + row);
          return std::pair(next, next * 2.f);
        },
        zeros({2}), in[0]);
    return Tensors{last, all};
  };
  save("scan", scanned, {x});
  save("scan_open", scanned, {x}, true, {TensorSpec<float>({kDynamic, 2})});
  // Rows are added in each iteration; the pullback goes back to the sizes of the argument.
  save("grown",
       [](const Tensors &in) {
         auto [i, rows] =
             while_loop([&](const Tensor &i, const Tensor &) { return i < in[1]; },
                        [](const Tensor &i, const Tensor &rows) {
                          return std::tuple(i + 1, concat({rows, tanh(sum(rows, {0}, true))}));
                        },
                        std::tuple(scalar(0), exp(in[0])), {.shape_invariants = {std::nullopt, Shape{kDynamic, 2}}});
         return Tensors{sum(square(rows)) + sum(in[0])};
       },
       {x, scalar(3)}, true, {TensorSpec<float>({kDynamic, 2}), TensorSpec<std::int32_t>({})});
  save("fold",
       [](const Tensors &in) {
         return Tensors{fold([](const Tensor &sum, const Tensor &row) { return sum * 0.5f + row; }, zeros({2}), in[0])};
       },
       {x});
  save("native_branch",
       [](const Tensors &in) {
         Tensor y = in[0];
         if (y > 1.f)
           y = y * y;
         else
           y = -y;
         return Tensors{y};
       },
       {one});
  save("native_while",
       [](const Tensors &in) { // Newton's method
         Tensor y = in[0];
         for (int i = 0; i < 50; ++i) {
           Tensor step = (y * y - in[0]) / (2.f * y);
           y = y - step;
           if (abs(step) < 1e-5f)
             break;
         }
         return Tensors{y};
       },
       {one});
  save("native_rows",
       [](const Tensors &in) {
         Tensor h = zeros({2});
         for (Tensor row : in[0]) {
           h = tanh(h + row);
           if (sum(h) > 1.9f)
             break;
         }
         return Tensors{h};
       },
       {x});
  save("native_return",
       [](const Tensors &in) {
         Tensor y = in[0];
         while (y < 100.f) {
           if (y > 50.f)
             return Tensors{-y};
           y = y * 3.f;
         }
         return Tensors{y};
       },
       {one});
  save("array",
       [](const Tensors &in) {
         TensorArray all(4, DType::Float32, {2});
         Tensor y = in[0][0];
         for (Tensor i : range(4)) {
           y = y * 1.1f;
           all.write(i, y);
         }
         return Tensors{all.stack()};
       },
       {x});
  save("checkpoint",
       [](const Tensors &in) {
         return Tensors{while_loop([](const Tensor &y) { return sum(square(y)) < 1000.f; },
                                   [](const Tensor &y) { return y * 1.01f; }, in[0], {.checkpoint = true})};
       },
       {x});
}

//===-- Operations and transforms ---------------------------------------------------------------===//

void saveTransforms() {
  const Tensor x = numbers({3, 2}), flags = x > 0.f, integers = cast(x * 10.f, DType::Int64);
  save(
      "types",
      [](const Tensors &in) {
        return Tensors{cast(in[0], DType::Float64) * 0.1, logical_not(in[1]), in[2] * 3, cast(in[2], DType::Int32),
                       in[0].rows(0, 0)};
      },
      {x, flags, integers}, false);
  save(
      "small_types",
      [](const Tensors &in) {
        Tensor hash = in[2];
        for (Tensor i : range(3))
          hash = (hash ^ (hash >> 7)) * 11;
        return Tensors{
            in[0] * 3, sum(in[0]), max(in[1]), hash, exp(in[3]) / 3, in[4] * in[4], cast(in[3], DType::Int8)};
      },
      {cast(integers, DType::UInt8), cast(integers, DType::Int16), cast(integers, DType::UInt64),
       cast(x, DType::Float16), cast(x, DType::BFloat16)},
      false);
  save(
      "complex_numbers",
      [](const Tensors &in) {
        Tensor z = in[0];
        for (Tensor i : range(3))
          z = z * z + std::complex(0.25f, -0.5f);
        return Tensors{z, abs(in[0]), conj(in[1]), sum(in[1] * in[1]), cast(in[0], DType::Complex128)};
      },
      {complex(x, x + 1), cast(complex(x, 2 - x), DType::Complex128)}, false);
  save("grad",
       [](const Tensors &in) {
         return Tensors{grad([](const Tensor &y) { return sum(sin(y) * y); })(in[0]),
                        hessian([](const Tensor &y) { return sum(y * y * y); })(in[0][0])};
       },
       {x});
  save("tape",
       [](const Tensors &in) {
         GradientTape tape;
         tape.watch(in[0]);
         Tensor y = sum(exp(in[0]) * in[0]);
         return Tensors{y, *tape.gradient(y, in[0])};
       },
       {x});
  save("vmap", [](const Tensors &in) { return Tensors{vmap([](const Tensor &row) { return row * sum(row); })(in[0])}; },
       {x});
  save("custom_gradient",
       [](const Tensors &in) {
         auto clipped = custom_gradient([](const Tensor &y) {
           return std::pair(y * y, [y](const Tensor &g) { return clip(g * 2.f * y, -1.f, 1.f); });
         });
         return Tensors{clipped(in[0]), checkpoint([](const Tensor &y) { return tanh(y) * y; })(in[0])};
       },
       {x});
  random::Generator dice(7);
  save("random",
       [dice](const Tensors &in) mutable { return Tensors{dice.normal({2, 2}), dice.uniform({3}) * in[0][0][0]}; },
       {x});
  Variable count(scalar(0), {.name = "count"});
  save(
      "assertions",
      [count](const Tensors &in) {
        Variable(count).assign_add(1);
        assert_true(count.value() < 10, "called too often");
        return Tensors{in[0] + cast(count.value(), DType::Float32)};
      },
      {x}, false);
}

//===-- Networks --------------------------------------------------------------------------------===//

// A step of training by Adam: what it gives is the loss.
auto stepOf(ModelHandle model, optimizers::Adam adam) {
  return [=](const Tensors &in) mutable {
    GradientTape tape;
    Tensor loss =
        mean(losses::sparse_categorical_crossentropy(in[1], model(in[0], {.training = true}), {.from_logits = true}));
    const std::vector<Variable> weights = model.trainable_variables();
    adam.apply_gradients(tape.gradient(loss, weights), weights);
    return Tensors{loss};
  };
}

void saveNetwork(const std::string &name, const ModelHandle &model, const Tensor &x, std::vector<TensorSpec<>> specs,
                 const Tensor &labels) {
  model(x); // which builds it
  save(name, [=](const Tensors &in) { return Tensors{model(in[0])}; }, {x}, is_floating(x.dtype()), {specs[0]});
  auto step = stepOf(model, optimizers::Adam(0.01));
  step({x, labels}); // which makes the slots
  save(name + "_step", step, {x, labels}, false, specs);
}

// Captured matrices are laid out for their products when code is made: in each process, and ahead of time.
void savePanels() {
  const Tensor w = numbers({64, 96}, 0.1f), v = numbers({100, 96}, 0.1f), b = numbers({96});
  auto body = [=](const Tensors &in) {
    Tensor h = tanh(matmul(in[0], w) + b);
    return Tensors{matmul(h, v, {.transpose_b = true}), matmul(h, w, {.transpose_b = true}) + sum(w)};
  };
  save("captured_matrices", body, {numbers({7, 64})});
  save("captured_matrices_open", body, {numbers({7, 64})}, true, {TensorSpec<float>({kDynamic, 64})});
}

void saveNetworks() {
  using namespace layers;
  set_seed(3);
  saveNetwork("reference_cnn", calque::testing::referenceNetwork("linear"), numbers({8, 28, 28, 1}),
              {TensorSpec<float>({kDynamic, 28, 28, 1}), TensorSpec<std::int32_t>({kDynamic})},
              tensor({0, 2, 9, 1, 4, 7, 3, 0}));
  Sequential cnn({Conv2D(4, 3, {.padding = "same", .activation = "relu"}), BatchNormalization(), MaxPooling2D(2),
                  Flatten(), Dense(8, {.activation = "relu"}), Dropout(0.5), Dense(3)});
  saveNetwork("cnn", cnn, numbers({4, 8, 8, 1}),
              {TensorSpec<float>({kDynamic, 8, 8, 1}), TensorSpec<std::int32_t>({kDynamic})}, tensor({0, 2, 1, 1}));
  Sequential lstm({Embedding(5, 4), LSTM(6), Dense(3)});
  saveNetwork("lstm", lstm, tensor({{1, 2, 3, 4}, {4, 0, 0, 1}}),
              {TensorSpec<std::int32_t>({kDynamic, kDynamic}), TensorSpec<std::int32_t>({kDynamic})}, tensor({0, 2}));
  auto input = Input({5, 8});
  auto heard = Add()({input, MultiHeadAttention(2, 4)(LayerNormalization()(input))});
  auto wide = Dense(8)(Dense(16, {.activation = "gelu"})(LayerNormalization()(heard)));
  models::Functional block(input, Dense(3)(GlobalAveragePooling1D()(Add()({heard, wide}))));
  saveNetwork("transformer", block, numbers({2, 5, 8}),
              {TensorSpec<float>({kDynamic, 5, 8}), TensorSpec<std::int32_t>({kDynamic})}, tensor({1, 2}));
}

// What the program that loads it has not.
void saveUserOperation() {
  const Operation op({.name = "cube",
                      .types = [](const std::vector<TensorSpec<>> &in) { return in; },
                      .kernel = [](const KernelTensor *in, const KernelTensor *out, void *) -> std::int32_t {
                        const auto *x = static_cast<const float *>(in->data);
                        *static_cast<float *>(out->data) = *x * *x * *x;
                        return 0;
                      }});
  auto f = function([op](const Tensor &x) { return op({x})[0]; });
  f(scalar(2.f));
  auto plus = function([](const Tensor &x) { return x + 1.f; });
  plus(scalar(2.f));
  save_functions(directory + "/cube.own", {{"cube", f}, {"plus", plus}});
  // Here there is one of this name.
  if (load_functions(directory + "/cube.own")["cube"]({scalar(2.f)})[0].item<float>() != 8)
    throw InternalError("the loaded operation is another one");
}

// Several functions in one file, for the C program misuse.c.
void saveForC() {
  auto f = function([](const Tensor &x) { return std::pair(x * x, sum(x)); }, {.argument_names = {"x"}});
  f.get_concrete_function(TensorSpec<std::int64_t>({2}));
  f.get_concrete_function(TensorSpec<float>({kDynamic}));
  f.get_concrete_function(TensorSpec<double>({kDynamic, kDynamic}));
  const std::int64_t many = 100'000;
  Variable table(zeros({many}), {.name = "table"}), calls(scalar(0), {.name = "calls"});
  auto add = function(
      [=](const Tensor &x, const Tensor &at) mutable {
        calls.assign_add(1);
        table.assign_add(x); // in place
        Tensor taken = gather(table, at);
        assert_true(taken < 100.f, "too much");
        return taken;
      },
      {.argument_names = {"x", "at"}});
  add.get_concrete_function(TensorSpec<float>({kDynamic}), TensorSpec<std::int32_t>({}));
  auto each = function(vmap([](const Tensor &row, const Tensor &at) { return gather(row, at); }),
                       {.argument_names = {"rows", "at"}});
  each.get_concrete_function(TensorSpec<float>({3, 4}), TensorSpec<std::int32_t>({3}));
  auto total = function([=] { return sum(table) + cast(calls, DType::Float32); });
  total.get_concrete_function();
  auto product =
      function([](const Tensor &a, const Tensor &b) { return matmul(a, b); }, {.argument_names = {"a", "b"}});
  product.get_concrete_function(TensorSpec<float>({kDynamic, kDynamic}), TensorSpec<float>({kDynamic, 2}));
  save_functions(directory + "/misuse.own",
                 {{"f", f}, {"add", add}, {"each", each}, {"total", total}, {"product", product}});
}

// Functions whose arguments, results and own names the header of a C program has for itself, or C.
void saveNames() {
  const std::vector<std::string> names = {"x",
                                          "int",
                                          "class",
                                          "I",
                                          "complex",
                                          "EOF",
                                          "NULL",
                                          "_Bool",
                                          "model",
                                          "calque_call",
                                          "calque_model",
                                          "int64_t",
                                          "arguments_",
                                          "sizes_",
                                          "results_",
                                          "capacities_",
                                          "result",
                                          "x_size0",
                                          "result_sizes",
                                          "calque_x",
                                          "a-b",
                                          "a_b",
                                          "a b",
                                          "\u00fc",
                                          "",
                                          "1st",
                                          "result_capacity",
                                          "__LINE__",
                                          "x_1",
                                          "calque_library",
                                          "x_cotangent",
                                          "typeof",
                                          "si_value",
                                          "sa_handler"};
  std::vector<std::pair<std::string, FunctionToSave>> functions;
  auto save = [&](const std::string &name, auto f) {
    functions.emplace_back(name, f.get_concrete_function(TensorSpec<float>({kDynamic}), TensorSpec<float>({kDynamic})));
  };
  auto add = [](const Tensor &a, const Tensor &b) { return a + b; };
  for (std::size_t i = 0; i < names.size(); i += 2)
    save("f" + std::to_string(i), function(add, {.argument_names = {names[i], names[i + 1]}}));
  // "x" beside each of the names that are made from it.
  for (const char *other : {"x_size0", "x_1", "x_1_size0", "result", "result_capacity"})
    save(std::string("x and ") + other, function(add, {.argument_names = {"x", other}}));
  save("join", function(add)); // in an object pthread.o
  save("results", function(
                      [names](const Tensor &a, const Tensor &b) {
                        std::map<std::string, Tensor> all;
                        for (const std::string &name : names)
                          all.emplace(name, a + b);
                        return all;
                      },
                      {.argument_names = {"result", "result_int"}}));
  save_functions(directory + "/names.own", functions);
}

// Functions that were saved for several numbers, texts and structures of the program.
void saveHostValues() {
  auto scaled = function(
      [](const Tensor &x, int n, const std::string &mode, double by, bool negate) {
        Tensor y = (mode == "sum" ? sum(x) : x) * float(n) * float(by);
        return negate ? -y : y;
      },
      {.argument_names = {"x", "n", "mode", "by", "negate"}});
  const Tensor rows = ones({2});
  for (int n : {1, 2, 3})
    for (const char *mode : {"sum", "each one"})
      scaled(rows, n, mode, 0.5, false);
  scaled(rows, 3, "sum", 0.5, true);
  auto one = function([](int n, const Tensor &x) { return x + float(n); });
  one(7, scalar(1.f));
  auto total = function([](const std::vector<Tensor> &all) {
    Tensor sum = all[0];
    for (std::size_t i = 1; i < all.size(); ++i)
      sum += all[i];
    return std::vector<Tensor>(all.size(), sum);
  });
  total({scalar(1.f)});
  total({scalar(1.f), scalar(2.f)});
  save_functions(directory + "/hosts.own", {{"scaled", scaled}, {"one", one}, {"total", total}});
}

} // namespace

int main(int argc, char **argv) {
  if (argc != 2)
    return 2;
  directory = argv[1];
  try {
    saveControlFlow();
    saveTransforms();
    savePanels();
    saveNetworks();
    saveUserOperation();
    saveForC();
    saveNames();
    saveHostValues();
  } catch (const Error &error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
