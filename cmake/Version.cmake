# SPDX-License-Identifier: Apache-2.0
# cmake -DSOURCE=DIR -DVERSION=X -DOUTPUT=FILE -P Version.cmake: writes version.cpp with the version and the commit that is built.
# The file changes only when they do.
execute_process(COMMAND git -C ${SOURCE} describe --always --dirty --abbrev=10 --exclude=*
                OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
if(failed OR NOT EXISTS ${SOURCE}/.git)
  set(commit "")  # a source archive; or a repository that is not ours around it
endif()
set(text "#include \"kernels/host/version.h\"\n\nnamespace sm100::host {\n\nconst char* version() { return \"${VERSION}\"; }\nconst char* commit() { return \"${commit}\"; }\n\n}  // namespace sm100::host\n")
if(EXISTS ${OUTPUT})
  file(READ ${OUTPUT} old)
endif()
if(NOT "${old}" STREQUAL "${text}")
  file(WRITE ${OUTPUT} "${text}")
endif()
