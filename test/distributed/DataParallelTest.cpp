// Training on several ranks gives what one rank gives with the whole batch, within rounding.
#include "test/distributed/Ranks.h"

#include "calque/training.h"

#include <unistd.h>

#include <filesystem>

using namespace calque;
using namespace calque::testing;

namespace {

struct Examples {
  Tensor x, label;
};
// The same on all ranks. 50 examples are no multiple of the batch, nor is the last batch one of the ranks.
Examples examples(std::int64_t count = 50) {
  set_seed(3);
  const Tensor x = random::normal({count, 4});
  return {x, cast(sum(x, {1}) > 0.0f, DType::Int32)};
}

Sequential makeModel(bool normalizes = false) {
  set_seed(11);
  Sequential model({layers::Dense(6, {.activation = "tanh"})});
  if (normalizes)
    model.add(layers::BatchNormalization());
  model.add(layers::Dense(2));
  model(zeros({1, 4}));
  return model;
}

CompileOptions options(bool isDistributed, optimizers::Optimizer optimizer) {
  CompileOptions result{.optimizer = optimizer,
                        .loss = losses::SparseCategoricalCrossentropy({.from_logits = true}),
                        .metrics = {"accuracy"}};
  if (isDistributed)
    result.distribution = distributed::DataParallel();
  return result;
}

struct Trained {
  History history;
  Logs evaluated;
  std::vector<std::vector<float>> weights;
};
Trained train(bool isDistributed, const optimizers::Optimizer &optimizer, bool runsEagerly = false) {
  const Examples data = examples();
  Sequential model = makeModel();
  CompileOptions compile = options(isDistributed, optimizer);
  compile.run_eagerly = runsEagerly;
  model.compile(compile);
  set_seed(5);
  Trained trained{model.fit(data.x, data.label, {.batch_size = 13, .epochs = 3, .verbose = 0, .validation_split = 0.2}),
                  model.evaluate(data.x, data.label, {.batch_size = 7}),
                  {}};
  for (const Variable &variable : model.variables())
    trained.weights.push_back(variable.value().to_vector<float>());
  return trained;
}

void expectSame(const Trained &one, const Trained &all) {
  ASSERT_EQ(one.history.history.size(), all.history.history.size());
  for (const auto &[name, values] : one.history.history)
    for (std::size_t epoch = 0; epoch < values.size(); ++epoch)
      EXPECT_NEAR(all.history.history.at(name)[epoch], values[epoch], 2e-6) << name << " of epoch " << epoch;
  for (const auto &[name, value] : one.evaluated)
    EXPECT_NEAR(all.evaluated.at(name), value, 2e-6) << name;
  for (std::size_t i = 0; i < one.weights.size(); ++i)
    for (std::size_t j = 0; j < one.weights[i].size(); ++j)
      EXPECT_NEAR(all.weights[i][j], one.weights[i][j], 2e-5);
}

std::filesystem::path folder() {
  const auto id = distributed::broadcast(scalar(static_cast<std::int32_t>(getpid()))).item<std::int32_t>();
  return std::filesystem::temp_directory_path() / ("calque-ranks-" + std::to_string(id));
}

} // namespace

TEST(DataParallel, TrainsAsOneRankDoesWithTheWholeBatch) {
  expectSame(train(false, optimizers::SGD(0.1, {.momentum = 0.9})),
             train(true, optimizers::SGD(0.1, {.momentum = 0.9})));
  expectSame(train(false, optimizers::SGD(0.1, {}, {.global_clipnorm = 0.2})),
             train(true, optimizers::SGD(0.1, {}, {.global_clipnorm = 0.2})));
  expectSame(train(false, optimizers::SGD(0.1, {}, {.gradient_accumulation_steps = 2})),
             train(true, optimizers::SGD(0.1, {}, {.gradient_accumulation_steps = 2})));
  expectSame(train(false, optimizers::SGD(0.1), true), train(true, optimizers::SGD(0.1), true));
}

TEST(DataParallel, AllRanksHaveTheWeightsOfTheFirst) {
  const Examples data = examples();
  Sequential model = makeModel(true);
  for (const Variable &variable : model.variables()) // each rank begins with others
    Variable(variable).assign_add(0.1f * float(rank()));
  model.compile(options(true, optimizers::Adam(0.01)));
  set_seed(rank()); // and would shuffle in another order
  model.fit(data.x, data.label, {.batch_size = 8, .epochs = 2, .verbose = 0});
  for (const Variable &variable : model.variables()) {
    const Tensor value = variable.value();
    EXPECT_EQ(value.to_vector<float>(), distributed::broadcast(value).to_vector<float>()) << variable.name();
  }
}

TEST(DataParallel, LayersMakeTheirVariablesInTheFirstStep) {
  const Examples data = examples();
  set_seed(rank());
  Sequential model({layers::Dense(3, {.activation = "relu"}), layers::Dense(2)});
  model.compile(options(true, optimizers::Adam(0.01)));
  model.fit(data.x, data.label, {.batch_size = 16, .verbose = 0});
  for (const Variable &variable : model.variables())
    EXPECT_EQ(variable.value().to_vector<float>(), distributed::broadcast(variable.value()).to_vector<float>());
}

TEST(DataParallel, BatchesSmallerThanTheRanksCountOnce) {
  const Examples data = examples(2);
  auto loss = [&](bool isDistributed) {
    Sequential model = makeModel();
    model.compile(options(isDistributed, optimizers::SGD(0.5)));
    const Logs logs = model.train_on_batch(data.x, data.label);
    return std::pair(logs.at("loss"), model.evaluate(data.x, data.label).at("loss"));
  };
  const auto [one, oneAfter] = loss(false);
  const auto [all, allAfter] = loss(true);
  EXPECT_NEAR(one, all, 1e-6);
  EXPECT_NEAR(oneAfter, allAfter, 1e-6);
}

TEST(DataParallel, DataSetsAreSharedOrEachRanksOwn) {
  const Examples data = examples(48);
  auto pairs = data::from_tensors(std::pair(data.x, data.label)).unbatch();
  auto fit = [&](const CompileOptions &compile, const data::Dataset<> &batches) {
    Sequential model = makeModel();
    model.compile(compile);
    return model.fit(batches, {.epochs = 2, .verbose = 0}).history.at("loss");
  };
  const std::vector<double> one = fit(options(false, optimizers::SGD(0.1)), pairs.batch(12)),
                            shared = fit(options(true, optimizers::SGD(0.1)), pairs.batch(12));
  CompileOptions own = options(true, optimizers::SGD(0.1));
  own.distribution = distributed::DataParallel({.own_data = true});
  // Of each 12 examples, a rank has those that its number is left for: the same batches in another order.
  const std::vector<double> sharded = fit(own, pairs.shard(ranks(), rank()).batch(12 / ranks()));
  for (std::size_t epoch = 0; epoch < one.size(); ++epoch) {
    EXPECT_NEAR(shared[epoch], one[epoch], 2e-6);
    EXPECT_NEAR(sharded[epoch], one[epoch], 2e-6);
  }
  // One rank has fewer batches: all end with it.
  Sequential model = makeModel();
  model.compile(own);
  struct Steps : callbacks::Callback {
    void on_train_batch_end(std::int64_t, Logs &) override { ++count; }
    int count = 0;
  } steps;
  model.fit(pairs.take(rank() == 0 ? 8 : 24).batch(4), {.verbose = 0, .callbacks = {steps}});
  EXPECT_EQ(steps.count, 2);
}

TEST(DataParallel, OneRankWrites) {
  const Examples data = examples();
  const std::filesystem::path path = folder();
  Sequential model = makeModel();
  model.compile(options(true, optimizers::SGD(0.1)));
  callbacks::ModelCheckpoint checkpoint(path / "model.safetensors");
  callbacks::CSVLogger log(path / "log.csv");
  if (rank() == 0)
    std::filesystem::create_directories(path);
  distributed::barrier();
  model.fit(data.x, data.label, {.batch_size = 16, .epochs = 2, .verbose = 0, .callbacks = {checkpoint, log}});
  distributed::barrier();
  EXPECT_TRUE(std::filesystem::exists(path / "model.safetensors"));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(path), std::filesystem::directory_iterator()), 2);
  distributed::barrier();
  if (rank() == 0)
    std::filesystem::remove_all(path);
}

TEST(DataParallel, GoesOnFromABackupOfTheFirst) {
  const Examples data = examples();
  const std::filesystem::path path = folder();
  struct Stops : callbacks::Callback {
    void on_epoch_end(std::int64_t epoch, Logs &) override {
      if (epoch == 1)
        throw std::runtime_error("stopped");
    }
  };
  auto losses = [&](bool isStopped) {
    Sequential model = makeModel();
    model.compile(options(true, optimizers::Adam(0.01)));
    set_seed(5);
    std::vector<callbacks::AnyCallback> all{callbacks::BackupAndRestore(path)};
    if (isStopped)
      all.emplace_back(Stops());
    return model.fit(data.x, data.label, {.batch_size = 16, .epochs = 4, .verbose = 0, .callbacks = all})
        .history.at("loss");
  };
  const std::vector<double> whole = losses(false);
  EXPECT_THROW(losses(true), std::runtime_error);
  distributed::barrier();
  const std::vector<double> rest = losses(false);
  EXPECT_EQ(rest, (std::vector<double>{whole[2], whole[3]}));
  distributed::barrier();
}

TEST(DataParallel, AStepOfYourOwnMustAverage) {
  struct Forgets : Model {
    layers::Dense dense = submodule("dense", layers::Dense(2));
    Tensor call(const Tensor &x, const layers::CallOptions &) override { return dense(x); }
    Tensors train_step(const Batch &batch) override {
      GradientTape tape;
      Tensor loss = compute_loss(batch, (*this)(batch.x, {.training = true}));
      std::vector<std::optional<Tensor>> gradients = tape.gradient(loss, trainable_variables());
      if (averages)
        gradients = average_gradients(gradients);
      optimizer().apply_gradients(gradients, trainable_variables());
      return {{"loss", loss}};
    }
    bool averages = false;
  };
  const Examples data = examples();
  for (bool averages : {false, true}) {
    Forgets model;
    model.averages = averages;
    model.compile({.optimizer = "sgd",
                   .loss = losses::SparseCategoricalCrossentropy({.from_logits = true}),
                   .distribution = distributed::DataParallel()});
    auto fit = [&] { model.fit(data.x, data.label, {.batch_size = 10, .verbose = 0}); };
    if (averages)
      EXPECT_NO_THROW(fit());
    else
      EXPECT_CONTAINS(errorOf<StateError>(fit), "train_step() does not call average_gradients()");
  }
}

TEST(DataParallel, AStepWithoutAModel) {
  const Examples data = examples(12 * ranks());
  Variable w(full({4, 1}, 0.1f * float(rank() + 1)));
  distributed::broadcast_variables({w});
  EXPECT_EQ(w.value().to_vector<float>(), std::vector<float>(4, 0.1f));
  optimizers::SGD sgd(0.1);
  auto lossOf = [&](const Tensor &x) { return mean(square(matmul(x, w) - 1)); };
  auto step = function([&](const Tensor &x) {
    GradientTape tape;
    Tensor loss = lossOf(x);
    const std::vector<Variable> weights{w};
    sgd.apply_gradients(distributed::average(tape.gradient(loss, weights)), weights);
    return distributed::all_reduce(loss, {.op = distributed::Reduction::Mean});
  });
  const Tensor own = slice(data.x, {12 * rank(), 0}, {12 * rank() + 12, 4});
  const float before = lossOf(data.x).item<float>();
  EXPECT_NEAR(step(own).item<float>(), before, 1e-6);
  for (int i = 0; i < 5; ++i)
    step(own);
  EXPECT_LT(lossOf(data.x).item<float>(), before);
  EXPECT_EQ(w.value().to_vector<float>(), distributed::broadcast(w.value()).to_vector<float>());
}

TEST(DataParallel, RefusesBucketsWithoutBytes) {
  EXPECT_CONTAINS(errorOf<ValueError>([] { distributed::DataParallel({.bucket_bytes = 0}); }),
                  "DataParallel: bucket_bytes is 0, and must be positive");
  EXPECT_CONTAINS(errorOf<StateError>([] {
                    Variable v(scalar(1.0f));
                    function([&](const Tensor &x) {
                      distributed::broadcast_variables({v});
                      return x;
                    })(scalar(1.0f));
                  }),
                  "broadcast_variables: is called before the first step");
}
