// Banded systems of complex numbers, against whole matrices, and values of SciPy (linalg_complex_reference.py).
#include "test/operations/LinalgComplex.h"

using namespace calque;
using namespace calque::testing;

namespace {

struct Diagonals {
  std::int64_t lower, upper;
};
const std::vector<Diagonals> kDiagonals = {{0, 0}, {1, 1}, {2, 0}, {0, 3}, {2, 1}, {1, 4}};

const Tensor kBand =
    numbers({4, 5}, {{0, 0}, {0, 0},  {-1, 1}, {2, -2},  {0.5, 0.25}, {0, 0}, {2, 1},  {1, -1},   {1, 3}, {3, 1},
                     {5, 1}, {4, -2}, {-6, 2}, {5, 0.5}, {2, 1},      {1, 2}, {2, -1}, {0.25, 1}, {1, 4}, {0, 0}});
// Halves of one Hermitian matrix.
const Tensor kUpper = numbers({3, 5}, {{0, 0},
                                       {0, 0},
                                       {0.5, 1},
                                       {-1, 0.5},
                                       {1, -0.5},
                                       {0, 0},
                                       {-1, 1},
                                       {2, -1},
                                       {0.25, 0.5},
                                       {1, 1},
                                       {4, 0},
                                       {5, 0},
                                       {6, 0},
                                       {7, 0},
                                       {8, 0}});
const Tensor kLower = numbers({3, 5}, {{4, 0},
                                       {5, 0},
                                       {6, 0},
                                       {7, 0},
                                       {8, 0},
                                       {-1, -1},
                                       {2, 1},
                                       {0.25, -0.5},
                                       {1, -1},
                                       {0, 0},
                                       {0.5, -1},
                                       {-1, -0.5},
                                       {1, 0.5},
                                       {0, 0},
                                       {0, 0}});

// The whole matrix of a band, whose element [i, j] is band[upper + i - j, j].
Tensor wholeOf(const Tensor &band, std::int64_t lower, std::int64_t upper) {
  const std::int64_t n = band.shape().back();
  const Tensor rows = iota({n, n}, DType::Int64, 0), columns = iota({n, n}, DType::Int64, 1),
               row = upper + rows - columns;
  const Tensor kept = minimum(maximum(row, 0), lower + upper);
  Shape shape = band.shape();
  shape[shape.size() - 2] = n;
  const Tensor taken = take_along_axis(band, broadcast_to(kept, shape), -2);
  return calque::where((row >= 0) & (row <= lower + upper), taken, 0);
}
// And of half a Hermitian one, of whose diagonal the real part is read.
Tensor hermitianOf(const Tensor &band, bool isLower) {
  const std::int64_t others = band.shape()[band.shape().size() - 2] - 1, n = band.shape().back();
  const Tensor half = wholeOf(band, isLower ? others : 0, isLower ? 0 : others);
  const Tensor isDiagonal = iota({n, n}, DType::Int64, 0) == iota({n, n}, DType::Int64, 1);
  return calque::where(isDiagonal, cast(real(half), half.dtype()), half + adjoint(half));
}
// What is outside of the matrix becomes NaN, which is not read.
Tensor withNan(const Tensor &band, std::int64_t upper) {
  const std::int64_t rows = band.shape()[band.shape().size() - 2], n = band.shape().back();
  const Tensor i = iota({rows, n}, DType::Int64, 0) + iota({rows, n}, DType::Int64, 1) - upper;
  return calque::where((i < 0) | (i >= n), std::numeric_limits<double>::quiet_NaN(), band);
}
// The diagonal of a band that has this row of it.
Tensor dominant(const Tensor &band, std::int64_t row, double diagonal) {
  const Size rows = band.shape()[band.shape().size() - 2];
  return band + diagonal * cast(iota(Shape{rows, 1}, DType::Int64, 0) == row, band.dtype());
}

std::vector<Tensor> one(const Tensor &x) { return {x}; }

// Eagerly and compiled for matrices of any number and size, whose number of diagonals is known.
Tensor eagerlyAndOpen(const ManyBody &f, const std::vector<Tensor> &inputs) {
  const ManyBody parts = [f](const std::vector<Tensor> &x) { return partsOf(f(x)); };
  std::vector<TensorSpec<>> signature;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    Shape shape(inputs[i].shape().size(), kDynamic);
    if (i == 0)
      shape[shape.size() - 2] = inputs[i].shape()[shape.size() - 2];
    signature.push_back(TensorSpec<>(inputs[i].dtype(), shape));
  }
  const std::vector<Tensor> eager = parts(inputs);
  const std::vector<Tensor> found =
      function<std::vector<Tensor>(const std::vector<Tensor> &)>(parts, {.input_signature = signature})(inputs);
  for (std::size_t i = 0; i < eager.size(); ++i)
    expectSameBits(found[i], eager[i]);
  return f(inputs)[0];
}

} // namespace

TEST(LinalgComplexBanded, SolvesHaveSmallResiduals) {
  std::mt19937 random(31);
  for (auto [lower, upper] : kDiagonals)
    forBatches({0, 1, 2, 3, 5, 33}, [&, lower = lower, upper = upper](DType dtype, std::int64_t n, const Shape &batch) {
      // Rows are exchanged where they can be, as no diagonal is dominant there.
      Tensor band = randomComplex(random, dtype, with(batch, {lower + upper + 1, n}));
      band = withNan(lower > 0 && upper > 0 ? band : dominant(band, upper, 5), upper);
      Tensor b = randomComplex(random, dtype, with(batch, {n, 3}));
      Tensor x =
          allWays([=](const std::vector<Tensor> &x) { return one(linalg::solve_banded(lower, upper, x[0], x[1])); },
                  {band, b})[0];
      const Tensor whole = wholeOf(band, lower, upper);
      for (std::int64_t k = 0; k < sizeOf(batch); ++k) {
        const Matrix a = embedded(whole, k), solved = embedded(x, k);
        expectSmall(embedded(b, k) - a * solved, a.norm() * solved.norm(), n, dtype, "B - A X");
      }
    });
}

TEST(LinalgComplexBanded, PositiveSolvesHaveSmallResiduals) {
  std::mt19937 random(32);
  for (bool isLower : {false, true})
    for (std::int64_t others : {0, 1, 3})
      forBatches({0, 1, 2, 5, 33}, [&](DType dtype, std::int64_t n, const Shape &batch) {
        Tensor band = dominant(randomComplex(random, dtype, with(batch, {others + 1, n})), isLower ? 0 : others,
                               3.0 * static_cast<double>(others) + 1.5);
        band = withNan(band, isLower ? 0 : others);
        Tensor b = randomComplex(random, dtype, with(batch, {n, 2}));
        const Tensor x = eagerlyAndOpen(
            [=](const std::vector<Tensor> &x) { return one(linalg::solveh_banded(x[0], x[1], {.lower = isLower})); },
            {band, b});
        const Tensor whole = hermitianOf(band, isLower);
        for (std::int64_t k = 0; k < sizeOf(batch); ++k) {
          const Matrix a = embedded(whole, k), solved = embedded(x, k);
          expectSmall(embedded(b, k) - a * solved, a.norm() * solved.norm(), n, dtype, "B - A X");
        }
      });
}

TEST(LinalgComplexBanded, CholeskyFactorsHaveSmallResiduals) {
  std::mt19937 random(33);
  for (bool isLower : {false, true})
    for (std::int64_t others : {0, 1, 3})
      for (DType dtype : kFloats)
        for (std::int64_t n : {1, 5, 33})
          for (const Shape &batch : {Shape{}, Shape{2, 3}}) {
            if (n != 5 && !batch.empty())
              continue; // each size is compiled
            Tensor band = dominant(randomComplex(random, dtype, with(batch, {others + 1, n})), isLower ? 0 : others,
                                   3.0 * static_cast<double>(others) + 1.5);
            band = withNan(band, isLower ? 0 : others);
            const Tensor b = randomComplex(random, dtype, with(batch, {n, 2})), whole = hermitianOf(band, isLower);
            auto factor =
                function([isLower](const Tensor &x) { return linalg::cholesky_banded(x, {.lower = isLower}); });
            for (const Tensor &found : {linalg::cholesky_banded(band, {.lower = isLower}), factor(band)}) {
              const Tensor x = linalg::cho_solve_banded(found, b, {.lower = isLower});
              const Tensor half = wholeOf(found, isLower ? others : 0, isLower ? 0 : others);
              for (std::int64_t k = 0; k < sizeOf(batch); ++k) {
                const Matrix a = embedded(whole, k), own = embedded(half, k), l = isLower ? own : own.transposed();
                expectSmall(a - l * l.transposed(), a.norm(), n, dtype, "A - L L^H");
                const Matrix solved = embedded(x, k);
                expectSmall(embedded(b, k) - a * solved, a.norm() * solved.norm(), n, dtype, "B - A X");
                for (std::int64_t i = 0; i < n; ++i)
                  EXPECT_EQ(own.at(i + n, i), 0); // the diagonal is real
              }
            }
          }
}

TEST(LinalgComplexBanded, HasTheValuesOfSciPy) {
  const Tensor w = numbers({5}, {{1, 2}, {2, 0}, {3, -1}, {0, 4}, {5, 0}});
  expectNumbers(linalg::solve_banded(1, 2, kBand, w), {{-0.18222077726540767, -0.15802452400213338},
                                                       {1.2055475997866587, 0.5660777265407889},
                                                       {0.36328922755773096, -0.2713511168501073},
                                                       {-1.371000737506411, -0.7190553793309364},
                                                       {2.6385233539443824, 1.7822674877060998}});
  expectNumbers(linalg::solveh_banded(kUpper, w), {{0.3370999230905757, 0.49813642548660003},
                                                   {0.3592853339643851, 0.5093770336626635},
                                                   {0.33414186830740095, -0.35319174111104534},
                                                   {-0.0504052535052949, 0.6459208424540023},
                                                   {0.4867183340235461, -0.06377566112524402}});
  expectNumbers(linalg::cholesky_banded(kUpper), {{0.0, 0.0},
                                                  {0.0, 0.0},
                                                  {0.25, 0.5},
                                                  {-0.47140452079103173, 0.23570226039551587},
                                                  {0.45551377080067396, -0.22775688540033698},
                                                  {0.0, 0.0},
                                                  {-0.5, 0.5},
                                                  {0.8838834764831845, -0.2946278254943948},
                                                  {0.33530874795049614, 0.19612398465029016},
                                                  {0.3479402600806614, 0.4547393706062279},
                                                  {2.0, 0.0},
                                                  {2.1213203435596424, 0.0},
                                                  {2.1953233120532487, 0.0},
                                                  {2.563459702904453, 0.0},
                                                  {2.722642776054057, 0.0}});
  expectNumbers(linalg::cho_solve_banded(linalg::cholesky_banded(kUpper), w),
                {{0.3370999230905757, 0.49813642548660003},
                 {0.3592853339643851, 0.5093770336626635},
                 {0.33414186830740095, -0.35319174111104534},
                 {-0.0504052535052949, 0.6459208424540023},
                 {0.4867183340235461, -0.06377566112524402}});
  expectNumbers(linalg::solveh_banded(kLower, w, {.lower = true}), {{0.3370999230905757, 0.49813642548660003},
                                                                    {0.3592853339643851, 0.5093770336626635},
                                                                    {0.33414186830740095, -0.35319174111104534},
                                                                    {-0.050405253505294886, 0.6459208424540023},
                                                                    {0.4867183340235461, -0.06377566112524402}});
  expectNumbers(linalg::cholesky_banded(kLower, {.lower = true}), {{2.0, 0.0},
                                                                   {2.1213203435596424, 0.0},
                                                                   {2.1953233120532487, 0.0},
                                                                   {2.563459702904453, 0.0},
                                                                   {2.722642776054057, 0.0},
                                                                   {-0.5, -0.5},
                                                                   {0.8838834764831845, 0.2946278254943948},
                                                                   {0.33530874795049614, -0.19612398465029016},
                                                                   {0.3479402600806614, -0.4547393706062279},
                                                                   {0.0, 0.0},
                                                                   {0.25, -0.5},
                                                                   {-0.47140452079103173, -0.23570226039551587},
                                                                   {0.45551377080067396, 0.22775688540033698},
                                                                   {0.0, 0.0},
                                                                   {0.0, 0.0}});
  expectNumbers(linalg::cho_solve_banded(linalg::cholesky_banded(kLower, {.lower = true}), w, {.lower = true}),
                {{0.3370999230905757, 0.49813642548660003},
                 {0.3592853339643851, 0.5093770336626635},
                 {0.33414186830740095, -0.35319174111104534},
                 {-0.050405253505294886, 0.6459208424540023},
                 {0.4867183340235461, -0.06377566112524402}});
}

TEST(LinalgComplexBanded, DerivativesAreThoseOfDifferences) {
  std::mt19937 random(34);
  for (auto [lower, upper] : kDiagonals) {
    SCOPED_TRACE(lower * 10 + upper);
    expectMatrixDerivatives(ofParts([lower = lower, upper = upper](const std::vector<Tensor> &x) {
                              return linalg::solve_banded(lower, upper, dominant(x[0], upper, 5), x[1]);
                            }),
                            drawn(random, {{lower + upper + 1, 3}, {3, 2}}));
  }
  for (bool isLower : {false, true}) {
    SCOPED_TRACE(isLower);
    const Body solve = ofParts([isLower](const std::vector<Tensor> &x) {
      return linalg::solveh_banded(dominant(x[0], isLower ? 0 : 1, 6), x[1], {.lower = isLower});
    });
    const std::vector<Tensor> inputs = drawn(random, {{2, 3}, {3, 2}});
    expectAllDerivatives(solve, inputs, 2, true);
    expectBatched({batched(solve, inputs, false)});
  }
}

TEST(LinalgComplexBanded, DerivativesOfCholeskyFactorsAreThoseOfDifferences) {
  std::mt19937 random(35);
  for (bool isLower : {false, true}) {
    const Body factor = ofParts([isLower](const std::vector<Tensor> &x) {
      return linalg::cholesky_banded(dominant(x[0], isLower ? 0 : 1, 6), {.lower = isLower});
    });
    const std::vector<Tensor> inputs = drawn(random, {{2, 3}});
    expectAllDerivatives(factor, inputs, 2, true);
    expectBatched({batched(factor, inputs, false)});
    const Body solve = ofParts([isLower](const std::vector<Tensor> &x) {
      return linalg::cho_solve_banded(dominant(x[0], isLower ? 0 : 1, 6), x[1], {.lower = isLower});
    });
    expectAllDerivatives(solve, drawn(random, {{2, 3}, {3, 2}}), 2, true);
  }
}

TEST(LinalgComplexBanded, Fails) {
  const Tensor b = numbers({3}, {{1, 0}, {0, 1}, {2, 2}});
  EXPECT_MESSAGE(LinAlgError, "solve_banded: the matrix is singular: its pivot 2 of 3 is 0",
                 (void)linalg::solve_banded(0, 0, numbers({1, 3}, {{1, 1}, {0, 0}, {0, 2}}), b).to_vector<Complex>());
  const Tensor indefinite = numbers({2, 3}, {{0, 0}, {0, 2}, {0, 0}, {1, 0}, {1, 0}, {1, 0}});
  EXPECT_MESSAGE(LinAlgError, "solveh_banded: the matrix is not positive definite: its leading minor 2 of 3 is",
                 (void)linalg::solveh_banded(indefinite, b).to_vector<Complex>());
  EXPECT_MESSAGE(LinAlgError, "cholesky_banded: the matrix is not positive definite: its leading minor 2 of 3 is",
                 (void)linalg::cholesky_banded(indefinite).to_vector<Complex>());
  EXPECT_MESSAGE(ShapeError, "solve_banded: a band of 1 diagonals below and 1 above has 3 rows, unlike complex128[2,3]",
                 linalg::solve_banded(1, 1, indefinite, b));
  EXPECT_MESSAGE(DTypeError, "complex128[2,3]", linalg::solve_banded(0, 1, indefinite, real(b)));
  // A NaN is no positive number, and stays one where nothing is refused.
  const Tensor nan = numbers({1, 3}, {{1, 0}, {std::numeric_limits<double>::quiet_NaN(), 0}, {1, 0}});
  EXPECT_MESSAGE(LinAlgError, "its leading minor 2 of 3", (void)linalg::solveh_banded(nan, b).to_vector<Complex>());
  EXPECT_TRUE(std::isnan(linalg::solve_banded(0, 0, nan, b).to_vector<Complex>()[1].real()));
}
