# A compiled program as data, which the front end, the compiler and what is compiled ahead of time exchange. Two libraries have
# these sources: libcalque, and the small one for programs without it.
set(CALQUE_PROGRAM_SOURCES ${PROJECT_SOURCE_DIR}/program/ProgramFile.cpp ${PROJECT_SOURCE_DIR}/program/SiteText.cpp)
