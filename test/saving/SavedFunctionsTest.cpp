// Functions that are saved and loaded: structures, variables, signatures, and what is refused.
#include "calque/ahead_of_time.h"
#include "calque/operation.h"
#include "calque/safetensors.h"
#include "calque/saved_functions.h"
#include "test/saving/Digest.h"
#include "test/training/Idx.h"
#include "test/training/Testing.h"

#include <algorithm>

using namespace calque;
using namespace calque::testing;

namespace {

struct Outputs {
  Tensor loss;
  std::vector<Tensor> gradients;
  std::map<std::string, Tensor> named;
  std::optional<Tensor> none;
  int count = 0;
  bool good = false;
  std::string text;
};
struct SameOutputs {
  Tensor first;
  std::vector<Tensor> second;
  std::unordered_map<std::string, Tensor> third;
  std::optional<Tensor> fourth;
  int fifth = 0;
  bool sixth = false;
  std::string seventh;
};

class SavedFunctionsTest : public ::testing::Test {
protected:
  TemporaryDirectory directory;
  const std::string path = directory.file("f.calque");
  const Tensor x = tensor<float>({0.5f, -1, 2, 3, 0.25f, -2}, {2, 3});
};

void expectSame(const Tensor &found, const Tensor &expected) {
  EXPECT_EQ(found.dtype(), expected.dtype());
  EXPECT_EQ(found.shape().str(), expected.shape().str());
  EXPECT_TRUE(std::ranges::equal(found.bytes(), expected.bytes())) << found << " and " << expected;
}

TEST_F(SavedFunctionsTest, KeepStructures) {
  auto f = function([](const std::pair<Tensor, Tensor> &given, const std::vector<Tensor> &list, int n, bool flag,
                       const std::string &name) {
    Tensor sum = given.first * given.second + list[0] * float(n);
    return Outputs{mean(sum), {sum, -sum}, {{"a", exp(sum)}, {"b", sum > 0.f}}, std::nullopt, n + 1, flag, name + "!"};
  });
  const Outputs expected = f({x, x + 1.f}, {x}, 3, true, "key");
  save_functions(path, {{"f", f}});
  auto loaded = load_functions(path)
                    .function<SameOutputs(const std::tuple<Tensor, Tensor> &, const std::array<Tensor, 1> &, int, bool,
                                          std::string)>("f");
  // An array has no number of elements in the signature, a vector has.
  EXPECT_MISUSE(SignatureError, loaded({x, x + 1.f}, {x}, 3, true, "key"), "f: argument 1 must be 1 element");
  auto again = load_functions(path)
                   .function<SameOutputs(const std::tuple<Tensor, Tensor> &, const std::vector<Tensor> &, int, bool,
                                         std::string)>("f");
  const SameOutputs found = again({x, x + 1.f}, {x}, 3, true, "key");
  expectSame(found.first, expected.loss);
  expectSame(found.second.at(1), expected.gradients[1]);
  expectSame(found.third.at("a"), expected.named.at("a"));
  expectSame(found.third.at("b"), expected.named.at("b"));
  EXPECT_FALSE(found.fourth);
  EXPECT_EQ(found.fifth, 4);
  EXPECT_TRUE(found.sixth);
  EXPECT_EQ(found.seventh, "key!");
  EXPECT_MISUSE(SignatureError, again({x, x}, {x}, 4, true, "key"), "f: argument 2 is bound to int 3, not int 4");
  EXPECT_MISUSE(SignatureError, again({x, x}, {x, x}, 3, true, "key"),
                "f: argument 1 must be 1 element, not 2 elements");
}

TEST_F(SavedFunctionsTest, TakeTensorsAlone) {
  auto f = function([](const std::map<std::string, Tensor> &given) {
    return std::map<std::string, Tensor>{{"sum", given.at("a") + given.at("b")}, {"product", given.at("a") * 2.f}};
  });
  auto expected = f({{"a", x}, {"b", x}});
  save_functions(path, {{"f", f}});
  SavedFunctions loaded = load_functions(path);
  std::vector<Tensor> found = loaded["f"]({x, x});
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(loaded.result_names("f"), (std::vector<std::string>{"result[\"product\"]", "result[\"sum\"]"}));
  expectSame(found[0], expected.at("product"));
  expectSame(found[1], expected.at("sum"));
  EXPECT_EQ(loaded.argument_specs("f").at(0).at(1).str(), "float32[2,3]");
  EXPECT_THROW(loaded["f"]({x}), SignatureError);
}

TEST_F(SavedFunctionsTest, HaveVariablesAndAssignThem) {
  Variable w(ones({3}), {.name = "w"}), other(zeros({3}), {.name = "w", .trainable = false}),
      counter(scalar(0), {.name = "n"});
  auto predict = function([=](const Tensor &given) { return sum(given * w, {1}) + sum(other); });
  auto step = function([=](const Tensor &given) {
    GradientTape tape;
    Tensor loss = mean(square(sum(given * w, {1})));
    Variable(w).assign_sub(0.1f * *tape.gradient(loss, w));
    Variable(counter).assign_add(1);
    return loss;
  });
  predict(x);
  step(x);
  save_functions(path, {{"predict", predict}, {"step", step}}, {.variables = {{"model/w", w}}});
  const Tensor saved = w.value();
  w.assign(zeros({3})); // what is saved is the state at the call
  w.assign(saved);
  SavedFunctions loaded = load_functions(path);
  const std::map<std::string, Variable> &variables = loaded.variables();
  ASSERT_EQ(variables.size(), 3u);
  expectSame(variables.at("model/w").value(), w.value());
  EXPECT_FALSE(variables.at("w").trainable());
  EXPECT_EQ(variables.at("n").value().item<int>(), 1);
  auto loadedStep = loaded.function<Tensor(const Tensor &)>("step"),
       loadedPredict = loaded.function<Tensor(const Tensor &)>("predict");
  for (int i = 0; i < 3; ++i)
    expectSame(loadedStep(x), step(x));
  expectSame(variables.at("model/w").value(), w.value());
  EXPECT_EQ(variables.at("n").value().item<int>(), 4);
  expectSame(loadedPredict(x), predict(x)); // they share the variable
  Variable(variables.at("model/w")).assign(zeros({3}));
  EXPECT_EQ(sum(loadedPredict(x)).item<float>(), 0);
  EXPECT_CONTAINS(loaded.str(), "predict\n  argument 0: float32[2,3]\n  result: float32[2]\n");
  EXPECT_CONTAINS(loaded.str(), "variable 'w': float32[3], not trainable\n");
}

TEST_F(SavedFunctionsTest, TakeVariables) {
  auto f = function([](Variable &a, Variable &b, const Tensor &given) {
    a.assign_add(given);
    return b * 2.f;
  });
  Variable a(ones({2})), b(ones({2})), same(full({2}, 3.f));
  f(a, b, ones({2}));
  f(same, same, ones({2}));
  save_functions(path, {{"f", f}});
  auto loaded = load_functions(path).function<Tensor(Variable &, Variable &, const Tensor &)>("f");
  EXPECT_EQ(valuesOf(loaded(a, b, ones({2}))), (std::vector<double>{2, 2}));
  EXPECT_EQ(valuesOf(a.value()), (std::vector<double>{3, 3}));
  EXPECT_EQ(valuesOf(loaded(same, same, ones({2}))), (std::vector<double>{10, 10}));
  EXPECT_CONTAINS(
      errorOf<SignatureError>([&] { load_functions(path)["f"]; }),
      "f: argument 0 is a variable; ask for the function with its C++ signature, as function<Signature>(name)");
}

TEST_F(SavedFunctionsTest, ServeOpenSizesAndSeveralTraces) {
  auto f = function([](const Tensor &given) { return softmax(given, 1) / cast(size(given, 0), given.dtype()); });
  auto open = f.get_concrete_function(TensorSpec<float>({kDynamic, 3}));
  f(cast(x, DType::Float64));
  save_functions(path, {{"f", f}});
  auto loaded = load_functions(path).function<Tensor(const Tensor &)>("f");
  for (int n : {1, 2, 7}) {
    Tensor given = reshape(sin(iota({n * 3}, DType::Float32)), {n, 3});
    expectSame(loaded(given), open(given));
  }
  EXPECT_EQ(loaded.trace_count(), 1);
  expectSame(loaded(cast(x, DType::Float64)), f(cast(x, DType::Float64)));
  EXPECT_EQ(loaded.trace_count(), 2);
  EXPECT_MISUSE(SignatureError, loaded(ones({2, 4})),
                "f: it was saved for other calls; these are (float32[?,3]), (float64[2,3]), and the call has "
                "(float32[2,4]); for the first of these, argument 0 must be float32[?,3], not float32[2,4]");
}

TEST_F(SavedFunctionsTest, NameTheClosestOfManyTraces) {
  auto f = function([](const Tensor &given, int n) { return given * n; });
  for (int n = 0; n < 40; ++n)
    f.get_concrete_function(x, n);
  using Map = std::map<std::string, Tensor>;
  auto g = function([](const Map &given) { return given.begin()->second * 2; });
  g(Map{{"a", x}});
  g(Map{{"b", x}, {"c", x}});
  save_functions(path, {{"f", f}, {"g", g}});
  SavedFunctions file = load_functions(path);
  auto loaded = file.function<Tensor(const Tensor &, int)>("f");
  EXPECT_MISUSE(SignatureError, loaded(x, 40),
                "f: it was saved for other calls; these are (float32[2,3], int 0), (float32[2,3], int 1), "
                "(float32[2,3], int 2), (float32[2,3], int 3) and 36 others, and the call has (float32[2,3], int 40); "
                "for the first of these, argument 1 is bound to int 0, not int 40");
  auto map = file.function<Tensor(const Map &)>("g");
  EXPECT_MISUSE(
      SignatureError, map(Map{{"c", x}}),
      "and the call has (float32[2,3]); for the first of these, argument 0 must be the key \"a\", not the key "
      "\"c\"");
}

// What is one tensor in a file stays one, however often it is loaded and saved.
TEST_F(SavedFunctionsTest, HaveEachCapturedTensorOnce) {
  const Tensor large = iota({8192}, DType::Float32);
  auto f = function([=](const Tensor &given) { return sum(given) * large; });
  auto g = function([=](const Tensor &given) { return large - mean(given); });
  for (int n = 1; n <= 3; ++n) {
    f(ones({n}));
    g(ones({n}));
  }
  const std::string again = path + "-again";
  save_functions(path, {{"f", f}, {"g", g}});
  SavedFunctions file = load_functions(path);
  auto first = file.function<Tensor(const Tensor &)>("f"), second = file.function<Tensor(const Tensor &)>("g");
  auto both = function([=](const Tensor &given) { return first(given) + second(given); });
  both(ones({2}));
  save_functions(again, {{"f", first}, {"g", second}, {"both", both}});
  EXPECT_LT(std::filesystem::file_size(again), std::filesystem::file_size(path) + 16384);
  expectSame(load_functions(again).function<Tensor(const Tensor &)>("both")(ones({2})), both(ones({2})));
}

TEST_F(SavedFunctionsTest, AreDifferentiatedAndTransformed) {
  Variable w(ones({3}), {.name = "w"});
  auto f = function([=](const Tensor &given) { return sum(tanh(given * w) * given, {1}); });
  f(x);
  save_functions(path, {{"f", f}});
  SavedFunctions file = load_functions(path);
  auto loaded = file.function<Tensor(const Tensor &)>("f");
  auto total = [](auto &g) { return [&g](const Tensor &given) { return sum(g(given)); }; };
  expectSame(grad(total(loaded))(x), grad(total(f))(x));
  expectSame(hessian(total(loaded))(x), hessian(total(f))(x));
  expectSame(function(grad(total(loaded)))(x), function(grad(total(f)))(x));
  GradientTape tape, other;
  expectSame(*tape.gradient(loaded(x), file.variables().at("w")), *other.gradient(f(x), w));
  Tensor batch = stack({x, x + 1.f, x * 2.f});
  EXPECT_EQ(vmap(loaded)(batch).shape().str(), "[3,2]");
  // Once more: what is loaded can be saved.
  save_functions(path, {{"again", loaded}});
  expectSame(load_functions(path).function<Tensor(Tensor)>("again")(x), f(x));
}

TEST_F(SavedFunctionsTest, RunEagerlyAsTheyWereSaved) {
  Variable w(ones({3}), {.name = "w"});
  auto step = function([=](const Tensor &given) {
    GradientTape tape;
    Tensor loss = sum(square(w * given - 3.f));
    Variable(w).assign_sub(0.01f * *tape.gradient(loss, w));
    return std::pair(loss, hessian([](const Tensor &y) { return sum(y * y * y); })(given[0]));
  });
  step(x);
  save_functions(path, {{"step", step}});
  SavedFunctions file = load_functions(path);
  auto loaded = file.function<std::pair<Tensor, Tensor>(const Tensor &)>("step");
  for (int i = 0; i < 3; ++i) {
    auto expected = step(x), found = i == 1 ? loaded(x) : loaded.eager(x);
    expectSame(found.first, expected.first);
    expectSame(found.second, expected.second);
  }
  expectSame(file.variable("w").value(), w.value());
  GradientTape tape, other;
  tape.watch(x);
  other.watch(x);
  expectSame(*tape.gradient(loaded.eager(x).first, x), *other.gradient(step(x).first, x));
  EXPECT_MISUSE(LookupError, file.variable("v"), "there is no variable 'v'; the variables are w");
}

TEST_F(SavedFunctionsTest, KeepAllTracesWhenTheyAreSavedAgain) {
  auto f = function([](const Tensor &given, int n) { return std::pair(given * float(n), n); });
  for (int n : {1, 2, 3})
    f(x, n);
  save_functions(path, {{"f", f}});
  EXPECT_CONTAINS(errorOf<SignatureError>([&] { load_functions(path)["f"]; }),
                  "f: its tensors do not say which of (float32[2,3], int 1) and (float32[2,3], int 2) is called; "
                  "ask for the function with its C++ signature, or for one of them, by on_tensors");
  const SavedFunctions saved = load_functions(path);
  using Values = std::vector<SavedHostValue>;
  EXPECT_EQ(saved.host_values("f"),
            (std::vector<Values>{{{"argument 1", "int 1"}}, {{"argument 1", "int 2"}}, {{"argument 1", "int 3"}}}));
  expectSame(saved.on_tensors("f", {1})({x})[0], f(x, 2).first);
  EXPECT_EQ(saved.result_names("f", 1), (std::vector<std::string>{"result[0]"}));
  EXPECT_MISUSE(ValueError, saved.on_tensors("f", {3}), "f: there is no trace 3; it was saved with 3 traces");
  EXPECT_MISUSE(ValueError, saved.on_tensors("f", {}), "f: on_tensors is given no trace");
  EXPECT_CONTAINS(errorOf<SignatureError>([&] { saved.on_tensors("f", {0, 2}); }),
                  "(float32[2,3], int 1) and (float32[2,3], int 3)");
  save_functions(path, {{"f", load_functions(path).function<std::pair<Tensor, int>(Tensor, int)>("f")}});
  auto again = load_functions(path).function<std::pair<Tensor, int>(Tensor, int)>("f");
  for (int n : {1, 2, 3}) {
    expectSame(again(x, n).first, f(x, n).first);
    EXPECT_EQ(again(x, n).second, n);
  }
}

TEST_F(SavedFunctionsTest, NameTheLinesOfWhoSavedThem) {
  auto f = function([](const Tensor &given, const Tensor &index) { return gather(given, index); });
  const std::string line = std::string(__FILE__) + ":" + std::to_string(__LINE__ - 1);
  f(x, tensor({0}));
  save_functions(path, {{"f", f}});
  auto loaded = load_functions(path).function<Tensor(Tensor, Tensor)>("f");
  EXPECT_CONTAINS(errorOf<IndexError>([&] { loaded(x, tensor({5})); }), line);
}

TEST_F(SavedFunctionsTest, SayHowFarALoopWasFollowed) {
  auto f = function([](const Tensor &n) {
    Tensor y = n * 0.f;
    while (y < n)
      y = y + 1.f;
    return y;
  });
  f(scalar(100.f));
  save_functions(path, {{"f", f}});
  auto loaded = load_functions(path).function<Tensor(Tensor)>("f");
  expectSame(loaded(scalar(5'000.f)), scalar(5'000.f));
  EXPECT_CONTAINS(errorOf<StateError>([&] { loaded(scalar(30'000.f)); }),
                  "function 'f' was loaded, so that there is no C++ code to follow");
  f(scalar(30'000.f));
  save_functions(path, {{"f", f}});
  expectSame(load_functions(path).function<Tensor(Tensor)>("f")(scalar(30'000.f)), scalar(30'000.f));
}

TEST_F(SavedFunctionsTest, AreRefusedWhereTheyAreCodeOfTheProgram) {
  auto f = function([](const Tensor &given) {
    return host_call([](std::span<const Tensor> in) { return in[0]; }, {given}, {TensorSpec<float>({2, 3})});
  });
  EXPECT_MISUSE(StateError, save_functions(path, {{"f", f}}), "save_functions: function 'f' has no trace yet");
  f(x);
  EXPECT_MISUSE(ValueError, save_functions(path, {{"f", f}}), "save_functions: function 'f' calls the host at ");
  EXPECT_MISUSE(ValueError, save_functions(path, {}), "save_functions: there is no function to save");
  auto g = function([](const Tensor &given) { return given + 1.f; });
  g(x);
  EXPECT_MISUSE(ValueError, save_functions(path, {{"g", g}, {"g", g}}),
                "save_functions: the name 'g' is given to two functions");
  Variable v(ones({2}));
  EXPECT_MISUSE(ValueError, save_functions(path, {{"g", g}}, {.variables = {{"v", v}, {"v", v}}}),
                "save_functions: the name 'v' is given to two variables");
  EXPECT_MISUSE(ValueError, save_functions(path, {{"g", g}}, {.variables = {{"v", v}, {"w", v}}}),
                "save_functions: one variable is given the names 'v' and 'w'");
  {
    GradientOverride other("sin", [](const std::vector<Tensor> &, const Tensor &, const Tensor &g) {
      return std::vector<Tensor>{g * 7.f};
    });
    auto inside =
        function([](const Tensor &given) { return grad([](const Tensor &y) { return sum(sin(y)); })(given); });
    inside(x);
    EXPECT_MISUSE(ValueError, save_functions(path, {{"g", inside}}),
                  "save_functions: function 'g' was traced within a GradientOverride, which no file has");
  }
  EXPECT_MISUSE(ValueError, save_functions(path, {{"\xff", g}}), "save_functions: a name is not UTF-8");
  EXPECT_MISUSE(StateError, save_functions(path, {{"g", Function<Tensor(Tensor)>()}}), "empty function");
  auto saves = function([&](const Tensor &given) {
    save_functions(path, {{"g", g}});
    return given;
  });
  EXPECT_CONTAINS(errorOf<StateError>([&] { saves(x); }),
                  "save_functions is called while a function is traced: its variables have no values then");
  Variable w(ones({3}));
  auto both = function([=](Variable &given) { return given + w; });
  both(w);
  EXPECT_MISUSE(ValueError, save_functions(path, {{"both", both}}),
                "save_functions: in function 'both' a variable is both an argument and captured, which can't be saved");
  EXPECT_FALSE(std::filesystem::exists(path));
  EXPECT_THROW(save_functions(directory.file("none/f.calque"), {{"g", g}}), DataError);
}

TEST_F(SavedFunctionsTest, RefuseWrongNamesTypesAndFiles) {
  auto f = function([](const Tensor &given) { return std::pair(given + 1.f, given); });
  f(x);
  save_functions(path, {{"f", f}, {"g", f}});
  SavedFunctions loaded = load_functions(path);
  EXPECT_EQ(loaded.names(), (std::vector<std::string>{"f", "g"}));
  EXPECT_MISUSE(LookupError, loaded.function<Tensor(Tensor)>("h"), "there is no function 'h'; the functions are f, g");
  EXPECT_MISUSE(LookupError, loaded["h"], "there is no function 'h'; the functions are f, g");
  EXPECT_MISUSE(SignatureError, (loaded.function<Tensor(Tensor)>("f")(x)), "and the C++ signature has no more results");
  EXPECT_MISUSE(SignatureError, (loaded.function<std::tuple<Tensor, Tensor, Tensor>(Tensor)>("f")(x)),
                "there are no more results, and the C++ signature has a tensor there");
  EXPECT_MISUSE(SignatureError, (loaded.function<std::pair<Tensor, int>(Tensor)>("f")(x)),
                "result[1] is float32[2,3], and the C++ signature has the host value int there");
  EXPECT_MISUSE(SignatureError, (loaded.function<std::pair<Tensor, std::string>(Tensor)>("f")(x)), "has a text there");
  EXPECT_MISUSE(SignatureError, (loaded.function<std::vector<Tensor>(Tensor)>("f")(x)), "has a container there");
  EXPECT_MISUSE(StateError, SavedFunctions().names(), "empty file of functions");
  EXPECT_MISUSE(DataError, load_functions(directory.file("none")), "can't be opened");
  save_safetensors(path, {{"x", x}});
  EXPECT_MISUSE(DataError, load_functions(path), path + ": it is no file of functions");
}

TEST_F(SavedFunctionsTest, AreCompiledAheadOfTimeOrRefused) {
  const std::string object = directory.file("net.o"), header = directory.file("net.h");
  auto f = function([](const Tensor &given) { return given + 1.f; });
  auto g = function([](Variable &v) { return v * 2.f; });
  Variable w(ones({2}));
  f(x);
  f(cast(x, DType::Float64));
  g(w);
  save_functions(path, {{"f", f}, {"g", g}});
  SavedFunctions both = load_functions(path);
  EXPECT_MISUSE(ValueError, compile_ahead(both, object, header),
                "compile_ahead: argument 0 of function 'g' is a variable, which a C function has no argument for");
  save_functions(path, {{"f", f}});
  SavedFunctions one = load_functions(path);
  EXPECT_MISUSE(ValueError, compile_ahead(one, object, header, {.name = "1st"}),
                "compile_ahead: '1st' is no name in C; the option name gives another");
  EXPECT_MISUSE(
      ValueError, compile_ahead(one, object, header, {.target = "neon"}),
      "compile_ahead: there is no target 'neon'; the targets are baseline, avx2, avx512, aarch64 and avx512vnni");
  EXPECT_MISUSE(LookupError, compile_ahead(one, object, header, {.pullbacks = {"h"}}),
                "compile_ahead: there is no function 'h' to compile the pullback of");
  EXPECT_THROW(compile_ahead(one, directory.file("none/net.o"), header), DataError);
  EXPECT_FALSE(std::filesystem::exists(object));
  EXPECT_FALSE(std::filesystem::exists(header));
  EXPECT_MISUSE(ValueError, compile_ahead(one, object, object),
                "compile_ahead: the object file and the header are one file");
  EXPECT_MISUSE(ValueError, compile_ahead(one, object, header, {.name = "__net"}),
                "compile_ahead: '__net' is no name in C; the option name gives another");
  auto numbers = function([](const Tensor &int_) { return int_ + 1; }, {.argument_names = {"int"}});
  numbers(cast(x, DType::Int32));
  save_functions(path, {{"f_pullback", f}, {"f", f}, {"n", numbers}});
  SavedFunctions several = load_functions(path);
  EXPECT_MISUSE(ValueError, compile_ahead(several, object, header, {.pullbacks = {"f"}}),
                "compile_ahead: the file has a function 'f_pullback', which is the name of the pullback of 'f'");
  EXPECT_MISUSE(ValueError, compile_ahead(several, object, header, {.pullbacks = {"n"}}),
                "compile_ahead: function 'n' has no pullback, as no argument or no result is floating-point");
  compile_ahead(several, object, header);
  EXPECT_CONTAINS(readFile(header), "net_n(calque_model *model, const int32_t *int_1, int32_t *result) {");
  compile_ahead(one, object, header, {.target = "baseline", .pullbacks = {"f"}});
  const std::string text = readFile(header);
  EXPECT_CONTAINS(text, "/* argument_0: float32[2,3] -> result: float32[2,3] */\nstatic inline int net_f(");
  EXPECT_CONTAINS(text, "static inline int net_f_1(calque_model *model, const double *argument_0, double *result) {");
  EXPECT_CONTAINS(text, "static inline int net_f_pullback(calque_model *model, const float *argument_0, "
                        "const float *result_cotangent, float *result, float *argument_0_cotangent) {");
  // Traces that their tensors do not tell apart have pullbacks, too; one that gives integers has none.
  auto scaled = function([](const Tensor &given, int n) { return n ? given * float(n) : cast(given, DType::Int32); });
  for (int n : {1, 0, 2})
    scaled(x, n);
  save_functions(path, {{"f", scaled}});
  compile_ahead(load_functions(path), object, header, {.pullbacks = {"f"}});
  EXPECT_CONTAINS(readFile(header), "net_f_pullback(");
  EXPECT_CONTAINS(readFile(header),
                  "/* argument 1 is int 2 */\n/* argument_0: float32[2,3] -> result: float32[2,3] */");
  EXPECT_CONTAINS(readFile(header), "net_f_1(calque_model *model, const float *argument_0, int32_t *result) {");
  EXPECT_EQ(readFile(header).find("net_f_pullback_1("), std::string::npos);
  EXPECT_CONTAINS(readFile(header), "net_f_pullback_2(");
  // Names that C has not are changed, and those that are saved stay free for who has them.
  save_functions(path, {{"f-g", f}, {"f_g", f}});
  compile_ahead(load_functions(path), object, header);
  EXPECT_CONTAINS(readFile(header), "/* of function 'f-g' */\n/* argument_0: float32[2,3] -> result: float32[2,3] */\n"
                                    "static inline int net_f_g_1(");
  EXPECT_CONTAINS(readFile(header), " */\nstatic inline int net_f_g(");
  EXPECT_MISUSE(ValueError, compile_ahead(one, object, header, {.name = "calque"}),
                "compile_ahead: 'calque' is no name in C");
  // A function of C, a keyword, a macro, and what functions of the header have in them: what begins so is free.
  for (const std::string name : {"index", "class", "EOF", "time", "model", "y0", "std", "log2f64x"}) {
    compile_ahead(one, directory.file(name + ".o"), header);
    EXPECT_CONTAINS(readFile(header), "*/\nstatic const calque_library " + name + "_1 = {");
    EXPECT_CONTAINS(readFile(header), "static inline int " + name + "_f(calque_model *model, ");
    EXPECT_CONTAINS(readFile(header), "return calque_call(model, &" + name + "_1, 0, ");
  }
  for (const std::string name : {"step", "net", "NET", "digits", "x", "f", "index_"}) {
    compile_ahead(one, directory.file(name + ".o"), header);
    EXPECT_CONTAINS(readFile(header), "static const calque_library " + name + " = {");
  }
  // What begins so is C's, too, and the library leaves the functions their names.
  save_functions(path, {{"create", f}, {"spin_lock", f}});
  compile_ahead(load_functions(path), object, header, {.name = "pthread"});
  EXPECT_CONTAINS(readFile(header), "static const calque_library pthread = {");
  EXPECT_CONTAINS(readFile(header), "static inline int pthread_create_1(");
  EXPECT_CONTAINS(readFile(header), "static inline int pthread_spin_lock_1(");
  save_functions(path, {{"1", f}});
  compile_ahead(load_functions(path), object, header, {.name = "index"});
  EXPECT_CONTAINS(readFile(header), "static const calque_library index_2 = {");
  EXPECT_CONTAINS(readFile(header), "static inline int index_1(");
  const Operation op({.name = "ahead_negate",
                      .types = [](const std::vector<TensorSpec<>> &in) { return in; },
                      .kernel = [](const KernelTensor *, const KernelTensor *, void *) -> std::int32_t { return 0; }});
  auto h = function([op](const Tensor &given) { return op({given})[0]; });
  h(x);
  save_functions(path, {{"h", h}});
  EXPECT_MISUSE(ValueError, compile_ahead(load_functions(path), object, header),
                "compile_ahead: function 'h' applies operation 'ahead_negate', which is C++ of this program");
  // Those that are asked for alone.
  save_functions(path, {{"h", h}, {"f", f}, {"g", g}});
  compile_ahead(load_functions(path), object, header, {.functions = {"f"}});
  EXPECT_CONTAINS(readFile(header), "static inline int net_f(");
  EXPECT_MISUSE(LookupError, compile_ahead(load_functions(path), object, header, {.functions = {"f", "k"}}),
                "compile_ahead: there is no function 'k'; the functions are h, f, g");
  EXPECT_MISUSE(LookupError,
                compile_ahead(load_functions(path), object, header, {.pullbacks = {"h"}, .functions = {"f"}}),
                "compile_ahead: there is no function 'h' to compile the pullback of among those that are asked for");
  auto half = function([](const Tensor &given) {
    return while_loop([](const Tensor &rows) { return size(rows, 0) < 5; },
                      [](const Tensor &rows) { return concat({rows, rows}); }, given,
                      {.shape_invariants = {Shape{kDynamic, 3}}});
  });
  half(x);
  save_functions(path, {{"grown", half}});
  EXPECT_MISUSE(
      ValueError, compile_ahead(load_functions(path), object, header),
      "compile_ahead: function 'grown' has a result whose sizes show only when it has run, for which C has no "
      "buffer beforehand");
}

// A kernel runs on what its own type rule has seen, whatever a file says.
TEST_F(SavedFunctionsTest, ApplyOperationsAsTheyAreRegistered) {
  static std::int64_t size = 2; // the operation stays registered
  static bool refuses = false;
  const Operation twice({.name = "saved_twice",
                         .types =
                             [](const std::vector<TensorSpec<>> &inputs) {
                               if (refuses)
                                 throw ShapeError("it takes other tensors");
                               return std::vector<TensorSpec<>>{TensorSpec<>(inputs[0].dtype(), {size})};
                             },
                         .kernel = [](const KernelTensor *inputs, const KernelTensor *outputs, void *) -> std::int32_t {
                           for (int i = 0; i < 2; ++i)
                             static_cast<float *>(outputs[0].data)[i] =
                                 2 * static_cast<const float *>(inputs[0].data)[i];
                           return 0;
                         }});
  auto f = function([&](const Tensor &given) { return twice({given})[0]; });
  const Tensor two = tensor<float>({1, 2});
  f(two);
  save_functions(path, {{"f", f}});
  EXPECT_EQ(valuesOf(load_functions(path).function<Tensor(Tensor)>("f")(two)), (std::vector<double>{2, 4}));
  size = 3;
  EXPECT_MISUSE(LookupError, load_functions(path)["f"],
                "applies operation 'saved_twice' for results of other types than this program's gives");
  refuses = true;
  EXPECT_MISUSE(LookupError, load_functions(path)["f"],
                "applies operation 'saved_twice' to operands that this program's refuses: it takes other tensors");
}

TEST_F(SavedFunctionsTest, ApplyOrderedOperationsInTheirOrder) {
  auto make = [](const char *name, CallOrder order) {
    return Operation({.name = name,
                      .types = [](const std::vector<TensorSpec<>> &inputs) { return inputs; },
                      .kernel = [](const KernelTensor *inputs, const KernelTensor *outputs, void *) -> std::int32_t {
                        *static_cast<float *>(outputs->data) = 2 * *static_cast<const float *>(inputs->data);
                        return 0;
                      },
                      .order = order});
  };
  const Operation a = make("saved_turn_a", CallOrder::Repeatable), b = make("saved_turn_b", CallOrder::Once);
  auto f = function([&](const Tensor &given) { return a({given})[0]; });
  f(scalar(1.0f));
  save_functions(path, {{"f", f}});
  EXPECT_EQ(valuesOf(load_functions(path).function<Tensor(Tensor)>("f")(scalar(3.0f))), (std::vector<double>{6}));
  std::string file = readFile(path);
  for (std::size_t at; (at = file.find("saved_turn_a")) != std::string::npos;)
    file.replace(at, 12, "saved_turn_b");
  std::ofstream(path, std::ios::binary) << with(file, "calque.sha256", "calque.sha256");
  EXPECT_MISUSE(LookupError, load_functions(path)["f"],
                "applies operation 'saved_turn_b' in another order than this program's has");
}

// Sizes that only the call knows are computed with numbers of the file.
TEST_F(SavedFunctionsTest, RefuseSizesThatOverflow) {
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  const TensorSpec<float> open({kDynamic});
  auto padded = function([](const Tensor &given) { return sum(pad(given, {most}, {most})); });
  save_functions(path, {{"padded", padded.get_concrete_function(open)}});
  auto loaded = load_functions(path).function<Tensor(Tensor)>("padded");
  EXPECT_CONTAINS(errorOf<ShapeError>([&] { loaded(tensor<float>({1, 2, 3})); }),
                  "has more bytes than can be addressed with the sizes of this call's arguments");
}

TEST_F(SavedFunctionsTest, LoopOverSizesThatVary) {
  auto grow = [](const Tensor &given, const Tensor &n) {
    return std::get<1>(while_loop([&](const Tensor &i, const Tensor &) { return i < n; },
                                  [](const Tensor &i, const Tensor &rows) {
                                    return std::tuple(i + 1, concat({rows, sum(rows, {0}, true) * 0.5f}));
                                  },
                                  std::tuple(scalar(0), given),
                                  {.shape_invariants = {std::nullopt, Shape{kDynamic, 3}}}));
  };
  auto f = function(grow);
  const Tensor n = scalar(4), expected = f(x, n);
  save_functions(path, {{"f", f}});
  auto loaded = load_functions(path).function<Tensor(const Tensor &, const Tensor &)>("f");
  auto again = [&](const Tensor &given) { return loaded(given, n); };
  EXPECT_EQ(again(x).shape(), (Shape{6, 3}));
  EXPECT_EQ(valuesOf(again(x)), valuesOf(expected));
  EXPECT_EQ(valuesOf(grad([&](const Tensor &given) { return sum(square(again(given))); })(x)),
            valuesOf(grad([&](const Tensor &given) { return sum(square(f(given, n))); })(x)));
}

TEST_F(SavedFunctionsTest, FindEveryDamage) {
  auto f = function([](const Tensor &given) { return given * tensor<float>({1, 2, 3}); });
  f(x);
  save_functions(path, {{"f", f}});
  const std::string whole = readFile(path);
  const std::string damaged = directory.file("damaged");
  auto expectRefused = [&](const std::string &bytes) {
    std::filesystem::remove(damaged); // to cut a file and write it anew takes a disk milliseconds
    writeFile(damaged, bytes);
    EXPECT_TRUE(errorOf<DataError>([&] { load_functions(damaged); }).starts_with(damaged + ": "));
  };
  for (std::size_t at = 0; at < whole.size(); ++at)
    for (int mask : {1, 32, 255}) {
      std::string bytes = whole;
      bytes[at] = static_cast<char>(bytes[at] ^ mask);
      SCOPED_TRACE("byte " + std::to_string(at) + " by " + std::to_string(mask));
      expectRefused(bytes);
    }
  for (std::size_t length = 0; length < whole.size(); ++length) {
    SCOPED_TRACE("cut to " + std::to_string(length));
    expectRefused(whole.substr(0, length));
  }
}

} // namespace
