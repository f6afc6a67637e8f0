// SPDX-License-Identifier: Apache-2.0
/// Programs of these tests, which CMake names.
#pragma once

#ifndef SM100_EXEC_PROGRAM
#error "CMake defines SM100_EXEC_PROGRAM and SM100_EXEC_LIBRARY"
#endif
