// Histograms: against counts by plain loops, and NumPy's numbers.
#include "test/operations/Structured.h"

#include <algorithm>

using namespace calque;
using namespace calque::testing;

namespace {
// Counts by comparing each element with each pair of edges.
std::vector<double> counted(const std::vector<double> &xs, const std::vector<double> &edges) {
  std::vector<double> counts(edges.size() - 1);
  for (double x : xs)
    for (std::size_t k = 0; k + 1 < edges.size(); ++k)
      counts[k] += x >= edges[k] && (x < edges[k + 1] || (k + 2 == edges.size() && x == edges[k + 1]));
  return counts;
}
} // namespace

TEST(Arrays, Histogram) {
  // The values of numpy.histogram(x, bins), NumPy 2.4.
  auto expectHistogram = [](const Tensor &x, std::int64_t bins, std::vector<double> counts, std::vector<double> edges) {
    auto f = [bins](const Tensor &a) {
      Histogram h = histogram(a, bins);
      return std::pair(h.counts, h.edges);
    };
    auto [found, between] = f(x);
    auto [compiledCounts, compiledEdges] = function(f)(x);
    expectSameBits(compiledCounts, found);
    expectSameBits(compiledEdges, between);
    EXPECT_EQ(found.dtype(), DType::Int64);
    EXPECT_EQ(between.dtype(), x.dtype());
    EXPECT_EQ(valuesOf(found), counts);
    ASSERT_EQ(between.size(), edges.size());
    for (std::size_t k = 0; k < edges.size(); ++k)
      EXPECT_DOUBLE_EQ(valuesOf(between)[k], edges[k]);
  };
  expectHistogram(tensor<double>({1, 2, 1}), 3, {2, 0, 1}, {1, 1 + 1. / 3, 1 + 2. / 3, 2});
  expectHistogram(tensor<double>({0, 0.5, 1, 1.5, 2, 2}), 4, {1, 1, 1, 3}, {0, 0.5, 1, 1.5, 2});
  expectHistogram(tensor<float>({1, 2, 3, 4, 5, 6}, {2, 3}), 5, {1, 1, 1, 1, 2}, {1, 2, 3, 4, 5, 6});
  expectHistogram(tensor<double>({3}), 2, {0, 1}, {2.5, 3, 3.5});
  expectHistogram(tensor<double>({-4, 4}), 1, {2}, {-4, 4});
  expectHistogram(zeros({0}), 2, {0, 0}, {0, 0.5, 1});
  expectHistogram(tensor<double>({7}, {}), 1, {1}, {6.5, 7.5});
  // Edges in float32 are rounded as NumPy rounds them: numpy.random.default_rng(5).uniform, rounded to three digits.
  expectHistogram(tensor<float>({2.22,  2.232,  1.061, 0.143,  -0.784, 0.533, 0.634,  -0.819, -0.805, 2.997,
                                 1.609, -0.062, 0.74,  2.897,  2.591,  2.377, 0.57,   0.972,  1.707,  -0.757,
                                 1.222, 0.086,  2.519, -0.743, 1.717,  2.48,  -0.091, 2.582,  2.489,  -0.926,
                                 1.83,  -0.995, 1.013, 0.747,  -0.187, 0.3,   2.225,  0.266,  -0.404, 1.794}),
                  7, {7, 6, 5, 6, 5, 4, 7},
                  {-0.9950000047683716, -0.42471426725387573, 0.14557147026062012, 0.7158571481704712,
                   1.2861429452896118, 1.8564287424087524, 2.4267144203186035, 2.996999979019165});
  expectHistogram(tensor<float>({0.459, 0.739, 0.288, 0.356, 0.74,  0.506, 0.505, 0.289, 0.112, 0.847,
                                 0.169, 0.776, 0.394, 0.861, 0.42,  0.849, 0.545, 0.292, 0.693, 0.64,
                                 0.647, 0.471, 0.278, 0.613, 0.186, 0.654, 0.608, 0.401, 0.739, 0.255}),
                  10, {3, 1, 4, 3, 3, 3, 2, 4, 4, 3},
                  {0.1120000034570694, 0.18690000474452972, 0.26179999113082886, 0.3367000222206116, 0.4115999937057495,
                   0.4865000247955322, 0.5613999962806702, 0.6362999677658081, 0.7111999988555908, 0.7861000299453735,
                   0.8610000014305115});
  expectHistogram(
      tensor<float>({78091.78,  159586.78, 76095.07,  142651.58, 122503.56, 188200.19, 198335.34, 144735.25, 161768.77,
                     30573.004, 142578.05, 169524.88, 80245.15,  110650.01, 95897.55,  191704.6,  63455.566, 80416.91,
                     183.957,   84036.91,  126287.22, 186992.22, 184735.31, 65469.96,  197772.2}),
      3, {4, 9, 12}, {183.95700073242188, 66234.4140625, 132284.875, 198335.34375});
  expectHistogram(
      tensor<float>({5.188, 5.823, 5.157, 5.405, 5.073, 5.858, 5.829, 5.14,  5.527, 5.258, 5.492, 5.553, 5.106, 5.864,
                     5.279, 5.447, 5.057, 5.003, 5.195, 5.342, 5.928, 5.89,  5.481, 5.455, 5.667, 5.859, 5.337, 5.794,
                     5.399, 5.594, 5.737, 5.501, 5.691, 5.697, 5.006, 5.039, 5.149, 5.214, 5.203, 5.049}),
      13, {6, 2, 6, 2, 2, 2, 5, 2, 1, 3, 1, 3, 5},
      {5.002999782562256, 5.074153423309326, 5.145307540893555, 5.216461181640625, 5.2876152992248535,
       5.358768939971924, 5.429923057556152, 5.501076698303223, 5.572230815887451, 5.6433844566345215, 5.71453857421875,
       5.78569221496582, 5.856846332550049, 5.927999973297119});
  // From the least number to the largest one, and of numbers that are no multiples of a step.
  const double most = std::numeric_limits<double>::max(), least = std::numeric_limits<double>::denorm_min();
  expectHistogram(tensor<double>({-most, 0, most}), 2, {1, 2}, {-most, 0, most});
  expectHistogram(tensor<double>({0, least, 2 * least}), 2, {1, 2}, {0, least, 2 * least});
  std::mt19937 random(33);
  for (DType dtype : {DType::Float32, DType::Float64})
    for (std::int64_t bins : {1, 3, 10, 100}) {
      Tensor x = cast(randomTensor(random, {50, 7}, -1, 3), dtype);
      Histogram h = histogram(x, bins);
      std::vector<double> edges = valuesOf(h.edges), xs = valuesOf(x);
      EXPECT_EQ(valuesOf(h.counts), counted(xs, edges));
      EXPECT_EQ(edges.front(), *std::min_element(xs.begin(), xs.end()));
      EXPECT_EQ(edges.back(), *std::max_element(xs.begin(), xs.end()));
      for (std::size_t k = 1; k + 1 < edges.size(); ++k)
        EXPECT_NEAR(edges[k], edges[0] + static_cast<double>(k) * (edges.back() - edges[0]) / static_cast<double>(bins),
                    dtype == DType::Float32 ? 1e-6 : 1e-14);
      auto open = function([bins](const Tensor &a) { return histogram(a, bins).counts; },
                           {.input_signature = {TensorSpec<>(dtype, {kDynamic, kDynamic})}});
      expectSameBits(open(x), h.counts);
      EXPECT_EQ(valuesOf(sum(open(zeros({0, 3}, dtype)))), std::vector<double>{0});
      expectBatched({batched([bins](const std::vector<Tensor> &in) { return histogram(in[0], bins).counts; },
                             {slice(x, {0, 0}, {5, 3})}, true)});
    }
}
