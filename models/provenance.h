// SPDX-License-Identifier: Apache-2.0
/// Who hears where numbers come from and where they go.  models/ owns this interface and knows nothing of what is
/// kept; sim/provenance/ implements it.  An Sm has a pointer to it (`Sm::provenance`), which is null in a run that
/// keeps nothing.
///
/// Calls come in the order in which the bytes move, but for MMAs and copies to tensor memory: these come when they
/// are issued, because only then is known who issued them.  A CTA is named by its slot, tensor memory by its SM.
#pragma once

#include <cstdint>

#include "kernels/isa/tmem_layout.h"
#include "models/observer.h"

namespace sm100::models {

struct MmaOperation;
struct TensorCopy;
struct TensorMemoryCopy;
struct WgmmaOperation;

class Provenance {
 public:
  virtual ~Provenance() = default;

  /// A CTA takes the slot; its shared memory holds nothing.
  virtual void cta_started(int slot) = 0;

  // ---- the copy engine
  /// The box of a load is in the slot's shared memory.
  virtual void landed(int slot, const TensorCopy& copy) = 0;
  /// A store or reduction has read its box there.
  virtual void stored(int slot, const TensorCopy& copy) = 0;

  // ---- the tensor pipe
  /// A CTA, or the even and the odd one of a pair.
  struct Participants {
    int slots[2] = {-1, -1};
    int sms[2] = {-1, -1};
  };
  virtual void multiplied(const Participants& by, const MmaOperation& mma, const Source& source) = 0;
  virtual void copied_to_tensor_memory(const Participants& by, const TensorMemoryCopy& copy,
                                       const Source& source) = 0;

  /// A wgmma that all four warps of a warpgroup have executed; `operation` has the registers of D.
  virtual void warpgroup_multiplied(int slot, int first_warp, const WgmmaOperation& operation,
                                    const Source& source) = 0;
  /// D of it is in the registers.
  virtual void warpgroup_finished(int slot, int first_warp, const WgmmaOperation& operation,
                                  const Source& source) = 0;

  // ---- warps
  /// What an instruction of a warp moves; all lanes of one execution have the same `source`.
  /// @param registers  the warp's, lane by lane, after a load and before a store; nullptr: a run without data
  virtual void tensor_memory_loaded(int slot, int sm, TmemShape shape, int repeat, uint32_t lane, uint32_t column,
                                    const uint32_t* registers, const Source& source) = 0;
  virtual void tensor_memory_stored(int slot, int sm, TmemShape shape, int repeat, uint32_t lane, uint32_t column,
                                    const uint32_t* registers, const Source& source) = 0;
  /// A lane's load from global memory into its registers.
  virtual void global_read(int slot, int lane, uint64_t address, uint32_t bytes, const void* value,
                           const Source& source) = 0;
  /// A lane's load from, or store to, shared memory: `value` has the bytes; nullptr: it is not known.
  virtual void shared_read(int slot, int lane, uint32_t offset, uint32_t bytes, const void* value,
                           const Source& source) = 0;
  virtual void shared_written(int slot, int lane, uint32_t offset, uint32_t bytes, const void* value,
                              const Source& source) = 0;
  virtual void global_written(int slot, uint64_t address, uint32_t bytes, const Source& source) = 0;
  /// Bytes of global memory that a thread copies to shared memory (cp.async); 0: it fills 16 bytes with zeros.
  virtual void copied_by_thread(int slot, uint32_t offset, uint64_t address, uint32_t bytes,
                                const Source& source) = 0;
};

inline Provenance::Participants participants(int slot, int sm) { return {{slot, -1}, {sm, -1}}; }
inline Provenance::Participants participants(int slot, int sm, int peer_slot, int peer_sm) {
  if (slot < peer_slot) return {{slot, peer_slot}, {sm, peer_sm}};
  return {{peer_slot, slot}, {peer_sm, sm}};
}

}  // namespace sm100::models
