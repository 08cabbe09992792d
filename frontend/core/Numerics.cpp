#include "frontend/core/Numerics.h"

#include "calque/debug.h"
#include "frontend/core/TensorImpl.h"
#include "program/SiteText.h"
#include "runtime/Assertions.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace calque {

namespace detail {

namespace {
bool asked() {
  const char *text = std::getenv("CALQUE_CHECK_NUMERICS");
  return text && std::string_view(text) == "1";
}

bool areFinite(const Tensor &x) {
  const TensorImpl &impl = *x.impl();
  if (!is_floating(impl.type->dtype))
    return true;
  return dispatch(impl.type->dtype, [&]<typename T>(std::type_identity<T>) {
    if constexpr (kIsFloating<T>) {
      const auto *elements = static_cast<const T *>(impl.buffer.data());
      return std::all_of(elements, elements + impl.type->numElements(),
                         [](T x) { return std::isfinite(Arithmetic<T>(x)); });
    }
    return true;
  });
}

// As an assertion of compiled code says it.
std::string describeNotFinite(const Tensor &x) {
  const TensorImpl &impl = *x.impl();
  std::vector<unsigned char> holds(static_cast<std::size_t>(impl.type->numElements()), 1);
  dispatch(impl.type->dtype, [&]<typename T>(std::type_identity<T>) {
    if constexpr (kIsFloating<T>)
      std::transform(static_cast<const T *>(impl.buffer.data()),
                     static_cast<const T *>(impl.buffer.data()) + holds.size(), holds.begin(),
                     [](T x) { return std::isfinite(Arithmetic<T>(x)); });
  });
  const runtime::ShownTensor shown{static_cast<std::int32_t>(impl.type->dtype), impl.buffer.data(), impl.type->dims};
  return runtime::describeFailed(holds.data(), impl.type->dims, {&shown, 1});
}
} // namespace

std::atomic<bool> checkingNumerics = asked();

bool canCheckNumerics(std::span<const Tensor *const> inputs) {
  return checksNumerics() && std::ranges::all_of(inputs, [](const Tensor *x) {
           return x->impl()->buffer.data() || x->impl()->type->numElements() == 0;
         });
}

void requireFinite(std::string_view operation, std::span<const Tensor *const> operands, std::span<const Tensor> results,
                   SourceLocation where) {
  auto isFloat = [](const Tensor *x) { return is_floating(x->impl()->type->dtype); };
  auto broken = std::ranges::find_if_not(results, areFinite);
  if (broken == results.end() || std::ranges::none_of(operands, isFloat) ||
      !std::ranges::all_of(operands, [](const Tensor *x) { return areFinite(*x); }))
    return;
  Site site{};
  site.kind = Site::Kind::NotFinite;
  SiteWords words;
  words.operation = operation;
  words.elements = describeNotFinite(*broken);
  const std::int64_t none[2] = {};
  throw AssertionError(siteMessage(site, none, words), where);
}

} // namespace detail

void debug::enable_check_numerics(bool on) { detail::checkingNumerics.store(on); }
bool debug::checks_numerics() { return detail::checksNumerics(); }

} // namespace calque
