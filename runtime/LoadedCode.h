// Images in executable memory.
//
//   LoadResult loaded = LoadedCode::load({{&program, &kernel}}, calque_rt_functions());
//   if (!loaded.code)
//     report(loaded.error);
//   auto *kernel = reinterpret_cast<CalqueKernel>(loaded.code->find(0, "kernel"));
//
// Nothing is writable and executable, at any time.
#ifndef CALQUE_RUNTIME_LOADEDCODE_H
#define CALQUE_RUNTIME_LOADEDCODE_H

#include "runtime/Functions.h"
#include "runtime/Image.h"

#include <memory>
#include <string_view>

namespace calque::runtime {

struct LoadResult;

// The code stays until the last handle goes; whoever calls it holds one.
class LoadedCode {
public:
  // Places images behind each other in one mapping, which begins with the code of all: a process may load many
  // thousands, and its number of mappings is limited. An import is the function of that name in `functions`, a table as
  // of Functions.h that may be null; else the first of these images exports it; else it is one of the C and C++
  // libraries.
  static LoadResult load(std::span<const Image *const> images, const RuntimeFunction *functions);

  ~LoadedCode();
  LoadedCode(const LoadedCode &) = delete;
  LoadedCode &operator=(const LoadedCode &) = delete;

  // The address of what an image exports; null if it exports nothing of that name.
  void *find(std::size_t image, std::string_view symbol) const;

private:
  struct Export {
    std::size_t image;
    std::string name;
    std::byte *address;
  };
  LoadedCode(std::byte *begin, std::size_t bytes) : begin(begin), bytes(bytes) {}

  std::byte *begin;
  std::size_t bytes;
  std::vector<Export> exports; // in the order of the images
};

struct LoadResult {
  std::shared_ptr<const LoadedCode> code;
  std::string error; // empty when there is code
};

} // namespace calque::runtime
#endif
