// Saved functions with collectives. The file is for programs with as many ranks.
#include "test/distributed/Ranks.h"

#include "calque/saved_functions.h"

#include <unistd.h>

#include <filesystem>

using namespace calque;
using namespace calque::testing;

TEST(Saved, FunctionsContainCollectives) {
  const std::string path = std::filesystem::temp_directory_path() /
                           ("calque-ranks-" + std::to_string(getpid()) + "-" + std::to_string(rank()) + ".calque");
  auto f = function([](const Tensor &x) {
    return sum(distributed::all_gather(distributed::shift(x, 1), {.axis = 0}) * 3) +
           distributed::reduce(x[0], {.root = ranks() - 1});
  });
  const Tensor x = full({2}, float(rank() + 1));
  const float expected = f(x).item<float>();
  save_functions(path, {{"f", f}});
  auto loaded = load_functions(path);
  EXPECT_EQ(loaded.function<Tensor(const Tensor &)>("f")(x).item<float>(), expected);
  std::filesystem::remove(path);
}
