// Runs Recordings whose native code is cached by structure: Recordings with the same operations on the same types share
// code.
#ifndef CALQUE_FRONTEND_COMPILED_CODEBYSTRUCTURE_H
#define CALQUE_FRONTEND_COMPILED_CODEBYSTRUCTURE_H

#include "frontend/compiled/Execute.h"
#include "frontend/compiled/Slice.h"
#include "frontend/core/KeyTable.h"
#include "runtime/Fork.h"
#include "schema/HashTables.h"

#include <mutex>

namespace calque::detail {

// The most entries of each cache of native code outside of functions: that of eager operations, and that of recordings
// by structure, such as gradients.
inline constexpr std::size_t kMostCachedOperations = 2048;

// Counts the programs of each form. The first programs of a form get code of their own, which compiles sooner and runs
// faster; all others share the code of the form.
class Versions {
public:
  // Notes a program of this form. Returns whether it is one of the first `most`.
  bool admit(KeyView form, int most);

private:
  runtime::ForkMutex mutex;
  HashMap<std::size_t, int> byForm; // by hash
};

// Which results of a recording are connected with its targets. All results are those of one `gradient`. Cached by
// structure.
std::vector<bool> connectedResults(const schema::Recording &recording);

// The code of a recording, and its operands after the recording's parameters.
struct StructuredCode {
  const Code &code;
  std::vector<Tensor> indices;
  std::optional<schema::Recording> indexed; // the recording of the code, if it is not the given one
};
// The code of a recording, cached by structure, with checks of debug::enable_check_numerics() or without. Valid within
// the caller's ReadScope.
StructuredCode codeByStructure(const schema::Recording &recording, SourceLocation where, bool checks);

// Runs a slice, whose code is cached by structure. `parameters` are those of the whole recording.
std::vector<Tensor> runSlice(const Slice &slice, std::span<const Tensor> parameters, SourceLocation where);

// The structure of a recording as a key: everything but names and lines.
Key structureKey(const schema::Recording &recording);
// Appends words that distinguish attributes, or types.
void appendKey(Key &key, const schema::Attribute &attribute);
void appendKey(Key &key, const schema::TensorType &type);

} // namespace calque::detail
#endif
