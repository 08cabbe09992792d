// TensorFlow's notes on eager execution: values at once, layers, training, and functions of gradients. The lines in
// eager_execution.out are what the notes print, or follow from what they define.
#include <calque/training.h>

#include <filesystem>
#include <iostream>

using namespace calque;

// A layer with a kernel that is made when the input's size is known.
struct MySimpleLayer : layers::LayerBody {
  explicit MySimpleLayer(std::int64_t units) : LayerBody("my_simple_layer"), units(units) {}
  void build(const Shape &input, DType dtype) override {
    kernel = weight("kernel", {input.back(), units}, dtype, glorot_uniform);
  }
  Tensor call(const Tensor &x, const layers::CallOptions &) override { return matmul(x, kernel); }
  const std::int64_t units;
  Variable kernel{nullptr};
};

// The second layer is used twice.
struct MNISTModel : Module {
  layers::Dense dense1 = submodule("dense1", layers::Dense(10)), dense2 = submodule("dense2", layers::Dense(10));
  Tensor operator()(const Tensor &x) const { return dense2(dense2(dense1(reshape(x, {-1, 784})))); }
};

// A line, fitted to noisy examples of 3 x + 2.
struct Line : Module {
  Variable W = variable("weight", 5.), B = variable("bias", 10.);
  Tensor operator()(const Tensor &inputs) const { return inputs * W + B; }
};

Tensor log1pexp(const Tensor &x) { return log(1 + exp(x)); }

// Halves the rate until the step is long enough.
std::pair<Tensor, Tensor> line_search(const std::function<Tensor(const Tensor &)> &f, const Tensor &init_x,
                                      Tensor rate) {
  auto [init_value, slope] = value_and_grad(f)(init_x);
  Tensor norm = sum(slope * slope), x = init_x, value = init_value;
  while (value > init_value - rate * norm) {
    x = init_x - rate * slope;
    value = f(x);
    rate /= 2;
  }
  return {x, value};
}

int main() {
  std::cout << std::boolalpha << executing_eagerly() << '\n';
  Tensor x = tensor({{2.}});
  std::cout << "hello, " << matmul(x, x) << '\n';

  Tensor a = tensor({{1, 2}, {3, 4}}), b = a + 1;
  std::cout << a << '\n' << b << '\n' << a * b << '\n';

  layers::Layer simple(std::make_shared<MySimpleLayer>(2));
  MNISTModel model;
  std::cout << simple(ones({4, 3})).shape() << ' ' << model(zeros({1, 28, 28})).shape() << '\n';
  for (const auto &[name, variable] : model.named_variables())
    std::cout << name << ' ';
  std::cout << '\n';

  { // Gradients
    Variable w(tensor({{1.0}}));
    GradientTape tape;
    Tensor loss = w * w;
    std::cout << tape.gradient(loss, w) << '\n';
  }
  { // Training
    set_seed(1);
    Tensor inputs = random::normal({2000}), outputs = inputs * 3 + 2 + random::normal({2000});
    Line line;
    optimizers::SGD sgd(0.01);
    auto loss = [&] { return mean(square(line(inputs) - outputs)); };
    for (int step = 0; step < 300; ++step)
      sgd.minimize(loss, {line.W, line.B});
    std::cout << "near 3 and 2: " << (abs(line.W - 3) < 0.1) << ' ' << (abs(line.B - 2) < 0.1) << '\n';
  }
  const std::filesystem::path folder = std::filesystem::temp_directory_path() / "calque-eager-execution";
  { // Data sets
    Tensor images = random::uniform({100, 28, 28}), labels = random::randint({100}, 0, 10);
    data::Dataset dataset = data::from_tensor_slices(images, labels).shuffle(100).repeat(4).batch(32);
    auto [image, label] = *dataset.begin();
    std::cout << image.shape() << ' ' << label.shape();
    std::int64_t batches = 0, examples = 0;
    for (const auto &[image, label] : dataset) {
      batches += 1;
      examples += label.shape()[0];
    }
    std::cout << ", " << batches << " batches of " << examples << " examples\n";
  }
  { // Checkpoints: of a variable, and of a model with what trains it
    Variable x(2.0);
    Checkpoint checkpoint{{"x", x}};
    std::string path = checkpoint.save(folder / "ckpt/");
    x.assign(11.0);
    checkpoint.restore(path);
    std::cout << x << '\n';
    optimizers::Adam adam(1e-3);
    Checkpoint all{{"optimizer", adam}, {"model", model}, {"optimizer_step", adam.iterations()}};
    adam.minimize([&] { return sum(square(model(ones({1, 784})))); }, model.trainable_variables());
    std::string step = all.save(folder / "all/");
    std::cout << (latest_checkpoint(folder / "all") == step) << '\n';
    adam.iterations().assign(7);
    all.restore(step);
    std::cout << adam.iterations() << '\n';
  }
  { // Summaries: every hundredth of 1,000 steps is as many bytes as ten steps
    auto bytes = [&](const std::string &logs, int record_every, int by) {
      summary::FileWriter writer = summary::create_file_writer(folder / logs);
      writer.set_as_default();
      summary::RecordEvery some(record_every);
      for (int step = 0; step < 1000; step += by)
        summary::scalar("loss", 1.0 / (step + 1), step);
      writer.flush();
      return std::filesystem::file_size(writer.path());
    };
    std::cout << (bytes("hundredth", 100, 1) == bytes("ten", 1, 100)) << '\n';
  }
  std::filesystem::remove_all(folder);
  { // Metrics
    metrics::Mean m("loss");
    m(0);
    m(5);
    std::cout << m.result() << '\n';
    m(tensor({8, 9}));
    std::cout << m.result() << '\n';
  }
  { // Functions of gradients
    auto square = [](const Tensor &v) { return v * v; };
    std::cout << square(scalar(3.)) << ' ' << grad(square)(3.) << ' ' << grad(grad(square))(3.) << '\n';
    auto absolute = [](const Tensor &v) { return v > 0. ? v : -v; };
    std::cout << grad(absolute)(3.0) << ' ' << grad(absolute)(-3.0) << '\n';
    std::cout << grad(log1pexp)(0.) << ' ' << grad(log1pexp)(100.) << '\n';
    auto better = custom_gradient([](const Tensor &v) {
      Tensor e = exp(v);
      return std::pair(log(1 + e), [e](const Tensor &dy) { return dy * (1 - 1 / (1 + e)); });
    });
    std::cout << grad(better)(0.) << ' ' << grad(better)(100.) << '\n';
  }
  { // A line search, eagerly and compiled
    auto quartic = [](const Tensor &v) { return sum(pow(v, 4)); };
    auto search = [&](const Tensor &init_x, const Tensor &rate) { return line_search(quartic, init_x, rate); };
    for (auto [at, value] : {search(tensor({1., 2.}), scalar(1.)), function(search)(tensor({1., 2.}), scalar(1.))})
      std::cout << at << ' ' << value << '\n';
  }
  { // C++ of one's own
    auto mine = [](const Tensor &v) {
      std::cout << "mine: " << v << '\n';
      return v * v;
    };
    std::cout << host_call(mine, {x}, {TensorSpec<float>({1, 1})}) << '\n';
  }
}
