// Tests runtime/Print.h: tensors as text, and who gets to print them.
#include "runtime/Print.h"

#include <cstdint>
#include <gtest/gtest.h>
#include <initializer_list>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

using namespace calque::runtime;

namespace {

template <typename T>
constexpr int32_t dtypeOf = std::is_same_v<T, uint8_t>   ? 0
                            : std::is_same_v<T, int32_t> ? 1
                            : std::is_same_v<T, int64_t> ? 2
                            : std::is_same_v<T, float>   ? 3
                                                         : 4;

template <typename T> std::string text(std::vector<int64_t> dims, std::vector<T> values) {
  return formatTensor(dtypeOf<T>, dims, values.data());
}

template <typename T> std::string counting(std::vector<int64_t> dims) {
  int64_t count = 1;
  for (int64_t size : dims)
    count *= size;
  std::vector<T> values(static_cast<size_t>(count));
  std::iota(values.begin(), values.end(), T(0));
  return text<T>(dims, values);
}

TEST(FormatTensorTest, RankZeroIsTheBareValue) {
  EXPECT_EQ(text<int32_t>({}, {-5}), "-5");
  EXPECT_EQ(text<float>({}, {0.5f}), "0.5");
  EXPECT_EQ(text<uint8_t>({}, {1}), "True");
}

TEST(FormatTensorTest, RanksNestBrackets) {
  EXPECT_EQ(counting<int32_t>({3}), "[0 1 2]");
  EXPECT_EQ(counting<int32_t>({1}), "[0]");
  EXPECT_EQ(counting<int32_t>({2, 2}), "[[0 1]\n [2 3]]");
  EXPECT_EQ(counting<int32_t>({2, 1}), "[[0]\n [1]]");
  EXPECT_EQ(counting<int32_t>({2, 2, 2}), "[[[0 1]\n  [2 3]]\n\n [[4 5]\n  [6 7]]]");
  EXPECT_EQ(counting<int32_t>({2, 1, 1, 1}), "[[[[0]]]\n\n\n [[[1]]]]");
}

TEST(FormatTensorTest, NoElementsAreEmptyBrackets) {
  EXPECT_EQ(formatTensor(3, std::vector<int64_t>{0}, nullptr), "[]");
  EXPECT_EQ(formatTensor(3, std::vector<int64_t>{0, 3}, nullptr), "[]");
  EXPECT_EQ(formatTensor(3, std::vector<int64_t>{3, 0}, nullptr), "[]");
}

TEST(FormatTensorTest, BoolsAreWords) { EXPECT_EQ(text<uint8_t>({3}, {1, 0, 2}), "[True False True]"); }

TEST(FormatTensorTest, IntegersReachTheirLimits) {
  EXPECT_EQ(text<int32_t>({2}, {INT32_MIN, INT32_MAX}), "[-2147483648 2147483647]");
  EXPECT_EQ(text<int64_t>({2}, {INT64_MIN, INT64_MAX}), "[-9223372036854775808 9223372036854775807]");
}

TEST(FormatTensorTest, FloatsAreShortestWithATrailingDot) {
  EXPECT_EQ(text<float>({4}, {1, 0.5f, 0.1f, -2}), "[1. 0.5 0.1 -2.]");
  EXPECT_EQ(text<double>({3}, {0.1, 1.0 / 3, 100000}), "[0.1 0.3333333333333333 100000.]");
  EXPECT_EQ(text<float>({1}, {1.0f / 3}), "[0.33333334]");
  EXPECT_EQ(text<float>({2}, {0.0f, -0.0f}), "[0. -0.]");
  EXPECT_EQ(text<float>({1}, {16777216}), "[16777216.]");
}

TEST(FormatTensorTest, FarMagnitudesHaveExponents) {
  EXPECT_EQ(text<double>({4}, {99999999, 1e8, 1e-4, 0.5e-4}), "[99999999. 1.e+08 0.0001 5.e-05]");
  EXPECT_EQ(text<double>({2}, {1.5e300, -1e-300}), "[1.5e+300 -1.e-300]");
  EXPECT_EQ(text<float>({1}, {1e-4f}), "[0.0001]");
  EXPECT_EQ(text<float>({2}, {std::numeric_limits<float>::max(), std::numeric_limits<float>::denorm_min()}),
            "[3.4028235e+38 1.e-45]");
}

TEST(FormatTensorTest, NonFiniteValuesAreWords) {
  constexpr float Inf = std::numeric_limits<float>::infinity(), NaN = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(text<float>({4}, {NaN, -NaN, Inf, -Inf}), "[nan nan inf -inf]");
  EXPECT_EQ(text<double>({3}, {NaN, Inf, -Inf}), "[nan inf -inf]");
}

TEST(FormatTensorTest, MoreThanAThousandElementsAreShortened) {
  EXPECT_EQ(counting<int32_t>({1000}).find("..."), std::string::npos);
  EXPECT_EQ(counting<int32_t>({1001}), "[0 1 2 ... 998 999 1000]");
  EXPECT_EQ(counting<int32_t>({3, 1000}), "[[0 1 2 ... 997 998 999]\n"
                                          " [1000 1001 1002 ... 1997 1998 1999]\n"
                                          " [2000 2001 2002 ... 2997 2998 2999]]");
  EXPECT_EQ(counting<int32_t>({501, 2}), "[[0 1]\n [2 3]\n [4 5]\n ...\n [996 997]\n [998 999]\n [1000 1001]]");
  EXPECT_EQ(counting<int32_t>({1001, 1, 1}),
            "[[[0]]\n\n [[1]]\n\n [[2]]\n\n ...\n\n [[998]]\n\n [[999]]\n\n [[1000]]]");
  // Dimensions of up to six have no middle.
  EXPECT_EQ(counting<int32_t>({1, 6, 200}).find("\n  ..."), std::string::npos);
  EXPECT_NE(counting<int32_t>({1, 7, 200}).find("\n  ...\n"), std::string::npos);
}

TEST(FormatTensorTest, UnknownDtypesAreRefused) {
  EXPECT_THROW(formatTensor(5, {}, nullptr), std::invalid_argument);
  EXPECT_THROW(formatTensor(-1, {}, nullptr), std::invalid_argument);
}

struct Recorder : HostCallbacks {
  Recorder()
      : HostCallbacks{[](void *self, int32_t site, int32_t dtype, int32_t rank, const int64_t *dims, const void *data) {
          static_cast<Recorder *>(self)->lines.push_back(std::to_string(site) + ": " +
                                                         formatTensor(dtype, {dims, static_cast<size_t>(rank)}, data));
        }} {}
  std::vector<std::string> lines;
};

const int64_t Two[] = {2};
const float Values[] = {1, 2.5f};

TEST(PrintTest, HandsTheTensorToTheHost) {
  Recorder recorder;
  CalqueCallFrame frame{};
  frame.host = static_cast<HostCallbacks *>(&recorder);
  calque_rt_print(&frame, 4, 3, 1, Two, Values);
  calque_rt_print(&frame, 5, 3, 0, nullptr, Values + 1);
  EXPECT_EQ(recorder.lines, (std::vector<std::string>{"4: [1. 2.5]", "5: 2.5"}));
}

TEST(PrintTest, PrintsNothingAfterAFailure) {
  Recorder recorder;
  CalqueCallFrame frame{};
  frame.host = static_cast<HostCallbacks *>(&recorder);
  calque_rt_print(&frame, 1, 3, 1, Two, Values);
  calque_rt_fail(&frame, 2, 0, 0);
  calque_rt_print(&frame, 3, 3, 1, Two, Values);
  EXPECT_EQ(recorder.lines, std::vector<std::string>{"1: [1. 2.5]"});
}

TEST(PrintTest, AFrameWithoutAHandlerIsQuiet) {
  CalqueCallFrame frame{};
  calque_rt_print(&frame, 1, 3, 1, Two, Values);
  HostCallbacks none{nullptr};
  frame.host = &none;
  calque_rt_print(&frame, 1, 3, 1, Two, Values);
  EXPECT_EQ(frame.error.failed, 0);
}

} // namespace
