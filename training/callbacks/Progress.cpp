// What fit() shows while it runs.
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "calque/callbacks.h"

#include <chrono>
#include <cstdio>
#include <sys/ioctl.h>
#include <unistd.h>

namespace calque::callbacks {

struct ProgbarLogger::Bar {
  using Clock = std::chrono::steady_clock;
  const bool isTerminal = isatty(STDOUT_FILENO) != 0;
  Clock::time_point start, shown;
  std::int64_t done = 0;

  void begin() {
    start = shown = Clock::now();
    done = 0;
  }
  double seconds() const { return std::chrono::duration<double>(Clock::now() - start).count(); }
  static std::string timeText(double seconds) {
    if (seconds >= 60)
      return absl::StrFormat("%d:%02d", static_cast<int>(seconds) / 60, static_cast<int>(seconds) % 60);
    return absl::StrFormat("%ds", static_cast<int>(seconds));
  }

  // The columns of the terminal; no bound where it does not say them.
  static std::size_t columns() {
    winsize size{};
    return ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col ? size.ws_col : std::string::npos;
  }

  // Draws over the line; at most ten times a second, but for the last. A line that does not fit the terminal is cut, so
  // that the next is drawn over all of it.
  void draw(const std::optional<std::int64_t> &steps, const Logs &logs, bool isLast) {
    const Clock::time_point now = Clock::now();
    if (!isLast && now - shown < std::chrono::milliseconds(100))
      return;
    shown = now;
    constexpr std::int64_t width = 20;
    std::string line = steps ? absl::StrCat(done, "/", *steps) : absl::StrCat(done);
    if (steps) {
      std::int64_t full = *steps ? done * width / *steps : width;
      absl::StrAppend(&line, " [", std::string(static_cast<std::size_t>(full), '='),
                      std::string(static_cast<std::size_t>(width - full), '.'), "]");
    }
    const double each = seconds() / static_cast<double>(done ? done : 1);
    if (isLast || !steps)
      absl::StrAppend(&line, " ", timeText(seconds()), " ", absl::StrFormat("%.3g", each * 1e3), "ms/step");
    else
      absl::StrAppend(&line, " ", timeText(each * static_cast<double>(*steps - done)), " left");
    absl::StrAppend(&line, " - ", logs.str());
    if (!isLast)
      line = line.substr(0, columns() - 1);
    std::printf("\r\033[K%s%s", line.c_str(), isLast ? "\n" : "");
    std::fflush(stdout);
  }
  void line(const std::optional<std::int64_t> &steps, const Logs &logs) const {
    std::printf("%s - %s - %s\n", steps ? absl::StrCat(done, "/", *steps).c_str() : absl::StrCat(done).c_str(),
                timeText(seconds()).c_str(), logs.str().c_str());
    std::fflush(stdout);
  }
};

ProgbarLogger::ProgbarLogger() : bar(std::make_shared<Bar>()) {}

void ProgbarLogger::on_train_begin(Logs &) { trains = true; }

void ProgbarLogger::on_epoch_begin(std::int64_t epoch, Logs &) {
  std::printf("Epoch %lld/%lld\n", static_cast<long long>(epoch + 1), static_cast<long long>(params().epochs));
  std::fflush(stdout);
  bar->begin();
}

void ProgbarLogger::on_train_batch_end(std::int64_t batch, Logs &logs) {
  bar->done = batch + 1;
  if (bar->isTerminal && params().verbose == 1)
    bar->draw(params().steps, logs, false);
}

void ProgbarLogger::on_epoch_end(std::int64_t, Logs &logs) {
  if (bar->isTerminal && params().verbose == 1)
    bar->draw(params().steps, logs, true);
  else
    bar->line(params().steps, logs);
}

void ProgbarLogger::on_test_begin(Logs &) {
  if (!trains)
    bar->begin();
}
void ProgbarLogger::on_test_batch_end(std::int64_t batch, Logs &logs) {
  if (trains)
    return;
  bar->done = batch + 1;
  if (bar->isTerminal && params().verbose == 1)
    bar->draw(params().steps, logs, false);
}
void ProgbarLogger::on_test_end(Logs &logs) {
  if (trains)
    return;
  if (bar->isTerminal && params().verbose == 1)
    bar->draw(params().steps, logs, true);
  else
    bar->line(params().steps, logs);
}

} // namespace calque::callbacks
