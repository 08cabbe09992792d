// A notebook on training by hand: a convolutional network on MNIST, whose steps a gradient tape makes, and compile()
// only to evaluate it. By hand: tape_cnn DIRECTORY for all of MNIST; without it a few images of Fashion-MNIST.
#include <calque/training.h>

#include <chrono>
#include <iostream>

using namespace calque;
using namespace calque::layers;

Sequential build_model(std::int64_t width, std::int64_t height, std::int64_t depth, std::int64_t classes) {
  Sequential model{Input({height, width, depth})};
  // (CONV => RELU => BN) once, twice, three times, and POOL behind each
  for (auto [filters, count] : {std::pair(16, 1), std::pair(32, 2), std::pair(64, 3)}) {
    for (int i = 0; i < count; ++i) {
      model.add(Conv2D(filters, 3, {.padding = "same"}));
      model.add(Activation("relu"));
      model.add(BatchNormalization({.axis = -1}));
    }
    model.add(MaxPool2D(2));
  }
  // FC => RELU, and the classes
  model.add(Flatten());
  model.add(Dense(256));
  model.add(Activation("relu"));
  model.add(BatchNormalization());
  model.add(Dropout(0.5));
  model.add(Dense(classes));
  model.add(Activation("softmax"));
  return model;
}

// Images in [0, 1] with a channel, and labels as one-hot vectors.
std::pair<Tensor, Tensor> prepare(const Tensor &images, const Tensor &labels) {
  return {expand_dims(cast(images, DType::Float32) / 255, {-1}), one_hot(labels, 10, DType::Float32)};
}

int main(int argc, char **argv) {
  constexpr std::int64_t epochs = 1, batch_size = 64;
  constexpr double init_lr = 1e-3;
  set_seed(1);

  const bool isWhole = argc > 1;
  auto [train, test] = data::load_mnist(isWhole ? argv[1] : data::kFashionMnistDirectory);
  if (!isWhole) {
    train = {train.first.rows(0, 1280), train.second.rows(0, 1280)};
    test = {test.first.rows(0, 500), test.second.rows(0, 500)};
  }
  auto [trainX, trainY] = prepare(train.first, train.second);
  auto [testX, testY] = prepare(test.first, test.second);

  Sequential model = build_model(28, 28, 1, 10);
  std::int64_t trainable = 0;
  for (const Variable &weight : model.trainable_variables())
    trainable += weight.value().size();
  std::cout << model.count_params() << " parameters, " << trainable << " trainable\n";
  optimizers::Adam opt(init_lr, {}, {.decay = init_lr / epochs});

  // A step of SGD by a gradient of 1 is the rate: init_lr / (1 + decay * the number of steps before).
  Variable moved(scalar<double>(0));
  optimizers::SGD same(init_lr, {}, {.decay = init_lr / epochs});
  std::cout << "rates";
  for (int i = 0; i < 3; ++i) {
    const double before = moved.item<double>();
    same.apply_gradients({scalar<double>(1)}, {moved});
    std::cout << ' ' << before - moved.item<double>();
  }
  std::cout << '\n';

  // The notebook calls the model in inference, so that neither batch statistics nor dropout are in the steps:
  // model(X, {.training = true}) has both. The loss is one number for each image, whose sum is differentiated.
  auto step = function([&](const Tensor &X, const Tensor &y) {
    GradientTape tape;
    Tensor pred = model(X);
    Tensor loss = losses::categorical_crossentropy(y, pred);
    std::vector<Variable> weights = model.trainable_variables();
    opt.apply_gradients(tape.gradient(loss, weights), weights);
  });

  const std::int64_t updates = trainX.shape()[0] / batch_size;
  for (std::int64_t epoch = 0; epoch < epochs; ++epoch) {
    std::cout << "[INFO] starting epoch " << epoch + 1 << '/' << epochs << std::endl;
    auto start = std::chrono::steady_clock::now();
    for (std::int64_t i = 0; i < updates; ++i) {
      const std::int64_t begin = i * batch_size, end = begin + batch_size;
      step(trainX.rows(begin, end), trainY.rows(begin, end));
    }
    std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    std::cerr << "took " << took.count() / 60 << " minutes\n"; // apart from the output, which is always the same
  }

  try {
    model.history();
  } catch (const StateError &error) { // there is none before fit()
    std::cout << std::string(error.what()).substr(0, std::string(error.what()).find('\n')) << '\n';
  }
  model.compile({.optimizer = opt, .loss = "categorical_crossentropy", .metrics = {"acc"}});
  auto [loss, acc] = model.evaluate(testX, testY).unpack<2>();
  std::cerr << "[INFO] test accuracy: " << acc << '\n';
  std::cout << std::boolalpha << "[INFO] accuracy above " << (isWhole ? "0.98: " : "0.4: ")
            << (acc > (isWhole ? 0.98 : 0.4)) << '\n';
}
