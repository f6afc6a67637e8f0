// SPDX-License-Identifier: Apache-2.0
/// Memory of the thread for one panel of a product's B.
#pragma once

#include <cstddef>

namespace sm100::vector {

/// At least `bytes`, on a 64-byte boundary; the next call may reuse it.
/// @throws std::bad_alloc
void* panel_buffer(size_t bytes);

}  // namespace sm100::vector
