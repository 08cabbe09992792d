# Checks docs/adding-an-operation.md against the repository at SOURCE: the record that it shows is the one in ir/, the
# reference that it shows is the one of the tests, and no other file of the library or of the operations' tests names it.
cmake_minimum_required(VERSION 3.25)
file(READ ${SOURCE}/docs/adding-an-operation.md page)
if(NOT page MATCHES "\n    def Calque_([A-Za-z0-9]+)Op : [A-Za-z_]+<\"([a-z0-9_]+)\"[^\n]*\n(    [^\n]*\n)*    }\n")
  message(FATAL_ERROR "the page shows no record")
endif()
set(record "${CMAKE_MATCH_0}")
set(id ${CMAKE_MATCH_1})
set(mnemonic ${CMAKE_MATCH_2})
if(NOT page MATCHES "\n    template <typename T> T ${mnemonic}_\\([^\n]*\n")
  message(FATAL_ERROR "the page shows no reference of ${mnemonic}")
endif()
set(reference "${CMAKE_MATCH_0}")

set(records ir/Elementwise.td)
set(references test/operations/References.h)
foreach(shown record reference)
  string(REPLACE "\n    " "\n" text "${${shown}}")
  file(READ ${SOURCE}/${${shown}s} file)
  string(FIND "${file}" "${text}" position)
  if(position EQUAL -1)
    message(FATAL_ERROR "the ${shown} on the page is not that of ${${shown}s}:${text}")
  endif()
endforeach()

find_program(GIT git)
if(NOT GIT OR NOT EXISTS ${SOURCE}/.git)
  message("skipped: this is no git repository")
  return()
endif()
# Whole words: the public function and mnemonic, the reference, the id, the C++ class, the record.
set(folders ir passes frontend codegen runtime tools test/operations)
set(others ":!frontend/saving/NamesOfC.cpp") # the C library's functions, of which some are called as operations are
set(names -e ${mnemonic} -e ${mnemonic}_ -e ${id} -e ${id}Op -e Calque_${id}Op)
execute_process(COMMAND ${GIT} -c safe.directory=* grep -l -w ${names} -- ${folders} ${others} WORKING_DIRECTORY ${SOURCE}
                OUTPUT_VARIABLE files ERROR_VARIABLE errors RESULT_VARIABLE result)
if(NOT result EQUAL 0)
  message(FATAL_ERROR "git grep: ${result} ${errors}")
endif()
if(NOT files STREQUAL "${records}\n${references}\n")
  message(FATAL_ERROR "${mnemonic} is named in\n${files}but one record and one reference are to be enough: ${records} and ${references}.\n"
                      "Where another file only uses the operation, the page should show one that no file uses.")
endif()
