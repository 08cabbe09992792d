// TensorFlow's guide to automatic differentiation, cell by cell. The lines in gradient_tape.out are what the guide
// prints.
#include <calque/training.h>

#include <iostream>

using namespace calque;

// The contrast of an image [height, width, channels], each of whose channels has a mean.
std::int32_t adjust_contrast(const KernelTensor *in, const KernelTensor *out, void *) {
  const auto *x = static_cast<const float *>(in[0].data), *factor = static_cast<const float *>(in[1].data);
  auto *y = static_cast<float *>(out[0].data);
  const std::int64_t pixels = in[0].sizes[0] * in[0].sizes[1], channels = in[0].sizes[2];
  for (std::int64_t c = 0; c < channels; ++c) {
    float mean = 0;
    for (std::int64_t p = 0; p < pixels; ++p)
      mean += x[p * channels + c] / static_cast<float>(pixels);
    for (std::int64_t p = 0; p < pixels; ++p)
      y[p * channels + c] = (x[p * channels + c] - mean) * *factor + mean;
  }
  return 0;
}

int main() {
  { // Gradient tapes
    Variable x(3.0);
    GradientTape tape;
    Tensor y = pow(x, 2);
    std::cout << tape.gradient(y, x) << '\n';
  }
  Variable w(random::normal({3, 2}), {.name = "w"}), b(zeros({2}), {.name = "b"});
  Tensor row = tensor({{1., 2., 3.}});
  {
    GradientTape tape({.persistent = true});
    Tensor loss = mean(pow(matmul(row, w) + b, 2));
    auto [dw, db] = tape.gradient(loss, std::pair(w, b));
    std::cout << w.shape() << ' ' << dw->shape() << '\n';
    auto gradients = tape.gradient(loss, std::map<std::string, Variable>{{"w", w}, {"b", b}});
    std::cout << gradients.at("b")->shape() << '\n';
  }
  { // The same of ones and zeros, line by line and compiled
    Variable w(ones({3, 2})), b(zeros({2}));
    auto gradients = [&] {
      GradientTape tape;
      Tensor loss = mean(pow(matmul(row, w) + b, 2));
      auto [dw, db] = tape.gradient(loss, std::pair(w, b));
      return std::pair(*dw, *db);
    };
    for (const auto &[dw, db] : {gradients(), function(gradients)()})
      std::cout << dw << ' ' << db << '\n';
  }
  { // Gradients with respect to a model
    layers::Dense layer(2, {.activation = "relu"});
    layer.build({1, 3}); // made at the first call otherwise
    GradientTape tape;
    Tensor loss = mean(pow(layer(row), 2));
    auto weights = layer.trainable_variables();
    auto gradients = tape.gradient(loss, weights);
    for (std::size_t i = 0; i < weights.size(); ++i)
      std::cout << weights[i].name() << " shape: " << gradients[i]->shape() << '\n';
  }
  {                                                       // Controlling what the tape watches
    Variable x0(3.0, {.name = "x0"});                     // a trainable variable
    Variable x1(3.0, {.name = "x1", .trainable = false}); // not trainable
    Tensor x2 = Variable(2.0, {.name = "x2"}) + 1.0;      // no variable: a tensor
    Tensor x3 = scalar(3.0);                              // no variable
    GradientTape tape;
    Tensor y = pow(x0, 2) + pow(x1, 2) + pow(x2, 2);
    for (const auto &gradient : tape.gradient(y, std::vector<Tensor>{x2, x3}))
      std::cout << gradient << ' ';
    std::cout << '\n';
    for (const Variable &each : tape.watched_variables())
      std::cout << each.name() << '\n';
  }
  {
    Tensor x = scalar(3.0);
    GradientTape tape;
    tape.watch(x);
    Tensor y = pow(x, 2);
    std::cout << tape.gradient(y, x) << '\n';
  }
  {
    Variable x0(0.0), x1(10.0);
    GradientTape tape({.watch_accessed_variables = false});
    tape.watch(x1);
    Tensor y0 = sin(x0), y1 = log(1 + exp(x1));
    auto [dx0, dx1] = tape.gradient(sum(y0 + y1), std::pair(x0, x1));
    std::cout << "dy/dx0: " << dx0 << "\ndy/dx1: " << dx1 << '\n';
  }
  { // Intermediate results
    Tensor x = scalar(3.0);
    GradientTape tape;
    tape.watch(x);
    Tensor y = x * x, z = y * y;
    std::cout << tape.gradient(z, y) << '\n';
  }
  {
    Tensor x = tensor({1, 3.0});
    GradientTape tape({.persistent = true});
    tape.watch(x);
    Tensor y = x * x, z = y * y;
    std::cout << tape.gradient(z, x) << '\n' << tape.gradient(y, x) << '\n';
  }
  { // Gradients of targets that are no scalars
    Variable x(2.0);
    GradientTape tape({.persistent = true});
    Tensor y0 = pow(x, 2), y1 = 1 / x;
    std::cout << tape.gradient(y0, x) << ' ' << tape.gradient(y1, x) << ' ' << tape.gradient({y0, y1}, x) << '\n';
  }
  {
    Variable x(2.);
    GradientTape tape;
    Tensor y = x * tensor({3., 4.});
    std::cout << tape.gradient(y, x) << '\n';
  }
  { // Control flow
    Tensor x = scalar(1.0);
    Variable v0(2.0), v1(2.0);
    GradientTape tape({.persistent = true});
    tape.watch(x);
    Tensor result;
    if (x > 0.0)
      result = v0;
    else
      result = pow(v1, 2);
    auto [dv0, dv1] = tape.gradient(result, std::pair(v0, v1));
    std::cout << dv0 << '\n' << dv1 << '\n' << tape.gradient(result, x) << '\n';
  }
  { // Getting a gradient of none: not connected
    Variable x(2.), y(3.);
    GradientTape tape;
    Tensor z = y * y;
    std::cout << tape.gradient(z, x) << '\n';
  }
  { // A step outside of the tensors
    Variable x(tensor({{1.0, 2.0}, {3.0, 4.0}}));
    GradientTape tape;
    Tensor x2 = pow(x, 2);
    std::vector<float> values = x2.to_vector<float>();
    Tensor y = mean(tensor(values, {2, 2}), {0});
    std::cout << tape.gradient(y, x) << '\n';
  }
  { // Integers: a warning, and none
    Tensor x = scalar(10);
    GradientTape g;
    g.watch(x);
    Tensor y = x * x;
    std::cout << g.gradient(y, x) << '\n';
  }
  { // State hides where a value came from
    Variable x0(3.0), x1(0.0);
    GradientTape tape;
    x1.assign_add(x0);
    Tensor y = pow(x1, 2);
    std::cout << tape.gradient(y, x0) << '\n';
  }
  { // An operation without a gradient, which data::adjust_contrast has
    Operation contrast({.name = "AdjustContrastv2",
                        .types = [](const std::vector<TensorSpec<>> &in) { return std::vector{in[0]}; },
                        .kernel = adjust_contrast});
    Variable image(tensor({{{0.5, 0.0, 0.0}}})), delta(0.1);
    GradientTape tape;
    Tensor new_image = contrast({image, delta})[0];
    try {
      tape.gradient(new_image, std::pair(image, delta));
    } catch (const LookupError &error) {
      const std::string text = error.what(); // which goes on with the line
      std::cout << new_image << ' ' << error.category() << ": " << text.substr(0, text.find(" at ")) << '\n';
    }
  }
  { // Zeros instead of none
    Variable x(tensor({2., 2.})), y(3.);
    GradientTape tape;
    Tensor z = pow(y, 2);
    std::cout << tape.gradient(z, x, UnconnectedGradients::Zero) << '\n';
  }
}
