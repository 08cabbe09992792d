# MPI, where it is found, and tests on several ranks.
option(CALQUE_MPI "Use MPI for distributed programs, where it is found" ON)
if(CALQUE_MPI)
  find_package(MPI COMPONENTS C)
endif()

# Ranks share the processors of the machine that tests, and one thread each, since threads of several would wait for each other. A
# container may not let ranks read each other's memory, which the transport in shared memory would try.
set(CALQUE_MPI_ENVIRONMENT OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
    OMPI_MCA_btl_vader_single_copy_mechanism=none OMPI_MCA_hwloc_base_binding_policy=none OMPI_MCA_btl=self,vader OMPI_MCA_mpi_yield_when_idle=1
    CALQUE_NUM_THREADS=1)
if(CALQUE_SANITIZE)
  # What MPI allocates for a process it leaves to the end of it. The other option is that of ./dev.
  list(APPEND CALQUE_MPI_ENVIRONMENT ASAN_OPTIONS=intercept_tls_get_addr=0:detect_leaks=0)
endif()

# calque_on_ranks(NAME RANKS COMMAND...): a test that runs on so many ranks.
function(calque_on_ranks name ranks)
  add_test(NAME ${name} COMMAND ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} ${ranks} ${ARGN})
  set_tests_properties(${name} PROPERTIES ENVIRONMENT "${CALQUE_MPI_ENVIRONMENT}" PROCESSORS ${ranks} TIMEOUT 300)
endfunction()
