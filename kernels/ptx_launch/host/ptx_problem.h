// SPDX-License-Identifier: Apache-2.0
/// A kernel that is given as PTX: which entry is launched, with which grid, tensors and arguments, and what its
/// result is compared with.  Format: docs/ptx.md.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kernels/host/kernel_definition.h"
#include "kernels/host/ptx_file.h"
#include "kernels/isa/address.h"
#include "kernels/isa/lane_array.h"
#include "kernels/isa/tensor_map.h"
#include "kernels/pipeline/barrier_array.h"
#include "kernels/ptx_launch/host/ptx_check.h"
#include "kernels/ptx_launch/host/ptx_element.h"

namespace sm100::host {

/// What lies in a tensor when the kernel starts.
enum class PtxContents {
  random,  ///< values in [-1, 1) of its type; of integers all values
  zeros,
  ones,
  unwritten,  ///< 0xff in every byte, which no result has: what nobody writes shows
  file,       ///< the bytes of a file
};

struct PtxTensor {
  std::string name;
  PtxElement element;
  std::vector<int64_t> shape;  ///< outermost dimension first
  PtxContents contents = PtxContents::random;
  bool metadata = false;         ///< control flow follows from it: filled in runs without data too
  std::filesystem::path file{};  ///< of PtxContents::file, as long as the tensor
  std::optional<uint64_t> address{};
  uint8_t* bytes_there = nullptr;  ///< Tensor::bytes_there

  int64_t elements() const;
  uint64_t bytes() const { return (uint64_t(elements()) * uint64_t(element.bits) + 7) / 8; }
};

/// Bytes of a parameter: the address of a tensor, the tensor map of one, a number, or bytes as they are.
struct PtxArgument {
  enum class Kind { address, tensor_map, value, image };
  Kind kind = Kind::value;
  uint32_t offset = 0;  ///< in the parameter window
  size_t tensor = 0;    ///< address, tensor_map
  uint64_t bytes = 0;   ///< address: behind the tensor's first byte
  TensorMapFields map;  ///< without its address
  uint64_t value = 0;   ///< its bits
  uint32_t size = 0;    ///< of the value: 1, 2, 4 or 8 bytes
  std::vector<uint8_t> image{};
};

/// A row of barriers whose counts are learned.
struct PtxBarriers {
  std::string name;
  uint32_t offset = 0;
  int stages = 1;
  std::string arrives, waits;  ///< roles; empty: learned, too
};

struct PtxProblem {
  PtxFile file;
  uint32_t parameter_bytes = 0;
  Dim3 grid{1, 1, 1}, block{1, 1, 1}, cluster{1, 1, 1};
  uint32_t dynamic_smem_bytes = 0;
  uint32_t smem_bytes = 0;  ///< of a CTA: static symbols, what alignment leaves between, the dynamic part
  bool pdl = false;
  /// Of each warp: as the launch file or names.toml says, else what the program's text lets it do; empty: "warp 5".
  std::vector<std::string> roles;
  /// Barriers of names.toml, and static shared symbols that may be mbarriers.
  std::vector<PtxBarriers> barriers;
  std::vector<PtxTensor> tensors;  ///< the last one is the output
  std::vector<PtxArgument> arguments;
  std::optional<PtxProduct> product;                   ///< what is compared
  std::optional<std::pair<size_t, size_t>> copy;       ///< from, to: equal bytes
  std::optional<std::pair<size_t, size_t>> reference;  ///< expected, output: equal but for roundings
  /// Where the module's `.global` and `.const` variables lie, in their order; empty: the run places them.
  std::vector<uint64_t> variables{};
  uint64_t grid_workspace = 0;           ///< of a cooperative launch: address of two words; 0: none
  std::function<void()> before_trial{};  ///< KernelRun::before_trial; empty: nothing is to be done

  int threads() const { return int(block.x * block.y * block.z); }
  int warps() const { return (threads() + kWarpLanes - 1) / kWarpLanes; }
};

/// Registers with which ptxas launches a thread of an entry that has setmaxnreg: .maxnreg, else all that leave room
/// for .minnctapersm CTAs of .maxntid or .reqntid threads (docs/ptx.md).  0: the entry does not say; ptxas then
/// ignores its setmaxnreg.
int stated_registers(const ptx::Module& module, const ptx::Entry& entry);

/// Fills in what follows from the entry and the launch's shape: bytes of shared memory, symbols that may be
/// mbarriers.
void describe_shared_memory(PtxProblem& problem);

const KernelDefinition& ptx_definition();

/// The PTX that a scenario's warps execute: that of run.ptx, or of a launch file; null: they execute role code.
const PtxFile* ptx_of(const Scenario& scenario);
/// The same of one of its launches.
const PtxFile* ptx_of(const Scenario& scenario, const KernelRun& launch);

}  // namespace sm100::host
