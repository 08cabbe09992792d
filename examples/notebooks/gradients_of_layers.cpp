// A notebook on Keras: the gradients of a model's output with respect to its layers and its weights, and those of a
// loss; training by fit with early stopping and TensorBoard. By hand: gradients_of_layers [DATASET [IMAGES [EPOCHS
// [FOLDER]]]], where FOLDER has the files of the data set, which fashion_mnist has a place for.
#include <calque/training.h>

#include <cmath>
#include <filesystem>
#include <iomanip>
#include <iostream>

using namespace calque;
using namespace calque::layers;

// The first images of a data set, and their labels. Nothing is downloaded.
std::pair<Tensor, Tensor> get_data(const std::string &dataset, std::int64_t images, const std::string &folder = {}) {
  auto first = [&](const data::Dataset<> &all) -> std::pair<Tensor, Tensor> { return *all.batch(images).begin(); };
  if (dataset == "mnist")
    return first(data::mnist("train", folder));
  if (dataset == "fashion_mnist")
    return first(folder.empty() ? data::fashion_mnist("train") : data::fashion_mnist("train", folder));
  if (dataset == "cifar10")
    return first(data::cifar10("train", folder));
  if (dataset == "cifar100")
    return first(data::cifar100("train", folder));
  throw ValueError("Unrecognized dataset: choose from 'mnist', 'fashion_mnist', 'cifar10' and 'cifar100'");
}

// With a dimension for the colours, which gray images go without.
std::vector<std::int64_t> with_channels(const Shape &image) {
  return {image[0], image[1], image.size() == 3 ? std::int64_t(image[2]) : 1};
}

models::Functional get_model(const Shape &image, std::int64_t classes, const std::string &activation,
                             const std::string &initializer) {
  SymbolicTensor vis = Input(image);
  SymbolicTensor x = Dropout(0.1)(BatchNormalization()(Reshape(with_channels(image))(vis)));
  for (auto [filters, strides] : {std::pair(8, 1), std::pair(4, 2)}) {
    x = Conv2D(filters, 3,
               {.strides = strides, .padding = "same", .use_bias = false, .kernel_initializer = initializer})(x);
    x = Activation(activation)(BatchNormalization()(x));
    x = MaxPool2D(2, {.padding = "same"})(x);
  }
  x = Dense(10, {.kernel_initializer = initializer, .name = "hidden_1"})(Flatten()(x));
  x = Dropout(0.2)(Activation(activation, {.name = "activation_1"})(x));
  SymbolicTensor logits = Dense(classes, {.kernel_initializer = initializer, .name = "logits"})(x);
  return models::Functional(vis, Softmax({}, {.name = "output"})(logits));
}

// What K.function([model.input], [outputs, K.gradients(output, outputs)]) is: the results of the layers, and the
// gradients of the sum of the last one's elements with respect to each.
auto outputs_and_gradients(const models::Functional &model, const std::string &last) {
  SymbolicTensors outputs;
  for (const Layer &layer : model.layers()) {
    outputs.push_back(layer.output());
    if (layer.name() == last)
      break;
  }
  return function([features = models::Functional(model.inputs(), outputs)](const Tensor &x) {
    GradientTape tape;
    tape.watch(x);
    std::vector<Tensor> values = features.apply(x).tensors();
    return std::pair(values, tape.gradient(values.back(), values));
  });
}

std::int64_t count_trainable(const Layer &model) {
  std::int64_t count = 0;
  for (const Variable &weight : model.trainable_variables())
    count += weight.size();
  return count;
}

// Rounded to so many places.
Tensor round_to(const Tensor &x, int places) {
  double factor = std::pow(10, places);
  return round(x * factor) / factor;
}

int main(int argc, char **argv) {
  set_seed(1);
  const std::string dataset = argc > 1 ? argv[1] : "fashion_mnist";
  auto [x, y] = get_data(dataset, argc > 2 ? std::atoi(argv[2]) : 500, argc > 4 ? argv[4] : "");
  try {
    get_data("imagenet", 1);
  } catch (const ValueError &error) {
    std::cout << error.what() << '\n';
  }
  if (x.shape()[3] == 1)
    x = squeeze(x, {-1});
  Split split = train_test_split(x, y, {.test_size = 0.2, .shuffle = true, .stratify = y});
  std::cout << split.x_train.shape()[0] * 4 / split.x_test.shape()[0] << " to 4\n";

  const Shape shape = x.shape(), image(shape.begin() + 1, shape.end());
  const std::int64_t classes = dataset == "cifar100" ? 100 : 10;
  models::Functional model = get_model(image, classes, "relu", "glorot_uniform");
  std::cout << model.count_params() << " parameters, " << count_trainable(model) << " trainable\n";

  { // Gradients of the output with respect to the layers. The probabilities of an example add up to 1, whatever the
    // layers before give, so that they are zeros up to rounding.
    auto gradients_of = outputs_and_gradients(model, "output");
    for (std::int64_t examples : {std::int64_t(1), std::int64_t(x.shape()[0])}) {
      auto [values, gradients] = gradients_of(x.rows(0, examples));
      Tensor largest = scalar(0.);
      for (std::size_t i = 0; i + 1 < gradients.size(); ++i)
        largest = maximum(largest, max(abs(gradients[i].value())));
      std::cout << values.size() << " layers, the last " << values.back().shape()
                << "; gradients below 1e-5: " << (largest < 1e-5) << '\n';
    }
    // Those of the logits: ones at the logits themselves.
    auto [values, gradients] = outputs_and_gradients(model, "logits")(x.rows(0, 1));
    std::vector<Layer> layers = model.layers();
    for (std::size_t i = 0; i < values.size(); ++i) {
      Histogram distribution = histogram(values[i], 10); // as NumPy's
      Tensor counts = distribution.counts, edges = distribution.edges;
      std::cout << std::left << std::setw(10) << layers[i].name().substr(0, 10) << ' ' << values[i].shape() << " in "
                << edges.shape() << " edges: " << sum(counts) << ", gradient " << gradients[i]->shape() << '\n';
    }
    std::cout << gradients.back() << '\n';
  }
  { // Gradients with respect to the weights of the layers that have any
    std::vector<std::vector<Variable>> weights;
    for (const Layer &layer : model.layers())
      if (!layer.trainable_variables().empty())
        weights.push_back(layer.trainable_variables());
    models::Functional logits(model.inputs(), model.get_layer("logits").output());
    auto gradients_of = function([&](const Tensor &images) {
      GradientTape tape;
      return tape.gradient(logits(images), weights);
    });
    auto gradients = gradients_of(x.rows(0, 1));
    for (std::size_t i = 0; i < weights.size(); ++i)
      for (std::size_t j = 0; j < weights[i].size(); ++j)
        std::cout << weights[i][j].name() << ' ' << gradients[i][j]->shape() << '\n';
    std::cout << "of the last bias: " << gradients.back().back() << '\n';
  }
  { // Gradients of a loss
    Sequential classifier{
        Input(image), Reshape(with_channels(image)),     BatchNormalization(), Conv2D(10, 3, {.strides = 2}), ReLU(),
        Flatten(),    Dense(10, {.activation = "relu"}), Dense(classes)};
    losses::SparseCategoricalCrossentropy loss({.from_logits = true}, {.name = "loss"});
    std::vector<Variable> weights = classifier.trainable_variables();
    auto [value, gradients] = function([&](const Tensor &images, const Tensor &labels) {
      GradientTape tape;
      Tensor l = loss(labels, classifier(images));
      return std::pair(l, tape.gradient(l, weights));
    })(split.x_train, split.y_train);
    std::cout << classifier.count_params() << " parameters, " << count_trainable(classifier) << " trainable; "
              << loss.name() << " near log(" << classes << "): " << (abs(value - std::log(double(classes))) < 1)
              << "; the gradient of the last bias adds up to " << abs(round_to(sum(gradients.back().value()), 3))
              << '\n';
  }
  { // Losses and metrics that follow from their definitions
    losses::SparseCategoricalCrossentropy sparse;
    Tensor labels = tensor({1, 2}), predictions = tensor({{.05, .95, 0.}, {.1, .8, .1}});
    std::cout << round_to(losses::sparse_categorical_crossentropy(labels, predictions), 5) << ' '
              << round_to(sparse(labels, predictions), 5) << '\n';
    labels = tensor({{0, 1}, {0, 0}}), predictions = tensor({{.6, .4}, {.4, .6}});
    std::cout << round_to(losses::binary_crossentropy(labels, predictions), 5) << ' '
              << round_to(losses::get("binary_crossentropy")(labels, predictions), 5) << '\n';
    std::cout << metrics::BinaryAccuracy()(tensor({1, 1, 0, 0}), tensor({.98, 1., 0., .6})) << '\n';
  }
  { // fit with early stopping and TensorBoard
    const std::string logs = std::filesystem::temp_directory_path() / "calque-gradients-of-layers";
    callbacks::EarlyStopping early({.monitor = "val_loss", .patience = 7, .restore_best_weights = true});
    callbacks::TensorBoard board({.log_dir = logs, .histogram_freq = 5});
    model.compile({.optimizer = "sgd", .loss = "sparse_categorical_crossentropy", .metrics = {"accuracy"}});
    History history = model.fit(split.x_train, split.y_train,
                                {.batch_size = 32,
                                 .epochs = argc > 3 ? std::atoi(argv[3]) : 2,
                                 .verbose = argc > 3,
                                 .callbacks = {early, board},
                                 .validation_data = {split.x_test, split.y_test},
                                 .shuffle = true});
    for (const auto &[name, values] : history.history)
      std::cout << name << " of " << values.size() << " epochs, ";
    for (const char *part : {"train", "validation"})
      std::cout << part << (std::filesystem::is_empty(std::filesystem::path(logs) / part) ? " empty, " : " written, ");
    std::filesystem::remove_all(logs);
    std::cout << "of a batch " << model.train_on_batch(x.rows(0, 32), y.rows(0, 32)).names() << '\n';
  }
  { // When it stops: three epochs after the best one, whose weights are restored
    const double val_losses[] = {5, 4, 3, 3.5, 3.2, 3.1, 1, 1};
    std::vector<Tensor> best;
    callbacks::LambdaCallback pretend({.on_epoch_end = [&](std::int64_t epoch, Logs &logs) {
      logs.set("val_loss", val_losses[epoch]);
      if (epoch == 2)
        best = model.get_weights();
    }});
    callbacks::EarlyStopping early({.patience = 3, .restore_best_weights = true});
    model.fit(x.rows(0, 32), y.rows(0, 32), {.epochs = 8, .verbose = 0, .callbacks = {pretend, early}});
    std::vector<Tensor> weights = model.get_weights();
    std::int64_t restored = 0;
    for (std::size_t i = 0; i < weights.size(); ++i)
      restored += bool(all(weights[i] == best[i]));
    std::cout << "stopped at epoch " << early.stopped_epoch() << " of 0 to 7, the best was " << early.best_epoch()
              << "; " << restored << " of " << weights.size() << " weights are its own\n";
  }
}
