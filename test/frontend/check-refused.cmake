# Fails unless COMPILER refuses SOURCE, compiled with INCLUDES as -I and DEFINES as -D, by one error, which has MESSAGE.
# With CODE it makes code, as what calls a function shows only then.
list(TRANSFORM INCLUDES PREPEND -I)
list(TRANSFORM DEFINES PREPEND -D)
set(mode -fsyntax-only)
if(CODE)
  set(mode -S -o /dev/null)
endif()
execute_process(COMMAND ${COMPILER} -std=gnu++20 ${mode} -fno-diagnostics-color ${DEFINES} ${INCLUDES} ${SOURCE}
                RESULT_VARIABLE failed ERROR_VARIABLE text)
string(REPLACE ";" "," lines "${text}") # a semicolon would end an element of the list
string(REPLACE ";" "," MESSAGE "${MESSAGE}")
string(REGEX MATCHALL " error: [^\n]*" errors "${lines}")
list(LENGTH errors count)
string(FIND "${errors}" "${MESSAGE}" position)
if(NOT failed OR NOT count EQUAL 1 OR position EQUAL -1)
  message(FATAL_ERROR "expected one error, \"${MESSAGE}\", not:\n${text}")
endif()
