// Trains the reference network on MNIST, or on a data set of its form: `./dev mnist --help`.
#include <calque/training.h>

#include <CLI/CLI.hpp>

#include <chrono>
#include <cstdio>
#include <string>
#include <unistd.h>

using namespace calque;

namespace {

// Six convolutions and two dense layers with batch normalisation.
layers::Sequential makeNetwork() {
  using namespace layers;
  Sequential net;
  auto block = [&](std::int64_t filters, int convolutions) {
    for (int i = 0; i < convolutions; ++i) {
      net.add(Conv2D(filters, 3, {.padding = "same", .activation = "relu"}));
      net.add(BatchNormalization());
    }
    net.add(MaxPool2D(2));
  };
  block(16, 1);
  block(32, 2);
  block(64, 3);
  net.add(Flatten());
  net.add(Dense(256, {.activation = "relu"}));
  net.add(BatchNormalization());
  net.add(Dropout(0.5));
  net.add(Dense(10));
  return net;
}

// How far an epoch is: a bar that is drawn over itself on a terminal, ten lines elsewhere.
class Progress {
public:
  Progress(std::string title, std::int64_t steps) : title(std::move(title)), steps(steps) {}

  // After each step; asks for the numbers only when it shows them.
  template <typename Numbers> void advance(std::int64_t images, Numbers &&numbers) {
    ++done;
    seen += images;
    auto now = Clock::now();
    bool due = terminal ? done == steps || now - shown > std::chrono::milliseconds(100)
                        : done * 10 / steps != (done - 1) * 10 / steps;
    if (!due)
      return;
    shown = now;
    double seconds = std::chrono::duration<double>(now - start).count();
    auto left = static_cast<long>(seconds / static_cast<double>(done) * static_cast<double>(steps - done) + 0.5);
    char text[160];
    std::snprintf(text, sizeof(text), "%s  %*lld/%lld  %s  %.0f images/s  %ld:%02ld left", title.c_str(),
                  static_cast<int>(std::to_string(steps).size()), static_cast<long long>(done),
                  static_cast<long long>(steps), numbers().c_str(), static_cast<double>(seen) / seconds, left / 60,
                  left % 60);
    if (terminal)
      std::printf("\r\033[K%s %s%s", text, bar().c_str(), done == steps ? "\n" : "");
    else
      std::printf("%s\n", text);
    std::fflush(stdout);
  }

private:
  using Clock = std::chrono::steady_clock;
  std::string bar() const {
    constexpr std::int64_t width = 20;
    auto full = static_cast<std::size_t>(done * width / steps);
    return "[" + std::string(full, '=') + std::string(width - full, '.') + "]";
  }

  const bool terminal = isatty(STDOUT_FILENO);
  const std::string title;
  const std::int64_t steps;
  std::int64_t done = 0, seen = 0;
  Clock::time_point start = Clock::now(), shown{};
};

struct Options {
  std::string directory = data::kFashionMnistDirectory;
  std::int64_t epochs = 1, batch = 64, seed = 0;
  int threads = 0;
  bool eager = false;
};

void run(const Options &options) {
  set_seed(options.seed);
  config::run_functions_eagerly(options.eager);
  if (options.threads)
    set_num_threads(options.threads);
  data::Dataset images = data::mnist("train", options.directory);
  data::Dataset train = images.shuffle(images.size()).batch(options.batch).prefetch(4);
  data::Dataset test = data::mnist("test", options.directory).batch(200).prefetch(4);

  layers::Sequential net = makeNetwork();
  // At one rate throughout, the weights still move too much when an epoch ends: 0.982 of the digits of MNIST are right
  // after it, and 0.988 with a rate that falls to 0.
  optimizers::Adam adam(schedules::CosineDecay(1e-3, options.epochs * train.size()));
  losses::SparseCategoricalCrossentropy crossentropy({.from_logits = true});
  metrics::Mean loss;
  metrics::SparseCategoricalAccuracy accuracy;

  // All of it is one native function: forward, batch statistics, dropout, backward, Adam, and the metrics.
  auto step = function([&](const Tensor &x, const Tensor &y) {
    GradientTape tape;
    Tensor logits = net(x, {.training = true});
    Tensor l = crossentropy(y, logits);
    std::vector<Variable> weights = net.trainable_variables();
    adam.apply_gradients(tape.gradient(l, weights), weights);
    loss.update_state(l, x.shape()[0]);
    accuracy.update_state(y, logits);
  });
  auto evaluate = function([&](const Tensor &x, const Tensor &y) { accuracy.update_state(y, net(x)); });

  for (std::int64_t epoch = 1; epoch <= options.epochs; ++epoch) {
    loss.reset_state();
    accuracy.reset_state();
    Progress progress("epoch " + std::to_string(epoch) + "/" + std::to_string(options.epochs), train.size());
    for (auto [x, y] : train) {
      step(x, y);
      progress.advance(x.shape()[0], [&] {
        char text[64];
        std::snprintf(text, sizeof(text), "loss %.4f  accuracy %.4f", loss.result().item<float>(),
                      accuracy.result().item<float>());
        return std::string(text);
      });
    }
  }
  accuracy.reset_state();
  for (auto [x, y] : test)
    evaluate(x, y);
  std::printf("test accuracy %.4f\n", accuracy.result().item<float>());
}

} // namespace

int main(int argc, char **argv) {
  Options options;
  CLI::App app("Trains a convolutional network on images of digits or clothes, and tests it.", "mnist");
  const auto atLeastOne = CLI::Range(1, 1'000'000);
  app.add_option("--data", options.directory, "directory with the four files of MNIST or Fashion-MNIST, plain or .gz")
      ->capture_default_str();
  app.add_option("--epochs", options.epochs, "how often all images are gone through")
      ->check(atLeastOne)
      ->capture_default_str();
  app.add_option("--batch", options.batch, "images in a step")->check(atLeastOne)->capture_default_str();
  app.add_option("--seed", options.seed, "of weights, dropout and order")->capture_default_str();
  app.add_option("--threads", options.threads, "threads of compiled code (default: all)")->check(atLeastOne);
  app.add_flag("--eager", options.eager, "run line by line instead of compiled");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    return app.exit(error) ? 2 : 0;
  }
  try {
    run(options);
  } catch (const Error &error) {
    // The first line names the fault, the second one the line of this program.
    std::string text = error.what();
    std::fprintf(stderr, "mnist: %s\n", text.substr(0, text.find('\n')).c_str());
    return 1;
  }
}
