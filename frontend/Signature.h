// What a call's arguments are, part by part: the slow twin of the key, for misses, messages and listings.
#ifndef CALQUE_FRONTEND_SIGNATURE_H
#define CALQUE_FRONTEND_SIGNATURE_H

#include "calque/function.h"
#include "frontend/KeyTable.h"
#include "frontend/TensorImpl.h"

namespace calque::detail {

// What a TensorSpec's Tensor points to.
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
  std::size_t firstWord = 0; // of the key; a tensor's sizes follow it
};

struct Signature {
  std::vector<SignaturePart> parts;
  Key key;
  std::vector<std::uint32_t> unknown; // as a KeyEntry's
  bool hasSpecs = false;              // TensorSpecs are among the arguments
  bool hasAnyRank = false;

  // The types of its tensors, in order.
  std::vector<TypeRef> tensorTypes() const;
  // "argument 0: float32[?,3]", a part a line.
  std::string str(const std::string &indent) const;
};

// A type that a tensor is to have, of a signature that was declared.
struct ExpectedTensor {
  schema::TensorType type;
  bool anyRank = false;
  std::string name;
  std::string str() const;
};
std::string typeText(const schema::TensorType &type, bool anyRank);
// Whether what is given is all within what is expected.
bool within(const schema::TensorType &given, bool givenAnyRank, const schema::TensorType &expected,
            bool expectedAnyRank);

// The signature with the sizes that are expected in place of those given; a rank that is expected to be any stays. What
// does not fit is a SignatureError.
Signature declared(const Signature &given, std::span<const ExpectedTensor> expected, const std::string &function,
                   SourceLocation where);

// What two signatures have in common, unknown where their sizes differ; none where they differ in more than that.
std::optional<Signature> relaxed(const Signature &a, const Signature &b);

// The first part in which a call differs from what a concrete function takes, as the end of a sentence; empty if none
// does.
std::string mismatch(const Signature &expected, const Signature &given);

// "argument 0 was float32[2] and is float32[3]", for each part that differs.
std::vector<Retrace::Change> changes(const Signature &before, const Signature &now);

} // namespace calque::detail
#endif
