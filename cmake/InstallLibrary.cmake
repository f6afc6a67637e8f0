# SPDX-License-Identifier: Apache-2.0
# find_package(sm100sim) in projects that bring kernels of their own (examples/own_kernel):
#   sm100sim::kernels  headers of the seam, the rings and the kernels, for both sides
#   sm100sim::sim      scenarios, the model, runs
#   sm100sim::cli      the program's commands as a library
#   sm100sim::traces   traces: read, write, compare
add_library(sm100_roles INTERFACE)
get_property(kernel_targets GLOBAL PROPERTY SM100_KERNEL_TARGETS)
target_link_libraries(sm100_roles INTERFACE sm100_isa sm100_pipeline sm100_scheduler sm100_epilogue ${kernel_targets})

get_property(targets GLOBAL PROPERTY SM100_INSTALLED_TARGETS)
list(REMOVE_DUPLICATES targets)
set_target_properties(sm100_roles PROPERTIES EXPORT_NAME kernels)
foreach(name sim cli traces)
  set_target_properties(sm100_${name} PROPERTIES EXPORT_NAME ${name})
endforeach()
install(TARGETS ${targets} sm100_roles sm100_warnings sm100_systemc EXPORT sm100simTargets
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}/sm100sim COMPONENT dev)
install(DIRECTORY kernels models sim traces DESTINATION ${SM100_INSTALLED_HEADERS} COMPONENT dev
        FILES_MATCHING PATTERN "*.h" PATTERN "*.cuh")

set(package ${CMAKE_INSTALL_LIBDIR}/cmake/sm100sim)
install(EXPORT sm100simTargets NAMESPACE sm100sim:: DESTINATION ${package} COMPONENT dev)
include(CMakePackageConfigHelpers)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/sm100simConfigVersion.cmake COMPATIBILITY ExactVersion)
configure_file(${CMAKE_CURRENT_LIST_DIR}/sm100simConfig.cmake.in ${PROJECT_BINARY_DIR}/sm100simConfig.cmake @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/sm100simConfig.cmake ${PROJECT_BINARY_DIR}/sm100simConfigVersion.cmake DESTINATION ${package}
        COMPONENT dev)
