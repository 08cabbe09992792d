# The parts that are installed (libraries, development, tools), and what finds them: find_package(Calque) and pkg-config.
include(CMakePackageConfigHelpers)

set_target_properties(calque calque-training calque-solvers calque-distributed calque-interchange calque-compiler PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${CALQUE_SOVERSION})
# The installed compiler finds MLIR where the built one does.
set_target_properties(calque-compiler PROPERTIES INSTALL_RPATH_USE_LINK_PATH ON)

set(CALQUE_PACKAGE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/Calque)
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/CalqueConfig.cmake.in ${PROJECT_BINARY_DIR}/cmake/CalqueConfig.cmake
                              INSTALL_DESTINATION ${CALQUE_PACKAGE_DIR})
# While the major version is 0, a minor version may change the API.
set(compatibility SameMinorVersion)
if(PROJECT_VERSION_MAJOR GREATER 0)
  set(compatibility SameMajorVersion)
endif()
write_basic_package_version_file(${PROJECT_BINARY_DIR}/cmake/CalqueConfigVersion.cmake COMPATIBILITY ${compatibility})

install(EXPORT CalqueTargets NAMESPACE Calque:: DESTINATION ${CALQUE_PACKAGE_DIR} COMPONENT development)
# find_package(Calque) with this build's folder cmake/, as Calque_DIR, finds what is built.
export(EXPORT CalqueTargets NAMESPACE Calque:: FILE ${PROJECT_BINARY_DIR}/cmake/CalqueTargets.cmake)
install(FILES ${PROJECT_BINARY_DIR}/cmake/CalqueConfig.cmake ${PROJECT_BINARY_DIR}/cmake/CalqueConfigVersion.cmake
        DESTINATION ${CALQUE_PACKAGE_DIR} COMPONENT development)

# pkg-config: paths are relative to the file's, so that a prefix may be moved.
file(RELATIVE_PATH CALQUE_PREFIX_OF_PKGCONFIG /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
string(REGEX REPLACE "/$" "" CALQUE_PREFIX_OF_PKGCONFIG ${CALQUE_PREFIX_OF_PKGCONFIG})
foreach(package calque calque-training calque-solvers calque-distributed calque-interchange calque-standalone)
  configure_file(${CMAKE_CURRENT_LIST_DIR}/${package}.pc.in ${PROJECT_BINARY_DIR}/pkgconfig/${package}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/pkgconfig/${package}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)
endforeach()

foreach(component libraries development tools)
  install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/doc/calque-${component} COMPONENT ${component})
endforeach()
