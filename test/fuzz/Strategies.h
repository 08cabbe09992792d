// How calls of operations are drawn: by strategies for each operand and attribute, of which those that an operation's
// type rule takes are learnt by trying.
#ifndef CALQUE_TEST_FUZZ_STRATEGIES_H
#define CALQUE_TEST_FUZZ_STRATEGIES_H

#include "test/fuzz/Program.h"
#include "test/fuzz/Random.h"

#include <algorithm>
#include <array>
#include <functional>

namespace calque::fuzz {

// Programs with halves have others in place of two of these: Palette::type.
constexpr DType kDTypes[] = {DType::Bool,  DType::Int32, DType::Int64,  DType::Float32, DType::Float64, DType::Int8,
                             DType::Int16, DType::UInt8, DType::UInt16, DType::UInt32,  DType::UInt64};
constexpr int kNumDTypes = static_cast<int>(std::size(kDTypes));

// Which types programs have beside bool and integers: float32 and float64; float16 or bfloat16, and float32; or
// float32, float64, complex64 and complex128.
enum class Numbers { Wide, Halves, Complex };

// The sizes, shapes and types that programs of one palette prefer.
struct Palette {
  std::vector<std::int64_t> sizes;
  std::array<std::vector<Shape>, 5> shapes; // by rank
  std::vector<DType> dtypes;
  std::int64_t mostElements = 160;
  Numbers numbers;
  std::optional<DType> half = {}; // of programs with halves

  explicit Palette(std::uint64_t seed, Numbers numbers = Numbers::Wide);
  // A half in place of float32, and float32 in place of float64, in programs with halves, and complex numbers in place
  // of integers with 16 bits in others. So all kinds of programs are drawn alike, and what a seed means does not depend
  // on the types that there are.
  DType type(DType drawn) const {
    if (numbers == Numbers::Complex)
      return drawn == DType::Int16 ? DType::Complex64 : drawn == DType::UInt16 ? DType::Complex128 : drawn;
    if (!half)
      return drawn;
    return drawn == DType::Float32 ? *half : drawn == DType::Float64 ? DType::Float32 : drawn;
  }
  // Of what derivatives are taken.
  DType source(bool isWide) const {
    if (numbers == Numbers::Complex)
      return isWide ? dtypes.front() : dtypes.back();
    return type(isWide ? DType::Float64 : DType::Float32);
  }
  DType type(int index) const { return type(kDTypes[index]); }
  Shape shape(Random &random, int rank) const {
    return random.of(shapes[static_cast<std::size_t>(std::clamp(rank, 0, 4))]);
  }
  Shape shape(Random &random) const { return shape(random, random.below(5)); }
};

// How often the choices at one place of a draw led to a call that the type rule takes.
struct Choice {
  std::vector<double> taken, tried;
  explicit Choice(std::size_t n = 0) : taken(n, 1), tried(n, 2) {}
  int pick(Random &random) const {
    // Some choices at random, so that what is rarely right is still seen.
    if (random.chance(0.1))
      return random.below(static_cast<int>(taken.size()));
    double total = 0;
    for (std::size_t i = 0; i < taken.size(); ++i)
      total += weight(i);
    double at = random.uniform(0, total);
    for (std::size_t i = 0; i < taken.size(); ++i)
      if ((at -= weight(i)) <= 0)
        return static_cast<int>(i);
    return static_cast<int>(taken.size()) - 1;
  }
  double weight(std::size_t i) const { return taken[i] / tried[i]; }
};

constexpr int kMostOperands = 4; // of which strategies are told apart
constexpr std::size_t kOperandStrategies = 11, kIntsStrategies = 17, kIntStrategies = 4;

struct OperationChoices {
  Choice dtype{kNumDTypes}, rank{5}, count{4};
  std::array<Choice, kMostOperands> operands;
  std::vector<Choice> attributes,
      isPlain; // plain: an empty list, or 1, which most attributes have when they are left out
};

// What is drawn: operands by type, of which some are values that exist.
struct Operand {
  TensorType type;
  int value = -1;
};
struct Draw {
  std::vector<Operand> operands;
  std::vector<Attribute> attributes;
  std::vector<std::pair<Choice *, int>> choices;
  int choose(Choice &choice, Random &random) {
    int index = choice.pick(random);
    choices.emplace_back(&choice, index);
    return index;
  }
};

class Strategies {
public:
  // What is learnt of complex numbers alone is learnt where programs have some.
  explicit Strategies(Numbers numbers = Numbers::Wide);

  // Whether programs have the operation, drawn by strategies.
  static bool draws(OpId op, Numbers numbers);

  // Draws a call that the type rule takes; false for one that it refuses. Values that exist are preferred where types
  // agree.
  bool draw(const schema::OperationSchema &schema, const Palette &palette, Random &random,
            const std::function<int(const std::function<bool(const TensorType &)> &)> &existing, Draw &draw);

  std::function<TensorType(int)> typeOf; // of a value that exists

private:
  Attribute attribute(schema::AttributeKind kind, Choice &choice, const Palette &palette, Random &random, Draw &draw);
  static Ints ints(int strategy, const Shape &first, const Shape &second, const Palette &palette, Random &random);
  bool repair(const schema::OperationSchema &schema, const std::function<Operand(const TensorType &)> &place,
              Draw &draw, int depth);

  std::vector<OperationChoices> choices; // by operation
  std::unique_ptr<Palette> palette;
};

// Calls that programs of a palette have in common: eager code for each is compiled once.
struct Pool {
  static constexpr int kCalls = 4; // of one operation
  std::uint64_t seed;
  Palette palette;
  std::vector<std::vector<Draw>> calls;

  Pool(Strategies &strategies, std::uint64_t seed, Numbers numbers);
};

} // namespace calque::fuzz
#endif
