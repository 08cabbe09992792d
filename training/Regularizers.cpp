#include "calque/regularizers.h"

#include "Support.h"
#include "absl/strings/str_cat.h"
#include "calque/functions.h"

#include <cmath>

namespace calque {

using training::fail;

Regularizer::Regularizer(const char *name, SourceLocation where) {
  const std::string text = name ? name : "";
  if (text != "l1" && text != "l2" && text != "l1_l2")
    fail<LookupError>(absl::StrCat("regularizer: there is no '", text, "'; there are l1, l2, l1_l2"), where);
  *this = regularizers::l1_l2(text == "l2" ? 0 : 0.01, text == "l1" ? 0 : 0.01, where);
}

Tensor Regularizer::operator()(const Tensor &weight) const {
  Tensor loss;
  if (l1 != 0)
    loss = sum(abs(weight)) * l1;
  if (l2 != 0) {
    Tensor squares = sum(square(weight)) * l2;
    loss = loss.defined() ? loss + squares : squares;
  }
  return loss.defined() ? loss : zeros({}, weight.dtype());
}

ConfigValue Regularizer::get_config() const {
  return *this ? ConfigValue(Config{{"l1", l1}, {"l2", l2}}) : ConfigValue();
}

Regularizer Regularizer::from_config(const ConfigValue &config, SourceLocation where) {
  if (config.is_null())
    return {};
  Config values = config.as<Config>(where);
  return regularizers::l1_l2(values.at("l1", where).as<double>(where), values.at("l2", where).as<double>(where), where);
}

namespace regularizers {
Regularizer l1(double factor, SourceLocation where) { return l1_l2(factor, 0, where); }
Regularizer l2(double factor, SourceLocation where) { return l1_l2(0, factor, where); }
Regularizer l1_l2(double l1, double l2, SourceLocation where) {
  for (double factor : {l1, l2})
    if (!(factor >= 0) || !std::isfinite(factor))
      training::fail<ValueError>(
          absl::StrCat("regularizer: a factor is finite and not below 0, unlike ", Number(factor).str()), where);
  return {l1, l2};
}
} // namespace regularizers

} // namespace calque
