// What fit() and evaluate() show: a bar that is drawn over itself on a terminal, and lines elsewhere.
#include "Testing.h"

#include <pty.h>
#include <regex>
#include <thread>
#include <unistd.h>

using namespace calque;
using namespace calque::testing;

namespace {

// What is written to standard output by the call, which is a terminal of so many columns meanwhile. None where the
// system has no pseudo terminals, as some containers.
std::optional<std::string> onTerminal(unsigned short columns, const std::function<void()> &call) {
  int master = -1, slave = -1;
  winsize size{24, columns, 0, 0};
  if (::openpty(&master, &slave, nullptr, nullptr, &size) != 0)
    return std::nullopt;
  std::fflush(stdout);
  const int before = ::dup(STDOUT_FILENO);
  ::dup2(slave, STDOUT_FILENO);
  ::close(slave);
  std::string text;
  std::thread reader([&] { // or a full terminal would stop the program
    char buffer[1024];
    for (ssize_t count; (count = ::read(master, buffer, sizeof(buffer))) > 0;)
      text.append(buffer, static_cast<std::size_t>(count));
  });
  call();
  std::fflush(stdout);
  ::dup2(before, STDOUT_FILENO);
  ::close(before); // the terminal's last one: the reader sees its end
  reader.join();
  ::close(master);
  return text;
}

// Waits in each batch for as long as the bar is not drawn again.
callbacks::LambdaCallback slowly() {
  return callbacks::LambdaCallback({.on_train_batch_begin = [](std::int64_t, Logs &) {
    std::this_thread::sleep_for(std::chrono::milliseconds(110));
  }});
}

// "3s" or "1:05".
const std::string kTime = "[0-9:]+s?";

struct Line {
  Line() { model.compile({.optimizer = optimizers::SGD(0.0), .loss = "mse", .metrics = {"mae"}}); }
  Sequential model{Input({1}), layers::Dense(1, {.kernel_initializer = "zeros"})};
  Tensor x = ones({6, 1}), y = zeros({6, 1});
};

} // namespace

#define REQUIRE_TERMINAL(text)                                                                                         \
  if (!(text))                                                                                                         \
  GTEST_SKIP() << "there are no pseudo terminals"

TEST(Progress, IsABarOnATerminal) {
  Line line;
  std::optional<std::string> shown = onTerminal(80, [&] {
    line.model.fit(line.x, line.y, {.batch_size = 2, .epochs = 2, .callbacks = {slowly()}});
    line.model.evaluate(line.x, line.y, {.batch_size = 2, .verbose = 1});
  });
  REQUIRE_TERMINAL(shown);
  const std::string text = *shown, over = "\r\033\\[K", metrics = " - loss: 0\\.0000 - mae: 0\\.0000",
                    last = over + "3/3 \\[={20}\\] " + kTime + " [0-9.e+]+ms/step" + metrics + "\r\n",
                    drawn = "(" + over + "[123]/3 \\[(={6}\\.{14}|={13}\\.{7}|={20})\\] " + kTime + " left" + metrics +
                            ")+";
  EXPECT_TRUE(
      std::regex_match(text, std::regex("Epoch 1/2\r\n" + drawn + last + "Epoch 2/2\r\n" + drawn + last + last)))
      << text;
}

// A line that is wider than the terminal would stay where it was drawn.
TEST(Progress, FitsTheTerminal) {
  Line line;
  std::optional<std::string> shown =
      onTerminal(40, [&] { line.model.fit(line.x, line.y, {.batch_size = 2, .callbacks = {slowly()}}); });
  REQUIRE_TERMINAL(shown);
  const std::string text = *shown;
  std::size_t drawn = 0;
  for (std::size_t at = text.find("\033[K"); at != std::string::npos; at = text.find("\033[K", at)) {
    at += 3;
    const std::size_t end = text.find_first_of("\r\n", at);
    if (text.substr(at, end - at).find("left") != std::string::npos) {
      EXPECT_LT(end - at, 40u) << text;
      ++drawn;
    }
  }
  EXPECT_GE(drawn, 2u) << text;
  EXPECT_CONTAINS(text, "ms/step - loss: 0.0000 - mae: 0.0000\r\n"); // the last is whole
}

TEST(Progress, IsALineAnEpochWhereItIsAsked) {
  Line line;
  std::optional<std::string> shown =
      onTerminal(80, [&] { line.model.fit(line.x, line.y, {.batch_size = 2, .epochs = 2, .verbose = 2}); });
  REQUIRE_TERMINAL(shown);
  const std::string each = "3/3 - " + kTime + " - loss: 0\\.0000 - mae: 0\\.0000\r\n";
  EXPECT_TRUE(std::regex_match(*shown, std::regex("Epoch 1/2\r\n" + each + "Epoch 2/2\r\n" + each))) << *shown;
  EXPECT_EQ(onTerminal(80, [&] { line.model.fit(line.x, line.y, {.batch_size = 2, .epochs = 2, .verbose = 0}); }), "");
}

TEST(Progress, IsLinesWhereThereIsNoTerminal) {
  Line line;
  ::testing::internal::CaptureStdout();
  line.model.fit(line.x, line.y, {.batch_size = 2, .epochs = 2});
  line.model.evaluate(line.x, line.y, {.verbose = 1});
  const std::string shown = ::testing::internal::GetCapturedStdout(),
                    each = " - " + kTime + " - loss: 0\\.0000 - mae: 0\\.0000\n";
  EXPECT_TRUE(std::regex_match(shown, std::regex("Epoch 1/2\n3/3" + each + "Epoch 2/2\n3/3" + each + "1/1" + each)))
      << shown;
}
