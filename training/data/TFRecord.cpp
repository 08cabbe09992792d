// Data sets of records and lines, and the writer of records.
#include "Support.h"
#include "calque/data/records.h"
#include "data/Records.h"

#include "absl/strings/str_cat.h"

#include <cerrno>
#include <cstring>
#include <zlib.h>

namespace calque::data {
namespace {

Compression compressionOf(const FileOptions &options, const char *name, SourceLocation where) {
  if (options.compression_type == "GZIP")
    return Compression::Gzip;
  if (!options.compression_type.empty())
    throw ValueError(
        absl::StrCat(name, ": there is no compression '", options.compression_type, "'; it is 'GZIP' or ''"),
        CallSite::resolve(where));
  return Compression::None;
}

// What `Reader` reads of one file after the other.
template <typename Reader> struct InFiles {
  std::optional<detail::Parts> operator()() {
    for (std::string text; reader || at < paths.size(); reader.reset()) {
      if (!reader)
        reader = std::make_shared<Reader>(paths[at++], where, compression);
      auto own = std::move(reader); // where it throws, the next file follows
      if (own->next(text)) {
        reader = std::move(own);
        return detail::partsOf(text);
      }
    }
    return std::nullopt;
  }
  std::vector<std::string> paths;
  SourceLocation where;
  Compression compression;
  std::shared_ptr<Reader> reader = nullptr;
  std::size_t at = 0;
};

template <typename Reader>
Dataset<std::string> datasetOf(const std::vector<std::string> &paths, Compression compression, SourceLocation where) {
  auto begin = [=] { return detail::Generator(InFiles<Reader>{paths, where, compression}); };
  return detail::Access::typed<std::string>(detail::Untyped::generator(begin, detail::partsOf(std::string())));
}

struct LineReader {
  LineReader(const std::string &path, SourceLocation where, Compression compression) : file(path, where, compression) {}
  bool next(std::string &line) {
    return readWithinMemory(file.path, file.where, [&] { return read(line); });
  }
  bool read(std::string &line) {
    line.clear();
    for (std::size_t end; (end = buffer.find('\n', at)) == std::string::npos;) {
      line.append(buffer, at);
      at = 0;
      buffer = file.readSome(1 << 16);
      if (buffer.empty())
        return !line.empty() && strip(line);
    }
    const std::size_t end = buffer.find('\n', at);
    line.append(buffer, at, end - at);
    at = end + 1;
    return strip(line);
  }
  static bool strip(std::string &line) {
    if (!line.empty() && line.back() == '\r')
      line.pop_back();
    return true;
  }
  FileReader file;
  std::string buffer;
  std::size_t at = 0;
};

} // namespace

Dataset<std::string> tfrecord_dataset(const std::vector<std::string> &paths, FileOptions options,
                                      SourceLocation where) {
  return datasetOf<RecordReader>(paths, compressionOf(options, "tfrecord_dataset", where), CallSite::resolve(where));
}

Dataset<std::string> text_line_dataset(const std::vector<std::string> &paths, SourceLocation where) {
  return datasetOf<LineReader>(paths, Compression::Any, CallSite::resolve(where));
}

//===-- Writing ---------------------------------------------------------------------------------===//

struct TFRecordWriter::File {
  File(const std::string &path, gzFile to) : path(path), to(to) {}
  ~File() {
    if (to)
      gzclose(to);
  }
  void require(bool isDone, SourceLocation where) const {
    if (!isDone)
      throw DataError(absl::StrCat(path, ": can't be written: ", std::strerror(errno)), CallSite::resolve(where));
  }
  void write(const std::string &bytes, SourceLocation where) const {
    for (std::size_t done = 0; done < bytes.size();) {
      const std::size_t piece = std::min<std::size_t>(bytes.size() - done, 1 << 30);
      require(gzwrite(to, bytes.data() + done, static_cast<unsigned>(piece)) == static_cast<int>(piece), where);
      done += piece;
    }
  }
  const std::string path;
  gzFile to;
};

TFRecordWriter::TFRecordWriter(const std::string &path, FileOptions options, SourceLocation where) {
  const bool compresses = compressionOf(options, "TFRecordWriter", where) == Compression::Gzip;
  file_ = std::make_unique<File>(path, gzopen(path.c_str(), compresses ? "wb" : "wbT"));
  file_->require(file_->to, where);
}
TFRecordWriter::~TFRecordWriter() = default;
TFRecordWriter::TFRecordWriter(TFRecordWriter &&) noexcept = default;
TFRecordWriter &TFRecordWriter::operator=(TFRecordWriter &&) noexcept = default;

static void requireOpen(bool isOpen, SourceLocation where) {
  if (!isOpen)
    throw StateError("TFRecordWriter: the writer is closed", CallSite::resolve(where));
}

void TFRecordWriter::write(const std::string &record, SourceLocation where) {
  requireOpen(file_ != nullptr, where);
  file_->write(headerOf(record) + record + footerOf(record), where);
}
void TFRecordWriter::flush(SourceLocation where) {
  requireOpen(file_ != nullptr, where);
  file_->require(gzflush(file_->to, Z_SYNC_FLUSH) == Z_OK, where);
}
void TFRecordWriter::close(SourceLocation where) {
  requireOpen(file_ != nullptr, where);
  const auto file = std::move(file_);
  file->require(gzclose(std::exchange(file->to, nullptr)) == Z_OK, where);
}

} // namespace calque::data
