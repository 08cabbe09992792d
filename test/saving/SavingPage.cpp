// The programs of docs/saving.md, which a test compares with this file.
#include "test/saving/Testing.h"

using namespace calque;
using namespace calque::testing;

namespace {
struct Progress : Trackable {
  int epoch = 0;
  Tensor best;
  void checkpoint_parts(CheckpointVisitor &visitor) override {
    visitor.value("epoch", epoch);
    visitor.tensor("best", best);
  }
};
} // namespace

TEST(SavingPage, PartsOfOnesOwnAndStatus) {
  TemporaryDirectory directory;
  Progress progress;
  Checkpoint checkpoint{{"progress", progress}};
  progress.epoch = 3;
  progress.best = ones({2});
  const std::string path = checkpoint.save(directory.file("x"));
  progress = {};
  RestoreStatus status = checkpoint.restore(path);
  status.unused();                          // what the file has and nothing has taken so far
  status.missing();                         // what there is and the file has not
  status.assert_consumed();                 // neither
  status.assert_existing_objects_matched(); // no missing ones
  status.expect_partial();                  // no warning when the rest can't be taken any more
  EXPECT_EQ(progress.epoch, 3);
  expectNear(progress.best, {1, 1});
}
