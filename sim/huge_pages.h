// SPDX-License-Identifier: Apache-2.0
/// The heap in pages of 2 MiB.  A chip's state is a hundred megabytes of small objects, and every event visits
/// another SM: in pages of 4 KiB the processor spends nearly half of a run looking up where they are.
#pragma once

namespace sm100::sim {

/// Asks for them, for what is allocated from here on; the first call counts.  Where the system has none to give, or
/// the C library is another, nothing happens.
void use_huge_pages();

}  // namespace sm100::sim
