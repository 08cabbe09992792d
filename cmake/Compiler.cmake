# What every target is built with, and the two kinds of targets: those that know MLIR and those that must not.

# Compilations go through ccache where it is installed. What it has from another checkout serves here as well: paths below this
# folder count as relative ones, and the build's folder does not count. Precompiled headers need the two allowances.
find_program(CALQUE_CCACHE ccache)
mark_as_advanced(CALQUE_CCACHE)
if(CALQUE_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1
                                  CCACHE_SLOPPINESS=pch_defines,time_macros ${PROJECT_SOURCE_DIR}/cmake/ccache.sh)
endif()

find_package(MLIR 22.1 REQUIRED CONFIG HINTS /usr/lib/llvm-22)
list(APPEND CMAKE_MODULE_PATH ${MLIR_CMAKE_DIR} ${LLVM_CMAKE_DIR})
include(TableGen)
include(AddLLVM)
include(AddMLIR)

add_compile_options(-Wall -Wextra -Wno-unused-parameter)
# GCC 12 sees overlapping copies where strings are added: https://gcc.gnu.org/bugzilla/show_bug.cgi?id=105651
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  add_compile_options(-Wno-restrict)
endif()

# Most steps allocate less than a gigabyte. GCC would look for what it can free from a quarter of that on.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  add_compile_options(--param=ggc-min-heapsize=524288)
endif()

# A folder's sources share the headers that take most of the time that they take to compile. In batches, a build from nothing
# takes a third of the time, and the build after a change compiles a batch anew: the preset `dev` compiles each source alone.
option(CALQUE_UNITY "Compile the sources of a folder in batches" ON)

# calque_batches(TARGET SIZE): compiles the sources of TARGET in batches of SIZE, if batches are on.
function(calque_batches target size)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${CALQUE_UNITY} UNITY_BUILD_BATCH_SIZE ${size})
endfunction()

# Clang warns of a function that std::stable_sort of libstdc++ 12 calls itself.
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  add_compile_options(-Wno-deprecated-declarations)
endif()

# calque_library(NAME SOURCES...): a static library of one folder. Without a link to `calque_mlir` no header of MLIR or
# LLVM is found, so that a forbidden include does not build.
function(calque_library name)
  add_library(${name} STATIC ${ARGN})
  target_include_directories(${name} PUBLIC ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR})
  calque_batches(${name} 12)
endfunction()

# The shared libraries only: a static MLIR library beside them would be a second copy of its globals.
add_library(calque_mlir INTERFACE)
target_include_directories(calque_mlir SYSTEM INTERFACE ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
separate_arguments(CALQUE_LLVM_DEFINITIONS NATIVE_COMMAND "${LLVM_DEFINITIONS}")
target_compile_definitions(calque_mlir INTERFACE ${CALQUE_LLVM_DEFINITIONS})
target_compile_options(calque_mlir INTERFACE -fno-rtti -fno-exceptions)
# With -O1, GCC 12 no longer sees that an optional value is read only where there is one.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_compile_options(calque_mlir INTERFACE -Wno-maybe-uninitialized)
endif()
# Compiling a program takes as long with code of -O1 as with that of -O3 (`calque-bench --compile`): most of it passes in LLVM.
if(CMAKE_BUILD_TYPE STREQUAL "Release" AND NOT CALQUE_SANITIZE)
  target_compile_options(calque_mlir INTERFACE -O1)
endif()
target_link_libraries(calque_mlir INTERFACE MLIR LLVM)

# calque_tblgen(OUTPUT GENERATOR [SOURCE]): what calque-tblgen makes of the records, into the build tree at OUTPUT.
file(GLOB CALQUE_RECORDS CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/ir/*.td)
function(calque_tblgen output generator)
  get_filename_component(directory ${PROJECT_BINARY_DIR}/${output} DIRECTORY)
  file(MAKE_DIRECTORY ${directory})
  add_custom_command(
    OUTPUT ${PROJECT_BINARY_DIR}/${output}
    COMMAND calque-tblgen -gen-${generator} --write-if-changed -I ${PROJECT_SOURCE_DIR} -I ${MLIR_INCLUDE_DIRS} ${PROJECT_SOURCE_DIR}/ir/Calque.td
            -o ${PROJECT_BINARY_DIR}/${output}
    DEPENDS calque-tblgen ${CALQUE_RECORDS}
    COMMENT "Records: ${output}")
endfunction()
