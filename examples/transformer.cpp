// A small transformer that learns to write as a text does, letter by letter: transformer [FILE [EPOCHS]]. The text of
// this repository is eleven of Shakespeare's sonnets (1609, in the public domain).
#include "text.h"

#include <calque/training.h>

#include <cstdio>

using namespace calque;

constexpr std::int64_t kWidth = 64, kHeads = 4, kBlocks = 2, kLength = 40;

// Attention to earlier letters, and then a perceptron for each letter; both add to what there is.
struct Block : Model {
  Block() : Model("block") {}
  layers::LayerNormalization before = submodule("before", layers::LayerNormalization());
  layers::LayerNormalization between = submodule("between", layers::LayerNormalization());
  layers::MultiHeadAttention attention = submodule(
      "attention", layers::MultiHeadAttention(kHeads, kWidth / kHeads, {.dropout = 0.1, .use_causal_mask = true}));
  layers::Dense wide = submodule("wide", layers::Dense(4 * kWidth, {.activation = "gelu"}));
  layers::Dense narrow = submodule("narrow", layers::Dense(kWidth));
  layers::Dropout dropout = submodule("dropout", layers::Dropout(0.1));
  Tensor call(const Tensor &x, const layers::CallOptions &options) override {
    Tensor heard = x + attention(before(x), options);
    return heard + dropout(narrow(wide(between(heard))), options);
  }
};

struct Transformer : Model {
  explicit Transformer(std::int64_t letters) : Model("transformer"), letters(letters) {
    for (int i = 0; i < kBlocks; ++i)
      blocks.push_back(submodule("block_" + std::to_string(i), layers::Layer(std::make_shared<Block>())));
  }
  const std::int64_t letters;
  layers::Embedding tokens = submodule("tokens", layers::Embedding(letters, kWidth));
  layers::Embedding positions = submodule("positions", layers::Embedding(kLength, kWidth));
  std::vector<layers::Layer> blocks;
  layers::LayerNormalization last = submodule("last", layers::LayerNormalization());
  layers::Dense head = submodule("head", layers::Dense(letters));
  Tensor call(const Tensor &x, const layers::CallOptions &options) override {
    Tensor y = tokens(x) + positions(iota({x.shape()[1]}, DType::Int32));
    for (const layers::Layer &block : blocks)
      y = block(y, options);
    return head(last(y));
  }

  // `count` letters that follow others [1,kLength]: the latest ones go from step to step, in a loop of the program.
  Tensor write(const Tensor &before, std::int64_t count) {
    auto step = [&](const Tensor &seen, const Tensor &) {
      Tensor letter = draw((*this)(seen)[0][kLength - 1]);
      return std::pair(expand_dims(concat({seen[0].rows(1, kLength), expand_dims(letter, {0})}, 0), {0}), letter);
    };
    return scan(step, before, iota({count}, DType::Int64)).second;
  }
};

int main(int argc, char **argv) {
  set_seed(1);
  const Text text(argc > 1 ? argv[1] : "examples/data/sonnets.txt", kLength, 5);
  Transformer model(std::ssize(text.letters));
  model.compile({.optimizer = optimizers::Adam(0.003),
                 .loss = losses::SparseCategoricalCrossentropy({.from_logits = true}),
                 .metrics = {"accuracy"}});
  model.fit(text.x, text.y, {.batch_size = 64, .epochs = argc > 2 ? std::atoi(argv[2]) : 30});

  auto write = function([&](const Tensor &before) { return model.write(before, 400); });
  std::printf("%s\n", text(write(text.x.rows(0, 1))).c_str());
  std::printf("loss %.3f\n", model.history().history.at("loss").back());
}
