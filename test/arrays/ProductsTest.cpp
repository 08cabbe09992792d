// calque/arrays/products.h, and matmul of vectors, against NumPy.
#include "Testing.h"

using namespace calque;
using namespace calque::testing;
using Tensors = std::vector<Tensor>;

TEST(ArraysProducts, Dot) {
  const Checks product{.tolerance = 1e-14, .tolerance32 = 1e-5};
  for (const char *name : {"dot vectors", "dot matrices", "dot matrix vector", "dot scalar"})
    check(name, [](const Tensors &x) { return dot(x[0], x[1]); }, product);
  check("vdot", [](const Tensors &x) { return vdot(x[0], x[1]); }, product);
  check("inner", [](const Tensors &x) { return inner(x[0], x[1]); }, product);
  check("outer", [](const Tensors &x) { return outer(x[0], x[1]); }, product);
  EXPECT_EQ(dot(tensor({1, 2}), 3).to_vector<std::int32_t>(), (std::vector<std::int32_t>{3, 6}));
  EXPECT_EQ(dot(zeros({0}), zeros({0})).item<float>(), 0);
  EXPECT_EQ(outer(zeros({0}), ones({3})).shape(), (Shape{0, 3}));
  EXPECT_CONTAINS(errorOf<ShapeError>([] { dot(ones({2}), ones({3})); }), "dot: ");
  EXPECT_CONTAINS(errorOf<DTypeError>([] { inner(ones({2}), ones({2}, DType::Int32)); }), "inner: ");
}

TEST(ArraysProducts, MatricesAndVectors) {
  for (const char *name : {"matvec", "matvec batch"})
    check(name, [](const Tensors &x) { return matvec(x[0], x[1]); });
  check("vecmat", [](const Tensors &x) { return vecmat(x[0], x[1]); });
  for (const char *name : {"matmul vectors", "matmul row", "matmul column"})
    check(name, [](const Tensors &x) { return matmul(x[0], x[1]); });
  EXPECT_EQ(matmul(ones({2}), ones({3, 2}), {.transpose_b = true}).shape(), (Shape{3}));
  EXPECT_CONTAINS(errorOf<ShapeError>([] { matmul(ones({2}), ones({2, 3}), {.transpose_a = true}); }),
                  "matmul: a vector has no two dimensions to transpose; the shapes are [2] and [2,3]");
  EXPECT_CONTAINS(
      errorOf<ShapeError>([] { matmul(ones({}), ones({2, 3})); }),
      "matmul: a scalar is no matrix and no vector; the shapes are [] and [2,3]; a * b multiplies by a scalar");
  EXPECT_CONTAINS(errorOf<ShapeError>([] { matvec(ones({2}), ones({2})); }),
                  "matvec: the matrix must have rank 2 or more, not float32[2]");
  EXPECT_CONTAINS(errorOf<ShapeError>([] { vecmat(ones({}), ones({2, 2})); }),
                  "vecmat: the vector must have rank 1 or more, not float32[]");
}

TEST(ArraysProducts, Tensors) {
  for (const char *name : {"kron", "kron ranks"})
    check(name, [](const Tensors &x) { return kron(x[0], x[1]); });
  check("tensordot", [](const Tensors &x) { return tensordot(x[0], x[1]); }, {.tolerance32 = 1e-6});
  check("tensordot 1", [](const Tensors &x) { return tensordot(x[0], x[1], 1); });
  check("tensordot 0", [](const Tensors &x) { return tensordot(x[0], x[1], 0); });
  check("tensordot axes", [](const Tensors &x) { return tensordot(x[0], x[1], {0, -1}, {2, 0}); });
  EXPECT_EQ(kron(2, 3).item<std::int32_t>(), 6);
  EXPECT_EQ(kron(zeros({0, 2}), ones({3, 2})).shape(), (Shape{0, 4}));
  EXPECT_CONTAINS(errorOf<ValueError>([] { tensordot(ones({2}), ones({2, 3})); }),
                  "tensordot: there are no 2 axes to sum over in float32[2] and float32[2,3]");
  errorOf<ShapeError>([] { tensordot(ones({2, 3}), ones({2, 3}), 1); });
  EXPECT_CONTAINS(errorOf<ValueError>([] { tensordot(ones({2, 3}), ones({2, 3}), {0, 0}, {0, 1}); }),
                  "tensordot: axis 0 is given twice");
}

TEST(ArraysProducts, Cross) {
  check("cross", [](const Tensors &x) { return cross(x[0], x[1]); }, {.unknownSizes = false});
  check("cross axis", [](const Tensors &x) { return cross(x[0], x[1], 0); }, {.unknownSizes = false});
  check("cross broadcast", [](const Tensors &x) { return cross(x[0], x[1]); }, {.unknownSizes = false});
  auto batch = function([](const Tensor &x, const Tensor &y) { return cross(x, y); },
                        {.input_signature = {TensorSpec<float>({kDynamic, 3}), TensorSpec<float>({kDynamic, 3})}});
  expectSameBits(batch(eye(3), roll(eye(3), 1)), cross(eye(3), roll(eye(3), 1)));
  EXPECT_CONTAINS(errorOf<ShapeError>([] { cross(ones({4, 3}), ones({3, 4}), 0); }),
                  "cross: the vectors along axis 0 of float32[4,3] must have 3 elements, as is known while tracing");
}
