// save-models DIRECTORY [MNIST [COUNT]]: trains the convolutional network of MNIST for four epochs and writes what it
// has then to expected.safetensors, and again for two epochs, and saves the model as half. resume-models, which has
// none of the code below, trains that on.
#include "calque/safetensors.h"
#include "test/saving/Digits.h"

#include <iostream>

using namespace calque;
using namespace calque::testing;

namespace {

Sequential network() {
  set_seed(1);
  Sequential model = referenceNetwork("softmax");
  model.compile(
      {.optimizer = optimizers::Adam(1e-3), .loss = losses::SparseCategoricalCrossentropy(), .metrics = {"accuracy"}});
  return model;
}

// Two inputs, a shared model inside, a layer that is called twice, a sequence, and all kinds of options of compile().
void saveGraph(const std::string &directory) {
  set_seed(2);
  Sequential tower({Input({6, 3}), layers::LSTM(4, {.name = "lstm"}), layers::LayerNormalization()});
  SymbolicTensor left = Input({6, 3}, {.name = "left"}), right = Input({6, 3}, {.name = "right"});
  layers::Dense twice(4, {.activation = "tanh", .kernel_regularizer = regularizers::l2(1e-3), .name = "twice"});
  SymbolicTensor both = layers::Concatenate()({twice(twice(tower(left))), tower(right) * 0.5});
  models::Functional model({left, right},
                           {{"class", layers::Dense(3, {.name = "class"})(layers::Dropout(0.25)(both))},
                            {"score", layers::Dense(1, {.name = "score"})(both)}},
                           {.name = "graph"});
  model.get_layer("twice").set_trainable(false);
  model.compile({.optimizer = optimizers::AdamW(schedules::CosineDecay(0.01, 50), {}, {.global_clipnorm = 1}),
                 .loss = {{"class", losses::AnyLoss(losses::SparseCategoricalCrossentropy({.from_logits = true}))},
                          {"score", losses::AnyLoss(losses::Huber({.delta = 0.5}))}},
                 .metrics = std::map<std::string, MetricsOption::List>{{"class", {"accuracy"}},
                                                                       {"score", {metrics::RootMeanSquaredError()}}},
                 .loss_weights = {{"class", 1.0}, {"score", 0.25}}});
  model.optimizer().exclude_from_weight_decay({}, {"bias"});
  const models::Batch batch = sequences();
  model.train_on_batch(batch.x, batch.y);
  model.save(directory + "/graph");
  std::map<std::string, Tensor> expected;
  for (const auto &[name, tensor] : model.apply(batch.x))
    expected.emplace(name, tensor);
  for (int i = 0; i < 2; ++i)
    for (const auto &[name, number] : model.train_on_batch(batch.x, batch.y))
      expected["step " + std::to_string(i) + " " + name] = scalar(number);
  save_safetensors(directory + "/graph-expected.safetensors", expected);
}

} // namespace

int main(int argc, char **argv) {
  const std::string directory = argv[1];
  auto [x, y] = digits(argc, argv);
  Sequential whole = network();
  whole.fit(x, y, {.batch_size = 64, .epochs = 4, .verbose = argc > 2 ? 2 : 0});
  save_safetensors(directory + "/expected.safetensors", stateOf(whole));
  Sequential half = network();
  half.fit(x, y, {.batch_size = 64, .epochs = 2, .verbose = 0});
  half.save(directory + "/half");
  saveGraph(directory);
  std::cout << "saved\n";
}
