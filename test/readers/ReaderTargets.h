// The readers of files, each with valid files to begin with, as fuzzers take them. A reader may refuse a file with an
// error that it documents, and may do nothing else: no crash, no other error, no more memory than the file can be
// unpacked to.
#ifndef CALQUE_TEST_READERS_READERTARGETS_H
#define CALQUE_TEST_READERS_READERTARGETS_H

#include "test/readers/Mutators.h"
#include "test/training/Idx.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace calque::testing {

struct ReaderTarget {
  // What may be thrown.
  enum class Errors : std::uint8_t {
    OfFile, // DataErrors that begin with the path
    Data,   // DataErrors: the reader knows no file
    Known,  // any error of Calque but one of memory: the file may say what does not fit what the program has
  };

  std::function<std::vector<std::string>()> seeds; // the contents of valid files
  std::function<void(const std::string &path)> read;
  Errors errors = Errors::OfFile;
  // Changes what checksums, digests and compression would keep from being looked at. None: any bytes.
  Mutator mutate = nullptr;
  std::string file = "file"; // its name
};

// In the order in which they are fuzzed.
const std::vector<std::string> &readerNames();
// Seeds are written into the directory to be made.
ReaderTarget readerTarget(const std::string &name, const TemporaryDirectory &directory);

// Gives a reader one file after the other, without what it takes to make files anew.
class ReaderRun {
public:
  explicit ReaderRun(const std::string &name);
  ~ReaderRun();
  ReaderRun(const ReaderRun &) = delete;
  ReaderRun &operator=(const ReaderRun &) = delete;

  const ReaderTarget &target() const { return of; }
  // Whether the reader did nothing that it may not do.
  bool isSound(std::string_view bytes);
  // The error of the last file; none if it was read.
  const std::optional<std::string> &error() const { return text; }

private:
  const TemporaryDirectory directory;
  const ReaderTarget of;
  const std::string path;
  int descriptor = -1;
  std::optional<std::string> text;
};

// Puts temporary files into memory, where that can be: a hundred times as many as on a disk.
void useMemoryForFiles();

} // namespace calque::testing
#endif
