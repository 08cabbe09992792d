# What find_package(Calque) reads: the target Calque::calque and the version.
include(CMakePackageConfigHelpers)

# The installed compiler finds MLIR where the built one does.
set_target_properties(calque-compiler PROPERTIES INSTALL_RPATH_USE_LINK_PATH ON)

set(CALQUE_PACKAGE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/Calque)
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/CalqueConfig.cmake.in ${PROJECT_BINARY_DIR}/cmake/CalqueConfig.cmake
                              INSTALL_DESTINATION ${CALQUE_PACKAGE_DIR})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/cmake/CalqueConfigVersion.cmake COMPATIBILITY SameMajorVersion)

install(EXPORT CalqueTargets NAMESPACE Calque:: DESTINATION ${CALQUE_PACKAGE_DIR})
install(FILES ${PROJECT_BINARY_DIR}/cmake/CalqueConfig.cmake ${PROJECT_BINARY_DIR}/cmake/CalqueConfigVersion.cmake
        DESTINATION ${CALQUE_PACKAGE_DIR})
