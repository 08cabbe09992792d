#include "calque/summary.h"

#include "Events.h"
#include "Support.h"
#include "absl/strings/str_cat.h"
#include "calque/functions.h"
#include "calque/host_call.h"

#include <atomic>

namespace calque::summary {

using training::describe;
using training::EventFile;
using training::fail;

namespace {

std::atomic<std::int64_t> recordEvery{1};
std::mutex defaultMutex;
std::shared_ptr<EventFile> defaultFile; // of the functions without a writer

std::shared_ptr<EventFile> theDefault(SourceLocation where) {
  std::lock_guard<std::mutex> lock(defaultMutex);
  if (!defaultFile)
    fail<StateError>("summary: there is no default writer; call set_as_default() of one", where);
  return defaultFile;
}

// Calls f with the numbers and the step, at steps that are recorded.
template <typename F> void record(const Operand &values, const Operand &step, F f) {
  CallSite site(values.where(), "summary");
  Tensor at = step.toTensor();
  if (!is_integer(at.dtype()) || at.rank() != 0)
    fail<DTypeError>(absl::StrCat("summary: a step is an integer, not ", describe(at.dtype(), at.shape())));
  host_call(
      [f = std::move(f)](const Tensor &x, const Tensor &step) {
        const std::int64_t number = dispatch(step.dtype(), [&]<typename T>(std::type_identity<T>) {
          return static_cast<std::int64_t>(*step.data<T>());
        });
        if (number % recordEvery == 0)
          f(x.to_vector<double>(), number);
      },
      {cast(values.toTensor(), DType::Float64), at}, {}, values.where());
}

} // namespace

FileWriter create_file_writer(const std::string &logdir, SourceLocation where) {
  CallSite site(where, "summary");
  return FileWriter(std::make_shared<EventFile>(logdir));
}

void FileWriter::scalar(const std::string &name, const Operand &value, const Operand &step) const {
  Tensor number = value.toTensor();
  if (number.rank() != 0)
    fail<ShapeError>(absl::StrCat("summary: '", name, "' is ", describe(number.dtype(), number.shape()),
                                  ", and a scalar has one element"),
                     value.where());
  record(value, step, [file = file_, name](const std::vector<double> &numbers, std::int64_t at) {
    file->scalar(name, numbers[0], at);
  });
}
void FileWriter::histogram(const std::string &name, const Operand &values, const Operand &step) const {
  record(values, step, [file = file_, name](const std::vector<double> &numbers, std::int64_t at) {
    file->histogram(name, numbers, at);
  });
}
void FileWriter::text(const std::string &name, const std::string &text, const Operand &step) const {
  record(Operand(0, step.where()), step,
         [file = file_, name, text](const std::vector<double> &, std::int64_t at) { file->text(name, text, at); });
}
void FileWriter::flush() const { file_->flush(); }
const std::string &FileWriter::path() const { return file_->path(); }
void FileWriter::set_as_default() const {
  std::lock_guard<std::mutex> lock(defaultMutex);
  defaultFile = file_;
}

void scalar(const std::string &name, const Operand &value, const Operand &step) {
  FileWriter(theDefault(value.where())).scalar(name, value, step);
}
void histogram(const std::string &name, const Operand &values, const Operand &step) {
  FileWriter(theDefault(values.where())).histogram(name, values, step);
}
void text(const std::string &name, const std::string &text, const Operand &step) {
  FileWriter(theDefault(step.where())).text(name, text, step);
}

RecordEvery::RecordEvery(std::int64_t steps, SourceLocation where) {
  if (steps < 1)
    fail<ValueError>(absl::StrCat("summary: records every step or fewer, unlike every ", steps), where);
  before = recordEvery.exchange(steps);
}
RecordEvery::~RecordEvery() { recordEvery = before; }

} // namespace calque::summary
