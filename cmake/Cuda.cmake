# The CUDA Toolkit is optional: without nvcc kernels/cuda and its checks are left out.
#
# sm_90a and sm_100a are spelled out per target: plain architectures reject the instructions that the kernels use.

include(CheckLanguage)
check_language(CUDA)
if(CMAKE_CUDA_COMPILER)
  enable_language(CUDA)
  find_package(CUDAToolkit REQUIRED)
  set(SM100_CUDA ON)
else()
  set(SM100_CUDA OFF)
  message(STATUS "CUDA Toolkit not found: kernels/cuda and its checks are skipped")
endif()

set(SM100_GENCODE_90A --generate-code=arch=compute_90a,code=sm_90a)
set(SM100_GENCODE_100A --generate-code=arch=compute_100a,code=sm_100a)

# sm100_cuda_objects(target GENCODE flags... SOURCES files...): device code against the headers of sm100_copy and
# sm100_matmul.
function(sm100_cuda_objects target)
  cmake_parse_arguments(ARG "" "" "SOURCES;GENCODE" ${ARGN})
  add_library(${target} OBJECT ${ARG_SOURCES})
  set_target_properties(${target} PROPERTIES CUDA_ARCHITECTURES OFF CUDA_STANDARD_REQUIRED OFF) # CMake 3.25 does not know this flag of nvcc 13
  target_compile_options(${target} PRIVATE -std=c++20 ${ARG_GENCODE} --expt-relaxed-constexpr -Xptxas -v)
  target_link_libraries(${target} PRIVATE sm100_copy sm100_matmul)
endfunction()
