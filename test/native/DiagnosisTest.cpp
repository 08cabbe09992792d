// What messages say of C++ loops that can't be captured: the loop, the operation that is another one in the next
// iteration, and the way out.
#include "test/frontend/Testing.h"

#include <functional>
#include <string>
#include <vector>

using namespace calque;
using namespace calque::testing;

namespace {

std::string refusalOf(const std::function<Tensor(const Tensor &)> &f) {
  return errorOf<StateError>([&] { function(f)(scalar<double>(1.0)); });
}

} // namespace

TEST(NativeDiagnosis, NamesANumberThatChanges) {
  const std::string text = refusalOf([](const Tensor &x) {
    Tensor y = x;
    int i = 0;
    while (y < 100)
      y = y + 0.25 * ++i;
    return y;
  });
  EXPECT_CONTAINS(text,
                  "in the loop that decides at DiagnosisTest.cpp:24, add at DiagnosisTest.cpp:25 takes the C++ number");
  EXPECT_CONTAINS(text, "0.75 and then 1.0: make it a tensor that the loop changes; cond,");
}

TEST(NativeDiagnosis, NamesACountThatIsUsedBehindALoop) {
  EXPECT_CONTAINS(refusalOf([](const Tensor &x) {
                    Tensor y = x;
                    int n = 0;
                    for (; y < 100; ++n)
                      y = y * 1.5;
                    return y * n;
                  }),
                  "takes the C++ number 4.0 and then 5.0");
}

TEST(NativeDiagnosis, NamesAnIndexThatChanges) {
  const std::string text = refusalOf([](const Tensor &x) {
    Tensor rows = iota({400}, DType::Float64), y = x;
    for (int i = 0; y < 1000; ++i)
      y = y + rows[i % 400];
    return y;
  });
  EXPECT_CONTAINS(text, "x[i] at DiagnosisTest.cpp:");
  EXPECT_CONTAINS(text, "takes the C++ number 2 and then 3: make it a tensor");
}

TEST(NativeDiagnosis, NamesTensorsThatAHostIndexPicks) {
  EXPECT_CONTAINS(refusalOf([](const Tensor &x) {
                    std::vector<Tensor> all;
                    for (int i = 0; i < 64; ++i)
                      all.push_back(tensor<double>({0.1 * i, 1.0}));
                    Tensor y = x;
                    for (int i = 0; y < 1000; ++i)
                      y = y + sum(all[i % 64]);
                    return y;
                  }),
                  "takes another tensor from outside of the loop each time: stack() the tensors");
}

TEST(NativeDiagnosis, NamesOperationsThatDiffer) {
  EXPECT_CONTAINS(refusalOf([](const Tensor &x) {
                    Tensor y = x;
                    for (int i = 0; i < 30 && y < 50; ++i) {
                      y = y + 1;
                      for (int j = 0; j < i && y < 40; ++j)
                        y = y * 1.01;
                    }
                    return y;
                  }),
                  "in its place: a C++ number, flag or recursion decides which; decide on a tensor, and count by for "
                  "(Tensor i : range(n))");
}
