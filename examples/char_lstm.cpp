// Learns to write as a text does, letter by letter: char_lstm [FILE [EPOCHS]]. The text of this repository is eleven
// of Shakespeare's sonnets (1609, in the public domain).
#include "text.h"

#include <calque/training.h>

#include <cstdio>

using namespace calque;

struct Writer : Model {
  explicit Writer(std::int64_t letters) : Model("writer"), letters(letters) {}
  const std::int64_t letters, units = 128;
  layers::Embedding embedding = submodule("embedding", layers::Embedding(letters, 32));
  layers::LSTM lstm = submodule("lstm", layers::LSTM(units, {.return_sequences = true, .return_state = true}));
  layers::Dense head = submodule("head", layers::Dense(letters));
  Tensor call(const Tensor &x, const layers::CallOptions &) override { return head(lstm.apply(embedding(x))[0]); }

  // `count` letters that follow a first one. Letter and state go from step to step, in a loop of the program.
  Tensor write(const Tensor &first, std::int64_t count) {
    auto step = [&](const std::tuple<Tensor, Tensor, Tensor> &state, const Tensor &) {
      auto [letter, h, c] = state;
      auto [y, next, memory] = lstm.apply({embedding(letter), h, c}).unpack<3>();
      letter = draw(head(y));
      return std::pair(std::tuple(letter, next, memory), reshape(letter, {}));
    };
    auto start = std::tuple(reshape(first, {1, 1}), zeros({1, units}), zeros({1, units}));
    return scan(step, start, iota({count}, DType::Int64)).second;
  }
};

int main(int argc, char **argv) {
  set_seed(1);
  const Text text(argc > 1 ? argv[1] : "examples/data/sonnets.txt", 40, 5);
  Writer model(std::ssize(text.letters));
  model.compile({.optimizer = optimizers::Adam(0.005),
                 .loss = losses::SparseCategoricalCrossentropy({.from_logits = true}),
                 .metrics = {"accuracy"}});
  model.fit(text.x, text.y, {.batch_size = 64, .epochs = argc > 2 ? std::atoi(argv[2]) : 30});

  auto write = function([&](const Tensor &first) { return model.write(first, 400); });
  std::printf("%s\n", text(write(text.x[0][0])).c_str());
  std::printf("loss %.3f\n", model.history().history.at("loss").back());
}
