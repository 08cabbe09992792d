// Operations of a library's kernel (runtime/libraries/) in small code.
#ifndef CALQUE_CODEGEN_LOWERING_SMALLLIBRARY_H
#define CALQUE_CODEGEN_LOWERING_SMALLLIBRARY_H

#include "codegen/lowering/SmallEmitter.h"

namespace calque::codegen {

// How many scalar operations it takes; nothing if its operands and results are not small.
std::optional<int64_t> libraryCost(ir::LibraryOpInterface op);

bool mayLibraryFail(ir::LibraryOpInterface op);

llvm::SmallVector<SmallValue> emitLibrary(SmallEmitter &emitter, ir::LibraryOpInterface op,
                                          llvm::ArrayRef<SmallValue> operands);

} // namespace calque::codegen
#endif
