// Analyses loops that store by themselves: which elements they touch, and between the iterations of which loops these
// differ. Lowering marks the loops whose iterations are independent. The iterations of other loops keep their order.
#ifndef CALQUE_CODEGEN_SCHEDULE_STORINGNEST_H
#define CALQUE_CODEGEN_SCHEDULE_STORINGNEST_H

#include "codegen/schedule/Kernels.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"

#include "llvm/ADT/SmallBitVector.h"

#include <vector>

namespace calque::codegen {

// A load or a store. Its address is a sum of loops' indices times strides, and of what the body computes.
struct Touch {
  mlir::Operation *op;
  bool isStore;
  mlir::Value buffer;
  Access access;
  struct Part {
    mlir::Value value;
    Extent stride;
    // Whether the value alone is the index of a dimension, so that different values touch different elements.
    bool isIndex = false;
    Extent size = 0; // of this dimension
  };
  llvm::SmallVector<Part> computed;
};

// The loops and their body, and how to emit parts of it elsewhere.
class StoringNest {
public:
  // `builder` emits what the loops become, or what their analysis computes.
  StoringNest(mlir::scf::ForOp outermost, const Target &target, const mlir::OpBuilder &builder)
      : b(builder), location(outermost.getLoc()), target(target), outermost(outermost) {}

protected:
  // Finds the loops, from the outermost on. Fails if none is independent.
  bool findLoops();
  void addLoop(mlir::scf::ForOp loop, bool isOrdered);
  // Finds what the body loads and stores. Fails if it does anything but loads, stores and arithmetic on elements.
  bool readBody();
  // Merges two adjacent loops if all touched elements allow it.
  void mergeLoops();

  bool isOutside(mlir::Value value) const {
    mlir::Operation *around = value.getParentBlock()->getParentOp(); // none: the analysis has computed the value
    return !around || !outermost->isAncestor(around);
  }
  const Touch *touchOf(mlir::Operation *op) const;
  // Whether the results of an operation differ between the iterations of a loop.
  bool dependsOn(mlir::Operation *op, unsigned loop) const;
  bool dependsOn(mlir::Value value, unsigned loop) const {
    return value.getDefiningOp() && dependsOn(value.getDefiningOp(), loop);
  }
  // The operations of the body that compute a value.
  llvm::SmallPtrSet<mlir::Operation *, 16> operationsFor(mlir::Value value) const;
  bool readsStored(mlir::Value value) const;

  Extent iterationsOf(llvm::ArrayRef<unsigned> of) const;
  // "(4096) x 64: loops that store addf"; loops in order are in parentheses.
  std::string text() const;

  // The place of iteration `number` of several loops, the first of which is the outermost.
  Position placeIn(llvm::ArrayRef<unsigned> of, mlir::Value number, Position at);
  // The loops' indices, which the body may ask for.
  mlir::IRMapping mappingOf(const Position &at) const;
  Access accessOf(const Touch &touch, const mlir::IRMapping &mapping);
  // Emits an operation of the body for one element or for a vector of them.
  void emitOp(mlir::Operation *op, VectorBuilder &w, const Position &at, const Number &valid, mlir::IRMapping &mapping);

  mlir::OpBuilder b;
  mlir::Location location;
  const Target &target;
  mlir::scf::ForOp outermost;
  llvm::SmallVector<mlir::scf::ForOp> loops;
  llvm::SmallVector<mlir::Value> indices; // of the loops that are left after some have been merged
  llvm::SmallBitVector isAsked;           // whether the body uses a loop's index for more than addresses
  Nest nest{};                            // the loops; those that keep their order count as reductions
  mlir::Block *body = nullptr;
  bool isRead = false; // whether all that the body does is known
  std::vector<Touch> touches;
  llvm::SmallPtrSet<mlir::Operation *, 32> needed; // the operations that compute what is stored and carried
  llvm::SmallDenseSet<mlir::Value, 4> stored;      // buffers

private:
  // A sum of loops' indices times factors, a constant and other values.
  struct Linear {
    llvm::SmallVector<int64_t> factors;
    int64_t constant = 0;
    llvm::SmallVector<mlir::Value> rest;
  };
  Linear linearOf(mlir::Value value) const;
  bool addTouch(mlir::Operation *op);
  void findDependences();

  llvm::DenseMap<mlir::Operation *, llvm::SmallBitVector> dependences; // loops by which its results differ
};

} // namespace calque::codegen
#endif
