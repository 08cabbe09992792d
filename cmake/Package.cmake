# Debian packages, made in the build folder by `cpack -G DEB`: the shared libraries, what programs are built with, and the tools.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME calque)
set(CPACK_PACKAGE_VENDOR Calque)
set(CPACK_PACKAGE_CONTACT "Calque maintainers <maintainers@calque.invalid>" CACHE STRING "Who makes the packages: name <address>")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL libraries development tools)
set(CPACK_DEB_COMPONENT_INSTALL ON)

set(libraries libcalque${CALQUE_SOVERSION})
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_DEBIAN_LIBRARIES_PACKAGE_NAME ${libraries})
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libcalque-dev)
set(CPACK_DEBIAN_TOOLS_PACKAGE_NAME calque-tools)
set(CPACK_DEBIAN_LIBRARIES_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_TOOLS_PACKAGE_SECTION devel)
set(CPACK_COMPONENT_LIBRARIES_DESCRIPTION
    "Tracing JIT compiler for C++: shared libraries\n The libraries of programs that use Calque, its compiler, and native code of common operations.")
set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION
    "Tracing JIT compiler for C++: headers\n Headers, files for CMake and pkg-config, and the static runtime of programs that are compiled ahead of time.")
set(CPACK_COMPONENT_TOOLS_DESCRIPTION
    "Tracing JIT compiler for C++: tools\n calque-run, calque-compile, calque-dump and calque-opt.")

# What the libraries of other packages are, dpkg-shlibdeps says. Without it (on other systems) packages are for the machine that makes them.
find_program(CALQUE_SHLIBDEPS dpkg-shlibdeps)
mark_as_advanced(CALQUE_SHLIBDEPS)
if(CALQUE_SHLIBDEPS)
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${CMAKE_LIBRARY_OUTPUT_DIRECTORY})
  # dpkg-shlibdeps finds LLVM's library a second time, as a link that belongs to llvm-22-dev. If it looks at the link first, it omits the
  # package of the library.
  get_filename_component(llvm ${LLVM_LIBRARY_DIR}/libLLVM.so.${LLVM_VERSION_MAJOR}.${LLVM_VERSION_MINOR} REALPATH)
  execute_process(COMMAND dpkg-query --search ${llvm} OUTPUT_VARIABLE owner ERROR_QUIET)
  if(owner MATCHES "^([^:, ]+)")
    set(CPACK_DEBIAN_LIBRARIES_PACKAGE_DEPENDS ${CMAKE_MATCH_1})
  endif()
endif()
# The loader's cache is renewed when the libraries are unpacked.
set(CPACK_DEBIAN_LIBRARIES_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS_POLICY ">=")
# Loaded when linear algebra of large matrices asks for it.
set(CPACK_DEBIAN_LIBRARIES_PACKAGE_RECOMMENDS libopenblas0-pthread)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "${libraries} (= ${PROJECT_VERSION})")
set(CPACK_DEBIAN_TOOLS_PACKAGE_DEPENDS "${libraries} (= ${PROJECT_VERSION})")
include(CPack)
