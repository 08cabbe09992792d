// Operations of a library's kernel in small code. Factorisations and solutions of a few rows are unrolled, in the order
// of arithmetic that the runtime's kernels have (runtime/libraries/SmallMatricesCode.h, SmallLuCode.h). Others are
// called, with their operands in memory.
#include "codegen/lowering/SmallLibrary.h"
#include "codegen/plan/ProgramAttributes.h"
#include "ir/Signs.h"
#include "runtime/MatrixFailure.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace calque::codegen {

namespace {

//===-- Calls -----------------------------------------------------------------------------------===//

// The dimensions that count examples are the same of all operands.
int64_t examplesOf(ir::LibraryOpInterface op) {
  const ir::LibraryKernel &kernel = op.libraryKernel();
  int64_t count = 1;
  for (int64_t size : dimsOf(op->getOperand(0)).drop_back(kernel.operands[0].size()))
    count *= size;
  return count;
}

// A call of the kernel as runtime/libraries/KernelCall.h says.
class SmallCall {
public:
  SmallCall(SmallEmitter &emitter, ir::LibraryOpInterface op) : e(emitter), op(op) {}

  SmallVector<SmallValue> emit(ArrayRef<SmallValue> operands) {
    const ir::LibraryKernel &kernel = op.libraryKernel();
    if (!kernel.failsAt.empty())
      words.push_back(LLVM::PtrToIntOp::create(e.builder, e.location, e.builder.getI64Type(), e.context.frame));
    for (const char *site : kernel.failsAt)
      words.push_back(e.word(e.context.addSite(*siteKindNamed(site), op)));
    words.push_back(e.word(examplesOf(op)));
    for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
      Value memory = addTensor(operand, ir::dtypeOfOperand(op, static_cast<unsigned>(i)), kernel.operands[i].size());
      for (auto [at, element] : llvm::enumerate(operands[i].elements))
        memref::StoreOp::create(e.builder, e.location, element, memory, e.index(static_cast<int64_t>(at)));
    }
    SmallVector<Value> memories;
    for (auto [i, result] : llvm::enumerate(op->getResults()))
      memories.push_back(addTensor(result, ir::dtypeOfResult(op, static_cast<unsigned>(i)), kernel.results[i].size()));
    for (int64_t word : op.libraryWords())
      words.push_back(e.word(word));
    Value memory = allocate(e.builder.getI64Type(), static_cast<int64_t>(words.size()));
    for (auto [at, word] : llvm::enumerate(words))
      memref::StoreOp::create(e.builder, e.location, word, memory, e.index(static_cast<int64_t>(at)));
    Type pointer = LLVM::LLVMPointerType::get(e.builder.getContext());
    Value argument = LLVM::IntToPtrOp::create(e.builder, e.location, pointer, addressOf(memory));
    func::CallOp::create(e.builder, e.location, declareRuntime(e.context.module, kernel.function, {pointer}), argument);
    return llvm::map_to_vector(llvm::zip_equal(op->getResults(), memories), [&](auto each) {
      SmallValue value;
      for (int64_t at = 0; at < countOf(std::get<0>(each)); ++at)
        value.elements.push_back(memref::LoadOp::create(e.builder, e.location, std::get<1>(each), e.index(at)));
      return value;
    });
  }

private:
  // The kernel's own memory, whatever loop this is in.
  Value allocate(Type element, int64_t count) {
    return memref::AllocOp::create(e.builder, e.location, MemRefType::get({std::max<int64_t>(count, 1)}, element));
  }
  Value addressOf(Value memory) {
    Value address = memref::ExtractAlignedPointerAsIndexOp::create(e.builder, e.location, memory);
    return arith::IndexCastOp::create(e.builder, e.location, e.builder.getI64Type(), address);
  }
  Value addTensor(Value tensor, DType dtype, size_t rank) {
    Value memory = allocate(scalarType(tensor), countOf(tensor));
    words.push_back(e.word(static_cast<int64_t>(dtype)));
    for (int64_t size : dimsOf(tensor).take_back(rank))
      words.push_back(e.word(size));
    words.push_back(addressOf(memory));
    return memory;
  }

  SmallEmitter &e;
  ir::LibraryOpInterface op;
  SmallVector<Value> words;
};

//===-- Matrices of a few rows ------------------------------------------------------------------===//

// Rows and columns of scalars.
class Matrix {
public:
  Matrix(ArrayRef<Value> elements, int64_t columns) : elements(elements), columns(columns) {}

  Value &operator()(int64_t row, int64_t column) { return elements[static_cast<size_t>(row * columns + column)]; }
  int64_t numColumns() const { return columns; }
  int64_t numRows() const { return columns ? static_cast<int64_t>(elements.size()) / columns : 0; }

  SmallVector<Value> elements;

private:
  int64_t columns;
};

struct Triangle {
  bool lower, transposed, unit;
};

class SmallMatrices {
public:
  explicit SmallMatrices(SmallEmitter &emitter) : e(emitter), s(emitter.s) {}

  Matrix cholesky(Matrix m, int32_t site, int64_t example) {
    const int64_t n = m.numColumns();
    Value one = s.constant(1.0, m(0, 0)), zero = s.constant(0.0, m(0, 0));
    for (int64_t j = 0; j < n; ++j) {
      Value isPositive = s.less(zero, m(j, j)); // false for NaN
      fail(s.logicalNot(isPositive), site, {.place = j + 1, .size = n}, example);
      Value root = s.sqrt(s.select(isPositive, m(j, j), one)), inverse = s.div(one, root);
      m(j, j) = root;
      for (int64_t i = j + 1; i < n; ++i)
        m(i, j) = s.mul(m(i, j), inverse);
      for (int64_t i = j + 1; i < n; ++i)
        for (int64_t c = j + 1; c <= i; ++c)
          m(i, c) = subtract(m(i, c), m(i, j), m(c, j));
      for (int64_t c = j + 1; c < n; ++c)
        m(j, c) = zero;
    }
    return m;
  }

  Matrix solveTriangle(Matrix a, Matrix x, Triangle form) {
    const int64_t n = a.numColumns();
    const bool forward = form.lower != form.transposed;
    for (int64_t step = 0; step < n; ++step) {
      const int64_t i = forward ? step : n - 1 - step;
      for (int64_t j = forward ? 0 : i + 1; j < (forward ? i : n); ++j)
        for (int64_t c = 0; c < x.numColumns(); ++c)
          x(i, c) = subtract(x(i, c), form.transposed ? a(j, i) : a(i, j), x(j, c));
      if (!form.unit)
        for (int64_t c = 0; c < x.numColumns(); ++c)
          x(i, c) = s.div(x(i, c), a(i, i));
    }
    return x;
  }

  // The factors in the matrix's place, and the order of rows. An exchange of rows is a choice of each element.
  SmallVector<Value> factor(Matrix &m) {
    const int64_t n = m.numColumns();
    SmallVector<Value> order = llvm::map_to_vector(llvm::seq<int64_t>(0, n), [&](int64_t i) { return e.word(i); });
    for (int64_t j = 0; j < n; ++j) {
      Value best = s.abs(m(j, j)), at = e.word(j);
      for (int64_t i = j + 1; i < n; ++i) {
        Value other = s.abs(m(i, j)), isLarger = s.less(best, other);
        at = s.select(isLarger, e.word(i), at);
        best = s.select(isLarger, other, best);
      }
      for (int64_t i = j + 1; i < n; ++i) {
        Value isPivot = s.equal(at, e.word(i));
        auto exchange = [&](Value &upper, Value &lower) {
          Value before = upper;
          upper = s.select(isPivot, lower, before);
          lower = s.select(isPivot, before, lower);
        };
        for (int64_t c = 0; c < n; ++c)
          exchange(m(j, c), m(i, c));
        exchange(order[static_cast<size_t>(j)], order[static_cast<size_t>(i)]);
      }
      Value isZero = s.equal(m(j, j), s.constant(0.0, m(j, j)));
      Value divisor = s.select(isZero, s.constant(1.0, m(j, j)), m(j, j));
      for (int64_t i = j + 1; i < n; ++i) {
        m(i, j) = s.div(m(i, j), divisor);
        for (int64_t c = j + 1; c < n; ++c)
          m(i, c) = subtract(m(i, c), m(i, j), m(j, c));
      }
    }
    return order;
  }

  Matrix solve(Matrix lu, ArrayRef<Value> order, Matrix b, bool transposed, int32_t site, int64_t example) {
    const int64_t n = lu.numColumns(), columns = b.numColumns();
    for (Value row : order) // that of a file's program may be anything
      fail(s.logicalOr(s.less(row, e.word(0)), s.less(e.word(n - 1), row)), site, {}, example);
    failIfSingular(lu, site, example);
    Matrix x = b;
    if (!transposed)
      for (int64_t i = 0; i < n; ++i)
        for (int64_t c = 0; c < columns; ++c)
          for (int64_t row = 0; row < n; ++row)
            x(i, c) = row ? s.select(isAt(order, i, row), b(row, c), x(i, c)) : b(0, c);
    const Triangle lower{true, transposed, true}, upper{false, transposed, false};
    x = solveTriangle(lu, x, transposed ? upper : lower);
    x = solveTriangle(lu, x, transposed ? lower : upper);
    if (!transposed)
      return x;
    Matrix placed = x;
    for (int64_t row = 0; row < n; ++row)
      for (int64_t c = 0; c < columns; ++c)
        for (int64_t i = 0; i < n; ++i)
          placed(row, c) = i ? s.select(isAt(order, i, row), x(i, c), placed(row, c)) : x(0, c);
    return placed;
  }

  Matrix inverse(Matrix m, int32_t site, int64_t example) {
    const int64_t n = m.numColumns();
    SmallVector<Value> order = factor(m);
    failIfSingular(m, site, example);
    Value one = s.constant(1.0, m(0, 0)), zero = s.constant(0.0, m(0, 0));
    Matrix x = m;
    for (int64_t i = 0; i < n; ++i)
      for (int64_t c = 0; c < n; ++c)
        x(i, c) = s.select(isAt(order, i, c), one, zero);
    return solveTriangle(m, solveTriangle(m, x, {true, false, true}), {false, false, false});
  }

  // The product of the pivots, and whether no part of it comes near the ends of the type's range: the kernel counts
  // powers of 2 apart, which makes a difference there alone.
  std::pair<Value, Value> determinant(Matrix m) {
    const int64_t n = m.numColumns();
    const bool isDouble = cast<FloatType>(m(0, 0).getType()).getWidth() == 64;
    Value least = s.constant(isDouble ? 0x1p-500 : 0x1p-60, m(0, 0)),
          most = s.constant(isDouble ? 0x1p500 : 0x1p60, m(0, 0));
    SmallVector<Value> order = factor(m);
    Value isOdd;
    for (int64_t i = 0; i < n; ++i)
      for (int64_t j = i + 1; j < n; ++j) { // an inversion
        Value is = s.less(order[static_cast<size_t>(j)], order[static_cast<size_t>(i)]);
        isOdd = isOdd ? s.logicalXor(isOdd, is) : is;
      }
    Value one = s.constant(1.0, m(0, 0)), product = one, isPlain;
    if (isOdd)
      product = s.select(isOdd, s.constant(-1.0, one), one);
    for (int64_t i = 0; i < n; ++i) {
      product = s.mul(product, m(i, i));
      for (Value part : {s.abs(m(i, i)), s.abs(product)}) {
        Value is = s.logicalAnd(s.less(least, part), s.less(part, most));
        isPlain = isPlain ? s.logicalAnd(isPlain, is) : is;
      }
    }
    return {product, isPlain};
  }

private:
  // from - a * b, rounded once.
  Value subtract(Value from, Value a, Value b) { return math::FmaOp::create(e.builder, e.location, s.neg(a), b, from); }
  Value isAt(ArrayRef<Value> order, int64_t i, int64_t row) {
    return s.equal(order[static_cast<size_t>(i)], e.word(row));
  }
  void fail(Value wrong, int32_t site, runtime::MatrixFailure failure, int64_t example) {
    e.failIf(wrong, site, e.word(failure.what()), e.word(example));
  }
  // The first failure of a call is the one that counts.
  void failIfSingular(Matrix &lu, int32_t site, int64_t example) {
    for (int64_t i = 0; i < lu.numColumns(); ++i)
      fail(s.equal(lu(i, i), s.constant(0.0, lu(i, i))), site, {.place = i + 1, .size = lu.numColumns()}, example);
  }

  SmallEmitter &e;
  ir::ScalarBuilder &s;
};

// Whether a factorisation is unrolled here, and how many operations it takes.
std::optional<int64_t> unrolledCost(ir::LibraryOpInterface op) {
  if (!isa<ir::CholeskyOp, ir::TriangularSolveOp, ir::LuFactorOp, ir::LuSolveOp, ir::MatrixInverseOp,
           ir::DeterminantOp>(op))
    return std::nullopt;
  const int64_t n = dimsOf(op->getOperand(0)).back(), columns = dimsOf(op->getOperands().back()).back();
  if (n == 0 || columns == 0 || !isa<Float32Type, Float64Type>(scalarType(op->getOperand(0))))
    return std::nullopt;
  return examplesOf(op) * (3 * n * n * n + 2 * n * n * columns);
}

} // namespace

std::optional<int64_t> libraryCost(ir::LibraryOpInterface op) {
  auto isSmallTensor = [](Value value) { return isSmall(value) && countOf(value) > 0; };
  if (!llvm::all_of(op->getOperands(), isSmallTensor) || !llvm::all_of(op->getResults(), isSmallTensor))
    return std::nullopt;
  // An axis that is not the last one would have to be moved.
  if (std::optional<int64_t> axis = op.libraryAxis()) {
    const int64_t rank = LinalgBuilder::rankOf(op->getOperand(0));
    if (normalAxis(*axis, rank) != rank - 1)
      return std::nullopt;
  }
  if (std::optional<int64_t> cost = unrolledCost(op))
    return cost;
  constexpr int64_t kCall = 64;
  int64_t cost = kCall;
  for (Value value : llvm::concat<const Value>(llvm::to_vector(op->getOperands()), llvm::to_vector(op->getResults())))
    cost += countOf(value);
  return cost;
}

bool mayLibraryFail(ir::LibraryOpInterface op) {
  // A few rows never take a library that may be missing.
  const bool isUnrolled = unrolledCost(op).has_value();
  return llvm::any_of(op.libraryKernel().failsAt,
                      [&](StringRef site) { return !isUnrolled || site != "needs_lapack"; });
}

SmallVector<SmallValue> emitLibrary(SmallEmitter &emitter, ir::LibraryOpInterface op, ArrayRef<SmallValue> operands) {
  if (!unrolledCost(op))
    return SmallCall(emitter, op).emit(operands);
  SmallMatrices matrices(emitter);
  const int64_t examples = examplesOf(op);
  // Missing libraries aside, each of them has at most one way to fail.
  const ir::LibraryKernel &kernel = op.libraryKernel();
  const int32_t site = mayLibraryFail(op) ? emitter.context.addSite(*siteKindNamed(kernel.failsAt.front()), op) : 0;
  auto which = [&](int64_t example) { return runtime::MatrixFailure::which(example, examples); };
  auto part = [&](unsigned operand, int64_t example) {
    ArrayRef<Value> all = operands[operand].elements;
    const size_t size = all.size() / static_cast<size_t>(examples);
    return all.slice(static_cast<size_t>(example) * size, size);
  };
  auto matrix = [&](unsigned operand, int64_t example) {
    return Matrix(part(operand, example), dimsOf(op->getOperand(operand)).back());
  };
  SmallVector<SmallValue> results(op->getNumResults());
  Value isPlain; // of determinants: whether all products are
  for (int64_t k = 0; k < examples; ++k)
    llvm::TypeSwitch<Operation *>(op)
        .Case([&](ir::CholeskyOp) {
          llvm::append_range(results[0].elements, matrices.cholesky(matrix(0, k), site, which(k)).elements);
        })
        .Case([&](ir::TriangularSolveOp solve) {
          const Triangle form{solve.getLower(), solve.getTransposed(), solve.getUnitDiagonal()};
          llvm::append_range(results[0].elements, matrices.solveTriangle(matrix(0, k), matrix(1, k), form).elements);
        })
        .Case([&](ir::LuFactorOp) {
          Matrix m = matrix(0, k);
          llvm::append_range(results[1].elements, matrices.factor(m));
          llvm::append_range(results[0].elements, m.elements);
        })
        .Case([&](ir::LuSolveOp solve) {
          Matrix x = matrices.solve(matrix(1, k), part(2, k), matrix(3, k), solve.getTransposed(), site, which(k));
          llvm::append_range(results[0].elements, x.elements);
        })
        .Case([&](ir::MatrixInverseOp) {
          llvm::append_range(results[0].elements, matrices.inverse(matrix(0, k), site, which(k)).elements);
        })
        .Case([&](ir::DeterminantOp) {
          auto [product, isOwnPlain] = matrices.determinant(matrix(0, k));
          results[0].elements.push_back(product);
          isPlain = isPlain ? emitter.s.logicalAnd(isPlain, isOwnPlain) : isOwnPlain;
        });
  if (!isPlain)
    return results;
  // One call for all examples, should one of them need it.
  auto chosen = scf::IfOp::create(
      emitter.builder, emitter.location, isPlain,
      [&](OpBuilder &then, Location at) { scf::YieldOp::create(then, at, results[0].elements); },
      [&](OpBuilder &otherwise, Location at) {
        SmallEmitter inside{otherwise, at, emitter.context};
        scf::YieldOp::create(otherwise, at, SmallCall(inside, op).emit(operands)[0].elements);
      });
  results[0].elements.assign(chosen.getResults().begin(), chosen.getResults().end());
  return results;
}

} // namespace calque::codegen
