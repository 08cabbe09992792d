// The parts of a call's arguments, with their names and types. Making it is slower than making the key. It is used for
// misses, messages and listings.
#ifndef CALQUE_FRONTEND_CORE_SIGNATURE_H
#define CALQUE_FRONTEND_CORE_SIGNATURE_H

#include "calque/function.h"
#include "frontend/core/KeyTable.h"
#include "frontend/core/TensorImpl.h"

namespace calque::detail {

// A TensorSpec that is an argument becomes a Tensor that points to a SpecImpl.
struct SpecImpl : TensorImpl {
  std::string name;
  bool anyRank = false;
};
// TensorImpl::trace of a SpecImpl.
inline constexpr std::uint64_t kSpecTrace = ~std::uint64_t(0);
inline const SpecImpl *specOf(const TensorImpl &impl) {
  return impl.trace == kSpecTrace ? static_cast<const SpecImpl *>(&impl) : nullptr;
}

struct SignaturePart {
  enum class Kind { Tensor, Variable, Host, Count };
  Kind kind;
  std::string path;          // "argument 1[0]", "argument 0 'x'"
  std::string text;          // "float32[?,3]", "int 2", "3 elements"
  schema::TensorType type;   // of a tensor or variable
  bool anyRank = false;      // of a tensor; the type has no sizes then
  std::size_t firstWord = 0; // the position of the part in the key; a tensor's sizes follow it
};

struct Signature {
  std::vector<SignaturePart> parts;
  Key key;
  std::vector<std::uint32_t> unknown; // as KeyEntry::unknown
  bool hasSpecs = false;              // TensorSpecs are among the arguments
  bool hasAnyRank = false;

  // The name of tensor number n in messages; empty if there are fewer tensors.
  std::string tensorPath(std::size_t n) const;
  // One line for each part: "argument 0: float32[?,3]".
  std::string str(const std::string &indent) const;
};

// The type of a tensor in an input signature.
struct ExpectedTensor {
  schema::TensorType type;
  bool anyRank = false;
  std::string name;
  std::string str() const;
};
std::string typeText(const schema::TensorType &type, bool anyRank);
// Whether every tensor of the given type is one of the expected type.
bool within(const schema::TensorType &given, bool givenAnyRank, const schema::TensorType &expected,
            bool expectedAnyRank);

// The given signature with the sizes of the expected types. If an expected type has any rank, the given rank stays,
// with unknown sizes. SignatureError for a tensor that does not fit.
Signature declared(const Signature &given, std::span<const ExpectedTensor> expected, const std::string &function,
                   SourceLocation where);

// The signature that covers both, with unknown sizes where the two differ. Nothing if they differ in more than sizes.
std::optional<Signature> relaxed(const Signature &a, const Signature &b);

// The first part in which a call differs from a concrete function's signature, as the end of a sentence; empty if no
// part differs.
std::string mismatch(const Signature &expected, const Signature &given);

// "argument 0 was float32[2] and is float32[3]", for each part that differs.
std::vector<Retrace::Change> changes(const Signature &before, const Signature &now);

} // namespace calque::detail
#endif
