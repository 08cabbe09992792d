// Turns the records of ir/*.td into everything that is said of an operation outside of MLIR's own op classes.
#include "llvm/Support/CommandLine.h"
#include "llvm/TableGen/Main.h"
#include "llvm/TableGen/TableGenBackend.h"

int main(int argc, char **argv) {
  llvm::cl::ParseCommandLineOptions(argc, argv, "Calque's record generator\n");
  return llvm::TableGenMain(argv[0], llvm::TableGenMainFn(nullptr));
}
