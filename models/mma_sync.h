// SPDX-License-Identifier: Apache-2.0
/// mma.sync.aligned and mma.sp: the matrix product of one warp in its registers (PTX 9.7.14.5 and 6).
///
/// Shapes m16n8 and m8n8, .row.col, dense: f16 and bf16 (k8, k16), tf32 (k4, k8), e4m3 and e5m2 (k16, k32), s8 and
/// u8 (k16, k32; m8n8k16), s4 and u4 (k32, k64; m8n8k32), b1 (k128, k256; m8n8k128), f64 (m8n8k4, m16n8k4, k8,
/// k16).  Sparse, m16n8: f16 and bf16 (k16, k32), tf32 (k8, k16), e4m3 and e5m2 (k64, D in f32), s8 and u8 (k32,
/// k64), s4 and u4 (k64, k128).  Not here: f16 m8n8k4, .kind::f8f6f4 and block scales, which sm_100a does not have.
///
/// Values: `fast` sums in f32 along k; the bit model is what an H200 shows, bit for bit on 16,384 or 32,768 sums of
/// each of 19 forms (bench/hardware/mma_sync.cu): of f16, bf16 and tf32 the sum that its wgmma makes; of e4m3 and
/// e5m2 what ptxas makes of them there, two instructions of f16 with every other pair of elements, C added behind
/// them and rounded; of f64 a chain of fma.  A B200 is taken to add f16, bf16 and tf32 as its tcgen05.mma does, all
/// else as an H200; nvcc makes the same instructions for both.  Integers are exact and wrap, or saturate with
/// .satfinite.
///
/// Sparse A: half of each row is given, and metadata say which.  Each element of A is multiplied by the element of
/// B that they name; the others of B take no part, be they infinite or NaN.  The sum is that of the dense
/// instruction with half the K: an H200 gives the same bits for 22 forms and selectors.  Metadata that name an
/// element twice, or not in ascending order for .sp::ordered_metadata, are undefined in PTX; here each element of A
/// meets what its index names.
///
/// Time: an instruction takes its warp's scheduler for cycles by its shape, and D is there after a latency
/// ([mma_sync] of the profile); the tensor core of a scheduler is not shared with tcgen05.mma and wgmma (assumed).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "models/profiles/profile.h"
#include "models/umma_numerics.h"

namespace sm100::models {

struct MmaSyncForm {
  enum class Type : uint8_t { f16, bf16, tf32, e4m3, e5m2, s8, u8, s4, u4, b1, f64 };
  enum class Sum : uint8_t { f32, f16, s32, f64 };
  enum class BitOp : uint8_t { none, and_popc, xor_popc };
  int m = 16, n = 8, k = 0;
  bool sparse = false;  ///< A has k / 2 elements in a row
  Type a = Type::f16, b = Type::f16;
  Sum d = Sum::f32;
  bool saturate = false;
  BitOp bit_op = BitOp::none;

  /// Registers of a lane: of 64 bits where the type is f64, else of 32.
  int a_registers() const;
  int b_registers() const;
  int d_registers() const;  ///< and of C

  int terms() const { return sparse ? k / 2 : k; }  ///< products of a sum
  /// Lanes of each group of four whose metadata count, and values that the sparsity selector may have.
  int metadata_lanes() const;
  int selectors() const { return 4 / metadata_lanes(); }
};

/// Which elements of A an mma.sp gives.
struct MmaSparsity {
  const uint64_t* metadata = nullptr;  ///< e, by lane
  int selector = 0;                    ///< f: lanes f * metadata_lanes() and on of each group of four count
};

/// The form that the modifiers behind "mma" name, with their dots; nullopt: none of the above.
std::optional<MmaSyncForm> mma_sync_form(const std::vector<std::string_view>& modifiers);

/// Whose tensor core is meant.
enum class MmaSyncCore : uint8_t { hopper, blackwell };

/// What an instruction takes.
struct MmaSyncCycles {
  double issue;    ///< of its scheduler's tensor core
  double latency;  ///< until D is there
};
MmaSyncCycles mma_sync_cycles(const MmaSyncForm& form, const DeviceProfile& profile);

/// D = A * B + C of a warp.  All: [lane * registers + r], each register zero-extended to 64 bits.
void mma_sync(const MmaSyncForm& form, Accumulation accumulation, MmaSyncCore core, const uint64_t* a,
              const uint64_t* b, const uint64_t* c, uint64_t* d, MmaSparsity sparsity = {});

}  // namespace sm100::models
