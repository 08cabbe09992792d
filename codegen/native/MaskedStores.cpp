#include "codegen/native/MaskedStores.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicInst.h"

#include <optional>

namespace calque::codegen {

namespace {

// The only lane of a mask that is known.
std::optional<unsigned> onlyLane(llvm::Value *mask) {
  auto *known = llvm::dyn_cast<llvm::Constant>(mask);
  auto *type = llvm::dyn_cast<llvm::FixedVectorType>(mask->getType());
  if (!known || !type)
    return std::nullopt;
  std::optional<unsigned> lane;
  for (unsigned i = 0; i < type->getNumElements(); ++i) {
    const llvm::Constant *element = known->getAggregateElement(i);
    if (!element || (!element->isNullValue() && (!element->isOneValue() || lane)))
      return std::nullopt;
    if (!element->isNullValue())
      lane = i;
  }
  return lane;
}

void storeLane(llvm::CallInst &call, unsigned lane) {
  llvm::Value *vector = call.getArgOperand(0), *place = call.getArgOperand(1);
  llvm::Type *type = vector->getType()->getScalarType();
  const auto offset = lane * (type->getPrimitiveSizeInBits().getFixedValue() / 8);
  llvm::IRBuilder<> builder(&call);
  llvm::Value *element = builder.CreateExtractElement(vector, lane);
  if (lane != 0)
    place = builder.CreateConstInBoundsGEP1_64(type, place, lane);
  const llvm::Align align = llvm::commonAlignment(call.getParamAlign(1).valueOrOne(), offset);
  llvm::StoreInst *store = builder.CreateAlignedStore(element, place, align);
  store->setAAMetadata(call.getAAMetadata());
  call.eraseFromParent();
}

} // namespace

void storeSingleLanes(llvm::Module &module) {
  for (llvm::Function &function : module)
    if (function.getIntrinsicID() == llvm::Intrinsic::masked_store)
      for (llvm::User *user : llvm::make_early_inc_range(function.users())) {
        auto &call = *llvm::cast<llvm::CallInst>(user);
        if (std::optional<unsigned> lane = onlyLane(call.getArgOperand(call.arg_size() - 1)))
          storeLane(call, *lane);
      }
}

} // namespace calque::codegen
