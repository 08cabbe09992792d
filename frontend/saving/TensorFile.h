// Files of named tensors and named texts, in the format safetensors. docs/saving.md describes the format byte by byte.
//
//   TensorFile::write("w.safetensors", {TensorEntry::of("w", w, where)}, {{"epoch", "3"}}, where);
//   TensorFile file = TensorFile::read("w.safetensors", where);
//   if (const TensorEntry *entry = file.find("w"))
//     Tensor w = file.tensor(*entry, where);
//
// A file can hold other data than tensors, too: an entry of the code "U8" holds any bytes.
//
// A file that Calque has written has its SHA-256 in the metadata, and is refused if any byte has changed. In the files
// of other programs, names, types, sizes and places must fit together, and fit the length of the file.
#ifndef CALQUE_FRONTEND_SAVING_TENSORFILE_H
#define CALQUE_FRONTEND_SAVING_TENSORFILE_H

#include "calque/file_writer.h"
#include "frontend/core/TensorImpl.h"

#include <map>

namespace calque::detail {

// The bytes under a name, and their type.
struct TensorEntry {
  std::string name;
  std::string code; // of the element type, as the format has it: "F32"
  schema::Dims dims;
  std::span<const std::byte> bytes;
  runtime::Buffer buffer = {}; // keeps the bytes of a tensor or of a file

  // An entry for an eager tensor, which the entry keeps. LeakedTensorError for a traced one.
  static TensorEntry of(std::string name, const Tensor &x, SourceLocation where);
  // An entry for bytes that the caller keeps.
  static TensorEntry ofBytes(std::string name, std::span<const std::byte> bytes);

  // The element type; std::nullopt if Calque has no tensors of it.
  std::optional<DType> dtype() const;
  // "F32[2,3]".
  std::string type() const;
};

class TensorFile {
public:
  using Metadata = std::map<std::string, std::string>;

  // Writes a file whole or not at all, with its digest. ValueError for names that are given twice, that are not UTF-8
  // or that the format reserves; DataError for a file that can't be written.
  static void write(const std::string &path, std::vector<TensorEntry> entries, const Metadata &metadata,
                    SourceLocation where);
  static void write(FileWriter &file, std::vector<TensorEntry> entries, const Metadata &metadata, SourceLocation where);

  enum class Digest : std::uint8_t { Checked, Required };
  // Reads a file. DataError, which begins with the path, for a file that can't be read, is damaged or is not of this
  // format, and for a file without a digest if the digest is required. Allocates no more memory than the file is long.
  // MemoryError if there is not enough.
  static TensorFile read(const std::string &path, SourceLocation where, Digest digest = Digest::Checked);
  // The metadata alone: the tensors are not read, and the digest is not compared.
  static Metadata readMetadata(const std::string &path, SourceLocation where);

  // The entries in the order of their bytes.
  const std::vector<TensorEntry> &entries() const { return entries_; }
  const TensorEntry *find(const std::string &name) const;
  // The texts, without the two that belong to the digest.
  const Metadata &metadata() const { return metadata_; }
  const std::string &path() const { return path_; }
  // Whether the file has a digest. A wrong digest is refused on reading.
  bool hasDigest() const { return hasDigest_; }
  // A tensor that shares the entry's elements. DataError if Calque has no tensors of the type.
  Tensor tensor(const TensorEntry &entry, SourceLocation where) const;
  // Throws "<path>: <fault>", a DataError.
  [[noreturn]] void fail(const std::string &fault, SourceLocation where) const;

private:
  explicit TensorFile(std::string path) : path_(std::move(path)) {}

  class Reader;
  std::string path_;
  std::vector<TensorEntry> entries_;
  std::map<std::string, std::size_t> byName;
  Metadata metadata_;
  bool hasDigest_ = false;
};

} // namespace calque::detail
#endif
