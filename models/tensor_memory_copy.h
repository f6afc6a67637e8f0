// SPDX-License-Identifier: Apache-2.0
/// tcgen05.cp, shared memory to tensor memory (PTX 9.7.16.9): which operands are allowed, how long it takes, and
/// which bytes it moves.  When is the tensor pipe's business: Umma takes copies into the same queue as MMAs.
///
/// Modelled: every shape, decompression of packed 4- and 6-bit elements, pairs (each CTA copies from its own shared
/// memory, at the descriptor's offset, to its own tensor memory).  Detected: TC1 (columns), TC2 (lane, first
/// column), TC6 (descriptor), TC7 (outside shared memory), TC8 (no peer).  Approximated: time, from the bytes that
/// a CTA reads. Not implemented: sources with the swizzle of 32-byte atoms.
#pragma once

#include <optional>

#include "kernels/isa/tmem_copy.h"
#include "models/shared_memory.h"
#include "models/tensor_memory.h"

namespace sm100::models {

/// tcgen05.cp as the hardware receives it.
struct TensorMemoryCopyCommand {
  TmemCopyShape shape = TmemCopyShape::s32x128b_warpx4;
  TmemDecompression decompression = TmemDecompression::none;
  int cta_group = 1;
  TmemAddr to;
  SmemDescriptor from;
  Source source;
};

/// The same with its descriptor decoded and checked.
struct TensorMemoryCopy {
  TmemCopyShape shape;
  TmemDecompression decompression;
  int cta_group;
  TmemAddr to;
  SmemDescriptorFields from;
};

/// The memories of a CTA that takes part, and its slot.
struct CopyParticipant {
  SharedMemory& smem;
  TensorMemory& tmem;
};

/// Nothing if the operands are not allowed, which has been reported then as a violation in the issuing CTA's slot.
/// @param peer  the other CTA of the pair; nullptr: there is none
std::optional<TensorMemoryCopy> check_copy(const TensorMemoryCopyCommand& command, int slot,
                                           const CopyParticipant& own, const CopyParticipant* peer,
                                           Observer& observer);

/// Lanes of which the copy writes all cells, in groups of 16; 4x256b leaves 15 of every 16 as they were.
TensorMemory::LaneGroups groups_written(TmemCopyShape shape);

/// Moves the bytes of one CTA.
void execute(const TensorMemoryCopy& copy, const CopyParticipant& in);

}  // namespace sm100::models
