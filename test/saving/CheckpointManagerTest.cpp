// Managers of checkpoints: which ones are kept.
#include "test/saving/Testing.h"

#include <sys/fsuid.h>
#include <sys/stat.h>

using namespace calque;
using namespace calque::testing;

TEST(CheckpointManager, KeepsTheNewest) {
  TemporaryDirectory directory;
  Variable x(0.0);
  const std::string folder = directory.file("deep/er");
  int made = 0;
  CheckpointManager manager(Checkpoint{{"x", x}}, folder, {.max_to_keep = 2, .init_fn = [&] { ++made; }});
  EXPECT_EQ(manager.restore_or_initialize(), std::nullopt);
  EXPECT_EQ(made, 1);
  for (int i = 1; i <= 4; ++i) {
    x.assign(i);
    EXPECT_EQ(manager.save(std::nullopt, {.enable_async = i % 2 == 0}), folder + "/ckpt-" + std::to_string(i));
  }
  manager.checkpoint().wait();
  EXPECT_EQ(manager.checkpoints(), (std::vector<std::string>{folder + "/ckpt-3", folder + "/ckpt-4"}));
  EXPECT_EQ(manager.latest_checkpoint(), folder + "/ckpt-4");
  EXPECT_EQ(manager.directory(), folder);
  writeFile(folder + "/other-9.safetensors", "");
  // In another process.
  Variable y(0.0);
  CheckpointManager other(Checkpoint{{"x", y}}, folder, {.max_to_keep = 2});
  EXPECT_EQ(other.restore_or_initialize(), folder + "/ckpt-4");
  EXPECT_EQ(y.item<float>(), 4);
  EXPECT_EQ(other.save(), folder + "/ckpt-5");
  EXPECT_EQ(other.save(10), folder + "/ckpt-10");
  EXPECT_EQ(other.checkpoints(), (std::vector<std::string>{folder + "/ckpt-5", folder + "/ckpt-10"}));
  EXPECT_MISUSE(ValueError, other.save(7),
                "checkpoint manager: number 7 is not above 10, that of the latest checkpoint, which would stay the");
  EXPECT_TRUE(std::filesystem::exists(folder + "/other-9.safetensors"));
}

TEST(CheckpointManager, SaysWhatItCantWriteAndRemove) {
  if (::geteuid() != 0)
    GTEST_SKIP() << "only root can become another user";
  TemporaryDirectory directory;
  Variable x(0.0);
  CheckpointManager manager(Checkpoint{{"x", x}}, directory.path, {.max_to_keep = 1});
  manager.save();
  ::chmod(directory.path.c_str(), 0755);
  ::setfsuid(65534); // nobody, in this thread
  std::string written = errorOf<DataError>([&] { manager.save(); });
  ::setfsuid(0);
  EXPECT_CONTAINS(written, "ckpt-2.safetensors: can't be written: Permission denied");
  EXPECT_EQ(namesIn(directory.path), std::vector<std::string>{"ckpt-1.safetensors"});
  ::chmod(directory.path.c_str(), 01777); // files are removed by their owners
  ::setfsuid(65534);
  std::string removed = errorOf<DataError>([&] { manager.save(); });
  ::setfsuid(0);
  EXPECT_CONTAINS(removed, "ckpt-1.safetensors: can't be removed: Operation not permitted");
  EXPECT_EQ(manager.latest_checkpoint(), directory.file("ckpt-2"));
  EXPECT_EQ(manager.save(), directory.file("ckpt-3"));
  EXPECT_EQ(namesIn(directory.path), std::vector<std::string>{"ckpt-3.safetensors"});
}

TEST(CheckpointManager, KeepsOneForSomeHours) {
  TemporaryDirectory directory;
  Variable x(0.0);
  Checkpoint checkpoint{{"x", x}};
  CheckpointManager manager(checkpoint, directory.path, {.max_to_keep = 1, .keep_checkpoint_every_n_hours = 2});
  auto later = [&](int number, int hours) {
    std::filesystem::last_write_time(directory.file("ckpt-" + std::to_string(number) + ".safetensors"),
                                     std::filesystem::file_time_type::clock::now() + std::chrono::hours(hours));
  };
  for (int i = 1; i <= 6; ++i) {
    manager.save();
    later(i, i);
  }
  manager.save();
  const std::vector<std::string> kept = {"ckpt-2.safetensors", "ckpt-4.safetensors", "ckpt-6.safetensors",
                                         "ckpt-7.safetensors"};
  EXPECT_EQ(namesIn(directory.path).size(), 4u);
  EXPECT_EQ(manager.checkpoints(), std::vector<std::string>{directory.file("ckpt-7")});
  CheckpointManager next(checkpoint, directory.path, {.max_to_keep = 1, .keep_checkpoint_every_n_hours = 2});
  next.save();
  EXPECT_EQ(next.checkpoints(), std::vector<std::string>{directory.file("ckpt-8")});
  EXPECT_EQ(namesIn(directory.path).size(), 4u);
}

TEST(CheckpointManager, SavesWhereTheIntervalIsOver) {
  TemporaryDirectory directory;
  Variable step(scalar(std::int64_t(0)));
  CheckpointManager manager(Checkpoint{{"step", step}}, directory.path,
                            {.step_counter = step, .checkpoint_interval = 10});
  int saves = 0;
  for (int i = 0; i < 35; ++i) {
    saves += manager.save().has_value();
    step.assign_add(1);
  }
  EXPECT_EQ(saves, 4);
}

TEST(CheckpointManager, RefusesOptionsOutOfRange) {
  TemporaryDirectory directory;
  Variable x(0.0);
  Checkpoint checkpoint{{"x", x}};
  EXPECT_MISUSE(ValueError, CheckpointManager(checkpoint, directory.path, {.max_to_keep = 0}),
                "checkpoint manager: max_to_keep is above 0, unlike 0");
  EXPECT_MISUSE(ValueError, CheckpointManager(checkpoint, directory.path, {.keep_checkpoint_every_n_hours = -1}),
                "checkpoint manager: keep_checkpoint_every_n_hours is above 0, unlike -1");
  EXPECT_MISUSE(ValueError, CheckpointManager(checkpoint, directory.path, {.checkpoint_interval = 2}),
                "checkpoint manager: checkpoint_interval and step_counter are given together");
  EXPECT_MISUSE(ValueError, CheckpointManager(checkpoint, directory.path, {.checkpoint_name = "a/b"}),
                "checkpoint manager: the name 'a/b' must have no '/'");
}
