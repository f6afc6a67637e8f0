// SPDX-License-Identifier: Apache-2.0
/// A kernel on a problem, as the host sees it: what is launched, what lies in global memory, and whether the result
/// is right.  The simulator and the hardware runner use the same object, so both run the same problem.
///
/// A kernel's own class also has, for the code that runs it (sim/kernel_code.h, kernels/cuda/run):
///   const Config& config() const;                                    what role code takes as its configuration
///   Params params(addresses, encoder) const;                         the kernel's parameters; addresses as
///   tensors()
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/host/expected_product.h"
#include "kernels/isa/address.h"
#include "kernels/isa/tensor_map.h"
#include "kernels/pipeline/barrier_array.h"

namespace sm100::host {

struct LaunchShape {
  Dim3 grid;                ///< CTAs; a multiple of `cluster`
  Dim3 cluster{1, 1, 1};    ///< CTAs
  int warps = 0;            ///< of a CTA
  uint32_t smem_bytes = 0;  ///< dynamic shared memory of a CTA
  bool pdl = false;         ///< programmatic stream serialization
};

struct Tensor {
  std::string name;
  uint64_t bytes = 0;
  /// Words that CTAs synchronise on, or tables that their walk depends on: filled before every launch, and in runs
  /// without data.
  bool locks = false;
  bool metadata = false;  ///< words that control flow follows from: filled in runs without data too
  bool written = false;   ///< the kernel writes it beside the output: every launch has one of its own
  // What another launch's output must agree with to be read as this tensor; without them the bytes must.
  std::string_view type{};  ///< "bf16"; empty: not stated
  int64_t rows = 0, columns = 0;
  std::optional<uint64_t>
      address{};  ///< that the launch states, as its parameters hold it; absent: the device chooses
  /// Its bytes, which are there already and are not filled: device memory of a program.  nullptr: the run makes
  /// them.
  uint8_t* bytes_there = nullptr;
};

/// An element of the output that is not what it should be.
struct WrongElement {
  int row = 0, column = 0;
  double value = 0, expected = 0;
};

/// Elements of the output that still hold what fill() put there (or, `Check::foreign`, do not).
struct Unwritten {
  int64_t elements = 0, of = 0;
  /// The smallest rectangle that has them all.
  int first_row = 0, last_row = 0, first_column = 0, last_column = 0;

  /// "16,384 of 262,144 elements of C, in rows 128 to 255 and columns 0 to 127"
  std::string text() const;
};

/// Result of comparing the output with its reference.
struct Check {
  bool ok = false;
  double relative_error = 0;          ///< Frobenius norm of the difference over that of the reference
  double limit = 0;                   ///< the largest relative_error that is ok; 0: bytes must be equal
  std::string reference = "float64";  ///< what the product was compared with; empty: with nothing
  int rows = 0;                       ///< rows compared; all of them unless the reference would be too large
  int of_rows = 0;                    ///< rows that the output has
  std::optional<WrongElement> wrong_element;  ///< the worst one, if any is further off than rounding explains
  std::optional<Unwritten> unwritten;         ///< what nobody has written, of all rows
  std::optional<Unwritten> foreign;           ///< what has been written and is no result of the kernel

  /// What a run gives that has no reference.
  static Check of_nothing() { return {.ok = true, .reference = ""}; }
  bool compared() const { return !reference.empty(); }
  /// "every byte", "3.1 % of the bytes differ", "relative error 1.7e-03 against float64 (limit 1e-02)", the wrong
  /// element and what nobody has written
  std::string text() const;
};

/// The work tiles that a kernel's trace points name (TraceArgs::tile_m, tile_n), of each product that it computes:
/// tile (m, n) has `rows` rows of C from m * rows on, and `columns` columns from n * columns on.
struct WorkTiles {
  int rows = 0, columns = 0;
  bool turned = false;           ///< m counts along C's columns, n along its rows
  int round_m = 1, round_n = 1;  ///< numbers of tiles are rounded up to a multiple: clusters
  int times = 1;                 ///< that each is worked on: splits of K
};

/// Makes the 128-byte object that the kernel's tensor copies use: our own encoding, or the driver's.
using TensorMapEncoder = std::function<TensorMap(const TensorMapFields&)>;

/// What the next launch may read the output of the one before as (`run.feed`).
struct FeedInput {
  std::string_view word;  ///< in the scenario
  size_t tensor = 0;      ///< of tensors()
  std::string refusal{};  ///< why this configuration cannot; empty: it can
};

class KernelRun {
 public:
  virtual ~KernelRun() = default;

  virtual LaunchShape launch() const = 0;
  /// The kernel's barrier table; addresses are those of a CTA of rank 0.
  virtual std::vector<BarrierArray> barriers() const = 0;
  virtual std::vector<NamedBarrier> named_barriers() const { return {}; }
  virtual std::vector<std::string_view> roles() const = 0;
  virtual std::string_view role(int warp) const = 0;

  /// Tensors in global memory; the last one is the output.
  virtual std::vector<Tensor> tensors() const = 0;
  /// What `run.feed` can name.
  virtual std::vector<FeedInput> feed_inputs() const { return {}; }
  /// Writes the initial bytes of tensor `i`: seeded values; the output gets a pattern that no result has.
  virtual void fill(size_t i, uint8_t* bytes) const = 0;
  /// Of a tensor with `locks`, behind fill(): what follows from where the tensors lie (tables of pointers, tensor
  /// maps).
  virtual void fill_addresses(size_t /*i*/, const std::vector<GlobalAddr>& /*addresses*/,
                              const TensorMapEncoder& /*encode*/, uint8_t* /*bytes*/) const {}
  /// Compares the output with a reference computed from the inputs; pointers in the order of tensors().
  virtual Check check(const std::vector<const uint8_t*>& tensors) const = 0;
  /// Bytes that check() needs beside the tensors, at most.
  virtual double check_bytes() const { return 0; }

  /// What must be multiplied with what, for tensors at these addresses (in the order of tensors()); empty: the
  /// kernel does not say, or multiplies nothing.
  virtual ExpectedResult expected_result(const std::vector<GlobalAddr>& /*addresses*/) const { return {}; }

  /// Absent: the kernel's trace points name no tiles, or other ones.
  virtual std::optional<WorkTiles> work_tiles() const { return std::nullopt; }

  /// The run that follows is made to learn from and thrown away, in a process of its own: what it writes to bytes
  /// that are there already must not be seen.
  virtual void before_trial() const {}

  /// Floating-point operations; 0 for a kernel that moves data.
  virtual double flops() const = 0;
  /// Bytes read from and written to global memory by the problem's definition.
  virtual double bytes() const = 0;
  /// "512 x 512 x 1,024 bf16"
  virtual std::string title() const = 0;
  /// What the program has chosen for the user, for the summary: "mma [256, 128, 16], cta_group 2"; empty: nothing.
  virtual std::string chosen_configuration() const { return {}; }
  /// JSON object of kernel, problem and configuration, for --json and traces.
  virtual std::string configuration_json() const = 0;
};

struct Scenario;
/// The scenario's kernel on its problem.
std::unique_ptr<KernelRun> make_run(const Scenario& scenario);
/// KernelDefinition::run of a kernel whose runs are made from the scenario alone.
template <class Run>
std::unique_ptr<KernelRun> run_of(const Scenario& scenario) {
  return std::make_unique<Run>(scenario);
}

/// "input_full" and so on.
std::vector<std::string_view> barrier_names(const std::vector<BarrierArray>& arrays);

/// FNV-1a.
uint64_t hash_of(const uint8_t* bytes, uint64_t count);
/// Of a launch's output, the last tensor, and of what it writes beside it; pointers in the order of the tensors.
/// @param before  of the launches ahead
uint64_t hash_of_outputs(const std::vector<Tensor>& tensors, const std::vector<const uint8_t*>& bytes,
                         uint64_t before = 0);

}  // namespace sm100::host
