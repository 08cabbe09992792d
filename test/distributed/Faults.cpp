// A program whose rank 1 ends in a way that leaves the others waiting, for check-fault.cmake.
#include "calque/calque.h"
#include "calque/distributed.h"

#include <unistd.h>

#include <csignal>
#include <cstring>
#include <iostream>

using namespace calque;

int main(int, char **argv) {
  const distributed::World world = distributed::init({.timeout = 3});
  const char *fault = argv[1];
  auto is = [&](const char *name) { return std::strcmp(fault, name) == 0; };
  auto sum = function([](const Tensor &x) { return distributed::all_reduce(x); });
  auto checked = function([](const Tensor &x) {
    assert_true(x > -1.0f, "x must be large");
    return distributed::all_reduce(x);
  });
  sum(ones({2}));
  checked(ones({2}));
  if (world.rank() == 1 && is("throws"))
    throw std::runtime_error("there is no such file");
  if (world.rank() == 1 && is("returns"))
    return 3;
  if (world.rank() == 1 && is("killed"))
    std::raise(SIGKILL);
  if (world.rank() == 1 && is("assertion"))
    checked(full({2}, -2.0f));
  if (is("goes-on")) { // catches the error of a call that the others wait in
    try {
      checked(full({2}, world.rank() == 1 ? -2.0f : 1.0f));
    } catch (const AssertionError &) {
      sum(ones({2}));
    }
  }
  if (world.rank() == 1 && is("stays-away")) {
    while (true)
      pause();
  }
  if (is("stays-away"))
    distributed::all_gather(ones({2}));
  sum(ones({2}));
  if (is("none"))
    return 0;
  while (true)
    sum(ones({2}));
}
