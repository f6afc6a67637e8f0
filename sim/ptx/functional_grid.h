// SPDX-License-Identifier: Apache-2.0
/// A launch of an entry without asynchronous instructions: executed without clock and models, CTAs one after the
/// other on each of some threads of the host.  Fills, reference kernels and comparisons run so.
///
///   class Allocations : public DeviceMemory { ... };
///   const FunctionalResult r = run_functional({.module = module, .entry = entry, .grid = {64, 1, 1},
///                                              .block = {256, 1, 1}, .parameters = window, .memory =
///                                              &allocations});
///   if (r.end != FunctionalEnd::finished) fail(r.text);
///
/// Results do not depend on the threads unless the kernel's own depend on the order of its CTAs.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "kernels/isa/address.h"
#include "models/access_map.h"
#include "ptx/program.h"

namespace sm100::sim {

/// What global addresses of a kernel reach.  Addresses lie below kPtxSharedWindow (sim/ptx/ptx_code.h).
class DeviceMemory {
 public:
  struct Range {
    uint64_t first = 0, bytes = 0;  ///< of device addresses
    uint8_t* host = nullptr;        ///< where the first of these bytes lies
  };
  virtual ~DeviceMemory() = default;
  /// The allocation that an address lies in; no bytes: in none.  Several threads ask at once.
  virtual Range range_of(uint64_t address) const = 0;
  /// Hears what the launch reads and writes; nullptr: nobody does.
  virtual models::AccessMap* accesses() const { return nullptr; }
};

enum class FunctionalEnd : uint8_t {
  finished,
  not_implemented,
  out_of_bounds,  ///< of global, shared, local or constant memory
  misaligned,
  trap,
  assertion,
  divergent,  ///< some lanes of a warp at an instruction that wants them all
  deadlock,   ///< threads wait for each other for ever
  limit,      ///< `max_warp_instructions` executed
};

struct FunctionalLaunch {
  const ptx::Module* module = nullptr;
  const ptx::Entry* entry = nullptr;  ///< of the module
  Dim3 grid{1, 1, 1}, block{1, 1, 1}, cluster{1, 1, 1};
  uint32_t dynamic_smem_bytes = 0;
  std::span<const uint8_t> parameters;  ///< the parameter window
  const DeviceMemory* memory = nullptr;
  std::span<const uint64_t> variables{};  ///< PtxLaunch::variables; empty: the launch has variables of its own
  int threads = 0;                        ///< of the host; 0: as many as it has cores
  uint64_t grid_id = 0;                   ///< %gridid
  int sms = 148;                          ///< of the device, for %nsmid and the rough length
  double sm_clock_ghz = 1.85;
  uint64_t max_warp_instructions = 0;  ///< 0: any number
  /// What printf of the kernel prints, in the order of CTAs; from one thread at a time.
  std::function<void(std::string_view)> print{};
};

struct FunctionalResult {
  FunctionalEnd end = FunctionalEnd::finished;
  std::string text;   ///< unless finished: one sentence with the instruction, its place and who executed it
  std::string place;  ///< "fill.cu:12 (fill.ptx:40)"
  std::string check;  ///< sim/checks.h: "GM1"; empty: none
  Dim3 ctaid;
  int warp = 0, lane = 0;
  uint64_t warp_instructions = 0;
  /// A rough figure: instructions by the schedulers of all SMs; memory and latencies are not counted.
  uint64_t cycles = 0;
};

/// CTAs of an ended launch leave memory as it is then.
FunctionalResult run_functional(const FunctionalLaunch& launch);

/// Why an instruction cannot be executed without models; empty: it can, as far as its text says.
std::string functional_missing(const ptx::Program& program, const ptx::Instr& instr);
/// The first instruction of the entry that cannot; nullopt: all can.
struct FunctionalObstacle {
  std::string opcode, why, place;
};
std::optional<FunctionalObstacle> functional_obstacle(const ptx::Program& program);

}  // namespace sm100::sim
