// Misuse of the public API: each a typed error with the user's line.
#ifndef CALQUE_TEST_FRONTEND_MISUSE_H
#define CALQUE_TEST_FRONTEND_MISUSE_H

#include "Testing.h"

namespace calque::testing {

struct Misuse {
  const char *statement, *file;
  unsigned line;
  std::string category, text;
  std::function<void()> run;
};
#define MISUSE(Category, text, ...) {#__VA_ARGS__, __FILE__, __LINE__, #Category, text, [] { (void)(__VA_ARGS__); }}

inline void expectError(const Misuse &expected, const std::function<void()> &run) {
  SCOPED_TRACE(expected.statement);
  try {
    run();
    ADD_FAILURE() << "no error";
  } catch (const Error &error) {
    EXPECT_EQ(error.category(), expected.category) << error.what();
    EXPECT_CONTAINS(error.what(), expected.text);
    EXPECT_EQ(error.location().line, expected.line) << error.what();
    EXPECT_CONTAINS(std::string(error.location().file), expected.file);
  } catch (const std::exception &error) {
    ADD_FAILURE() << "an error of another kind: " << error.what();
  }
}

inline void expectErrors(const std::vector<Misuse> &cases) {
  for (const Misuse &each : cases)
    expectError(each, each.run);
}

inline void expectTraced(const std::vector<Misuse> &cases) {
  for (const Misuse &each : cases)
    expectError(each, [&] {
      function([&](const Tensor &given) {
        each.run();
        return given;
      })(ones({1}));
    });
}

inline void expectBoth(const std::vector<Misuse> &cases) {
  expectErrors(cases);
  expectTraced(cases);
}

} // namespace calque::testing
#endif
