// Programs on more than one process, by MPI: groups of ranks, and collectives that are operations.
//
//   #include <calque/distributed.h>
//   using namespace calque;
//
//   int main() { // mpirun -n 4 ./program
//     distributed::World world = distributed::init();
//     auto f = function([](const Tensor &x) { return distributed::all_reduce(square(x)); });
//     Tensor sum = f(full({2}, float(world.rank()))); // the same on each rank: [14, 14]
//   }
//
// Without MPI, the library runs the same programs as one rank.
#ifndef CALQUE_DISTRIBUTED_H
#define CALQUE_DISTRIBUTED_H

#include "calque/distributed/collectives.h"
#include "calque/distributed/data_parallel.h"
#include "calque/distributed/group.h"

#endif
