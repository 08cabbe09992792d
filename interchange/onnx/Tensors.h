// Tensors of files: checked, and made without a copy where the file's bytes can be used in place.
#ifndef CALQUE_INTERCHANGE_ONNX_TENSORS_H
#define CALQUE_INTERCHANGE_ONNX_TENSORS_H

#include "onnx/Model.h"

#include "calque/tensor.h"

#include <filesystem>
#include <mutex>

namespace calque::onnx {

// The bytes of a file that is mapped into memory.
class MappedFile {
public:
  // DataError for a file that can't be read.
  explicit MappedFile(const std::filesystem::path &path, const std::string &name);
  ~MappedFile();
  MappedFile(const MappedFile &) = delete;
  MappedFile &operator=(const MappedFile &) = delete;
  Bytes bytes() const { return bytes_; }
  // Gives back the memory that holds bytes which nobody is going to read soon. They are read from the file again if
  // somebody does.
  void leave(Bytes read) const;

private:
  Bytes bytes_;
};

// Where the bytes of tensors are: in the file itself, and in files beside it.
class Storage {
public:
  explicit Storage(const std::string &path);

  const std::string &name() const { return name_; }
  Bytes bytes() const { return file_->bytes(); }
  // DataError for elements that are missing or too many, for an element type that Calque lacks, and for external data
  // outside of the file's folder.
  Tensor make(const TensorData &data) const;
  Tensor make(const SparseData &data) const;

private:
  std::pair<Bytes, std::shared_ptr<const MappedFile>> externalBytes(const TensorData &data, std::uint64_t size) const;

  std::string name_;
  std::filesystem::path folder_;
  std::shared_ptr<const MappedFile> file_;
  // Those of external data. Several threads may run a model, whose branches read their tensors then.
  mutable std::mutex mutex_;
  mutable std::map<std::filesystem::path, std::shared_ptr<const MappedFile>> others_;
};

} // namespace calque::onnx
#endif
