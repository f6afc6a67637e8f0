# SPDX-License-Identifier: Apache-2.0
# `./dev package` makes the packages of this system with cpack: sm100sim, what is needed to run it, and sm100sim-dev, what is needed to
# build programs with kernels of one's own (find_package(sm100sim)), and python3-sm100sim.  Libraries that they need are found by dpkg-shlibdeps.
set(CPACK_PACKAGE_NAME sm100sim)
set(CPACK_PACKAGE_VENDOR "sm100sim")
set(CPACK_PACKAGE_CONTACT "The authors of sm100sim <sm100sim@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Cycle-level simulator of the NVIDIA B200's asynchronous units")
set(CPACK_COMPONENT_SM100SIM_DESCRIPTION
"Runs warp-specialised GEMM kernels, PTX and CUDA programs on models of TMA,
mbarriers, tensor memory, UMMA and cluster launch control; explains hangs,
hazards and wrong numbers, and records timelines.")
set(CPACK_COMPONENT_DEV_DESCRIPTION "Headers and static libraries of sm100sim, for programs with kernels of their own.")
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_GENERATOR DEB)
set(CPACK_SOURCE_GENERATOR TXZ)
set(CPACK_COMPONENTS_ALL sm100sim dev)
if(SM100_PYTHON_BUILT)
  list(APPEND CPACK_COMPONENTS_ALL python)
endif()
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_OUTPUT_FILE_PREFIX ${PROJECT_BINARY_DIR}/packages)

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_SM100SIM_PACKAGE_NAME sm100sim)
set(CPACK_DEBIAN_SM100SIM_PACKAGE_SHLIBDEPS ON)
# Its own libcudart.so.13 and libcuda.so.1 are for the programs that it runs, and belong to no package of the system.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR}/exec/lib)
set(CPACK_DEBIAN_DEV_PACKAGE_NAME sm100sim-dev)
set(CPACK_DEBIAN_DEV_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEV_PACKAGE_DEPENDS
    "sm100sim (= ${PROJECT_VERSION}), libsystemc-dev, libeigen3-dev, libfmt-dev, libtomlplusplus-dev, nlohmann-json3-dev, libcli11-dev, libprotobuf-dev, zlib1g-dev, libcpp-httplib-dev")
set(CPACK_COMPONENT_PYTHON_DESCRIPTION "sm100sim for Python 3: runs as functions, traces as NumPy arrays.")
set(CPACK_DEBIAN_PYTHON_PACKAGE_NAME python3-sm100sim)
set(CPACK_DEBIAN_PYTHON_PACKAGE_SECTION python)
set(CPACK_DEBIAN_PYTHON_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PYTHON_PACKAGE_DEPENDS "sm100sim (= ${PROJECT_VERSION}), python3 (>= ${Python3_VERSION_MAJOR}.${Python3_VERSION_MINOR}), python3-numpy")
include(CPack)
