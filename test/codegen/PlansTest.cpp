// Kernels whose plans somebody has changed: each is refused with a reason, or computes what it did before.
#include "codegen/Pipeline.h"
#include "codegen/native/NativeCode.h"
#include "codegen/native/Target.h"
#include "runtime/Kernels.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"

#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <random>
#include <regex>

using namespace calque;

namespace {

using Floats = std::vector<float>;

// A kernel of two operands and a result, which can be computed by plain loops as well.
struct Example {
  std::string name, text;
  std::vector<Floats> operands;
  std::vector<double> expected, magnitude; // of each result, and of its terms
};

std::string number(std::int64_t value) { return std::to_string(value); }

Floats random(std::mt19937 &engine, std::int64_t count) {
  Floats values(static_cast<std::size_t>(count));
  for (float &value : values)
    value = static_cast<float>(engine() % (1 << 20)) / (1 << 19) - 1;
  return values;
}

// [m, k] x [k, n], or [m, k] x [n, k] where the second operand is transposed.
Example product(std::int64_t m, std::int64_t k, std::int64_t n, bool isTransposed = false) {
  std::mt19937 engine(7);
  Example example{"product of " + number(m) + " x " + number(k) + " x " + number(n), "", {}, {}, {}};
  std::string a = "memref<" + number(m) + "x" + number(k) + "xf32>",
              b = "memref<" + (isTransposed ? number(n) + "x" + number(k) : number(k) + "x" + number(n)) + "xf32>",
              c = "memref<" + number(m) + "x" + number(n) + "xf32>";
  example.text = "func.func @kernel(%a: " + a + ", %b: " + b + ", %c: " + c +
                 " {llvm.noalias}) attributes {calque.kernel} {\n  %zero = arith.constant 0.0 : f32\n"
                 "  linalg.fill ins(%zero : f32) outs(%c : " +
                 c + ")\n  linalg.generic {indexing_maps = [affine_map<(i, j, t) -> (i, t)>, affine_map<(i, j, t) -> " +
                 (isTransposed ? "(j, t)" : "(t, j)") +
                 ">, affine_map<(i, j, t) -> (i, j)>], iterator_types = [\"parallel\", \"parallel\", \"reduction\"]} "
                 "ins(%a, %b : " +
                 a + ", " + b + ") outs(%c : " + c +
                 ") {\n  ^bb0(%x: f32, %y: f32, %sum: f32):\n    %p = arith.mulf %x, %y : f32\n"
                 "    %s = arith.addf %sum, %p : f32\n    linalg.yield %s : f32\n  }\n  return\n}\n";
  example.operands = {random(engine, m * k), random(engine, k * n)};
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t j = 0; j < n; ++j) {
      double sum = 0, magnitude = 0;
      for (std::int64_t t = 0; t < k; ++t) {
        double term =
            static_cast<double>(example.operands[0][static_cast<std::size_t>(i * k + t)]) *
            static_cast<double>(example.operands[1][static_cast<std::size_t>(isTransposed ? j * k + t : t * n + j)]);
        sum += term;
        magnitude += std::fabs(term);
      }
      example.expected.push_back(sum);
      example.magnitude.push_back(magnitude);
    }
  return example;
}

// [m, n] + the sums of its rows, which exchange a buffer of their own.
Example rows(std::int64_t m, std::int64_t n) {
  std::mt19937 engine(11);
  Example example{"rows of " + number(m) + " x " + number(n), "", {}, {}, {}};
  std::string x = "memref<" + number(m) + "x" + number(n) + "xf32>", s = "memref<" + number(m) + "xf32>";
  example.text =
      "func.func @kernel(%x: " + x + ", %y: " + x + ", %r: " + x +
      " {llvm.noalias}) attributes {calque.kernel} {\n  %zero = arith.constant 0.0 : f32\n  %sums = memref.alloc() : " +
      s + "\n  linalg.fill ins(%zero : f32) outs(%sums : " + s +
      ")\n  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], "
      "iterator_types = [\"parallel\", \"reduction\"]} ins(%x : " +
      x + ") outs(%sums : " + s +
      ") {\n  ^bb0(%e: f32, %sum: f32):\n    %t = arith.addf %sum, %e : f32\n    linalg.yield %t : f32\n  }\n"
      "  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) "
      "-> "
      "(i, j)>], iterator_types = [\"parallel\", \"parallel\"]} ins(%y, %sums : " +
      x + ", " + s + ") outs(%r : " + x +
      ") {\n  ^bb0(%e: f32, %sum: f32, %out: f32):\n    %t = arith.addf %e, %sum : f32\n    linalg.yield %t : f32\n"
      "  }\n  return\n}\n";
  example.operands = {random(engine, m * n), random(engine, m * n)};
  for (std::int64_t i = 0; i < m; ++i) {
    double sum = 0, magnitude = 0;
    for (std::int64_t j = 0; j < n; ++j) {
      sum += static_cast<double>(example.operands[0][static_cast<std::size_t>(i * n + j)]);
      magnitude += std::fabs(static_cast<double>(example.operands[0][static_cast<std::size_t>(i * n + j)]));
    }
    for (std::int64_t j = 0; j < n; ++j) {
      double own = static_cast<double>(example.operands[1][static_cast<std::size_t>(i * n + j)]);
      example.expected.push_back(own + sum);
      example.magnitude.push_back(std::fabs(own) + magnitude);
    }
  }
  return example;
}

// The text of a kernel with operands of the given shapes, named %0, %1 ..., and a result %r.
std::string kernelOf(std::initializer_list<std::string> operands, const std::string &result, const std::string &body) {
  std::string text = "func.func @kernel(";
  int count = 0;
  for (const std::string &operand : operands)
    text += "%x" + std::to_string(count++) + ": memref<" + operand + "xf32>, ";
  return text + "%r: memref<" + result +
         "xf32> {llvm.noalias}) attributes {calque.kernel} {\n  %zero = arith.constant " + "0.0 : f32\n" + body +
         "  return\n}\n";
}

// The sum of all elements, in pieces of terms.
Example sum(std::int64_t n) {
  std::mt19937 engine(13);
  Example example{"sum of " + number(n), "", {random(engine, n)}, {0}, {0}};
  example.text = kernelOf({number(n)}, "1",
                          "  linalg.fill ins(%zero : f32) outs(%r : memref<1xf32>)\n  linalg.generic {indexing_maps = "
                          "[affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i)>], iterator_types = [\"parallel\", "
                          "\"reduction\"]} ins(%x0 : memref<" +
                              number(n) +
                              "xf32>) outs(%r : memref<1xf32>) {\n  ^bb0(%e: f32, %sum: f32):\n    %t = arith.addf "
                              "%sum, %e : f32\n    linalg.yield %t : f32\n  }\n");
  for (float each : example.operands[0]) {
    example.expected[0] += static_cast<double>(each);
    example.magnitude[0] += std::fabs(static_cast<double>(each));
  }
  return example;
}

// x + y, or x + y transposed.
Example added(std::int64_t m, std::int64_t n, bool isTransposed) {
  std::mt19937 engine(17);
  std::string shape = number(m) + "x" + number(n), other = isTransposed ? number(n) + "x" + number(m) : shape;
  Example example{"sums of " + shape, "", {random(engine, m * n), random(engine, m * n)}, {}, {}};
  std::string x = "memref<" + shape + "xf32>", y = "memref<" + other + "xf32>";
  example.text = kernelOf(
      {shape, other}, shape,
      std::string("  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> ") +
          (isTransposed ? "(j, i)" : "(i, j)") +
          ">, affine_map<(i, j) -> (i, j)>], iterator_types = [\"parallel\", \"parallel\"]} ins(%x0, %x1 : " + x +
          ", " + y + ") outs(%r : " + x +
          ") {\n  ^bb0(%a: f32, %b: f32, %out: f32):\n    %t = arith.addf %a, %b : f32\n    linalg.yield %t : f32\n"
          "  }\n");
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t j = 0; j < n; ++j) {
      auto a = static_cast<double>(example.operands[0][static_cast<std::size_t>(i * n + j)]),
           b = static_cast<double>(example.operands[1][static_cast<std::size_t>(isTransposed ? j * m + i : i * n + j)]);
      example.expected.push_back(a + b);
      example.magnitude.push_back(std::fabs(a) + std::fabs(b));
    }
  return example;
}

// Loops that store: the sums of columns, which come in the order of rows, or cumulative sums of rows.
Example stored(std::int64_t m, std::int64_t n, bool isCarried) {
  std::mt19937 engine(19);
  std::string shape = number(m) + "x" + number(n), result = isCarried ? shape : number(n);
  Example example{"loops over " + shape, "", {random(engine, m * n)}, {}, {}};
  std::string x = "memref<" + shape + "xf32>", r = "memref<" + result + "xf32>",
              bounds = "  %c0 = arith.constant 0 : index\n  %c1 = arith.constant 1 : index\n  %m = arith.constant " +
                       number(m) + " : index\n  %n = arith.constant " + number(n) + " : index\n";
  example.text = kernelOf(
      {shape}, result,
      bounds +
          (isCarried
               ? "  scf.for %i = %c0 to %m step %c1 {\n    %last = scf.for %j = %c0 to %n step %c1 iter_args(%sum = "
                 "%zero) -> (f32) {\n      %e = memref.load %x0[%i, %j] : " +
                     x + "\n      %t = arith.addf %sum, %e : f32\n      memref.store %t, %r[%i, %j] : " + r +
                     "\n      scf.yield %t : f32\n    }\n  } {calque.independent}\n"
               : "  linalg.fill ins(%zero : f32) outs(%r : " + r +
                     ")\n  scf.for %i = %c0 to %m step %c1 {\n    scf.for %j = %c0 to %n step %c1 {\n      %e = "
                     "memref.load %x0[%i, %j] : " +
                     x + "\n      %sum = memref.load %r[%j] : " + r +
                     "\n      %t = arith.addf %sum, %e : f32\n      memref.store %t, %r[%j] : " + r +
                     "\n    } {calque.independent}\n  }\n"));
  std::vector<double> sums(static_cast<std::size_t>(n)), magnitudes = sums;
  for (std::int64_t i = 0; i < m; ++i) {
    double sum = 0, magnitude = 0;
    for (std::int64_t j = 0; j < n; ++j) {
      auto e = static_cast<double>(example.operands[0][static_cast<std::size_t>(i * n + j)]);
      sums[static_cast<std::size_t>(j)] += e;
      magnitudes[static_cast<std::size_t>(j)] += std::fabs(e);
      sum += e;
      magnitude += std::fabs(e);
      if (isCarried) {
        example.expected.push_back(sum);
        example.magnitude.push_back(magnitude);
      }
    }
  }
  if (!isCarried) {
    example.expected = sums;
    example.magnitude = magnitudes;
  }
  return example;
}

class Plans : public ::testing::Test {
protected:
  Plans() : context(registry(), mlir::MLIRContext::Threading::DISABLED) { context.loadAllAvailableDialects(); }

  static mlir::DialectRegistry registry() {
    mlir::DialectRegistry dialects;
    codegen::registerPipelineDialects(dialects);
    return dialects;
  }

  // The kernel at the stage planned, as text.
  std::string planned(const Example &example) {
    auto module = mlir::parseSourceString<mlir::ModuleOp>(example.text, mlir::ParserConfig(&context));
    if (!module || failed(pipelines.run(*module, Stage::Outlined, Stage::Planned, {}))) {
      ADD_FAILURE() << "there is no plan of the " << example.name;
      return "";
    }
    std::string text;
    llvm::raw_string_ostream(text) << *module;
    return text;
  }

  // Compiles the text and runs it. Returns the reasons why it is refused, if it is.
  std::string run(const std::string &text, const Example &example, Floats &results) {
    std::string reasons;
    mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &diagnostic) {
      reasons += diagnostic.str() + "\n";
      return mlir::success();
    });
    auto module = mlir::parseSourceString<mlir::ModuleOp>(text, mlir::ParserConfig(&context));
    if (!module || failed(pipelines.run(*module, Stage::Planned, Stage::LLVM, {})))
      return reasons.empty() ? "no reason" : reasons;
    std::string error;
    std::optional<runtime::Image> image = codegen::makeImage(*module, {}, error);
    if (!image)
      return "no image: " + error;
    const runtime::Image *images[] = {&*image};
    runtime::LoadResult loaded = runtime::LoadedCode::load(images, calque_rt_functions())[0];
    if (!loaded.code)
      return "not loaded: " + loaded.error;
    auto word = [](const void *address) { return static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(address)); };
    results.assign(example.expected.size() + kGuard, kUntouched);
    std::vector<std::int64_t> words;
    for (const Floats &operand : example.operands)
      words.push_back(word(operand.data()));
    words.push_back(word(results.data()));
    std::vector<std::max_align_t> memory;
    if (auto scratch = reinterpret_cast<CalqueKernel>(loaded.code->find(runtime::kScratchSymbol))) {
      std::int64_t bytes = 0;
      words.push_back(word(&bytes));
      scratch(words.data());
      memory.resize(static_cast<std::size_t>(bytes) / sizeof(std::max_align_t) + 8);
      auto start = (word(memory.data()) + 63) / 64 * 64;
      words.back() = start;
    }
    reinterpret_cast<CalqueKernel>(loaded.code->find(runtime::kKernelSymbol))(words.data());
    return "";
  }

  // Whether all results are right, and nothing behind them is written.
  static bool areRight(const Floats &results, const Example &example) {
    for (std::size_t i = 0; i < example.expected.size(); ++i)
      if (!(std::fabs(static_cast<double>(results[i]) - example.expected[i]) <= 8 * 0x1p-23 * example.magnitude[i]))
        return false;
    return std::all_of(results.end() - kGuard, results.end(), [](float each) { return each == kUntouched; });
  }

  static std::string replaced(const std::string &text, const std::string &from, const std::string &to) {
    // The number may be the one that was chosen.
    EXPECT_TRUE(std::regex_search(text, std::regex(from))) << from;
    return std::regex_replace(text, std::regex(from), to, std::regex_constants::format_first_only);
  }

  static constexpr std::ptrdiff_t kGuard = 64;
  static constexpr float kUntouched = -12345;
  mlir::MLIRContext context;
  codegen::Pipelines pipelines{context, /*verifyEach=*/true};
};

TEST_F(Plans, TilesOfAllSizesComputeTheSame) {
  Example example = product(23, 33, 40);
  std::string plan = planned(example);
  const codegen::Target &target = codegen::Target::of(runtime::hostCpu());
  int taken = 0;
  for (std::int64_t height : {1, 2, 3, 5, 8, 24})
    for (std::int64_t width : {1, 2, 3}) {
      SCOPED_TRACE(number(height) + " x " + number(width));
      std::string changed =
          replaced(plan, "tile = \\[[0-9]+, [0-9]+\\]", "tile = [" + number(height) + ", " + number(width) + "]");
      changed = std::regex_replace(changed, std::regex("last_panel_rows = [0-9]+, "), "");
      Floats results;
      std::string refused = run(changed, example, results);
      if (height * width + width + 1 > target.vectorRegisters) {
        EXPECT_NE(refused.find("registers"), std::string::npos) << refused;
        continue;
      }
      ++taken;
      EXPECT_EQ(refused, "");
      EXPECT_TRUE(areRight(results, example));
    }
  EXPECT_GE(taken, 8);
}

TEST_F(Plans, BlocksOfAllSizesComputeTheSame) {
  Example example = product(24, 40, 64);
  std::string plan = replaced(planned(example), "tile = \\[[0-9]+, [0-9]+\\]", "tile = [4, 1]");
  plan = std::regex_replace(plan, std::regex("last_panel_rows = [0-9]+, "), "");
  Floats results;
  for (std::int64_t terms : {1, 7, 40})
    for (std::int64_t height : {4, 8, 20})
      for (std::int64_t panels : {1, 3}) {
        SCOPED_TRACE(number(terms) + " " + number(height) + " " + number(panels));
        std::string changed = replaced(plan, "([ <])term_block = [0-9]+", "$1term_block = " + number(terms) + "");
        changed = replaced(replaced(changed, "row_block = [0-9]+", "row_block = " + number(height) + ""),
                           "panel_block = [0-9]+", "panel_block = " + number(panels) + "");
        EXPECT_EQ(run(changed, example, results), "");
        EXPECT_TRUE(areRight(results, example));
      }
}

// A block of rows is no part of what is computed, so that the bits are the same.
TEST_F(Plans, GroupsInBlocksOfAllSizesHaveTheSameBits) {
  Example example = rows(256, 100);
  std::string plan = planned(example);
  Floats before, results;
  ASSERT_EQ(run(plan, example, before), "");
  EXPECT_TRUE(areRight(before, example));
  for (std::int64_t block : {1, 3, 8, 100, 256}) {
    SCOPED_TRACE(block);
    EXPECT_EQ(run(replaced(plan, "block = [0-9]+", "block = " + number(block)), example, results), "");
    EXPECT_EQ(results, before);
  }
}

// What each example is to be an example of.
TEST_F(Plans, AreOfEveryKind) {
  for (const auto &[kind, example] : {std::pair("#plan.pieces<", sum(100003)),
                                      {"#plan.vectors<", added(37, 50, false)},
                                      {"#plan.squares<", added(37, 50, true)},
                                      {"#plan.storing<", stored(20, 300, false)},
                                      {"#plan.carried<", stored(21, 50, true)}}) {
    SCOPED_TRACE(example.name);
    std::string plan = planned(example);
    EXPECT_NE(plan.find(kind), std::string::npos) << plan;
    Floats results;
    EXPECT_EQ(run(plan, example, results), "");
    EXPECT_TRUE(areRight(results, example));
  }
}

// Numbers that are changed at random: whatever is not refused is right.
TEST_F(Plans, ChangedAtRandomAreRefusedOrRight) {
  std::mt19937 engine(3);
  std::vector<Example> examples{product(23, 33, 40),
                                product(64, 100, 100),
                                product(40, 300, 70, true),
                                product(130, 96, 2),
                                product(3, 50, 20),
                                product(16, 3000, 32),
                                rows(256, 100),
                                sum(100003),
                                added(37, 50, false),
                                added(37, 50, true),
                                stored(20, 300, false),
                                stored(21, 50, true)};
  int refused = 0, taken = 0;
  for (const Example &example : examples) {
    std::string plan = planned(example);
    std::vector<std::pair<std::size_t, std::size_t>> numbers; // places and lengths
    std::regex digits("[0-9]+");
    for (auto attribute = plan.find("#plan."); attribute != std::string::npos;
         attribute = plan.find("#plan.", attribute + 1)) {
      std::size_t end = plan.find('<', attribute) + 1;
      for (int depth = 1; depth; ++end)
        depth += plan[end] == '<' ? 1 : plan[end] == '>' ? -1 : 0;
      for (auto each = std::sregex_iterator(plan.begin() + static_cast<std::ptrdiff_t>(attribute),
                                            plan.begin() + static_cast<std::ptrdiff_t>(end), digits);
           each != std::sregex_iterator(); ++each)
        numbers.push_back(
            {attribute + static_cast<std::size_t>(each->position()), static_cast<std::size_t>(each->length())});
    }
    ASSERT_FALSE(numbers.empty()) << example.name;
    for (int i = 0; i < 60; ++i) {
      auto [place, length] = numbers[engine() % numbers.size()];
      std::int64_t old = std::stoll(plan.substr(place, length));
      std::int64_t values[] = {0, 1, 2, 3, old - 1, old + 1, old * 2, old / 2, 1 << 20, std::int64_t(1) << 40};
      std::string changed =
          plan.substr(0, place) + number(values[engine() % std::size(values)]) + plan.substr(place + length);
      SCOPED_TRACE(changed);
      Floats results;
      std::string reasons = run(changed, example, results);
      if (reasons.empty()) {
        ++taken;
        ASSERT_TRUE(areRight(results, example));
      } else {
        ++refused;
        ASSERT_TRUE(reasons != "no reason" && reasons.find("no image") == std::string::npos) << reasons;
      }
    }
  }
  EXPECT_GT(refused, 150);
  EXPECT_GT(taken, 150);
}

} // namespace
