// The training library's messages as docs/messages.md has them, where no other test does.
#include "Testing.h"

using namespace calque;
using namespace calque::testing;

namespace {
struct Adopting : Module {
  using Module::adopt;
  using Module::variable;
};
} // namespace

TEST(Messages, OfTrainingNameTheValue) {
  EXPECT_MISUSE(ValueError, layers::BatchNormalization({.epsilon = -1}),
                "batch_normalization: epsilon is not below 0, unlike -1");
  EXPECT_MISUSE(ValueError, optimizers::Adam(0.1, {.epsilon = -1}), "adam: epsilon is at least 0, unlike -1");
  auto reduction = static_cast<losses::Reduction>(7);
  EXPECT_MISUSE(ValueError,
                losses::SparseCategoricalCrossentropy({}, {.reduction = reduction})(tensor<int>({0}), ones({1, 2})),
                "sparse_categorical_crossentropy: unknown reduction 7");
}

TEST(Messages, OfModulesNameThePart) {
  Adopting module;
  EXPECT_CONTAINS(errorOf<ValueError>([&] { module.variable("a/b", ones({2})); }),
                  "module: 'a/b' is no name of a part; it must not be empty and have no '/'");
  EXPECT_CONTAINS(errorOf<StateError>([&] { module.adopt("head", std::shared_ptr<Module>()); }),
                  "module: the part 'head' is empty");
}
