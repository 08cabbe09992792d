# What the tests of installed files share.

# need(NAME...): fails unless the script was given these.
function(need)
  foreach(name ${ARGN})
    if(NOT ${name})
      message(FATAL_ERROR "the script needs -D${name}=...")
    endif()
  endforeach()
endfunction()

# run(WHAT COMMAND...): fails with the command's output. `output` is what it wrote to standard output.
function(run what)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE errors)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "${what}: ${result}\n${output}\n${errors}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

set(flags "${FLAGS}")
set(program "")
if(MAKE_PROGRAM)
  set(program -DCMAKE_MAKE_PROGRAM=${MAKE_PROGRAM})
endif()

# build_consumer(PREFIX): builds the user's project in SOURCE against what is installed in PREFIX, into SCRATCH/bin.
function(build_consumer prefix)
  run("configuring the consumer" ${CMAKE_COMMAND} -S ${SOURCE} -B ${SCRATCH}/consumer -G ${GENERATOR} ${program}
      -DCMAKE_CXX_COMPILER=${COMPILER} "-DCMAKE_CXX_FLAGS=${flags}" -DCMAKE_BUILD_TYPE=${CONFIG} -DCMAKE_PREFIX_PATH=${prefix}
      -DCMAKE_FIND_USE_PACKAGE_REGISTRY=OFF -DVERSION=${VERSION} -DCMAKE_RUNTIME_OUTPUT_DIRECTORY=${SCRATCH}/bin/$<0:>)
  set(config "")
  if(CONFIG)
    set(config --config ${CONFIG})
  endif()
  run("building the consumer" ${CMAKE_COMMAND} --build ${SCRATCH}/consumer ${config})
endfunction()
