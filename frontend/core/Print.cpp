#include "calque/print.h"
#include "frontend/core/Apply.h"

namespace calque {

void PrintItem::text(std::string_view text) {
  for (char each : text) {
    text_ += each;
    if (each == '{' || each == '}') // {} is a place
      text_ += each;
  }
}

void PrintItem::operand(const Operand &x) {
  tensors_.push_back(x.toTensor());
  text_ += "{}";
}

void Print::add(const PrintItem &item) {
  if (!text.empty())
    text += ' ';
  text += item.text_;
  tensors.insert(tensors.end(), item.tensors_.begin(), item.tensors_.end());
}

void Print::run(SourceLocation where) const {
  schema::Attribute attribute = text;
  detail::apply(schema::OpId::Print, tensors, {&attribute, 1}, where);
}

} // namespace calque
