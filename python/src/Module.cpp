// The module calque._native. What it binds is in the other files.
#include "Support.h"

#include <calque/version.h>

#include <nanobind/stl/string.h>

NB_MODULE(_native, m) {
  using namespace calque::python;
  m.doc() = "The native part of the package calque.";
  m.def("_set_package_folder", &setPackageFolder);
  m.def("_here", [] {
    const calque::SourceLocation where = here();
    return nb::make_tuple(where.file, where.line);
  });
  m.attr("version") = CALQUE_VERSION;
  m.def_submodule("linalg", "Linear algebra.");
  m.def_submodule("random", "Random numbers by Philox 4x32-10.");
  bindErrors(m);
  bindDTypes(m);
  bindTensors(m);
  bindArrays(m);
  bindVariables(m);
  bindCalls(m);
  bindFunctions(m);
  bindTransforms(m);
  bindControlFlow(m);
  bindFiles(m);
}
