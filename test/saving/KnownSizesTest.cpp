// Functions that are saved with unknown sizes, loaded, and parts of functions that know these sizes: every form of
// control flow gives the bits that the code which was saved gives there, and so do its derivatives.
#include "calque/saved_functions.h"
#include "test/saving/Testing.h"

using namespace calque;
using namespace calque::testing;

namespace {

using List = std::vector<Tensor>;

using Program = std::function<List(const Tensor &)>;

struct Saved {
  const char *name;
  Program body;
  bool batches = true;
};
void PrintTo(const Saved &saved, std::ostream *out) { *out << saved.name; }

Tensor rowsUntil(const Tensor &x, double most) {
  Tensor h = zeros({2}, x.dtype());
  for (Tensor row : x) {
    h = tanh(h + row);
    if (sum(h) > most)
      break;
  }
  return h;
}

Tensor grown(const Tensor &x, const Shape &shape) {
  return std::get<1>(while_loop([](const Tensor &i, const Tensor &) { return i < 3; },
                                [](const Tensor &i, const Tensor &xs) {
                                  return std::tuple(i + 1, concat({xs, tanh(sum(xs * 0.3, {0}, true))}, 0));
                                },
                                std::tuple(scalar(0), x), {.shape_invariants = {std::nullopt, shape}}));
}

const Saved kPrograms[] = {
    {"for_range",
     [](const Tensor &x) -> List {
       return {for_range(0, 3, x, [](const Tensor &i, const Tensor &y) { return sin(y) + cast(i, y.dtype()); })};
     }},
    {"for_range_of_size",
     [](const Tensor &x) -> List {
       return {for_range(0, Operand(x.shape()[0]), x, [&](const Tensor &, const Tensor &y) { return tanh(y) * x; })};
     }},
    {"while_loop",
     [](const Tensor &x) -> List {
       auto [y, n] = while_loop([](const Tensor &y, const Tensor &) { return sum(square(y)) < 100.0; },
                                [](const Tensor &y, const Tensor &n) { return std::tuple(y * 1.5, n + 1); },
                                std::tuple(x, scalar(0)), {.maximum_iterations = 7});
       return {y, cast(n, DType::Float64)};
     }},
    {"checkpointed_loop",
     [](const Tensor &x) -> List {
       return {while_loop([](const Tensor &y) { return sum(square(y)) < 100.0; },
                          [](const Tensor &y) { return y * 1.1; }, x, {.checkpoint = true})};
     }},
    {"scan",
     [](const Tensor &x) -> List {
       auto [last, all] = scan(
           [](const Tensor &h, const Tensor &row) {
             Tensor next = tanh(h + row);
             return std::pair(next, next * 2.0);
           },
           zeros({2}, x.dtype()), x, {.reverse = true});
       return {last, all};
     }},
    {"fold_of_all",
     [](const Tensor &x) -> List {
       return {fold([](const Tensor &y, const Tensor &row) { return sin(y * row); }, x, x)};
     }},
    {"map_fn", [](const Tensor &x) -> List { return {map_fn([](const Tensor &row) { return cumsum(row, 0); }, x)}; }},
    {"cond",
     [](const Tensor &x) -> List { return {cond(sum(x) > 0.0, [&] { return x * 2.0; }, [&] { return exp(x); })}; }},
    {"switch_case",
     [](const Tensor &x) -> List {
       return {switch_case(cast(sum(x) * 10.0, DType::Int32),
                           std::vector<std::function<Tensor()>>{[&] { return x + 1.0; }, [&] { return sin(x); },
                                                                [&] { return zeros(x.shape(), x.dtype()); }})};
     }},
    {"branch_in_loop_in_branch",
     [](const Tensor &x) -> List {
       return {cond(
           sum(x) > -100.0,
           [&] {
             return for_range(0, 4, x, [](const Tensor &i, const Tensor &y) {
               return cond(i > 1, [&] { return y * y; }, [&] { return y - cast(size(y, 0), y.dtype()); });
             });
           },
           [&] { return -x; })};
     }},
    {"loop_in_loop",
     [](const Tensor &x) -> List {
       return {for_range(0, 2, x, [&](const Tensor &, const Tensor &y) {
         return while_loop([](const Tensor &z) { return max(abs(z)) < 3.0; },
                           [&](const Tensor &z) { return z * 1.7 + x; }, y * 0.5);
       })};
     }},
    {"native_branch",
     [](const Tensor &x) -> List {
       Tensor y = x;
       if (sum(y) > 0.0)
         y = y * y;
       else
         y = -y;
       return {y};
     }},
    {"native_while",
     [](const Tensor &x) -> List {
       Tensor y = x;
       while (sum(square(y)) < 50.0) {
         y = y * 1.5;
         if (max(y) > 4.0)
           break;
       }
       return {y};
     }},
    // Not under vmap: where it is left late, the next row is looked for beyond the last one.
    {"native_rows", [](const Tensor &x) -> List { return {x * rowsUntil(x, 1.5)}; }, false},
    {"array",
     [](const Tensor &x) -> List {
       TensorArray all(4, DType::Float64, {2});
       for (Tensor i : range(4))
         all.write(i, sum(x, {0}) * cast(i, DType::Float64));
       return {all.stack()};
     }},
    {"shape_invariants", [](const Tensor &x) -> List { return {grown(x, Shape{kDynamic, 2})}; }, false},
    {"one_size_varies",
     [](const Tensor &x) -> List {
       // Both sizes of it are open, and one of them varies.
       return {grown(matmul(x, transpose(x)), Shape{kDynamic, x.shape()[0]})};
     },
     false},
    {"loop_of_late_sizes",
     [](const Tensor &x) -> List {
       return {for_range(0, 2, x, [](const Tensor &, const Tensor &y) {
         return split(grown(y, Shape{kDynamic, 2}), {-1, 3}, 0)[0] * 2.0;
       })};
     },
     false},
    {"custom_gradient",
     [](const Tensor &x) -> List {
       auto clipped = custom_gradient([](const Tensor &y) {
         return std::pair(y * y, [y](const Tensor &g) {
           return for_range(0, 2, g, [&](const Tensor &, const Tensor &each) { return clip(each * y, -1.0, 1.0); });
         });
       });
       return {clipped(x), checkpoint([](const Tensor &y) {
                 return for_range(0, 2, y, [](const Tensor &, const Tensor &z) { return tanh(z) * z; });
               })(x)};
     }},
    {"derivatives",
     [](const Tensor &x) -> List {
       auto f = [](const Tensor &y) {
         return sum(for_range(0, 2, y, [](const Tensor &, const Tensor &z) { return sin(z) * z; }));
       };
       return {grad(f)(x), jvp(f, x, x * 2.0).second};
     }},
    {"tape_in_loop",
     [](const Tensor &x) -> List {
       return {for_range(0, 3, x, [](const Tensor &, const Tensor &y) {
         GradientTape tape;
         tape.watch(y);
         return y - 0.1 * *tape.gradient(sum(square(sin(y))), y);
       })};
     }},
    {"vmap",
     [](const Tensor &x) -> List {
       return {vmap([](const Tensor &row) {
         return while_loop([](const Tensor &y) { return sum(abs(y)) < 3.0; }, [](const Tensor &y) { return y * 1.3; },
                           row + 0.1);
       })(x)};
     }},
};

Tensor total(const List &results) {
  Tensor total = scalar<double>(0.0);
  for (std::size_t i = 0; i < results.size(); ++i)
    total = total + sum(sin(results[i])) * double(i + 1);
  return total;
}

void expectSame(const List &found, const List &expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    SCOPED_TRACE("result " + std::to_string(i));
    expectSameBits(found[i], expected[i]);
  }
}

class KnownSizesFixture : public ::testing::Test {
protected:
  // What is saved with an open number of rows.
  Function<List(const Tensor &)> loaded(const Program &body) {
    auto f = function([=](const Tensor &y) { return body(y); });
    save_functions(path, {{"f", f.get_concrete_function(TensorSpec<double>({kDynamic, 2}))}});
    return load_functions(path).function<List(const Tensor &)>("f");
  }

  TemporaryDirectory directory;
  const std::string path = directory.file("f.calque");
  const Tensor x = reshape(sin(iota({6}, DType::Float64) * 0.7), {3, 2});
};

class KnownSizes : public KnownSizesFixture, public ::testing::WithParamInterface<Saved> {};

// What a function that knows the sizes of x makes of another one. Plain C++ branches and loops could not be followed
// through all of it at once.
List value(const Saved &, const Program &f, const Tensor &x) { return f(x * 1.5); }
List derivatives(const Saved &, const Program &f, const Tensor &x) {
  return {hvp([&](const Tensor &y) { return total(f(y)); })(x, cos(x))}; // forward through reverse
}
List batched(const Saved &saved, const Program &f, const Tensor &x) {
  return saved.batches ? vmap(f)(stack({x, x * 2.0, -x})) : List();
}

TEST_P(KnownSizes, GiveTheBitsOfWhatWasSaved) {
  const Saved &saved = GetParam();
  auto f = loaded(saved.body);
  const Program asLoaded = [&](const Tensor &y) { return f(y); };
  for (auto use : {value, derivatives, batched}) {
    const List expected = function([&](const Tensor &y) { return use(saved, saved.body, y); })(x);
    expectSame(function([&](const Tensor &y) { return use(saved, asLoaded, y); })(x), expected);
  }
}

INSTANTIATE_TEST_SUITE_P(Forms, KnownSizes, ::testing::ValuesIn(kPrograms),
                         [](const auto &info) { return std::string(info.param.name); });

using KnownSizesInUse = KnownSizesFixture;

TEST_F(KnownSizesInUse, StandInLoopsAndAreSavedAgain) {
  const Program body = [](const Tensor &y) -> List {
    return {for_range(0, Operand(y.shape()[0]), y, [&](const Tensor &, const Tensor &z) { return sin(z) + y; })};
  };
  auto f = loaded(body);
  auto within = [](auto inner) {
    return [inner](const Tensor &x) -> List {
      Tensor all = for_range(0, 3, x, [&](const Tensor &, const Tensor &y) { return inner(y)[0] * 0.5; });
      Tensor n = sum(abs(x));
      while (n < 50.0)
        n = n + sum(abs(inner(x * n)[0]));
      return {all, n};
    };
  };
  auto around = function(within(f));
  const List expected = function(within(body))(x);
  expectSame(around(x), expected);
  save_functions(path, {{"around", around}});
  expectSame(load_functions(path).function<List(const Tensor &)>("around")(x), expected);
}

TEST_F(KnownSizesInUse, LeaveOpenWhatBranchesMakeOfOtherSizes) {
  auto f = function([](const Tensor &y, const Tensor &z) {
    Tensor chosen = cond(sum(y) > 0.0, [&] { return y * 2.0; }, [&] { return sin(z); });
    return for_range(0, 2, chosen, [](const Tensor &, const Tensor &each) { return each * each; });
  });
  auto open = f.get_concrete_function(TensorSpec<double>({kDynamic}), TensorSpec<double>({kDynamic}));
  save_functions(path, {{"f", open}});
  auto again = load_functions(path).function<Tensor(const Tensor &, const Tensor &)>("f");
  // The sizes are known, and which of them it is only the call knows.
  auto around = function([&](const Tensor &y, const Tensor &z) {
    EXPECT_FALSE(again(y, z).shape()[0].is_known());
    EXPECT_TRUE(again(y, y).shape()[0].is_known());
    return List{again(y, z), grad([&](const Tensor &a) { return sum(sin(again(a, z))); })(y),
                grad([&](const Tensor &b) { return sum(sin(again(y, b))); })(z)};
  });
  for (double sign : {1.0, -1.0}) {
    const Tensor y = full({2}, sign, DType::Float64), z = full({3}, 0.3, DType::Float64);
    expectSame(around(y, z), {open(y, z), grad([&](const Tensor &a) { return sum(sin(open(a, z))); })(y),
                              grad([&](const Tensor &b) { return sum(sin(open(y, b))); })(z)});
  }
}

TEST_F(KnownSizesInUse, KeepTheSizesOfLoopVariables) {
  auto f = function([](const Tensor &y, const Tensor &z) {
    return for_range(0, 2, y, [&](const Tensor &, const Tensor &) { return z * 2.0; });
  });
  const TensorSpec<double> any({kDynamic});
  const int line = __LINE__ - 3;
  save_functions(path, {{"f", f.get_concrete_function(any, any)}});
  auto again = load_functions(path).function<Tensor(const Tensor &, const Tensor &)>("f");
  auto call = [&](const Tensor &y, const Tensor &z) { return again(y, z); };
  expectSame({function(call)(ones({3}, DType::Float64), full({3}, 0.5, DType::Float64))}, {ones({3}, DType::Float64)});
  const std::string error =
      errorOf<ShapeError>([&] { function(call)(ones({3}, DType::Float64), ones({2}, DType::Float64)); });
  EXPECT_CONTAINS(error, "for_range: a loop variable is float64[3], and its next value is float64[2]");
  EXPECT_CONTAINS(error, "KnownSizesTest.cpp:" + std::to_string(line));
  // Where one size is known and 1, it is compared, and repeats nothing.
  auto half = function(call, {.input_signature = {any, TensorSpec<double>({1})}});
  expectSame({half(ones({1}, DType::Float64), full({1}, 0.5, DType::Float64))}, {ones({1}, DType::Float64)});
  EXPECT_THROW(half(ones({3}, DType::Float64), full({1}, 0.5, DType::Float64)), ShapeError);
  auto other = function(call, {.input_signature = {TensorSpec<double>({1}), any}});
  expectSame({other(ones({1}, DType::Float64), full({1}, 0.5, DType::Float64))}, {ones({1}, DType::Float64)});
  EXPECT_THROW(other(ones({1}, DType::Float64), full({3}, 0.5, DType::Float64)), ShapeError);
}

TEST_F(KnownSizesInUse, AssignVariablesAndDraw) {
  auto make = [](Variable w, random::Generator dice) {
    return [=](const Tensor &y) mutable {
      return for_range(0, 3, y, [&](const Tensor &i, const Tensor &z) {
        Tensor noise = dice.normal(z.shape(), {.dtype = DType::Float64});
        w.assign_add(sum(z + noise, {0}));
        return z * w + cast(i, z.dtype());
      });
    };
  };
  auto direct = make(Variable(zeros({2}, DType::Float64), {.name = "w"}), random::Generator(5));
  auto f = function(make(Variable(zeros({2}, DType::Float64), {.name = "w"}), random::Generator(5)));
  save_functions(path, {{"f", f.get_concrete_function(TensorSpec<double>({kDynamic, 2}))}});
  SavedFunctions file = load_functions(path);
  auto again = file.function<Tensor(const Tensor &)>("f");
  auto around = function([&](const Tensor &y) { return again(y) * 2.0; });
  auto expected = function([&](const Tensor &y) { return direct(y) * 2.0; });
  for (int call = 0; call < 3; ++call)
    expectSame({around(x)}, {expected(x)});
}

} // namespace
