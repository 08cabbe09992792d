// The reference network on MNIST by compile and fit: mnist_fit [DIRECTORY].
#include <calque/training.h>

#include <cstdio>

using namespace calque;
using namespace calque::layers;

int main(int argc, char **argv) {
  const std::string directory = argc > 1 ? argv[1] : data::kFashionMnistDirectory;
  set_seed(argc > 2 ? std::atoi(argv[2]) : 0);
  data::Dataset train = data::mnist("train", directory), test = data::mnist("test", directory);
  Sequential model;
  for (auto [filters, count] : {std::pair(16, 1), std::pair(32, 2), std::pair(64, 3)}) {
    for (int i = 0; i < count; ++i)
      for (Layer each :
           {Layer(Conv2D(filters, 3, {.padding = "same", .activation = "relu"})), Layer(BatchNormalization())})
        model.add(each);
    model.add(MaxPool2D());
  }
  for (Layer each : {Layer(Flatten()), Layer(Dense(256, {.activation = "relu"})), Layer(BatchNormalization()),
                     Layer(Dropout(0.5)), Layer(Dense(10))})
    model.add(each);
  model.compile({.optimizer = "adam",
                 .loss = losses::SparseCategoricalCrossentropy({.from_logits = true}),
                 .metrics = {"accuracy"}});
  model.fit(train.shuffle(train.size()).batch(64).prefetch(4), {.epochs = 1});
  std::printf("test accuracy %.4f\n", model.evaluate(test.batch(200))["accuracy"]);
}
