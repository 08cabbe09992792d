// Summaries: numbers, histograms and texts over the steps of a training, for TensorBoard.
//
//   summary::FileWriter writer = summary::create_file_writer("logs/train");
//   writer.set_as_default();
//   auto step = function([&](const Tensor &x) {
//     Tensor loss = train(x);
//     summary::scalar("loss", loss, adam.iterations()); // in the order of the program, at every call
//   });
//   summary::RecordEvery hundred(100);                   // only steps that 100 divides, while it lives
//
// A traced function uses the writer that was the default while tracing. DataError if a file can't be written.
#ifndef CALQUE_SUMMARY_H
#define CALQUE_SUMMARY_H

#include "calque/tensor.h"

#include <memory>
#include <string>

namespace calque {

namespace training {
class EventFile;
}

namespace summary {

// A shared handle to an event file.
class CALQUE_API FileWriter {
public:
  explicit FileWriter(std::shared_ptr<training::EventFile> file) : file_(std::move(file)) {}
  // Writes a scalar number or bool at a step, an integer scalar. ShapeError for a tensor that is not a scalar.
  void scalar(const std::string &name, const Operand &value, const Operand &step) const;
  // Writes the distribution of a tensor's elements, without those that are not finite. DTypeError for strings.
  void histogram(const std::string &name, const Operand &values, const Operand &step) const;
  // Writes a text, which is shown as Markdown.
  void text(const std::string &name, const std::string &text, const Operand &step) const;
  void flush() const;
  const std::string &path() const;
  // Makes this the writer of the functions below, for all threads.
  void set_as_default() const;
  const std::shared_ptr<training::EventFile> &file() const { return file_; }

private:
  std::shared_ptr<training::EventFile> file_;
};

// Makes the directory and an event file in it. The name of the file contains the time, the host and the process.
CALQUE_API FileWriter create_file_writer(const std::string &logdir, SourceLocation where = SourceLocation::current());

// These write with the default writer. StateError if there is no default writer.
CALQUE_API void scalar(const std::string &name, const Operand &value, const Operand &step);
CALQUE_API void histogram(const std::string &name, const Operand &values, const Operand &step);
CALQUE_API void text(const std::string &name, const std::string &text, const Operand &step);

// While it lives, summaries are written only at steps that are multiples of a number, also by functions that were
// compiled before. ValueError for a number below 1.
class CALQUE_API RecordEvery {
public:
  explicit RecordEvery(std::int64_t steps, SourceLocation where = SourceLocation::current());
  ~RecordEvery();
  RecordEvery(const RecordEvery &) = delete;
  RecordEvery &operator=(const RecordEvery &) = delete;

private:
  std::int64_t before;
};

} // namespace summary
} // namespace calque
#endif
