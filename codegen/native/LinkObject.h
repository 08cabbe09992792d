// From an object file that LLVM made in this process to an image, which runtime/LoadedCode.h can place anywhere.
//
//   LinkResult linked = linkObject(object, {"kernel"});
//   if (!linked.image)
//     report(linked.error);
#ifndef CALQUE_CODEGEN_NATIVE_LINKOBJECT_H
#define CALQUE_CODEGEN_NATIVE_LINKOBJECT_H

#include "runtime/Image.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>

namespace calque::codegen {

struct LinkResult {
  std::optional<runtime::Image> image;
  std::string error; // empty when there is an image
};

// Takes code, read-only data, and their relocations. The image exports the functions of the names given, and imports
// those that the object does not define. Writable data, thread-local data and another instruction set than x86-64 are
// refused. Tables for debuggers and for exceptions are left out, because native code throws no exceptions.
LinkResult linkObject(llvm::StringRef object, llvm::ArrayRef<llvm::StringRef> exports);

} // namespace calque::codegen
#endif
