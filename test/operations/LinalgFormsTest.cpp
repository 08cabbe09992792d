// Generalised eigenvalues, NumPy's norm, matrices of a special form, products of many matrices and polar factors.
// Numbers of NumPy and SciPy come from linalg_forms_reference.py.
#include "test/operations/LinalgReferences.h"

namespace calque::testing {
namespace {

const double kInfinite = std::numeric_limits<double>::infinity();

Tensor formZ() { return complex(formA(), 0.5 * transpose(formA())); }
Tensor formHermitian() {
  return complex(formQ(), tensor<double>({0, 1, 0, -0.5, -1, 0, 1, 0, 0, -1, 0, 0, 0.5, 0, 0, 0}, {4, 4}));
}
Tensor ramp(const Shape &shape) {
  std::int64_t count = 1;
  for (const Size &size : shape)
    count *= std::int64_t(size);
  return reshape(iota({count}, DType::Float64) - 7, shape);
}

} // namespace

//===-- Generalised eigenvalues -----------------------------------------------------------------===//

TEST(LinalgForms, GeneralisedEigenvaluesAreThoseOfSciPy) {
  auto both = [](const std::vector<Tensor> &x) {
    const auto [w, v] = linalg::eigh(x[0], x[1]);
    return std::vector<Tensor>{w, v, linalg::eigvalsh(x[0], x[1])};
  };
  for (bool isComplex : {false, true}) {
    const std::string name = isComplex ? "eigh complex " : "eigh ";
    const Tensor z = formZ(), a = isComplex ? z + adjoint(z) : formA() + transpose(formA());
    const Tensor b = isComplex ? formHermitian() : formQ();
    const std::vector<Tensor> found = nearlyAllWays(both, {a, b});
    expectReference(found[0], name + "values");
    expectReference(found[2], name + "values");
    const Tensor first = slice(found[1], {0, 0}, {4, 1}), turned = isComplex ? adjoint(first) : transpose(first);
    expectReference(matmul(first, turned), name + "projector");
    // Of A and B the lower triangle is read, and a B for many A counts for each.
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const Tensor isRead = iota(Shape{4, 1}, DType::Int64, 0) >= iota(Shape{1, 4}, DType::Int64, 1);
    expectAlike(real(linalg::eigh(where(isRead, a, nan), where(isRead, b, nan)).vectors), real(found[1]), true);
    const auto many = linalg::eigh(stack({a, 2 * a}), b);
    expectAlike(many.values[1], 2 * found[0], false);
    // A V = B V w, and V^H B V = 1, in the precision of the type.
    const DType narrow = isComplex ? DType::Complex64 : DType::Float32;
    const auto [w, v] = linalg::eigh(cast(a, narrow), cast(b, narrow));
    EXPECT_EQ(w.dtype(), DType::Float32);
    const Tensor exact = cast(v, a.dtype()), scaled = exact * cast(expand_dims(w, {0}), a.dtype());
    EXPECT_LT(valuesOf(max(abs(matmul(a, exact) - matmul(b, scaled))))[0], 1e-5);
    const Tensor turnedV = isComplex ? adjoint(exact) : transpose(exact);
    EXPECT_LT(valuesOf(max(abs(matmul(matmul(turnedV, b), exact) - eye(4, a.dtype()))))[0], 1e-5);
  }
}

TEST(LinalgForms, GeneralisedEigenvaluesHaveDerivatives) {
  const Body values = [](const std::vector<Tensor> &x) {
    return linalg::eigvalsh(x[0] + transpose(x[0]), matmul(x[1], x[1], {.transpose_b = true}));
  };
  expectMatrixDerivatives(values, {formA(), formQ()});
  // |v|^2 of elements of each vector has no sign.
  const Body vectors = [](const std::vector<Tensor> &x) {
    return square(linalg::eigh(x[0] + transpose(x[0]), matmul(x[1], x[1], {.transpose_b = true})).vectors);
  };
  expectDerivatives(vectors, {formA(), formQ()}, 2);
  // As functions of all elements that are equal: symmetric.
  const Tensor a = formA() + transpose(formA());
  for (const Tensor &g :
       gradients([](const std::vector<Tensor> &x) { return sum(square(linalg::eigvalsh(x[0], x[1]))); }, {a, formQ()}))
    expectAlike(g, transpose(g), false);
}

TEST(LinalgForms, MisuseOfGeneralisedEigenvaluesIsRefused) {
  EXPECT_MESSAGE(ShapeError, "eigh: A and B of A V = B V w have one size, unlike float64[4,4] and float64[2,2]",
                 linalg::eigh(formA(), formR()));
  EXPECT_MESSAGE(ShapeError, "eigvalsh: takes square matrices, not float64[4,2]", linalg::eigvalsh(formA(), formB()));
  EXPECT_MESSAGE(DTypeError, "eigh: the operands' types differ: float64[4,4] and float32[4,4]",
                 linalg::eigh(formA(), cast(formQ(), DType::Float32)));
  EXPECT_MESSAGE(LinAlgError, "eigh: B: the matrix is not positive definite: its leading minor 1 of 4 is",
                 (void)linalg::eigh(formA(), -formQ()).values.to_vector<double>());
}

//===-- Norms -----------------------------------------------------------------------------------===//

TEST(LinalgForms, NormsAreThoseOfNumPy) {
  const Tensor x = ramp({2, 3, 4});
  auto compiled = [](const Tensor &y, const linalg::NormOptions &options) {
    const Tensor eager = linalg::norm(y, options);
    expectAlike(function([&](const Tensor &z) { return linalg::norm(z, options); })(y), eager, false);
    return eager;
  };
  for (const auto &[order, name] :
       std::vector<std::pair<std::optional<linalg::NormOrder>, std::string>>{{std::nullopt, "None"},
                                                                             {"fro", "fro"},
                                                                             {"nuc", "nuc"},
                                                                             {2, "2"},
                                                                             {-2, "-2"},
                                                                             {1, "1"},
                                                                             {-1.0f, "-1"},
                                                                             {kInfinite, "inf"},
                                                                             {-kInfinite, "-inf"}}) {
    expectReference(compiled(x, {.ord = order, .axis = {0, 2}}), "matrices " + name);
    expectReference(compiled(x, {.ord = order, .axis = {2, -3}}), "rows and columns exchanged " + name);
    const Tensor kept = compiled(x, {.ord = order, .axis = {0, 2}, .keepdims = true});
    EXPECT_EQ(kept.shape(), Shape({1, 3, 1}));
    expectReference(kept, "matrices " + name);
  }
  for (const auto &[order, name] :
       std::vector<std::pair<std::optional<linalg::NormOrder>, std::string>>{{std::nullopt, "None"},
                                                                             {0, "0"},
                                                                             {1, "1"},
                                                                             {-1, "-1"},
                                                                             {2, "2"},
                                                                             {3, "3"},
                                                                             {0.5, "0.5"},
                                                                             {kInfinite, "inf"},
                                                                             {-kInfinite, "-inf"}})
    expectReference(compiled(x, {.ord = order, .axis = 1}), "vectors " + name);
  expectReference(linalg::norm(x), "norm all");
  EXPECT_EQ(linalg::norm(x, {.keepdims = true}).shape(), Shape({1, 1, 1}));
  expectReference(linalg::norm(x[0], {.ord = 1}), "norm matrix");
  expectReference(linalg::norm(x[0][0], {.ord = 1}), "norm vector");
  expectReference(linalg::norm(formZ(), {.ord = "nuc"}), "norm complex");
  EXPECT_EQ(linalg::norm(cast(x, DType::Float32)).dtype(), DType::Float32);
  expectMatrixDerivatives([](const std::vector<Tensor> &in) { return linalg::norm(in[0], {.axis = {2, 1}}); }, {x});
}

TEST(LinalgForms, MisuseOfNormsIsRefused) {
  const Tensor x = ramp({2, 3, 4});
  EXPECT_MESSAGE(ShapeError, "norm: there is no norm of this order of a matrix without columns, float32[2,0]",
                 linalg::norm(zeros({2, 0}), {.ord = 2}));
  EXPECT_MESSAGE(ShapeError, "matrix_norm: there is no norm of this order of a matrix without rows, float32[0,2]",
                 linalg::matrix_norm(zeros({0, 2}), linalg::MatrixNorm::Infinity));
  EXPECT_MESSAGE(ShapeError, "cond: there is no norm of this order of a matrix without rows, float32[0,0]",
                 linalg::cond(zeros({0, 0})));
  EXPECT_MESSAGE(ValueError, "norm: the order of a norm of matrices is 1, -1, 2, -2, inf, -inf, 'fro' or 'nuc', not 3",
                 linalg::norm(x[0], {.ord = 3}));
  EXPECT_MESSAGE(ValueError, "'nuc', not 'frobenius'", linalg::norm(x[0], {.ord = "frobenius"}));
  EXPECT_MESSAGE(ValueError, "norm: the order of a norm of vectors is a number, not 'fro'",
                 linalg::norm(x, {.ord = "fro", .axis = 1}));
  EXPECT_MESSAGE(ValueError, "norm: takes one axis or two, not 3", linalg::norm(x, {.axis = {0, 1, 2}}));
  EXPECT_MESSAGE(ValueError, "norm: the axes 1 and -2 of float64[2,3,4] are one", linalg::norm(x, {.axis = {1, -2}}));
  EXPECT_MESSAGE(ShapeError, "norm: with .ord and without .axis takes a vector or a matrix, not float64[2,3,4]",
                 linalg::norm(x, {.ord = 2}));
  EXPECT_MESSAGE(DTypeError, "norm: takes floating-point numbers, not int32[2]", linalg::norm(ones({2}, DType::Int32)));
  EXPECT_MESSAGE(ValueError, "norm: the order must not be NaN",
                 linalg::norm(x, {.ord = std::numeric_limits<double>::quiet_NaN(), .axis = 1}));
}

//===-- Special forms ---------------------------------------------------------------------------===//

TEST(LinalgForms, SpecialFormsAreThoseOfSciPy) {
  const Tensor c = tensor<double>({1, 2, 3}), r = tensor<double>({9, 5, 6, 7});
  const std::vector<Tensor> found = nearlyAllWays(
      [](const std::vector<Tensor> &x) {
        return std::vector<Tensor>{linalg::circulant(x[0]), linalg::hankel(x[0]), linalg::hankel(x[0], x[1])};
      },
      {c, r});
  expectReference(found[0], "circulant", 0);
  expectReference(found[1], "hankel", 0);
  expectReference(found[2], "hankel with a row", 0);
  const std::vector<Tensor> blocks{tensor<double>({1, 2, 3, 4}, {2, 2}), tensor<double>({5}, {}),
                                   tensor<double>({6, 7, 8}), tensor<double>({9, 10}, {2, 1})};
  expectReference(
      nearlyAllWays([](const std::vector<Tensor> &x) { return std::vector<Tensor>{linalg::block_diag(x)}; }, blocks)[0],
      "block_diag", 0);
  // Other types, batches, and nothing beside or below.
  for (DType dtype : {DType::Bool, DType::Int32, DType::Float16, DType::Complex64})
    EXPECT_EQ(linalg::block_diag({cast(blocks[0], dtype), cast(blocks[3], dtype)}).dtype(), dtype);
  const Tensor many = linalg::block_diag({stack({formR(), 2 * formR()}), formB()});
  ASSERT_EQ(many.shape(), Shape({2, 6, 4}));
  expectAlike(many[1], linalg::block_diag({2 * formR(), formB()}), true);
  EXPECT_EQ(linalg::block_diag({zeros({0, 2}), ones({1, 1})}).shape(), Shape({1, 3}));
  const Tensor batch = ramp({2, 3});
  expectAlike(linalg::circulant(batch)[1], linalg::circulant(batch[1]), true);
  expectAlike(linalg::hankel(batch, batch + 1)[1], linalg::hankel(batch[1], batch[1] + 1), true);
  expectMatrixDerivatives(
      [](const std::vector<Tensor> &x) {
        return linalg::block_diag({linalg::circulant(x[0]), linalg::hankel(x[0], x[1])});
      },
      {c, r});
}

TEST(LinalgForms, ProductsOfManyMatricesAreThoseOfNumPy) {
  const Tensor start = gather(formB(), 0, -1);
  const ManyBody product = [](const std::vector<Tensor> &x) { return std::vector<Tensor>{linalg::multi_dot(x)}; };
  expectReference(nearlyAllWays(product, {start, formA(), formQ(), formB(), formR()})[0], "multi_dot");
  expectAlike(linalg::multi_dot({formA(), formB()}), matmul(formA(), formB()), false);
  EXPECT_EQ(linalg::multi_dot({start, formA(), start}).rank(), 0);
  EXPECT_EQ(linalg::multi_dot({formA(), formQ(), start}).shape(), Shape({4}));
  // More than an einsum has letters for.
  const std::vector<Tensor> halves(60, 0.5 * eye(2, DType::Float64));
  expectAlike(linalg::multi_dot(halves) * std::ldexp(1.0, 60), eye(2, DType::Float64), true);
  EXPECT_MESSAGE(ValueError, "multi_dot: takes two matrices or more, not 1", linalg::multi_dot({formA()}));
  EXPECT_MESSAGE(ShapeError, "multi_dot: matrix 1 has rank 2, or at an end rank 1, unlike float64[4]",
                 linalg::multi_dot({formA(), start, formA()}));
  EXPECT_MESSAGE(ShapeError, "multi_dot: matrices 0 and 1 are float64[4,2] and float64[4,4]; the columns of one",
                 linalg::multi_dot({formB(), formA()}));
}

TEST(LinalgForms, MisuseOfSpecialFormsIsRefused) {
  EXPECT_MESSAGE(ShapeError, "circulant: takes vectors, or batches of them, not float32[]",
                 linalg::circulant(scalar(1.0f)));
  EXPECT_MESSAGE(ShapeError, "hankel: takes vectors, or batches of them, not float32[]", linalg::hankel(scalar(1.0f)));
  EXPECT_MESSAGE(DTypeError, "toeplitz: ", linalg::toeplitz(tensor<double>({1, 2}), tensor<float>({1, 2})));
  EXPECT_MESSAGE(ValueError, "block_diag: takes one matrix or more", linalg::block_diag({}));
  EXPECT_MESSAGE(DTypeError, "block_diag: takes matrices of one type, not float64[4,4] and float32[2,2]",
                 linalg::block_diag({formA(), ones({2, 2})}));
  EXPECT_MESSAGE(ShapeError, "block_diag: the batch dimensions of",
                 linalg::block_diag({ones({2, 1, 1}), ones({3, 1, 1})}));
  EXPECT_MESSAGE(ValueError, "polar: the side is 'right' or 'left', not 'up'", linalg::polar(formA(), {.side = "up"}));
}

TEST(LinalgForms, PolarFactorsAreThoseOfSciPy) {
  const std::map<std::string, Tensor> matrices{
      {"square", formA()}, {"tall", formB()}, {"wide", transpose(formB())}, {"complex", formZ()}};
  for (const auto &[name, a] : matrices)
    for (const char *side : {"right", "left"}) {
      const std::vector<Tensor> found = nearlyAllWays(
          [&](const std::vector<Tensor> &x) {
            const auto [u, p] = linalg::polar(x[0], {.side = side});
            return std::vector<Tensor>{u, p};
          },
          {a});
      expectReference(found[0], "polar " + name + " " + side + " u");
      expectReference(found[1], "polar " + name + " " + side + " p");
    }
  const Body both = [](const std::vector<Tensor> &x) {
    const auto [u, p] = linalg::polar(x[0]);
    return matmul(u, p + 2);
  };
  expectMatrixDerivatives(both, {formA()});
  const Tensor batch = stack({formB(), 2 * formB()});
  expectAlike(linalg::polar(batch).p[1], linalg::polar(2 * formB()).p, false);
}

} // namespace calque::testing
