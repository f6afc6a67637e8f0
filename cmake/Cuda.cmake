# SPDX-License-Identifier: Apache-2.0
# The optional CUDA Toolkit.  No CUDA language: nvcc runs as a custom command, so that a build without a GPU (or
# with a host compiler that nvcc does not know) configures the same way, and PTX and ptxas's report stay as files.

find_program(SM100_NVCC nvcc PATHS /usr/local/cuda/bin DOC "CUDA compiler; empty: kernels/cuda is skipped")
if(NOT SM100_CUDA)
  set(SM100_NVCC SM100_NVCC-NOTFOUND)
  message(STATUS "SM100_CUDA is off: kernels/cuda and its checks are skipped")
elseif(NOT SM100_NVCC)
  message(STATUS "CUDA Toolkit not found: kernels/cuda and its checks are skipped")
else()
  find_package(CUDAToolkit QUIET) # the runtime that sm100-run links
  if(NOT TARGET CUDA::cudart_static)
    message(STATUS "CUDA runtime library not found: sm100-run is skipped")
  endif()
endif()

# sm100_nvcc(SOURCE file OUTPUT file TARGETS sm_100a ... [FLAGS ...] [KEEP_PTX] [LOG file])
#   Compiles SOURCE to OUTPUT: an object file for all TARGETS, or for one of them PTX (.ptx) or a .cubin.
#   KEEP_PTX also leaves SOURCE.ptx beside OUTPUT; LOG is ptxas's report.  Device code sees kernels/ and nothing else.
function(sm100_nvcc)
  cmake_parse_arguments(ARG "KEEP_PTX" "OUTPUT;SOURCE;LOG" "TARGETS;FLAGS" ${ARGN})
  get_filename_component(folder ${ARG_OUTPUT} DIRECTORY)
  get_filename_component(stem ${ARG_SOURCE} NAME_WE)
  get_filename_component(extension ${ARG_OUTPUT} LAST_EXT)
  file(MAKE_DIRECTORY ${folder})
  set(mode -c)
  if(extension STREQUAL ".ptx")
    set(mode -ptx)
  elseif(extension STREQUAL ".cubin")
    set(mode -cubin)
  endif()
  set(flags ${mode} -std=c++20 -O3 --expt-relaxed-constexpr -Werror all-warnings ${ARG_FLAGS})
  foreach(target ${ARG_TARGETS})
    # Never -arch=sm_100a, which also emits code for plain compute_100.
    string(REPLACE "sm_" "compute_" virtual ${target})
    if(mode STREQUAL "-ptx")
      list(APPEND flags -arch=${virtual})
    else()
      list(APPEND flags -gencode arch=${virtual},code=${target})
    endif()
  endforeach()
  get_property(kernels GLOBAL PROPERTY SM100_KERNEL_TARGETS)
  foreach(root sm100_isa sm100_pipeline sm100_scheduler sm100_epilogue ${kernels})
    list(APPEND flags -I${PROJECT_BINARY_DIR}/include/${root})
  endforeach()
  set(outputs ${ARG_OUTPUT})
  if(ARG_KEEP_PTX)
    list(APPEND flags --keep --keep-dir ${folder})
    list(APPEND outputs ${folder}/${stem}.ptx)
  endif()
  if(ARG_LOG)
    list(APPEND flags -Xptxas -v)
    list(APPEND outputs ${ARG_LOG})
  endif()
  add_custom_command(
    OUTPUT ${outputs}
    COMMAND ${CMAKE_COMMAND} -DLOG=${ARG_LOG} -P ${PROJECT_SOURCE_DIR}/cmake/RunLogged.cmake --
            ${SM100_NVCC} ${flags} -MD -MF ${ARG_OUTPUT}.d -MT ${ARG_OUTPUT} -o ${ARG_OUTPUT} ${ARG_SOURCE}
    DEPENDS ${ARG_SOURCE} ${PROJECT_SOURCE_DIR}/cmake/RunLogged.cmake
    DEPFILE ${ARG_OUTPUT}.d
    COMMENT "nvcc ${ARG_TARGETS} ${stem}${extension}"
    VERBATIM)
endfunction()
