// Max pooling and its gradient against plain loops: the first largest element of a window gets the cotangent.
#include "test/codegen/Testing.h"

using namespace calque;
using namespace calque::testing;

namespace {

struct Pooling {
  Shape images;
  Axes window, strides;
  bool same;
};

void expectPooling(const Pooling &p, const Tensor &x) {
  SCOPED_TRACE(std::string(name_of(x.dtype())) + ": " + text(p.images) + " window " + text(p.window) + " strides " +
               text(p.strides) + (p.same ? " same" : " valid"));
  std::int64_t out[2], low[2];
  for (std::size_t i : {0u, 1u}) {
    std::int64_t size = p.images[i + 1];
    out[i] = p.same ? (size + p.strides[i] - 1) / p.strides[i] : (size - p.window[i]) / p.strides[i] + 1;
    low[i] = p.same ? std::max<std::int64_t>((out[i] - 1) * p.strides[i] + p.window[i] - size, 0) / 2 : 0;
  }
  std::mt19937 random(6);
  Shape shape{p.images[0], out[0], out[1], p.images[3]};
  Tensor g = wholes(random, shape, x.dtype());
  auto f = compile([&](const std::vector<Tensor> &in) {
    GradientTape tape;
    tape.watch(in[0]);
    Tensor y = max_pool2d(in[0], p.window, p.strides, p.same ? "same" : "valid");
    return std::vector<Tensor>{y, *tape.gradient(sum(y * in[1]), in[0])};
  });
  std::vector<double> xs = valuesOf(x), gs = valuesOf(g), largest(gs.size()), gradient(xs.size(), 0);
  for (std::size_t i = 0; i < gs.size(); ++i) {
    Shape at = unravel(static_cast<std::int64_t>(i), shape);
    std::int64_t best = -1;
    for (std::int64_t k = 0; k < p.window[0] * p.window[1]; ++k) {
      std::int64_t row = at[1] * p.strides[0] + k / p.window[1] - low[0],
                   column = at[2] * p.strides[1] + k % p.window[1] - low[1];
      if (row < 0 || row >= p.images[1] || column < 0 || column >= p.images[2])
        continue;
      std::int64_t candidate = ravel({at[0], row, column, at[3]}, p.images);
      if (best < 0 || (!std::isnan(xs[best]) && (xs[candidate] > xs[best] || std::isnan(xs[candidate]))))
        best = candidate;
    }
    largest[i] = xs[best];
    gradient[best] += gs[i];
  }
  std::vector<Tensor> found = f({x, g});
  {
    SCOPED_TRACE("forward");
    expectElements(found[0], shape, largest);
  }
  SCOPED_TRACE("gradient");
  expectElements(found[1], p.images, gradient);
}

void expectPoolings(const Pooling &p) {
  std::mt19937 random(8);
  for (DType dtype : {DType::Float32, DType::Float64})
    expectPooling(p, wholes(random, p.images, dtype)); // 17 values: many ties
}

} // namespace

TEST(Pooling, OfWindowsThatTile) {
  expectPoolings({{3, 8, 6, 5}, {2, 2}, {2, 2}, false});
  expectPoolings({{2, 7, 9, 17}, {2, 2}, {2, 2}, false});
  expectPoolings({{1, 9, 7, 33}, {3, 2}, {3, 2}, false});
  expectPoolings({{2, 5, 5, 1}, {1, 1}, {1, 1}, false});
  expectPoolings({{4, 28, 28, 16}, {2, 2}, {2, 2}, false});
}

TEST(Pooling, OfWindowsThatTileWithBorders) {
  expectPoolings({{2, 7, 9, 3}, {2, 2}, {2, 2}, true});
  expectPoolings({{2, 10, 10, 4}, {5, 5}, {5, 5}, false});
}

TEST(Pooling, OfWindowsThatOverlapOrLeaveGaps) {
  expectPoolings({{2, 8, 7, 5}, {3, 3}, {2, 2}, false});
  expectPoolings({{1, 6, 6, 17}, {3, 3}, {1, 1}, true});
  expectPoolings({{1, 11, 7, 3}, {2, 1}, {3, 2}, true});
}

TEST(Pooling, OfNotANumber) {
  std::mt19937 random(10);
  Shape shape{2, 6, 6, 9};
  std::vector<double> values = valuesOf(wholes(random, shape, DType::Float64));
  for (double &value : values)
    value = random() % 5 == 0 ? NAN : random() % 5 == 0 ? -INFINITY : value;
  for (DType dtype : {DType::Float32, DType::Float64}) {
    expectPooling({shape, {2, 2}, {2, 2}, false}, makeTensor(dtype, values, shape));
    expectPooling({shape, {3, 3}, {2, 2}, true}, makeTensor(dtype, values, shape));
    expectPooling({shape, {2, 2}, {2, 2}, false},
                  makeTensor(dtype, std::vector<double>(values.size(), -INFINITY), shape));
  }
}

TEST(Pooling, OfWindowsThatAreLargerThanTheImage) {
  expectPoolings({{1, 1, 9, 8}, {1, 2312}, {1, 2}, true});
  expectPoolings({{2, 9, 11, 3}, {9, 8}, {2, 3}, false});
  expectPoolings({{2, 5, 7, 3}, {9, 14}, {2, 3}, true});
  expectPoolings({{1, 6, 1, 5}, {7, 30}, {5, 1}, true});
  expectPoolings({{2, 1, 1, 3}, {2, 2}, {2, 2}, true});
  expectPoolings({{2, 2, 4, 3}, {5, 4}, {2, 4}, true});
}

// What is padded and looped over is the part of a window that meets the image: 10^18 elements would fit no memory.
TEST(Pooling, OfWindowsThatNoMemoryHolds) {
  Tensor x = tensor({3.0f, 1.0f, 2.0f, 5.0f, 4.0f, 0.0f}, {1, 2, 3, 1});
  std::int64_t huge = 1000000000;
  auto pooled = [&](const Tensor &x) { return max_pool2d(x, {huge, huge}, {1, 2}, "same"); };
  EXPECT_EQ(pooled(x).shape(), (Shape{1, 2, 2, 1}));
  EXPECT_EQ(pooled(x).to_vector<float>(), std::vector<float>(4, 5));
  EXPECT_EQ(grad([&](const Tensor &x) { return sum(pooled(x)); })(x).to_vector<float>(),
            (std::vector<float>{0, 0, 0, 4, 0, 0}));
}
