#include "Testing.h"
#include "calque/training.h"
#include "test/Tensors.h"

using namespace calque;
using namespace calque::testing;

// 0 is a number as 1 is, and no null pointer.
TEST(Variable, IsMadeOfANumber) {
  EXPECT_EQ(Variable(0).item<int>(), 0);
  EXPECT_EQ(Variable(0, {.name = "step"}).dtype(), DType::Int32);
  EXPECT_EQ(Variable(0.0).item<float>(), 0);
  EXPECT_FALSE(Variable(nullptr).state());
}

TEST(Variable, AssignsInPlaceOfItsValue) {
  Variable v(tensor<float>({1, 2}), {.name = "v"});
  Tensor before = v.value();
  v.assign_add(1);
  v.assign_sub(tensor<float>({0, 1}));
  expectValues(v.value(), {2, 2});
  expectValues(before, {1, 2});
  expectValues(v * 2, {4, 4});
  EXPECT_EQ(v.name(), "v");
  EXPECT_TRUE(v.trainable());
  EXPECT_FALSE(Variable(1).trainable()); // integers have no gradient
}

TEST(Variable, RefusesOtherTypesAndKeepsItsValue) {
  Variable v(zeros({2}), {.name = "weights"});
  EXPECT_CONTAINS(errorOf<ShapeError>([&] { v.assign(zeros({3})); }), "'weights' is float32[2]");
  EXPECT_THROW(v.assign(zeros({2}, DType::Float64)), DTypeError);
  auto f = function([&](const Tensor &x) { v.assign(x); });
  EXPECT_THROW(f(ones({3})), ShapeError);
  expectValues(v.value(), {0, 0});
}

TEST(Variable, PrintsItsValue) {
  auto text = [](const auto &x) {
    std::ostringstream stream;
    stream << x;
    return stream.str();
  };
  Variable v(tensor<float>({1, 2.5f, 3, 4}, {2, 2}), {.name = "v"});
  EXPECT_EQ(text(v), "[[1.  2.5]\n [3.  4. ]]");
  v.assign_add(1);
  EXPECT_EQ(text(v), text(v.value()));
  std::vector<std::string> traced;
  auto f = function([&](const Variable &given) {
    traced = {text(v), text(given)};
    return given * 1;
  });
  f(v);
  EXPECT_EQ(traced.at(0), "<variable 'v' float32[2,2]>");
  EXPECT_EQ(traced.at(1).substr(0, 11), "<variable '");
  Variable empty = std::move(v);
  EXPECT_EQ(text(v), "<empty variable>");
}

TEST(Variable, ToPrintItIsNoRead) {
  Variable v(1.0f);
  GradientTape tape;
  std::ostringstream stream;
  stream << v;
  EXPECT_TRUE(tape.watched_variables().empty());
}

TEST(Variable, StaysLiveInATrace) {
  Variable v(1.0f);
  auto f = function([&](const Tensor &x) { return x * v; });
  EXPECT_EQ(f(scalar(2.0f)).item<float>(), 2);
  v.assign(10.0f);
  EXPECT_EQ(f(scalar(2.0f)).item<float>(), 20);
  EXPECT_EQ(f.trace_count(), 1);
}

TEST(Variable, ReadsSeeEarlierWritesOfTheTrace) {
  Variable v(1.0f);
  auto f = function([&](const Tensor &x) {
    Tensor first = v.value();
    v.assign(x);
    Tensor second = v.value();
    v.assign_add(1);
    return std::vector<Tensor>{first, second, v.value()};
  });
  for (float previous : {1.0f, 6.0f}) {
    std::vector<Tensor> values = f(scalar(5.0f));
    EXPECT_EQ(values[0].item<float>(), previous);
    EXPECT_EQ(values[1].item<float>(), 5);
    EXPECT_EQ(values[2].item<float>(), 6);
  }
  EXPECT_EQ(v.value().item<float>(), 6);
}

TEST(Variable, AFailedCallLeavesItAsItWas) {
  Variable v(1.0f), w(2.0f);
  auto f = function([&](const Tensor &x) {
    v.assign(x);
    w.assign_add(x);
    assert_true(x < 10, "too large");
    return x;
  });
  f(scalar(3.0f));
  EXPECT_THROW(f(scalar(30.0f)), AssertionError);
  EXPECT_EQ(v.value().item<float>(), 3);
  EXPECT_EQ(w.value().item<float>(), 5);
  f(scalar(4.0f));
  EXPECT_EQ(w.value().item<float>(), 9);
}

namespace {
// Where a variable's value lies. Nobody holds the value afterwards.
const float *memoryOf(const Variable &v) { return v.value().data<float>(); }
} // namespace

// Compiled code writes the new value over the one before it, unless someone else has that.
TEST(Variable, IsWrittenInPlaceWhereNobodyElseHasItsValue) {
  Variable v(tensor<float>({1, 2, 3})), total(0.f);
  auto step = function([&](const Tensor &x) {
    Tensor before = sum(v.value());
    v.assign(v * 2 + x);
    total.assign_add(sum(v.value()));
    return before;
  });
  Tensor x = tensor<float>({0, 1, 0});
  expectValues(step(x), {6});
  const float *memory = memoryOf(v);
  expectValues(step(x), {13});
  expectValues(v.value(), {4, 11, 12});
  expectValues(total.value(), {13 + 27});
  EXPECT_EQ(memoryOf(v), memory);

  Tensor held = v.value();
  step(x);
  expectValues(held, {4, 11, 12});
  expectValues(v.value(), {8, 23, 24});
  EXPECT_NE(memoryOf(v), memory);
  held = {};
  memory = memoryOf(v);
  Tensor view = reshape(v.value(), {3, 1});
  step(x);
  expectValues(view, {8, 23, 24});
  expectValues(v.value(), {16, 47, 48});
  EXPECT_NE(memoryOf(v), memory);
  view = {};

  memory = memoryOf(v);
  step(v.value()); // the argument is the value
  expectValues(v.value(), {48, 141, 144});
  EXPECT_NE(memoryOf(v), memory);
}

TEST(Variable, IsWrittenInPlaceForItselfAlone) {
  Tensor initial = tensor<float>({1, 2});
  Variable a(initial), b(initial);
  auto swap = function([&] {
    Tensor x = a.value();
    a.assign(b * 10);
    b.assign(x);
  });
  swap();
  expectValues(a.value(), {10, 20});
  expectValues(b.value(), {1, 2});
  swap();
  expectValues(a.value(), {10, 20});
  expectValues(b.value(), {10, 20});
  expectValues(initial, {1, 2});
  // In another order than it is read.
  Variable m(tensor<float>({1, 2, 3, 4}, {2, 2}));
  auto turn = function([&] { m.assign(transpose(m.value()) + m * 0); });
  turn();
  expectValues(m.value(), {1, 3, 2, 4});
  auto powers = function([&] { m.assign(matmul(m, m)); });
  powers();
  expectValues(m.value(), {1 + 6, 3 + 12, 2 + 8, 6 + 16});
}

// A program ends at what fails, before it writes over a value.
TEST(Variable, KeepsItsValueInPlaceWhereACheckFails) {
  Variable v(tensor<float>({1, 2})), count(0.f);
  auto step = function([&](const Tensor &x, const Tensor &i) {
    count.assign_add(1);
    Tensor picked = gather(x, i);
    v.assign_add(picked);
    assert_true(sum(v.value()) < 100, "too large");
    count.assign_add(1);
  });
  Tensor x = tensor<float>({10, 20, 80});
  step(x, tensor({1, 0}));
  EXPECT_THROW(step(x, tensor({0, 3})), IndexError);
  EXPECT_THROW(step(x, tensor({2, 2})), AssertionError);
  expectValues(v.value(), {21, 12});
  expectValues(count.value(), {2});
  step(x, tensor({0, 0}));
  expectValues(v.value(), {31, 22});
  expectValues(count.value(), {4});
  // With nothing that can fail after it, a value is written in place all the same.
  auto checkedFirst = function([&](const Tensor &x, const Tensor &i) { v.assign_add(gather(x, i)); });
  checkedFirst(x, tensor({0, 0}));
  const float *memory = memoryOf(v);
  EXPECT_THROW(checkedFirst(x, tensor({0, -1})), IndexError);
  expectValues(v.value(), {41, 32});
  checkedFirst(x, tensor({0, 1}));
  expectValues(v.value(), {51, 52});
  EXPECT_EQ(memoryOf(v), memory);
}

// What a tape has seen of a value stays.
TEST(Variable, KeepsWhatTapesNeedOfItsValue) {
  Variable v(tensor<float>({3, 4}));
  auto body = [&] {
    Tensor loss = sum(square(v.value()));
    v.assign(v * 0.5f);
    return loss;
  };
  auto gradientOf = [&](const auto &step) {
    v.assign(tensor<float>({3, 4}));
    GradientTape tape;
    Tensor loss = step();
    Tensor again = step();
    return *tape.gradient(loss + again, v);
  };
  auto step = function(body);
  step();
  expectSameBits(gradientOf(step), gradientOf(body));
  expectValues(v.value(), {0.75f, 1});
}

TEST(Variable, AsAnArgumentCountsByTypeAndAliasing) {
  auto f = function([](Variable &a, Variable &b) {
    a.assign_add(b);
    return a + 0;
  });
  Variable v1(1.0f), v2(2.0f), v3(3.0f), v4(4.0f);
  EXPECT_EQ(f(v1, v2).item<float>(), 3);
  EXPECT_EQ(f(v3, v4).item<float>(), 7);
  EXPECT_EQ(f.trace_count(), 1);
  EXPECT_EQ(f(v4, v4).item<float>(), 8);
  EXPECT_EQ(f.trace_count(), 2);
  EXPECT_EQ(v1.value().item<float>(), 3);
  EXPECT_EQ(v4.value().item<float>(), 8);
}

TEST(Variable, ACapturedVariableMayBeTheArgument) {
  Variable v(1.0f), w(10.0f);
  auto f = function([&](Variable &a) {
    a.assign_add(1);
    return v + 0;
  });
  EXPECT_EQ(f(v).item<float>(), 2);
  EXPECT_EQ(f(w).item<float>(), 2);
  EXPECT_EQ(w.value().item<float>(), 11);
  EXPECT_EQ(f(v).item<float>(), 3);
}

TEST(Variable, IsMadeInTheFirstTraceOnly) {
  std::optional<Variable> v;
  auto build = function([&](const Tensor &x) {
    if (!v)
      v.emplace(exp(zeros({2})) + 1, VariableOptions{.name = "lazy"});
    return x * *v;
  });
  expectValues(build(ones({2})), {2, 2});
  expectValues(v->value(), {2, 2});
  v->assign(tensor<float>({3, 4}));
  expectValues(build(ones({2})), {3, 4});
  expectValues(build(ones({1})), {3, 4}); // a second trace makes none

  auto always = function([](const Tensor &x) { return x + Variable(1.0f); });
  EXPECT_EQ(always(scalar(1.0f)).item<float>(), 2);
  EXPECT_THROW(always(ones({2})), StateError);
  auto dependent = function([](const Tensor &x) { return x + Variable(x * 2); });
  EXPECT_THROW(dependent(scalar(1.0f)), StateError);
}

// The initial value is drawn once, where the variable is made, as it is eagerly; no later call draws for it.
TEST(Variable, InitialisersAreLiftedOutOfTheTrace) {
  using Make = std::function<Tensor()>;
  const std::pair<const char *, Make> initialisers[] = {
      {"uniform", [] { return random::uniform({4}); }},
      {"scaled", [] { return random::uniform({4}) * 2 + 1; }},
      {"normal", [] { return random::normal({4}); }},
      {"two draws", [] { return random::uniform({4}) + random::normal({4}); }},
      {"glorot", [] { return glorot_uniform({2, 2}); }},
      {"bernoulli", [] { return cast(random::bernoulli({4}), DType::Float32); }},
  };
  for (const auto &[name, make] : initialisers) {
    SCOPED_TRACE(name);
    set_seed(7);
    std::vector<float> expected = make().to_vector<float>(), next = random::uniform({2}).to_vector<float>();
    set_seed(7);
    std::optional<Variable> v;
    auto f = function([&](const Tensor &x) {
      if (!v)
        v.emplace(make());
      return x * *v;
    });
    EXPECT_EQ(f(scalar(1.0f)).to_vector<float>(), expected);
    EXPECT_EQ(f(scalar(1.0f)).to_vector<float>(), expected);
    EXPECT_EQ(v->value().to_vector<float>(), expected);
    EXPECT_EQ(f.ir("traced", scalar(1.0f)).find("variable_assign"), std::string::npos);
    EXPECT_EQ(random::uniform({2}).to_vector<float>(), next); // the generator moved on once
  }
}

TEST(Variable, InitialisersShareAGeneratorWithWhatCallsDraw) {
  random::Generator generator(3), same(3);
  std::vector<std::vector<float>> stream;
  for (int i = 0; i < 5; ++i)
    stream.push_back(same.uniform({4}).to_vector<float>());
  std::optional<Variable> a, b;
  auto f = function([&](const Tensor &x) {
    Tensor noise = generator.uniform({4}); // of every call
    if (!a) {
      a.emplace(generator.uniform({4}));
      b.emplace(generator.uniform({4}));
    }
    return std::pair(x + noise, x + generator.uniform({4}));
  });
  std::vector<Tensor> first, second;
  auto [u, v] = f(scalar(0.0f));
  // The initial values come first, then what the call draws.
  EXPECT_EQ(a->value().to_vector<float>(), stream[0]);
  EXPECT_EQ(b->value().to_vector<float>(), stream[1]);
  EXPECT_EQ(u.to_vector<float>(), stream[2]);
  EXPECT_EQ(v.to_vector<float>(), stream[3]);
  EXPECT_EQ(f(scalar(0.0f)).first.to_vector<float>(), stream[4]);

  // Numbers that the call uses, too, are drawn in every call.
  std::optional<Variable> c;
  auto both = function([&](const Tensor &x) {
    Tensor drawn = generator.uniform({4});
    if (!c)
      c.emplace(drawn);
    return x + drawn;
  });
  std::vector<float> once = both(scalar(0.0f)).to_vector<float>(), twice = both(scalar(0.0f)).to_vector<float>();
  EXPECT_NE(once, twice);
  EXPECT_NE(c->value().to_vector<float>(), once);
}

TEST(Variable, InitialisersMayReadOtherVariables) {
  Variable w(tensor<float>({1, 2}));
  std::optional<Variable> a, b;
  auto f = function([&](const Tensor &x) {
    if (!a) {
      a.emplace(w * 10);
      b.emplace(*a + w);
    }
    return x + *b;
  });
  expectValues(f(scalar(0.0f)), {11, 22});
  w.assign(zeros({2}));
  expectValues(f(scalar(0.0f)), {11, 22});

  std::optional<Variable> late;
  auto assigned = function([&](const Tensor &x) {
    w.assign_add(1);
    late.emplace(w * 2);
    return x + *late;
  });
  EXPECT_CONTAINS(errorOf<StateError>([&] { assigned(scalar(0.0f)); }), "on variables that it has assigned");
  auto reset = function([&](const Tensor &x) {
    set_seed(3);
    late.emplace(random::uniform({2}));
    return x + *late;
  });
  EXPECT_THROW(reset(scalar(0.0f)), StateError);
  auto argument = function([&](Variable v) {
    late.emplace(v * 2);
    return v + *late;
  });
  EXPECT_THROW(argument(w), StateError);
}

// tf: testVarAlreadyInitializedNoClobbering
TEST(Variable, AnInitialiserDoesNotOverwriteWhatWasAssigned) {
  std::vector<Variable> holder;
  auto f = function([&](const Tensor &x) {
    if (holder.empty()) {
      holder.emplace_back(tensor<float>({1, 2}));
      Variable initialised(3.0f);
      {
        InitScope now;
        initialised.assign(10.0f);
      }
      holder.push_back(initialised);
    }
    return holder[0] + holder[1] + x;
  });
  f.get_concrete_function(scalar(2.0f));
  expectValues(f(scalar(2.0f)), {13, 14});
}

TEST(Variable, HasWhatATensorHas) {
  Variable v(tensor({{1., 2.}, {3., 4.}, {5., 6.}}), {.name = "v"});
  EXPECT_EQ(v.rank(), 2);
  EXPECT_EQ(v.size(), 6);
  EXPECT_EQ(v.data<float>()[4], 5);
  expectValues(v[0], {1, 2});
  expectValues(v[-1][1], {6});
  expectValues(v[tensor({2, 0})], {5, 6, 1, 2});
  expectValues(v.rows(1, 3), {3, 4, 5, 6});
  expectValues(v.rows(-1, 9), {5, 6});
  std::vector<double> sums;
  for (Tensor row : v) {
    sums.push_back(sum(row).item<float>());
    v.assign_add(1); // the loop goes through what it began with
  }
  EXPECT_EQ(sums, (std::vector<double>{3, 7, 11}));
  Variable w(tensor({1., 2.}), {.name = "w"});
  EXPECT_EQ(w.repr(), "Variable([1. 2.], shape=[2], dtype=float32, name='w')");
  std::string traced;
  auto f = function([&](const Tensor &n) {
    traced = w.repr();
    Tensor total = w[0] * n + sum(v.rows(0, 2));
    for (Tensor row : v)
      total = total + row[1];
    w.assign_add(1);
    return total + w[1] + v.rank() + v.size();
  });
  EXPECT_EQ(f(scalar(2.0f)).item<float>(), 2 + 22 + 21 + 3 + 8);
  EXPECT_EQ(traced, "<variable 'w' float32[2]>");
  Tensor x = tensor({3., 5.});
  GradientTape tape;
  Tensor y = sum(v[1] * x);
  expectValues(*tape.gradient(y, v), {0, 0, 3, 5, 0, 0});
  // Misuse.
  EXPECT_CONTAINS(errorOf<IndexError>([&] { v[3]; }), "x[i]: there is no entry 3 in a tensor of shape [3,2]");
  EXPECT_CONTAINS(errorOf<IndexError>([&] { v[3]; }), "VariableTest.cpp");
  EXPECT_CONTAINS(errorOf<ShapeError>([] { Variable(1.0).rows(0, 1); }), "rows: a scalar has no entries");
  EXPECT_CONTAINS(errorOf<ShapeError>([] {
                    for (Tensor row : Variable(1.0))
                      row.rank();
                  }),
                  "takes its slices along axis 0, and a scalar has none");
  errorOf<DTypeError>([&] { v.data<double>(); });
  Variable empty(std::shared_ptr<detail::VariableState>{});
  EXPECT_EQ(empty.repr(), "<empty variable>");
  EXPECT_CONTAINS(errorOf<StateError>([&] { empty.rank(); }), "an empty variable is used");
  EXPECT_CONTAINS(errorOf<StateError>([&] { empty[0]; }), "an empty variable is used");
}

TEST(Variable, IsScatteredTo) {
  const Tensor rows = tensor({{1., 2.}, {10., 20.}, {100., 200.}}), at = tensor({2, 0, 2});
  using Scatter = void (Variable::*)(const Operand &, const Operand &);
  const std::tuple<const char *, Scatter, std::vector<float>> all[] = {
      {"update", &Variable::scatter_update, {10, 20, 5, 5, 100, 200}},
      {"add", &Variable::scatter_add, {15, 25, 5, 5, 106, 207}},
      {"sub", &Variable::scatter_sub, {-5, -15, 5, 5, -96, -197}},
      {"max", &Variable::scatter_max, {10, 20, 5, 5, 100, 200}},
      {"min", &Variable::scatter_min, {5, 5, 5, 5, 1, 2}}};
  for (const auto &[name, scatter, expected] : all) {
    SCOPED_TRACE(name);
    Variable eager(full({3, 2}, 5.0f)), traced(full({3, 2}, 5.0f));
    (eager.*scatter)(at, rows);
    expectValues(eager.value(), expected);
    auto f = function([&, scatter = scatter](const Tensor &i, const Tensor &x) { (traced.*scatter)(i, x); });
    f(at, rows);
    expectValues(traced.value(), expected);
  }
  // Of integers the whole range is there.
  const std::int32_t least = std::numeric_limits<std::int32_t>::min();
  Variable numbers(tensor({3, least, 7}));
  numbers.scatter_min(tensor({0, 1, 2}), tensor({least, 5, 9}));
  EXPECT_EQ(numbers.to_vector<std::int32_t>(), (std::vector<std::int32_t>{least, least, 7}));
  numbers.scatter_add(0, 1); // one index, one number
  EXPECT_EQ(numbers.to_vector<std::int32_t>()[0], least + 1);
  numbers.scatter_sub(2, 2);
  EXPECT_CONTAINS(errorOf<DTypeError>([&] { numbers.scatter_sub(2, 2.0); }), "the number 2 can't become int32");
  EXPECT_EQ(numbers.to_vector<std::int32_t>()[2], 5);
  // The value is a new one for tapes, as after assign_add.
  Variable table(tensor({1., 2., 3.}));
  Tensor before = table;
  table.scatter_update(tensor({1}), tensor({9.}));
  expectValues(before, {1, 2, 3});
  expectValues(table.value(), {1, 9, 3});
  // Misuse, after which it is as it was.
  EXPECT_CONTAINS(errorOf<IndexError>([&] { table.scatter_add(tensor({3}), tensor({1.})); }), "3");
  EXPECT_CONTAINS(errorOf<IndexError>([&] { table.scatter_add(tensor({-1}), tensor({1.})); }), "-1");
  EXPECT_CONTAINS(errorOf<ShapeError>([&] { table.scatter_add(tensor({1, 2}), 1.0); }),
                  "the updates float32[] must have rank 1, that of gather's result");
  EXPECT_CONTAINS(errorOf<DTypeError>([&] { table.scatter_sub(tensor({1.}), tensor({1.})); }),
                  "indices must be integers, not float32[1]");
  EXPECT_CONTAINS(errorOf<DTypeError>([&] { table.scatter_max(tensor({1}), tensor({1})); }), "VariableTest.cpp");
  Variable flags(tensor({true, false}));
  errorOf<DTypeError>([&] { flags.scatter_add(tensor({0}), tensor({true})); });
  flags.scatter_update(tensor({1}), tensor({true}));
  EXPECT_EQ(flags.to_vector<bool>(), (std::vector<bool>{true, true}));
  expectValues(table.value(), {1, 9, 3});
  auto f = function([&](const Tensor &i) { table.scatter_add(i, tensor({1.})); });
  errorOf<IndexError>([&] { f(tensor({7})); });
  expectValues(table.value(), {1, 9, 3});
}

TEST(Variable, StandsForItsValue) {
  Variable v(3.0), w(tensor({1.0, 2.0}));
  Tensor y = v;
  v.assign(4);
  EXPECT_EQ(y.item<float>(), 3);
  bool which = true;
  Tensor chosen = which ? v : y;
  EXPECT_EQ(chosen.item<float>(), 4);
  EXPECT_EQ(concat({w, w}, 0).to_vector<float>(), (std::vector<float>{1, 2, 1, 2}));
  EXPECT_EQ(stack({w, y * w}, 0).shape(), (Shape{2, 2}));
  EXPECT_EQ(host_call([](const Tensor &x) { return x * 2; }, {w}, {TensorSpec<float>({2})}).to_vector<float>(),
            (std::vector<float>{2, 4}));
  EXPECT_EQ(v.item<float>(), 4);
  EXPECT_EQ(w.to_vector<float>(), (std::vector<float>{1, 2}));
  // In a function the read is at its place in the program.
  auto f = function([&] {
    Tensor before = v;
    v.assign_add(1);
    return std::pair(before, Tensor(v));
  });
  auto [before, after] = f();
  EXPECT_EQ(before.item<float>(), 4);
  EXPECT_EQ(after.item<float>(), 5);
  EXPECT_CONTAINS(errorOf<StateError>([] { Tensor x = Variable(std::shared_ptr<detail::VariableState>()); }),
                  "variable");
}
