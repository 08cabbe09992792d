// The C++ side of test_round_trip.py: saves functions for Python, or runs those that Python has saved.
//   round_trip write FILE | round_trip read FILE
#include <calque/calque.h>
#include <calque/saved_functions.h>

#include <iostream>
#include <map>
#include <string>
#include <tuple>
#include <vector>

using namespace calque;

namespace {

int write(const std::string &path) {
  Variable w = variable("w", tensor({1.0f, 2.0f}));
  auto scale = function([](const Tensor &x, int n) { return x * n; }, {.argument_names = {"x", "n"}});
  auto named = function([w](const std::map<std::string, Tensor> &in, bool negate) {
    Tensor y = in.at("a") * w + in.at("b");
    return std::map<std::string, Tensor>{{"sum", y}, {"other", negate ? -y : y}};
  });
  auto pair = function([](const std::vector<Tensor> &list, const std::string &how) {
    return std::tuple(how == "sum" ? list[0] + list[1] : list[0] * list[1], std::pair(list[0], scalar(3)));
  });
  const TensorSpec<float> two({2});
  save_functions(path,
                 {{"scale2", scale.get_concrete_function(TensorSpec<float>({kDynamic}), 2)},
                  {"named", named.get_concrete_function(std::map<std::string, Tensor>{{"a", two}, {"b", two}}, true)},
                  {"pair", pair.get_concrete_function(std::vector<Tensor>{two, two}, "sum")}});
  return 0;
}

void require(bool holds, const char *what) {
  if (!holds)
    throw std::runtime_error(std::string("wrong: ") + what);
}

int read(const std::string &path) {
  const SavedFunctions model = load_functions(path);
  auto plain = model.function<Tensor(const Tensor &, std::int64_t)>("plain");
  require(plain(tensor({1.0f, 2.0f}), 3).to_vector<float>() == std::vector{3.0f, 6.0f}, "plain");
  auto table = model.function<std::map<std::string, Tensor>(const std::map<std::string, Tensor> &)>("table");
  auto made = table({{"x", tensor({1.0f, 1.0f})}, {"y", tensor({2.0f, 3.0f})}});
  require(made.at("product").to_vector<float>() == std::vector{20.0f, 30.0f}, "table");
  require(made.at("sum").item<float>() == 7.0f, "table");
  auto nested =
      model.function<std::tuple<Tensor, std::vector<Tensor>>(const std::tuple<Tensor, Tensor> &, std::string, double)>(
          "nested");
  auto [first, rest] = nested({scalar(1.0f), scalar(2.0f)}, "up", 0.5);
  require(first.item<float>() == 1.5f && rest.size() == 2 && rest[1].item<float>() == 2.0f, "nested");
  Variable v = model.variable("v");
  require(v.item<float>() == 10.0f, "the variable");
  v.assign(1.0f);
  require(table({{"x", tensor({1.0f, 1.0f})}, {"y", tensor({2.0f, 3.0f})}}).at("product").to_vector<float>()[1] == 3.0f,
          "an assignment");
  GradientTape tape;
  Tensor x = scalar(2.0f);
  tape.watch(x);
  Tensor y = sum(plain(tensor({1.0f, 2.0f}), 3)) * x;
  require(tape.gradient(y, x).value().item<float>() == 9.0f, "a gradient");
  return 0;
}

} // namespace

int main(int count, char **arguments) try {
  if (count != 3)
    return 2;
  return std::string(arguments[1]) == "write" ? write(arguments[2]) : read(arguments[2]);
} catch (const std::exception &error) {
  std::cerr << error.what() << '\n';
  return 1;
}
