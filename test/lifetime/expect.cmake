# Fails unless COMMAND ends with 0, writes nothing to standard error, and its standard output matches OUTPUT, a regular expression.
execute_process(COMMAND ${COMMAND} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE errors)
if(NOT result EQUAL 0 OR NOT errors STREQUAL "" OR NOT output MATCHES "^${OUTPUT}$")
  message(FATAL_ERROR "exit code ${result}\nstandard output:\n${output}\nstandard error:\n${errors}\nexpected:\n${OUTPUT}")
endif()
