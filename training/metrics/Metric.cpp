#include "calque/metrics.h"

#include "MeanBody.h"
#include "absl/strings/str_cat.h"
#include "calque/callable.h"

namespace calque::metrics {

using training::fail;

MetricBody::MetricBody(std::string name, DType dtype)
    : name_(std::move(name)), inMessages(calque::detail::interned(name_)), dtype_(dtype) {
  if (!is_floating(dtype))
    fail<DTypeError>(absl::StrCat(name_, ": the result of a metric is floating-point, not ", name_of(dtype)));
}

void MetricBody::update(const Tensor &, const Tensor &, const std::optional<Tensor> &) {
  fail<ValueError>(absl::StrCat(name_, ": is a metric of values, and takes no labels and predictions"));
}

void MetricBody::reset() {
  for (Variable &each : variables({}))
    each.assign(zeros(each.shape(), each.dtype()));
}

MetricBody &Metric::checked(SourceLocation where) const {
  if (!body_)
    calque::detail::throwEmptyHandle("metric", where);
  return *body_;
}

void Metric::made(const char *class_name, Config options, Direction direction) const {
  body_->class_ = class_name;
  body_->direction_ = body_->ofClass = direction;
  body_->config_ = std::move(options);
}

void Metric::update_state(const Operand &y_true, const Operand &y_pred) const {
  MetricBody &body = checked(y_true.where());
  CallSite site(y_true.where(), body.inMessages);
  body.update(y_true.toTensor(), y_pred.toTensor(), std::nullopt);
}

void Metric::update_state(const Operand &y_true, const Operand &y_pred, const Operand &sample_weight) const {
  MetricBody &body = checked(y_true.where());
  CallSite site(y_true.where(), body.inMessages);
  body.update(y_true.toTensor(), y_pred.toTensor(), sample_weight.toTensor());
}

Tensor Metric::result(SourceLocation where) const {
  MetricBody &body = checked(where);
  CallSite site(where, body.inMessages);
  return cast(body.compute(), body.dtype());
}

void Metric::reset_state(SourceLocation where) const {
  MetricBody &body = checked(where);
  CallSite site(where, body.inMessages);
  body.reset();
}

Tensor Metric::operator()(const Operand &y_true, const Operand &y_pred) const {
  update_state(y_true, y_pred);
  return result(y_true.where());
}
Tensor Metric::operator()(const Operand &y_true, const Operand &y_pred, const Operand &sample_weight) const {
  update_state(y_true, y_pred, sample_weight);
  return result(y_true.where());
}

//===-- Of values ---------------------------------------------------------------------------------===//
namespace {
struct SumBody final : MetricBody {
  using MetricBody::MetricBody;
  void add(const Tensor &values, const std::optional<Tensor> &weights) {
    Tensor x = cast(values, DType::Float64);
    total.assign_add(sum(weights ? x * cast(*weights, DType::Float64) : x));
  }
  Tensor compute() const override { return total.value(); }
  Variable total = variable("total", zeros({}, DType::Float64), false);
};

template <typename Body>
void addTo(const std::shared_ptr<MetricBody> &body, const char *name, const Operand &values,
           const std::optional<Tensor> &weights) {
  CallSite site(values.where(), name);
  static_cast<Body &>(*body).add(values.toTensor(), weights);
}
} // namespace

Mean::Mean(std::string name, DType dtype, SourceLocation where)
    : Metric([&] {
        CallSite site(where);
        return std::make_shared<training::MeanBody>(std::move(name), dtype);
      }()) {
  made("Mean", {}, Direction::Unknown);
}
void Mean::update_state(const Operand &values) const {
  addTo<training::MeanBody>(body(), name(values.where()).c_str(), values, std::nullopt);
}
void Mean::update_state(const Operand &values, const Operand &weights) const {
  addTo<training::MeanBody>(body(), name(values.where()).c_str(), values, weights.toTensor());
}
Tensor Mean::operator()(const Operand &values) const {
  update_state(values);
  return result(values.where());
}
Tensor Mean::operator()(const Operand &values, const Operand &weights) const {
  update_state(values, weights);
  return result(values.where());
}

Sum::Sum(std::string name, DType dtype, SourceLocation where)
    : Metric([&] {
        CallSite site(where);
        return std::make_shared<SumBody>(std::move(name), dtype);
      }()) {
  made("Sum", {}, Direction::Unknown);
}
void Sum::update_state(const Operand &values) const {
  addTo<SumBody>(body(), name(values.where()).c_str(), values, std::nullopt);
}
void Sum::update_state(const Operand &values, const Operand &weights) const {
  addTo<SumBody>(body(), name(values.where()).c_str(), values, weights.toTensor());
}
Tensor Sum::operator()(const Operand &values) const {
  update_state(values);
  return result(values.where());
}
Tensor Sum::operator()(const Operand &values, const Operand &weights) const {
  update_state(values, weights);
  return result(values.where());
}

} // namespace calque::metrics

namespace calque::training {

void MeanBody::add(const Tensor &values, const std::optional<Tensor> &weights) {
  if (!weights) {
    total.assign_add(sum(cast(values, DType::Float64)));
    count.assign_add(values.size());
    return;
  }
  Tensor x = cast(values, DType::Float64), w = broadcast_to(cast(*weights, DType::Float64), x.shape());
  total.assign_add(sum(weighted(w, x)));
  count.assign_add(sum(w));
}

Tensor MeanBody::compute() const { return divided(total, count); }

} // namespace calque::training
