# SPDX-License-Identifier: Apache-2.0
# One target per folder, and a folder sees only what its target links.
#
# Every folder F of the repository gets its own include root, build/include/<target>/, that holds nothing but a
# link F -> <source>/F.  A target exports that root alone, so `#include "models/tma.h"` compiles only in targets
# that link models: the dependency table of docs/architecture.md is enforced by the compiler.

include(GNUInstallDirs)
set(SM100_INSTALLED_HEADERS ${CMAKE_INSTALL_INCLUDEDIR}/sm100sim)

function(sm100_folder target folder)
  cmake_parse_arguments(ARG "INTERFACE;NOT_INSTALLED" "" "SOURCES;LINK" ${ARGN})
  set(root ${PROJECT_BINARY_DIR}/include/${target})
  get_filename_component(parent ${root}/${folder} DIRECTORY)
  file(MAKE_DIRECTORY ${parent})
  file(CREATE_LINK ${PROJECT_SOURCE_DIR}/${folder} ${root}/${folder} SYMBOLIC)

  if(ARG_INTERFACE)
    add_library(${target} INTERFACE)
    target_include_directories(${target} INTERFACE $<BUILD_INTERFACE:${root}> $<INSTALL_INTERFACE:${SM100_INSTALLED_HEADERS}>)
    target_link_libraries(${target} INTERFACE ${ARG_LINK})
    # Headers have nobody to compile them alone, so one file that sees only this folder's links includes them all.
    file(GLOB headers CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/${folder}/*.h
         ${PROJECT_SOURCE_DIR}/${folder}/cuda/*.h)
    set(text "")
    foreach(header ${headers})
      string(APPEND text "#include \"${header}\"\n")
    endforeach()
    file(GENERATE OUTPUT ${PROJECT_BINARY_DIR}/include/${target}_headers.cpp CONTENT "${text}")
    add_library(${target}_headers OBJECT ${PROJECT_BINARY_DIR}/include/${target}_headers.cpp)
    target_link_libraries(${target}_headers PRIVATE ${target} sm100_warnings)
  else()
    add_library(${target} STATIC ${ARG_SOURCES})
    sm100_units(${target} SOURCES ${ARG_SOURCES})
    target_include_directories(${target} PUBLIC $<BUILD_INTERFACE:${root}> $<INSTALL_INTERFACE:${SM100_INSTALLED_HEADERS}>)
    target_link_libraries(${target} PUBLIC ${ARG_LINK} PRIVATE sm100_warnings)
  endif()
  if(NOT ARG_NOT_INSTALLED)
    set_property(GLOBAL APPEND PROPERTY SM100_INSTALLED_TARGETS ${target})
  endif()
endfunction()

add_library(sm100_warnings INTERFACE)
target_compile_options(sm100_warnings INTERFACE -Wall -Wextra -Wno-missing-field-initializers $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>
                       $<$<BOOL:${SM100_WERROR}>:-Werror>)
