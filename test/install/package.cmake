# Makes the Debian packages of the build tree BUILD, unpacks them into a root below SCRATCH, and builds and runs a user's programs
# against what is there: a project of CMake's, and a Makefile that asks pkg-config. Nothing is installed, so that no rights are needed.
cmake_minimum_required(VERSION 3.25)
include(${CMAKE_CURRENT_LIST_DIR}/common.cmake)
need(BUILD SCRATCH SOURCE VERSION SOVERSION GENERATOR COMPILER CPACK DPKG_DEB MAKE PKG_CONFIG)

set(root ${SCRATCH}/root)
file(REMOVE_RECURSE ${SCRATCH})
file(MAKE_DIRECTORY ${root})
unset(ENV{CALQUE_COMPILER_LIBRARY}) # that of the package is meant
unset(ENV{DESTDIR})
unset(ENV{LD_LIBRARY_PATH})
set(config "")
if(CONFIG)
  set(config -C ${CONFIG})
endif()
run("making packages" ${CPACK} -G DEB --config ${BUILD}/CPackConfig.cmake -B ${SCRATCH}/packages ${config})

set(libraries libcalque${SOVERSION})
file(GLOB packages ${SCRATCH}/packages/*.deb)
list(LENGTH packages count)
if(NOT count EQUAL 3)
  message(FATAL_ERROR "expected three packages, found ${packages}")
endif()

# depends(PACKAGE DEPENDENCIES...): that the package has these, each an expression, among what it depends on.
function(depends package)
  file(GLOB file ${SCRATCH}/packages/${package}_${VERSION}_*.deb)
  if(NOT file)
    message(FATAL_ERROR "there is no package ${package} of version ${VERSION}: ${packages}")
  endif()
  run("reading ${package}" ${DPKG_DEB} -f ${file} Depends)
  foreach(dependency ${ARGN})
    if(NOT ", ${output}" MATCHES ", ${dependency}")
      message(FATAL_ERROR "${package} does not depend on ${dependency}: ${output}")
    endif()
  endforeach()
  run("unpacking ${package}" ${DPKG_DEB} -x ${file} ${root})
endfunction()
# What the programs link and what they load: the C library, and for the compiler those of LLVM and MLIR.
if(SHLIBDEPS)
  depends(${libraries} libc6 libstdc.. libllvm libmlir zlib1g libnettle libabsl libpng libjpeg)
  depends(calque-tools "${libraries} .= ${VERSION}." libc6 libstdc.. libmlir)
else()
  depends(${libraries})
  depends(calque-tools "${libraries} .= ${VERSION}.")
endif()
depends(libcalque-dev "${libraries} .= ${VERSION}.")

# From CMake.
build_consumer(${root}/usr)
run("running the consumer" ${SCRATCH}/bin/consumer)

# From a Makefile.
file(GLOB_RECURSE found ${root}/usr/calque.pc)
get_filename_component(directory "${found}" DIRECTORY)
set(ENV{PKG_CONFIG_PATH} ${directory})
run("asking for the version" ${PKG_CONFIG} --modversion calque calque-training calque-solvers calque-distributed calque-interchange calque-standalone)
if(NOT output STREQUAL "${VERSION}\n${VERSION}\n${VERSION}\n${VERSION}\n${VERSION}\n${VERSION}\n")
  message(FATAL_ERROR "pkg-config says that these are the versions: ${output}")
endif()
run("building by make" ${MAKE} -f ${SOURCE}/Makefile SOURCE=${SOURCE} OUTPUT=${SCRATCH}/bin/made CXX=${COMPILER} PKG_CONFIG=${PKG_CONFIG})
get_filename_component(directory ${directory} DIRECTORY)
set(ENV{LD_LIBRARY_PATH} ${directory}) # where the loader would look
run("running what make has built" ${SCRATCH}/bin/made)

# The tools run as they are.
run("running a tool" ${root}/usr/bin/calque-run --help)
run("running a tool with MLIR" ${root}/usr/bin/calque-opt --version)
