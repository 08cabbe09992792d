# Fails unless the reference page PAGE is what the records say, MADE.
cmake_minimum_required(VERSION 3.25)
file(READ ${PAGE} page)
file(READ ${MADE} made)
if(NOT page STREQUAL made)
  message(FATAL_ERROR "${PAGE} is not what the records say; cmake --build BUILD --target update-reference makes it anew")
endif()
