#include "runtime/libraries/FourierPlan.h"

#include <algorithm>
#include <cmath>
#include <list>
#include <mutex>
#include <new>

namespace calque::runtime {

namespace {

constexpr long double kPi = 3.141592653589793238462643383279502884L;

struct Root {
  long double re, im;
};

// exp(-2 pi i k / n), to more digits than float64 has: by the first eighth of the circle.
Root rootOf(int64_t k, int64_t n) {
  // 8 k / n says the eighth, k % n the place in the circle.
  const int64_t eighth = static_cast<int64_t>(static_cast<__int128>(8) * k / n);
  auto part = [&](int64_t over) { // the angle of 2 pi over / (8 n)
    return 2 * kPi * static_cast<long double>(over) / (8 * static_cast<long double>(n));
  };
  const int64_t rest = 8 * k - eighth * n; // of 8 n for the circle
  const long double angle = part(eighth % 2 ? n - rest : rest);
  const long double c = std::cos(angle), s = std::sin(angle);
  switch (eighth) {
  case 0:
    return {c, -s};
  case 1:
    return {s, -c};
  case 2:
    return {-s, -c};
  case 3:
    return {-c, -s};
  case 4:
    return {-c, s};
  case 5:
    return {-s, c};
  case 6:
    return {s, c};
  default:
    return {c, s};
  }
}

// All roots exp(-2 pi i k / n): each is a product of two from tables of about the square root of n.
class Roots {
public:
  explicit Roots(int64_t n) : n(n), step(1) {
    while (step * step < n)
      step *= 2;
    for (int64_t k = 0; k < step && k < n; ++k)
      fine.push_back(rootOf(k, n));
    for (int64_t k = 0; k < n; k += step)
      coarse.push_back(rootOf(k, n));
  }
  Root operator()(int64_t k) const {
    k %= n;
    const Root a = fine[static_cast<std::size_t>(k % step)], b = coarse[static_cast<std::size_t>(k / step)];
    return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
  }

private:
  int64_t n, step;
  std::vector<Root> fine, coarse;
};

template <typename T> void put(T *to, Root root) {
  to[0] = static_cast<T>(root.re);
  to[1] = static_cast<T>(root.im);
}

// Sequences up to this length, in bytes, are worked on as a whole; what is longer would leave the cache.
constexpr int64_t kMostWholeBytes = 1 << 18;

} // namespace

//===-- Memory and passes -----------------------------------------------------------------------===//

template <typename T>
FourierMemory<T>::FourierMemory(int64_t count)
    : numbers(static_cast<T *>(::operator new(static_cast<std::size_t>(std::max<int64_t>(count, 1)) * sizeof(T),
                                              std::align_val_t(kFourierAlignment)))) {}
template <typename T> void FourierMemory<T>::Free::operator()(T *numbers) const {
  ::operator delete(numbers, std::align_val_t(kFourierAlignment));
}

template <typename T> std::vector<int64_t> FourierDivision<T>::radices(int64_t length) {
  std::vector<int64_t> radices;
  int twos = 0;
  for (; length % 2 == 0; length /= 2)
    ++twos;
  // Eights, but no single 2 that a 4 can take in.
  const int fours = twos % 3 == 2 ? 1 : twos % 3 == 1 && twos > 1 ? 2 : 0;
  radices.assign(static_cast<std::size_t>((twos - 2 * fours) / 3), 8);
  radices.insert(radices.end(), static_cast<std::size_t>(fours), 4);
  if (twos == 1)
    radices.push_back(2);
  for (int64_t factor = 3; factor <= kMostRadix && length > 1; factor += 2)
    for (; length % factor == 0; length /= factor)
      radices.push_back(factor);
  if (length > 1)
    radices.clear();
  return radices;
}

template <typename T> FourierDivision<T>::FourierDivision(int64_t given) : length(given) {
  const std::vector<int64_t> factors = radices(given);
  int64_t size = 0, count = given;
  for (int64_t radix : factors) {
    count /= radix;
    size += 2 * (radix - 1) * count + 2 * radix;
  }
  numbers = FourierMemory<T>(size);
  T *next = numbers.get();
  const Roots roots(given);
  int64_t stride = 1;
  count = given;
  for (int64_t radix : factors) {
    count /= radix;
    FourierPass<T> pass{radix, count, stride, next, nullptr};
    for (int64_t p = 0; p < count; ++p)
      for (int64_t j = 1; j < radix; ++j, next += 2)
        put(next, roots(j * p * stride));
    pass.roots = next;
    for (int64_t j = 0; j < radix; ++j, next += 2)
      put(next, roots(given / radix * j));
    all.push_back(pass);
    stride *= radix;
  }
}

//===-- Plans -----------------------------------------------------------------------------------===//

namespace {

// The divisor of n that is nearest to its root from below, or 0 if it or its quotient has less than `least`.
int64_t middleDivisor(int64_t n, int64_t least) {
  for (auto divisor = static_cast<int64_t>(std::sqrt(static_cast<double>(n))) + 1; divisor >= least; --divisor)
    if (n % divisor == 0 && n / divisor >= divisor)
      return divisor;
  return 0;
}

// The smallest length from `least` on that is a multiple of `of` and else has the factors 2, 3 and 5 alone.
int64_t smoothLength(int64_t least, int64_t of) {
  int64_t best = of;
  while (best < least)
    best *= 2;
  for (int64_t fives = of; fives < best; fives *= 5)
    for (int64_t threes = fives; threes < best; threes *= 3) {
      int64_t length = threes;
      while (length < least)
        length *= 2;
      best = std::min(best, length);
    }
  return best;
}

template <typename T> void planBluestein(FourierPlan<T> &plan, int64_t lanes) {
  const int64_t n = plan.n, m = smoothLength(2 * n - 1, lanes * lanes);
  plan.way = FourierPlan<T>::Way::Bluestein;
  plan.longer = fourierPlan<T>(m, FourierUse::Dense);
  plan.chirp = FourierMemory<T>(2 * n);
  plan.conjugate = FourierMemory<T>(2 * n);
  plan.spectrum = FourierMemory<T>(2 * m);
  FourierMemory<T> filter(2 * m);
  std::fill_n(filter.get(), 2 * m, T(0));
  const Roots roots(2 * n);
  int64_t square = 0; // j j modulo 2 n
  for (int64_t j = 0; j < n; ++j) {
    const Root root = roots(square);
    square = (square + 2 * j + 1) % (2 * n);
    put(&plan.chirp[2 * j], root);
    put(&plan.conjugate[2 * j], {root.re, -root.im});
    const Root scaled{root.re / static_cast<long double>(m), -root.im / static_cast<long double>(m)};
    put(&filter[2 * j], scaled);
    if (j)
      put(&filter[2 * (m - j)], scaled);
  }
  transformRows<T>(*plan.longer, 1, filter.get(), 2 * m, plan.spectrum.get(), 2 * m, {1, 1});
}

template <typename T> void planDense(FourierPlan<T> &plan, int64_t lanes) {
  using Way = typename FourierPlan<T>::Way;
  const int64_t n = plan.n;
  if (n > 1 && FourierDivision<T>::radices(n).empty())
    return planBluestein(plan, lanes);
  const int64_t bytes = 2 * n * static_cast<int64_t>(sizeof(T));
  if (n % lanes == 0 && n / lanes >= lanes && bytes <= kMostWholeBytes) {
    const int64_t m = n / lanes, groups = (m + lanes - 1) / lanes;
    plan.way = Way::Whole;
    plan.first = FourierDivision<T>(m);
    plan.twiddles = FourierMemory<T>(groups * (lanes - 1) * 2 * lanes);
    T *next = plan.twiddles.get();
    const Roots roots(n);
    for (int64_t group = 0; group < groups; ++group) {
      const int64_t first = std::min(group * lanes, m - lanes);
      for (int64_t b = 1; b < lanes; ++b, next += 2 * lanes)
        for (int64_t v = 0; v < lanes; ++v) {
          const Root root = roots(b * (first + v));
          next[v] = static_cast<T>(root.re);
          next[lanes + v] = static_cast<T>(root.im);
        }
    }
    return;
  }
  if (const int64_t length = middleDivisor(n, lanes)) {
    const int64_t count = n / length, groups = (count + lanes - 1) / lanes;
    plan.way = Way::TwoSteps;
    plan.first = FourierDivision<T>(count);
    plan.second = FourierDivision<T>(length);
    plan.twiddles = FourierMemory<T>(2 * groups * length);
    plan.fine = FourierMemory<T>(2 * length * lanes);
    const Roots roots(n);
    for (int64_t group = 0; group < groups; ++group)
      for (int64_t b = 0; b < length; ++b)
        put(&plan.twiddles[2 * (group * length + b)], roots(b * std::min(group * lanes, count - lanes)));
    for (int64_t b = 0; b < length; ++b)
      for (int64_t v = 0; v < lanes; ++v) {
        const Root root = roots(b * v);
        plan.fine[2 * lanes * b + v] = static_cast<T>(root.re);
        plan.fine[2 * lanes * b + lanes + v] = static_cast<T>(root.im);
      }
    return;
  }
  plan.way = Way::Lanes;
  plan.first = FourierDivision<T>(n);
}

template <typename T> std::shared_ptr<const FourierPlan<T>> makePlan(int64_t n, FourierUse use) {
  const int64_t lanes = fourierKernels().of<T>().lanes;
  auto plan = std::make_shared<FourierPlan<T>>();
  plan->n = n;
  if (use == FourierUse::Columns && (n == 1 || !FourierDivision<T>::radices(n).empty())) {
    plan->way = FourierPlan<T>::Way::Lanes;
    plan->first = FourierDivision<T>(n);
  } else {
    planDense(*plan, lanes);
  }
  if (use == FourierUse::Pairs) {
    const Roots roots(2 * n);
    plan->half = FourierMemory<T>(2 * (n / 2 + 1));
    for (int64_t k = 0; k <= n / 2; ++k)
      put(&plan->half[2 * k], roots(k));
  }
  return plan;
}

// The latest plans, the very latest one first.
template <typename T> class Plans {
public:
  std::shared_ptr<const FourierPlan<T>> get(int64_t n, FourierUse use) {
    if (auto found = find(n, use))
      return found;
    // Outside of the lock: it takes time, and may ask for another plan. Two threads may make the same one.
    std::shared_ptr<const FourierPlan<T>> made = makePlan<T>(n, use);
    std::lock_guard lock(mutex);
    plans.push_front({n, use, made});
    total += n;
    while (plans.size() > kMostPlans || (total > kMostNumbers && plans.size() > 1)) {
      total -= plans.back().n;
      plans.pop_back();
    }
    return made;
  }

private:
  static constexpr std::size_t kMostPlans = 64;
  static constexpr int64_t kMostNumbers = int64_t(1) << 25;
  struct Entry {
    int64_t n;
    FourierUse use;
    std::shared_ptr<const FourierPlan<T>> plan;
  };
  std::shared_ptr<const FourierPlan<T>> find(int64_t n, FourierUse use) {
    std::lock_guard lock(mutex);
    for (auto at = plans.begin(); at != plans.end(); ++at)
      if (at->n == n && at->use == use) {
        plans.splice(plans.begin(), plans, at);
        return plans.front().plan;
      }
    return nullptr;
  }
  std::mutex mutex;
  std::list<Entry> plans;
  int64_t total = 0;
};

} // namespace

template <typename T> std::shared_ptr<const FourierPlan<T>> fourierPlan(int64_t n, FourierUse use) {
  static auto *plans = new Plans<T>; // threads may outlive what is destroyed at the end
  return plans->get(n, use);
}

template class FourierMemory<float>;
template class FourierMemory<double>;
template class FourierDivision<float>;
template class FourierDivision<double>;
template std::shared_ptr<const FourierPlan<float>> fourierPlan(int64_t, FourierUse);
template std::shared_ptr<const FourierPlan<double>> fourierPlan(int64_t, FourierUse);

} // namespace calque::runtime
