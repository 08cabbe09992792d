# The kernels of libraries, each file of them; the records of operations name them. The standalone runtime has them, too.
file(GLOB CALQUE_LIBRARY_KERNELS CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/*.cpp)
