# The kernels of libraries, each file of them; the records of operations name them. The standalone runtime has them, too.
file(GLOB CALQUE_LIBRARY_KERNELS CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/*.cpp)

# Small matrices and Fourier transforms are worked on by vectors. What each class of CPUs has is compiled alone, for it. Roots of negative numbers
# set no errno, and no one asks for exceptions of numbers.
foreach(cpu Baseline Avx2 Avx512)
  # With checks of undefined behaviour, and with more optimisation beside those of addresses, each of these files would take minutes.
  if(CALQUE_SANITIZE MATCHES undefined)
    set(level -O1 -fno-sanitize=undefined)
  elseif(CALQUE_SANITIZE)
    set(level -O1)
  else()
    set(level -O3)
  endif()
  set(options ${level} -fno-math-errno -fno-trapping-math -Wno-psabi)
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64" AND cpu STREQUAL "Avx2")
    list(APPEND options -march=x86-64-v3)
  elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64" AND cpu STREQUAL "Avx512")
    list(APPEND options -march=x86-64-v4)
  endif()
  set_source_files_properties(${CMAKE_CURRENT_LIST_DIR}/SmallMatrices${cpu}.cpp ${CMAKE_CURRENT_LIST_DIR}/Fourier${cpu}.cpp PROPERTIES COMPILE_OPTIONS "${options}"
                              SKIP_UNITY_BUILD_INCLUSION ON SKIP_PRECOMPILE_HEADERS ON)
endforeach()

# Products of complex numbers are those of their parts, as in all of Calque: no check for what annex G of C makes of NaN.
set_source_files_properties(${CMAKE_CURRENT_LIST_DIR}/ComplexFactors.cpp ${CMAKE_CURRENT_LIST_DIR}/ComplexSpectral.cpp
                            ${CMAKE_CURRENT_LIST_DIR}/ComplexBanded.cpp ${CMAKE_CURRENT_LIST_DIR}/ComplexGeneral.cpp
                            PROPERTIES COMPILE_OPTIONS "$<$<CXX_COMPILER_ID:GNU>:-fcx-fortran-rules>" SKIP_UNITY_BUILD_INCLUSION ON SKIP_PRECOMPILE_HEADERS ON)
