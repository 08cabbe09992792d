# Nettle::nettle: hash functions. The library has no package file for CMake.
find_path(NETTLE_INCLUDE_DIR nettle/sha2.h REQUIRED)
find_library(NETTLE_LIBRARY nettle REQUIRED)
mark_as_advanced(NETTLE_INCLUDE_DIR NETTLE_LIBRARY)
add_library(Nettle::nettle UNKNOWN IMPORTED)
set_target_properties(Nettle::nettle PROPERTIES
  IMPORTED_LOCATION ${NETTLE_LIBRARY}
  INTERFACE_INCLUDE_DIRECTORIES ${NETTLE_INCLUDE_DIR})
