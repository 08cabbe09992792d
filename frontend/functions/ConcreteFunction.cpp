#include "calque/concrete_function.h"

#include "absl/strings/str_cat.h"
#include "frontend/core/CallNames.h"
#include "frontend/core/Shape.h"
#include "frontend/functions/FunctionCore.h"

namespace calque::detail {

ConcreteCore::Held::Held(std::shared_ptr<FunctionTrace> held) : concrete(std::move(held)) {
  key = concrete->key;
  hash = concrete->hash;
  unknown = concrete->unknown;
}

FunctionTrace &ConcreteCore::add(std::shared_ptr<FunctionTrace> concrete) {
  std::lock_guard guard(tracesMutex);
  return *traces.insert(std::make_shared<Held>(std::move(concrete)))->concrete;
}

const FunctionTrace &ConcreteCore::only(const SourceLocation &where) const {
  if (signature.hasAnyRank)
    throw StateError(
        absl::StrCat(function->name,
                     " is of any rank and has a trace for each; ask for one with a TensorSpec that has a rank"),
        userLine(where));
  return *traces.findSame(signature.key, signature.unknown, [](const Held &) { return true; })->concrete;
}

void ConcreteCore::check(const Signature &given, SourceLocation where) const {
  if (std::string text = mismatch(signature, given); !text.empty())
    throw SignatureError(absl::StrCat(function->name, ": ", text), where);
}

FunctionTrace &ConcreteCore::traceFor(const Arguments &arguments, CallBody body, SourceLocation where) {
  bool known = false;
  auto accepts = [&](const Held &held) {
    known = true;
    return held.concrete->accepts(arguments);
  };
  {
    ReadScope scope;
    if (Held *held = traces.find(hashKey(arguments.key()), arguments.key(), accepts))
      return *held->concrete;
  }
  Signature given = function->describe(body, where);
  check(given, where);
  if (!signature.hasAnyRank)
    throw SignatureError(
        known
            ? absl::StrCat(function->name,
                           ": a variable is both an argument and captured, or another one than when it was traced")
            : absl::StrCat(function->name, ": the call is another than that which the concrete function was made for"),
        where);
  std::vector<ExpectedTensor> expected;
  for (const SignaturePart &part : signature.parts)
    if (part.kind == SignaturePart::Kind::Tensor)
      expected.push_back({part.type, part.anyRank, ""});
  return add(function->exactly(declared(given, expected, function->name, where), arguments, body, where));
}

std::shared_ptr<ConcreteCore> makeConcrete(std::shared_ptr<FunctionCore> core, const Arguments &arguments,
                                           CallBody body, const SourceLocation &where) {
  Signature signature = core->byInputSignature(core->describe(body, where), where);
  auto concrete = std::make_shared<ConcreteCore>(core, signature);
  if (!signature.hasAnyRank)
    concrete->add(core->exactly(std::move(signature), arguments, body, userLine(where)));
  return concrete;
}

void callConcrete(ConcreteCore &core, const Arguments &arguments, CallBody body, CallResults &results,
                  const SourceLocation &where) {
  requireEager(arguments, where);
  runConcrete(*core.function, core.traceFor(arguments, body, userLine(where)), arguments, body, results, where);
}

void checkInlinedCall(ConcreteCore &core, CallBody body, const SourceLocation &where) {
  core.check(core.function->describe(body, where), where);
}

std::string printConcrete(const ConcreteCore &core, const std::string &stage, const SourceLocation &where) {
  return printTrace(core.only(where), stage, where);
}

std::string graphConcrete(const ConcreteCore &core, const SourceLocation &where) { return drawTrace(core.only(where)); }

std::string describeConcrete(const ConcreteCore &core) {
  return core.signature.hasAnyRank ? absl::StrCat(core.function->name, "\n", core.signature.str("  "))
                                   : core.only({}).str(core.function->name);
}

namespace {
std::vector<TensorSpec<>> specsOf(const Signature &signature) {
  std::vector<TensorSpec<>> specs;
  for (const SignaturePart &part : signature.parts)
    if (part.kind == SignaturePart::Kind::Tensor) {
      if (part.anyRank)
        specs.emplace_back(part.type.dtype, kAnyShape);
      else
        specs.emplace_back(part.type.dtype, shapeOf(part.type.dims));
    }
  return specs;
}
} // namespace

std::vector<TensorSpec<>> argumentSpecs(const ConcreteCore &core) { return specsOf(core.signature); }
std::vector<TensorSpec<>> resultSpecs(const ConcreteCore &core, const SourceLocation &where) {
  return specsOf(core.only(where).results);
}

} // namespace calque::detail
