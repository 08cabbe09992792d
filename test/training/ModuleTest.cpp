#include "Testing.h"

#include <type_traits>

using namespace calque;
using namespace calque::testing;

namespace {

struct Block : Module {
  explicit Block(std::int64_t size = 2) : scale(variable("scale", ones({size}))) {}
  Variable scale;
  Variable seen = variable("seen", zeros({}), false);
};

struct Net : Module {
  Variable offset = variable("offset", zeros({3}));
  Block &first = submodule<Block>("first");
  Block &second = submodule<Block>("second", 5);
  layers::Dense head = submodule("head", layers::Dense(2));
  layers::Layer again = submodule("again", static_cast<layers::Layer &>(head));
};

std::vector<std::string> namesOf(const std::vector<std::pair<std::string, Variable>> &variables) {
  std::vector<std::string> names;
  for (const auto &[name, variable] : variables)
    names.push_back(name);
  return names;
}

// A module whose protected members a test may call.
struct Open : Module {
  using Module::adopt;
  using Module::variable;
};

} // namespace

// A chain that no stack is deep enough for, made from its end, so that each part that is adopted has all others below.
TEST(Module, NestsAsDeepAsMemoryAllows) {
  constexpr std::size_t kDepth = 100'000;
  auto innermost = std::make_shared<Open>(), chain = innermost;
  innermost->variable("v", zeros({}));
  for (std::size_t i = 0; i < kDepth; ++i) {
    auto outer = std::make_shared<Open>();
    outer->adopt("p", chain);
    chain = outer;
  }
  EXPECT_EQ(chain->submodules().size(), kDepth);
  EXPECT_EQ(chain->trainable_variables().size(), 1U);
  EXPECT_EQ(chain->named_variables()[0].first.size(), 2 * kDepth + 1);
  chain->set_trainable(false);
  EXPECT_TRUE(chain->trainable_variables().empty());
  EXPECT_FALSE(innermost->trainable());
  EXPECT_MISUSE(ValueError, innermost->adopt("q", chain), "has this module as a part itself");
  const std::string path = ::testing::TempDir() + "deep";
  EXPECT_MISUSE(ValueError, Checkpoint({{"chain", *chain}}).write(path),
                "checkpoint: parts are nested at most 1000 deep, and there are more below 'chain/p/p/p");
  innermost.reset();
  chain.reset(); // each ends with the one before it
}

// Shared parts are gone through once: this graph has 2^60 paths.
TEST(Module, GoesThroughSharedPartsOnce) {
  auto graph = std::make_shared<Open>();
  graph->variable("v", zeros({}));
  for (int i = 0; i < 60; ++i) {
    auto outer = std::make_shared<Open>();
    outer->adopt("a", graph);
    outer->adopt("b", graph);
    graph = outer;
  }
  EXPECT_EQ(graph->variables().size(), 1U);
  EXPECT_EQ(graph->submodules().size(), 60U);
  graph->set_trainable(false);
  EXPECT_TRUE(graph->trainable_variables().empty());
  auto outer = std::make_shared<Open>(), other = std::make_shared<Open>();
  outer->adopt("inside", other);
  other->adopt("graph", graph);
  EXPECT_EQ(outer->variables().size(), 1U);
}

TEST(Module, TellsManyPartsApart) {
  Open module;
  for (int i = 0; i < 20'000; ++i)
    module.adopt("part" + std::to_string(i), std::make_shared<Open>());
  EXPECT_EQ(module.children().size(), 20'000U);
  for (const char *name : {"part0", "part31", "part32", "part19999"})
    EXPECT_MISUSE(ValueError, module.adopt(name, std::make_shared<Open>()),
                  "there is a part '" + std::string(name) + "' already");
  module.adopt("another", std::make_shared<Open>());
  EXPECT_MISUSE(ValueError, module.variable("another", zeros({})), "there is a part 'another' already");
}

TEST(Module, KnowsItsVariablesInOrderEachOnce) {
  Net net;
  net.head(ones({1, 3}));
  EXPECT_EQ(namesOf(net.named_variables()),
            (std::vector<std::string>{"offset", "first/scale", "first/seen", "second/scale", "second/seen",
                                      "head/kernel", "head/bias"}));
  EXPECT_EQ(net.variables().size(), 7u);
  EXPECT_EQ(net.trainable_variables().size(), 5u);
  EXPECT_TRUE(net.variables()[0].same_as(net.offset));
  EXPECT_EQ(net.variables()[3].shape(), (Shape{5}));
  EXPECT_EQ(net.second.name(), "second");
  EXPECT_EQ(net.head.variables()[0].name(), "head/kernel");
}

TEST(Module, TakesAVariableThatThereIsUnderTwoNames) {
  Open module;
  Variable w(ones({2}));
  module.adopt("w", w);
  module.adopt("tied", w);
  EXPECT_EQ(namesOf(module.named_variables()), (std::vector<std::string>{"w"}));
}

// Functions may return one, which needs the declaration of a move; layers-refused.cpp has the moves that are errors.
TEST(Module, IsNeitherCopiedNorAssigned) {
  static_assert(!std::is_copy_constructible_v<Net> && !std::is_copy_assignable_v<Net> &&
                !std::is_move_assignable_v<Net>);
}

TEST(Module, TrainsAsTheDesignsExampleHasIt) {
  struct Mlp : Module {
    Variable w1 = variable("w1", glorot_uniform({4, 8})), b1 = variable("b1", zeros({8}));
    Variable w2 = variable("w2", glorot_uniform({8, 3})), b2 = variable("b2", zeros({3}));
    Tensor operator()(const Tensor &x) const { return matmul(relu(matmul(x, w1) + b1), w2) + b2; }
  };
  set_seed(0);
  Mlp net;
  optimizers::Adam adam(0.05);
  auto step = function([&](const Tensor &x, const Tensor &y) {
    GradientTape tape;
    Tensor loss = losses::SparseCategoricalCrossentropy({.from_logits = true})(y, net(x));
    adam.apply_gradients(tape.gradient(loss, net.trainable_variables()), net.trainable_variables());
    return loss;
  });
  Tensor x = random::normal({30, 4}), y = cast(argmax(slice(x, {0, 0}, {30, 3})), DType::Int32);
  float loss = 0;
  for (int epoch = 0; epoch < 30; ++epoch)
    for (auto [images, labels] : data::from_tensor_slices(x, y).shuffle(30).batch(10))
      loss = step(images, labels).item<float>();
  EXPECT_LT(loss, 0.2);
  EXPECT_EQ(step.trace_count(), 1);
}

TEST(Module, RefusesToListVariablesThatAreNotMadeYet) {
  Net net;
  EXPECT_MISUSE(StateError, net.trainable_variables(), "dense 'head': its variables are not made yet");
  net.head.build({1, 3});
  EXPECT_EQ(net.trainable_variables().size(), 5u);
}

TEST(Module, RefusesNamesThatDontTellPartsApart) {
  Open module;
  module.variable("w", ones({1}));
  EXPECT_MISUSE(ValueError, module.variable("w", ones({1})), "there is a part 'w' already");
  EXPECT_MISUSE(ValueError, module.variable("", ones({1})), "must not be empty");
  EXPECT_MISUSE(ValueError, module.variable("a/b", ones({1})), "have no '/'");
  EXPECT_EQ(module.variables().size(), 1u);
}

TEST(Module, RefusesToBeItsOwnPart) {
  auto outer = std::make_shared<Open>(), inner = std::make_shared<Open>();
  outer->adopt("inner", inner);
  EXPECT_MISUSE(ValueError, inner->adopt("outer", outer), "has this module as a part itself");
  EXPECT_MISUSE(ValueError, inner->adopt("self", inner), "has this module as a part itself");
}
