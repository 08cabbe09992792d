// Images in executable memory.
//
//   LoadResult loaded = LoadedCode::load({{&kernel}}, calque_rt_functions())[0];
//   if (!loaded.code)
//     report(loaded.error);
//   auto *kernel = reinterpret_cast<CalqueKernel>(loaded.code->find("kernel"));
//
// No page is ever writable and executable at the same time.
#ifndef CALQUE_RUNTIME_LOADEDCODE_H
#define CALQUE_RUNTIME_LOADEDCODE_H

#include "runtime/CodeMemory.h"
#include "runtime/Functions.h"
#include "runtime/Image.h"

#include <memory>
#include <string_view>

namespace calque::runtime {

struct LoadResult;

// The code stays loaded until the last handle is destroyed. A caller of the code holds a handle.
class LoadedCode {
public:
  // A result for each image. Images that are loaded together share pages, and cost little more than one. An import is
  // found by its name in the table `functions` (Functions.h), which may be null, else in the C and C++ libraries.
  static std::vector<LoadResult> load(std::span<const Image *const> images, const RuntimeFunction *functions);

  // The address of a function that the image exports; null if it exports none of that name.
  void *find(std::string_view symbol) const;

private:
  struct Export {
    std::string name;
    std::byte *address;
  };
  LoadedCode(CodePart code, CodePart data) : code(std::move(code)), data(std::move(data)) {}

  CodePart code, data;
  std::vector<Export> exports;
};

struct LoadResult {
  std::shared_ptr<const LoadedCode> code;
  std::string error; // empty when there is code
};

} // namespace calque::runtime
#endif
