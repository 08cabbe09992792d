// Checkpoints: what is saved and restored, later and in part, all or nothing.
#include "calque/file_writer.h"
#include "test/saving/Testing.h"

#include <algorithm>
#include <thread>

using namespace calque;
using namespace calque::testing;

namespace {

struct Net : Module {
  layers::Dense hidden = submodule("hidden", layers::Dense(4, {.activation = "relu"}));
  layers::Dropout dropout = submodule("dropout", layers::Dropout(0.5));
  layers::Dense head = submodule("head", layers::Dense(1));
  Tensor operator()(const Tensor &x) const { return head(dropout(hidden(x), {.training = true})); }
};

// A program that trains, all of whose state is in a checkpoint.
struct Program {
  Net net;
  optimizers::Adam adam{0.1};
  metrics::Mean loss;
  random::Generator noise{3};
  data::Dataset<Tensor> dataset = data::from_tensor_slices(tensor<float>({1, 2, 3, 4, 5, 6, 7, 8}, {8, 1}))
                                      .shuffle(8, {.seed = 5})
                                      .repeat()
                                      .batch(2);
  data::Dataset<Tensor>::Iterator at = dataset.begin();
  std::int64_t steps = 0;
  std::string note = "new";
  Checkpoint checkpoint{{"net", net}, {"adam", adam},   {"loss", loss}, {"noise", noise},
                        {"data", at}, {"steps", steps}, {"note", note}};
  Function<Tensor(Tensor)> step = function([this](const Tensor &x) {
    Tensor noisy = x + noise.normal({2, 1}) * 0.01;
    return adam.minimize([&] { return mean(square(net(noisy) - 2 * x)); }, weights());
  });
  std::vector<Variable> weights() { return net.trainable_variables(); }

  void train(int count) {
    for (int i = 0; i < count; ++i, ++at, ++steps) {
      if (!net.head.built())
        net(*at);
      loss(step(*at));
    }
  }
  std::vector<std::byte> bits() {
    std::vector<std::byte> all;
    for (const auto &list : {net.variables(), adam.variables(), loss.variables(), {noise.state()}})
      for (const Variable &each : list)
        for (std::byte byte : each.value().bytes())
          all.push_back(byte);
    return all;
  }
};

struct Adopting : Module {
  using Module::adopt;
  using Module::variable;
};

} // namespace

TEST(Checkpoint, IsSavedAndRestored) {
  TemporaryDirectory directory;
  Variable x(2.0);
  Checkpoint checkpoint{{"x", x}};
  const std::string path = checkpoint.save(directory.file("ckpt/"));
  EXPECT_EQ(path, directory.file("ckpt/-1"));
  x.assign(11.0);
  checkpoint.restore(path).assert_consumed();
  EXPECT_EQ(x.item<float>(), 2);
  x.assign(3.0);
  EXPECT_EQ(checkpoint.save(directory.file("ckpt/")), directory.file("ckpt/-2"));
  EXPECT_EQ(latest_checkpoint(directory.file("ckpt")), directory.file("ckpt/-2"));
  EXPECT_EQ(latest_checkpoint(directory.file("ckpt/")), directory.file("ckpt/-2"));
  EXPECT_EQ(namesIn(directory.file("ckpt")), (std::vector<std::string>{"-1.safetensors", "-2.safetensors"}));
  checkpoint.restore(path + ".safetensors");
  EXPECT_EQ(x.item<float>(), 2);
  checkpoint.restore(latest_checkpoint(directory.file("none"))); // there is none
  EXPECT_EQ(x.item<float>(), 2);
  // Other tools read the file.
  EXPECT_EQ(load_safetensors(path + ".safetensors").at("x").item<float>(), 2);
}

TEST(Checkpoint, NumbersGoOn) {
  TemporaryDirectory directory;
  Variable x(1.0);
  Checkpoint first{{"x", x}}, second{{"x", x}}, third{{"x", x}};
  first.save(directory.file("a"));
  const std::string path = first.save(directory.file("a"));
  EXPECT_EQ(second.save(directory.file("a")), directory.file("a-3")) << "nothing is written over";
  third.restore(path);
  EXPECT_EQ(third.save(directory.file("b")), directory.file("b-3"));
  third.read(path);
  EXPECT_EQ(third.write(directory.file("c")), directory.file("c"));
  EXPECT_EQ(third.write(directory.file("c.safetensors")), directory.file("c.safetensors"));
  third.read(directory.file("c"));
  EXPECT_EQ(latest_checkpoint(directory.path), directory.file("b-3"));
  EXPECT_EQ(latest_checkpoint(directory.path, "a"), directory.file("a-3"));
  EXPECT_EQ(latest_checkpoint(directory.path, "c"), std::nullopt);
  writeFile(directory.file("a-07.safetensors"), "");
  writeFile(directory.file("a-x.safetensors"), "");
  std::filesystem::create_directory(directory.file("a-9.safetensors"));
  EXPECT_EQ(latest_checkpoint(directory.path, "a"), directory.file("a-3"));
}

TEST(Checkpoint, NumbersAreEachSavesOwn) {
  TemporaryDirectory directory;
  constexpr int kThreads = 4, kSaves = 12;
  std::vector<std::pair<std::string, float>> saved(kThreads * kSaves);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] {
      Variable x(0.0);
      Checkpoint checkpoint{{"x", x}};
      for (int i = 0; i < kSaves; ++i) {
        auto &[path, value] = saved[static_cast<std::size_t>(t * kSaves + i)];
        value = static_cast<float>(100 * t + i);
        x.assign(value);
        path = checkpoint.save(directory.file("net"), {.enable_async = t % 2 == 1});
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(namesIn(directory.path).size(), saved.size());
  for (const auto &[path, value] : saved)
    EXPECT_EQ(load_safetensors(path + ".safetensors").at("x").item<float>(), value) << path;
  // What an ended process has left takes no number, and what one that writes has takes its own.
  TemporaryDirectory other;
  Variable x(1.0);
  Checkpoint checkpoint{{"x", x}};
  CheckpointManager manager(checkpoint, other.path, {.checkpoint_name = "net"});
  writeFile(other.file("net-1.safetensors.unfinished"), std::string(100'000, 'x'));
  auto writer = detail::FileWriter::reserve(other.file("net-2.safetensors"), SourceLocation::current());
  ASSERT_TRUE(writer);
  EXPECT_FALSE(detail::FileWriter::reserve(other.file("net-2.safetensors"), SourceLocation::current()));
  EXPECT_EQ(checkpoint.save(other.file("net")), other.file("net-1"));
  EXPECT_EQ(checkpoint.save(other.file("net")), other.file("net-3"));
  auto tenth = detail::FileWriter::reserve(other.file("net-10.safetensors"), SourceLocation::current());
  EXPECT_MISUSE(ValueError, manager.save(10), "net-10 is being saved by another checkpoint");
  tenth.reset();
  writer.reset();
  EXPECT_EQ(manager.save(10), other.file("net-10"));
  EXPECT_EQ(namesIn(other.path),
            (std::vector<std::string>{"net-1.safetensors", "net-10.safetensors", "net-3.safetensors"}));
  writeFile(other.file("net-9223372036854775807.safetensors"), "");
  EXPECT_MISUSE(ValueError, checkpoint.save(other.file("net")), "save: no number is above that of ");
  EXPECT_MISUSE(DataError, checkpoint.save(other.file(std::string("nul\0x", 5))),
                "/nul\\0x-11.safetensors' is no path: it has a NUL byte");
  EXPECT_MISUSE(DataError, load_safetensors(std::string("nul\0x", 5)), "'nul\\0x' is no path: it has a NUL byte");
}

TEST(Checkpoint, ResumesBitForBit) {
  TemporaryDirectory directory;
  Program whole, first;
  set_seed(1);
  whole.train(8);
  set_seed(1);
  first.train(4);
  first.note = "four";
  const std::string path = first.checkpoint.save(directory.file("program"));
  Program second; // dropout has another seed
  second.checkpoint.restore(path);
  EXPECT_EQ(second.steps, 4);
  EXPECT_EQ(second.note, "four");
  second.net(ones({2, 1}));
  second.checkpoint.restore(path); // now that the layers are there, as their call has drawn numbers
  second.train(4);
  EXPECT_EQ(second.steps, 8);
  EXPECT_EQ(second.bits(), whole.bits());
}

TEST(Checkpoint, GivesWhatIsMadeLaterItsValueBeforeItIsUsed) {
  TemporaryDirectory directory;
  Program first;
  first.train(3);
  const std::string path = first.checkpoint.save(directory.file("program"));
  Program second;
  RestoreStatus status = second.checkpoint.restore(path);
  EXPECT_CONTAINS(errorOf<AssertionError>([&] { status.assert_consumed(); }), "restore: nothing has taken 'adam/");
  status.assert_existing_objects_matched();
  EXPECT_EQ(status.unused().size(), 13u) << "four weights, two slots for each, and the state of dropout";
  // The first use is in a trace.
  Tensor before = first.net.head(first.net.hidden(ones({2, 1})));
  Tensor after = function([&](const Tensor &x) { return second.net.head(second.net.hidden(x)); })(ones({2, 1}));
  EXPECT_TRUE(std::ranges::equal(before.bytes(), after.bytes()));
  EXPECT_EQ(status.unused().size(), 9u);
  second.net.dropout.build(Shape{2, 4});
  second.adam.build(second.weights());
  status.assert_consumed();
  EXPECT_EQ(second.bits(), first.bits());
}

TEST(Checkpoint, GivesSlotsThatATraceMakesTheirValues) {
  TemporaryDirectory directory;
  struct Model {
    Variable w{tensor<float>({1, 2}), {.name = "w"}};
    optimizers::Adam adam{0.1};
    Checkpoint checkpoint{{"w", w}, {"adam", adam}};
    Function<Tensor(Tensor)> step =
        function([this](const Tensor &x) { return adam.minimize([&] { return sum(square(w * x)); }, {w}); });
  };
  Model whole, first, second;
  for (int i = 0; i < 4; ++i)
    whole.step(ones({2}));
  for (int i = 0; i < 2; ++i)
    first.step(ones({2}));
  const std::string path = first.checkpoint.save(directory.file("m"));
  RestoreStatus status = second.checkpoint.restore(path);
  EXPECT_EQ(status.unused(), (std::vector<std::string>{"adam/momentum/w", "adam/velocity/w"}));
  for (int i = 0; i < 2; ++i)
    second.step(ones({2}));
  status.assert_consumed();
  EXPECT_TRUE(std::ranges::equal(second.w.value().bytes(), whole.w.value().bytes()));
}

// A program that is told to end before it has made everything saves what it was given for that.
TEST(Checkpoint, SavesWhatWaitsToBeMade) {
  TemporaryDirectory directory;
  Program whole;
  whole.train(3);
  const std::string path = whole.checkpoint.save(directory.file("program"));
  auto expectAll = [&](const std::string &saved) {
    Program last;
    RestoreStatus status = last.checkpoint.restore(saved);
    last.net(ones({2, 1}));
    last.adam.build(last.weights());
    status.assert_consumed();
    last.checkpoint.restore(saved).assert_consumed();
    EXPECT_EQ(last.bits(), whole.bits());
  };
  // Before anything is made; with the weights and no slots; and where the rest of the file was said not to matter.
  for (const bool isBuilt : {false, true})
    for (const bool isPartial : {false, true}) {
      SCOPED_TRACE(isBuilt);
      SCOPED_TRACE(isPartial);
      Program second;
      RestoreStatus status = second.checkpoint.restore(path);
      if (isPartial)
        status.expect_partial();
      if (isBuilt) {
        second.net(ones({2, 1}));
        status = second.checkpoint.read(path);
        if (isPartial)
          status.expect_partial();
      }
      CheckpointManager manager(second.checkpoint, directory.file("kept"), {.max_to_keep = 1});
      expectAll(*manager.save());
      status.expect_partial();
    }
  // Under the names of the checkpoint that is saved.
  Program third;
  RestoreStatus status = third.checkpoint.restore(path);
  Checkpoint renamed{{"model", third.net}, {"optimizer", third.adam}};
  const auto names = [&] {
    std::vector<std::string> all;
    for (const auto &[name, value] : load_safetensors(renamed.write(directory.file("renamed")) + ".safetensors"))
      if (name.starts_with("model/h") || name.starts_with("optimizer/momentum/"))
        all.push_back(name);
    return all;
  };
  const std::vector<std::string> expected = {"model/head/bias",
                                             "model/head/kernel",
                                             "model/hidden/bias",
                                             "model/hidden/kernel",
                                             "optimizer/momentum/model/head/bias",
                                             "optimizer/momentum/model/head/kernel",
                                             "optimizer/momentum/model/hidden/bias",
                                             "optimizer/momentum/model/hidden/kernel"};
  EXPECT_EQ(names(), expected);
  third.net(ones({2, 1}));
  EXPECT_EQ(names(), expected);
  third.adam.build(third.weights());
  EXPECT_EQ(names(), expected);
  status.expect_partial();
}

// What nothing can take any more goes, once it is said so.
TEST(Checkpoint, LeavesWhatItWasToldNotToExpect) {
  TemporaryDirectory directory;
  struct Body : Module {
    layers::Dense hidden = submodule("hidden", layers::Dense(2));
  } body;
  struct Whole : Body {
    layers::Dense head = submodule("head", layers::Dense(1));
  } whole;
  whole.hidden.build(Shape{1, 1});
  whole.head.build(Shape{1, 2});
  body.hidden.build(Shape{1, 1});
  optimizers::Adam adam(0.1);
  adam.build(whole.variables());
  const std::string path = Checkpoint{{"net", whole}, {"adam", adam}}.write(directory.file("whole"));
  optimizers::SGD sgd(0.1, {.momentum = 0.5});
  sgd.build(body.variables());
  Checkpoint checkpoint{{"net", body}, {"adam", sgd}};
  checkpoint.restore(path).expect_partial();
  const std::string saved = checkpoint.write(directory.file("body"));
  const std::map<std::string, Tensor> all = load_safetensors(saved + ".safetensors");
  EXPECT_FALSE(all.contains("net/head/kernel"));
  EXPECT_FALSE(all.contains("adam/velocity/net/hidden/kernel"));
  checkpoint.restore(saved).assert_consumed();
}

TEST(Checkpoint, KnowsSlotsByThePathsOfTheirVariables) {
  TemporaryDirectory directory;
  Variable a(tensor<float>({1}), {.name = "w"}), b(tensor<float>({2}), {.name = "w"}), c(tensor<float>({3}));
  optimizers::SGD sgd(0.1, {.momentum = 0.5});
  sgd.build({a, b, c});
  Checkpoint checkpoint{{"a", a}, {"b", b}, {"sgd", sgd}};
  const std::string file = checkpoint.write(directory.file("x")) + ".safetensors";
  const std::map<std::string, Tensor> saved = load_safetensors(file);
  for (const char *path : {"a", "b", "sgd/iterations", "sgd/learning_rate", "sgd/momentum/a", "sgd/momentum/b",
                           "sgd/momentum/Variable"}) // which the checkpoint has not
    EXPECT_TRUE(saved.contains(path)) << path;
  EXPECT_EQ(saved.size(), 7u);
  // The order in which they are made does not matter.
  Variable a2(tensor<float>({0}), {.name = "other"}), b2(tensor<float>({0}), {.name = "w"});
  optimizers::SGD other(0.1, {.momentum = 0.5});
  other.build({b2, a2});
  sgd.variables()[2].assign(tensor<float>({7}));
  checkpoint.write(directory.file("x"));
  RestoreStatus status = Checkpoint{{"a", a2}, {"b", b2}, {"sgd", other}}.read(directory.file("x"));
  status.expect_partial();
  EXPECT_EQ(status.unused(), std::vector<std::string>{"sgd/momentum/Variable"});
  EXPECT_EQ(other.named_variables()[3].first, "momentum/other");
  EXPECT_EQ(other.named_variables()[3].second.item<float>(), 7);
}

TEST(Checkpoint, RestoresInPartAndSaysWhat) {
  TemporaryDirectory directory;
  Variable a(1.0), b(2.0), c(3.0);
  const std::string path = Checkpoint{{"a", a}, {"b", b}}.save(directory.file("x"));
  a.assign(5.0);
  c.assign(6.0);
  Warnings warnings;
  {
    RestoreStatus status = Checkpoint{{"a", a}, {"c", c}}.restore(path);
    EXPECT_EQ(a.item<float>(), 1);
    EXPECT_EQ(c.item<float>(), 6);
    EXPECT_EQ(status.unused(), std::vector<std::string>{"b"});
    EXPECT_EQ(status.missing(), std::vector<std::string>{"c"});
    EXPECT_MISUSE(AssertionError, status.assert_existing_objects_matched(), "x-1.safetensors has not 'c'");
    EXPECT_MISUSE(AssertionError, status.assert_consumed(), "x-1.safetensors has not 'c'");
    EXPECT_TRUE(warnings.texts.empty());
  }
  ASSERT_EQ(warnings.texts.size(), 1u);
  EXPECT_CONTAINS(warnings.texts[0], "x-1.safetensors has 1 value that nothing has taken, the first is 'b'; "
                                     "expect_partial() says that it is meant so");
  Checkpoint{{"a", a}}.restore(path).expect_partial().assert_existing_objects_matched();
  EXPECT_MISUSE(AssertionError, (Checkpoint{{"a", a}}.restore(path).assert_consumed()),
                "restore: nothing has taken 'b' of ");
  EXPECT_EQ(warnings.texts.size(), 1u);
  Checkpoint{{"a", a}, {"b", b}}.restore(path).assert_consumed();
  RestoreStatus none = Checkpoint{{"a", a}}.restore(std::nullopt);
  EXPECT_TRUE(none.assert_consumed().unused().empty());
  EXPECT_TRUE(none.missing().empty());
}

TEST(Checkpoint, RestoresAllOrNothing) {
  TemporaryDirectory directory;
  Variable a(tensor<float>({1, 2})), b(tensor<float>({3}));
  std::int64_t steps = 1;
  const std::string path = Checkpoint{{"a", a}, {"b", b}, {"steps", steps}}.save(directory.file("x"));
  Variable other(tensor<float>({8, 9})), longer(tensor<float>({7, 7})), integers(tensor({7}));
  steps = 5;
  EXPECT_MISUSE(ShapeError, (Checkpoint{{"a", other}, {"b", longer}, {"steps", steps}}.restore(path)),
                "restore: 'b' is float32[2] here, and float32[1] in " + path + ".safetensors");
  EXPECT_MISUSE(DTypeError, (Checkpoint{{"a", other}, {"b", integers}, {"steps", steps}}.restore(path)),
                "restore: 'b' is int32[1] here, and float32[1] in ");
  std::string note = "old";
  bool flag = true;
  const std::string texts = Checkpoint{{"a", a}, {"flag", note}, {"note", note}}.save(directory.file("y"));
  note = "kept";
  EXPECT_MISUSE(DataError, (Checkpoint{{"a", other}, {"note", note}, {"flag", flag}}.restore(texts)),
                "restore: 'flag' is 'old', which is no bool");
  EXPECT_EQ(note, "kept");
  float number = 4;
  EXPECT_CONTAINS(errorOf<DataError>([&] { Checkpoint{{"flag", number}}.restore(texts); }),
                  "restore: 'flag' is 'old', which is no number");
  std::int8_t small = 4;
  EXPECT_CONTAINS(errorOf<DataError>([&] { Checkpoint{{"note", small}}.restore(texts); }),
                  "restore: 'note' is 'old', which is no integer of its type");
  EXPECT_EQ(steps, 5);
  expectNear(other.value(), {8, 9});
  data::Dataset<Tensor> numbers = data::range(10), two = numbers.shuffle(3);
  auto at = numbers.begin(), another = two.begin();
  const std::string position = Checkpoint{{"note", note}, {"data", at}}.save(directory.file("z"));
  note = "new";
  EXPECT_MISUSE(ValueError, (Checkpoint{{"note", note}, {"data", another}}.restore(position)), "");
  EXPECT_EQ(note, "new");
}

TEST(Checkpoint, KeepsNumbersExactly) {
  TemporaryDirectory directory;
  double tenth = 0.1, infinite = -std::numeric_limits<double>::infinity(), none = std::nan("");
  float third = 1.0f / 3;
  std::uint64_t large = UINT64_MAX;
  std::int64_t small = INT64_MIN;
  bool flag = true;
  std::string text = "ä \"quoted\"\n\0 \\";
  text.push_back('\0');
  Tensor kept = tensor<std::int64_t>({1, 2}), undefined;
  std::vector<Variable> list = {Variable(1.0), Variable(2.0)};
  Checkpoint checkpoint{{"tenth", tenth}, {"infinite", infinite},   {"none", none},
                        {"third", third}, {"large", large},         {"small", small},
                        {"flag", flag},   {"text", text},           {"kept", kept},
                        {"list", list},   {"undefined", undefined}, {"dice", random::global_generator()}};
  const std::string path = checkpoint.save(directory.file("x")), expected = text;
  tenth = infinite = none = third = 0;
  large = 0, small = 0, flag = false, text = "", kept = zeros({3});
  list[1].assign(0.0);
  checkpoint.restore(path).assert_consumed();
  EXPECT_EQ(tenth, 0.1);
  EXPECT_EQ(infinite, -std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isnan(none));
  EXPECT_EQ(third, 1.0f / 3);
  EXPECT_EQ(large, UINT64_MAX);
  EXPECT_EQ(small, INT64_MIN);
  EXPECT_TRUE(flag);
  EXPECT_EQ(text, expected);
  EXPECT_EQ(kept.to_vector<std::int64_t>(), (std::vector<std::int64_t>{1, 2}));
  EXPECT_EQ(list[1].item<float>(), 2);
  EXPECT_EQ(load_safetensors(path + ".safetensors").at("list/1").item<float>(), 2);
}

TEST(Checkpoint, TakesPartsOfOnesOwn) {
  TemporaryDirectory directory;
  struct Progress : Trackable {
    int epoch = 0;
    Tensor best;
    Variable rate{0.5};
    std::map<std::string, int> counts;
    void checkpoint_parts(CheckpointVisitor &visitor) override {
      visitor.value("epoch", epoch);
      visitor.tensor("best", best);
      visitor.variable("rate", rate);
      visitor.text(
          "counts",
          [this] {
            Config json;
            for (const auto &[name, count] : counts)
              json.set(name, count);
            return json.str();
          },
          [this](const std::string &text) {
            counts.clear();
            for (const auto &[name, count] : Config::parse(text))
              counts[name] = static_cast<int>(count.as<std::int64_t>());
          });
    }
  };
  Progress first, second;
  first.epoch = 7;
  first.best = tensor<float>({1, 2});
  first.rate.assign(0.25);
  first.counts = {{"seen", 3}};
  const std::string path = Checkpoint{{"progress", first}}.save(directory.file("x"));
  Checkpoint{{"progress", second}}.restore(path).assert_consumed();
  EXPECT_EQ(second.epoch, 7);
  expectNear(second.best, {1, 2});
  EXPECT_EQ(second.rate.item<float>(), 0.25);
  EXPECT_EQ(second.counts, first.counts);
  // An object itself, and a shared one.
  auto shared = std::make_shared<Progress>();
  const std::string root = Checkpoint(first).save(directory.file("root"));
  EXPECT_TRUE(load_safetensors(root + ".safetensors").contains("rate"));
  Checkpoint(*shared).restore(root).assert_consumed();
  EXPECT_EQ(shared->epoch, 7);
  shared->epoch = 0;
  Checkpoint{{"progress", std::shared_ptr<Trackable>(shared)}}.restore(path).assert_consumed();
  EXPECT_EQ(shared->epoch, 7);
  // Several layers, one after the other.
  std::vector<layers::Dense> blocks{layers::Dense(1), layers::Dense(2)}, others{layers::Dense(1), layers::Dense(2)};
  for (std::size_t i = 0; i < 2; ++i) {
    blocks[i](ones({1, 3}));
    others[i](ones({1, 3}));
  }
  const std::string list = Checkpoint{{"blocks", blocks}}.write(directory.file("list"));
  EXPECT_TRUE(load_safetensors(list + ".safetensors").contains("blocks/1/kernel"));
  Checkpoint{{"blocks", others}}.read(list).assert_consumed();
  EXPECT_EQ(others[1].get_weights()[0].to_vector<float>(), blocks[1].get_weights()[0].to_vector<float>());
  // A model as the root.
  models::Sequential model({layers::Dense(2)});
  model.build(Shape{1, 3});
  EXPECT_TRUE(
      load_safetensors(Checkpoint(model).write(directory.file("model")) + ".safetensors").contains("dense/bias"));
}

TEST(Checkpoint, RefusesNamesThatNoPathHas) {
  TemporaryDirectory directory;
  struct Named : Trackable {
    std::string name;
    int value = 1;
    void checkpoint_parts(CheckpointVisitor &visitor) override { visitor.value(name, value); }
  } named;
  for (const char *name : {"", "/", "a/b", "calque.format", "calque.checkpoint", "calque.zzz"}) {
    named.name = name;
    EXPECT_MISUSE(ValueError, Checkpoint(named).write(directory.file("x")),
                  "checkpoint: '" + std::string(name) + "' is no name of a part; it must not be empty, have no '/'");
  }
  named.name = "a/b";
  EXPECT_MISUSE(ValueError, (Checkpoint{{"part", named}}.write(directory.file("x"))),
                "checkpoint: 'a/b' in 'part' is no name of a part");
  named.name = "calque.format"; // not at the beginning of a path
  const std::string path = Checkpoint{{"part", named}}.write(directory.file("x"));
  Checkpoint{{"part", named}}.restore(path).assert_consumed();
}

TEST(Checkpoint, SavesWhatIsSharedOnce) {
  TemporaryDirectory directory;
  auto inner = std::make_shared<Adopting>();
  Variable w = inner->variable("w", 1.0);
  Adopting outer;
  outer.adopt("one", inner);
  outer.adopt("two", inner);
  outer.adopt("three", w);
  Checkpoint checkpoint{{"outer", outer}, {"w", w}};
  const std::string path = checkpoint.save(directory.file("x"));
  EXPECT_EQ(load_safetensors(path + ".safetensors").size(), 1u);
  w.assign(2.0);
  checkpoint.restore(path).assert_consumed();
  EXPECT_EQ(w.item<float>(), 1);
}

TEST(Checkpoint, GivesVariablesThatAreRegisteredLaterTheirValues) {
  TemporaryDirectory directory;
  Adopting saved, restored;
  saved.variable("a", tensor<float>({1}));
  auto part = std::make_shared<Adopting>();
  part->variable("b", tensor<float>({2}));
  saved.adopt("part", part);
  const std::string path = Checkpoint(saved).save(directory.file("x"));
  RestoreStatus status = Checkpoint(restored).restore(path);
  EXPECT_EQ(restored.variable("a", tensor<float>({0})).item<float>(), 1);
  // A module with variables, and one that gets them later; a type that does not fit leaves everything as it is.
  auto wrong = std::make_shared<Adopting>(), right = std::make_shared<Adopting>();
  Variable c = wrong->variable("b", tensor({0}));
  EXPECT_CONTAINS(errorOf<DTypeError>([&] { restored.adopt("part", wrong); }),
                  "restore: 'part/b' is int32[1] here, and float32[1] in ");
  EXPECT_TRUE(restored.children().empty());
  restored.adopt("part", right);
  EXPECT_EQ(right->variable("b", tensor<float>({0})).item<float>(), 2);
  status.assert_consumed();
  // A restore takes the place of the one before.
  Adopting twice;
  Checkpoint root(twice);
  saved.variables()[0].assign(tensor<float>({5}));
  const std::string later = Checkpoint(saved).save(directory.file("x"));
  root.restore(path).expect_partial();
  root.restore(later).expect_partial();
  EXPECT_EQ(twice.variable("a", tensor<float>({0})).item<float>(), 5);
}
