// The description of functions in their file, JSON among the metadata, when somebody else has written it: with the
// right digest, and of another form than a saving program gives it.
#include "calque/saved_functions.h"
#include "test/frontend/Testing.h"
#include "test/saving/Digest.h"
#include "test/training/Idx.h"

using namespace calque;
using namespace calque::testing;

TEST(SavedDescription, IsRefusedWhereItIsNotAsItIsWritten) {
  TemporaryDirectory directory;
  const std::string path = directory.file("f.calque");
  Variable w(ones({2}), {.name = "w"});
  auto f = function<Tensor(const Tensor &, int)>([&](const Tensor &x, int n) { return x * w * float(n); });
  auto g = function<Tensor(const Tensor &)>([&](const Tensor &x) { return x + w; });
  f(ones({2}), 3);
  g(ones({2}));
  save_functions(path, {{"f", f}, {"g", g}});
  const std::string whole = readFile(path);
  auto fault = [&](const std::string &from, const std::string &to) {
    writeFile(path, with(whole, from, to));
    const std::string text = errorOf<DataError>([&] { load_functions(path); });
    EXPECT_TRUE(text.starts_with(path + ": ")) << text;
    return text;
  };
  writeFile(path, with(whole, R"(\"version\":1)", R"(\"version\": 1)"));
  EXPECT_EQ(load_functions(path).names(), (std::vector<std::string>{"f", "g"}));

  EXPECT_CONTAINS(fault(R"(\"name\":\"g\")", R"(\"name\":\"f\")"), "function 'f' is there twice");
  EXPECT_CONTAINS(fault(R"(\"version\":1)", R"(\"version\":1,\"version\":1)"),
                  "its description of functions has the name 'version' twice in one object");
  EXPECT_CONTAINS(fault(R"(\"trainable\":true)", R"(\"trainable\":true,\"trainable\":false)"),
                  "has the name 'trainable' twice in one object");
  std::string many;
  for (int i = 0; i < 20; ++i)
    many += R"(\")" + std::to_string(i) + R"(\":0,)";
  const std::string damaged = "its description of functions is damaged";
  EXPECT_CONTAINS(fault(R"(\"version\":1)", many + R"(\"version\":1)"), damaged);
  EXPECT_CONTAINS(fault(R"(\"version\":1)", R"(\"version\":true)"), damaged);
  EXPECT_CONTAINS(fault(R"(\"version\":1)", R"(\"version\":1.0)"), damaged);
  EXPECT_CONTAINS(fault(R"(\"trainable\":true)", R"(\"trainable\":1)"), damaged);
  EXPECT_CONTAINS(fault(R"(\"shape\":[2])", R"(\"shape\":[2.5])"), damaged);
  EXPECT_CONTAINS(fault(R"(\"shape\":[2])", R"(\"shape\":[true])"), damaged);
  EXPECT_CONTAINS(fault(R"(\"shape\":[2])", R"(\"shape\":{\"a\":2})"), damaged);
  EXPECT_CONTAINS(fault(R"(\"shape\":[2])", R"(\"shape\":2)"), damaged);
  EXPECT_CONTAINS(fault(R"(\"shape\":[2])", R"(\"shape\":[-2])"), "a size is -2");
  EXPECT_CONTAINS(fault(R"(\"shape\":[2])", R"(\"shape\":[18446744073709551614])"), "a size is 18446744073709551614");
  EXPECT_CONTAINS(fault(R"(\"bits\":3)", R"(\"bits\":3.5)"), damaged);
  EXPECT_CONTAINS(fault(R"(\"bits\":3)", R"(\"bits\":-3)"), damaged);
  EXPECT_CONTAINS(fault(R"(\"kind\":\"tensor\")", R"(\"kind\":7)"), damaged);
}

// A terminal obeys control characters: those of a stranger's file do not reach it, whatever of the file is shown.
TEST(SavedDescription, HasNoControlCharactersWhereItIsShown) {
  TemporaryDirectory directory;
  const std::string path = directory.file("f.calque"), bell = "\x1b]0;title\a", shown = "\\x1b]0;title\\x07";
  Variable w(ones({2}), {.name = bell + "w"});
  auto f = function<Tensor(const Tensor &)>([&](const Tensor &x) {
    print(bell, x);
    assert_true(all(x > 0.f), bell + "x is positive");
    return x * w;
  });
  f.get_concrete_function(TensorSpec<float>({2}));
  save_functions(path, {{bell + "f", f}});
  const SavedFunctions loaded = load_functions(path);
  EXPECT_EQ(loaded.names(), std::vector<std::string>{bell + "f"}); // by which it is found
  EXPECT_CONTAINS(loaded.str(), shown + "f\n");
  EXPECT_CONTAINS(loaded.str(), "variable '" + shown + "w'");
  EXPECT_CONTAINS(errorOf<LookupError>([&] { loaded.names(), loaded["g"]; }), "the functions are " + shown + "f");
  // Called, and as a part of another function.
  auto own = loaded.function<Tensor(const Tensor &)>(bell + "f");
  const std::vector<Function<Tensor(const Tensor &)>> both = {
      own, function<Tensor(const Tensor &)>([own](const Tensor &x) { return own(x); })};
  for (const Function<Tensor(const Tensor &)> &each : both) {
    ::testing::internal::CaptureStdout();
    each(ones({2}));
    EXPECT_EQ(::testing::internal::GetCapturedStdout(), shown + " [1. 1.]\n");
    EXPECT_CONTAINS(errorOf<AssertionError>([&] { each(-ones({2})); }), shown + "x is positive");
  }
  // What a program says of itself is its own.
  ::testing::internal::CaptureStdout();
  print(bell, ones({2}));
  EXPECT_EQ(::testing::internal::GetCapturedStdout(), bell + " [1. 1.]\n");
}
