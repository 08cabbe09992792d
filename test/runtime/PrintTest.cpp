// Tests runtime/Print.h: tensors as text, and who gets to print them.
#include "runtime/Print.h"
#include "calque/dtype.h"
#include "runtime/Assertions.h"

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

constexpr double Inf = std::numeric_limits<double>::infinity(), NaN = std::numeric_limits<double>::quiet_NaN();

// The expected texts of FormatTensorTest come from str() of NumPy 2.4.6.

TEST(FormatTensorTest, RankZeroIsTheBareValue) {
  EXPECT_EQ(text<int32_t>({}, {-5}), "-5");
  EXPECT_EQ(text<uint8_t>({}, {1}), "True");
  EXPECT_EQ(text<uint8_t>({}, {0}), "False");
  EXPECT_EQ(text<float>({}, {0.5f}), "0.5");
  EXPECT_EQ(text<float>({}, {6}), "6.0");
  EXPECT_EQ(text<double>({}, {-0.0}), "-0.0");
  EXPECT_EQ(text<double>({}, {0.3333333333333333}), "0.3333333333333333");
  EXPECT_EQ(text<float>({}, {1e-20f}), "1e-20");
  EXPECT_EQ(text<float>({}, {999999}), "999999.0");
  EXPECT_EQ(text<float>({}, {1000000}), "1e+06");
  EXPECT_EQ(text<double>({}, {1000000000000000}), "1000000000000000.0");
  EXPECT_EQ(text<double>({}, {1e+16}), "1e+16");
  EXPECT_EQ(text<double>({}, {0.0001}), "0.0001");
  EXPECT_EQ(text<double>({}, {9.9e-05}), "9.9e-05");
  EXPECT_EQ(text<double>({}, {NaN}), "nan");
  EXPECT_EQ(text<double>({}, {-Inf}), "-inf");
}

TEST(FormatTensorTest, RanksNestBrackets) {
  EXPECT_EQ(counting<int32_t>({3}), "[0 1 2]");
  EXPECT_EQ(counting<int32_t>({1}), "[0]");
  EXPECT_EQ(counting<int32_t>({2, 2}), "[[0 1]\n"
                                       " [2 3]]");
  EXPECT_EQ(counting<int32_t>({2, 1}), "[[0]\n"
                                       " [1]]");
  EXPECT_EQ(counting<int32_t>({2, 2, 2}), "[[[0 1]\n"
                                          "  [2 3]]\n"
                                          "\n"
                                          " [[4 5]\n"
                                          "  [6 7]]]");
  EXPECT_EQ(counting<int32_t>({2, 1, 1, 1}), "[[[[0]]]\n"
                                             "\n"
                                             "\n"
                                             " [[[1]]]]");
  EXPECT_EQ(counting<float>({2, 2, 1, 2}), "[[[[0. 1.]]\n"
                                           "\n"
                                           "  [[2. 3.]]]\n"
                                           "\n"
                                           "\n"
                                           " [[[4. 5.]]\n"
                                           "\n"
                                           "  [[6. 7.]]]]");
}

TEST(FormatTensorTest, ElementsOfATensorHaveOneWidth) {
  EXPECT_EQ(text<int32_t>({2, 2}, {2, 6, 12, 20}), "[[ 2  6]\n"
                                                   " [12 20]]");
  EXPECT_EQ(text<int32_t>({3}, {-1, 10, 0}), "[-1 10  0]");
  EXPECT_EQ(text<uint8_t>({2}, {1, 0}), "[ True False]");
  EXPECT_EQ(text<uint8_t>({2, 1}, {1, 1}), "[[ True]\n"
                                           " [ True]]");
  EXPECT_EQ(text<float>({2}, {4, 108}), "[  4. 108.]");
  EXPECT_EQ(text<float>({2}, {0.9375f, 1.5f}), "[0.9375 1.5   ]");
  EXPECT_EQ(text<float>({2, 2}, {1.5f, -2, 3, 4}), "[[ 1.5 -2. ]\n"
                                                   " [ 3.   4. ]]");
  EXPECT_EQ(text<float>({4}, {1, 0.5f, 0.1f, -2}), "[ 1.   0.5  0.1 -2. ]");
  EXPECT_EQ(text<int64_t>({2}, {INT64_MIN, INT64_MAX}), "[-9223372036854775808  9223372036854775807]");
  EXPECT_EQ(text<int32_t>({2}, {INT32_MIN, INT32_MAX}), "[-2147483648  2147483647]");
}

TEST(FormatTensorTest, FloatsHaveEightDigitsBehindThePoint) {
  EXPECT_EQ(text<float>({3}, {0, 0.3576622f, 0.041058064f}), "[0.         0.3576622  0.04105806]");
  EXPECT_EQ(text<double>({3}, {0.1, 0.3333333333333333, 100}), "[  0.1          0.33333333 100.        ]");
  EXPECT_EQ(text<float>({1}, {0.3333333333333333f}), "[0.33333334]");
  EXPECT_EQ(text<double>({2}, {0.999999999, 0.123456785}), "[1.         0.12345678]");
  EXPECT_EQ(text<float>({2}, {0, -0.0f}), "[ 0. -0.]");
}

TEST(FormatTensorTest, FarMagnitudesHaveExponents) {
  EXPECT_EQ(text<float>({2}, {1e-08f, 1}), "[1.e-08 1.e+00]");
  EXPECT_EQ(text<double>({3}, {0, -0.0, 1e-08}), "[ 0.e+00 -0.e+00  1.e-08]");
  EXPECT_EQ(text<double>({2}, {1000, 1}), "[1000.    1.]");
  EXPECT_EQ(text<double>({2}, {1001, 1}), "[1.001e+03 1.000e+00]");
  EXPECT_EQ(text<double>({1}, {99999999}), "[99999999.]");
  EXPECT_EQ(text<double>({1}, {100000000}), "[1.e+08]");
  EXPECT_EQ(text<float>({2}, {999999, 1000}), "[999999.   1000.]");
  EXPECT_EQ(text<float>({1}, {1000000}), "[1.e+06]");
  EXPECT_EQ(text<float>({1}, {67108872}), "[6.710887e+07]");
  EXPECT_EQ(text<double>({2}, {0.0001, 0.05}), "[0.0001 0.05  ]");
  EXPECT_EQ(text<double>({1}, {5e-05}), "[5.e-05]");
  EXPECT_EQ(text<double>({2}, {1.5e+300, -1e-30}), "[ 1.5e+300 -1.0e-030]");
  EXPECT_EQ(text<double>({2}, {1.23456789012e-07, -25}), "[ 1.23456789e-07 -2.50000000e+01]");
  EXPECT_EQ(text<float>({2}, {std::numeric_limits<float>::max(), std::numeric_limits<float>::denorm_min()}),
            "[3.4028235e+38 1.4012985e-45]");
}

TEST(FormatTensorTest, NonFiniteValuesAreWords) {
  EXPECT_EQ(text<double>({4}, {NaN, -NaN, Inf, -Inf}), "[ nan  nan  inf -inf]");
  EXPECT_EQ(text<double>({1}, {NaN}), "[nan]");
  EXPECT_EQ(text<double>({2}, {NaN, 1.5}), "[nan 1.5]");
  EXPECT_EQ(text<double>({4}, {NaN, Inf, 1e-09, -2}), "[    nan     inf  1.e-09 -2.e+00]");
  EXPECT_EQ(text<double>({2, 2}, {1, -Inf, 0.25, 100}), "[[  1.     -inf]\n"
                                                        " [  0.25 100.  ]]");
}

TEST(FormatTensorTest, LinesBreakAt75) {
  EXPECT_EQ(counting<int32_t>({40}), "[ 0  1  2  3  4  5  6  7  8  9 10 11 12 13 14 15 16 17 18 19 20 21 22 23\n"
                                     " 24 25 26 27 28 29 30 31 32 33 34 35 36 37 38 39]");
  EXPECT_EQ(
      text<double>({2, 8}, {0.3333333333333333, -0.3333333333333333, 0.6666666666666666, 0.1, 12, -0.1111111111111111,
                            0.14285714285714285, 10, 0.5, 0.09090909090909091, 2, 3, 4, 5, 6, 7}),
      "[[ 0.33333333 -0.33333333  0.66666667  0.1        12.         -0.11111111\n"
      "   0.14285714 10.        ]\n"
      " [ 0.5         0.09090909  2.          3.          4.          5.\n"
      "   6.          7.        ]]");
}

TEST(FormatTensorTest, MoreThanAThousandElementsAreShortened) {
  EXPECT_EQ(counting<int32_t>({1000}).find("..."), std::string::npos);
  EXPECT_EQ(counting<int32_t>({1001}), "[   0    1    2 ...  998  999 1000]");
  EXPECT_EQ(counting<float>({2000}), "[0.000e+00 1.000e+00 2.000e+00 ... 1.997e+03 1.998e+03 1.999e+03]");
  EXPECT_EQ(counting<int32_t>({3, 1000}), "[[   0    1    2 ...  997  998  999]\n"
                                          " [1000 1001 1002 ... 1997 1998 1999]\n"
                                          " [2000 2001 2002 ... 2997 2998 2999]]");
  EXPECT_EQ(counting<int32_t>({501, 2}), "[[   0    1]\n"
                                         " [   2    3]\n"
                                         " [   4    5]\n"
                                         " ...\n"
                                         " [ 996  997]\n"
                                         " [ 998  999]\n"
                                         " [1000 1001]]");
  EXPECT_EQ(counting<int32_t>({1001, 1, 1}), "[[[   0]]\n"
                                             "\n"
                                             " [[   1]]\n"
                                             "\n"
                                             " [[   2]]\n"
                                             "\n"
                                             " ...\n"
                                             "\n"
                                             " [[ 998]]\n"
                                             "\n"
                                             " [[ 999]]\n"
                                             "\n"
                                             " [[1000]]]");
  // Dimensions of up to six have no middle.
  EXPECT_EQ(counting<int32_t>({1, 6, 200}).find("\n  ..."), std::string::npos);
  EXPECT_NE(counting<int32_t>({1, 7, 200}).find("\n  ...\n"), std::string::npos);
  // What is not shown has no say in the width.
  std::vector<int32_t> hidden(1001, 7);
  hidden[500] = 1000000;
  EXPECT_EQ(text<int32_t>({1001}, hidden), "[7 7 7 ... 7 7 7]");
}

TEST(FormatTensorTest, NoElementsAreEmptyBrackets) {
  EXPECT_EQ(formatTensor(3, std::vector<int64_t>{0}, nullptr), "[]");
  EXPECT_EQ(formatTensor(3, std::vector<int64_t>{0, 3}, nullptr), "[]");
  EXPECT_EQ(formatTensor(3, std::vector<int64_t>{3, 0}, nullptr), "[]");
}

TEST(FormatTensorTest, EveryByteButZeroIsTrue) { EXPECT_EQ(text<uint8_t>({3}, {1, 0, 2}), "[ True False  True]"); }

TEST(FormatTensorTest, UnknownDtypesAreRefused) {
  EXPECT_THROW(formatTensor(static_cast<int32_t>(std::size(calque::kDTypes)), {}, nullptr), std::invalid_argument);
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

const float Values[] = {1, 2.5f};

int64_t word(const void *address) { return reinterpret_cast<int64_t>(address); }

void print(CalqueCallFrame &frame, int32_t site) {
  const int64_t words[] = {word(&frame), site, 3, 1, word(Values), 2};
  calque_rt_print(words);
}

TEST(PrintTest, HandsTheTensorToTheHost) {
  Recorder recorder;
  CalqueCallFrame frame{};
  frame.host = static_cast<HostCallbacks *>(&recorder);
  print(frame, 4);
  const int64_t scalar[] = {word(&frame), 5, 3, 0, word(Values + 1)};
  calque_rt_print(scalar);
  EXPECT_EQ(recorder.lines, (std::vector<std::string>{"4: [1.  2.5]", "5: 2.5"}));
}

TEST(PrintTest, PrintsNothingAfterAFailure) {
  Recorder recorder;
  CalqueCallFrame frame{};
  frame.host = static_cast<HostCallbacks *>(&recorder);
  print(frame, 1);
  calque_rt_fail(&frame, 2, 0, 0);
  print(frame, 3);
  EXPECT_EQ(recorder.lines, std::vector<std::string>{"1: [1.  2.5]"});
}

TEST(PrintTest, AFrameWithoutAHandlerIsQuiet) {
  CalqueCallFrame frame{};
  print(frame, 1);
  HostCallbacks none{nullptr};
  frame.host = &none;
  print(frame, 1);
  EXPECT_EQ(frame.error.failed, 0);
}

// Nothing has compared sizes that only a call knows.
TEST(PrintTest, AFailureShowsNoElementThatATensorHasNot) {
  const unsigned char holds[] = {1, 1, 0, 0};
  const int64_t four[] = {4}, one[] = {1}, three[] = {3}, none[] = {0};
  const float elements[] = {5, 6, 7};
  const ShownTensor shown[] = {{3, elements, one}, {3, elements, three}, {3, elements, none}};
  EXPECT_EQ(describeFailed(holds, four, shown),
            "; 2 of 4 elements fail: 5.0 and 7.0 and nothing at [2], 5.0 and nothing and nothing at [3]");
}

} // namespace
