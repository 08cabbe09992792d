// Checkpoints where something goes wrong: misuse, damage, other versions, a full disk; and saves beside the program,
// which fail later.
#include "test/saving/Testing.h"

#include <algorithm>
#include <nettle/sha2.h>
#include <sys/resource.h>

using namespace calque;
using namespace calque::testing;

namespace {

std::string sha256(const std::string &bytes) {
  sha256_ctx context;
  std::uint8_t digest[SHA256_DIGEST_SIZE];
  sha256_init(&context);
  sha256_update(&context, bytes.size(), reinterpret_cast<const std::uint8_t *>(bytes.data()));
  sha256_digest(&context, sizeof digest, digest);
  std::string digits;
  for (std::uint8_t byte : digest)
    for (int half : {byte >> 4, byte & 15})
      digits += "0123456789abcdef"[half];
  return digits;
}

} // namespace

TEST(Checkpoint, AFailedBuildGivesItsValuesBack) {
  TemporaryDirectory directory;
  struct Body : layers::LayerBody {
    Body() : LayerBody("body") {}
    void build(const Shape &, DType dtype) override {
      weight("w", {2}, dtype, zeros);
      if (fails)
        throw std::runtime_error("not yet");
    }
    Tensor call(const Tensor &x, const layers::CallOptions &) override { return x; }
    bool fails = false;
  };
  auto saved = std::make_shared<Body>(), restored = std::make_shared<Body>();
  layers::Layer(saved).build(Shape{2});
  saved->variables()[0].assign(tensor<float>({1, 2}));
  const std::string path = Checkpoint(*saved).save(directory.file("x"));
  RestoreStatus status = Checkpoint(*restored).restore(path);
  restored->fails = true;
  EXPECT_THROW(layers::Layer(restored).build(Shape{2}), std::runtime_error);
  EXPECT_EQ(status.unused(), std::vector<std::string>{"w"});
  restored->fails = false;
  layers::Layer(restored).build(Shape{2});
  expectNear(restored->variables()[0].value(), {1, 2});
  status.assert_consumed();
}

TEST(Checkpoint, BesideTheProgramSavesTheValuesAtTheCall) {
  TemporaryDirectory directory;
  Variable x(zeros({1 << 20}));
  std::int64_t step = 0;
  Checkpoint checkpoint{{"x", x}, {"step", step}};
  auto add = function([&](const Tensor &one) { x.assign_add(one); }); // in place
  std::vector<std::string> paths;
  for (int i = 0; i < 5; ++i) {
    paths.push_back(checkpoint.save(directory.file("x"), {.enable_async = true}));
    for (int j = 0; j < 10; ++j, ++step)
      add(ones({}));
  }
  checkpoint.wait();
  for (int i = 0; i < 5; ++i) {
    checkpoint.restore(paths[static_cast<std::size_t>(i)]).assert_consumed();
    EXPECT_EQ(step, i * 10);
    const std::vector<float> values = x.to_vector<float>();
    EXPECT_TRUE(std::ranges::all_of(values, [&](float value) { return value == static_cast<float>(i * 10); }));
  }
}

TEST(Checkpoint, BesideTheProgramFailsAtTheNextSave) {
  TemporaryDirectory directory;
  Variable x(zeros({1000}));
  Warnings warnings;
  const std::string blocked = directory.file("blocked");
  {
    Checkpoint checkpoint{{"x", x}};
    std::filesystem::create_directory(blocked + ".safetensors");
    checkpoint.write(blocked, {.enable_async = true});
    EXPECT_CONTAINS(errorOf<DataError>([&] { checkpoint.write(directory.file("y")); }),
                    blocked + ".safetensors: can't be written: it is no regular file");
    checkpoint.write(blocked, {.enable_async = true});
    EXPECT_CONTAINS(errorOf<DataError>([&] { checkpoint.wait(); }), "CheckpointFailuresTest.cpp:");
    checkpoint.wait();
    checkpoint.write(directory.file("y"), {.enable_async = true});
    EXPECT_TRUE(warnings.texts.empty());
  } // waits
  EXPECT_TRUE(std::filesystem::exists(directory.file("y.safetensors")));
  Checkpoint{{"x", x}}.write(blocked, {.enable_async = true});
  ASSERT_EQ(warnings.texts.size(), 1u);
  EXPECT_CONTAINS(warnings.texts[0], "checkpoint: a save beside the program has failed: " + blocked);
}

TEST(Checkpoint, IsRefusedWhereItIsMisused) {
  TemporaryDirectory directory;
  Variable x(1.0);
  Checkpoint checkpoint{{"x", x}};
  const std::string path = directory.file("x");
  EXPECT_MISUSE(DataError, checkpoint.restore("/no/such"), "/no/such.safetensors: can't be opened: No such file");
  EXPECT_MISUSE(DataError, checkpoint.save("/proc/none/x"), "/proc/none/: the directory can't be made: ");
  save_safetensors(path + ".safetensors", {{"x", scalar(1.0)}});
  EXPECT_MISUSE(DataError, checkpoint.restore(path), "this is no checkpoint, but another file of tensors");
  EXPECT_MISUSE(
      ValueError, (Checkpoint{{"a/b", x}}),
      "checkpoint: 'a/b' is no name of a part; it must not be empty, have no '/' and not begin with 'calque.'");
  EXPECT_MISUSE(ValueError, (Checkpoint{{"", x}}), "checkpoint: '' is no name of a part");
  EXPECT_MISUSE(ValueError, (Checkpoint{{"calque.x", x}}), "checkpoint: 'calque.x' is no name of a part");
  EXPECT_MISUSE(ValueError, (Checkpoint{{"x", x}, {"x", x}}), "checkpoint: the name 'x' is given twice");
  EXPECT_MISUSE(StateError, (Checkpoint{{"x", std::shared_ptr<Trackable>()}}), "checkpoint: the part 'x' is empty");
  EXPECT_MISUSE(StateError, (Checkpoint{{"x", layers::Layer(nullptr)}}), "checkpoint: the part 'x' is empty");
  struct Twice : Trackable {
    Variable one{1.0}, two{2.0};
    void checkpoint_parts(CheckpointVisitor &visitor) override {
      visitor.variable("w", one);
      visitor.variable("w", two);
    }
  } twice;
  EXPECT_MISUSE(ValueError, (Checkpoint{{"twice", twice}}.save(path)),
                "checkpoint: two parts would be saved as 'twice/w'");
  auto traced = [&](auto body) {
    return errorOf<StateError>([&] {
      function([&](const Tensor &y) {
        body();
        return y;
      })(ones({2}));
    });
  };
  EXPECT_CONTAINS(traced([&] { checkpoint.save(path); }), "save: a checkpoint holds values, and there are none while ");
  EXPECT_CONTAINS(traced([&] { checkpoint.restore(path); }), "restore: a checkpoint holds values, and there are none");
  EXPECT_EQ(checkpoint.save(path), path + "-1") << "nothing was counted";
}

TEST(Checkpoint, IsSavedInAHostCallButNotWhileItsVariablesAreAssigned) {
  TemporaryDirectory directory;
  Variable x(1.0f), other(2.0f);
  Checkpoint assigned{{"x", x}}, apart{{"other", other}};
  const std::string path = assigned.write(directory.file("x"));
  std::string saved, restored;
  auto f = function([&](const Tensor &y) {
    x.assign_add(y);
    return host_call(
        [&](std::span<const Tensor> in) {
          saved = errorOf<StateError>([&] { assigned.write(directory.file("y")); });
          restored = errorOf<StateError>([&] { assigned.restore(path); });
          apart.write(directory.file("other"));
          return in[0];
        },
        {y}, {TensorSpec<float>({})});
  });
  f(scalar(1.0f));
  EXPECT_CONTAINS(saved, "variable 'Variable'");
  EXPECT_CONTAINS(restored, "variable 'Variable'");
  EXPECT_EQ(x.item<float>(), 2);
  EXPECT_EQ(namesIn(directory.path), (std::vector<std::string>{"other.safetensors", "x.safetensors"}));
}

TEST(Checkpoint, RefusesVersionsThatItDoesNotKnow) {
  TemporaryDirectory directory;
  Variable x(1.0);
  Checkpoint checkpoint{{"x", x}};
  // The version has a right digest, as in a file that a later Calque wrote.
  const std::string path = checkpoint.write(directory.file("x")) + ".safetensors", whole = readFile(path);
  const std::string version = "\"calque.checkpoint\":\"", digest = "\"calque.sha256\":\"";
  std::string bytes = whole;
  bytes[bytes.find(version) + version.size()] = '2';
  const std::size_t at = bytes.find(digest) + digest.size();
  bytes.replace(at, 64, 64, '0');
  bytes.replace(at, 64, sha256(bytes));
  writeFile(path, bytes);
  EXPECT_MISUSE(DataError, checkpoint.restore(path), "version '2' of checkpoints is not known; this is version 1");
}

TEST(Checkpoint, ReadsFilesOfEarlierVersions) {
  Variable weights(zeros({2, 3})), flags(tensor<bool>({false, true})), integers(tensor({0, 0})),
      large(scalar(std::int64_t(0))), doubles(tensor<double>({0})), empty(zeros({0, 3}));
  std::int64_t step = 0;
  double rate = 0;
  bool done = false;
  std::string note;
  random::Generator dice(0);
  Checkpoint checkpoint{{"weights", weights}, {"flags", flags}, {"integers", integers}, {"long", large},
                        {"doubles", doubles}, {"empty", empty}, {"step", step},         {"rate", rate},
                        {"done", done},       {"note", note},   {"dice", dice}};
  checkpoint.restore(CALQUE_SAVED_FILES "/version-1/checkpoint").assert_consumed();
  expectNear(weights.value(), {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(flags.to_vector<bool>(), (std::vector<bool>{true, false}));
  EXPECT_EQ(integers.to_vector<int>(), (std::vector<int>{1, -2}));
  EXPECT_EQ(large.item<std::int64_t>(), std::int64_t(1) << 40);
  EXPECT_EQ(doubles.item<double>(), 0.1);
  EXPECT_EQ(step, 3);
  EXPECT_EQ(rate, 0.1);
  EXPECT_TRUE(done);
  EXPECT_EQ(note, "ä \"quoted\"");
  EXPECT_EQ(dice.state().to_vector<std::int64_t>(), (std::vector<std::int64_t>{7, 0}));
}

TEST(Checkpoint, EveryByteThatIsAnotherOneIsFound) {
  TemporaryDirectory directory;
  Variable x(tensor<float>({1, 2}));
  std::int64_t step = 3;
  Checkpoint checkpoint{{"x", x}, {"step", step}};
  const std::string path = checkpoint.write(directory.file("x")) + ".safetensors", whole = readFile(path);
  x.assign(tensor<float>({5, 6}));
  step = 7;
  auto expectRefused = [&](const std::string &bytes) {
    std::filesystem::remove(path); // to cut a file and write it anew takes a disk milliseconds
    writeFile(path, bytes);
    EXPECT_TRUE(errorOf<DataError>([&] { checkpoint.restore(path); }).starts_with(path + ": "));
    EXPECT_EQ(step, 7);
    EXPECT_EQ(x.to_vector<float>(), (std::vector<float>{5, 6}));
  };
  for (std::size_t at = 0; at < whole.size(); ++at)
    for (int mask : {1, 32, 255}) {
      std::string bytes = whole;
      bytes[at] = static_cast<char>(bytes[at] ^ mask);
      SCOPED_TRACE("byte " + std::to_string(at) + " by " + std::to_string(mask));
      expectRefused(bytes);
    }
  for (std::size_t length = 0; length < whole.size(); ++length)
    expectRefused(whole.substr(0, length));
  writeFile(path, whole);
  checkpoint.restore(path).assert_consumed();
  EXPECT_EQ(step, 3);
}

TEST(Checkpoint, AFullDiskLosesNothing) {
  TemporaryDirectory directory;
  Variable x(zeros({1000}));
  CheckpointManager manager(Checkpoint{{"x", x}}, directory.path, {.max_to_keep = 1});
  const std::string path = *manager.save();
  rlimit limit, small;
  ::getrlimit(RLIMIT_FSIZE, &limit);
  small = limit;
  small.rlim_cur = 2000;
  ::setrlimit(RLIMIT_FSIZE, &small);
  std::string text = errorOf<DataError>([&] { manager.save(); });
  ::setrlimit(RLIMIT_FSIZE, &limit);
  EXPECT_CONTAINS(text, directory.file("ckpt-2.safetensors: can't be written: File too large"));
  EXPECT_EQ(manager.latest_checkpoint(), path);
  EXPECT_EQ(namesIn(directory.path), std::vector<std::string>{"ckpt-1.safetensors"});
  EXPECT_EQ(manager.save(), directory.file("ckpt-2"));
}

// Parts name their own by calls within each other, and a stack has an end.
TEST(Checkpoint, RefusesPartsThatAreNestedTooDeep) {
  struct Link : Trackable {
    std::shared_ptr<Link> next;
    int number = 0;
    void checkpoint_parts(CheckpointVisitor &visitor) override {
      visitor.value("number", number);
      if (next)
        visitor.part("next", *next);
    }
  };
  auto chain = [](int links) {
    auto first = std::make_shared<Link>();
    for (int i = 1; i < links; ++i) {
      auto before = std::make_shared<Link>();
      before->next = first;
      first = before;
    }
    return first;
  };
  TemporaryDirectory directory;
  auto deepest = chain(1000), deeper = chain(1001);
  Checkpoint({{"chain", *deepest}}).write(directory.file("deepest"));
  EXPECT_MISUSE(ValueError, Checkpoint({{"chain", *deeper}}).write(directory.file("deeper")),
                "checkpoint: parts are nested at most 1000 deep, and there are more below 'chain/next/next");
}
