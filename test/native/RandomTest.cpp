// Random lambdas with branches, loops and hidden host state: what is captured does what eager code does, with the same
// derivatives. CALQUE_NATIVE_PROGRAMS says how many (30), CALQUE_NATIVE_SEED which is the first (1).
#include "calque/call_site.h"
#include "calque/calque.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <memory>
#include <random>
#include <stdexcept>

using namespace calque;

namespace {

struct Statement {
  enum class Kind { Assign, If, While, For, Break, Continue, Return, Count, Set, HostIf, Push, Pop, Throw } kind;
  std::size_t i = 0, j = 0, k = 0;
  int n = 0, operation = 0;
  double number = 0;
  unsigned line = 0;
  std::vector<Statement> then, otherwise;
};
using Kind = Statement::Kind;
using Block = std::vector<Statement>;

class Generator {
public:
  Generator(unsigned seed, int hostState) : random(seed), hostState(hostState) {}

  Block program() {
    Block block = this->block(0, false, 3 + below(4));
    block.push_back(assign());
    return block;
  }

private:
  unsigned below(unsigned n) { return static_cast<unsigned>(random() % n); }
  Statement assign() {
    Statement s;
    s.kind = Kind::Assign;
    s.i = below(4);
    s.j = below(4);
    s.k = below(5); // 4: the number
    s.operation = static_cast<int>(below(5));
    s.number = below(5) * 0.5;
    s.line = line += 4;
    return s;
  }
  Block block(int depth, bool inLoop, unsigned count) {
    Block block;
    for (unsigned i = 0; i < count && budget > 0; ++i)
      block.push_back(statement(depth, inLoop));
    return block;
  }
  Statement statement(int depth, bool inLoop) {
    --budget;
    const unsigned choice = below(100);
    Statement s;
    s.kind = Kind::Assign;
    s.line = line += 4;
    s.i = below(4);
    s.j = below(4);
    s.number = static_cast<double>(below(9)) - 2;
    auto is = [&](Kind kind) { s.kind = kind; };
    if (depth < 3 && choice < 22) {
      is(Kind::If);
      s.operation = static_cast<int>(below(2));
      s.k = below(6);
      s.then = block(depth + 1, inLoop, 1 + below(3));
      if (below(2))
        s.otherwise = block(depth + 1, inLoop, 1 + below(2));
    } else if (depth < 3 && choice < 34) {
      is(Kind::While);
      s.n = hostState && below(4) == 0 ? static_cast<int>(2 + below(40)) : 0;
      s.then = block(depth + 1, true, 1 + below(3));
    } else if (depth < 3 && choice < 40) {
      is(Kind::For);
      s.n = static_cast<int>(2 + below(hostState ? 30 : 5));
      s.k = below(2);
      s.then = block(depth + 1, true, 1 + below(3));
    } else if (inLoop && choice < 46) {
      is(Kind::If);
      s.number = 3 + below(8);
      Statement leave;
      leave.kind = below(3) ? Kind::Break : Kind::Continue;
      s.then.push_back(leave);
    } else if (depth > 0 && choice < 50) {
      is(Kind::If);
      s.number = 5 + below(8);
      Statement leave;
      leave.kind = Kind::Return;
      leave.i = below(4);
      leave.line = line += 4;
      s.then.push_back(leave);
    } else if (hostState && choice < 56) {
      is(Kind::Count);
      s.i = below(2);
    } else if (hostState && choice < 59) {
      is(Kind::Set);
      s.i = below(2);
      s.n = static_cast<int>(below(3));
    } else if (hostState && choice < 66) {
      is(Kind::HostIf);
      s.i = below(2);
      s.n = static_cast<int>(below(4));
      s.then = block(depth + 1, inLoop, 1 + below(2));
      if (below(2))
        s.otherwise = block(depth + 1, inLoop, 1);
    } else if (hostState > 1 && choice < 69) {
      is(Kind::Push);
    } else if (hostState > 1 && choice < 72) {
      is(Kind::Pop);
    } else if (hostState > 1 && choice < 73) {
      is(Kind::Throw);
    } else {
      return assign();
    }
    return s;
  }

  std::mt19937 random;
  const int hostState;
  unsigned line = 1;
  int budget = 14;
};

struct TooLong {};

// Runs a program, with C++ control flow.
class Execution {
public:
  explicit Execution(std::vector<Tensor> inputs, bool isEager) : v(std::move(inputs)), isEager(isEager) {}

  std::vector<Tensor> run(const Block &program) {
    execute(program);
    return v;
  }

private:
  enum class Flow { Next, Break, Continue, Return };

  bool decide(const Tensor &x, bool isMore, double number, unsigned line) {
    if (isEager && ++steps > 5000)
      throw TooLong();
    CallSite site(SourceLocation::at("random", line));
    Tensor first = x.shape().size() == 0 ? x : gather(x, 0);
    return bool(isMore ? first > number : first < number);
  }
  Tensor compute(int operation, const Tensor &a, const Tensor &b, unsigned line) {
    CallSite site(SourceLocation::at("random", line));
    switch (operation) {
    case 0:
      return a + b;
    case 1:
      return a - b;
    case 2:
      return a * b * 0.25;
    case 3:
      return minimum(a, b);
    default:
      return maximum(a, b);
    }
  }
  Flow execute(const Block &block) {
    for (const Statement &s : block)
      if (Flow flow = execute(s); flow != Flow::Next)
        return flow;
    return Flow::Next;
  }
  Flow execute(const Statement &s) {
    switch (s.kind) {
    case Kind::Assign:
      v[s.i] = compute(s.operation, v[s.j], s.k == 4 ? v[s.j] * 0 + s.number : v[s.k], s.line);
      return Flow::Next;
    case Kind::If: {
      bool taken = decide(v[s.i], s.operation == 0, s.number, s.line);
      if (s.k == 1)
        taken = taken && decide(v[s.j], true, 0, s.line + 1);
      if (s.k == 2)
        taken = taken || decide(v[s.j], true, 4, s.line + 1);
      return execute(taken ? s.then : s.otherwise);
    }
    case Kind::While: {
      int n = 0;
      while ((s.n == 0 || n++ < s.n) && decide(v[s.i], true, s.number, s.line)) {
        Flow flow = execute(s.then);
        v[s.i] = compute(1, v[s.i], v[s.i] * 0 + 1, s.line + 1);
        if (flow == Flow::Break)
          break;
        if (flow == Flow::Return)
          return flow;
      }
      return Flow::Next;
    }
    case Kind::For:
      for (int i = 0; i < s.n; ++i) {
        if (s.k && decide(v[s.i], false, s.number, s.line))
          break;
        Flow flow = execute(s.then);
        if (flow == Flow::Break)
          break;
        if (flow == Flow::Return)
          return flow;
      }
      return Flow::Next;
    case Kind::Break:
      return Flow::Break;
    case Kind::Continue:
      return Flow::Continue;
    case Kind::Return:
      v[0] = compute(0, v[s.i], v[1], s.line);
      return Flow::Return;
    case Kind::Count:
      ++host[s.i];
      return Flow::Next;
    case Kind::Set:
      host[s.i] = s.n;
      return Flow::Next;
    case Kind::HostIf:
      return execute(host[s.i] < s.n ? s.then : s.otherwise);
    case Kind::Push:
      stack.push_back(v[s.i]);
      return Flow::Next;
    case Kind::Pop:
      if (!stack.empty()) {
        v[s.i] = stack.back();
        stack.pop_back();
      }
      return Flow::Next;
    case Kind::Throw:
      if (host[0] > 2)
        throw std::runtime_error("host");
      return Flow::Next;
    }
    return Flow::Next;
  }

  std::vector<Tensor> v;
  const bool isEager;
  int host[2] = {0, 0}, steps = 0;
  std::vector<Tensor> stack;
};

struct Outcome {
  std::vector<double> numbers; // values and gradients
  std::string error;
  bool isRefused = false, isTooLong = false;
};

template <typename F> Outcome outcomeOf(F &&f, const std::vector<Tensor> &inputs) {
  Outcome outcome;
  try {
    GradientTape tape;
    for (const Tensor &x : inputs)
      tape.watch(x);
    Tensor target;
    for (const Tensor &result : f(inputs)) {
      for (double each : result.template to_vector<double>())
        outcome.numbers.push_back(each);
      target = target.defined() ? target + sum(result) : sum(result);
    }
    auto gradients = tape.gradient(target, inputs);
    for (std::size_t i = 0; i < inputs.size(); ++i)
      for (double each : (gradients[i] ? *gradients[i] : inputs[i] * 0).template to_vector<double>())
        outcome.numbers.push_back(each);
  } catch (const TooLong &) {
    outcome.isTooLong = true;
  } catch (const StateError &error) {
    outcome.isRefused = std::string(error.what()).find("can't be captured") != std::string::npos;
    outcome.error = error.what();
  } catch (const std::exception &error) {
    outcome.error = error.what();
  }
  return outcome;
}

unsigned numberOf(const char *name, unsigned otherwise) {
  const char *text = std::getenv(name);
  return text ? static_cast<unsigned>(std::atoi(text)) : otherwise;
}

} // namespace

TEST(NativePrograms, DoWhatEagerCodeDoes) {
  const unsigned count = numberOf("CALQUE_NATIVE_PROGRAMS", 12), first = numberOf("CALQUE_NATIVE_SEED", 1);
  unsigned captured = 0, refused = 0;
  for (unsigned seed = first; seed < first + count; ++seed) {
    const int hostState = static_cast<int>(seed % 3);
    auto program = std::make_shared<const Block>(Generator(seed, hostState).program());
    auto eager = [program](const std::vector<Tensor> &x) { return Execution(x, true).run(*program); };
    auto compiled = function<std::vector<Tensor>(std::vector<Tensor>)>(
        [program](const std::vector<Tensor> &x) { return Execution(x, false).run(*program); });
    std::mt19937 random(seed);
    bool isRefused = false;
    for (int i = 0; i < 12 && !isRefused; ++i) {
      std::vector<Tensor> inputs;
      for (int k = 0; k < 4; ++k) {
        double number = static_cast<double>(random() % 1200) / 100 - 3;
        if (i % 3)
          number = std::floor(number);
        inputs.push_back(seed % 2 ? scalar<double>(number) : tensor<double>({number, number * 0.5, 1 - number}));
      }
      Outcome wanted = outcomeOf(eager, inputs);
      if (wanted.isTooLong)
        continue;
      Outcome given = outcomeOf(compiled, inputs);
      if (given.isRefused) {
        isRefused = true;
        continue;
      }
      if (!wanted.error.empty()) {
        EXPECT_NE(given.error.find(wanted.error), std::string::npos) << "program " << seed << ": " << given.error;
        continue;
      }
      EXPECT_EQ(given.error, "") << "program " << seed;
      ASSERT_EQ(given.numbers.size(), given.error.empty() ? wanted.numbers.size() : 0);
      for (std::size_t k = 0; k < given.numbers.size(); ++k)
        if (std::isfinite(wanted.numbers[k])) {
          EXPECT_NEAR(given.numbers[k], wanted.numbers[k], 1e-9 * (1 + std::abs(wanted.numbers[k])))
              << "program " << seed << ", input " << i << ", number " << k;
        }
    }
    ++(isRefused ? refused : captured);
  }
  RecordProperty("captured", static_cast<int>(captured));
  RecordProperty("refused", static_cast<int>(refused));
  if (count > 100)
    std::printf("%u captured, %u refused\n", captured, refused);
  EXPECT_GT(captured, refused);
}
